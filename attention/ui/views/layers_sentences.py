"""Sentences about the map of layers and heads: what it shows, what its colours are, and which layers a recording has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attention.analysis.head_kinds import BEYOND
from attention.analysis.head_numbers import EVERY, pairs_of
from attention.charts.layers import Room, left_out, writes_numbers
from attention.codec import CONFIGS
from attention.config import Config
from attention.fitting import layers
from attention.knobs import KINDS
from attention.number_format import format_percent, format_weight
from attention.sources.providers import tokens, unit
from attention.ui import provenance, results
from attention.ui.markdown import escape, join_words
from attention.ui.results.layers import Layer
from attention.ui.session import model_run
from attention.ui.text import layers as text
from attention.ui.views import heads_layers as maps
from attention.ui.views import layers_copies as copies
from attention.ui.views import layers_kinds
from attention.ui.views.head_names import head_title, heads_phrase, model_depth
from attention.ui.views.known_metrics import AGAIN, ENOUGH, is_rare, repeats, split_word

SEEN_BY_ALL = (
    "first",
    "previous",
    "same",
)  # keys that each query sees, or all but the first do, unless a mask hides them


def finding(config: Config, found: Mapping[int, Layer]) -> str:
    """Which heads have the largest values, for the heading of a page; of which settings, if the model has others."""
    said = layers_kinds.finding(config, found) if layers_kinds.is_shown(config) else _finding(config, found)
    changed = [*provenance.changed_settings(config)]
    if not changed or said == text.NONE or said == maps.absent(config, found):
        return said
    template = text.CHANGED.get(changed[0], text.CHANGED_ONE) if len(changed) == 1 else text.CHANGED_SEVERAL
    return template.format(finding=f"{said[0].lower()}{said[1:]}")


def _finding(config: Config, found: Mapping[int, Layer]) -> str:
    """The finding, whatever the settings."""
    name = maps.number(config, found)
    described, held = EVERY[name], maps.cells(name, found)
    if not held:
        return text.NONE
    if why := maps.absent(config, found):
        return why
    best, most = max(held.items(), key=lambda cell: cell[1])
    template, role = text.FINDINGS.get(name, text.FINDING), found[best[0]].roles[best[1]]
    high = sum(value > maps.HIGH for value in held.values())
    if name == "induction" and not high and (before := _counted_before(config)):
        return text.INDUCTION_NONE.format(heads=heads_phrase(config, len(held)), count=before)
    if maps.is_weight(config, found):
        none = text.WEIGHT_PART if most >= maps.PART else text.WEIGHT_NONE
        template = (none, text.WEIGHT_ONE, text.WEIGHT)[min(high, 2)]
        if name == "induction" and high and maps.tells_of_copies(name, config, found):
            template = text.INDUCTION if high > 1 else text.INDUCTION_ONE
    again = len(_counted_queries(name, config.truncated)) if template in (text.INDUCTION, text.INDUCTION_ONE) else 0
    task: dict[str, int | str] = {}
    if name == "greatest" and maps.is_share(name, config):
        task = copies.task_rows(replace(config.truncated, layer=best[0]), best[1])
    if task.get("right"):
        template = text.TASK_FINDING
    return template.format(
        heads=heads_phrase(config, len(held)),
        most=maps.value_text(config, found, most, format_weight),
        best=head_title(config, best),
        first=head_title(config, best).capitalize(),
        statistic=escape(described.label.lower()),
        keys=text.KEYS.get(name, ""),
        count=high if high < len(held) else text.ALL,
        unit=unit(config),
        again=again,
        s="s" * (again != 1),
        where=_where(name, config),
        sink=text.SINK if role and role.is_sink else "",
        **task,
    )


def _counted_before(config: Config) -> int:
    """How many heads act as induction heads with the settings of their model; 0 if these are its settings."""
    if not provenance.changed_settings(config):
        return 0
    own = provenance.own_settings(config)
    found = results.layers.layers(own)
    return len(maps.counted_heads(own, found)) if maps.tells_of_copies("induction", own, found) else 0


def puts_sentences(config: Config, found: Mapping[int, Layer]) -> tuple[str, str]:
    """What the selected head does by the statistic of the map, and that with what it does at all other tokens, as Markdown.

    The second is only of heads that find copies and rest on the first token otherwise, which is their role overall; else "".
    """
    name, role = maps.number(config, found), found[config.layer].roles[config.head]
    puts = puts_sentence(config, found)
    if not puts or name not in AGAIN or role is None or role.name != f"first {unit(config)}":
        return puts, ""
    trace = results.heads.trace(config.truncated)
    others = torch.ones(len(trace.mask), dtype=torch.bool)
    others[_counted_queries(name, config.truncated)] = False
    if not others.any() or not trace.mask[others, 0].all():
        return puts, ""
    share = float(trace.weights[config.head][others, 0].mean())
    rests = text.RESTS.format(puts=puts, unit=unit(config), share=escape(format_percent(share)))
    return puts, rests if share > maps.HIGH else ""


def no_role(config: Config) -> str:
    """That the selected head has no role, without its subject; in a very short text, each pattern may be another one."""
    if config.tokens > ENOUGH:
        task = copies.task_rows(config.truncated, config.head)
        return text.TASK_ROLE.format(**task) if task.get("right") else text.NO_ROLE
    return text.TOO_SHORT.format(count=config.tokens, unit=unit(config))


def puts_sentence(config: Config, found: Mapping[int, Layer]) -> str:
    """What the selected head does by the statistic of the map, without its subject.

    "" if that is little, no weight, or what its role says.
    """
    name, here = maps.number(config, found), (config.layer, config.head)
    value = maps.cells(name, found).get(here, 0.0)
    if not maps.is_weight(config, found) or value < maps.PART or maps.has_role(name, found, here):
        return ""
    said = maps.value_text(config, found, value)
    return escape(text.PUTS.format(value=said, where=_where(name, config), keys=text.KEYS[name]))


def _where(name: str, config: Config) -> str:
    """Of which queries a finding is, if not of all; of tokens that occurred before, how many there are."""
    if name in SEEN_BY_ALL:
        count, having, every = _query_counts(name, config.truncated)
        return "" if count == having else text.WHERE_SEE.format(count=count, all=every)
    if name not in AGAIN:
        return text.WHERE.get(name, "")
    count, every = len(_counted_queries(name, config.truncated)), repeats(tokens(config.truncated).texts)
    if count < every:
        return text.WHERE_VISIBLE.format(count=count, all=every)
    return text.WHERE_ONCE if count == 1 else text.WHERE_FEW.format(count=count)


def queries_phrase(name: str, config: Config) -> str:
    """Over which queries the mean weight on some keys is; "" if none sees such a key."""
    count, having, every = _query_counts(name, config)
    if count == having and name in text.QUERIES_ALL:
        return text.QUERIES_ALL[name]
    return text.QUERIES.format(count=count, all=every) if count else ""


def _query_counts(name: str, config: Config) -> tuple[int, int, int]:
    """How many queries see a key on which a statistic is the mean weight, how many there would be without a mask, and of all."""
    mask = results.heads.trace(config).mask
    if name in ("first", "previous"):
        sees = mask[:, 0] if name == "first" else mask[1:].diagonal()
        return int(sees.sum()), len(sees), len(mask)
    pairs = pairs_of(name, tokens(config).texts)
    assert pairs is not None, name
    return len(_counted_queries(name, config)), len(pairs[0].unique()), len(mask)


def _counted_queries(name: str, config: Config) -> Tensor:
    """The queries over which a statistic of pairs is a mean: those to which a key of their pairs is visible."""
    pairs = pairs_of(name, tokens(config).texts)
    assert pairs is not None, name
    query, key = pairs
    return query[results.heads.trace(config).mask[query, key]].unique()


def fallback(config: Config, found: Mapping[int, Layer]) -> str:
    """Why "auto" does not show the usual statistic; "" if it does, or if a statistic was chosen."""
    shown, usual = maps.number(config, found), maps.usual_metric(config)
    if config.layer_map in EVERY or not found or shown == usual:
        return ""
    texts = tokens(config).texts
    why = "low" if any(maps.cells(usual, found).values()) else "zero"
    if why == "low" and 0 < len(texts) <= ENOUGH:
        why = "short"
    elif why == "low" and is_rare(usual, texts):
        why = "rare"
    elif why == "low" and max(maps.cells(usual, found).values()) > maps.HIGH:
        why = "few"
    word, parts = split_word(texts)
    split = text.SPLIT_WORD.format(word=word, parts=join_words([f"“{part}”" for part in parts])) if word else ""
    usual, shown = (EVERY[name].label.lower() for name in (usual, shown))
    said = text.FALLBACK[why].format(usual=usual, shown=shown, enough=ENOUGH, count=repeats(texts), split=split)
    return f"{said[0].upper()}{said[1:]}"


def metric_text(config: Config, found: Mapping[int, Layer], value: float) -> str:
    """A value of the statistic after its label, as Markdown: “induction 89.6%”; a unit within the label is said once."""
    described = EVERY[maps.number(config, found)]
    said = maps.value_text(config, found, value, format_weight)
    if described.unit and described.unit in described.label.lower():
        said = said.removesuffix(f" {described.unit}")
    return escape(f"{described.label.lower()} {said}")


def grouped_labels() -> dict[str, str]:
    """The labels of the menu: what each head does, and all statistics, each with its group, in the order of the groups."""
    return {KINDS: text.KINDS} | {
        name: text.GROUPED.format(group=group, statistic=text.IN_MENU.get(name) or EVERY[name].label.lower())
        for group, names in text.GROUPS.items()
        for name in names
    }


def menu_help(names: list[str]) -> str:
    """One line about each of these statistics, after the help of the menu, as Markdown."""
    labels = grouped_labels()
    lines = [
        text.HELP_LINE.format(
            statistic=labels[name],
            about=text.MEANINGS.get(name) or text.WEIGHT_ON.format(keys=text.KEYS[name]),
        )
        for name in names
    ]
    return f"{CONFIGS.knobs['layer_map'].help}\n\n" + "\n".join(lines)


def statistic_caption(config: Config, found: Mapping[int, Layer]) -> str:
    """What the colours of the map are, as Markdown; "" if there is no map, as all heads have 0."""
    name = maps.number(config, found)
    if maps.absent(config, found):
        return ""
    if maps.is_weight(config, found):
        known = bool(maps.cells(name, found))
        uniform = (
            text.UNIFORM.format(share=format_percent(maps.uniform_weight(name, config.truncated))) if known else ""
        )
        return text.STATISTIC_OF_WEIGHT.format(keys=text.KEYS[name], uniform=uniform)
    meaning = f" ({text.MEANINGS[name]})" if name in text.MEANINGS else ""
    said = text.STATISTIC.format(statistic=escape(EVERY[name].label.lower()), meaning=meaning)
    return f"{said} {text.COLOURS_SPAN}" if maps.spans_values(name, config) else said


def caption_help(config: Config, found: Mapping[int, Layer], more: Sequence[str] = ()) -> str:
    """The help of that caption: `more` of its cells, the formula, over what the mean is, and which layers there are."""
    name = maps.number(config, found)
    mean = maps.is_weight(config, found) and bool(where := _where(name, config).rstrip(","))
    parts = (
        *more,
        maps.formula(name),
        text.MEAN_OVER.format(keys=text.KEYS[name], where=where) if mean else "",
        case_sentence(config, found),
        rows_sentence(config),
    )
    return " ".join(filter(None, parts))


def bold_sentence(config: Config, found: Mapping[int, Layer], room: Room) -> str:
    """Which heads the headline counts, if it counts any, and which numbers are bold, if the map has numbers."""
    written = writes_numbers(len(layers(config.source)), config.heads, room)
    if maps.counted_heads(config, found):
        return text.COUNTED_BOLD if written else text.COUNTED
    name = maps.number(config, found)
    held = maps.cells(name, found)
    is_blank = maps.is_share(name, config) and max(held.values(), default=0.0) < maps.least_written(name, config, held)
    return text.BOLD if written and not is_blank else ""


def cells_sentence(config: Config, found: Mapping[int, Layer], room: Room) -> str:
    """Which cells have no number, if any; "" if there is no map."""
    name = maps.number(config, found)
    held = maps.cells(name, found)
    if not held or maps.absent(config, found):
        return ""
    if not writes_numbers(len(layers(config.source)), config.heads, room):
        return text.CELLS_POINT
    limit = maps.least_written(name, config, held)
    is_blank = maps.is_share(name, config) and any(value < limit for value in held.values())
    return text.CELLS_BLANK.format(limit=f"{100 * limit:g}%") if is_blank else ""


def blank_sentences(config: Config, found: Mapping[int, Layer], room: Room) -> list[str]:
    """Why small shares have no number; [] if they have."""
    held = maps.cells(maps.number(config, found), found)
    if not held or not maps.is_weight(config, found) or not cells_sentence(config, found, room):
        return []
    return [text.LIMIT.format(ratio=BEYOND)]


def case_sentence(config: Config, found: Mapping[int, Layer]) -> str:
    """That the statistic ignores case, if it is about equal tokens and some of the text differ in case; otherwise ""."""
    texts = set(tokens(config.truncated).texts)
    differ = len({each.casefold() for each in texts}) < len(texts)
    return text.IGNORES_CASE if differ and maps.number(config, found) in (*AGAIN, "same") else ""


def rows_sentence(config: Config) -> str:
    """Which layers the rows of the map are, if they are not all of the model or not the same for other texts of it; else ""."""
    numbers, depth, model = layers(config.source), model_depth(config), model_run.reader(config.source)
    count = len(numbers)
    if _leaves_layers_out(config):
        own = text.OWN_SHOWS if model and not model_run.refusal(config.source) else ""
        template = text.ROWS_CHOSEN if depth else text.ROWS_RECORDED
        gaps = text.GAPS if left_out(numbers) else ""
        return f"{template.format(count=count, depth=depth, own=own)} {gaps}".rstrip()
    recorded = len(layers(model_run.recording_of(model) or config.source)) if model else count
    return text.ROWS_OWN.format(layers=count, count=recorded) if recorded < count else ""


def _leaves_layers_out(config: Config) -> bool:
    """Whether the source has several layers of a model, but not all from the first on."""
    numbers = layers(config.source)
    return len(numbers) > 1 and numbers != tuple(range(len(numbers)))

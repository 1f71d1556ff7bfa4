"""The map of layers and heads of a source: its statistic, its cells, and sentences about it; a click selects a head."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import pairwise
from math import ceil, isfinite, log
from typing import Any, NamedTuple

import pyarrow as pa
import streamlit as st

from attention.analysis.head_kinds import BEYOND
from attention.analysis.head_numbers import EVERY, OF_DISTRIBUTIONS, Described, pairs_of
from attention.analysis.head_roles import CLOSE
from attention.analysis.repeats import repeat_starts
from attention.charts import layers as chart
from attention.config import Config
from attention.fitting import layers, training_steps
from attention.heads import mean_weight_on
from attention.inputs import BEFORE
from attention.knobs import DEFAULTS, GENERATED
from attention.number_format import format_mean, format_percent, format_short_percent
from attention.sources.providers import distributes, tokens, unit
from attention.ui import provenance, results
from attention.ui.controls import knobs
from attention.ui.markdown import escape
from attention.ui.results.layers import Layer
from attention.ui.session import gestures, page
from attention.ui.text import heads
from attention.ui.text import layers as text
from attention.ui.views.head_names import cell_text, head_title, heads_phrase
from attention.ui.views.known_metrics import AGAIN, ENOUGH, is_rare, known_metrics, not_in_text, repeats_run

FIRST = ("induction", "previous", "entropy")  # the first of these that is available is the default
BUILT = "previous"  # default of generated heads: they attend back, and only a text that repeats has induction heads
FEW = 6  # heads that may stand out together
HIGH = 0.5  # of its weight: above this share a head follows a pattern
ENDS = 0.25, 0.5, 1.0  # of the colours of shares
PART = 0.25  # of its weight: from this share on a pattern is plain on a head's map
PATTERNS = (
    "induction",
    "preceding",
    "duplicate",
    "previous",
    "next",
    "first",
    "same",
    "separators",
)  # shares of the weight
SHARES = {*PATTERNS, "entropy_share", "even", "greatest"}  # statistics from 0% to 100%
ROLES = {"previous": "one back"}  # of statistics with another name than their role
NEARBY = "nearby"  # the role of heads that have no other
FOCUS = "greatest"  # what auto shows if no head follows any pattern
Cells = dict[tuple[int, int], float]


class Values(NamedTuple):
    """What a map of layers and heads shows: a number of each head, what it is, the ends of its scale and how it is written.

    `title`: of the map, if it has one. `bold`: the heads whose numbers are bold; None for the one with the largest. Shares below
    the `limit` are not written.
    """

    cells: Cells
    label: str
    ends: tuple[float, float] = (0.0, 1.0)
    digits: int = 2
    percent: bool = True
    title: str = ""
    bold: Collection[tuple[int, int]] | None = None
    limit: float = chart.FAINT


class Behaviour(NamedTuple):
    """How a map behaves: the callback of a click, the heads that are switched off (None if they can't be), and its size."""

    on_click: Callable[[], None] = gestures.on_layer_click
    off: Collection[tuple[int, int]] | None = None
    room: chart.Room = chart.USUAL


USUAL = Behaviour()


def number(config: Config, found: Mapping[int, Layer]) -> str:
    """The name of the statistic that the map shows.

    Auto is the usual one if some head is high on it; one about copies only if it describes a head (`tells_of_copies`), or if
    it did with the settings of the model.
    Otherwise it is one on which a head is high, or how focused the heads are, as in a very short text, whose token before is
    often the first one. At any step of a training, auto is that of the last step.
    """
    if config.layer_map in EVERY:
        return config.layer_map
    if found:
        config, found = results.layers.last_step(config, found)
    usual = usual_metric(config)
    if not found:
        return usual
    if config.source != GENERATED and 0 < len(tokens(config).texts) <= ENOUGH:
        return FOCUS
    if usual in AGAIN:
        stays = tells_of_copies(usual, config, found) or _is_weakened(usual, config, found)
        return usual if stays else _pattern(config, found, without=usual) or FOCUS
    most = max(cells(usual, found).values(), default=1.0)
    if usual not in PATTERNS or most > HIGH:
        return usual
    return _pattern(config, found) or (FOCUS if most < PART else usual)


def tells_of_copies(name: str, config: Config, found: Mapping[int, Layer]) -> bool:
    """Whether a statistic of tokens that occurred before describes its first head, not one token or the few that the text has.

    The head has the role; or the text is one passage several times and the pattern is plain on its map; or a run of tokens
    occurs again and the head is high. Not if uniform weights have much there, or if the token before explains as much.
    """
    held, texts = cells(name, found), tokens(config).texts
    if not held or is_rare(name, texts) or BEYOND * uniform_weight(name, config.truncated) > HIGH:
        return False
    best = max(held, key=held.__getitem__)
    if cells("previous", found).get(best, 0.0) > held[best] - CLOSE:
        return False
    plain = held[best] >= PART and (bool(repeat_starts(texts)) or has_role(name, found, best))
    return plain or (held[best] > HIGH and repeats_run(texts))


def uniform_weight(name: str, config: Config) -> float:
    """The weight of a statistic if weights are uniform over the visible keys: what is by chance, with this mask and text."""
    mask = results.heads.trace(config).mask
    pairs = pairs_of(name, tokens(config).texts or [""] * config.tokens)
    assert pairs is not None, name
    uniform = (mask / mask.sum(-1, keepdim=True).clamp(min=1))[None]
    return float(mean_weight_on(uniform, mask, *pairs)[0])


def _is_weakened(name: str, config: Config, found: Mapping[int, Layer]) -> bool:
    """Whether settings that are not those of the model weaken the pattern of a text that is one passage several times."""
    repeated = provenance.changed_settings(config) and repeat_starts(tokens(config).texts)
    return bool(repeated) and any(cells(name, found).values())


def _pattern(config: Config, found: Mapping[int, Layer], without: str = "") -> str:
    """The pattern that some head follows most, if that head is not only said to attend to nearby tokens; "" if there is none."""
    return next((name for name in _patterns_of_heads(config, found, without) if not _is_nearby(name, found)), "")


def _is_nearby(name: str, found: Mapping[int, Layer]) -> bool:
    """Whether the first head of a statistic is only said to attend to nearby tokens."""
    held = cells(name, found)
    layer, head = max(held, key=held.__getitem__)
    role = found[layer].roles[head]
    return role is not None and role.name == NEARBY


def has_role(name: str, found: Mapping[int, Layer], cell: tuple[int, int]) -> bool:
    """Whether a head is called after a pattern: uniform weights have well less there, which is not so in any text."""
    role = found[cell[0]].roles[cell[1]]
    return role is not None and role.shows and ROLES.get(name, name) in role.name


def usual_metric(config: Config) -> str:
    """The statistic that auto tries first."""
    there = known_metrics(config)
    if config.source == GENERATED and config.input != BEFORE and BUILT in there:
        return BUILT
    return next(name for name in FIRST if name in there)


def absent(config: Config, found: Mapping[int, Layer]) -> str:
    """Why all heads have 0 on the statistic: the text has no such token, or the mask hides it; "" if some head has more."""
    name = number(config, found)
    held, texts = cells(name, found), tokens(config).texts
    if name not in PATTERNS or not held or any(held.values()):
        return ""
    hidden = name == "next" and not results.heads.trace(config.truncated).mask.diagonal(1).any()
    if hidden or (texts and name in not_in_text(texts)):
        return text.ABSENT[name].format(unit=unit(config))
    return text.WEIGHT_ZERO.format(
        heads=heads_phrase(config, len(held)), where=text.WHERE.get(name, ""), keys=text.KEYS[name]
    )


def formula(name: str) -> str:
    """The definition of a statistic and its reference, as Markdown."""
    found = EVERY[name]
    return escape(heads.FORMULA.format(label=found.label, formula=found.formula, source=found.source))


def cells(name: str, found: Mapping[int, Layer]) -> Cells:
    """A statistic by layer and head, of heads that have one: they have none if no query has a visible key."""
    return {
        (layer, head): value
        for layer, each in found.items()
        for head, value in enumerate(each.numbers.get(name, ()))
        if value is not None
    }


def top(described: Described, tokens: int) -> float:
    """The end of the scale: the largest possible value; of distances and keys, the largest mean under a causal mask."""
    ends = {"nats": log(tokens), "tokens": (tokens - 1) / 2, "keys": (tokens + 1) / 2, "dimensions": tokens}
    return ends.get(described.unit, 1.0)


def ends(name: str, config: Config, held: Cells) -> tuple[float, float]:
    """The ends of the colours: those of the values of a statistic with a unit, at least a tenth apart; otherwise 0 and 1.

    Colours of shares end at the first of `ENDS` that no value is above, so that a map of small shares is not pale.
    At a training, the ends are the same at each step.
    """
    if spans_values(name, config) and (known := [value for value in held.values() if isfinite(value)]):
        low, most = round(10 * min(known)), round(10 * max(known))  # as the cells are labelled
        return low / 10, max(most, low + 1) / 10
    if is_share(name, config) and held and not _has_steps(config):
        most = max(held.values())
        return 0.0, next((end for end in ENDS if most <= end), most)
    return 0.0, max(top(EVERY[name], config.tokens), *held.values(), 0.0)


def least_written(name: str, config: Config, held: Cells) -> float:
    """The share from which on a map writes it in a cell: smaller ones are far from the end of the colours, or as by chance.

    In whole percent, but for the first reason; heads that are high have their numbers in the shortest text, too.
    """
    faint = chart.FAINT * ends(name, config, held)[1]
    if name not in text.KEYS or not is_share(name, config):
        return faint
    return max(faint, min(HIGH, ceil(100 * BEYOND * uniform_weight(name, config.truncated)) / 100))


def spans_values(name: str, config: Config) -> bool:
    """Whether the colours span the values of the heads."""
    return bool(EVERY[name].unit) and not _has_steps(config)


def _has_steps(config: Config) -> bool:
    return len(training_steps(config.source)) > 1


def digits(described: Described) -> int:
    """The number of decimals: as many as a cell has room for."""
    return 1 if described.unit else 2


def metric_title(described: Described) -> str:
    """The label of a statistic, with its unit if the label does not contain it."""
    unit = described.unit
    return f"{described.label} ({unit})" if unit and unit not in described.label.lower() else described.label


def menu(setting: Any, config: Config, auto: str = heads.AUTO, without: Collection[str] = ()) -> None:
    """Draws the menu of the statistic, a knob of `setting`, for the heads of a config.

    `auto`: the label of "auto". `without`: statistics that are left out unless one of them is chosen.
    """
    known = (name for name in known_metrics(config) if name not in without)
    chosen = setting.layer_map
    options = tuple(dict.fromkeys((DEFAULTS["layer_map"] if chosen in EVERY else chosen, *known, chosen)))
    knobs.menu("layer_map", setting, options, format_func=partial(choice, auto=auto), on_change=page.change)


def draw_map(
    config: Config,
    found: Mapping[int, Layer],
    behaviour: Behaviour = USUAL,
    title: str = "",
) -> None:
    """Draws the map of the statistic with its `title`, or says why there is none."""
    name = number(config, found)
    held = cells(name, found)
    if not held:
        st.caption(_none(name, found, config))
        return
    described = EVERY[name]
    percent = is_share(name, config)
    bold = counted_heads(config, found) or None
    limit = least_written(name, config, held)
    values = Values(held, described.label, ends(name, config, held), digits(described), percent, title, bold, limit)
    draw_cells(config, values, behaviour)


def draw_cells(config: Config, values: Values, behaviour: Behaviour) -> None:
    """Draws these values as the map of layers and heads."""
    cells, label, ends, decimals, percent, title, bold, limit = values
    on_click, off, room = behaviour
    table, switches = cell_columns(cells, (config.layer, config.head)), off is not None
    if percent:
        table["short"] = [format_short_percent(value, HIGH) for value in cells.values()]
    strong = {max(cells, key=cells.__getitem__)} if bold is None else bold
    table["strong"] = [cell in strong for cell in cells]
    written = format_percent if percent else format_mean
    table["says"] = [cell_text(config, cell, written(value), cell in (off or ())) for cell, value in cells.items()]
    if off is not None:
        table["off"] = [cell in off for cell in cells]
    st.vega_lite_chart(
        pa.table(table),
        chart.numbers(
            layers(config.source), config.heads, label, ends, decimals, switches, percent, room, title, limit
        ),
        key="layers",
        width="stretch",
        on_select=on_click,
        selection_mode=chart.CELL,
        alt=heads.MAP_ALT.format(statistic=label.lower()),
    )


def counted_heads(config: Config, found: Mapping[int, Layer]) -> set[tuple[int, int]]:
    """The heads that a headline counts: those with over half of their weight on the keys of the statistic."""
    held = cells(number(config, found), found)
    return {cell for cell, value in held.items() if value > HIGH} if is_weight(config, found) else set()


def highest_by_step(config: Config) -> dict[int, float]:
    """The highest weight of a head on what the map shows, by recorded training step; {} if it shows no weight."""
    found = {step: results.layers.at_step(config, step) for step in training_steps(config.source)}
    last = [*found.values()][-1]
    name = number(config, last)
    if not is_weight(config, last):
        return {}
    return {step: max(cells(name, each).values(), default=0.0) for step, each in found.items()}


def steps_of_appearance(highest: Mapping[int, float]) -> tuple[int, int] | None:
    """The last training step at which no head is high, and the step after it.

    None if no head is high after the last step, or if some head is at each.
    """
    low = [step for step, value in highest.items() if value <= HIGH]
    return next((pair for pair in pairwise(highest) if low and pair[0] == low[-1]), None)


def high_layers(name: str, found: Mapping[int, Layer]) -> list[int]:
    """The layers with a head that follows a pattern."""
    return sorted({layer for (layer, _), value in cells(name, found).items() if value > HIGH})


def cell_columns(values: Cells, focus: tuple[int, int] | None) -> dict[str, list[Any]]:
    """The columns of a map's table: one row for each value, by layer and head; `focus` is the selected cell."""
    return {
        "layer": [layer for layer, _ in values],
        "head": [head for _, head in values],
        "value": list(values.values()),
        "focus": [cell == focus for cell in values],
        "turn": [page.visit_state().turns] * len(values),
    }


def metric_sentence(config: Config, found: Mapping[int, Layer]) -> str:
    """The statistic of the selected head, and the head with the largest; "" if no head has one."""
    held = cells(number(config, found), found)
    if not held:
        return ""
    if why := absent(config, found):
        return why
    cell, most = max(held.items(), key=lambda cell: cell[1])
    value = value_text(config, found, most)
    return f"{selected_sentence(config, found)} {heads.LARGEST.format(head=head_title(config, cell), value=value)}"


def selected_sentence(config: Config, found: Mapping[int, Layer]) -> str:
    """The statistic of the selected head; "" if it has none."""
    name, here = number(config, found), (config.layer, config.head)
    held = cells(name, found)
    if here not in held:
        return ""
    value = value_text(config, found, held[here])
    return heads.SELECTED.format(head=head_title(config, here).capitalize(), value=value)


def outstanding(held: Cells) -> list[tuple[int, int]]:
    """The heads that stand out, largest first: few that have at least half of the largest value, as others don't."""
    most = max(held.values())
    high = sorted((cell for cell in held if most > 0 and held[cell] >= most / 2), key=lambda cell: -held[cell])
    return high if len(high) <= max(1, min(FEW, len(held) // 4)) else []


def is_weight(config: Config, found: Mapping[int, Layer]) -> bool:
    """Whether the statistic is a share of the weight of a head."""
    return number(config, found) in text.KEYS and distributes(config)


def is_share(name: str, config: Config) -> bool:
    """Whether a statistic is a share, which is written in percent; a weight of rows that don't sum to one is none."""
    return name in SHARES and distributes(config)


def value_text(
    config: Config, found: Mapping[int, Layer], value: float, written: Callable[[float], str] = format_mean
) -> str:
    """A value of the statistic with its unit; a share is in percent."""
    name = number(config, found)
    said = format_percent(value) if is_share(name, config) else written(value)
    return f"{said} {EVERY[name].unit}".rstrip()


def higher_statistic(config: Config, found: Mapping[int, Layer]) -> str:
    """A pattern that some head follows, if no head follows the one that is shown; "" if there is none, or one follows it."""
    shown = number(config, found)
    follows = shown not in PATTERNS or max(cells(shown, found).values(), default=1.0) > HIGH
    return "" if follows else next(iter(_patterns_of_heads(config, found)), "")


def _few_see_first(config: Config) -> bool:
    """Whether a mask hides the first token from most queries, so that a mean over the others describes no head."""
    return 2 * int(results.heads.trace(config.truncated).mask[:, 0].sum()) < config.truncated.tokens


def _patterns_of_heads(config: Config, found: Mapping[int, Layer], without: str = "") -> list[str]:
    """The patterns that some head follows, the one that it follows most first; those that most heads follow are last.

    A mean over few queries describes no head.
    """
    known, texts = known_metrics(config), tokens(config).texts
    held = {
        name: [*cells(name, found).values()]
        for name in PATTERNS
        if name in known
        and name != without
        and not is_rare(name, texts)
        and not (name == "first" and _few_see_first(config))
    }
    followed = [name for name, values in held.items() if max(values, default=0.0) > HIGH]
    widely = {name for name in followed if 2 * sum(value > HIGH for value in held[name]) > len(held[name])}
    return sorted(followed, key=lambda name: (name in widely, -max(held[name])))


def _none(name: str, found: Mapping[int, Layer], config: Config) -> str:
    """Why a statistic has no map."""
    if name in OF_DISTRIBUTIONS and not distributes(config):
        return heads.NEEDS_DISTRIBUTIONS.format(statistic=EVERY[name].label)
    if any(name in layer.numbers for layer in found.values()):
        return heads.NO_VISIBLE_KEY
    return heads.NEEDS_TEXTS.format(statistic=EVERY[name].label)


def choice(name: str, auto: str = heads.AUTO) -> str:
    """The label of a menu option. The formula says what "auto" is, as a browser keeps the first label of an option."""
    if name not in EVERY:
        return auto
    label = EVERY[name].label
    if name in text.KEYS:
        return text.SHARE_OF.format(label=label, keys=text.KEYS[name])
    return text.ABOUT.format(label=label, about=text.MEANINGS[name]) if name in text.MEANINGS else label

"""Parts of the Heads page for any length: title, selected head and query, row scale, code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from attention.analysis.head_kinds import Role
from attention.charts import row, theme
from attention.codec import CONFIGS
from attention.config import Config
from attention.fitting import layers
from attention.knobs import GENERATED, TRAINED
from attention.number_format import format_head, format_percent, format_token
from attention.operations.gate import OFF
from attention.operations.qk_norm import OFF as QK_NORM_OFF
from attention.operations.softmax import row_sums
from attention.sources.providers import (
    distributes,
    has_scores,
    idle,
    is_hand_built,
    is_random,
    source_title,
    unit,
)
from attention.tables import rows as tables
from attention.training.tasks import TASKS
from attention.ui import provenance, results
from attention.ui.controls import knobs
from attention.ui.markdown import escape, join_words
from attention.ui.session import page
from attention.ui.session.role_note import role_name, role_note, short_role
from attention.ui.text import heads as text
from attention.ui.text import layers as layers_text
from attention.ui.views import layers_copies, own_text, questions, whose_heads

CODE_HEIGHT = 400  # pixels, in which longer programs scroll
RECORDED = "recorded:"
USUAL_MASKS = ("causal", "full")  # whose rule the map shows at once
COMPARED = 2**20  # weights up to which those at the usual scale are computed as well
SATURATED = 0.9  # mean largest weight of the rows of a head from which its softmax is called saturated


def choices(config: Config) -> None:
    """Draws the text whose words are the tokens, and the menu of the colour scale unless a question hides all colours."""
    with st.container(key="own-text"):
        field, note, scale = st.columns([7, 6, 5], gap="small", vertical_alignment="center")
        own_text.into(config, field, note, partial(whose_heads.draw, config))
        if questions.is_hidden(config):
            return
        with scale:
            knobs.menu("colors", config, on_change=page.change)


def look_choices(config: Config) -> object:
    """What is shown of a config there; absent from a step of the path."""
    shown = own_text.look(config)
    return shown and (shown, questions.is_hidden(config))


def help_text(config: Config) -> str:
    """Which heads the page shows, what their rows sum to, and what the mask does; unless a question asks, how they were made."""
    recorded = text.RECORDED.format(layer=config.layer, source=escape(source_title(config.source)))
    tokens = (text.TOKENS_CROSS if config.is_cross else text.TOKENS).format
    return (
        text.HELP.format(
            what=text.WHAT,
            heads=head_count(config),
            recorded=recorded if config.source != GENERATED else "",
            tokens=tokens(tokens=config.tokens, keys=config.n_keys),
            sums=_row_sums(config),
            rule=text.OWN if idle("mask", config) else config.rule.help,
            gate=text.GATE if config.gate != OFF else "",
        )
        + f" {'' if questions.is_hidden(config) else provenance.full_text(config)}"
    )


def head_count(config: Config) -> str:
    """How many heads there are."""
    return (text.HEADS_COUNT if config.heads > 1 else text.HEAD_COUNT).format(count=config.heads)


def _row_sums(config: Config) -> str:
    """What the rows sum to; "" for weights without scores, whose badge says it."""
    if not has_scores(config.source):
        return ""
    return text.SUMS.format(sums=row_sums(config.softmax, results.heads.fully_masked(config), config.tokens))


def names(config: Config, roles: Sequence[Role | None]) -> list[str]:
    """The names next to the head numbers: the role, or "" if there is no role or a question asks for it.

    A role of a real model has a second line, which is shown on hover: on how many short texts the head has it. The name of a
    rule that the weights of a head do not show is in parentheses, and its second line says why.
    """
    if questions.unsaid(config):
        return [""] * len(roles)
    found = [role_name(config, config.layer, head, role) if role else "" for head, role in enumerate(roles)]
    return [
        name if role is None or role.shows else text.NOT_SHOWN.format(name=name, says=role.says)
        for name, role in zip(found, roles, strict=True)
    ]


def short_names(config: Config, roles: Sequence[Role | None]) -> list[str]:
    """The names of `names` as one word each, for maps that are too narrow for more."""
    if questions.unsaid(config):
        return [""] * len(roles)
    found = [(short_role(role), role is None or role.shows) for role in roles]
    return [word if shows or not word else f"({word})" for word, shows in found]


def does(config: Config, role: Role | None) -> str:
    """What the selected head does, as Markdown."""
    said = escape(role.says) if role else text.NO_ROLE
    if questions.unsaid(config):
        return questions.unsaid_finding()
    return text.DOES.format(head=_head_name(config), role=said)


def finding(config: Config, roles: Sequence[Role | None], found: tables.Row) -> str:
    """What the selected head does among the others, as Markdown; of a head without a role, its selected row.

    If the task of a training has such rows, in how many of them the head attends most to the token that comes next. If one key
    has most of the row, in how many heads it has its largest weight.
    """
    role = roles[config.head]
    if questions.unsaid(config):
        return questions.unsaid_finding()
    has_row = distributes(config) and found.seeing
    if role and has_row and is_random(config, config.head):
        [most] = tables.heaviest(found, 1)["key"]
        said = {"query": escape(query_name(found)), "key": escape(format_token(found.keys["token"][most], most, "key"))}
        return text.RANDOM_DOES.format(head=_head_name(config), **said, share=format_percent(found.greatest))
    if role or not has_row:
        return does(config, role)
    of = text.OF_LAYER.format(model=_model(config), layer=config.layer) if len(layers(config.source)) > 1 else ""
    query = query_name(found)
    more = ""
    if task := layers_copies.task_rows(config, config.head):
        more = f" {layers_text.TASK_ROWS.format(**task, rises='')}"
    elif config.heads > 1 and found.greatest > 0.5:
        keys = results.heads.trace(config).weights[:, found.query].argmax(-1)
        count = int((keys == keys[config.head]).sum())
        more = text.IN_HEADS.format(query=escape(query), count=count, heads=config.heads)
    return text.GIVES.format(
        heads=head_count(config),
        of=escape(of),
        head=config.head,
        query=escape(query[0].lower() + query[1:]),
        does=escape(tables.puts(found, unit(config), largest=True)),
        more=more,
    )


def unscaled(config: Config) -> str:
    """What no division, or one by d_head, does to the weights of the selected head, as Markdown.

    "" at other scales, if all scales are the same, without a visible key, and if a question hides it.
    """
    usual = replace(config, scale=CONFIGS.defaults["scale"])
    is_plain = config.softmax == CONFIGS.defaults["softmax"] and config.qk_norm == QK_NORM_OFF
    if (
        usual.logit_scale == config.logit_scale
        or not is_plain
        or not has_scores(config.source)
        or results.heads.fully_masked(config) == config.tokens
        or questions.unsaid(config)
    ):
        return ""
    usually, saturates, in_random = "", "", ""
    now = results.heads.mean_largest_weight(config, config.head)
    if config.heads * config.tokens * config.n_keys <= COMPARED:
        divided = results.heads.mean_largest_weight(usual, config.head)
        before = format_percent(divided)
        usually = text.STAYS if before == format_percent(now) else text.INSTEAD.format(usual=before)
        saturates = text.SATURATES * (now >= SATURATED > divided)
        if (random := _random_head(config)) is not None:
            more, less = (results.heads.mean_largest_weight(each, random) for each in (config, usual))
            shares = {"now": format_percent(more), "usual": format_percent(less)}
            in_random = text.IN_RANDOM.format(head=random, **shares) * (more - less > now - divided)
    scale = text.UNUSUAL_SCALES[config.scale].format(d_head=config.d_head)
    shown = {"now": format_percent(now), "usual": usually, "saturates": saturates, "random": in_random}
    above = text.MEAN_LARGEST.format(scale=scale, head=config.head, **shown)
    return f"{above}{mask_rule(config)}".rstrip()


def draw_random_head_button(config: Config) -> None:
    """Draws a button that selects a random head, which shows saturation best; nothing if there is none or it is selected."""
    if (random := _random_head(config)) is not None:
        label = text.RANDOM_SHOWS.format(head=random)
        st.button(label, on_click=page.change, kwargs={"head": random}, type="tertiary", key="random head")


def _random_head(config: Config) -> int | None:
    """The first random head, at no scale; None if it is selected or there is none."""
    random = next((head for head in range(config.heads) if is_random(config, head)), config.head)
    return random if random != config.head and config.scale == "none" else None


def elsewhere(config: Config, role: Role | None) -> str | None:
    """How often the role of the selected head holds on other texts, as the help of its finding; None if that is not known."""
    return None if questions.unsaid(config) else role_note(config, role) or None


def mask_rule(config: Config) -> str:
    """The rule of the mask, as Markdown; "" for the usual ones, and if the mask has no effect."""
    if config.rule_name in USUAL_MASKS or idle("mask", config):
        return ""
    return text.MASK.format(mask=config.rule_name, help=config.rule.help)


def in_brackets(config: Config, roles: Sequence[Role | None]) -> str:
    """What a name in brackets means; "" if there is none."""
    return text.IN_BRACKETS * (not questions.unsaid(config) and any(role and not role.shows for role in roles))


def how_to_read(config: Config, roles: Sequence[Role | None]) -> str:
    """What a head is and how its map is read, as Markdown; of an attention sink what that is, otherwise what to try.

    If the map of the selected head shows no pattern, as it is too small for the text, why.
    """
    role, said = roles[config.head], not questions.unsaid(config)
    if said and distributes(config) and results.heads.is_pattern_hidden(config):
        return f"{text.ONE_COLOUR.format(head=config.head)} {mask_rule(config)}{in_brackets(config, roles)}".rstrip()
    sink = role and role.is_sink and said
    is_built = is_hand_built(config) and config.heads > 1
    unnamed = said and distributes(config) and not all(names(config, roles)) and any(roles)
    tile = results.heads.tokens_per_pixel(config)
    means = results.heads.is_pooled_by_mean(config)
    notes = text.PIXEL_MEAN.format(tile=tile) if means else text.PIXEL * (tile > 1)
    notes += text.TASK.format(says=TASKS[task].says) if (task := _task(config)) else ""
    notes += mask_rule(config) + in_brackets(config, roles)
    then = text.SINK if sink else text.TRY * (config.heads > 1)
    more = _hand_built_note(config) + notes + then if is_built and not sink else notes + then + text.UNNAMED * unnamed
    visible = results.heads.trace(config).mask
    is_causal = torch.equal(visible, torch.ones_like(visible).tril())
    causal, masked = (text.UP_TO_ITSELF, text.MASKED_LATER) if is_causal else ("", "")
    return text.CELLS.format(unit=unit(config), causal=causal, masked=masked, more=more).rstrip()


def _hand_built_note(config: Config) -> str:
    """That the heads were built by hand, and which of them are random."""
    heads = [f"{head}" for head in range(config.heads) if is_random(config, head)]
    said = (text.ONE_RANDOM if len(heads) == 1 else text.SOME_RANDOM).format(heads=join_words(heads)) if heads else ""
    return text.BUILT.format(random=said)


def _task(config: Config) -> str:
    """The name of the task on which the model of a source was trained; "" of other sources."""
    return config.source.removeprefix(f"{TRAINED}:") if config.source.startswith(TRAINED) else ""


def _model(config: Config) -> str:
    """The name of a recorded model without its sentence, the task of a training, of any other source its whole name."""
    if task := _task(config):
        return text.TRAINED_MODEL.format(task=task)
    title = source_title(config.source)
    return title.partition(":")[0] if config.source.startswith(RECORDED) else title


def _head_name(config: Config) -> str:
    return format_head(config.head, config.layer if len(layers(config.source)) > 1 else None)


def badge(config: Config) -> str:
    """The badge beside the title of a page with a selected head: where its weights come from, as one of several is random."""
    if questions.unsaid(config) or not is_random(config, config.head):
        found = provenance.beside(config)
    else:
        found = f":orange-badge[{text.RANDOM_HEAD.format(head=config.head)}]"
    is_usual = config.source != GENERATED or config.temperature == 1  # of other sources, the first badge says it
    return (
        found
        if is_usual
        else f"{found} :orange-badge[{text.TEMPERATURE.format(temperature=f'{config.temperature:g}')}]"
    )


def bars(config: Config, found: tables.Row) -> tuple[str, int]:
    """The scale of the bars of a row, one of the colour scales, and the number of visible keys if the scale needs it, else 0.

    The default is the scale of the colours; for a long row, a linear one ends at the largest weight, as on a scale up to 1
    nothing would be visible.
    """
    if config.head_softmax.signed:
        return row.SIGNED, 0
    scale = {"linear": "own maximum", "log": "times even"}.get(config.axis) or _as_colors(config)
    return scale, found.seeing if scale == "times even" else 0


def _as_colors(config: Config) -> str:
    scale = config.color_scale
    return "own maximum" if scale == "linear" and config.truncated is not config else scale


def query_name(found: tables.Row) -> str:
    """The query of a row: its token and position, or the position alone."""
    return format_token(found.label, found.query, "Query")


def said_of_row(sentence: str, config: Config, scale: str) -> None:
    """Draws the text about a row, and the button next to it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(escape(sentence), width="stretch")
        other_scale(config, scale)


def other_scale(config: Config, scale: str) -> None:
    """Draws a button that switches the bars between log and linear; "auto" is set if that is the scale of the colours.

    Weights of both signs have no logarithmic scale, and no button.
    """
    if scale == row.SIGNED:
        return
    log = scale not in theme.LOGARITHMIC
    back = (_as_colors(config) in theme.LOGARITHMIC) == log
    label, help = text.LOG_SCALE if log else text.LINEAR_SCALE
    st.button(
        label,
        key="bars",
        type="tertiary",
        on_click=page.change,
        kwargs={"axis": "auto" if back else "log" if log else "linear"},
        help=help,
    )


def focus(config: Config, width: int) -> None:
    """Draws the fields of the selected head and query, each `width` pixels wide."""
    last = {"help": text.QUERY_HELP.format(last=config.tokens - 1)}
    for name, more in (("head", {}), ("query", last)):
        knobs.number(name, config, width=width, on_change=page.change, **more)


def extent(rows: tuple[int, int], cols: tuple[int, int], tile: int, then: str = "") -> None:
    """Draws which part of a head is enlarged, and its resolution."""
    shown = text.EXTENT.format(
        first_query=rows[0],
        last_query=rows[1] - 1,
        first_key=cols[0],
        last_key=cols[1] - 1,
        resolution=text.EVERY_TOKEN if tile == 1 else text.TILES.format(tile=tile),
    )
    st.caption(f"{shown} {then}".rstrip())


def beside() -> list[DeltaGenerator]:
    """Two columns, for the enlarged head and for all columns of `numbers` in a window of 1280 pixels."""
    return st.columns([10, 9], gap="small")


def fold(label: str, icon: str, key: str, wanted: bool) -> Any:
    """An expander whose content is drawn only while it is open. It opens as soon as it is `wanted`, and is closed by hand."""
    before = page.visit_state().folds
    if page.widgets().get(key) is None or (wanted and not before.get(key)):
        page.widgets()[key] = wanted
    before[key] = wanted
    return st.expander(label, icon=f":material/{icon}:", key=key, on_change="rerun")


def code(what: str, source: Callable[[], str], core: Callable[[], str] | None = None) -> None:
    """Draws an expander with the program that does `what`, only if it is open: a browser loads 1.5 MB to colour it.

    `core`: those of its lines that are shown first, if there are many others.
    """
    if page.widgets().get(what) is None:
        page.widgets()[what] = code_open(what)
    fold = st.expander(text.CODE, icon=":material/code:", key=what, on_change="rerun")
    page.visit_state().code = bool(fold.open)
    if fold.open:
        if core:
            fold.code(core(), language="python", height=CODE_HEIGHT)
            fold.caption(text.WHOLE_PROGRAM)
        fold.code(source(), language="python", height=CODE_HEIGHT)


def code_open(what: str) -> bool:
    """Whether that expander is open. Streamlit forgets it if it was not drawn once, as when a question hides it."""
    return page.widgets().get(what, page.visit_state().code)

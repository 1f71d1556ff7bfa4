"""Steps: from x to output, one matrix at a time, with formula, shape, memory, operations and values."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from attention.components.matrices import matrices
from attention.config import Config
from attention.examples import EXAMPLES
from attention.knobs import KNOBS
from attention.operations.softmax import SOFTMAXES
from attention.operations.table import step_names
from attention.pinned import Sides, sides_shown
from attention.sources.providers import has, has_scores
from attention.sources.spec import lengths
from attention.steps.parts import parts
from attention.steps.plan import by_name, made_here
from attention.steps.step import Source, Step
from attention.tables.rows import costs, quantity
from attention.ui import proof, provenance, results
from attention.ui.controls import knobs
from attention.ui.controls.picture import MIXED
from attention.ui.empty_states import missing_parts, too_large
from attention.ui.heading import draw_finding, title_part
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, gestures, page, present
from attention.ui.text import steps as text
from attention.ui.text import terms
from attention.ui.views import focus, questions, softmax_questions, steps_changed, steps_finding

AXES = {  # as in the docstring of the package
    "b": "sequences",
    "q": "queries",
    "k": "keys",
    "c": "channels per token",
    "h": "heads",
    "g": "key-value heads",
    "s": "softmaxes per head",
    "d": "channels per head",
    "e": "channels per value",
    "u": "gates per head",
}


def view(config: Config) -> None:
    """The page of a config."""
    own = {"row": softmax_questions.share_opened} if has_scores(config.source) else {}
    if questions.question_closes(config, **own):
        return
    if missing_parts(config, "Steps, one matrix at a time", "q", "k"):
        return
    if refused := results.steps.refusal(config):
        why, smaller = refused
        too_large(why, smaller, text.SMALLER.format(tokens=smaller.tokens, width=smaller.d_model))
        return
    plan = by_name(config)
    current = nearest(config.step, list(plan))
    changed = sides_shown(config, "difference", steps_changed.has_step_difference)
    draw_finding(_finding(config, plan, current, changed))
    order = step_names().index
    if config.step not in plan and (made_here(config) or order(config.step) > order(current)):
        st.info(text.NO_STEP.format(wanted=config.step, shown=current), icon=":material/info:")
    with st.container(key="step-and-picture"):  # a phone has the picture first
        if not present.is_embedded():
            with st.container(horizontal=True, vertical_alignment="center", key="step-choices"):
                _choices(config)
                if config.steps == "one":
                    _formula(plan[current])
                    if changed and not questions.unsaid(config):
                        steps_changed.draw_way(changed, current)
        _matrices(config, changed)
    browser_yield.yield_to_browser()
    if present.shows_one_picture(config):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        _proof(config)
        terms.draw("steps")
    _odd(config)
    _sequences(config)
    with st.expander(text.COSTS, icon=":material/functions:", expanded=bool(config.keys or config.d_v)):
        _widths(config)
        _costs(config, plan[current])
    if config.steps == "all":
        _formulas(plan)


def _matrices(config: Config, changed: Sides | None) -> None:
    """Draws the matrices of a step, or of all: of one side, of both beside each other, or B minus A if it is `changed`."""
    if both := sides_shown(config, "both", steps_changed.has_sides):
        steps_changed.draw_beside(both, {side: _names(side) for side in both[:2]})
        return
    names, after = _names(config), () if changed else _after(config)
    names = *names, *after
    found = results.steps.differences(changed, names) if changed else results.steps.matrices(config, names)
    drawn = dict(zip(names, found, strict=True))
    matrices(
        config, drawn, step=names[0] if after else "", on_turn=gestures.on_step_choice, on_pin=gestures.on_matrix_pin
    )
    if changed:
        steps_changed.draw_legend(changed, names)


def _names(config: Config) -> tuple[str, ...]:
    """The steps whose matrices are drawn: all, or the current one and those that it is computed from.

    Beside the mask are the scores that it will act on.
    """
    plan = by_name(config)
    step = plan[nearest(config.step, list(plan))]
    if config.steps == "all":
        return tuple(plan)
    sources = step.sources or (_masked_sources(plan) if step.name == "mask" else ())
    return (*(source.name for source in sources if source.name != step.name), step.name)


def _after(config: Config) -> tuple[str, ...]:
    """The matrices that are drawn beside the step that they are computed from."""
    plan = by_name(config)
    return steps_finding.made_of(plan, nearest(config.step, list(plan))) if config.steps == "one" else ()


def _masked_sources(plan: dict[str, Step]) -> tuple[Source, ...]:
    """What the first step that takes the mask is computed from."""
    return next((step.sources for step in plan.values() if "mask" in [each.name for each in step.sources]), ())


def nearest(step: str, present: list[str]) -> str:
    """The step itself; if the settings do not have it, the last step before it that they have, or the first."""
    if step in present:
        return step
    order = step_names().index
    before = [name for name in present if order(name) < order(step)]
    return before[-1] if before else present[0]


def _help(config: Config) -> str:
    return f"{text.HELP.format(way=_way(config))} {provenance.full_text(config)}"


def _finding(config: Config, plan: dict[str, Step], current: str, changed: Sides | None) -> str:
    """What the step that is shown does, or where the pass begins and ends; of a difference, the first step that differs."""
    if changed and not questions.unsaid(config):
        return steps_changed.finding(changed, "" if config.steps == "all" else current)
    if config.steps == "all":
        return text.ALL.format(way=_way(config), count=len(parts(config)))
    return steps_finding.of_step(config, plan, current)


def _kind(config: Config) -> str:
    return "Cross-attention" if config.keys or config.is_cross else "Self-attention"


def _way(config: Config) -> str:
    """Where the pass begins and ends: a learned or uploaded source has neither x nor projections, and not always values."""
    given = text.GIVEN_VALUES if "v" in has(config.source) else text.NO_VALUES
    return (text.WHOLE if made_here(config) else given).format(kind=_kind(config))


def _proof(config: Config) -> None:
    if config.keys or config.d_v:
        far = results.steps.torch_difference(config)
        fits = far <= 1e-5
        st.badge(
            proof.verdict(far, fits, reference=SOFTMAXES[config.softmax].reference),
            icon=":material/verified:" if fits else ":material/error:",
            color="green" if fits else "red",
            help=text.PROOF,
        )
    else:
        proof.badge(config)


def _choices(config: Config) -> None:
    """Draws the choice of one step or all, and, unless every number fits its cell already, a button for an example."""
    small = EXAMPLES["small"].config
    assert isinstance(small, Config)
    if config.tokens > small.tokens or config.d_model > small.d_model:
        whole = "v" in has(config.source)
        settings = {name: value for name, value in vars(small).items() if KNOBS[name].about == "tensors"}
        st.button(
            text.SMALL if whole else text.ALL_STEPS,
            icon=":material/pin:",
            key="small",
            help=text.SMALL_HELP,
            on_click=page.change,
            kwargs=settings | {"head": small.head, "step": MIXED.step},
        )
        st.caption(text.SHARED if whole else text.NO_MORE, width="content")
    knobs.segments("steps", config, format_func=text.VIEWS.get, label_visibility="collapsed", width="content")


def _formula(step: Step) -> None:
    """Draws the formula of a computed step without indices; those of a cell are in its help, and among the sizes below."""
    if "=" not in step.plain:  # a name alone, which the matrix has
        return
    more = text.BY_CELL.format(formula=step.formula) if step.plain != step.formula else None
    st.markdown(f"${step.plain}$", width="content", help=more)


def _size(step: Step) -> str:
    """Axes, shape, memory and operations of a step."""
    shape = " × ".join(f"{size:,}" for size in step.sizes)
    memory = text.VIEW if step.kind == "view" else text.MEMORY.format(bytes=quantity(step.bytes, "B"))
    flops = text.FLOPS.format(flops=quantity(step.flops, "FLOP")) if step.flops else text.NO_FLOPS
    return text.SIZE.format(shape=shape, axes=step.axes, memory=memory, flops=flops)


def _letters(config: Config) -> str:
    """The meaning of the letters, and the size of each axis."""
    there = set("".join(step.axes for step in by_name(config).values()))
    words = AXES | ({"d": "channels per softmax of a head"} if "s" in there else {})
    letters = ", ".join(f"`{name}` {words[name]}: {size:,}" for name, size in lengths(config).items() if name in there)
    return text.AXES.format(letters=letters)


def _formulas(plan: dict[str, Step]) -> None:
    """Draws every step with its formula and size, for the view of all matrices."""
    with st.expander(text.FORMULAS, icon=":material/functions:"):
        lines = [
            f"| {step.name.replace('_', chr(92) + '_')} | ${step.formula}$ | {_size(step)} |" for step in plan.values()
        ]
        st.markdown("\n".join([text.FORMULAS_TABLE, "| --- | --- | --- |", *lines]))


def _odd(config: Config) -> None:
    """Says what is unusual about these settings."""
    blind = results.steps.blind(config)
    queries, keys = config.tokens, lengths(config)["k"]
    if blind:
        st.caption(text.FULLY_MASKED.format(blind=blind, queries=queries, keys=keys))
    if config.d_head == 1:
        st.caption(text.ONE_CHANNEL)
    if made_here(config) and config.projections in ("independent", "tied"):
        st.caption(text.RANDOM)


def _sequences(config: Config) -> None:
    head, query, _ = st.columns([1, 1, 2], gap="medium", vertical_alignment="bottom")
    with head:
        focus.head(config)
    with query:
        focus.query(config)


def _widths(config: Config) -> None:
    """Draws the number of keys of another sequence, and the width of the values."""
    for (name, label), column in zip(text.WIDTHS.items(), st.columns(4, gap="medium"), strict=False):
        with column:
            knobs.number(name, config, label=label)


def _costs(config: Config, step: Step) -> None:
    """Draws the size of the step that is shown, the letters of the axes, and what all steps cost."""
    if config.steps == "one":
        st.markdown(text.HERE.format(step=escape(step.name), size=_size(step), formula=step.formula))
    st.caption(_letters(config))
    table = pd.DataFrame(costs(config))
    total = {name: float(table[name].sum()) for name in ("bytes", "flops")}  # pyright: ignore[reportArgumentType]  a column of numbers
    what = text.WHOLE_PASS if made_here(config) else text.STEPS_SHOWN
    st.markdown(
        text.TOTAL.format(what=what, bytes=quantity(total["bytes"], "B"), flops=quantity(total["flops"], "FLOP"))
    )
    share = partial(st.column_config.ProgressColumn, format="%.1f%%", min_value=0, max_value=100)
    columns = {
        "step": "Step",
        "axes": "Axes",
        "shape": "Shape",
        "bytes": st.column_config.NumberColumn(text.BYTES, format="localized", help=text.BYTES_HELP),
        "memory": share(text.MEMORY_SHARE),
        "flops": st.column_config.NumberColumn("FLOPs", format="localized", help=text.FLOPS_HELP),
        "work": share(text.FLOPS_SHARE),
    }
    st.dataframe(table, column_config=columns, hide_index=True, key="costs", height=300)


TITLE = title_part("steps", _help)

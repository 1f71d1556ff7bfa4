"""The Softmax page, one row: its bars first; its steps with formulas, cumulative mass and other softmaxes are folded."""

from __future__ import annotations

import math
from collections.abc import Callable

import pyarrow as pa
import streamlit as st
from torch import Tensor

from attention.analysis.row_stages import (
    FIRST,
    GEMMA,
    OPERAND,
    SECOND,
    Stages,
    oddities,
    shown_stages,
    smallest,
    stages,
    variant_name,
    variants,
    worked_formulas,
)
from attention.charts import stages as charts
from attention.charts.row import SIGNED
from attention.charts.spec import empty
from attention.components.score_bars import score_bars
from attention.config import Config
from attention.lessons.cards import gallery
from attention.number_format import format_mean, format_percent, format_token, format_weight
from attention.operations import forgetting
from attention.operations.positions import POSITIONS
from attention.operations.qk_norm import ON
from attention.operations.query_scale import LOG
from attention.operations.softmax import SOFTMAXES
from attention.sources.providers import distributes
from attention.sources.spec import spec_of
from attention.tables import rows as tables
from attention.tables import softmax
from attention.trace import Trace
from attention.ui import next_step
from attention.ui.controls import knobs
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, present
from attention.ui.text import softmax as text
from attention.ui.views import focus, unscaled

FAINT = 0.05  # a weight that is hardly visible on an axis from 0 to 1


def draw(trace: Trace) -> None:
    """Draws the selected row, and the rest of it in expanders; its bars alone if the page is embedded."""
    found = stages(trace)
    for sentence in oddities(found):
        st.info(sentence, icon=":material/info:")
    if found.second is None:
        score_bars(found)
        if present.is_embedded():
            return
        browser_yield.yield_to_browser()
        _choices(found.config)
        _fold("steps", found, _steps)
    else:
        st.caption(text.TWO)
        _choices(found.config)
        _steps(found)
    unscaled.draw(found)
    _fold("mass", found, _mass)
    _fold("variants", found, _variants)


def _choices(config: Config) -> None:
    """Draws the choice of the row and of the order of its keys."""
    head, query, order = st.columns([1, 1.3, 1.7])
    with head:
        focus.head(config)
    with query:
        focus.query(config)
    with order:
        knobs.segments("order", config)


def _fold(name: str, found: Stages, draw_part: Callable[[Stages], None]) -> None:
    """Draws an expander with a part of the row, which is computed only if it is open."""
    label, icon = text.FOLDS[name]
    fold = st.expander(label, icon=f":material/{icon}:", key=f"row {name}", on_change="rerun")
    if fold.open:
        with fold:
            draw_part(found)


def _steps(found: Stages) -> None:
    """Draws every step over the keys, with its formula beside it."""
    picture, formulas = st.columns([3, 2], gap="medium")
    with picture:
        _panels(found)
        knobs.menu("colors", found.config, label=text.WEIGHT_AXIS)
    browser_yield.yield_to_browser()
    with formulas:
        _formulas(found)


def _panels(found: Stages) -> None:
    config = found.config
    columns = softmax.stages(found, config.order)
    ends = (_end(found.dots), max(_end(found.scaled), _end(found.logits[found.visible])))
    last = _end(found.operand[found.visible]) if OPERAND in columns else 0.0
    softmaxes = tuple(name for name in (FIRST, SECOND) if name in columns)
    same = bool((found.scaled == found.logits)[found.visible].all())
    spec = charts.panels(_labels(found, columns), config.n_keys, *ends, *_axis(found), last, softmaxes, same)
    st.vega_lite_chart(
        pa.table(columns),
        spec if found.visible.any() else empty(spec),
        key="stages",
        width="stretch",
        alt=text.PANELS_ALT,
    )


def _axis(found: Stages) -> tuple[str, int]:
    """The scale of an axis of weights, and the number of visible keys if the scale depends on it."""
    if found.config.head_softmax.signed:
        return SIGNED, 0
    scale = found.config.color_scale
    return scale, int(found.visible.sum()) if scale == "times even" else 0


def _end(values: Tensor) -> float:
    return charts.reach(float(values.abs().max())) if len(values) else 1.0


def _labels(found: Stages, columns: dict) -> tuple[str, ...]:
    return softmax.drawn_labels(columns, found.config) if found.config.n_keys <= charts.LABELLED else ()


def _formulas(found: Stages) -> None:
    config, key = found.config, found.heaviest
    numbers = worked_formulas(found, key) if key is not None else {}
    query, keys = config.query_index, tables.key_labels(config)
    names = tables.labels(config)
    who = text.WHO.format(query=escape(format_token(names[query] if names else "", query, "Query")), head=config.head)
    sums = format_mean(float(found.weights.double().sum()))
    missing = (
        ""
        if not distributes(config)
        else tables.missing_share(tables.describe_row(config, found.weights, found.visible), config)
    )
    lines = [text.ROW_ONLY.format(who=who)]
    if key is not None:
        top = escape(format_token(keys[key] if keys else "", key, "key"))
        lines = [text.ROW_NUMBERS.format(who=who, key=top)]
    for stage, entry in shown_stages(config).items():
        lines.append(f"**{entry.label}** ${entry.formula(config)}$")
        lines += [f"$\\quad {numbers[stage]}$"] if numbers else []
    lines.append(
        text.ROW_SUM.format(
            visible=int(found.visible.sum()),
            support=_support(found),
            sums=sums,
            missing=missing,
            entropy=tables.entropy_text(config, found.entropy),
        )
    )
    st.markdown("\n\n".join(lines))
    st.caption(_legend(found))


def _support(found: Stages) -> str:
    """How many keys have weight, if others may have none."""
    if not (found.config.head_softmax.sparse and found.visible.any()):
        return ""
    zeros = int(found.visible.sum()) - found.support
    return text.SUPPORT.format(support=found.support, zeros=zeros)


def _legend(found: Stages) -> str:
    config = found.config
    softmax = config.head_softmax
    parts = [text.SYMBOLS.format()]
    if softmax.sparse:
        parts.append(text.TAU)
    elif softmax.distributes or softmax.halves > 1:
        parts.append(text.LARGEST_LOGIT)
    if config.qk_norm == ON:
        parts.append(text.NORMED)
    if config.query_scale == LOG:
        parts.append(text.LOG_KEYS)
    if config.softcap:
        parts.append(text.SOFTCAP.format(softcap=config.softcap))
    rule = POSITIONS[config.positions]
    if forgetting.applies(spec_of(config)):
        parts.append(text.FORGETTING.format(bias=text.AND_BIAS if rule.to_scores else ""))
    elif rule.to_scores:
        parts.append(text.BIAS.format(adds=rule.adds))
    if not found.visible.all():
        parts.append(text.MASKED)
    return "".join([*parts, *_axis_texts(found), text.AXES])


def _axis_texts(found: Stages) -> list[str]:
    """What the axis of the weights shows."""
    config, scale, parts = found.config, _axis(found)[0], []
    if scale == "linear" and 0 < float(found.weights.max()) < FAINT:
        parts.append(text.SMALL.format(limit=FAINT))
    if scale == "times even":
        parts.append(text.UNIFORM.format(keys=int(found.visible.sum())))
    if scale == SIGNED:
        parts.append(text.BOTH_SIGNS)
    elif config.color_reason:
        parts.append(text.AXIS_REASON.format(reason=config.color_reason))
    return parts


def _mass(found: Stages) -> None:
    sizes = smallest(found.weights)
    sets = ", ".join(text.MASS_SET.format(size=size, share=share) for share, size in sizes.items())
    negative = text.NEGATIVE if found.config.head_softmax.signed else ""
    st.caption(text.MASS_SETS.format(sets=sets, negative=negative) if found.visible.any() else text.FULLY_MASKED)
    frame = pa.table(softmax.mass(found))
    st.vega_lite_chart(
        frame,
        charts.mass(found.config.n_keys),
        key="mass",
        width="stretch",
        alt=text.MASS_ALT,
    )


def _variants(found: Stages) -> None:
    names, columns = softmax.variant_rows(found)
    st.markdown(text.VARIANTS.format(name=names[0], note="" if found.config.softcap else text.NO_SOFTCAP))
    each = variants(found)
    if found.visible.any():
        st.markdown("\n".join(f"- {variant_sentence(found, name, each[name])}" for name in names if name in each))
        next_step.page_link("heads", text.SINK_EXAMPLE, gallery()["nothing"].query)
    rows = [(name, *_sum_up(weights)) for name, weights in each.items()]
    st.dataframe(dict(zip(text.VARIANT_COLUMNS, zip(*rows, strict=True), strict=True)), hide_index=True, key="sums")
    spec = charts.rows(names, _labels(found, columns), found.config.n_keys, *_axis(found))
    st.vega_lite_chart(
        pa.table(columns),
        spec if found.visible.any() else empty(spec),
        key="variants",
        width="stretch",
        alt=text.VARIANTS_ALT,
    )


def variant_sentence(found: Stages, name: str, weights: Tensor) -> str:
    """What a softmax does to the row, in one sentence with its numbers."""
    softmax, total = SOFTMAXES.get(name), float(weights.double().sum())
    kind = "plain" if name == variant_name("standard") else "capped"
    if softmax:
        kind = "single" if not softmax.distributes else "sparse" if softmax.sparse else "rest"
    return text.VARIANT[kind].format(
        name=name.capitalize(),
        sums=format_mean(total),
        rest=format_percent(max(1 - total, tables.FAINT)),
        support=int((weights > 0).sum()),
        visible=int(found.visible.sum()),
        cap=found.config.softcap or GEMMA,
        largest=format_weight(float(weights.max())),
        length=found.config.sigmoid_length,
        bias=f"{math.log(found.config.sigmoid_length):.3g}",
    )


def _sum_up(weights: Tensor) -> tuple[str, str, int]:
    """The largest weight, the sum and the support of a row."""
    return format_weight(float(weights.max())), format_mean(float(weights.sum())), int((weights > 0).sum())

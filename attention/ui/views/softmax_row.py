"""The Softmax page, one row: its steps over the keys with formulas, cumulative mass, and other softmaxes."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st
from torch import Tensor

from attention.analysis.row_stages import (
    FIRST,
    OPERAND,
    SECOND,
    Stages,
    oddities,
    shown_stages,
    smallest,
    stages,
    variants,
    worked_formulas,
)
from attention.charts import stages as charts
from attention.charts.row import SIGNED
from attention.charts.spec import empty
from attention.components.score_bars import score_bars
from attention.number_format import format_mean, format_token, format_weight
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
from attention.ui.markdown import escape
from attention.ui.session import browser_yield

TWO = "Scores can't be dragged here: each key has two, one for each softmax. Both are below."
FAINT = 0.05  # a weight that is hardly visible on an axis from 0 to 1
SIGNS = (
    r"$T$: temperature. $\mathrm{mask}_j$: what the mask adds to the logit of key $j$, 0 if the query attends to it and "
    r"$-\infty$ if not. "
)
LARGEST = "$m$: the largest logit, subtracted so that no exponential overflows. "
TAU = r"$\tau$: the threshold of the row, in units of logits; keys at or below it get a weight of exactly zero. "
BOTH = "Weights of both signs: zero is in the middle of their axis, and the largest of them ends it. "
EVEN = "Line: the uniform weight, 1 / {} visible keys, at the centre of the logarithmic axis. "


def draw(trace: Trace) -> None:
    """Draws the selected row."""
    found = stages(trace)
    for sentence in oddities(found):
        st.info(sentence, icon=":material/info:")
    if found.second is None:
        score_bars(found)
    else:
        st.caption(TWO)
    picture, formulas = st.columns([3, 2], gap="medium")
    with picture:
        _panels(found)
    browser_yield.yield_to_browser()
    with formulas:
        _formulas(found)
    left, right = st.columns(2, gap="medium")
    with left:
        _mass(found)
    with right:
        _variants(found)


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
        alt="Bars by key, one panel per step: dot products, scaled, logits and weights of the selected query",
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
    who = f"{escape(format_token(names[query] if names else '', query, 'Query'))} in head {config.head}"
    sums = format_mean(float(found.weights.double().sum()))
    missing = (
        ""
        if not distributes(config)
        else tables.missing_share(tables.describe_row(config, found.weights, found.visible), config)
    )
    lines = [f"{who}."]
    if key is not None:
        top = escape(format_token(keys[key] if keys else "", key, "key"))
        lines = [f"{who}, with the numbers of the key with the largest weight, {top}."]
    for stage, entry in shown_stages(config).items():
        lines.append(f"**{entry.label}** ${entry.formula(config)}$")
        lines += [f"$\\quad {numbers[stage]}$"] if numbers else []
    lines.append(
        f"Visible keys: {int(found.visible.sum())}. {_support(found)}Sum of weights: {sums}. "
        f"{missing}{tables.entropy_text(config, found.entropy)}."
    )
    st.markdown("\n\n".join(lines))
    st.caption(_legend(found))


def _support(found: Stages) -> str:
    """How many keys have weight, if others may have none."""
    if not (found.config.head_softmax.sparse and found.visible.any()):
        return ""
    zeros = int(found.visible.sum()) - found.support
    return f"Support: {found.support} of them; {zeros} have a weight of exactly zero, not above the threshold. "


def _legend(found: Stages) -> str:
    config = found.config
    softmax = config.head_softmax
    subtracted = TAU if softmax.sparse else LARGEST if softmax.distributes or softmax.halves > 1 else ""
    cap = f"$c$ = {config.softcap:g}: softcap. " if config.softcap else ""
    rule = POSITIONS[config.positions]
    bias = f"$b_j$: position bias, {rule.adds}. " if rule.to_scores else ""
    if forgetting.applies(spec_of(config)):
        bias = f"$b_j$: what the tokens after key $j$ have forgotten of it{' and position bias' * bool(bias)}. "
    normed = "Hats: divided by the root mean square (QK-norm). " if config.qk_norm == ON else ""
    keys = r"$\lambda$: the logarithm of the number of visible keys. " if config.query_scale == LOG else ""
    hidden = "Grey, and ×: masked keys. " if not found.visible.all() else ""
    top = float(found.weights.max())
    small = f"All weights are below {FAINT:g}; choose another weight axis to see them. " if 0 < top < FAINT else ""
    scale = _axis(found)[0]
    small = small if scale == "linear" else ""
    even = EVEN.format(int(found.visible.sum())) if scale == "times even" else ""
    even += f"Weight axis, {config.color_reason}. " if config.color_reason and scale != SIGNED else ""
    even += BOTH if scale == SIGNED else ""
    axes = "Axis limits are rounded to 1, 2, 5, 10 …, so the scale stays put."
    return f"{SIGNS}{subtracted}{normed}{keys}{cap}{bias}{hidden}{small}{even}{axes}"


def _mass(found: Stages) -> None:
    sizes = smallest(found.weights)
    held = ", ".join(f"{size} have {share:.0%}" for share, size in sizes.items())
    st.markdown("**Cumulative weight** of the keys with the largest weights")
    held += "; negative weights count by their size" * found.config.head_softmax.signed
    st.caption(f"Smallest sets of keys: {held}." if found.visible.any() else "The row is fully masked.")
    frame = pa.table(softmax.mass(found))
    st.vega_lite_chart(
        frame,
        charts.mass(found.config.n_keys),
        key="mass",
        width="stretch",
        alt="Line: the total weight of the keys with the largest weights, by their number",
    )


def _variants(found: Stages) -> None:
    names, columns = softmax.variant_rows(found)
    st.markdown(f"**The same row with other softmaxes**: difference from {names[0]}")
    st.caption(f"{'; '.join(_sum_up(name, weights) for name, weights in variants(found).items())}.{_note(found)}")
    axes = _difference_ends(names, columns), *_axis(found)
    spec = charts.differences(names, _labels(found, columns), found.config.n_keys, *axes)
    st.vega_lite_chart(
        pa.table(columns),
        spec if found.visible.any() else empty(spec),
        key="variants",
        width="stretch",
        alt="Bars by key, one panel per softmax: its weights of the selected query minus those of the one in use",
    )


def _difference_ends(names: tuple[str, ...], columns: dict[str, list]) -> tuple[float, ...]:
    """The ends of the axes of differences: the same for all that distribute a row, as a sigmoid may be far from these."""
    most = {name: max(map(abs, columns[f"v{i}"])) for i, name in enumerate(names) if i}
    shares = [name for name in most if name not in SOFTMAXES or SOFTMAXES[name].distributes]
    common = max((most[name] for name in shares), default=0.0)
    return tuple(charts.reach(common if name in shares else each) for name, each in most.items())


def _sum_up(name: str, weights: Tensor) -> str:
    """The largest weight, the sum and the support of a row under a softmax."""
    total, support = format_mean(float(weights.sum())), int((weights > 0).sum())
    return f"{name}: largest {format_weight(float(weights.max()))}, sum {total}, {support} keys"


def _note(found: Stages) -> str:
    return "" if found.config.softcap else " No softcap is set; 50 is shown, as in Gemma 2."

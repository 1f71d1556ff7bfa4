"""The Softmax page, number types: the selected head in each type against float64, and what overflows when."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from attention.analysis.number_types import FUSED, Rounded, limits
from attention.charts import heatmap
from attention.charts import precision as charts
from attention.operations.normalisers import Normaliser, Softmax
from attention.operations.softmax import SOFTMAXES
from attention.tables import softmax
from attention.trace import Trace
from attention.ui import results
from attention.ui.session import browser_yield

DIFFERENCES = "Heatmap by query and key: difference of the weights from float64"
FOUND = {  # label and help of each column
    "dtype": ("Type", ""),
    "exponent": (
        "Computed",
        "Max-subtracted, naive: every step is stored in the type. Fused: scores and softmax in float32, weights in the type.",
    ),
    "error": ("Largest error", "Largest difference of a weight from float64, over rows without NaN."),
    "row_sum": (
        "Error of row sums",
        "Largest difference of a row's sum from float64, over rows without NaN.",
    ),
    "worst": ("Worst query", "The row with the largest difference; rows with NaN rank worst."),
    "broken": ("NaN rows", "Rows with at least one NaN."),
    "dots": ("q·k = ∞", "Dot products that overflowed, of visible pairs."),
    "logits": ("Logit = ∞", "Scaled scores that overflowed, of visible pairs."),
    "exps": ("exp = ∞", "Exponentials that overflowed."),
    "sums": ("Σ exp = ∞", "Rows whose sum overflowed."),
}
ENDS = {
    "dtype": ("Type", ""),
    "largest": ("Largest number", "Larger dot products and sums overflow."),
    "step": ("Step at 1", "Distance from 1 to the next larger number."),
    "overflows": ("exp(x) overflows above", "ln of the largest number."),
    "vanishes": ("exp(x) is 0 below", "ln of half the smallest positive number."),
}
WHY = r"""
$e^{\ell}$ overflows if a logit is large; $e^{\ell - \max \ell}$ never does, and gives the same weights:
$\frac{e^{\ell_j}}{%s\sum_i e^{\ell_i}} = \frac{e^{\ell_j - m}}{%s\sum_i e^{\ell_i - m}}$%s.
"""
SINK = r"; but $e^{-m}$ overflows if all logits are far below zero"
WHY_SPARSE = """
Nothing is exponentiated, so nothing overflows before the scores do. The threshold is the same whatever is subtracted from all
logits; without subtracting the largest one (naive), it has fewer digits if logits are large.
"""
WHY_SIGMOID = r"""
No maximum is subtracted: $1 / (1 + e^{-\ell})$ (naive) is right even if the exponential is infinite, as one over infinity is
zero. The other two use `torch.sigmoid`.
"""
MATERIALISED = (
    "*Max-subtracted* and *naive* round every step to the type, like code that stores its scores. *Fused* keeps scores and "
    "softmax in float32, like the fused kernels of `F.scaled_dot_product_attention`, which are used by default."
)


def draw(trace: Trace) -> None:
    """Draws the map and the worst row of the chosen type, and the tables of all types."""
    config = trace.config
    found = results.softmax.number_types_of(config, config.head)
    by_name = {(each.dtype, each.exponent): each for each in found}
    _show_type(by_name[config.dtype, config.exponent], by_name[config.dtype, FUSED], trace)
    st.markdown(f"**Every type**, against float64. {MATERIALISED} {_why(config.head_softmax)}")
    _table(_types(found), FOUND, "types")
    st.markdown(f"**What overflows when.** {_head_demands(trace)}")
    _table(softmax.ends(), ENDS, "ends")


def _why(softmax: Normaliser) -> str:
    """Why the maximum is subtracted, with what the denominator adds; or what the two ways are of what is no softmax."""
    if softmax.halves > 1:
        softmax = SOFTMAXES["standard"]
    if not isinstance(softmax, Softmax):
        return WHY_SPARSE if softmax.sparse else WHY_SIGMOID
    extra = softmax.extra
    shifted = "e^{-m}" if extra == "1" else f"{extra}\\, e^{{-m}}"
    return WHY % ((f"{extra} + ", f"{shifted} + ", SINK) if extra else ("", "", ""))


def _types(found: list[Rounded]) -> dict[str, list]:
    """The table of all types; if some rows contain NaN, errors are followed by the number of the other rows."""
    whole = {name: [_of_rows(getattr(each, name), each) for each in found] for name in ("error", "row_sum")}
    return softmax.types(found) | whole


def _of_rows(value: float, found: Rounded) -> str:
    rows = len(found.difference)
    if found.broken == rows:
        return "all rows are NaN"
    return f"{value:.3g}" + (f" ({rows - found.broken} of {rows} rows)" if found.broken else "")


def _table(columns: dict[str, list], named: dict[str, tuple[str, str]], key: str) -> None:
    """Draws a table with short headers; numbers that are not integers have three digits."""
    shown = {
        name: [f"{value:.3g}" if isinstance(value, float) else value for value in values]
        for name, values in columns.items()
    }
    heads = {name: st.column_config.Column(label, help=help or None) for name, (label, help) in named.items()}
    st.dataframe(shown, column_config=heads, hide_index=True, key=key)


def _head_demands(trace: Trace) -> str:
    """The largest numbers of this head that a type has to represent."""
    head, mask = trace.config.head, trace.mask
    if not mask.any():
        return "All queries are fully masked, so nothing can overflow."
    dots = trace.scores[head][mask] / trace.scale
    top = float(trace.logits[head][mask].max())
    return f"The largest |q·k| of this head is {float(dots.abs().max()):.4g}, and the largest logit {top:.4g}."


def _show_type(chosen: Rounded, fused: Rounded, trace: Trace) -> None:
    end = limits(chosen.dtype).step / 2
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown(f"**Difference from float64**: {chosen.dtype}, {_method_text(chosen)}")
        figure = charts.differences(*softmax.differences(chosen, trace.mask, heatmap.PIXELS), end)
        st.plotly_chart(figure, key="differences", width="stretch", config={"displaylogo": False}, alt=DIFFERENCES)
        browser_yield.yield_to_browser()
        st.caption(f"The scale ends at half the step of {chosen.dtype} at 1: {end:.2g}. {_gaps(chosen, trace)}")
    with right:
        st.markdown(f"**Worst row**: query {chosen.worst}")
        frame = pa.table(softmax.worst_row(chosen))
        st.vega_lite_chart(
            frame,
            charts.row(trace.config.n_keys, end),
            key="worst",
            width="stretch",
            alt="Bars by key: difference of the worst row from float64",
        )
        st.caption(_verdict(chosen) + _beside(chosen, fused))


def _gaps(chosen: Rounded, trace: Trace) -> str:
    hidden = "" if trace.mask.all() else "Gaps are masked pairs. "
    return hidden + ("Pink cells are NaN." if chosen.broken else "")


def _verdict(chosen: Rounded) -> str:
    if chosen.broken:
        rows = len(chosen.difference)
        others = "" if chosen.broken == rows else f" In the other rows, the largest difference is {chosen.error:.3g}."
        return f"{chosen.broken} of {rows} rows are NaN: {_infinite(chosen)}.{others}"
    return f"Largest difference {chosen.error:.3g}; row sums differ by at most {chosen.row_sum:.3g}."


def _score_type_text(found: Rounded) -> str:
    """The type that the scores were kept in."""
    return "float32" if found.exponent == FUSED else found.dtype


def _wider(found: Rounded) -> str:
    return "" if _score_type_text(found) == "float32" else ", or the scores kept in float32"


def _method_text(found: Rounded) -> str:
    """How it was computed, and the type of the scores meanwhile."""
    return f"{found.exponent}: {'float32 scores' if found.exponent == FUSED else 'stored scores'}"


def _beside(chosen: Rounded, fused: Rounded) -> str:
    """The result of the fused kernels for the same head, if materialised scores are shown in 16 bits."""
    if chosen.exponent == FUSED or chosen.dtype == "float32":
        return ""
    if fused.broken:
        return f" Fused, with float32 scores: {fused.broken} of {len(fused.difference)} rows are NaN."
    return f" Fused, with float32 scores: no NaN, largest difference {fused.error:.3g}."


def _infinite(chosen: Rounded) -> str:
    """What overflowed, and what would prevent it."""
    if chosen.dots:
        what = f"dot products that overflowed in {_score_type_text(chosen)}: {chosen.dots:,}"
        return f"{what}. No softmax can fix this; q or k must be smaller{_wider(chosen)}"
    if chosen.logits:
        what = f"logits that overflowed in {_score_type_text(chosen)} when they were scaled: {chosen.logits:,}"
        return f"{what}. No softmax can fix this; the scale must be smaller{_wider(chosen)}, or the temperature higher"
    if chosen.exponent != "naive":
        return "the 1 in the denominator becomes e^-m, which is infinite if the largest logit m is far below zero"
    return (
        f"overflowed exponentials: {chosen.exps:,}, sums: {chosen.sums:,}; infinity divided by infinity is NaN. "
        "Subtracting the largest logit first prevents this"
    )

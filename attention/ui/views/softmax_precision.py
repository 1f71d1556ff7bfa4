"""The Softmax page, number types: the selected head in each type against float64, and what overflows when."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from attention.analysis.number_types import FUSED, Rounded, limits
from attention.charts import heatmap
from attention.charts import precision as charts
from attention.charts.stages import reach
from attention.number_format import format_token
from attention.operations.normalisers import Normaliser, Softmax
from attention.operations.softmax import SOFTMAXES
from attention.tables import rows as tables
from attention.tables import softmax
from attention.trace import Trace
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.session import browser_yield
from attention.ui.text import softmax_precision as text


def draw(trace: Trace) -> None:
    """Draws the map and the worst row of the chosen type; the tables of all types are folded."""
    config = trace.config
    found = results.softmax.number_types_of(config, config.head)
    by_name = {(each.dtype, each.exponent): each for each in found}
    _show_type(by_name[config.dtype, config.exponent], by_name[config.dtype, FUSED], trace)
    with st.expander(text.EVERY_TYPE, icon=":material/table_rows:"):
        st.markdown(f"{text.METHODS} {_why(config.head_softmax)}")
        _table(_types(found), text.FOUND, "types")
    with st.expander(text.OVERFLOWS, icon=":material/functions:"):
        st.markdown(_head_demands(trace))
        _table(softmax.ends(), text.ENDS, "ends")


def _why(softmax: Normaliser) -> str:
    """Why the maximum is subtracted, with what the denominator adds; or what the two ways are of what is no softmax."""
    if softmax.halves > 1:
        softmax = SOFTMAXES["standard"]
    if not isinstance(softmax, Softmax):
        return text.WHY_SPARSE if softmax.sparse else text.WHY_SIGMOID.format()
    extra = softmax.extra
    if not extra:
        return text.WHY.format(extra="", shifted="", sink="")
    shifted = "e^{-m}" if extra == "1" else f"{extra}\\, e^{{-m}}"
    return text.WHY.format(extra=f"{extra} + ", shifted=f"{shifted} + ", sink=text.SINK.format())


def _types(found: list[Rounded]) -> dict[str, list]:
    """The table of all types; if some rows contain NaN, errors are followed by the number of the other rows."""
    whole = {name: [_of_rows(getattr(each, name), each) for each in found] for name in ("error", "row_sum")}
    return softmax.types(found) | whole


def _of_rows(value: float, found: Rounded) -> str:
    rows = len(found.difference)
    if found.broken == rows:
        return text.ALL_NAN
    if found.broken:
        return text.OF_ROWS.format(value=value, finite=rows - found.broken, rows=rows)
    return f"{value:.3g}"


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
        return text.NO_OVERFLOW
    dots = trace.scores[head][mask] / trace.scale
    return text.DEMANDS.format(dot=float(dots.abs().max()), logit=float(trace.logits[head][mask].max()))


def _show_type(chosen: Rounded, fused: Rounded, trace: Trace) -> None:
    rounding = limits(chosen.dtype).step / 2
    end = scale_end(rounding, chosen.error)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        scores = text.SCORES[chosen.exponent == FUSED]
        st.markdown(text.DIFFERENCE.format(dtype=chosen.dtype, exponent=chosen.exponent, scores=scores))
        figure = charts.differences(*softmax.differences(chosen, trace.mask, heatmap.PIXELS), end)
        st.plotly_chart(
            figure, key="differences", width="stretch", config={"displaylogo": False}, alt=text.DIFFERENCE_ALT
        )
        browser_yield.yield_to_browser()
        says = text.SCALE_END if end == rounding else text.LONGER_SCALE
        st.caption(says.format(dtype=chosen.dtype, end=end, rounding=rounding, gaps=_gaps(chosen, trace)))
    with right:
        names = tables.labels(trace.config)
        query = escape(format_token(names[chosen.worst] if names else "", chosen.worst, "query"))
        st.markdown(text.WORST.format(query=query))
        frame = pa.table(softmax.worst_row(chosen))
        st.vega_lite_chart(
            frame,
            charts.row(trace.config.n_keys, end),
            key="worst",
            width="stretch",
            alt=text.WORST_ALT,
        )
        st.caption(_verdict(chosen) + _beside(chosen, fused))


def scale_end(rounding: float, error: float) -> float:
    """The end of the scale of differences: the rounding error of a number near 1, or a round number if one exceeds it."""
    return rounding if error <= rounding else reach(error)


def _gaps(chosen: Rounded, trace: Trace) -> str:
    return ("" if trace.mask.all() else text.GAPS) + (text.NAN_CELLS if chosen.broken else "")


def _verdict(chosen: Rounded) -> str:
    if chosen.broken:
        rows = len(chosen.difference)
        others = "" if chosen.broken == rows else text.OTHER_ROWS.format(error=chosen.error)
        return text.NAN_ROWS.format(broken=chosen.broken, rows=rows, why=_infinite(chosen), others=others)
    return text.ERRORS.format(error=chosen.error, row_sum=chosen.row_sum)


def _score_type_text(found: Rounded) -> str:
    """The type that the scores were kept in."""
    return "float32" if found.exponent == FUSED else found.dtype


def _beside(chosen: Rounded, fused: Rounded) -> str:
    """The result of the fused kernels for the same head, if materialised scores are shown in 16 bits."""
    if chosen.exponent == FUSED or chosen.dtype == "float32":
        return ""
    if fused.broken:
        return text.FUSED_NAN.format(broken=fused.broken, rows=len(fused.difference))
    return text.FUSED.format(error=fused.error)


def _infinite(chosen: Rounded) -> str:
    """What overflowed, and what would prevent it."""
    dtype = _score_type_text(chosen)
    wider = "" if dtype == "float32" else text.WIDER
    if chosen.dots:
        return text.DOTS.format(dtype=dtype, count=chosen.dots, wider=wider)
    if chosen.logits:
        return text.LOGITS.format(dtype=dtype, count=chosen.logits, wider=wider)
    if chosen.exponent != "naive":
        return text.ONE
    return text.EXPONENTIALS.format(exps=chosen.exps, sums=chosen.sums)

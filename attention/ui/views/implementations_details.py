"""Details below the pictures of a published row: numbers for its lesson; code, shapes, costs, accepted inputs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from attention.charts import lesson
from attention.config import Config
from attention.number_format import format_weight
from attention.published import ROWS, Evidence
from attention.published.compare import Comparison
from attention.published.row import greatest_weight
from attention.published.supported_inputs import BATCH, CHANNELS, HEADS, TOKENS
from attention.tables.rows import quantity
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.limits import limits
from attention.ui.markdown import escape
from attention.ui.views import code

LEAK = (
    "Leak: largest change of outputs that must not depend on the last token, when that token is replaced. "
    "FLOPs count matrix products; peak memory counts new tensors alive at once."
)
WIDTHS = {
    "Variable": 84,
    "Axes": 72,
    "Sizes": 124,
    "Function": 110,
    "Line": 420,
}  # column widths of the table of shapes, in pixels
AGAINST = "Times the code in turns with the reference on this server, in float64: median, and quartiles of the ratio."


def draw(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the numbers and the selected detail."""
    if ROWS[name].evidence:
        _evidence(results.published.evidence(name), found)
    knobs.segments("row_detail", config)
    DETAILS[config.row_detail](config, name, printed, found)


def _code(config: Config, name: str, printed: bool, found: Comparison) -> None:
    st.markdown("**Code that runs**")
    code.show_source(found.source)
    for slip in ROWS[name].slips:
        st.caption(f"Fixed here: {escape(slip.what)} {escape(slip.error)}")


def _shapes(config: Config, name: str, printed: bool, found: Comparison) -> None:
    st.markdown("**Shapes, line by line**")
    widths = {name: st.column_config.TextColumn(width=width) for name, width in WIDTHS.items()}
    lines = [
        (s.name, s.axes, " × ".join(map(str, s.sizes)), s.function, s.code.partition("  #")[0]) for s in found.steps
    ]
    data = pd.DataFrame(lines, columns=list(WIDTHS))
    st.dataframe(data, hide_index=True, height="content", key="shapes", column_config=widths)


def _costs(config: Config, name: str, printed: bool, found: Comparison) -> None:
    cost, leak = results.published.published_costs(config.for_page(results.published.PAGE), name, printed)
    raises = found.judgement.verdict == "raises"
    until = " until it raises" if raises else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Costs** of {_count_text(config.batch, 'sequence')} of {_count_text(len(found.mask), 'token')}")
        wanted = st.toggle("Measure time", key="timed", help=AGAINST, disabled=not limits().measure)
    costs = {
        "Parameters": f"{found.parameters:,}",
        "FLOPs": f"{cost.flops:,}{until}",
        "Peak memory": f"{quantity(cost.peak, 'B')}{until}",
        "Leak of the last token": "not masked" if leak is None else f"up to {leak:.2g}" if leak else "none",
    }
    if raises:
        costs |= {"Leak of the last token": "none: it raises", "Time": "none: it raises"}
    elif not limits().measure:
        costs["Time"] = "measuring is off on this server"
    elif not wanted:
        costs["Time / reference time"] = "not measured yet: switch on “Measure time”"
    else:
        pace = results.published.pace(config.for_page(results.published.PAGE), name, printed)
        costs["Time"] = f"{pace.seconds * 1e3:.2f} ms (reference: {pace.reference * 1e3:.2f} ms)"
        costs["Time / reference time"] = f"{pace.ratio:.2f} ({pace.low:.2f} to {pace.high:.2f})"
    st.table(costs, border="horizontal")
    st.caption(LEAK)


def _count_text(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _demands(config: Config, name: str, printed: bool, found: Comparison) -> None:
    st.markdown(f"**Supported inputs, found by testing.** {ROWS[name].demand}")
    st.caption(
        f"Unless stated otherwise, tested on {BATCH} sequences of {TOKENS} tokens, {CHANNELS} channels and {HEADS} heads. "
        "“disagrees” means that nothing is raised, but the result differs from the reference."
    )
    tried = [(one.trial, one.outcome, one.error) for one in results.published.demands(name, printed)]
    data, wide = pd.DataFrame(tried, columns=["Input", "Outcome", "Error"]), st.column_config.TextColumn(width="large")
    st.dataframe(data, hide_index=True, height="content", key="demands", column_config={"Error": wide})


DETAILS = {"code": _code, "shapes": _shapes, "costs": _costs, "demands": _demands}


def _evidence(found: Evidence, shown: Comparison) -> None:
    data = pd.DataFrame(found.points, columns=["series", "x", "y"])
    series, widths = list(dict.fromkeys(data.series)), sorted(set(data.x))
    st.markdown(f"**{found.title}**")
    st.vega_lite_chart(
        data,
        lesson.lines(found.x, found.y, series, widths),
        key="evidence",
        alt=f"Line chart: {found.title}, {found.y} by {found.x}",
    )
    here = ""
    if shown.weights is not None:
        greatest = greatest_weight(shown.weights)
        here = f" With the weights of the settings, shown above, it is {format_weight(greatest)}."
    st.caption(
        f"{found.setting} From width {found.half:g} on, “{series[0]}” puts more than half of a row on one key, on "
        f"average.{here}"
    )

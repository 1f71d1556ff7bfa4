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
from attention.ui.text import implementations as text
from attention.ui.views import code

WIDTHS = dict(zip(text.SHAPES_COLUMNS, (84, 72, 124, 110, 420), strict=True))  # of the table of shapes, in pixels


def draw(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the numbers and the selected detail."""
    if ROWS[name].evidence:
        _evidence(results.published.evidence(name), found)
    knobs.segments("row_detail", config)
    DETAILS[config.row_detail](config, name, printed, found)


def _code(config: Config, name: str, printed: bool, found: Comparison) -> None:
    st.markdown(f"## {text.CODE}")
    code.show_source(found.source)
    for slip in ROWS[name].slips:
        st.caption(text.FIXED.format(what=escape(slip.what), error=escape(slip.error)))


def _shapes(config: Config, name: str, printed: bool, found: Comparison) -> None:
    st.markdown(f"## {text.SHAPES}")
    widths = {name: st.column_config.TextColumn(width=width) for name, width in WIDTHS.items()}
    lines = [
        (s.name, s.axes, " × ".join(map(str, s.sizes)), s.function, s.code.partition("  #")[0]) for s in found.steps
    ]
    data = pd.DataFrame(lines, columns=list(WIDTHS))
    st.dataframe(data, hide_index=True, height="content", key="shapes", column_config=widths)


def _costs(config: Config, name: str, printed: bool, found: Comparison) -> None:
    cost, leak = results.published.published_costs(config.for_page(results.published.PAGE), name, printed)
    raises = found.judgement.verdict == "raises"
    until = text.UNTIL_RAISES if raises else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        sequences, tokens = _count_text(text.SEQUENCES, config.batch), _count_text(text.TOKENS, len(found.mask))
        st.markdown(text.COSTS.format(sequences=sequences, tokens=tokens))
        wanted = st.toggle(text.MEASURE, key="timed", help=text.MEASURE_HELP, disabled=not limits().measure)
    costs = {
        text.PARAMETERS: f"{found.parameters:,}",
        text.FLOPS: f"{cost.flops:,}{until}",
        text.MEMORY: f"{quantity(cost.peak, 'B')}{until}",
        text.LEAK: _leak(leak),
    }
    if raises:
        costs |= {text.LEAK: text.NONE_RAISES, text.TIME: text.NONE_RAISES}
    elif not limits().measure:
        costs[text.TIME] = text.MEASURING_OFF
    elif not wanted:
        costs[text.RATIO] = text.NOT_MEASURED
    else:
        pace = results.published.pace(config.for_page(results.published.PAGE), name, printed)
        costs[text.TIME] = text.TIMES.format(time=pace.seconds * 1e3, reference=pace.reference * 1e3)
        costs[text.RATIO] = text.RATIOS.format(ratio=pace.ratio, low=pace.low, high=pace.high)
    st.table(costs, border="horizontal")
    st.caption(text.COSTS_NOTE)


def _leak(leak: float | None) -> str:
    """The leak of the last token; None if nothing is masked."""
    if leak is None:
        return text.NOT_MASKED
    return text.LEAK_UP_TO.format(leak=leak) if leak else text.NO_LEAK


def _count_text(forms: tuple[str, str], count: int) -> str:
    return forms[count != 1].format(count=count)


def _demands(config: Config, name: str, printed: bool, found: Comparison) -> None:
    st.markdown(text.INPUTS.format(inputs=ROWS[name].demand))
    st.caption(text.INPUTS_NOTE.format(batch=BATCH, tokens=TOKENS, channels=CHANNELS, heads=HEADS))
    tried = [
        (one.trial, text.VERDICTS.get(one.outcome, one.outcome), one.error)
        for one in results.published.demands(name, printed)
    ]
    data, wide = pd.DataFrame(tried, columns=list(text.INPUTS_COLUMNS)), st.column_config.TextColumn(width="large")
    st.dataframe(data, hide_index=True, height="content", key="demands", column_config={text.INPUTS_COLUMNS[-1]: wide})


DETAILS = {"code": _code, "shapes": _shapes, "costs": _costs, "demands": _demands}


def _evidence(found: Evidence, shown: Comparison) -> None:
    data = pd.DataFrame(found.points, columns=["series", "x", "y"])
    series, widths = list(dict.fromkeys(data.series)), sorted(set(data.x))
    st.markdown(text.EVIDENCE.format(title=found.title))
    st.vega_lite_chart(
        data,
        lesson.lines(found.x, found.y, series, widths),
        key="evidence",
        alt=text.EVIDENCE_ALT.format(title=found.title, y=found.y, x=found.x),
    )
    here = ""
    if shown.weights is not None:
        here = text.EVIDENCE_HERE.format(weight=format_weight(greatest_weight(shown.weights)))
    st.caption(text.EVIDENCE_NOTE.format(setting=found.setting, half=found.half, series=series[0], here=here))

"""The Softmax page, scaling: what grows with d_head if scores are not divided by its square root."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import streamlit as st

from attention.analysis.scaling import Point
from attention.charts import scaling as charts
from attention.config import Config
from attention.number_format import format_percent
from attention.tables import softmax
from attention.trace import Trace
from attention.ui import results
from attention.ui.session import browser_yield, page, present
from attention.ui.text import softmax as text

LITTLE = 0.01  # norm of the Jacobian of a row that passes hardly any gradient; that of uniform weights is larger


def draw(trace: Trace) -> None:
    """Draws the largest weight by d_head, with the current setting on it; what else changes with d_head is folded."""
    config = trace.config
    points = results.softmax.sweep(config.tokens)
    now = results.softmax.scaling_point(config.tokens, config.d_head, trace.scale)
    st.markdown(_plainly(points, config))
    _switch(config)
    frame = pa.table(softmax.curves(points, now))
    _draw_curve(frame, "greatest", charts.greatest())
    browser_yield.yield_to_browser()
    st.caption(text.CURVES_DATA.format(keys=config.tokens))
    with st.expander(text.MORE_CURVES, icon=":material/stacked_line_chart:"):
        st.markdown(text.VARIANCE_THEORY.format())
        drawn = {
            "variance": charts.variance(),
            "entropy": charts.entropy(round(math.log(config.tokens), 6)),
            "jacobian": charts.jacobian(),
        }
        for (name, spec), column in zip(drawn.items(), st.columns(3, gap="medium"), strict=True):
            with column:
                _draw_curve(frame, name, spec)
        st.markdown("\n".join(f"- {sentence}" for sentence in curve_sentences(points, now, config.tokens)))


def _switch(config: Config) -> None:
    """Draws a button that switches the division off or on, with what it shows."""
    if present.is_embedded():
        return
    scaled = config.scale != "none"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text.SCALING_OFF if scaled else text.SCALING_ON,
            on_click=page.change,
            kwargs={"scale": "none", "temperature": 1.0} if scaled else {"scale": "1/sqrt(d_head)"},
            key="unscale",
            help=text.SCALING_HELP,
        )
        said = text.TRY_WITHOUT if scaled else text.TRY_WITH.format(width=config.d_head, factor=config.d_head**0.5)
        st.markdown(said, width="content")


def _draw_curve(frame: pa.Table, name: str, spec: dict[str, Any]) -> None:
    st.vega_lite_chart(frame, spec, key=f"curve {name}", width="stretch", alt=text.CURVES[name])


def _plainly(points: list[tuple[Point, Point]], config: Config) -> str:
    """Why scores are divided, without a formula, with the numbers of the widest head."""
    raw, _ = points[-1]
    shares = [each.greatest for _, each in points]
    return text.WHY_SCALE.format(
        width=raw.d_head,
        d_head=config.d_head,
        keys=config.tokens,
        largest=format_percent(raw.greatest),
        gradient=text.LITTLE_GRADIENT if raw.median < LITTLE else "",
        low=format_percent(min(shares)),
        high=format_percent(max(shares)),
        first=points[0][1].d_head,
    )


def curve_sentences(points: list[tuple[Point, Point]], now: Point, keys: int) -> list[str]:
    """What the curves show, in sentences with their numbers."""
    raw, divided = zip(*points, strict=True)
    return [_variance(raw), _norm(raw), _scaled_text(divided, keys), _now(now)]


def _variance(raw: tuple[Point, ...]) -> str:
    off = max(abs(point.variance - point.d_head) / point.error for point in raw)
    return text.VARIANCE.format(errors=off)


def _norm(raw: tuple[Point, ...]) -> str:
    """The sentence about the norm without scaling.

    It rises before it falls if there are several keys, because a row of uniform weights has a small Jacobian.
    """
    peak, last = max(raw, key=lambda point: point.jacobian), raw[-1]
    start = raw[0].jacobian
    rise = text.RISES.format(start=start, peak=peak.jacobian, width=peak.d_head)
    sooner = next((point.d_head for point in raw if point.median < point.jacobian / 2), None)
    return text.JACOBIAN.format(
        rise=rise if peak.d_head > 1 else text.FALLS.format(start=start),
        end=last.jacobian,
        width=last.d_head,
        median=text.MEDIAN_BELOW.format(width=sooner) if sooner else text.MEDIAN_ABOVE,
        median_end=last.median,
    )


def _scaled_text(divided: tuple[Point, ...], keys: int) -> str:
    even = (keys - 1) ** 0.5 / keys
    norms = [point.jacobian for point in divided]
    return text.JACOBIAN_SCALED.format(
        low=min(norms),
        high=max(norms),
        first=divided[0].d_head,
        last=divided[-1].d_head,
        keys=keys,
        uniform=even,
    )


def _now(now: Point) -> str:
    return text.NOW.format(
        width=now.d_head,
        scale=now.scale,
        variance=now.variance,
        theory=now.d_head * now.scale**2,
        entropy=now.entropy,
        largest=format_percent(now.greatest),
        jacobian=now.jacobian,
        median=now.median,
    )

"""The Softmax page, scaling: what grows with d_head if scores are not divided by its square root."""

from __future__ import annotations

import math

import pyarrow as pa
import streamlit as st

from attention.analysis.scaling import Point
from attention.charts import scaling as charts
from attention.number_format import format_mean
from attention.tables import softmax
from attention.trace import Trace
from attention.ui import results
from attention.ui.session import browser_yield

WHY = r"""
For independent $q, k$ of mean 0 and variance 1: $\mathrm{Var}(q \cdot k) = \sum_{i=1}^{d_\mathrm{head}}
\mathrm{Var}(q_i k_i) = d_\mathrm{head}$; divided by $\sqrt{d_\mathrm{head}}$ it is 1 at every width. The gradient
through a row is multiplied by its Jacobian, $J = \mathrm{diag}(p) - p\,p^\top$, with
$\lVert J \rVert_F^2 = \sum p^2 - 2 \sum p^3 + \left(\sum p^2\right)^2$.
"""
CURVES = {  # alternative texts
    "variance": "Points by d_head: the variance of the logits, with and without scaling",
    "entropy": "Lines by d_head: the mean entropy of a row, with and without scaling",
    "greatest": "Lines by d_head: the mean of the largest weight of a row, with and without scaling",
    "jacobian": "Lines by d_head: the norm of the softmax's Jacobian, with and without scaling",
}


def draw(trace: Trace) -> None:
    """Draws the four curves for the current number of keys, with the current setting on them."""
    config = trace.config
    points = results.softmax.sweep(config.tokens)
    now = results.softmax.scaling_point(config.tokens, config.d_head, trace.scale)
    st.markdown(_plainly(points, config.tokens))
    st.markdown(WHY)
    st.caption(
        f"{config.tokens:,} keys of normal noise (seeded), without mask, positions and softcap, with the standard softmax. "
        f"Diamond: the current d_head, scale and temperature."
    )
    frame = pa.table(softmax.curves(points, now))
    drawn = {
        "variance": charts.variance(),
        "entropy": charts.entropy(round(math.log(config.tokens), 6)),
        "greatest": charts.greatest(),
        "jacobian": charts.jacobian(),
    }
    columns = [*st.columns(2, gap="medium"), *st.columns(2, gap="medium")]
    for (name, spec), column in zip(drawn.items(), columns, strict=True):
        column.vega_lite_chart(frame, spec, key=f"curve {name}", width="stretch", alt=CURVES[name])
    browser_yield.yield_to_browser()
    st.markdown("\n".join(f"- {sentence}" for sentence in curve_sentences(points, now, config.tokens)))


def _plainly(points: list[tuple[Point, Point]], keys: int) -> str:
    """Why scores are divided, without a formula, with the numbers of the widest head."""
    raw, divided = points[-1]
    shares = [each.greatest for _, each in points]
    return (
        f"**Why divide by √d_head?** The wider a head, the larger its scores, by chance alone. With {raw.d_head:,} "
        f"channels and no scaling, the largest of {keys:,} weights is {format_mean(raw.greatest)} on average, and hardly "
        f"any gradient passes. With scaling it is {format_mean(divided.greatest)}, and between "
        f"{format_mean(min(shares))} and {format_mean(max(shares))} at every width from {points[0][1].d_head} on."
    )


def curve_sentences(points: list[tuple[Point, Point]], now: Point, keys: int) -> list[str]:
    """What the curves show, in sentences with their numbers."""
    raw, divided = zip(*points, strict=True)
    return [_variance(raw), _norm(raw), _scaled_text(divided, keys), _now(now)]


def _variance(raw: tuple[Point, ...]) -> str:
    off = max(abs(point.variance - point.d_head) / point.error for point in raw)
    return (
        "**Variance** of the logits: d\\_head without scaling, 1 with it. All measured points lie within "
        f"{off:.1f} standard errors of that."
    )


def _norm(raw: tuple[Point, ...]) -> str:
    """The sentence about the norm without scaling.

    It rises before it falls if there are several keys, because a row of uniform weights has a small Jacobian.
    """
    peak, last = max(raw, key=lambda point: point.jacobian), raw[-1]
    rise = (
        f"first rises, from {raw[0].jacobian:.3f} at d\\_head 1 to {peak.jacobian:.3f} at {peak.d_head}, then falls"
        if peak.d_head > 1
        else f"falls from {peak.jacobian:.3f} at d\\_head 1"
    )
    sooner = next((point.d_head for point in raw if point.median < point.jacobian / 2), None)
    median = f"is less than half of it from d\\_head {sooner} on and" if sooner else "stays above half of it and"
    return (
        f"**Jacobian without scaling**: the mean norm {rise} to {last.jacobian:.3f} at {last.d_head}. The median {median} "
        f"ends at {last.median:.3g}: a median far below the mean means that most rows pass no gradient and a few still do."
    )


def _scaled_text(divided: tuple[Point, ...], keys: int) -> str:
    even = (keys - 1) ** 0.5 / keys
    norms = [point.jacobian for point in divided]
    return (
        f"**Jacobian with scaling**: it stays between {min(norms):.3f} and {max(norms):.3f} from d\\_head "
        f"{divided[0].d_head} to {divided[-1].d_head}; a row of uniform weights over {keys:,} keys has {even:.3f}."
    )


def _now(now: Point) -> str:
    return (
        f"**Now** (diamond): d\\_head {now.d_head}, dot products times {now.scale:.4g} (scale over temperature). Logits "
        f"have a variance of {now.variance:.4g}, {now.d_head * now.scale**2:.4g} in theory. "
        f"Entropy {now.entropy:.3f} nats, largest weight {format_mean(now.greatest)}, norm {now.jacobian:.3f}, its median "
        f"{now.median:.3g}."
    )

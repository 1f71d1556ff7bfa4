"""How a training goes (Altair): loss and accuracy over its steps, and a number of every head; a line where one looks.

Made without their data; the axes are those of the whole training from its first step on, so that curves grow into them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless

NOW = "now"  # the series of the step that is looked at
HEIGHT = 150
DASHES = [[1, 0], [5, 3], [2, 2]]  # of the layers
_COLUMNS = "width < 380 ? 4 : min(8, {})"  # of the legend: a phone has room for four
SHARES = {"accuracy": theme.DIVIDED, "loss": theme.RAW}


def _curves() -> alt.Chart:
    """Lines of all series but the mark of the step that is looked at."""
    return alt.Chart().transform_filter(f"datum.series != '{NOW}'").mark_line(strokeWidth=2, clip=True)


@lru_cache(maxsize=64)
def progress(steps: int) -> dict[str, Any]:
    """Accuracy, and loss as a share of what a guess costs, over the columns series, step, share, value of a table."""
    color = alt.Color("series:N", title=None, scale=alt.Scale(domain=list(SHARES), range=list(SHARES.values())))
    lines = _curves().encode(
        x=_steps(steps),
        y=alt.Y("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=4)),
        color=color.legend(orient="top"),
        strokeDash=alt.StrokeDash(
            "series:N", title=None, scale=alt.Scale(domain=list(SHARES), range=DASHES[:2])
        ).legend(orient="top"),
        tooltip=[alt.Tooltip("series:N"), alt.Tooltip("step:Q"), alt.Tooltip("value:Q", format=".3f")],
    )
    return _drawn(lines, steps)


@lru_cache(maxsize=64)
def heads(layers: int, per: int, steps: int, label: str) -> dict[str, Any]:
    """A number of every head over the columns series (its number, as in 1.3), layer, step, share of a table."""
    names = [f"{layer}.{head}" for layer in range(layers) for head in range(per)]
    colors = [theme.HEADS[i % len(theme.HEADS)] for i in range(len(names))]
    color = alt.Color("series:N", title=None, scale=alt.Scale(domain=names, range=colors))
    lines = _curves().encode(
        x=_steps(steps),
        y=alt.Y("share:Q", title=label, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=4)),
        color=color.legend(orient="top", columns=alt.ExprRef(_COLUMNS.format(len(names))), symbolType="stroke"),
        strokeDash=alt.StrokeDash(
            "layer:O", legend=None, scale=alt.Scale(domain=list(range(layers)), range=DASHES[:layers])
        ),
        tooltip=[
            alt.Tooltip("series:N", title="head"),
            alt.Tooltip("step:Q"),
            alt.Tooltip("share:Q", title=label, format=".3f"),
        ],
    )
    return _drawn(lines, steps)


def _steps(steps: int) -> alt.X:
    return alt.X(
        "step:Q",
        title="step",
        scale=alt.Scale(domain=[0, steps], nice=False),
        axis=alt.Axis(tickCount=5, grid=False, labelFlush=True),
    )


def _drawn(lines: alt.Chart, steps: int) -> dict[str, Any]:
    now = (
        alt.Chart()
        .transform_filter(f"datum.series == '{NOW}'")
        .mark_rule(color=theme.HIDDEN, strokeWidth=2, aria=False)
        .encode(x=_steps(steps))
    )
    spec = dataless(alt.layer(now, lines).properties(height=HEIGHT))
    return spec | {"autosize": {"type": "fit-x", "contains": "padding"}}

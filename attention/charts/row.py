"""The row in focus: weight by key (Altair)."""

from __future__ import annotations

import altair as alt

from attention.charts import theme
from attention.tables import Row

LABELLED = 48  # keys up to which a bar carries its token
FLOOR = 1e-4  # where the log scale begins, as on the colour bar


def weights(row: Row, colors: str = "linear") -> alt.Chart:
    """One bar a key; the axis is fixed at 0 to 1 (or at 1e-4 to 1 on the log scale, or at the row's own maximum)."""
    data = alt.Data(values=[_mark(key, colors) for key in row.keys if key["visible"]])
    few = len(row.keys) <= LABELLED
    x = alt.X(
        "key:O" if few else "key:Q",
        title="key →",
        axis=alt.Axis(labelExpr=_names(row) if few else alt.Undefined, labelAngle=-50 if few else 0, tickMinStep=1),
        scale=alt.Scale(domain=[key["key"] for key in row.keys]) if few else alt.Scale(domain=[0, len(row.keys) - 1]),
    )
    return (
        alt.Chart(data)
        .mark_bar(color=theme.QUERY, **({} if few else {"width": 2}))
        .encode(
            x=x,
            y=alt.Y("to:Q", title="weight", scale=_scale(row, colors)),
            y2="from:Q",
            tooltip=[
                alt.Tooltip("key:O"),
                alt.Tooltip("token:N"),
                alt.Tooltip("to:Q", title="weight", format=".3"),
            ],
        )
        .properties(height=theme.ROW_HEIGHT)
    )


def _mark(key: dict, colors: str) -> dict:
    base = FLOOR if colors == "log" else 0
    return {"key": key["key"], "token": key["token"], "from": base, "to": max(base, key["weight"])}


def _scale(row: Row, colors: str) -> alt.Scale:
    if colors == "log":
        return alt.Scale(type="log", domain=[FLOOR, 1])
    greatest = max((key["weight"] for key in row.keys), default=1) or 1
    return alt.Scale(domain=[0, greatest if colors == "own maximum" else 1])


def _names(row: Row) -> str:
    """Token labels as a Vega expression: an array looked up by position, every token a quoted literal."""
    quoted = ", ".join(_quoted(key["token"]) for key in row.keys)
    return f"[{quoted}][datum.value]"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

"""Tokens as HTML: probabilities as bars, and numbers under the words of a text; the map of values with a sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import isfinite

import pyarrow as pa
import streamlit as st

from attention.charts import layers as chart
from attention.charts import theme
from attention.number_format import format_change, format_percent
from attention.ui.session import gestures
from attention.ui.text import layers as text
from attention.ui.views.heads_layers import cell_columns

SPACE = "␣"  # a space at the beginning of a token: with and without, it is another token
BAR = (
    '<div style="display:flex;align-items:center;gap:8px;font-size:14px;line-height:1.5">'
    '<span style="flex:0 0 {wide_name}em;overflow:hidden;white-space:pre;text-overflow:ellipsis">{name}</span>'
    '<span style="flex:1 1 auto;min-width:40px">{bars}</span>'
    '<span style="flex:0 0 {wide}em;text-align:right;font-variant-numeric:tabular-nums">{said}</span></div>'
)
BLOCK = '<span style="display:block;height:{high}px;margin:1px 0;width:{share:.1f}%;min-width:1px;background:{color}"></span>'
WORD = (
    '<span style="display:inline-block;margin:0 5px 6px 0;text-align:center;vertical-align:top" title="{title}">'
    '<span style="display:block;padding:0 3px;background:{color}">{name}</span>'
    '<span style="display:block;font-size:11px;opacity:.8">{said}</span></span>'
)


def token_name(text: str) -> str:
    """A token with its spaces, line breaks and characters without a look of their own visible."""
    shown = text.replace(" ", SPACE).replace("\n", "↵")
    return "".join(each if each.isprintable() else f"[U+{ord(each):04X}]" for each in shown) or "∅"


def draw_probabilities(rows: Sequence[tuple[str, float]]) -> None:
    """Draws a bar per token."""
    top = max([share for _, share in rows], default=1.0)
    bars = [_row(name, [(share, theme.QUERY)], top, format_percent(share), 12, 4) for name, share in rows]
    st.html("".join(bars))


def draw_shares(rows: Sequence[tuple[str, float]]) -> None:
    """Draws a bar per name, of which all together are the whole."""
    st.html(
        "".join(
            _row(name, [(share, theme.MORE)], 1.0, format_percent(share), 12, 5, wide_name=9) for name, share in rows
        )
    )


def draw_pairs(rows: Sequence[tuple[str, float, float]]) -> None:
    """Draws two bars per token: before in grey, after in blue."""
    top = max([max(before, after) for _, before, after in rows], default=1.0)
    bars = [
        _row(
            name,
            [(before, theme.HIDDEN), (after, theme.QUERY)],
            top,
            f"{format_percent(before)} → {format_percent(after)}",
            6,
            11,
        )
        for name, before, after in rows
    ]
    st.html("".join(bars))


def _row(
    name: str, values: Sequence[tuple[float, str]], top: float, said: str, high: int, wide: int, wide_name: float = 7.5
) -> str:
    bars = "".join(BLOCK.format(high=high, share=100 * value / max(top, 1e-12), color=color) for value, color in values)
    named = escape(token_name(name) if wide_name == 7.5 else name)
    return BAR.format(name=named, wide_name=wide_name, bars=bars, said=escape(said), wide=wide)


def draw_losses(labels: Sequence[str], losses: Sequence[float], change: bool = False) -> None:
    """Draws the words of a text with the loss of each beneath, or its change: orange for more, green for less."""
    say = format_change if change else "{:.1f}".format
    draw_numbers(labels, losses, theme.LESS, theme.MORE if change else theme.LESS, say)


def draw_numbers(
    labels: Sequence[str],
    values: Sequence[float],
    up: str,
    down: str,
    say: Callable[[float], str] = format_change,
) -> None:
    """Draws the words of a text with a number beneath each, on the colour `up` or, if it is negative, `down`."""
    top = max([abs(value) for value in values if isfinite(value)], default=1.0) or 1.0
    words = []
    for label, value in zip(labels, values, strict=True):
        known = isfinite(value)
        share = round(70 * abs(value) / top) if known else 0
        said = say(value) if known else "–"
        mix = f"color-mix(in srgb, {down if value < 0 else up} {share}%, transparent)"
        words.append(WORD.format(title=said, color=mix, name=escape(token_name(label)), said=said))
    st.html(f'<div style="font-size:15px;line-height:1.4">{"".join(words)}</div>')


def draw_map(
    layers: tuple[int, ...],
    values: list[list[float]],
    focus: tuple[int, int] | None,
    across: str,
    key: str,
    about: str,
    last: str = "",
    unit: str = "",
    rises: bool = False,
    digits: int = 2,
) -> None:
    """Draws a map of layers and heads (or positions) of values with a sign; a click selects a head.

    `last`, `rises` and `digits`: as in `signed`; colours end at the largest value of the other columns. `unit`: of the values.
    """
    cells = {(layer, at): value for layer, row in zip(layers, values, strict=True) for at, value in enumerate(row)}
    top = max(max(map(abs, row[: -1 if last else None])) for row in values) or 1.0
    table = cell_columns(cells, focus) | {"share": [min(1.0, abs(value) / top) for value in cells.values()]}
    st.vega_lite_chart(
        pa.table(table),
        chart.signed(layers, len(values[0]), f"change ({unit})" if unit else "value", across, last, digits, rises),
        key=key,
        width="stretch",
        on_select=(lambda: gestures.on_layer_click(key)) if across == "head" else "ignore",
        selection_mode=chart.CELL if across == "head" else None,
        alt=text.SIGNED_MAP_ALT.format(across=across, about=about),
    )

"""What a layer and a head are, as a line of boxes: a text passes through the layers, each with a square per head."""

from __future__ import annotations

from html import escape

import streamlit as st

from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_head
from attention.ui.text import layers as text
from attention.ui.views import heads_layers as maps

HEADS = 16  # maximum number of squares of a layer
STRIP = '<div class="layer-strip" role="img" aria-label="{alt}">{boxes}</div>'
BOX = '<span class="layer{on}"><span>{name}</span><span class="squares">{squares}</span></span>'
SQUARE = '<span class="square{on}"></span>'


def draw(config: Config) -> None:
    """Draws the selected layer between its neighbours, with the square of the selected head filled, and what both are."""
    numbers = layers(config.source)
    at = numbers.index(config.layer)
    near = numbers[max(0, at - 1) : at + 2]
    parts = [text.TEXT_IN]
    for number, before in zip(near, (0, *near), strict=False):
        parts += [text.MORE] * (number - before > 1) + [_box(config, number)]
    parts += [text.MORE] * (near[-1] != numbers[-1] or maps.leaves_layers_out(config)) + [text.OUT]
    alt = text.STRIP_ALT.format(head=format_head(config.head, config.layer).lower())
    st.html(STRIP.format(alt=escape(alt), boxes="<span>→</span>".join(parts)))
    st.caption(text.WHAT)


def _box(config: Config, number: int) -> str:
    """A layer: its name, and a square per head."""
    shown = min(config.heads, HEADS)
    on = number == config.layer
    squares = "".join(SQUARE.format(on=" on" * (on and head == config.head)) for head in range(shown))
    return BOX.format(on=" on" if on else "", name=text.LAYER.format(layer=number), squares=squares)

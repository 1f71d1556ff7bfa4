"""The map of one head as a small picture, for cards and lists of heads."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from math import ceil

import streamlit as st

from attention.charts.theme import WEIGHTS
from attention.config import Config
from attention.ui import results

FIGURE = (
    '<figure style="margin: 0"><div class="thumbnail of-page" style="width: {side}px">'
    '<img alt="{alt}" src="data:image/png;base64,{light}"><img alt="" src="data:image/png;base64,{dark}"></div>'
    '<figcaption style="font-size: .8rem">{caption}</figcaption></figure>'
)  # page.css shows the one of the page's theme
LABELLED = (
    '<div class="labelled-map"><div class="down" aria-hidden="true">{spans}</div>{picture}'
    '<div class="across" aria-hidden="true">{spans}</div></div>'
)
STEPS = (1, 2, 5, 10, 20, 50, 100, 200)  # tokens between two positions beside a map
LABEL, TOKEN = 12, 46  # pixels: from one label to the next, and of the labels at the left


def thumbnail(config: Config, side: int, caption: str, alt: str = "") -> None:
    """Draws the map of the selected head as a small picture, `side` pixels wide, with a caption."""
    st.html(_figure(config, side, caption, alt), width="content")


def labelled_thumbnail(config: Config, side: int, caption: str, alt: str, names: Sequence[str]) -> None:
    """Draws the same picture with its tokens beside it and below it; if there is no room for all, with some positions."""
    least = ceil(LABEL * len(names) / (side - TOKEN))
    step = next(each for each in STEPS if each >= least)
    shown = [name if step == 1 else str(at) * (at % step == 0) for at, name in enumerate(names)]
    spans = "".join(f"<span>{escape(name)}</span>" for name in shown)
    st.html(LABELLED.format(spans=spans, picture=_figure(config, side, caption, alt)), width="stretch")


def _figure(config: Config, side: int, caption: str, alt: str) -> str:
    images = {page: b64encode(results.layers.picture(config, config.head, page)).decode() for page in WEIGHTS}
    return FIGURE.format(**images, side=side, caption=caption, alt=escape(alt))

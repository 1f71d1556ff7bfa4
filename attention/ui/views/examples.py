"""Examples: pictures of what attention does, each with a link that opens it."""

from __future__ import annotations

from base64 import b64encode

import streamlit as st

from attention.examples import EXAMPLES, Example, Tour
from attention.ui import next_step, results
from attention.ui.heading import draw_heading
from attention.ui.markdown import escape
from attention.ui.text import examples as text

IN_A_ROW = 2
# The text next to it says what it shows, so screen readers skip it; `st.image` can't set an empty `alt`.
PICTURE = '<img alt="" width="96" height="96" style="display: block" src="data:image/png;base64,{}">'


def view(tour: Tour) -> None:
    """Draws a card for each example of a page, or of all pages."""
    names = [name for name, example in EXAMPLES.items() if tour.about in ("all", example.page)]
    draw_heading("examples", text.FINDING.format(count=len(names)), help=text.HELP)
    for name in names:
        results.examples.picture.begin(name)
    for first in range(0, len(names), IN_A_ROW):
        for column, name in zip(st.columns(IN_A_ROW), names[first : first + IN_A_ROW], strict=False):
            with column.container(border=True, height="stretch"):
                _card(name, EXAMPLES[name])


def _card(name: str, example: Example) -> None:
    with st.container(horizontal=True, wrap=False, vertical_alignment="top"):
        st.html(PICTURE.format(b64encode(results.examples.picture(name)).decode()), width="content")
        st.markdown(f"**{escape(example.title)}**  \n{escape(example.says)}")
    st.caption(f"Ask: {escape(example.asks)}")
    label = f"Open on {example.page.capitalize()}"
    next_step.page_link(example.page, label, example.query, ":material/arrow_forward:")

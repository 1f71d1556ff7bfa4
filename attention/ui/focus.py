"""The head and the query in focus, where a page has no picture of all heads to choose them in."""

from __future__ import annotations

import streamlit as st

from attention.config import KNOBS, LAST, Config
from attention.tables import labels


def head(config: Config) -> None:
    """A choice of the head, counted from 0."""
    st.selectbox(KNOBS["head"].label, range(config.heads), key="head", help=KNOBS["head"].help)


def query(config: Config) -> None:
    """A choice of the query by position and token; the last one stays the last when the length changes."""
    names = labels(config) or [""] * config.tokens

    def said(at: int) -> str:
        return f"{at} {names[at]}" if at != LAST else f"last: {config.tokens - 1} {names[-1]}"

    st.selectbox(KNOBS["query"].label, range(LAST, config.tokens), key="query", format_func=said)

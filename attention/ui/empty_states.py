"""What stands where a page has nothing to show, as a source lacks what it needs or this host the room: a way out."""

from __future__ import annotations

import streamlit as st

from attention.config import SOURCES, Config
from attention.sources.providers import has, idle, readable, source_title
from attention.ui.markdown import escape
from attention.ui.session import page

PARTS = {
    "x": "the tokens as vectors (x)",
    "projections": "the projections (W_q, W_k, W_v, W_o)",
    "q": "queries",
    "k": "keys",
    "v": "values",
    "weights": "weights",
}
SIZES = ("tokens", "keys", "d_model", "d_v")  # that a smaller picture may have others of


def missing_parts(config: Config, title: str, *parts: str) -> bool:
    """Draws this below a title where the source of a config lacks any of these parts; True then."""
    there = has(config.source)
    missing = [PARTS[part] for part in parts if part not in there]
    if not missing:
        return False
    st.markdown(f"**{title}**")
    with st.container(border=True):
        st.markdown(
            f":material/inventory_2: This needs {escape(_join_words(missing))}. "
            f"The source “{escape(source_title(config.source))}” has "
            f"{escape(_join_words([PARTS[part] for part in PARTS if part in there]))}. What has all of it:"
        )
        for source in filter(readable, SOURCES):
            if has(source).issuperset(parts):
                st.button(
                    source_title(source), on_click=page.change, kwargs={"source": source}, key=f"{source} for {title}"
                )
    return True


def disabled_knob(config: Config, title: str, knob: str) -> bool:
    """Draws this below a title where a knob does nothing under the source of a config, with why; True then."""
    why = idle(knob, config)
    if why:
        st.markdown(f"**{title}**")
        with st.container(border=True):
            st.markdown(f":material/lock: {escape(why)} What lets you choose it:")
            for source in filter(readable, SOURCES):
                if not idle(knob, Config.of(source)):
                    st.button(
                        source_title(source),
                        on_click=page.change,
                        kwargs={"source": source},
                        key=f"{source} for {title}",
                    )
    return bool(why)


def too_large(why: str, smaller: Config, label: str) -> None:
    """In the place of a picture for which this host has no room; a button takes what is smaller of a smaller one."""
    st.warning(f"{why} Fewer tokens, heads or channels need less.", icon=":material/memory:")
    now = page.setting()
    change = {name: value for name in SIZES if (value := getattr(smaller, name)) != getattr(now, name)}
    st.button(label, on_click=page.change, kwargs=change, key="smaller", type="primary")


def _join_words(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))

"""What a page shows if its source lacks data or the host lacks memory, with buttons that lead on."""

from __future__ import annotations

import streamlit as st

from attention.config import Config
from attention.knobs import SOURCES
from attention.sources.providers import has, idle, readable, source_title
from attention.ui.markdown import escape, join_words
from attention.ui.session import page

PARTS = {
    "x": "input vectors (x)",
    "projections": "projections (W_q, W_k, W_v, W_o)",
    "q": "queries",
    "k": "keys",
    "v": "values",
    "weights": "weights",
}
SIZES = ("tokens", "keys", "d_model", "d_v")  # the sizes in which a smaller config may differ


def missing_parts(config: Config, title: str, *parts: str) -> bool:
    """Whether the source of a config lacks any of these parts. If so, draws which, and the sources that have them."""
    there = has(config.source)
    missing = [PARTS[part] for part in parts if part not in there]
    if not missing:
        return False
    st.markdown(f"**{title}**")
    with st.container(border=True):
        st.markdown(
            f":material/inventory_2: This needs {escape(join_words(missing))}. "
            f"The source “{escape(source_title(config.source))}” has "
            f"{escape(join_words([PARTS[part] for part in PARTS if part in there]))}. Sources that have it:"
        )
        for source in filter(readable, SOURCES):
            if has(source).issuperset(parts):
                st.button(
                    source_title(source), on_click=page.change, kwargs={"source": source}, key=f"{source} for {title}"
                )
    return True


def disabled_knob(config: Config, title: str, knob: str) -> bool:
    """Whether a knob has no effect under the source of a config. If so, draws why, and the sources where it has one."""
    why = idle(knob, config)
    if why:
        st.markdown(f"**{title}**")
        with st.container(border=True):
            st.markdown(f":material/lock: {escape(why)} Sources where you can change it:")
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
    """Draws why the host has no room for a picture, and a button that applies the sizes of a smaller config."""
    st.warning(f"{why} Use fewer tokens, heads or channels.", icon=":material/memory:")
    now = page.setting()
    change = {name: value for name in SIZES if (value := getattr(smaller, name)) != getattr(now, name)}
    st.button(label, on_click=page.change, kwargs=change, key="smaller", type="primary")

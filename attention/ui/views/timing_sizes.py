"""Buttons for sizes that visitors ask about: each sets the measurement settings, which the page then follows."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attention.timing.subject import SIZES
from attention.timing.sweep import Sweep
from attention.ui.session import page
from attention.ui.text import timing as text

FIRST: dict[str, Any] = {name: getattr(Sweep(), name) for name in SIZES}
FEW: dict[str, Any] = {"lengths": (64, 128, 256, 512, 1024, 2048, 4096)}  # those of the break-even as well
WIDE = {"heads": (16,), "d_heads": (128,), "dtypes": ("bfloat16",), "lengths": tuple(2**i for i in range(6, 14))}
ASKED: dict[str, dict[str, Any]] = {
    "16 heads of 128, causal": WIDE | {"masks": ("causal",)},
    "Decoding: one token": WIDE | {"queries": (1,)},
    "Decoding, 4 key-value heads": WIDE | {"queries": (1,), "kv_heads": (4,)},
    "8 heads of 64, float32": FEW,
}


def draw(shown: dict[str, Any] | None = None) -> None:
    """Draws the buttons in one line, without that of the sizes that are `shown`."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="other-sizes"):
        st.caption(text.OTHERS, width="content")
        for at, (name, knobs) in enumerate(ASKED.items()):
            if knobs != shown:
                st.button(name, key=f"sizes_{at}", on_click=page.change, kwargs=FIRST | knobs)

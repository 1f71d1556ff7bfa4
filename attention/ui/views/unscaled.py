"""What division by √d_head would change in the selected row, while scores are not divided."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.analysis.row_stages import Stages
from attention.codec import to_query
from attention.config import Config
from attention.ui import next_step
from attention.ui.session import model_run
from attention.ui.text import softmax as text


def draw(found: Stages) -> None:
    """Draws the row's largest logit with and without the division, and a link to the reason; nothing for other scales."""
    config = found.config
    if config.scale != "none" or found.second is not None or not found.visible.any():
        return
    largest = float(found.scaled[found.visible].max())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            text.UNSCALED.format(largest=largest, divided=largest / config.d_head**0.5),
            width="content",
        )
        link(config)


def link(config: Config) -> None:
    """Draws a link to the reason for the division."""
    next_step.page_link("softmax", text.TOPICS["scaling"], model_run.carry(to_query(replace(config, topic="scaling"))))

"""The switch on Heads between hand-built heads and those of two real models."""

from __future__ import annotations

import streamlit as st

from attention.config import Config
from attention.knobs import GENERATED
from attention.recorded.shipped import SHIPPED
from attention.sources.providers import readable
from attention.ui import next_step
from attention.ui.controls.picture import GENERATED_DEFAULTS
from attention.ui.session import page
from attention.ui.text import heads as text

RECORDED = "recorded:"
OPENED = {GENERATED: text.HAND_BUILT, "recorded:minilm-river": text.MINILM, next_step.REAL: text.SMOLLM2}  # by source


def draw(config: Config) -> None:
    """Draws it; nothing is chosen while the heads are others, such as those of a training or a file."""
    offered = [source for source in OPENED if source == GENERATED or readable(source)]
    shown = next((source for source in offered if _model(source) == _model(config.source)), None)
    key = f"whose heads {shown}"  # with the value, so that a source that is chosen otherwise moves it
    page.widgets()[key] = shown
    st.segmented_control(
        text.WHOSE,
        offered,
        format_func=OPENED.__getitem__,
        key=key,
        label_visibility="collapsed",
        on_change=_open,
        args=(key, shown),
    )


def _model(source: str) -> str:
    """The model of a recording, or the source itself."""
    shipped = SHIPPED.get(source.removeprefix(RECORDED)) if source.startswith(RECORDED) else None
    return (shipped and shipped.model) or source


def _open(key: str, shown: str | None) -> None:
    """Shows the heads that were chosen; a click on the ones that are shown changes nothing."""
    chosen = page.widgets()[key]
    if chosen in (None, shown):
        page.change()
    elif chosen == GENERATED:
        page.change(**GENERATED_DEFAULTS)
    else:
        layer, head, query = SHIPPED[chosen.removeprefix(RECORDED)].opens or (0, 0, -1)
        page.change(source=chosen, layer=layer, head=head, query=query)

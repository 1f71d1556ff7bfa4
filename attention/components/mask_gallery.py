"""The gallery of masks: a small picture and a description per mask, to choose it or to combine it with the current one.

The browser receives the pictures as bytes, one per pair or tile of pairs, and sends the choice to the server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attention.analysis.mask_gallery import Exhibit
from attention.charts import theme
from attention.codec import link
from attention.components.registry import component, nothing
from attention.config import Config
from attention.tables.mask_cards import mask_card
from attention.wire.message import frame_message


def mask_gallery(
    config: Config, exhibits: Sequence[Exhibit], *, key: str = "gallery", on_choice: Callable[[], None] | None = None
) -> dict[str, str] | None:
    """Draws the masks. Returns a choice made in this run as `{"mask"}` or `{"combine", "second"}`, otherwise None.

    `on_choice` runs before the rerun that a choice causes; `st.session_state[key]["choice"]` then contains the choice. The
    last exhibit may be the current rule, combined of two masks. Its place is reserved, so that no card moves when it
    appears. An exhibit that is not a single mask can't be chosen.
    """
    return component("mask_gallery")(
        key=key, data=payload(config, exhibits), on_choice_change=on_choice or nothing
    ).choice


def payload(config: Config, exhibits: Sequence[Exhibit]) -> bytes:
    """Returns one message: a header, and one byte per cell, from 0 (fully masked) to 255 (all pairs kept)."""
    header = {
        "painted": link(config),
        "sides": [*exhibits[0].pixels.shape],
        "cards": [mask_card(config, each) for each in exhibits],
        "neutrals": theme.NEUTRALS,
        "accent": theme.QUERY,
    }
    return frame_message(header, [each.pixels.contiguous().numpy().data for each in exhibits])

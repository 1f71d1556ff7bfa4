"""Every mask as a small picture with what there is to say about it; choosing one, or joining it to the one in use.

The browser gets the pictures as bytes, one a pair or a tile of pairs, and tells the server what was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attention.analysis.mask_gallery import Exhibit
from attention.charts import theme
from attention.codec import link
from attention.components.registry import component, nothing
from attention.config import Config
from attention.tables.rows import mask_card
from attention.wire.message import frame_message


def mask_gallery(
    config: Config, exhibits: Sequence[Exhibit], *, key: str = "gallery", on_choice: Callable[[], None] | None = None
) -> dict[str, str] | None:
    """Draws the masks; what was chosen in this very run is `{"mask"}` or `{"combine", "second"}`, None otherwise.

    `on_choice` runs before the rerun that a choice causes; in it `st.session_state[key]["choice"]` has the choice. The
    last exhibit may be the rule in use, joined of two, for which there is room, so that no card moves when it comes;
    whatever is no single mask can't be chosen.
    """
    return component("mask_gallery")(
        key=key, data=payload(config, exhibits), on_choice_change=on_choice or nothing
    ).choice


def payload(config: Config, exhibits: Sequence[Exhibit]) -> bytes:
    """One message: a header, and a byte a cell, 0 hidden to 255 kept whole."""
    header = {
        "painted": link(config),
        "sides": [*exhibits[0].pixels.shape],
        "cards": [mask_card(config, each) for each in exhibits],
        "neutrals": theme.NEUTRALS,
        "accent": theme.QUERY,
    }
    return frame_message(header, [each.pixels.contiguous().numpy().data for each in exhibits])

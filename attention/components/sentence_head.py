"""One head over a sentence: its tokens, shaded by the weights of the selected one, above the map of all weights.

The browser receives the weights as bytes and shades the tokens of the row under the pointer. It sends only a chosen query.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from attention.components.heads_grid import header
from attention.components.registry import component, nothing
from attention.config import Config
from attention.tables.rows import labels
from attention.wire.cells import Cells, payload

SIDE = 420  # maximum side of the map, in CSS pixels
PARTS = ("chips", "map")


def sentence_head(
    config: Config,
    cells: Cells,
    *,
    key: str = "sentence",
    on_pin: Callable[[], None] | None = None,
    parts: Collection[str] = PARTS,
    masks: tuple[str, str] | None = None,
    pair_key: int | None = None,
    side: int = SIDE,
) -> dict[str, int | None] | None:
    """Draws the cells of the selected head, one per pair of tokens. Returns the last pin as `{"query", "key", "count"}` or None.

    `on_pin` runs before the rerun that a pin causes. `parts`: the tokens, the map, or both. `masks`: the names of another
    mask and of the one in use, if the cells of a second head are those of this one under the other mask. `pair_key`: the key
    of the selected pair of tokens, which has a frame; None if only a query is selected. `side`: maximum side of the map.
    """
    data = message(config, cells, parts, masks, pair_key, side)
    return component("sentence_head")(key=key, data=data, on_pin_change=on_pin or nothing).pin


def message(
    config: Config,
    cells: Cells,
    parts: Collection[str] = PARTS,
    masks: tuple[str, str] | None = None,
    pair_key: int | None = None,
    side: int = SIDE,
) -> bytes:
    """Returns the message to the browser."""
    asked = {
        "query": config.query_index,
        "key": pair_key,
        "tokens": labels(config),
        "shows": {part: part in parts for part in PARTS},
        "masks": masks,
    }
    return payload(header(config, side, "") | asked, cells)

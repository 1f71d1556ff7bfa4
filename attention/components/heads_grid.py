"""All heads at once: every head's weights as a square, pointed at, stepped through and pinned in the browser.

The browser gets the cells as bytes and does the rest by itself: colours, crosshair, numbers, the row under the pointer.
The server hears only of what was pinned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attention.charts import theme
from attention.codec import link
from attention.components.registry import component, nothing
from attention.config import Config
from attention.tables.rows import key_labels, labels
from attention.training.recipe import RECIPES, Recipe
from attention.wire.cells import Cells, payload

FORMING = "times even"  # the scale of a training: what begins as even is of one colour
FORMS = "even share in the middle: what forms stands out from it"


def heads_grid(
    config: Config,
    cells: Cells,
    *,
    key: str = "grid",
    height: int = theme.GRID_HEIGHT,
    on_pin: Callable[[], None] | None = None,
    note: str = "",
    names: Sequence[str] = (),
    certain: int | None = None,
    address: tuple[str, str] | None = None,
) -> dict[str, int] | None:
    """Draws the cells of a config; what was pinned last is `{"head", "query", "key", "count"}`, None before.

    `on_pin` runs before the rerun that a pin causes; in it `st.session_state[key]["pin"]` has the new one. A click,
    Enter or Space pins at once, arrow keys when they rest. `height`, in CSS pixels, is taken whatever the number of
    heads; in narrow windows the squares stand two in a row and take what they need. `note` is shown beside the squares,
    `names` beside the numbers of the heads: what each does, "" where there is no word for it.
    `certain`: so many heads, the first ones, are exact and the others a preview; None for all.
    `address`: the query string that the address bar has, and the one that it gets once they are painted.
    """
    data = message(config, cells, height=height, note=note, names=names, certain=certain, address=address)
    return component("heads_grid")(key=key, data=data, on_pin_change=on_pin or nothing).pin


def message(
    config: Config,
    cells: Cells,
    *,
    height: int = theme.GRID_HEIGHT,
    note: str = "",
    names: Sequence[str] = (),
    certain: int | None = None,
    address: tuple[str, str] | None = None,
) -> bytes:
    """All that the browser gets."""
    named = exact(cells) and (config.is_cross or cells.queries == cells.keys)  # else nobody named the keys
    told = {
        "tokens": labels(config) if named else [],
        "key_tokens": key_labels(config) if named and config.is_cross else None,
        "names": list(names),
        "certain": config.heads if certain is None else certain,
        "address": address,
    }
    return payload(header(config, height, note) | told, cells)


def header(config: Config, height: int, note: str) -> dict[str, Any]:
    """What the browser needs to know beside the cells."""
    return theme.LOOK | {
        "painted": link(config),
        "height": height,
        "note": note,
        "colors": config.color_scale,
        "why": config.color_reason,
        "pool": "max" if config.truncated is config else config.pool,
        "focus": {"head": config.head, "query": config.query_index},
        "group": config.heads // config.n_kv_heads,
    }


def training_grid(
    recipe: Recipe,
    step: int,
    focus: int,
    cells: Cells,
    tokens: Sequence[str],
    names: Sequence[str],
    *,
    key: str = "grid",
    on_pin: Callable[[], None] | None = None,
    on_seen: Callable[[], None] | None = None,
) -> None:
    """Draws the cells `(layers x heads)` of a recipe after a step; heads are numbered by layer and head, as in 1.3.

    `focus`: the head in focus. `names`: what each does, "" where there is no word for it. `on_pin` runs before the rerun that a
    pin causes, `on_seen` before the one for which the browser asks once these cells are on the screen.
    """
    header = theme.LOOK | {
        "painted": f"{RECIPES.link(recipe)} {step}",
        "height": theme.GRID_HEIGHT,
        "note": "",
        "colors": FORMING,
        "why": FORMS,
        "pool": "max",
        "focus": {"head": focus, "query": recipe.row},
        "group": 1,
        "per": recipe.heads,
        "tokens": list(tokens),
        "names": list(names),
        "certain": recipe.layers * recipe.heads,
        "address": None,
        "waits": on_seen is not None,
    }
    calls = {"on_pin_change": on_pin or nothing, "on_seen_change": on_seen or nothing}
    component("heads_grid")(key=key, data=payload(header, cells), **calls)


def exact(cells: Cells) -> bool:
    """Is every number one of a known token? Where tiles are too large for that, tokens have no names in the browser."""
    return cells.tile == 1 or cells.argmax_in_tile is not None

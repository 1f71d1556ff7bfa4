"""The grid of all heads: one map per head, with a crosshair, keyboard navigation and pins in the browser.

The browser receives the cells as bytes and computes colours, crosshair, numbers and the row under the pointer from them.
It sends only pins to the server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attention.charts import theme
from attention.codec import link
from attention.comparison.pooling import Differences
from attention.components.registry import component, nothing
from attention.config import Config
from attention.pinned import sides_of
from attention.sources.providers import distributes
from attention.tables.rows import key_labels, labels
from attention.training.recipe import RECIPES, Recipe
from attention.wire.cells import WIDEST, Cells, payload
from attention.wire.difference_cells import MASKED_ONCE, difference_payload
from attention.wire.kept_bytes import Kept

FORMING = "linear"  # the colour scale of a training: the small weights with which it begins are pale
SIGNED_SCALE = "linear, as weights may be negative"


def heads_grid(
    config: Config,
    cells: Cells,
    *,
    key: str = "grid",
    height: int = theme.GRID_HEIGHT,
    on_pin: Callable[[], None] | None = None,
    note: str = "",
    names: Sequence[str] = (),
    short_names: Sequence[str] = (),
    certain: int | None = None,
    address: tuple[str, str] | None = None,
    painted: str = "",
    kept: Kept | None = None,
    end: float = 0.0,
    on_percent: Callable[[], None] | None = None,
) -> dict[str, int] | None:
    """Draws the cells of a config. Returns the last pin as `{"head", "query", "key", "count"}`, None before the first.

    `on_pin` runs before the rerun that a pin causes; `st.session_state[key]["pin"]` then contains the new pin. A click,
    Enter or Space pins immediately, arrow keys after a pause. `height` is in CSS pixels and does not depend on the number
    of heads; narrow windows show two squares per row, as high as needed. `note` is shown next to the squares, `names` next
    to the head numbers: what each head does, "" if there is no word for it; a second line of a name is shown on hover only.
    `short_names` take their place in narrow squares. `certain`: the first `certain` heads are exact, the others a preview;
    None if all are exact. `address`: the query string that the address bar has, and the one that it gets once the cells are
    painted. `painted`: the link of the picture, if it is not that of the config. `kept`: whether the browser keeps the cells.
    `end`: how far the bars of a row reach at least. `on_percent`: sets the linear colour scale; if given, a button offers it
    where a long sequence is coloured by multiples of the uniform weight unasked.
    """
    data = message(
        config,
        cells,
        height=height,
        note=note,
        names=names,
        short_names=short_names,
        certain=certain,
        address=address,
        painted=painted,
        kept=kept,
        end=end,
        offers_percent=on_percent is not None,
    )
    return _mount(key, data, on_pin, kept, on_percent)


def _mount(
    key: str,
    data: bytes,
    on_pin: Callable[[], None] | None,
    kept: Kept | None,
    on_percent: Callable[[], None] | None = None,
) -> dict[str, int] | None:
    events = {"on_lost_change": kept.on_lost} if kept else {}
    events |= {"on_percent_change": on_percent} if on_percent else {}
    return component("heads_grid")(key=key, data=data, on_pin_change=on_pin or nothing, **events).pin


def difference_grid(
    config: Config,
    found: Differences,
    *,
    key: str = "grid",
    on_pin: Callable[[], None] | None = None,
    names: Sequence[str] = (),
    address: tuple[str, str] | None = None,
    kept: Kept | None = None,
) -> dict[str, int] | None:
    """Draws the differences of two sides of the same sizes, as `heads_grid` draws the cells of one; `config` is side B.

    `kept`: whether the browser keeps the codes of A.
    """
    data = difference_message(config, found, names=names, address=address, kept=kept)
    return _mount(key, data, on_pin, kept)


def difference_message(
    config: Config,
    found: Differences,
    *,
    names: Sequence[str] = (),
    address: tuple[str, str] | None = None,
    kept: Kept | None = None,
) -> bytes:
    """Returns the message of differences to the browser, on a scale that ends at one.

    It is linear if the colour scale was chosen so, by the square root if it is linear by default, otherwise logarithmic.
    """
    named = found.tile <= WIDEST and (config.is_cross or found.queries == found.keys)
    told = {
        "tokens": labels(config) if named else [],
        "key_tokens": key_labels(config) if named and config.is_cross else None,
        "names": list(names),
        "certain": len(found.change),
        "address": address,
    }
    return difference_payload(difference_header(config, theme.GRID_HEIGHT) | told, found, kept)


def difference_header(config: Config, height: int) -> dict[str, Any]:
    """Returns the header of a message of differences: everything but the cells and what they are about."""
    colors = config.colors if config.colors == "linear" else "root" if config.color_scale == "linear" else "log"
    sides = sides_of(config)
    about: dict[str, Any] = {"colors": colors, "why": MASKED_ONCE, "pool": "max"}
    if sides and not distributes(sides.a):
        about["rest"] = None  # then only one of both weights is a share of its row
    return header(config, height, "") | theme.difference_look() | about


def message(
    config: Config,
    cells: Cells,
    *,
    height: int = theme.GRID_HEIGHT,
    note: str = "",
    names: Sequence[str] = (),
    short_names: Sequence[str] = (),
    certain: int | None = None,
    address: tuple[str, str] | None = None,
    painted: str = "",
    kept: Kept | None = None,
    end: float = 0.0,
    offers_percent: bool = False,
) -> bytes:
    """Returns the message to the browser."""
    named = exact(cells) and (config.is_cross or cells.queries == cells.keys)  # otherwise the keys have no names
    told = {
        "tokens": labels(config) if named else [],
        "key_tokens": key_labels(config) if named and config.is_cross else None,
        "names": list(names),
        "certain": config.heads if certain is None else certain,
        "address": address,
    } | ({"painted": painted} if painted else {})
    if cells.pool == "mean":
        told["pool"] = cells.pool
    if offers_percent and config.colors == "auto" and config.color_scale == "times even" and distributes(config):
        told["offers_percent"] = True
    if any(short_names):
        told["short_names"] = list(short_names)
    if end:
        told["end"] = end
    return payload(header(config, height, note) | told, cells, kept)


def header(config: Config, height: int, note: str) -> dict[str, Any]:
    """Returns the header of the message: everything but the cells."""
    return theme.grid_header(
        link(config),
        config.head,
        config.query_index,
        config.color_scale,
        why=config.color_reason if config.color_scale != "linear" else "",
        height=height,
        note=note,
        pool="max" if config.truncated is config else config.pool,
        group=config.heads // config.n_kv_heads,
        rest=config.head_softmax.rest.removeprefix("the ") if distributes(config) else None,
        **({"ramps": theme.SIGNED} if config.head_softmax.signed else {}),
    )


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
    over: float = 1.0,
    accuracy: tuple[str, str],
    last: str,
    copies: bool = False,
    lessons: int = 0,
) -> None:
    """Draws the cells of a recipe after a step, `(layers x heads)`, followed by those of the same heads before training.

    The selected head is large, before and after beside each other, with the `accuracy` of both; above are the tokens of its row.
    `last`: the token that follows the last one. `copies`: whether earlier copies of the row's token are marked. `focus`: the
    selected head. `names`: what each head does, "" if there is no word for it. `on_pin` runs before the rerun that a pin causes.
    `over`: what the weights were divided by. `lessons`: how many of the trainings that fail were begun; if that grows, the
    browser scrolls to the picture.
    """
    signed = SIGNED_SCALE + (f"; divided by {over:.3g}, the largest" if over > 1 else "")
    header = theme.grid_header(
        f"{RECIPES.link(recipe)} {step}",
        focus,
        recipe.row,
        "linear" if cells.signed else FORMING,
        why=signed if cells.signed else "",
        per=recipe.heads,
        tokens=list(tokens),
        names=list(names),
        certain=len(cells.codes),
        address=None,
        trained={"step": step, "accuracy": accuracy, "last": last, "copies": copies, "lessons": lessons},
        **({"ramps": theme.SIGNED} if cells.signed else {}),
    )
    component("heads_grid")(key=key, data=payload(header, cells), on_pin_change=on_pin or nothing)


def exact(cells: Cells) -> bool:
    """Whether the token of every number is known. If tiles are too large for that, the browser shows no token texts."""
    return cells.tile == 1 or cells.argmax_in_tile is not None

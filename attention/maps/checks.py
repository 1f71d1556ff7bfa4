"""Checks of the arguments of a map: sizes, names and numbers; each error states what is allowed."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable

from torch import Tensor

from attention.maps.pooling import ceil
from attention.masks import MASKS, Rule
from attention.operations.positions import POSITIONS
from attention.operations.softmax import SOFTMAXES, takes_sinks

POOLS = {
    "mean": "Mean of a tile: weights add up; a single hot cell fades in a large tile.",
    "max": "Largest of a tile: no hot cell is lost; broad faint attention looks sparse.",
}
CELLS = 2**28  # largest number of cells of a window: 1 GB in float32


def check(query, key, mask, span, side, pool, positions, softcap, softmax, sinks, heads) -> None:
    """Raises ValueError for arguments that can't be drawn."""
    if query.ndim != 3 or key.ndim != 3 or query.shape[1:] != key.shape[1:] or 0 in query.shape or 0 in key.shape:
        shapes = f"query {tuple(query.shape)} and key {tuple(key.shape)}"
        raise ValueError(f"{shapes} are not (heads, tokens, channels) of the same tokens and channels.")
    if len(query) % len(key):
        raise ValueError(f"{len(key)} heads of key don't divide {len(query)} heads of query.")
    if not (query.is_floating_point() and key.is_floating_point()) or query.device != key.device:
        kinds = f"query is {query.dtype} on {query.device}, key {key.dtype} on {key.device}"
        raise ValueError(f"{kinds}; both must be floating-point and on one device.")
    if not isinstance(mask, Rule):
        check_choice("mask", mask, MASKS)
    check_choice("pool", pool, POOLS)
    check_choice("positions", positions, POSITIONS)
    check_choice("softmax", softmax, SOFTMAXES)
    how, n = SOFTMAXES[softmax], query.shape[1]
    if 0 < how.longest < n:
        raise ValueError(f"softmax={softmax!r} has maps of at most {how.longest:,} tokens, and these are {n:,}.")
    if query.shape[2] % how.halves:
        raise ValueError(f"softmax={softmax!r} halves the channels of a head, and {query.shape[2]} are an odd number.")
    wanted = heads if takes_sinks(softmax) else 0
    if len(sinks) != wanted and (how.learned or sinks):
        has = "one per head" if wanted else "none"
        raise ValueError(f"sinks={tuple(sinks)} are not {wanted} numbers: softmax={softmax!r} has {has}.")
    for name, value in (("span", span), ("side", side)):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}={value!r} is not a whole number of at least 1.")
    if softcap is not None and not softcap > 0:
        raise ValueError(f"softcap={softcap} is not a positive number; None leaves the scores uncapped.")


def check_kept(kept: Tensor | None, heads: int, tokens: int) -> None:
    """Raises ValueError for sums of logarithms that can't be those of the forget gates of these heads."""
    if kept is not None and tuple(kept.shape) != (heads, tokens):
        raise ValueError(f"kept {tuple(kept.shape)} is not a number for each of {heads} heads and {tokens:,} tokens.")


def check_finite(**given: Tensor) -> None:
    """Raises ValueError for the first number that is not finite."""
    for name, x in given.items():
        for at in (~x.isfinite()).nonzero()[:1].tolist():
            place = ", ".join(map(str, at))
            raise ValueError(f"{name}[{place}]={x[tuple(at)].item()} is not finite; set what is padding to 0.")


def check_choice(name: str, value: object, allowed: Iterable[str]) -> None:
    """Raises ValueError for a name that is not allowed."""
    if value in (allowed := list(allowed)):
        return
    near = difflib.get_close_matches(str(value), allowed, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name}={value!r} is not one of: {', '.join(allowed)}.{hint}")


def within(name: str, ends: tuple[int, int] | None, n: int) -> tuple[int, int]:
    """The start and the end (excluded) of a range of tokens, by default all of them; raises ValueError."""
    first, last = ends if ends is not None else (0, n)
    if not 0 <= first < last <= n:
        raise ValueError(f"{name}=({first}, {last}) is not a part of {n:,} tokens: 0 <= first < last <= {n}.")
    return int(first), int(last)


def check_size(rows: tuple[int, int], cols: tuple[int, int], tile: int, heads: int) -> None:
    """Raises ValueError for an invalid tile, and for more than CELLS pixels."""
    if not isinstance(tile, int) or tile < 1:
        raise ValueError(f"tile={tile!r} is not a whole number of at least 1.")
    cells = heads * ceil(rows[1] - rows[0], tile) * ceil(cols[1] - cols[0], tile)
    if cells > CELLS:
        fitting = math.isqrt(cells // CELLS) + 1
        raise ValueError(f"{cells:,} pixels are over the limit of {CELLS:,}; tile={tile * fitting} is within it.")

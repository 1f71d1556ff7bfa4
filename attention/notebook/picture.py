"""Encodes stacks for the browser, one layer at a time, as `components/browser/heads_layers.js` takes them.

The bytes of a layer are a message of the grid of heads (`wire.cells`): 16-bit codes, one cell per token if these fit,
else one cell per tile with its largest weight. They are compressed with gzip.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from attention.analysis.head_roles import roles
from attention.charts import theme
from attention.comparison.sides import are_distributions
from attention.imported.layer_weights import layer, only_heads, visible
from attention.imported.stack import Stack
from attention.knobs import LINEAR_MAX_TOKENS
from attention.tracing.parts import CROSS
from attention.tracing.saved import layers
from attention.wire.cells import WIDEST, Cells, cells, payload

SIDES = (300, 192, 128, 96, 64, 48, 32)  # largest number of cells per side of a head: the first that fits
BYTES = 16 * 2**20  # of all cells, before compression
AT_ONCE = 2**24  # weights in memory at once: 4 heads of 2,048 tokens
LARGEST = 2**26  # weights of one head: 8,192 tokens


@dataclass(frozen=True, eq=False)
class Picture:
    """`about` is what the browser gets besides the bytes: `title`, and the `parts` with the numbers of their layers.

    `layers`: the bytes of every layer of every part, one after another.
    """

    about: dict[str, Any]
    layers: tuple[bytes, ...]

    @property
    def places(self) -> list[int]:
        """The index of the first layer of each part."""
        found, at = [], 0
        for part in self.about["parts"]:
            found.append(at)
            at += len(part["layers"])
        return found


def picture(parts: Mapping[str, Stack], title: str = "") -> Picture:
    """The picture of some stacks; raises ValueError if it is too large."""
    first = next(iter(parts.values()))
    side = picture_side(parts.values())
    drawn = [gzip.compress(data, 6, mtime=0) for name, stack in parts.items() for data in messages(stack, side, name)]
    said = [
        {"name": name, "what": stack.what, "layers": stack_numbers(stack), "note": _note(stack, side)}
        for name, stack in parts.items()
    ]
    usual = first.title.removesuffix(f": {next(iter(parts))}")
    return Picture({"title": title or usual, "parts": said}, tuple(drawn))


def messages(stack: Stack, side: int, part: str = "") -> Iterator[bytes]:
    """Yields one message per layer. `part`: which part of its model the stack is."""
    for at, number in enumerate(stack_numbers(stack)):
        shown, names = _layer(stack, at, side, not part.startswith(CROSS))
        said = {"names": names, "whose": whose(stack, number)}
        yield payload(header(stack, shown, f"layer {number}") | said, shown)


def _layer(stack: Stack, at: int, side: int, itself: bool) -> tuple[Cells, list[str]]:
    """The cells of a layer, and the role of each head if `itself`, in self-attention; large layers in several parts."""
    _, heads, queries, keys = _sizes(stack)
    if stack.q is None:
        stack = replace(stack, square=visible(stack, at))  # of all heads, before they are split
    signed = stack.weights is not None and stack.q is None and bool(stack.weights[at].amin() < 0)
    step, found, names = max(1, AT_ONCE // (queries * keys)), [], []
    for first in range(0, heads, step):
        some = only_heads(stack, at, range(first, min(heads, first + step)))
        weights, mask = layer(some, 0)
        found.append(cells(weights, mask, min(side, max(queries, keys)), signed=signed))
        names += _roles(stack, weights, mask) if itself else []
    return _join_cells(found), names


def _join_cells(parts: list[Cells]) -> Cells:
    """Joins the cells of some heads with those of others."""
    first = parts[0]
    places = (
        None
        if first.argmax_in_tile is None
        else torch.cat([part.argmax_in_tile for part in parts if part.argmax_in_tile is not None])
    )
    codes, most = torch.cat([part.codes for part in parts]), torch.cat([part.max_code for part in parts])
    return replace(first, codes=codes, argmax_in_tile=places, max_code=most)


def header(stack: Stack, shown: Cells, painted: str) -> dict[str, Any]:
    """What the browser needs to know in addition to the cells of a layer."""
    heads, short = len(shown.codes), max(shown.queries, shown.keys) <= LINEAR_MAX_TOKENS
    shared = len(stack.k[0]) if stack.k is not None else heads
    named = shown.tile == 1 or shown.argmax_in_tile is not None
    return theme.grid_header(
        painted,
        0,
        shown.queries - 1,
        "linear" if short else "times even",
        group=heads // shared,
        tokens=list(stack.queries) if named else [],
        key_tokens=list(stack.keys) if named and stack.keys != stack.queries else None,
        certain=heads,
        address=None,
        **({"ramps": theme.SIGNED} if shown.signed else {}),
    )


def whose(stack: Stack, number: int) -> dict[str, str]:
    """The provenance of a head, for a file saved from it without the page around it."""
    return {"layer": f"Layer {number}", "title": stack.title, "provenance": stack.what}


def _roles(stack: Stack, weights: Any, mask: Any) -> list[str]:
    """The role of each head in a word or two, "" if it has none; [] unless the sequence attends to itself.

    Heads whose rows are no distributions have no role.
    """
    queries, keys = weights.shape[1:]
    if queries != keys or stack.keys != stack.queries or queries < 2:
        return []
    if not are_distributions(weights):
        return [""] * len(weights)
    return [role.name if role else "" for role in roles(weights, mask, stack.queries, line=stack.line)]


def stack_numbers(stack: Stack) -> list[int]:
    """The numbers of the layers of a stack."""
    return list(stack.numbers or range(layers(stack)))


def _sizes(stack: Stack) -> tuple[int, int, int, int]:
    """Layers, heads, queries, keys."""
    if stack.q is not None and stack.k is not None:
        count, heads, queries, _ = stack.q.shape
        return count, heads, queries, stack.k.shape[2]
    if stack.weights is None:
        raise ValueError(f"{stack.title!r} has neither queries and keys nor weights.")
    return tuple(stack.weights.shape)  # pyright: ignore[reportReturnType]  a shape of four


def picture_side(stacks: Any) -> int:
    """The largest number of cells per side at which all fit; raises ValueError if even the smallest does not."""
    sizes = [_sizes(stack) for stack in stacks]
    for _, _, queries, keys in sizes:
        if queries * keys > LARGEST:
            raise ValueError(
                f"A head of {queries:,} x {keys:,} weights is over the {LARGEST:,} that are drawn here, "
                f"{math.isqrt(LARGEST):,} tokens. Give fewer tokens; attention.head_maps computes pooled maps of any length."
            )
    for side in SIDES:
        if sum(_cell_bytes(size, side) for size in sizes) <= BYTES:
            return side
    heads = sum(size[0] * size[1] for size in sizes)
    raise ValueError(
        f"{heads:,} heads are too many for one picture, which has {BYTES / 2**20:.0f} MB. Give fewer layers."
    )


def _cell_bytes(size: tuple[int, int, int, int], side: int) -> int:
    """Bytes of all cells of a stack: a 2-byte code each and, if a cell is a tile, a 1-byte position in it."""
    count, heads, queries, keys = size
    tile = -(-max(queries, keys) // side)
    return count * heads * -(-queries // tile) * -(-keys // tile) * (2 if tile == 1 else 3)


def _note(stack: Stack, side: int) -> str:
    """The note that is shown if a cell is not a single token."""
    longest = max(_sizes(stack)[2:])
    tile = -(-longest // side)
    where = "; pointing at it says which" if tile <= WIDEST else ""
    return "" if tile == 1 else f"Each cell is the largest weight of {tile} x {tile} tokens{where}."

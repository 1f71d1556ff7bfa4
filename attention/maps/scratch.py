"""Memory that the blocks of a map use in turn: fresh pages cost a short map a fifth of its time."""

from __future__ import annotations

import threading
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

SCRATCH = 2**22  # bytes of a piece of memory that a thread keeps


class _Kept(threading.local):
    """Memory of a thread that its jobs use one after the other."""

    def __init__(self) -> None:
        self.known: dict[str, Tensor] = {}  # of bytes, so that jobs of float32 and of float64 share it


_kept = _Kept()


def room(name: str, cells: int, like: Tensor) -> Tensor:
    """So many cells with another's device and dtype, until this thread asks by that name again; what they hold is anything."""
    size = cells * like.element_size()
    if like.device.type != "cpu" or size > SCRATCH:
        return like.new_empty(cells)
    found = _kept.known.get(name)
    if found is None or len(found) < size:
        found = _kept.known[name] = like.new_empty(size, dtype=torch.uint8)
    return found[:size].view(like.dtype)


class Space:
    """What the blocks of a job compute their pieces in, of so many rows and keys at the most, and where its `tokens` keys stand.

    `both`: scores and e to them have a place each.
    """

    def __init__(self, height: int, widest: int, both: bool, tokens: int, like: Tensor) -> None:
        self.scores = room("scores", height * widest, like)
        self.powers = room("powers", height * widest, like) if both else self.scores
        self.widest, self.tokens = widest, tokens
        self.pieces: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}

    def piece(self, keys: int, queries: int) -> tuple[Float[Tensor, "w r"], Float[Tensor, "w r"]]:
        """Where the scores of so many pairs go, and where e to them."""
        shape = keys, queries
        if shape not in self.pieces:
            scores, powers = (each[: keys * queries].view(shape) for each in (self.scores, self.powers))
            self.pieces[shape] = scores, powers
        return self.pieces[shape]

    @cached_property
    def keys(self) -> Int[Tensor, "n 1"]:
        """Where keys stand, down."""
        return torch.arange(self.tokens, dtype=torch.int32, device=self.scores.device)[:, None]

    @cached_property
    def ramp(self) -> Float[Tensor, " w"]:
        """Whole numbers from zero on, one a key of a piece."""
        return torch.arange(self.widest, dtype=self.scores.dtype, device=self.scores.device)

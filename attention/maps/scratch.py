"""Memory that the blocks of a map reuse: allocating fresh pages took a fifth of the time of a short map."""

from __future__ import annotations

import threading
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

SCRATCH = 2**22  # largest number of bytes that a thread keeps per name


class _Kept(threading.local):
    """Memory of a thread that its jobs use one after the other."""

    def __init__(self) -> None:
        self.known: dict[str, Tensor] = {}  # as bytes, so that jobs of float32 and of float64 share it


_kept = _Kept()


def room(name: str, cells: int, like: Tensor) -> Tensor:
    """Memory for `cells` numbers with the device and dtype of `like`, uninitialised.

    It is valid until this thread asks for the same name again.
    """
    size = cells * like.element_size()
    if like.device.type != "cpu" or size > SCRATCH:
        return like.new_empty(cells)
    found = _kept.known.get(name)
    if found is None or len(found) < size:
        found = _kept.known[name] = like.new_empty(size, dtype=torch.uint8)
    return found[:size].view(like.dtype)


class Space:
    """Memory in which the blocks of a job compute their pieces, and the positions of its `tokens` keys.

    A piece has at most `height` rows and `widest` keys. `both`: whether scores and their exponentials have separate
    memory.
    """

    def __init__(self, height: int, widest: int, both: bool, tokens: int, like: Tensor) -> None:
        self.scores = room("scores", height * widest, like)
        self.powers = room("powers", height * widest, like) if both else self.scores
        self.widest, self.tokens = widest, tokens
        self.pieces: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}

    def piece(self, keys: int, queries: int) -> tuple[Float[Tensor, "w r"], Float[Tensor, "w r"]]:
        """Memory for the scores of `keys` x `queries` pairs, and for their exponentials."""
        shape = keys, queries
        if shape not in self.pieces:
            scores, powers = (each[: keys * queries].view(shape) for each in (self.scores, self.powers))
            self.pieces[shape] = scores, powers
        return self.pieces[shape]

    @cached_property
    def keys(self) -> Int[Tensor, "n 1"]:
        """Positions of the keys, as a column."""
        return torch.arange(self.tokens, dtype=torch.int32, device=self.scores.device)[:, None]

    @cached_property
    def ramp(self) -> Float[Tensor, " w"]:
        """Integers from zero on, one per key of a piece."""
        return torch.arange(self.widest, dtype=self.scores.dtype, device=self.scores.device)

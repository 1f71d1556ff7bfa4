"""Queries and keys of a long sequence: those of as many heads at a time as there is room for, made again when needed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from threading import Lock

from torch import Tensor

from attention.config import Config
from attention.maps.estimate import FLOAT, ROOM
from attention.sources.providers import long_vectors
from attention.ui.budget import BUDGET

Pair = tuple[Tensor, Tensor]
SHARE = 6  # of this part of a small budget a long sequence's queries and keys are
_turn = Lock()  # the tokens that they are made of are larger still: one at a time
_holding: list[Vectors] = []  # those that were last asked, in this order
HOLD = 2  # of these may hold on to what they have: one that is drawn, and one that is looked at


@dataclass(eq=False)
class Vectors:
    """Queries `(h n d)` and keys `(g n d)` of a config, group by group of its heads; the last group stays."""

    config: Config
    executor: Executor
    last: tuple[range, Pair] | None = field(default=None, init=False)

    @property
    def groups(self) -> Iterator[range]:
        """The heads that are held together: whole groups of those that share keys, as many as there is room for."""
        heads, together = self.config.heads, self.config.heads // self.config.n_kv_heads
        each = together * 2 * FLOAT * self.config.tokens * self.config.d_head
        step = max(1, room() // each) * together
        return (range(first, min(first + step, heads)) for first in range(0, heads, step))

    def of(self, head: int) -> tuple[range, Tensor, Tensor]:
        """Queries and keys of a head and its neighbours, and the numbers of these; not from a lane of rank 0."""
        group = next(group for group in self.groups if head in group)
        with _turn:
            if self.last is None or self.last[0] != group:
                self.last = None  # before the next ones take their room
                self.last = group, long_vectors(self.config, self.executor, group)
            self._hold()
            return group, *self.last[1]

    def _hold(self) -> None:
        """Those that were asked longest ago let go, and make theirs again when they are asked."""
        _holding[:] = [*(other for other in _holding if other is not self), self]
        for other in _holding[:-HOLD]:
            other.last = None
        del _holding[:-HOLD]

    @property
    def bytes(self) -> int:
        """What is held now."""
        held = self.last
        return sum(each.nbytes for each in held[1]) if held else 0


def room() -> int:
    """Bytes of the queries and keys that are held at once on this host; those of a head, where these take more."""
    return min(ROOM, BUDGET.most // SHARE)

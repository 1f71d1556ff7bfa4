"""Queries and keys of a long sequence, of as many heads at a time as fit, computed again when needed."""

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
SHARE = 6  # queries and keys of a long sequence take at most this fraction (1 / SHARE) of a small budget
_turn = Lock()  # one computation at a time: the tokens that it starts from are larger still
_holding: list[Vectors] = []  # the last used instances, most recent last
HOLD = 2  # instances that may keep their tensors: one that is computed, and one that is viewed


@dataclass(eq=False)
class Vectors:
    """Queries `(h n d)` and keys `(g n d)` of a config, per group of its heads; the last group is kept."""

    config: Config
    executor: Executor
    last: tuple[range, Pair] | None = field(default=None, init=False)

    @property
    def groups(self) -> Iterator[range]:
        """The ranges of heads that are held together: whole groups that share keys, as many as there is room for."""
        heads, together = self.config.heads, self.config.heads // self.config.n_kv_heads
        each = together * 2 * FLOAT * self.config.tokens * self.config.d_head
        step = max(1, room() // each) * together
        return (range(first, min(first + step, heads)) for first in range(0, heads, step))

    def of(self, head: int) -> tuple[range, Tensor, Tensor]:
        """The group of heads that contains `head`, with its queries and keys; not for callers in executors of rank 0."""
        group = next(group for group in self.groups if head in group)
        with _turn:
            if self.last is None or self.last[0] != group:
                self.last = None  # frees it before the next group is allocated
                self.last = group, long_vectors(self.config, self.executor, group)
            self._hold()
            return group, *self.last[1]

    def _hold(self) -> None:
        """Frees the tensors of the least recently used instances, which compute them again when needed."""
        _holding[:] = [*(other for other in _holding if other is not self), self]
        for other in _holding[:-HOLD]:
            other.last = None
        del _holding[:-HOLD]

    @property
    def bytes(self) -> int:
        """Bytes that are held now."""
        held = self.last
        return sum(each.nbytes for each in held[1]) if held else 0


def room() -> int:
    """Bytes of queries and keys that this host holds at once; the smallest group of heads may take more."""
    return min(ROOM, BUDGET.most // SHARE)

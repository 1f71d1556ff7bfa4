"""Memory for weights: in huge pages where it is large, and from a call before where that has given it back.

A page that is touched for the first time costs more than the arithmetic on it; where a host takes back what a guest has
freed, as clouds do, several times more after half a second's rest. So some of what large weights leave is kept for the
next ones, as torch itself does on accelerators.
"""

from __future__ import annotations

import math
import mmap
import sys
from threading import Lock

import torch
from torch import Tensor

PAGE = 2**21  # bytes of a huge page
LARGE, MOST = 2**25, 2**28  # bytes of weights for which huge pages pay: malloc keeps what is smaller between calls,
# and a gigabyte of them took a host longer to find, after ordinary ones, than to hand out as small ones
KEPT = 2**26  # bytes of weights up to which their memory is kept: those of a trace
SPARE = 2  # pieces that wait for their next use at the most
_pieces: list[mmap.mmap] = []  # those that are in use, and those that wait
_lock = Lock()


def empty_hugepages(shape: tuple[int, ...], like: Tensor) -> Tensor:
    """A tensor of this shape, with another's device and dtype; what it holds is anything."""
    size = math.prod(shape) * like.element_size()
    if not LARGE <= size <= MOST or like.device.type != "cpu" or not hasattr(mmap, "MADV_HUGEPAGE"):
        return like.new_empty(shape)
    if size > KEPT:
        return _tensor(_fresh(size), size).view(like.dtype).view(shape)
    with _lock:
        return _tensor(_take_free(size), size).view(like.dtype).view(shape)


class FreeList:
    """What waits for its next use, as a claim on memory."""

    @property
    def used_bytes(self) -> int:
        """Bytes that nobody uses at the moment."""
        with _lock:
            return sum(len(_pieces[at]) for at in range(len(_pieces)) if _reference_count(_pieces, at) == UNUSED)

    unevictable_bytes = 0

    def hold(self, most: float) -> None:
        """Lets go of it where it is more than so many bytes."""
        if self.used_bytes > most:
            self.give_back(0)

    def give_back(self, size: int) -> None:
        """Lets go of all that nobody uses at the moment."""
        with _lock:
            _pieces[:] = [_pieces[at] for at in range(len(_pieces)) if _reference_count(_pieces, at) != UNUSED]

    def expire(self, before: float) -> None:
        """The same: it is quickly there again."""
        self.give_back(0)


def _take_free(size: int) -> mmap.mmap:
    """A piece that nobody uses any more and that is not twice too large, or a fresh one."""
    waiting = [_pieces[at] for at in range(len(_pieces)) if _reference_count(_pieces, at) == UNUSED]
    for piece in waiting[SPARE:]:
        _pieces.remove(piece)
    for piece in waiting[:SPARE]:
        if size <= len(piece) - PAGE <= 2 * size:
            return piece
    _pieces.append(_fresh(size))
    return _pieces[-1]


def _fresh(size: int) -> mmap.mmap:
    piece = mmap.mmap(-1, size + PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    piece.madvise(mmap.MADV_HUGEPAGE)
    return piece


def _tensor(piece: mmap.mmap, size: int) -> Tensor:
    """So many bytes of it; every view of them, in Python or not, holds on to the piece."""
    whole = torch.frombuffer(piece, dtype=torch.uint8)
    start = -whole.data_ptr() % PAGE  # a huge page begins at a multiple of its size
    return whole[start : start + size]


def _reference_count(pieces: list, at: int) -> int:
    return sys.getrefcount(pieces[at])


UNUSED = _reference_count([object()], 0)

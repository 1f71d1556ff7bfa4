"""Memory for weights: in huge pages if it is large, and reused from earlier calls.

Touching a page for the first time costs more than the arithmetic on it; on a host that takes back what a guest has
freed, as in clouds, several times more after half a second without use. So some memory of large weights is kept for the
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
LARGE, MOST = 2**25, 2**28  # bytes of weights for which huge pages pay off: malloc keeps smaller ones between calls,
# and for a gigabyte, finding free huge pages took longer than allocating small ones
KEPT = 2**26  # bytes of weights up to which their memory is kept: those of a trace
SPARE = 2  # maximum number of pieces that wait for their next use
_pieces: list[mmap.mmap] = []  # pieces in use, and pieces that wait
_lock = Lock()


def empty_hugepages(shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Returns an uninitialized tensor of this shape, with the device and dtype of `like`."""
    size = math.prod(shape) * like.element_size()
    if not LARGE <= size <= MOST or like.device.type != "cpu" or not hasattr(mmap, "MADV_HUGEPAGE"):
        return like.new_empty(shape)
    if size > KEPT:
        return _tensor(_fresh(size), size).view(like.dtype).view(shape)
    with _lock:
        return _tensor(_take_free(size), size).view(like.dtype).view(shape)


class FreeList:
    """The pieces that wait for their next use, as a claim on memory."""

    @property
    def used_bytes(self) -> int:
        """Bytes of pieces that are not in use."""
        with _lock:
            return sum(len(_pieces[at]) for at in range(len(_pieces)) if _reference_count(_pieces, at) == UNUSED)

    unevictable_bytes = 0

    def hold(self, most: float) -> None:
        """Releases unused pieces if they have more than `most` bytes."""
        if self.used_bytes > most:
            self.give_back(0)

    def give_back(self, size: int) -> None:
        """Releases all unused pieces."""
        with _lock:
            _pieces[:] = [_pieces[at] for at in range(len(_pieces)) if _reference_count(_pieces, at) != UNUSED]

    def expire(self, before: float) -> None:
        """Releases all unused pieces: they are quickly recreated."""
        self.give_back(0)


def _take_free(size: int) -> mmap.mmap:
    """Returns an unused piece that is at most twice as large, or a new one."""
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
    """Returns `size` bytes of a piece as a tensor; every view of it, in Python or not, keeps the piece."""
    whole = torch.frombuffer(piece, dtype=torch.uint8)
    start = -whole.data_ptr() % PAGE  # a huge page begins at a multiple of its size
    return whole[start : start + size]


def _reference_count(pieces: list, at: int) -> int:
    return sys.getrefcount(pieces[at])


UNUSED = _reference_count([object()], 0)

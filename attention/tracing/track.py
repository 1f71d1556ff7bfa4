"""Joins the calls of one layer by the positions of their queries and keys in the text.

A model that generates token by token calls each layer once per step, with queries for the new tokens. Which keys come
with them depends on the cache: all keys so far, the last ones of a window, or a buffer that is only partly filled.
`Place` gives their positions; if it is unknown, a call continues the one before it if their keys overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.operations.mask import HIDDEN
from attention.tracing.call import Call, as_added
from attention.tracing.sdpa_call import SdpaCall

APART = (
    "queries before position {first} are not shown: they were computed in calls that were not seen, or with other keys"
)
ROUNDED = 0.02  # largest difference of keys of the same tokens, relative to the largest number
NO_BEAMS = "it ran in a beam search, and which rows belong to the returned sequence is not known"


class Place(NamedTuple):
    """The place of a call in its text: positions of its first query and key, and how many of its keys are filled."""

    first: int
    first_key: int
    keys: int


class Beams(NamedTuple):
    """A sequence that a beam search returned: the row of the batch it had at each step, and the length of the prompt."""

    rows: Tensor
    prompt: int


@dataclass(eq=False)
class Track:
    """The joined calls of a layer: all its queries and keys `(b h n d)`, with the mask of every row.

    `ends (q)` and `key_ends (k)`: the length of the text in the call that a query or a key came with. `note`: which
    rows are missing, and why.
    """

    sdpa: SdpaCall
    first: int
    first_key: int
    ends: Tensor
    key_ends: Tensor
    note: str = ""

    @classmethod
    def of(cls, sdpa: SdpaCall, place: Place | None, before: Track | None, beams: bool) -> Track:
        """The track after a call: `before` continued, or a new one. `beams`: whether batch rows may have swapped."""
        known = place or (before and before._overlap(sdpa)) or Place(0, 0, sdpa.k.shape[2])
        sdpa = _filled_part(sdpa, known.keys)
        new = cls._alone(sdpa, known)
        if before is None or not before._continues(new, beams):
            note = APART.format(first=known.first) if place and known.first else ""
            return replace(new, note=note)
        return before._join_call(new)

    @classmethod
    def _alone(cls, sdpa: SdpaCall, place: Place) -> Track:
        queries, keys = sdpa.q.shape[2], sdpa.k.shape[2]
        end = place.first + queries
        ends = torch.full((queries,), end), torch.full((keys,), end)
        return cls(sdpa, place.first, place.first_key, *ends)

    @property
    def end(self) -> int:
        """The position after the last query."""
        return self.first + self.sdpa.q.shape[2]

    @property
    def key_end(self) -> int:
        """The position after the last key."""
        return self.first_key + self.sdpa.k.shape[2]

    def call(self, beams: Beams | None = None) -> Call:
        """The watched sequence, or one that a beam search returned; raises ValueError if its rows are unknown."""
        one = self.sdpa
        if beams is not None:
            rows = self._of_beams(beams)
        elif len(one.q) > 1:
            raise ValueError(NO_BEAMS)
        else:
            rows = one.q[0], one.k[0], one.v[0], *(None if x is None else x[0] for x in (one.mask, one.sinks))
        q, k, v, mask, sinks = rows
        if mask is not None and mask.dtype == torch.bool and mask.all():
            mask = None
        return Call(q, k, v, one.scale, mask, one.softcap, sinks, self.first, self.first_key, one.score_dtype)

    def _of_beams(self, beams: Beams) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
        """Takes each query and key from the row that its sequence had at the step in which they were computed."""
        steps, key_steps = ((ends - beams.prompt).clamp(min=0) for ends in (self.ends, self.key_ends))
        queries, keys = ((each < len(beams.rows)).nonzero()[:, 0] for each in (steps, key_steps))
        if not len(queries):
            raise ValueError(NO_BEAMS)
        row, key_row = beams.rows[steps[queries]], beams.rows[key_steps[keys]]
        q, (k, v) = self.sdpa.q[row, :, queries], (x[key_row, :, keys] for x in (self.sdpa.k, self.sdpa.v))
        mask = self.sdpa.mask
        if mask is not None:
            mask = mask.expand(len(self.sdpa.q), -1, -1, -1)[row, :, queries][:, :, keys].transpose(0, 1)
        sinks = None if self.sdpa.sinks is None else self.sdpa.sinks[row, :, queries].T
        return q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), mask, sinks

    def _overlap(self, sdpa: SdpaCall) -> Place | None:
        """The place of an unplaced call: its keys but the newest are the last ones here, or all are the same."""
        queries, keys = sdpa.q.shape[2], sdpa.k.shape[2]
        old, here = keys - queries, self.sdpa.k
        if _alike(self.sdpa, sdpa):
            if 0 < old <= here.shape[2] and torch.equal(sdpa.k[:, :, :old], here[:, :, -old:]):
                return Place(self.end, self.key_end - old, keys)
            if queries == 1 and torch.equal(sdpa.k, here) and not torch.equal(sdpa.q, self.sdpa.q):
                return Place(self.end, self.first_key, keys)
        return None

    def _continues(self, new: Track, beams: bool) -> bool:
        """Whether a call continues this track without a gap, and with the same keys where both have some."""
        if not 0 < new.first <= self.end or not _alike(self.sdpa, new.sdpa) or new.first_key > self.key_end:
            return False
        if beams:
            return new.first_key >= self.first_key or new.first <= self.first
        start, stop = max(new.first_key, self.first_key), min(self._kept_keys(new), new.key_end)
        if start >= stop:
            return new.first_key >= self.first_key
        mine = self.sdpa.k[:, :, start - self.first_key : stop - self.first_key]
        return _near(mine, new.sdpa.k[:, :, start - new.first_key : stop - new.first_key])

    def _kept_keys(self, new: Track) -> int:
        """The position up to which keys are kept: all, unless a call starts before the last query (a cropped cache)."""
        return self.key_end if new.first == self.end else min(self.key_end, new.first)

    def _join_call(self, new: Track) -> Track:
        """Joins this track up to the first query of the new call with that call."""
        rows, kept = new.first - self.first, self._kept_keys(new)
        cut, fresh = kept - self.first_key, kept - new.first_key
        one, two = self.sdpa, new.sdpa
        q = torch.cat([one.q[:, :, :rows], two.q], 2)
        k, v = (torch.cat([x[:, :, :cut], y[:, :, fresh:]], 2) for x, y in ((one.k, two.k), (one.v, two.v)))
        mask = _stack_masks(_cut(one, rows, cut), two.mask, k.shape[2], new.first_key - self.first_key, two)
        sinks = (
            two.sinks if one.sinks is None or two.sinks is None else torch.cat([one.sinks[:, :, :rows], two.sinks], 2)
        )
        ends = torch.cat([self.ends[:rows], new.ends])
        key_ends = torch.cat([self.key_ends[:cut], new.key_ends[fresh:]])
        return replace(self, sdpa=replace(two, q=q, k=k, v=v, mask=mask, sinks=sinks), ends=ends, key_ends=key_ends)


def _arithmetic(sdpa: SdpaCall) -> tuple[object, ...]:
    return sdpa.scale, sdpa.softcap, sdpa.sinks is None, sdpa.score_dtype


def _alike(one: SdpaCall, two: SdpaCall) -> bool:
    same = _arithmetic(one) == _arithmetic(two)
    return same and all(
        x.shape[:2] + x.shape[3:] == y.shape[:2] + y.shape[3:] for x, y in ((one.q, two.q), (one.k, two.k))
    )


def _near(one: Tensor, two: Tensor) -> bool:
    """Whether keys are of the same tokens: a cache may recompute them from less (DeepSeek), or store fewer bits."""
    wide, other = one.float(), two.float()
    if not wide.numel():  # only weights are known
        return True
    return float((wide - other).abs().max()) <= ROUNDED * float(wide.abs().max())


def _filled_part(sdpa: SdpaCall, keys: int) -> SdpaCall:
    """A call without the part of its buffer that is not filled yet."""
    if keys >= sdpa.k.shape[2]:
        return sdpa
    mask = None if sdpa.mask is None else sdpa.mask[..., :keys]
    return replace(sdpa, k=sdpa.k[:, :, :keys], v=sdpa.v[:, :, :keys], mask=mask)


def _cut(sdpa: SdpaCall, rows: int, keys: int) -> Tensor:
    """The mask of the first rows and keys; a boolean mask if there is none."""
    queries, had = min(rows, sdpa.q.shape[2]), min(keys, sdpa.k.shape[2])
    if sdpa.mask is None:
        return torch.ones(1, 1, queries, had, dtype=torch.bool)
    return sdpa.mask[:, :, :queries, :had]


def _stack_masks(before: Tensor, after: Tensor | None, keys: int, shift: int, sdpa: SdpaCall) -> Tensor:
    """Joins the masks of earlier and later rows: keys that a row did not have are masked."""
    if after is None:
        after = torch.ones(1, 1, sdpa.q.shape[2], sdpa.k.shape[2], dtype=torch.bool)
    if before.dtype != after.dtype:
        wide = next(mask.dtype for mask in (before, after) if mask.dtype != torch.bool)
        before, after = as_added(before, wide), as_added(after, wide)
    empty = False if before.dtype == torch.bool else HIDDEN
    before = F.pad(before, (0, keys - before.shape[-1]), value=empty)
    after = F.pad(after, (shift, keys - shift - after.shape[-1]), value=empty)
    batch, heads = (max(before.shape[axis], after.shape[axis]) for axis in (0, 1))
    return torch.cat([mask.expand(batch, heads, -1, -1) for mask in (before, after)], 2)

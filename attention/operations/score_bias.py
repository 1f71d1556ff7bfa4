"""What positions and forgetting add to scores: any part of it is written when it is needed.

Nothing has the size of the scores. Positions add a number that depends on the distance of a pair alone, so one line of numbers
per head has all of them. Forgetting adds differences of sums (see `forgetting`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.operations.forgetting import near_sums
from attention.operations.positions import POSITIONS

CELLS = 2**19  # of all heads that are computed together: two megabytes of float32


@dataclass(frozen=True, eq=False)
class ScoreBias:
    """The bias of some heads, for `queries` x `keys` pairs.

    `kept (h n)`: see `forgetting.retention`. `lines (h m)`: what positions add at each key - query, from 1 - `queries` on.
    """

    queries: int
    keys: int
    kept: Float[Tensor, "*h n"] | None = None
    lines: Float[Tensor, "*h m"] | None = None

    def __getitem__(self, heads: Any) -> ScoreBias:
        """Returns that of some heads, or of one."""
        kept, lines = (each if each is None else each[heads] for each in (self.kept, self.lines))
        return replace(self, kept=kept, lines=lines)

    def write(self, rows: slice, cols: slice, out: Float[Tensor, "*h r k"]) -> Float[Tensor, "*h r k"]:
        """Writes the part of these queries and keys into `out`."""
        if self.lines is None:
            return self._write_forgotten(rows, cols, out)
        first = cols.start - rows.stop + self.queries
        part = self.lines[..., first : first + rows.stop - rows.start + cols.stop - cols.start - 1]
        upwards = torch.arange(rows.stop - rows.start - 1, -1, -1)  # flip would store it column by column
        torch.index_select(part.unfold(-1, cols.stop - cols.start, 1), -2, upwards, out=out)
        return out if self.kept is None else out.add_(self._write_forgotten(rows, cols, torch.empty_like(out)))

    def _write_forgotten(self, rows: slice, cols: slice, out: Tensor) -> Tensor:
        assert self.kept is not None
        ref = self.kept[..., rows.start : rows.start + 1]
        left, right = (near_sums(self.kept[..., part], ref, out.dtype) for part in (rows, cols))
        torch.sub(left[..., :, None], right[..., None, :], out=out)
        out[..., max(0, rows.start + 1 - cols.start) :].abs_().neg_()  # before a query, sums only fall
        return out

    def square(self, dtype: torch.dtype = torch.float32) -> Float[Tensor, "*h q k"]:
        """Returns all of it, computed some rows at a time, which stay in a cache."""
        some = self.kept if self.kept is not None else self.lines
        assert some is not None
        heads = some.shape[:-1]
        found = torch.empty(*heads, self.queries, self.keys, dtype=dtype)
        height = max(1, CELLS // max(1, heads.numel() * self.keys))
        for first in range(0, self.queries, height):
            rows = slice(first, min(first + height, self.queries))
            self.write(rows, slice(0, self.keys), found[..., rows, :])
        return found


def position_lines(positions: str, queries: int, keys: int, heads: int) -> Float[Tensor, "h m"] | None:
    """Returns what positions add at each key - query, None if nothing."""
    to_scores = POSITIONS[positions].to_scores
    if to_scores is None:
        return None
    apart = torch.arange(1 - queries, keys)
    return to_scores((-apart).clamp(min=0), apart.clamp(min=0), torch.arange(heads)[:, None], heads)

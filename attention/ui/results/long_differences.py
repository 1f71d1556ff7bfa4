"""Results of the Heads page for two long sequences that are compared: B minus A, its parts, rows and numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from attention.charts import theme
from attention.comparison.head_changes import Changes
from attention.comparison.long_differences import subtract
from attention.comparison.pooling import Differences
from attention.comparison.row_numbers import HALF_L1, VARIATION
from attention.config import Config
from attention.maps.quadtree import Ends
from attention.pinned import Sides
from attention.sources.providers import distributes
from attention.tables import rows as tables
from attention.tables.rows import Row
from attention.ui.jobs import difference_jobs
from attention.ui.jobs.difference_jobs import DifferenceJob, Pairs
from attention.ui.results import long
from attention.ui.results.shared import run_shared

PER_HEAD = ("change", "a", "b", "in_a", "in_b", "place")  # fields of Differences with an axis of heads


def job(sides: Sides, visitor: str) -> DifferenceJob:
    """The job that compares both sides for a visitor; started if there is none."""
    return difference_jobs.ask(long.STUDIO, settings(sides), visitor)


def find(sides: Sides) -> DifferenceJob | None:
    """The job of both sides in any state; None if there is none."""
    return long.STUDIO.line.find(DifferenceJob, settings(sides))


def leave(visitor: str) -> None:
    """Makes a visitor leave their comparison."""
    long.STUDIO.line.leave_previous(DifferenceJob, visitor)


def settings(sides: Sides) -> tuple[Config, Config, Pairs]:
    """What the job of both sides is about."""
    pairs = sides.heads or tuple((head, head) for head in range(sides.b.heads))
    return sides.a.for_page(), sides.b.for_page(), pairs


def refusal(sides: Sides, visitor: str) -> str:
    """Why there is no room for the comparison; "" if there is."""
    return difference_jobs.refusal(long.STUDIO, settings(sides), visitor)


def every_head(found: DifferenceJob) -> Differences:
    """The differences of all heads of a finished job."""
    cells = [each.found.cells for each in found.heads]
    return replace(cells[0], **{name: torch.cat([getattr(each, name) for each in cells]) for name in PER_HEAD})


def part(sides: Sides, found: DifferenceJob, rows: Ends, cols: Ends) -> Differences:
    """The differences of a part of the selected heads, as fine as its pixels; those of all of it are known."""
    everything, head = (0, sides.b.tokens), found.pairs.index((sides.a.head, sides.b.head))
    if rows == cols == everything:
        return found.heads[head].found.cells

    def compute() -> Differences:
        return subtract(found.side(0, head), found.side(1, head), rows, cols, theme.PART).cells

    return run_shared(compute)


def changes(sides: Sides, found: DifferenceJob) -> Changes:
    """How much every head of B differs from that of A, from the sums of a finished job and the numbers of some rows.

    Of rows that are distributions, what is missing to one counts as one more key, whose difference is the sum of the others.
    """
    sums = torch.stack([each.found.sums for each in found.heads])
    both = distributes(sides.a) and distributes(sides.b)
    rows = {VARIATION: (sums[:, 0] + sums[:, 1].abs()) / 2} if both else {HALF_L1: sums[:, 0] / 2}
    rows |= {name: torch.stack([each.numbers[name] for each in found.heads]) for name in found.heads[0].numbers}
    seeing = (long.keys_seen(sides.a) > 0) | (long.keys_seen(sides.b) > 0)
    return Changes(rows, seeing.expand(sums[:, 0].shape), found.pairs)


def row_bars(sides: Sides, found: DifferenceJob, most: int) -> tuple[tuple[Row, Row], dict[str, list[Any]], int]:
    """The selected row of both sides, its columns in at most `most` bars, and the number of keys per bar.

    A bar has the largest difference of its keys, with both weights of that key.
    """
    a, b = (
        tables.describe_row(side, *run_shared(long.compute_row, side.for_page(), side.head, side.query_index, vectors))
        for side, vectors in zip(sides[:2], found.vectors, strict=True)
    )
    weights = {"a": a.keys["weight"], "b": b.keys["weight"]}
    change = (torch.tensor(weights["b"]) - torch.tensor(weights["a"])).tolist()
    columns = {"key": b.keys["key"], "token": b.keys["token"], "change": change} | weights
    return (a, b), *tables.bin_columns(columns, "change", most)

"""How much each head changed: the mean of its rows with their quartiles, and which head changed most, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.comparison.row_numbers import EVERY, HALF_L1, VARIATION, row_numbers
from attention.comparison.sides import Side
from attention.number_format import format_mean, format_percent

LISTED = 8  # maximum number of unchanged heads that are named
QUARTILES = (0.25, 0.75)
ALIKE = 1e-3  # of the largest change: heads whose changes differ by less are said to change alike


@dataclass(frozen=True, eq=False)
class Changes:
    """The numbers of two sides per head and row, `rows[name] (h q)`, over the rows that `counted (h q)`.

    A row counts if a key is visible to it on either side. Numbers that were computed for some rows alone are NaN in the
    others. `heads`: the numbers of the heads of A and of B in each pair.
    """

    rows: dict[str, Float[Tensor, "h q"]]
    counted: Bool[Tensor, "h q"]
    heads: tuple[tuple[int, int], ...]

    @property
    def measure(self) -> str:
        """The name of the number that says how much a head changed: total variation, or half of the L1 distance."""
        return VARIATION if VARIATION in self.rows else HALF_L1

    def mean(self, name: str) -> list[float]:
        """Returns the mean of a number over the rows of each head; of distances that have a sign, their magnitude."""
        rows = self.rows[name].abs() if name == "moved" else self.rows[name]
        known = self.counted & ~rows.isnan()
        return [float(row[some].mean()) if some.any() else 0.0 for row, some in zip(rows, known, strict=True)]

    def quartiles(self, head: int) -> tuple[float, float]:
        """Returns the lower and the upper quartile of the measure over the rows of a head; zeros if it has none."""
        rows = self.rows[self.measure][head][self.counted[head]]
        low, high = (
            torch.quantile(rows, torch.tensor(QUARTILES, dtype=rows.dtype)).tolist() if len(rows) else (0.0, 0.0)
        )
        return low, high


def compare_sides(a: Side, b: Side, heads: Sequence[tuple[int, int]] | None = None) -> Changes:
    """Returns how much the rows of B differ from those of A, of these pairs of heads, by default of equal numbers.

    Both sides need equally many queries and keys; `sides.why_not_comparable` says so in words.
    """
    pairs = (
        tuple(heads)
        if heads is not None
        else tuple((head, head) for head in range(min(len(a.weights), len(b.weights))))
    )
    if heads is not None or len(a.weights) != len(b.weights):
        a, b = a.of_heads([pair[0] for pair in pairs]), b.of_heads([pair[1] for pair in pairs])
    counted = (a.seeing | b.seeing).expand(a.size[:2])
    return Changes(row_numbers(a, b), counted, pairs)


def columns(found: Changes) -> dict[str, list[Any]]:
    """Returns the changes of every head as columns, the head that changed most first."""
    means = {name: found.mean(name) for name in EVERY if name in found.rows}
    order = sorted(range(len(found.heads)), key=lambda at: -means[found.measure][at])
    ends = [found.quartiles(at) for at in order]
    names = [pair_name(found.heads[at]) for at in order]
    quartiles = {"lower": [low for low, _ in ends], "upper": [high for _, high in ends]}
    kept = {name: [values[at] for at in order] for name, values in means.items()}
    first = {found.measure: kept.pop(found.measure)}
    return {"head": names} | first | quartiles | kept


def most_changed(found: Changes) -> int | None:
    """Returns the head of B that changed most; None if there is one alone, if none changed, or if all changed alike."""
    means = found.mean(found.measure)
    most = max(range(len(means)), key=means.__getitem__)
    is_one_of_many = len(means) > 1 and means[most] - min(means) > ALIKE * means[most]
    return found.heads[most][1] if is_one_of_many and _changes(found, most) else None


def sentence(found: Changes, selected: int | None = None) -> str:
    """Returns which head changed most and by how much, with the quartiles of its rows, and which did not change.

    `selected`: the head that a page shows. Then total variation is stated as the share of a row's weight that moved, without
    quartiles, and that of the selected head as well.
    """
    means = found.mean(found.measure)
    unchanged = [found.heads[at] for at in range(len(means)) if not _changes(found, at)]
    rows = int(found.counted.any(0).sum())
    if len(unchanged) == len(means):
        every = "Every weight of A and B is equal" if len(means) > 1 else f"{_name_heads(unchanged)} did not change"
        return f"{every} ({_count(rows, 'row')})."
    most = max(range(len(means)), key=means.__getitem__)
    shares = selected is not None and found.measure == VARIATION
    measure = f"{EVERY[found.measure].inside} {format_mean(means[most])} per row"
    if shares:
        measure = f"on average, {format_percent(means[most])} of a row's weight moved"
    if len(means) > 1 and means[most] - min(means) <= ALIKE * means[most]:
        over = "" if shares else f" ({_count(rows, 'row')})"
        return f"All {len(means)} heads changed alike: {measure}{over}."
    low, high = found.quartiles(most)
    counted = _count(int(found.counted[most].sum()), "row")
    over = "" if shares else f" ({format_mean(low)} to {format_mean(high)}, {counted})"
    led = f"Head {pair_name(found.heads[most])} changed{' most' * (len(means) > 1)}"
    text = f"{led}: {measure}{over}"
    shown = next((at for at, pair in enumerate(found.heads) if pair == (selected, selected)), most)
    if shares and shown != most and _changes(found, shown):
        text += f", and {format_percent(means[shown])} in head {selected}"
    return f"{text}; {_name_heads(unchanged, 'h')} did not change." if unchanged else f"{text}."


def _changes(found: Changes, at: int) -> bool:
    """Whether any weight of a pair of heads differs."""
    return bool(found.rows[found.measure][at].any())


def _name_heads(pairs: Sequence[tuple[int, int]], first: str = "H") -> str:
    """Returns heads by their numbers, as in `heads 0, 1 and 2`, or their count if they are many."""
    if len(pairs) > LISTED:
        return f"{len(pairs)} heads"
    *some, last = map(pair_name, pairs)
    return f"{first}ead{'s' * bool(some)} {', '.join(some)}{' and ' * bool(some)}{last}"


def pair_name(pair: tuple[int, int]) -> str:
    """Returns a pair of heads in words: its number if both have the same."""
    return f"{pair[0]}" if pair[0] == pair[1] else f"{pair[1]} of B against {pair[0]} of A"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"

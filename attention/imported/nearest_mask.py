"""Which rule of masks.py a mask is, or is nearest to: its name and span, padding, and the pairs in which the two differ.

Every rule is tried with the spans that the mask itself suggests, by itself and with keys hidden at the start or at the end as
padding is. Some rows choose among them, as a long mask has millions of pairs; the best few are compared pair by pair, in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention.masks import FIRST, MASKS, Rule
from attention.recorded.file import OWN, TOKENS

RULES: dict[str, Rule] = {**MASKS, "causal and documents": MASKS["causal"] & MASKS["documents"]}
ROWS = 48  # queries by which candidates are compared first
SAMPLE, PAIRS = (
    2**16,
    2**18,
)  # pairs of these queries, and pairs of a mask that are compared at once: a rule takes 8 bytes each
BEST = 6  # candidates that are compared pair by pair
NUMBER = 4  # pairs that a simpler rule may differ in more, for each number that it has less
FEW = 3  # queries with differences that are named one by one
RANGES = 4  # ranges of queries or keys in a sentence
NOTES = {
    "window": "each query sees itself and {0} before it: sliding_window={1} in transformers, window_size=({2}, 0) in "
    "flash-attn",
    "local": "each query sees itself and {0} on either side: window_size=({2}, {2}) in flash-attn",
    "sinks": "each query sees itself, {0} before it and the first four of all",
    "strided": "each query sees itself, {0} before it and every {1:,}th one farther back",
    "global": "each query sees itself, {0} on either side and the first one",
}


class Candidate(NamedTuple):
    """A rule with a span, with so many keys hidden at the start and at the end."""

    name: str
    span: int
    left: int = 0
    right: int = 0

    def square(self, rows: Int[Tensor, " i"], keys: int) -> Bool[Tensor, "i k"]:
        """Which pairs take part, of some queries."""
        cols = torch.arange(keys)
        there = (cols >= self.left) & (cols < keys - self.right)
        return RULES[self.name](rows[:, None], cols[None], keys, self.span) & there

    def count_differing(self, mask: Bool[Tensor, "q k"]) -> int:
        """In how many pairs a mask differs from it; some rows at a time, as a long mask has millions of pairs."""
        blocks = torch.arange(len(mask)).split(max(1, PAIRS // mask.shape[1]))
        return sum(int((self.square(rows, mask.shape[1]) != mask[rows]).sum()) for rows in blocks)


@dataclass(frozen=True, eq=False)
class Nearest:
    """The candidate that is nearest to a mask, and in how many pairs they differ."""

    found: Candidate
    mask: Bool[Tensor, "q k"]
    differing: int

    @property
    def extra(self) -> Bool[Tensor, "q k"]:
        """Pairs that the mask shows and the rule hides."""
        return self.mask & ~self.found.square(torch.arange(len(self.mask)), self.mask.shape[1])

    @property
    def missing(self) -> Bool[Tensor, "q k"]:
        """Pairs that the rule shows and the mask hides."""
        return ~self.mask & self.found.square(torch.arange(len(self.mask)), self.mask.shape[1])

    @property
    def rule(self) -> str:
        """The name in `MASKS` if the mask is exactly one of its rules, else ""."""
        alone = not self.found.left and not self.found.right and self.found.name in MASKS
        return self.found.name if alone and not self.differing else ""

    @property
    def name(self) -> str:
        """The rule in words: its span with what it counts, and padding."""
        name, span, left, right = self.found
        padded = [
            f"{many:,} hidden key{'s' * (many > 1)} at the {end}"
            for many, end in ((left, "start"), (right, "end"))
            if many
        ]
        more = f", with {' and '.join(padded)} (padding)" if padded else ""
        return f"{with_span(name, span)}{more}"

    @property
    def sentence(self) -> str:
        """Which rule it is, or which is nearest and where they differ."""
        if not self.differing:
            return f"This is {self.name}."
        return f"The nearest rule is {self.name}; it differs {self._where()}."

    def _where(self) -> str:
        extra, missing = self.extra, self.missing
        rows = (extra | missing).any(1).nonzero()[:, 0].tolist()
        if len(rows) <= FEW:
            return "in " + " and in ".join(f"query {row}, which {self._row(row)}" for row in rows)
        each = ((extra, "shows"), (missing, "hides"))
        said = " and ".join(f"{int(part.sum()):,} that this mask {does}" for part, does in each if part.any())
        return f"in {self.differing:,} pairs of {len(rows):,} queries ({ranges(rows, RANGES)}): {said}"

    def _row(self, row: int) -> str:
        each = ((self.extra, "also sees"), (self.missing, "does not see"))
        parts = [(does, part[row].nonzero()[:, 0].tolist()) for part, does in each]
        return " and ".join(f"{does} key{'s' * (len(keys) > 1)} {ranges(keys, RANGES)}" for does, keys in parts if keys)


def with_span(name: str, span: int) -> str:
    """A rule with its span and what that counts; the name alone if it has none."""
    rule = RULES[name]
    if not rule.span:
        return name
    note = NOTES[name].format(_keys(span - 1), span, span - 1) if name in NOTES else rule.span
    return f"{name}, span {span:,} ({note})"


def _keys(many: int) -> str:
    """So many keys, in words."""
    return {0: "no key", 1: "1 key"}.get(many, f"{many:,} keys")


def knobs(square: Bool[Tensor, "q k"]) -> dict[str, Any]:
    """The settings `mask` and `span` that give this mask; {} if it is no rule of `MASKS`."""
    return knobs_of(nearest(square))


def knobs_of(nearest: Nearest) -> dict[str, Any]:
    """The same of a mask whose nearest rule is known.

    Padding at the end of a sequence too long to be shown as a whole is none, as the first tokens alone end elsewhere.
    """
    rule = nearest.rule
    if not rule or (rule == "padding" and max(nearest.mask.shape) > TOKENS):
        return {}
    return {"mask": rule, "span": nearest.found.span if MASKS[rule].span else OWN["span"]}


def nearest(square: Bool[Tensor, "q k"]) -> Nearest:
    """The rule that differs from a mask in the fewest pairs; of several, one without padding, and the first of `MASKS`.

    A mask that is too long to be shown is only compared pair by pair with rules that fit all the queries chosen first.
    """
    queries, keys = square.shape
    many = min(queries, ROWS, max(2, SAMPLE // keys))
    rows = torch.linspace(0, queries - 1, many).round().long()
    differing = {each: int((each.square(rows, keys) != square[rows]).sum()) for each in _candidates(square)}
    tried = sorted(differing, key=lambda each: differing[each])[:BEST]  # stable
    if max(square.shape) > TOKENS:
        tried = [each for each in tried if not differing[each]] or tried[:1]
    found: list[Nearest] = []
    for each in tried:
        found.append(Nearest(each, square, each.count_differing(square)))
        if not found[-1].differing:
            break
    return min(found, key=lambda each: (_cost(each.found, each.differing), _order(each.found)))


def _cost(each: Candidate, differing: int) -> int:
    """The pairs in which a candidate differs, and some for each number that it was fitted by; 0 if it is the mask itself."""
    return differing and differing + NUMBER * (bool(RULES[each.name].span) + bool(each.left) + bool(each.right))


def _order(each: Candidate) -> tuple[int, int, int]:
    return (bool(each.left) + bool(each.right), [*RULES].index(each.name), each.span)


def _candidates(square: Bool[Tensor, "q k"]) -> list[Candidate]:
    """What to try, the simplest first."""
    spans = _spans(square)
    found = [
        Candidate(name, span, left, right)
        for left, right in _paddings(square)
        for name, rule in RULES.items()
        for span in (spans if rule.span else [1])
        if not (right and name == "padding")
    ]
    return sorted(found, key=_order)


def _paddings(square: Bool[Tensor, "q k"]) -> list[tuple[int, int]]:
    """Keys hidden at the start and at the end: from every query, or from the last one."""
    lefts, rights = {0}, {0}
    for line in (square.any(0), square[-1]):
        seen = line.nonzero()[:, 0]
        if len(seen):
            lefts.add(int(seen[0]))
            rights.add(square.shape[1] - 1 - int(seen[-1]))
    return [(left, right) for left in lefts for right in rights]


def _spans(square: Bool[Tensor, "q k"]) -> list[int]:
    """Spans that the rows of a mask suggest: keys that some query sees, alone or on either side of it, and those hidden."""
    keys = square.shape[1]
    counts = torch.cat(
        [rows.sum(1) for rows in square.split(max(1, PAIRS // keys))]
    )  # a sum takes 8 bytes for each pair
    last, middle = square[-1], int(counts[len(counts) // 2])
    run = int(last.flip(0).long().cumprod(0).sum())  # keys in sight at the end of the last row
    told = [*counts[:2].tolist(), middle, int(counts[-1]), int(counts.max()), int(counts.median())]
    told += [(middle + 1) // 2, int(counts[-1]) - FIRST, keys - int(counts.max()), run, *range(1, 4)]
    near = {each + by for each in told for by in (-1, 0, 1)}
    return sorted(each for each in near if 1 <= each <= max(square.shape))


def ranges(positions: list[int], most: int | None = None) -> str:
    """Ascending positions in words: 0 to 3, 7, 9 to 11; of more than so many ranges the first, and how many follow."""
    runs: list[list[int]] = []
    for at in positions:
        if runs and at == runs[-1][-1] + 1:
            runs[-1][1:] = [at]
        else:
            runs.append([at])
    said, rest = ", ".join(" to ".join(map(str, run)) for run in runs[:most]), runs[len(runs[:most]) :]
    return f"{said} and {len(rest):,} more such ranges" if rest else said

"""Finds the rule of masks.py nearest to a mask: its name, span and padding, and the pairs in which they differ.

Every rule is tried with the spans that the mask suggests, alone and with padding, keys masked at the start or at the
end. As a long mask has millions of pairs, candidates are first ranked by some of the rows; the best few are compared
pair by pair, in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention.array_files.deadline import check_deadline
from attention.masks import FIRST, MASKS, Rule
from attention.recorded.file import OWN, TOKENS

RULES: dict[str, Rule] = {**MASKS, "causal and documents": MASKS["causal"] & MASKS["documents"]}
ROWS = 48  # queries by which candidates are compared first
SAMPLE, PAIRS = (
    2**16,
    2**18,
)  # pairs of these queries; pairs compared at once, for which a rule takes 8 bytes each
BEST = 6  # candidates that are compared pair by pair
NUMBER = 4  # more differing pairs that a rule may have for each fitted number that it saves
FEW = 3  # queries with differences that are listed one by one
RANGES = 4  # ranges of queries or keys in a sentence
NOTES = {
    "window": "each query attends to itself and {0} before it: sliding_window={1} in transformers, window_size=({2}, 0) in "
    "flash-attn",
    "local": "each query attends to itself and {0} on either side: window_size=({2}, {2}) in flash-attn",
    "sinks": "each query attends to itself, {0} before it and the first four",
    "strided": "each query attends to itself, {0} before it and every {1:,}th one farther back",
    "global": "each query attends to itself, {0} on either side and the first one",
}


class Candidate(NamedTuple):
    """A rule with a span, and the number of keys masked at the start (`left`) and at the end (`right`)."""

    name: str
    span: int
    left: int = 0
    right: int = 0

    def square(self, rows: Int[Tensor, " i"], keys: int) -> Bool[Tensor, "i k"]:
        """Returns which pairs take part, for some of the queries."""
        cols = torch.arange(keys)
        there = (cols >= self.left) & (cols < keys - self.right)
        return RULES[self.name](rows[:, None], cols[None], keys, self.span) & there

    def count_differing(self, mask: Bool[Tensor, "q k"]) -> int:
        """Returns the number of pairs in which a mask differs, in blocks of rows, as a long mask has millions of pairs."""
        blocks = torch.arange(len(mask)).split(max(1, PAIRS // mask.shape[1]))
        return sum(int((self.square(rows, mask.shape[1]) != mask[rows]).sum()) for rows in blocks)


@dataclass(frozen=True, eq=False)
class Nearest:
    """The candidate nearest to a mask, and the number of pairs in which they differ."""

    found: Candidate
    mask: Bool[Tensor, "q k"]
    differing: int

    @property
    def extra(self) -> Bool[Tensor, "q k"]:
        """Pairs that take part in the mask and not in the rule."""
        return self.mask & ~self.found.square(torch.arange(len(self.mask)), self.mask.shape[1])

    @property
    def missing(self) -> Bool[Tensor, "q k"]:
        """Pairs that take part in the rule and not in the mask."""
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
            f"{many:,} masked key{'s' * (many > 1)} at the {end}"
            for many, end in ((left, "start"), (right, "end"))
            if many
        ]
        more = f", with {' and '.join(padded)} (padding)" if padded else ""
        return f"{with_span(name, span)}{more}"

    @property
    def sentence(self) -> str:
        """A sentence with the nearest rule, and how the mask differs from it."""
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
        each = ((self.extra, "also attends to"), (self.missing, "does not attend to"))
        parts = [(does, part[row].nonzero()[:, 0].tolist()) for part, does in each]
        return " and ".join(f"{does} key{'s' * (len(keys) > 1)} {ranges(keys, RANGES)}" for does, keys in parts if keys)


def with_span(name: str, span: int) -> str:
    """Returns the name of a rule with its span and what it counts; the name alone if it has no span."""
    rule = RULES[name]
    if not rule.span:
        return name
    note = NOTES[name].format(_keys(span - 1), span, span - 1) if name in NOTES else rule.span
    return f"{name}, span {span:,} ({note})"


def _keys(many: int) -> str:
    """Returns a number of keys in words."""
    return {0: "no key", 1: "1 key"}.get(many, f"{many:,} keys")


def knobs(square: Bool[Tensor, "q k"]) -> dict[str, Any]:
    """Returns the knobs `mask` and `span` that give this mask; {} if it is no rule of `MASKS`."""
    return knobs_of(nearest(square))


def knobs_of(nearest: Nearest) -> dict[str, Any]:
    """Returns the same for a mask whose nearest rule is known.

    Returns {} for padding of a sequence too long to be shown as a whole, as its first tokens have no padding at their end.
    """
    rule = nearest.rule
    if not rule or (rule == "padding" and max(nearest.mask.shape) > TOKENS):
        return {}
    return {"mask": rule, "span": nearest.found.span if MASKS[rule].span else OWN["span"]}


def nearest(square: Bool[Tensor, "q k"]) -> Nearest:
    """Returns the rule of lowest `_cost`, which is nearest to a mask; among equals, one without padding, the first of `RULES`.

    A mask that is too long to be shown is compared pair by pair only with rules that fit all sampled queries, or if
    there is none, with the best one.
    """
    queries, keys = square.shape
    many = min(queries, ROWS, max(2, SAMPLE // keys))
    rows = torch.linspace(0, queries - 1, many).round().long()
    differing = {each: int((each.square(rows, keys) != square[rows]).sum()) for each in _candidates(square)}
    tried = sorted(differing, key=lambda each: differing[each])[:BEST]  # a stable sort
    if max(square.shape) > TOKENS:
        tried = [each for each in tried if not differing[each]] or tried[:1]
    found: list[Nearest] = []
    for each in tried:
        check_deadline()
        found.append(Nearest(each, square, each.count_differing(square)))
        if not found[-1].differing:
            break
    return min(found, key=lambda each: (_cost(each.found, each.differing), _order(each.found)))


def _cost(each: Candidate, differing: int) -> int:
    """Returns the number of differing pairs, plus NUMBER for each fitted number of a candidate; 0 if nothing differs."""
    return differing and differing + NUMBER * (bool(RULES[each.name].span) + bool(each.left) + bool(each.right))


def _order(each: Candidate) -> tuple[int, int, int]:
    return (bool(each.left) + bool(each.right), [*RULES].index(each.name), each.span)


def _candidates(square: Bool[Tensor, "q k"]) -> list[Candidate]:
    """Returns the candidates to try, the simplest first."""
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
    """Returns the numbers of keys masked at the start and at the end: for all queries, or for the last one."""
    lefts, rights = {0}, {0}
    for line in (square.any(0), square[-1]):
        seen = line.nonzero()[:, 0]
        if len(seen):
            lefts.add(int(seen[0]))
            rights.add(square.shape[1] - 1 - int(seen[-1]))
    return [(left, right) for left in lefts for right in rights]


def _spans(square: Bool[Tensor, "q k"]) -> list[int]:
    """Returns spans that a mask suggests: from the visible keys of some rows, on one or both sides, and the masked keys."""
    keys = square.shape[1]
    counts = torch.cat([rows.sum(1) for rows in square.split(max(1, PAIRS // keys))])  # a sum takes 8 bytes per pair
    last, middle = square[-1], int(counts[len(counts) // 2])
    run = int(last.flip(0).long().cumprod(0).sum())  # visible keys at the end of the last row
    told = [*counts[:2].tolist(), middle, int(counts[-1]), int(counts.max()), int(counts.median())]
    told += [(middle + 1) // 2, int(counts[-1]) - FIRST, keys - int(counts.max()), run, *range(1, 4)]
    near = {each + by for each in told for by in (-1, 0, 1)}
    return sorted(each for each in near if 1 <= each <= max(square.shape))


def ranges(positions: list[int], most: int | None = None) -> str:
    """Returns ascending positions in words, for example “0 to 3, 7, 9 to 11”; at most `most` ranges, and how many follow."""
    runs: list[list[int]] = []
    for at in positions:
        if runs and at == runs[-1][-1] + 1:
            runs[-1][1:] = [at]
        else:
            runs.append([at])
    said, rest = ", ".join(" to ".join(map(str, run)) for run in runs[:most]), runs[len(runs[:most]) :]
    return f"{said} and {len(rest):,} more ranges" if rest else said

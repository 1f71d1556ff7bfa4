"""How far an output can depend on its input through a mask, after some layers, at any length.

One layer passes on what its mask lets through, and the residual connection what was there: the relation after L layers
is the L-th boolean power of (mask or identity). Only its farthest entries are asked for, so a power need not be
computed: the farthest of a query is the farthest of the keys that it sees, from layer to layer. A layer goes through the
squares of the rule (attention/maps/quadtree.py), and most rules need one alone.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor

from attention.maps.quadtree import Squares, squares
from attention.masks import Rule

PADDING = torch.iinfo(torch.int32).max  # what is no key


def reach(rule: Rule, tokens: int, span: int, layers: int) -> tuple[int, int]:
    """How far back and how far ahead, in tokens, the farthest lies that any output can depend on after some layers."""
    at = torch.arange(tokens, dtype=torch.int32)
    return _farthest(rule, span, at, layers), _farthest(rule, span, at.flip(0), layers)


def _farthest(rule: Rule, span: int, ranks: Int[Tensor, " n"], layers: int) -> int:
    """The greatest distance between a query and the token of the lowest rank that it depends on after some layers."""
    return int((ranks - _least(rule, span, ranks, layers)).max())


def _least(rule: Rule, span: int, ranks: Int[Tensor, " n"], layers: int) -> Int[Tensor, " n"]:
    """The lowest rank of a token that each query depends on after some layers; stops when no layer brings more.

    Ranks count from one end or the other, so that a token's rank also names the token of this rank. Where one layer keeps
    their order, the lowest that a query sees is the one that depends on the lowest, and no other need be asked.
    """
    found = once = _layer(rule, span, ranks)
    in_turn = once[ranks]
    ordered = bool((in_turn.diff() >= 0).all())
    for _ in range(layers - 1):
        if not found[ranks[-1]]:  # from one end to the other: nothing is farther
            break
        before, found = found, in_turn[found] if ordered else _layer(rule, span, found)
        if torch.equal(before, found):
            break
    return found


def _layer(rule: Rule, span: int, values: Int[Tensor, " n"]) -> Int[Tensor, " n"]:
    """The least value of the keys that each query sees, and of itself."""
    n = len(values)
    least, padded = torch.cat([values, values[:1]]), torch.cat([values, values.new_full((1,), PADDING)])
    for part in squares(rule, n, span, (0, n), (0, n)):
        down, across = (part.first[:, :, None] + torch.arange(part.side)).clamp(max=n)
        for some, found in _of_squares(part, padded[across]):
            least.scatter_reduce_(0, down[some].flatten(), found.flatten(), "amin")
    return least[:-1]


def _of_squares(part: Squares, values: Int[Tensor, "m s"]) -> list[tuple[Tensor, Int[Tensor, "i s"]]]:
    """Some of the squares after others, and the least values that their queries see, given those of their keys."""
    if part.seen.ndim == 3:
        return [(torch.arange(len(values)), torch.where(part.seen, values[:, None], PADDING).amin(2))]
    alike = defaultdict(list)
    for at, line in enumerate(np.packbits(part.seen.numpy(), axis=1, bitorder="little")):
        alike[line.tobytes()].append(at)
    lines = ((torch.tensor(some), int.from_bytes(line, "little")) for line, some in alike.items() if any(line))
    return [(some, _of_line(line, values[some])) for some, line in lines]


def _of_line(line: int, values: Int[Tensor, "i s"]) -> Int[Tensor, "i s"]:
    """The least values that queries see by what is said of each difference; of the first query the last ones count."""
    side, low = values.shape[1], (line & -line).bit_length() - 1
    around = F.pad(values, (side - 1, side - 1), value=PADDING)
    return sliding_minimum(line >> low, around[:, low : line.bit_length() - 1 + side], side)


def sliding_minimum(pattern: int, values: Int[Tensor, "i w"], many: int) -> Int[Tensor, "i m"]:
    """From each of the first places on, the least of the values that stand at the pattern's bits.

    The pattern is halved until a bit is left, and what halves have in common is computed once: a mask repeats itself.
    """
    size = 1 << max(0, pattern.bit_length() - 1).bit_length()
    levels = [{pattern}]
    while size > 1:
        size //= 2
        levels.append({half for whole in levels[-1] for half in _halves(whole, size) if half})
    found = dict.fromkeys(levels.pop(), values)
    for patterns in reversed(levels):
        found = {whole: _join_halves(whole, found, size) for whole in patterns}
        size *= 2
    return found[pattern][:, :many]


def _halves(whole: int, size: int) -> tuple[int, int]:
    return whole & ((1 << size) - 1), whole >> size


def _join_halves(whole: int, found: dict[int, Int[Tensor, "i w"]], size: int) -> Int[Tensor, "i v"]:
    """What a pattern leaves, given what its halves do, the second of them so many places on."""
    parts = [found[half][:, on:] for half, on in zip(_halves(whole, size), (0, size), strict=True) if half]
    return parts[0] if len(parts) == 1 else torch.minimum(parts[0][:, : parts[1].shape[1]], parts[1])

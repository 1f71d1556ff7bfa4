"""How far an output can depend on the input through a mask after some layers, at any length.

A layer passes on what its mask leaves visible, and the residual connection passes on the token itself: the dependencies
after L layers are the L-th boolean power of (mask or identity). Only its farthest entries are needed, so the power is not
computed: from layer to layer, the farthest token of a query is the farthest of those of its visible keys. A layer goes
through the squares of the rule (attention/maps/quadtree.py); for most rules one layer is enough.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor

from attention.maps.quadtree import Squares, squares
from attention.masks import Rule

PADDING = torch.iinfo(torch.int32).max  # in place of a key that does not exist or is masked


def reach(rule: Rule, tokens: int, span: int, layers: int) -> tuple[int, int]:
    """Returns how far back and how far ahead, in tokens, any output can depend on the input after `layers` layers."""
    at = torch.arange(tokens, dtype=torch.int32)
    return _farthest(rule, span, at, layers), _farthest(rule, span, at.flip(0), layers)


def dependency_chain(visible: Bool[Tensor, "n n"], layers: int) -> list[int]:
    """Returns the shortest chain from the last query to the earliest token that it depends on after `layers` layers.

    The chain begins with the query; each next token is a visible key of the one before. It is the query alone if none of
    its keys is earlier.
    """
    last = len(visible) - 1
    after, found = {last: last}, [last]
    for _ in range(layers):
        before, found = found, []
        for q in before:
            new = [k for k in visible[q].nonzero()[:, 0].tolist() if k not in after]
            after |= dict.fromkeys(new, q)
            found += new
    chain = [min(after)]
    while chain[-1] != last:
        chain.append(after[chain[-1]])
    return chain[::-1]


def _farthest(rule: Rule, span: int, ranks: Int[Tensor, " n"], layers: int) -> int:
    """Returns the largest distance between a query and the lowest-ranked token that it depends on after `layers` layers."""
    return int((ranks - _least(rule, span, ranks, layers)).max())


def _least(rule: Rule, span: int, ranks: Int[Tensor, " n"], layers: int) -> Int[Tensor, " n"]:
    """Returns the lowest rank that each query depends on after `layers` layers; stops early if a layer changes nothing.

    Ranks count from either end, so the rank of a token is also the index of the token with that rank. If one layer keeps
    their order, the lowest-ranked visible key is also the one that depends on the lowest rank, and others are skipped.
    """
    found = once = _layer(rule, span, ranks)
    in_turn = once[ranks]
    ordered = bool((in_turn.diff() >= 0).all())
    for _ in range(layers - 1):
        if not found[ranks[-1]]:  # the dependency spans the whole sequence and can't grow
            break
        before, found = found, in_turn[found] if ordered else _layer(rule, span, found)
        if torch.equal(before, found):
            break
    return found


def _layer(rule: Rule, span: int, values: Int[Tensor, " n"]) -> Int[Tensor, " n"]:
    """Returns the smallest value of each query's visible keys and of itself."""
    n = len(values)
    least, padded = torch.cat([values, values[:1]]), torch.cat([values, values.new_full((1,), PADDING)])
    for part in squares(rule, n, span, (0, n), (0, n)):
        down, across = (part.first[:, :, None] + torch.arange(part.side)).clamp(max=n)
        for some, found in _of_squares(part, padded[across]):
            least.scatter_reduce_(0, down[some].flatten(), found.flatten(), "amin")
    return least[:-1]


def _of_squares(part: Squares, values: Int[Tensor, "m s"]) -> list[tuple[Tensor, Int[Tensor, "i s"]]]:
    """Returns batches of squares, each with the smallest values that its queries see, given the values of the keys."""
    if part.seen.ndim == 3:
        return [(torch.arange(len(values)), torch.where(part.seen, values[:, None], PADDING).amin(2))]
    alike = defaultdict(list)
    for at, line in enumerate(np.packbits(part.seen.numpy(), axis=1, bitorder="little")):
        alike[line.tobytes()].append(at)
    lines = ((torch.tensor(some), int.from_bytes(line, "little")) for line, some in alike.items() if any(line))
    return [(some, _of_line(line, values[some])) for some, line in lines]


def _of_line(line: int, values: Int[Tensor, "i s"]) -> Int[Tensor, "i s"]:
    """Returns the smallest visible value per query. `line` has one bit per difference k - q, counted from 1 - side."""
    side, low = values.shape[1], (line & -line).bit_length() - 1
    around = F.pad(values, (side - 1, side - 1), value=PADDING)
    return sliding_minimum(line >> low, around[:, low : line.bit_length() - 1 + side], side)


def sliding_minimum(pattern: int, values: Int[Tensor, "i w"], many: int) -> Int[Tensor, "i m"]:
    """Returns, for each of the first `many` positions, the smallest value at the pattern's bits from there on.

    The pattern is halved down to single bits, and equal halves are computed once, as masks are repetitive.
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
    """Returns the minima of a pattern from those of its halves, the second of which starts `size` positions later."""
    parts = [found[half][:, on:] for half, on in zip(_halves(whole, size), (0, size), strict=True) if half]
    return parts[0] if len(parts) == 1 else torch.minimum(parts[0][:, : parts[1].shape[1]], parts[1])

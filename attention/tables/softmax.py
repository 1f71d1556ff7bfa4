"""Tables of the Softmax page: steps of a row, cumulative weight, all rows of a head, number types.

Tables are columns of plain lists, as in `tables.rows`.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool
from torch import Tensor

from attention.analysis.distribution import Distribution, edges
from attention.analysis.number_types import DTYPES, OVERFLOWS, Rounded, limits
from attention.analysis.row_stages import (
    FIRST,
    OPERAND,
    SECOND,
    Stages,
    ranks,
    shown_stages,
    smallest,
    variant_name,
    variants,
)
from attention.analysis.row_stages import mass as held_share
from attention.analysis.scaling import Point
from attention.config import Config
from attention.tables.rows import key_labels

POINTS = 2048  # maximum number of points for the entropies of all heads
TIE = 0.01  # relative difference up to which two bars look equal
LEAST_TALL = 0.04  # smallest height of a bar, of the row's, so that one pair among a million is visible


def stages(found: Stages, order: str) -> dict[str, list[Any]]:
    """Returns a row's steps as columns, one line per key: place (in the order drawn), key, token, visible, set, and each step.

    `order`: "position", or "weight" for the largest first; `set`: the smallest of `row_stages.SHARES` whose set of
    heaviest keys contains the key, or one of the same weight. A masked logit is None, and so is its operand.
    """
    config, rank = found.config, ranks(found.weights)
    names = key_labels(config) or [str(i) for i in range(config.n_keys)]
    place = rank if order == "weight" else torch.arange(config.n_keys)
    in_set = _sets(found.weights)
    logits, operand = (
        [value if seen else None for value, seen in zip(each.tolist(), found.visible.tolist(), strict=True)]
        for each in (found.logits, found.operand)
    )
    return {
        "place": place.tolist(),
        "key": list(range(config.n_keys)),
        "token": names,
        "visible": found.visible.tolist(),
        "set": in_set,
        "dots": found.dots.tolist(),
        "scaled": found.scaled.tolist(),
        "logits": logits,
        **({OPERAND: operand} if OPERAND in shown_stages(config) else {}),
        **({} if found.first is None else {FIRST: found.first.tolist()}),
        **({} if found.second is None else {SECOND: found.second.tolist()}),
        "weights": found.weights.tolist(),
    }


def _sets(weights: Tensor) -> list[str]:
    """Returns the first of the sets of heaviest keys that every key belongs to; nearly equal weights share one."""
    sizes = weights.abs()
    least = {
        f"{share:.0%}": float(sizes.sort(descending=True).values[size - 1])
        for share, size in smallest(weights).items()
        if size
    }
    return [next((name for name, low in least.items() if size >= low * (1 - TIE)), "rest") for size in sizes.tolist()]


def mass(found: Stages) -> dict[str, list[Any]]:
    """Returns what the 0, 1, 2, … heaviest keys hold together as columns: count, held, and holds (shares first reached there)."""
    sizes = smallest(found.weights)
    held = [0.0, *held_share(found.weights).tolist()]
    least = [
        ", ".join(f"{share:.0%}" for share, size in sizes.items() if size == count and count)
        for count in range(len(held))
    ]
    return {"count": list(range(len(held))), "held": held, "holds": [names or None for names in least]}


def variant_rows(found: Stages) -> tuple[tuple[str, ...], dict[str, list[Any]]]:
    """Returns the row with its own softmax and with every other: their names, and the columns of `stages` with v0, v1, …"""
    own, each = variant_name(found.config.softmax), variants(found)
    rows = {own: found.weights} | {name: weights for name, weights in each.items() if name != own}
    columns = stages(found, found.config.order)
    return tuple(rows), columns | {f"v{i}": weights.tolist() for i, weights in enumerate(rows.values())}


def drawn_labels(columns: dict[str, list[Any]], config: Config) -> tuple[str, ...]:
    """Returns the tokens in the order in which `stages` draws them; () if the input has no texts."""
    placed = sorted(zip(columns["place"], columns["token"], strict=True))
    return tuple(token for _, token in placed) if key_labels(config) else ()


def differences(found: Rounded, mask: Bool[Tensor, "q k"], side: int) -> tuple[Tensor, Tensor, int]:
    """Returns a head's differences, at most `side` cells per side `(p r)`, where they are NaN `(p r)`, and tokens per cell.

    A cell of several pairs has the largest of their differences, with its sign; NaN if all are masked.
    """
    broken = found.difference.isnan() & mask
    size = found.difference.abs().masked_fill(broken, torch.inf).masked_fill(~mask, -1)
    tile = -(-max(mask.shape) // side)
    top, at = F.max_pool2d(size[None], tile, ceil_mode=True, return_indices=True)
    cells = found.difference.flatten()[at[0]].masked_fill(top[0] < 0, torch.nan)
    return cells, top[0] == torch.inf, tile


def histogram(found: Distribution) -> dict[str, list[Any]]:
    """Returns how often each size of a weight occurs as columns, one line for each head and bin that is not empty.

    head, low and high (the borders of a bin), pairs, share (of the head's visible pairs), and tall: the share relative
    to the largest of all heads, at least `LEAST_TALL`.
    """
    total = int(found.seen.sum())
    share = found.counts / max(total, 1)
    heads, bins = found.counts.nonzero(as_tuple=True)
    borders = torch.tensor(edges(), dtype=torch.float64)
    shown = share[heads, bins]
    return {
        "head": heads.tolist(),
        "low": borders[bins].tolist(),
        "high": borders[bins + 1].tolist(),
        "pairs": found.counts[heads, bins].tolist(),
        "share": shown.tolist(),
        "tall": (shown / share.max().clamp(min=1e-30)).clamp(min=LEAST_TALL).tolist() if total else [],
    }


def entropies(found: Distribution, heads: int) -> dict[str, list[Any]]:
    """Returns the entropy of every query of every head as columns: head, query, low, mean, high, and most (its bound).

    Beyond `POINTS` points, each line represents several queries: their smallest, mean and largest entropy. Fully masked
    rows are left out.
    """
    queries = len(found.seen)
    tile = -(-queries // max(POINTS // heads, 8))
    entropy = found.entropy.masked_fill(found.seen == 0, torch.nan)
    padded = F.pad(entropy, (0, -queries % tile), value=torch.nan).unflatten(-1, (-1, tile))
    most = F.pad(found.bound, (0, -queries % tile)).view(-1, tile).amax(-1)
    low = padded.nan_to_num(torch.inf).amin(-1)
    high = padded.nan_to_num(-torch.inf).amax(-1)
    rows, at = low.isfinite().nonzero(as_tuple=True)
    return {
        "head": rows.tolist(),
        "query": (at * tile).tolist(),
        "low": low[rows, at].tolist(),
        "mean": padded.nanmean(-1)[rows, at].tolist(),
        "high": high[rows, at].tolist(),
        "most": most[at].tolist(),
    }


def curves(points: list[tuple[Point, Point]], now: Point) -> dict[str, list[Any]]:
    """Returns the sweep over the widths and the current setting as columns: one line per point, with its `kind`."""
    kinds = [("no scaling", raw) for raw, _ in points] + [("1/sqrt(d_head)", divided) for _, divided in points]
    lines = [{"kind": kind} | vars(point) for kind, point in [*kinds, ("now", now)]]
    return {name: [line[name] for line in lines] for name in lines[0]}


def types(found: list[Rounded]) -> dict[str, list[Any]]:
    """Returns the results of a head in every number type as columns, one line for each type and way to compute it."""
    names = ("dtype", "exponent", "error", "row_sum", "worst", "broken", *OVERFLOWS)
    return {name: [getattr(each, name) for each in found] for name in names}


def ends() -> dict[str, list[Any]]:
    """Returns the limits of every number type, as columns."""
    each = {name: limits(name) for name in DTYPES}
    names = ("largest", "step", "overflows", "vanishes")
    return {"dtype": list(each)} | {name: [getattr(limit, name) for limit in each.values()] for name in names}


def worst_row(found: Rounded) -> dict[str, list[Any]]:
    """Returns the row with the largest error as columns: key, weight, the exact weight, and the difference."""
    difference = found.difference[found.worst].double()
    return {
        "key": list(range(len(found.row))),
        "weight": found.row.tolist(),
        "exact": (found.row - difference).tolist(),
        "difference": difference.tolist(),
    }

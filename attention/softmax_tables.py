"""The tables of the Softmax page: a row's steps, what it holds, all rows of a head, differences of number types.

Columns of plain lists, as in `tables`.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool
from torch import Tensor

from attention.config import Config
from attention.precision import Rounded
from attention.stages import Stages, ranks, smallest, variants
from attention.stages import mass as held_share
from attention.tables import labels


def stages(found: Stages, order: str) -> dict[str, list[Any]]:
    """A row's steps as columns, a line a key: place (in the order drawn), key, token, visible, set, and each step.

    `order`: "position", or "weight" for the heaviest first; `set`: the smallest of `stages.SHARES` whose set of heaviest
    keys the key is in. A logit that the mask hides is None.
    """
    config, rank = found.config, ranks(found.weights)
    names = labels(config) or [str(i) for i in range(config.tokens)]
    place = rank if order == "weight" else torch.arange(config.tokens)
    sets = smallest(found.weights)
    in_set = [next((f"{share:.0%}" for share, size in sets.items() if at < size), "rest") for at in rank.tolist()]
    logits = [
        value if seen else None for value, seen in zip(found.logits.tolist(), found.visible.tolist(), strict=True)
    ]
    return {
        "place": place.tolist(),
        "key": list(range(config.tokens)),
        "token": names,
        "visible": found.visible.tolist(),
        "set": in_set,
        "dots": found.dots.tolist(),
        "scaled": found.scaled.tolist(),
        "logits": logits,
        "weights": found.weights.tolist(),
    }


def mass(found: Stages) -> dict[str, list[Any]]:
    """What the 0, 1, 2, … heaviest keys hold together as columns: count, held, and holds: the shares they are least for."""
    sizes = smallest(found.weights)
    held = [0.0, *held_share(found.weights).tolist()]
    least = [
        ", ".join(f"{share:.0%}" for share, size in sizes.items() if size == count and count)
        for count in range(len(held))
    ]
    return {"count": list(range(len(held))), "held": held, "holds": [names or None for names in least]}


def variant_rows(found: Stages) -> tuple[tuple[str, ...], dict[str, list[Any]]]:
    """The row under every softmax: their names, and the columns of `stages` with v0, v1, … for their weights."""
    each = variants(found)
    columns = stages(found, found.config.order)
    return tuple(each), columns | {f"v{i}": weights.tolist() for i, weights in enumerate(each.values())}


def drawn_labels(columns: dict[str, list[Any]], config: Config) -> tuple[str, ...]:
    """The tokens in the order in which `stages` draws them; () where the input is no text."""
    placed = sorted(zip(columns["place"], columns["token"], strict=True))
    return tuple(token for _, token in placed) if labels(config) else ()


def differences(found: Rounded, mask: Bool[Tensor, "q k"], side: int) -> tuple[Tensor, Tensor, int]:
    """A head's differences with at most `side` cells a side `(p p)`, where it is no number `(p p)`, and tokens a cell.

    Where a cell has several pairs, it has the greatest difference of them with its sign; NaN where the mask hides all.
    """
    broken = found.difference.isnan() & mask
    size = found.difference.abs().masked_fill(broken, torch.inf).masked_fill(~mask, -1)
    tile = -(-len(mask) // side)
    top, at = F.max_pool2d(size[None], tile, ceil_mode=True, return_indices=True)
    cells = found.difference.flatten()[at[0]].masked_fill(top[0] < 0, torch.nan)
    return cells, top[0] == torch.inf, tile

"""What the Steps page asks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from torch import Tensor

from attention.config import KNOBS, Config, fitted
from attention.machine.lanes import Work
from attention.steps.values import bytes_of, difference, pairs, values
from attention.ui.budget import BUDGET, refused
from attention.ui.compute.owner import KEPT, counted, lane, told
from attention.wire.matrix_cells import Matrix
from attention.wire.matrix_cells import drawn as sent

FEWEST = int(KNOBS["tokens"].low or 0)
PAGE = "Steps"  # whose knobs these results are kept by
ALL_HEADS = 2**20  # weights of all heads up to which the steps of all are kept, of more those of one head


def refusal(config: Config) -> tuple[str, Config] | None:
    """Why there is no room for all steps on this host, and the largest that there is room for; None where they fit."""
    needed, smaller = bytes_of(config.on(PAGE)), config
    if needed <= BUDGET.most:
        return None
    while bytes_of(smaller.on(PAGE)) > BUDGET.most and smaller.d_model > smaller.heads and smaller.tokens > FEWEST:
        if smaller.d_v:
            less = {"d_v": 0}
        elif bytes_of(replace(smaller, tokens=FEWEST, keys=0).on(PAGE)) > BUDGET.most / 2:
            less = {"d_model": smaller.d_model * 3 // 4}
        else:
            less = {"tokens": smaller.tokens * 3 // 4, "keys": smaller.keys * 3 // 4}
        smaller = Config(**fitted(vars(smaller) | less))
    return refused("Every step of these settings", needed, 0), smaller


def matrices(config: Config, names: tuple[str, ...]) -> list[Matrix]:
    """What these steps of the pass show, with the other sequence and the width of values that the Steps page has."""
    return _matrices(config.on(PAGE), config.head, names)


def torch_difference(config: Config) -> float:
    """How far the context of cross-attention, or of values of another width, is from PyTorch's."""
    return _difference(config.on(PAGE))


def blind(config: Config) -> int:
    """How many queries see no key, of the sequence that the Steps page has."""
    return int((~pairs(config.on(PAGE)).any(-1)).sum())


def _matrices(config: Config, head: int, names: tuple[str, ...]) -> list[Matrix]:
    few = config.heads * config.tokens * (config.keys or config.columns) <= ALL_HEADS
    found = _values.begin(config, None if few else head)
    told(found, "Computing every step of the pass …")
    given = replace(config, head=head)
    size = bytes_of(config)
    return KEPT.ask(
        ("matrices", given, names),
        lambda: lane(size).after(found, counted(size, lambda made: sent(given, made, names))),
    ).result()


@KEPT
def _values(config: Config, head: int | None) -> Work[dict[str, Tensor]]:
    size = bytes_of(config)
    return lane(size).submit(counted(size, values), config, slice(None) if head is None else slice(head, head + 1))


@KEPT
def _difference(config: Config) -> Work[float]:
    size = bytes_of(config)
    return lane(size).after(_values.begin(config, 0), counted(size, partial(difference, config)))

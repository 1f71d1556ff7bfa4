"""Which steps of two passes, A and B, have a difference, and which are equal.

A pass may skip an operation that the other has: then the matrix is that before the operation, and without a mask all pairs are
visible. So scaled scores are compared with those of a pass without a scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from attention.config import Config
from attention.operations.table import TABLE
from attention.sources.spec import lengths
from attention.steps.plan import by_name
from attention.steps.step import Step
from attention.steps.values import pairs

MASK = "mask"
Configs = tuple[Config, Config]
Found = tuple[dict[str, Tensor], dict[str, Tensor]]


def plans(configs: Configs) -> tuple[dict[str, Step], dict[str, Step]]:
    """Returns the steps of A and of B by name; for the steps of B that A skips, those of A have the step before them."""
    before, after = map(by_name, configs)
    newest, skipped = {}, {}
    for operation in TABLE:
        if operation.name in before:
            newest[operation.version_of] = before[operation.name]
        elif operation.name in after and operation.updates in newest:
            skipped[operation.name] = newest[operation.updates]
    if MASK in after and MASK not in before:
        sizes = lengths(configs[0])
        skipped[MASK] = replace(after[MASK], sizes=(sizes["q"], sizes["k"]))
    return before | skipped, after


def comparable(configs: Configs, alone: bool) -> list[str]:
    """Returns the steps of B that A has as well, with as many rows and columns.

    Heads are as many on both sides, unless the selected head of each is compared `alone`.
    """
    before, after = plans(configs)

    def size(step: Step) -> tuple[int, ...]:
        return step.shape[1:] if step.by_head and alone else step.shape

    return [name for name, step in after.items() if name in before and size(before[name]) == size(step)]


def value_of_a(config: Config, plan: Mapping[str, Step], found: Mapping[str, Tensor], name: str) -> Tensor:
    """Returns a matrix of A, of a step that B has. `plan`: that of A by `plans`; `found`: the result of `steps.values.values`."""
    if name == MASK and name not in found:
        return pairs(config)
    return found[plan[name].name]


def own_head(config: Config, step: Step) -> int:
    """Returns the number of the matrix of the selected head, among key-value heads where heads share keys and values."""
    return config.head * step.shape[0] // config.heads


def equal_steps(configs: Configs, found: Found, alone: bool) -> list[str]:
    """Returns the steps of B whose numbers are exactly those of A, of the heads that are compared.

    `found`: the results of `steps.values.values` for both configs.
    """

    def heads_of(config: Config, step: Step, value: Tensor) -> Tensor:
        if not (step.by_head and alone) or len(value) < step.shape[0]:
            return value
        head = own_head(config, step)
        return value[head : head + 1]

    before, after = plans(configs)
    return [
        name
        for name in comparable(configs, alone)
        if torch.equal(
            heads_of(configs[0], before[name], value_of_a(configs[0], before, found[0], name)),
            heads_of(configs[1], after[name], found[1][name]),
        )
    ]

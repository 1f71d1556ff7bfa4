"""Derives from the names of modules which are layers of attention, their kind, and their number in the model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from torch import nn

CLASS = re.compile(r"atten|attn|multihead|mha\b", re.IGNORECASE)  # in the class name of a layer of attention
PLACE = re.compile(r"(?:^|_)(?:attn|attention|mha)\d*$", re.IGNORECASE)  # the end of its name in the module around it
LINEAR = re.compile(r"linear_?att|deltanet|mamba|rwkv|retention|recurren|hyena", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
OWN_WAY = (
    "it ran, and made no call of attention that can be seen: it may multiply by itself, or call a kernel directly. Weights that "
    "it returns are seen: call the model with output_attentions=True, if it has that"
)
NO_PAIRS = (
    "it mixes tokens by a recurrence (linear attention or a state space), which has no weights for pairs of tokens"
)


def is_attention(name: str, module: nn.Module) -> bool:
    """Whether a module is a layer of attention, by its class or its name, and has parameters."""
    kind, place = type(module).__name__, name.rpartition(".")[2]
    composed = next(module.children(), None) is not None
    named = CLASS.search(kind) or (composed and (LINEAR.search(kind) or PLACE.search(place)))
    return bool(named) and next(module.parameters(), None) is not None


def why_unseen(name: str, module: nn.Module) -> str:
    """The reason why no call was seen of a layer that ran."""
    return NO_PAIRS if LINEAR.search(f"{type(module).__name__} {name.rpartition('.')[2]}") else OWN_WAY


def pattern(name: str) -> str:
    """The name of a layer without numbers, shared by all layers of its kind; repeated runs of a layer count as one."""
    return NUMBER.sub("*", name.partition(" (")[0])


def layer_numbers(names: Iterable[str]) -> dict[str, int]:
    """The number of each layer: the only number in its name that differs within its kind, else its index."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(pattern(name), []).append(name)
    found = {}
    for alike in kinds.values():
        found |= dict(zip(alike, _numbers(alike), strict=True))
    return found


def _numbers(names: list[str]) -> list[int]:
    """The numbers of layers whose names differ in numbers alone."""
    columns = list(
        zip(*([int(number) for number in NUMBER.findall(name.partition(" (")[0])] for name in names), strict=True)
    )
    differing = [column for column in columns if len(set(column)) > 1]
    if len(names) == 1 and len(columns) == 1:
        differing = columns
    unique = len(differing) == 1 and len(set(differing[0])) == len(names)
    return list(differing[0]) if unique else list(range(len(names)))

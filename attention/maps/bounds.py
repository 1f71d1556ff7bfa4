"""Intervals of positions, with which a mask rule is evaluated for a whole block of pairs at once.

A rule is a plain function of a pair of positions. Called with intervals instead (interval arithmetic: Moore 1966),
every comparison answers "can this be true somewhere in the block, must it be true everywhere", and `& | ~` combine
the answers. Unsupported operations (an `if`, a table, a division) raise TypeError or AttributeError; the result is
never silently wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor


class Interval:
    """Integers from `low` to `high`, both included; `drift`: by how much they grow when q and k both grow by one."""

    __hash__ = None  # type: ignore[assignment]  == returns no bool, so lookup by hash is impossible

    def __init__(self, low: Int[Tensor, "..."], high: Int[Tensor, "..."], drift: int | None) -> None:
        self.low, self.high, self.drift = low, high, drift

    def __bool__(self) -> bool:
        raise TypeError("Bounds are neither true nor false.")

    def __add__(self, other: Interval | int) -> Interval:
        other = _bounds(other)
        drift = None if self.drift is None or other.drift is None else self.drift + other.drift
        return Interval(self.low + other.low, self.high + other.high, drift)

    __radd__ = __add__

    def __neg__(self) -> Interval:
        return self * -1

    def __sub__(self, other: Interval | int) -> Interval:
        return self + _bounds(other) * -1

    def __rsub__(self, other: int) -> Interval:
        return self * -1 + other

    def __mul__(self, other: int) -> Interval:
        ends = self.low * _whole(other), self.high * other
        drift = None if self.drift is None else self.drift * other
        return Interval(torch.minimum(*ends), torch.maximum(*ends), drift)

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Interval:
        return Interval(self.low // _whole(other, 1), self.high // other, self._still)

    def __mod__(self, other: int) -> Interval:
        turn = self.low // _whole(other, 1) == self.high // other
        low, high = torch.where(turn, self.low % other, 0), torch.where(turn, self.high % other, other - 1)
        return Interval(low, high, self._still)

    def __abs__(self) -> Interval:
        ends = self.low.abs(), self.high.abs()
        low = torch.where((self.low < 0) & (self.high > 0), 0, torch.minimum(*ends))
        return Interval(low, torch.maximum(*ends), self._still)

    abs = __abs__

    def __le__(self, other: Interval | int) -> BlockTruth:
        other = _bounds(other)
        return BlockTruth(self.low <= other.high, self.high <= other.low, self._alike(other))

    def __lt__(self, other: Interval | int) -> BlockTruth:
        other = _bounds(other)
        return BlockTruth(self.low < other.high, self.high < other.low, self._alike(other))

    def __ge__(self, other: Interval | int) -> BlockTruth:
        return ~(self < other)

    def __gt__(self, other: Interval | int) -> BlockTruth:
        return ~(self <= other)

    def __eq__(self, other: Any) -> BlockTruth:  # type: ignore[override]  one answer per block, no bool
        return (self <= other) & (self >= other)

    def __ne__(self, other: Any) -> BlockTruth:  # type: ignore[override]  one answer per block, no bool
        return ~(self == other)

    @property
    def _still(self) -> int | None:
        return 0 if self.drift == 0 else None

    def _alike(self, other: Interval) -> bool:
        return self.drift is not None and self.drift == other.drift

    @classmethod
    def __torch_function__(cls, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        known = {torch.abs: cls.__abs__, torch.remainder: cls.__mod__, torch.floor_divide: cls.__floordiv__}
        if function is torch.div and kwargs == {"rounding_mode": "floor"} and isinstance(args[0], cls):
            return args[0] // args[1]
        return known[function](*args) if function in known and isinstance(args[0], cls) else NotImplemented


class BlockTruth:
    """Whether a statement is `possible` for some pair of a block, and whether it is `certain` for all of them.

    `shift_invariant`: whether it depends on the difference of query and key alone; `toeplitz`: whether it does so at
    least within the block, which includes every block where the answer is certain.
    """

    __hash__ = None  # type: ignore[assignment]  == returns no bool, so lookup by hash is impossible

    def __init__(
        self,
        possible: Bool[Tensor, "..."],
        certain: Bool[Tensor, "..."],
        shift_invariant: bool,
        toeplitz: Tensor | bool = False,
    ) -> None:
        self.possible, self.certain, self.shift_invariant = possible, certain, shift_invariant
        self.toeplitz = (possible == certain) | toeplitz | shift_invariant

    def __bool__(self) -> bool:
        raise TypeError("A verdict on many pairs is neither true nor false.")

    def __invert__(self) -> BlockTruth:
        return BlockTruth(~self.certain, ~self.possible, self.shift_invariant, self.toeplitz)

    def __and__(self, other: BlockTruth | bool) -> BlockTruth:
        other = _verdict(other)
        toeplitz = self.toeplitz & other.toeplitz
        return BlockTruth(
            self.possible & other.possible,
            self.certain & other.certain,
            self.shift_invariant and other.shift_invariant,
            toeplitz,
        )

    def __or__(self, other: BlockTruth | bool) -> BlockTruth:
        return ~(~self & ~_verdict(other))

    def __xor__(self, other: BlockTruth | bool) -> BlockTruth:
        return (self & ~_verdict(other)) | (~self & other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __ne__(self, other: Any) -> BlockTruth:  # type: ignore[override]  one answer per block, no bool
        return self ^ other

    def __eq__(self, other: Any) -> BlockTruth:  # type: ignore[override]  one answer per block, no bool
        return ~(self ^ other)

    @classmethod
    def __torch_function__(cls, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        known = {torch.logical_and: "__and__", torch.logical_or: "__or__", torch.logical_xor: "__xor__"}
        if function is torch.logical_not:
            return ~args[0]
        if function not in known or kwargs:
            return NotImplemented
        mine, other = args if isinstance(args[0], cls) else args[::-1]
        return getattr(mine, known[function])(other)


def classify(rule: Callable[..., Any], q: Interval, k: Interval, n: int, span: int) -> BlockTruth:
    """Evaluates a mask rule for blocks of queries and keys within these bounds; open if it can't be followed."""
    shape = np.broadcast_shapes(q.low.shape, k.low.shape)  # torch's imports its compiler: 2 seconds
    try:
        found = rule(q, k, n, span)
    except (TypeError, AttributeError):
        found = None
    if not isinstance(found, BlockTruth):
        return BlockTruth(torch.ones(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool), False)
    return BlockTruth(
        *(part.expand(shape) for part in (found.possible, found.certain)),
        found.shift_invariant,  # pyright: ignore[reportCallIssue]  two of them
        found.toeplitz.expand(shape),  # pyright: ignore[reportCallIssue]  two of them
    )


def _whole(value: Any, least: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        raise TypeError(f"Bounds can't be multiplied, divided or compared by {value!r}.")
    return value


def _bounds(value: Any) -> Interval:
    """Converts a number to an interval of itself."""
    if isinstance(value, Interval):
        return value
    number = torch.tensor(_whole(value))
    return Interval(number, number, 0)


def _verdict(value: Any) -> BlockTruth:
    if isinstance(value, BlockTruth):
        return value
    if not isinstance(value, bool):
        raise TypeError(f"A verdict can't be combined with {value!r}.")
    fact = torch.tensor(value)
    return BlockTruth(fact, fact, True)

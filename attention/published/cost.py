"""Measures the cost of a function: FLOPs and bytes counted while it runs, and its time relative to another function's."""

from __future__ import annotations

import statistics
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

WARM = 2  # warm-up runs that do not count


@dataclass(frozen=True)
class Cost:
    """`flops` of the matrix products, two per multiply-add; `peak`, the largest number of bytes of new tensors alive at once."""

    flops: int
    peak: int


@dataclass(frozen=True)
class Pace:
    """Median seconds of a function and of a reference, run in turns, and the quartiles of their ratio."""

    seconds: float
    reference: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """Seconds over the reference's seconds."""
        return self.seconds / self.reference


def cost(run: Callable[[], Any]) -> Cost:
    """Runs a function and counts the FLOPs and bytes of its torch operations, up to the error if it raises one."""
    counter = _Counter()
    try:
        with torch.no_grad(), counter:
            run()
    except Exception:  # `record_run` reports the error; only the cost up to it matters here
        pass
    return Cost(counter.flops, counter.peak)


def pace(run: Callable[[], Any], reference: Callable[[], Any], rounds: int = 15) -> Pace:
    """Times both functions in turns, so that a change of load affects both."""
    times = [(_seconds(run), _seconds(reference)) for _ in range(rounds + WARM)][WARM:]
    ratios = statistics.quantiles((mine / theirs for mine, theirs in times), n=4)
    mine, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    return Pace(mine, theirs, ratios[0], ratios[-1])


def _seconds(run: Callable[[], Any]) -> float:
    with torch.inference_mode():
        start = time.perf_counter()
        run()
        return time.perf_counter() - start


class _Counter(TorchDispatchMode):
    """Intercepts every operation and counts its FLOPs, and the storages that it allocates until they are freed."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Returns False, because disabling the compiler here would import all of it and sympy, 75 MB that are never freed."""
        return False

    def __init__(self) -> None:
        super().__init__()
        self.flops = self.peak = self.alive = 0
        self.known: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = {x.untyped_storage()._cdata for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
        out = func(*args, **kwargs)
        if func.overloadpacket in flop_registry:
            self.flops += flop_registry[func.overloadpacket](*args, **kwargs, out_val=out)
        for x in tree_leaves(out):
            if isinstance(x, Tensor) and x.untyped_storage()._cdata not in given:
                self._count(x.untyped_storage())
        return out

    def _count(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key in self.known:
            return
        self.known[key] = size
        self.alive += size
        self.peak = max(self.peak, self.alive)
        weakref.finalize(storage, self._free, key)

    def _free(self, key: int) -> None:
        self.alive -= self.known.pop(key, 0)

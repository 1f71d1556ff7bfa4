"""Tensors that are made once and kept for every caller."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, wraps
from time import monotonic
from typing import Any, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
T = TypeVar("T")


_bounded: list[Any] = []  # the caches that may be emptied: without a bound is what has to last


def tensor_lru_cache(most: int | None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """`lru_cache` for what holds tensors: whatever the first caller's modes, they are such as the next one can use.

    A mode (fake tensors, tracing, a transform, a default device) makes tensors that are of no use outside of it, and holds
    for its thread: there, what is kept is made in a thread of its own. The default dtype holds for all: name one.
    """

    def around(make: Callable[P, T]) -> Callable[P, T]:
        @lru_cache(most)
        @wraps(make)
        def cached_value(*given: P.args, **named: P.kwargs) -> T:
            if torch.compiler.is_compiling():  # what is traced is part of the graph, and nothing of it is kept
                return make(*given, **named)
            if _mode_is_active():
                with ThreadPoolExecutor(1) as apart:
                    return apart.submit(make, *given, **named).result()
            with torch.inference_mode(False):
                return make(*given, **named)

        if most is not None:
            _bounded.append(cached_value)
        return cached_value  # type: ignore[return-value]  lru_cache keeps no signature

    return around


class IdleTensors:
    """What is made once, as a claim on memory that has no size of its own: what nobody has asked for in a while is let go of."""

    used_bytes = unevictable_bytes = 0

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        # how often each cache had been asked, and when that was first seen
        self.seen: dict[int, tuple[int, float]] = {}

    def give_back(self, size: int) -> None:
        """It is in use, as far as anybody knows."""

    def expire(self, before: float) -> None:
        """Empties the caches whose last call was seen before this time of the clock."""
        for at, cache in enumerate(_bounded):
            info = cache.cache_info()
            calls, when = self.seen.get(at, (-1, 0.0))
            if info.hits + info.misses != calls:
                self.seen[at] = info.hits + info.misses, self.clock()
            elif info.currsize and when < before:
                cache.cache_clear()
                self.seen[at] = 0, self.clock()


def _mode_is_active() -> bool:
    """Does a mode reach into what this thread makes? Other than that of inference, which can be left for a while."""
    modes = torch._C._len_torch_function_stack() + torch._C._len_torch_dispatch_stack()
    return modes > 0 or torch._C._functorch.peek_interpreter_stack() is not None  # type: ignore[attr-defined]  a private one, made in C

"""Caches of tensors that are created once for all callers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, wraps
from time import monotonic
from typing import Any, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
T = TypeVar("T")


_bounded: list[Any] = []  # caches that may be emptied; those without a bound have to last


def tensor_lru_cache(most: int | None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """`lru_cache` for functions that return tensors: any later caller can use them, whatever modes the first one was in.

    Tensors created in a mode (fake tensors, tracing, a transform, a default device) are of no use outside of it. A mode
    holds for one thread, so in a mode they are created in another thread. The default dtype holds for all threads: name
    a dtype.
    """

    def around(make: Callable[P, T]) -> Callable[P, T]:
        @lru_cache(most)
        @wraps(make)
        def cached_value(*given: P.args, **named: P.kwargs) -> T:
            if torch.compiler.is_compiling():  # traced tensors are part of the graph and not cached
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
    """The cached tensors, as a claim on memory without a size: caches without calls for a while are emptied."""

    used_bytes = unevictable_bytes = 0

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        # calls of each cache, and when that number was first seen
        self.seen: dict[int, tuple[int, float]] = {}

    def give_back(self, size: int) -> None:
        """Does nothing: the tensors may be in use."""

    def expire(self, before: float) -> None:
        """Empties the caches whose last call was seen before this clock time."""
        for at, cache in enumerate(_bounded):
            info = cache.cache_info()
            calls, when = self.seen.get(at, (-1, 0.0))
            if info.hits + info.misses != calls:
                self.seen[at] = info.hits + info.misses, self.clock()
            elif info.currsize and when < before:
                cache.cache_clear()
                self.seen[at] = 0, self.clock()


def _mode_is_active() -> bool:
    """Whether a mode affects tensors that this thread creates, except inference mode, which can be left for a while."""
    modes = torch._C._len_torch_function_stack() + torch._C._len_torch_dispatch_stack()
    return modes > 0 or torch._C._functorch.peek_interpreter_stack() is not None  # type: ignore[attr-defined]  a private one, made in C

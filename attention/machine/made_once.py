"""Tensors that are made once and kept for every caller."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
T = TypeVar("T")


def made_once(most: int | None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """`lru_cache` for what holds tensors: whatever the first caller's modes, they are such as the next one can use.

    A mode (fake tensors, tracing, a transform, a default device) makes tensors that are of no use outside of it, and holds
    for its thread: there, what is kept is made in a thread of its own. The default dtype holds for all: name one.
    """

    def around(make: Callable[P, T]) -> Callable[P, T]:
        @lru_cache(most)
        @wraps(make)
        def found(*given: P.args, **named: P.kwargs) -> T:
            if torch.compiler.is_compiling():  # what is traced is part of the graph, and nothing of it is kept
                return make(*given, **named)
            if _watched():
                with ThreadPoolExecutor(1) as apart:
                    return apart.submit(make, *given, **named).result()
            with torch.inference_mode(False):
                return make(*given, **named)

        return found  # type: ignore[return-value]  lru_cache keeps no signature

    return around


def _watched() -> bool:
    """Does a mode reach into what this thread makes? Other than that of inference, which can be left for a while."""
    modes = torch._C._len_torch_function_stack() + torch._C._len_torch_dispatch_stack()
    return modes > 0 or torch._C._functorch.peek_interpreter_stack() is not None  # type: ignore[attr-defined]  a private one, made in C

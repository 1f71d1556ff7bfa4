"""What passes while somebody watches in this thread: calls of attention, and the modules that make them.

Whoever watches is told of a call before it goes where it would have gone, with what it would have had. Nothing is registered
on a model itself: some layers of torch take another kernel where a module of theirs has a hook.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from typing import Any, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.modules import module as every_module

from attention import layer
from attention.arguments import with_entries
from attention.watching.batched import Batched
from attention.watching.model_calls import of_torch, of_transformers
from attention.watching.places import PLACES
from attention.watching.torch_layers import of_encoder, of_layer

SDPA = "scaled_dot_product_attention"
Tell = Callable[..., Batched]  # what passes, from the arguments of a call


@runtime_checkable
class Watcher(Protocol):
    """Who is told."""

    @property
    def count(self) -> int:
        """Of how many calls it was told."""
        ...

    def entered(self, module: nn.Module) -> None:
        """A module begins."""
        ...

    def left(self, module: nn.Module) -> None:
        """A module has ended, or failed."""
        ...

    def told(self, tell: Callable[[], Batched]) -> None:
        """A call passes. Never raises."""
        ...


_here = threading.local()


def watchers() -> list[Watcher]:
    """Who watches in this thread, and does not look away."""
    if torch.compiler.is_compiling() or getattr(_here, "away", 0):
        return []
    return list(getattr(_here, "watchers", ()))


@contextmanager
def looking_away() -> Iterator[None]:
    """Meanwhile nobody in this thread is told of anything: it is a part of what they were told of."""
    _here.away = getattr(_here, "away", 0) + 1
    try:
        yield
    finally:
        _here.away -= 1


@contextmanager
def watching(watcher: Watcher, namespaces: Iterable[tuple[Any, str]]) -> Iterator[None]:
    """Meanwhile a watcher is told of what passes in this thread; in `namespaces` torch's function has names of its own."""
    with ExitStack() as stack:
        for owner, name, around in [*_places(), *((owner, name, _sdpa) for owner, name in namespaces)]:
            PLACES.take(owner, name, around)
            stack.callback(PLACES.leave, owner, name)
        stack.callback(every_module.register_module_forward_pre_hook(_enters).remove)
        stack.callback(every_module.register_module_forward_hook(_leaves, always_call=True).remove)
        _here.watchers = [*getattr(_here, "watchers", ()), watcher]
        stack.callback(lambda: _here.watchers.remove(watcher))
        yield


def _places() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    yield F, SDPA, _sdpa
    yield layer, SDPA, _sdpa  # ours has its arguments
    yield nn.MultiheadAttention, "forward", lambda original: _past(original, of_layer)
    yield nn.TransformerEncoderLayer, "forward", _of_encoder
    models = sys.modules.get("transformers.modeling_utils")
    if interface := getattr(models, "AttentionInterface", None):
        yield interface, "get_interface", _registry


def _enters(module: nn.Module, given: Any) -> None:
    for watcher in watchers():
        watcher.entered(module)


def _leaves(module: nn.Module, given: Any, found: Any) -> None:
    for watcher in watchers():
        watcher.left(module)


def _past(original: Callable, tell: Tell) -> Callable:
    """A function of whose calls watchers are told; while it runs, they look away."""

    @wraps(original)
    def passed(*given: Any, **named: Any) -> Any:
        found = watchers()
        if not found:
            return original(*given, **named)
        with looking_away():
            for watcher in found:
                watcher.told(lambda: tell(*given, **named))
            return original(*given, **named)

    return passed


def _sdpa(original: Callable) -> Callable:
    """Torch's function. Its CausalBias knows it by identity, and passes its memory to any other."""

    @wraps(original)
    def with_mask(query: Any, key: Any, value: Any, attn_mask: Any = None, *more: Any, **named: Any) -> Any:
        return original(query, key, value, with_entries(attn_mask, query.device), *more, **named)

    return _past(with_mask, of_torch)


def _of_encoder(original: Callable) -> Callable:
    """A layer of torch's encoder: where it takes its fast path, its attention is never called."""

    @wraps(original)
    def forward(*given: Any, **named: Any) -> Any:
        before = [(watcher, watcher.count) for watcher in watchers()]
        found = original(*given, **named)
        for watcher, count in before:
            if watcher.count == count:
                with looking_away():
                    watcher.told(lambda: of_encoder(*given, **named))
        return found

    return forward


def _registry(original: Callable) -> Callable:
    """Where a model of transformers asks which function computes its attention: whichever it is, it is watched."""

    @wraps(original)
    def get_interface(self: Any, implementation: Any, *more: Any, **named: Any) -> Callable:
        found = original(self, implementation, *more, **named)
        return _past(found, partial(of_transformers, implementation)) if watchers() else found

    return get_interface

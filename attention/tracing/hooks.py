"""What passes while somebody watches in this thread: calls of attention, and the modules that make them.

Whoever watches is told of a call before it goes where it would have gone, with what it would have had. Nothing is registered
on a model itself: some layers of torch take another kernel where a module of theirs has a hook.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from typing import Any, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules import module as every_module

from attention import layer
from attention.arguments import with_entries
from attention.tracing import generating
from attention.tracing.model_calls import of_flex, of_torch, of_transformers
from attention.tracing.patching import PLACES
from attention.tracing.sdpa_call import Batched, of_weights
from attention.tracing.torch_layers import of_encoder, of_layer

SDPA, FLEX = "scaled_dot_product_attention", "flex_attention"
GIVES = tuple((f"{name}.modeling_{name}", "DisentangledSelfAttention") for name in ("deberta", "deberta_v2"))
Tell = Callable[..., Batched]  # what passes, from the arguments of a call


@runtime_checkable
class Watcher(Protocol):
    """Who is told."""

    @property
    def count(self) -> int:
        """Of how many calls it was told."""
        ...

    def on_enter(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        """A module begins, with positional arguments."""
        ...

    def on_exit(self, module: nn.Module, given: tuple[Any, ...], found: Any) -> None:
        """A module has ended with an output, or failed with none."""
        ...

    def on_cache_update(self, update: generating.Update) -> None:
        """The module that runs has updated a cache of keys."""
        ...

    def inputs_multiplied(self) -> None:
        """`generate` makes several sequences of each input from here on."""
        ...

    def search_begins(self) -> None:
        """A beam search begins: rows of the batch will change places."""
        ...

    def search_ended(self, indices: Tensor, prompt: int) -> None:
        """A beam search has ended: the row of each returned sequence at each step, -1 after its end; the length of the prompt."""
        ...

    def on_call(self, tell: Callable[[], Batched]) -> None:
        """A call passes. Never raises."""
        ...

    def returned(self, output: Any) -> None:
        """What the call that passed last has returned; None if chance has a part in it (dropout). Never raises."""
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
    """Meanwhile a watcher is told of what passes in this thread; in `namespaces` torch's functions have names of their own."""
    with ExitStack() as stack:
        for owner, name, around in [*_places(), *((owner, name, _alias) for owner, name in namespaces)]:
            PLACES.take(owner, name, around)
            stack.callback(PLACES.leave, owner, name)
        stack.callback(every_module.register_module_forward_pre_hook(_enters).remove)
        leaves = every_module.register_module_forward_hook(_leaves, with_kwargs=True, always_call=True)
        stack.callback(leaves.remove)
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
    for name, kind in GIVES:
        if owner := getattr(sys.modules.get(f"transformers.models.{name}"), kind, None):
            yield owner, "forward", _with_weights
    if flex := sys.modules.get("torch.nn.attention.flex_attention"):
        yield flex, FLEX, _flex
    yield from generating.places(watchers)


def _enters(module: nn.Module, given: tuple[Any, ...]) -> None:
    for watcher in watchers():
        watcher.on_enter(module, given)


def _leaves(module: nn.Module, given: tuple[Any, ...], first: Any, *output: Any) -> None:
    """With the keyword arguments and the output; after an error without the former."""
    named, found = (first, output[0]) if output else ({}, first)
    for watcher in watchers():
        watcher.on_exit(module, (*given, *named.values()), found)


def _past(original: Callable, tell: Tell) -> Callable:
    """A function of whose calls watchers are told; while it runs, they look away."""

    @wraps(original)
    def around_call(*given: Any, **named: Any) -> Any:
        found = watchers()
        if not found:
            return original(*given, **named)
        with looking_away():
            for watcher in found:
                watcher.on_call(lambda: tell(*given, **named))
            return original(*given, **named)

    return around_call


def _compared(original: Callable, tell: Tell) -> Callable:
    """The same for a function of transformers, whose output watchers compare with what they were told."""

    @wraps(original)
    def compared(*given: Any, **named: Any) -> Any:
        output = passed(*given, **named)
        for watcher in watchers():
            watcher.returned(None if named.get("dropout") else output[0])
        return output

    passed = _past(original, tell)
    return compared


def _sdpa(original: Callable) -> Callable:
    """Torch's function. Its CausalBias knows it by identity, and passes its memory to any other."""

    @wraps(original)
    def with_mask(query: Any, key: Any, value: Any, attn_mask: Any = None, *more: Any, **named: Any) -> Any:
        return original(query, key, value, with_entries(attn_mask, query.device), *more, **named)

    return _past(with_mask, of_torch)


def _alias(original: Callable) -> Callable:
    """One of torch's functions under a name of its own."""
    return _flex(original) if original.__name__ == FLEX else _sdpa(original)


def _flex(original: Callable) -> Callable:
    return _past(original, of_flex)


def report(
    query: Tensor | None = None,
    key: Tensor | None = None,
    value: Tensor | None = None,
    *,
    weights: Tensor | None = None,
    mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> None:
    """Tells `attention.watch` what a layer of one's own computes; does nothing while nobody watches.

        attention.report(q, k, v, is_causal=True)
        attention.report(weights=weights)

    Called in the layer's forward, once per call of attention. Queries `(b h q d)`, keys and values `(b g k d)` as they meet in
    a score, with the mask of torch's function (True where a query attends to a key, or added) and the scale, 1/sqrt(d) unless
    given. Or `weights (b h q k)` after the softmax and before dropout. Raises ValueError unless it is given one or the other.

    >>> class Layer(torch.nn.Module):
    ...     def forward(self, x):
    ...         weights = (x @ x.transpose(-2, -1)).softmax(-1)
    ...         attention.report(weights=weights[:, None])
    ...         return weights @ x
    >>> seen = attention.watch(Layer())
    >>> output = seen(torch.rand(1, 5, 8))
    >>> seen
    <Layer: 1 layers seen, 0 not>
    """
    if torch.compiler.is_compiling():
        return
    if weights is not None and query is None and key is None:
        tell = partial(of_weights, weights)
    elif weights is None and query is not None and key is not None:
        value = key[..., :0] if value is None else value
        tell = partial(of_torch, query, key, value, mask, 0.0, is_causal, scale)
    else:
        raise ValueError("attention.report takes query and key (and value), or weights.")
    for watcher in watchers():
        watcher.on_call(tell)


def _of_encoder(original: Callable) -> Callable:
    """A layer of torch's encoder: where it takes its fast path, its attention is never called."""

    @wraps(original)
    def forward(*given: Any, **named: Any) -> Any:
        before = [(watcher, watcher.count) for watcher in watchers()]
        found = original(*given, **named)
        for watcher, count in before:
            if watcher.count == count:
                with looking_away():
                    watcher.on_call(lambda: of_encoder(*given, **named))
        return found

    return forward


def _with_weights(original: Callable) -> Callable:
    """A layer of transformers that returns its weights if it is asked for them: while it is watched, it is."""
    signature = inspect.signature(original)

    @wraps(original)
    def forward(*given: Any, **named: Any) -> Any:
        found, bound = watchers(), signature.bind(*given, **named)
        if not found or given[0].training:  # then its weights have gone through dropout
            return original(*given, **named)
        asked, bound.arguments["output_attentions"] = bound.arguments.get("output_attentions", False), True
        context, weights = original(*bound.args, **bound.kwargs)
        for watcher in found:
            watcher.on_call(lambda: of_weights(weights))
        return context, weights if asked else None

    return forward


def _registry(original: Callable) -> Callable:
    """Where a model of transformers asks which function computes its attention: whichever it is, it is watched."""

    @wraps(original)
    def get_interface(self: Any, implementation: Any, *more: Any, **named: Any) -> Callable:
        found = original(self, implementation, *more, **named)
        return _compared(found, partial(of_transformers, implementation)) if watchers() else found

    return get_interface

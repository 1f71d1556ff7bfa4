"""Notifies the watchers of this thread of calls of attention, and of the modules that make them.

A watcher is notified before a call runs; the call is then made with the arguments that it would have had. No hooks
are registered on a model itself, since some layers of torch take another kernel if one of their modules has a hook.
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
from attention.attend import Attention
from attention.tracing import generating
from attention.tracing.model_calls import of_flex, of_torch, of_transformers
from attention.tracing.patching import PLACES
from attention.tracing.sdpa_call import SdpaBatch, of_weights, with_batch
from attention.tracing.torch_layers import of_encoder, of_layer

SDPA, FLEX = "scaled_dot_product_attention", "flex_attention"
GIVES = tuple((f"{name}.modeling_{name}", "DisentangledSelfAttention") for name in ("deberta", "deberta_v2"))
Tell = Callable[..., SdpaBatch]  # converts the arguments of a call


@runtime_checkable
class Watcher(Protocol):
    """The interface of a watcher."""

    @property
    def count(self) -> int:
        """The number of calls that this watcher was notified of."""
        ...

    def on_enter(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        """A module starts, with these positional arguments."""
        ...

    def on_exit(self, module: nn.Module, given: tuple[Any, ...], found: Any) -> None:
        """A module has ended with an output, or failed without one."""
        ...

    def on_cache_update(self, update: generating.Update) -> None:
        """The running module has updated a cache of keys."""
        ...

    def inputs_multiplied(self) -> None:
        """`generate` makes several sequences of each input from here on."""
        ...

    def search_begins(self) -> None:
        """A beam search starts: from here on, rows of the batch may swap."""
        ...

    def search_ended(self, indices: Tensor, prompt: int) -> None:
        """A beam search has ended.

        `indices`: the row of each returned sequence at each step, -1 after its end; `prompt`: the length of the
        prompt.
        """
        ...

    def on_call(self, tell: Callable[[], SdpaBatch]) -> None:
        """A call of attention starts. Never raises."""
        ...

    def on_output(self, output: Any) -> None:
        """The output of the last call, None if it is random (dropout). Never raises."""
        ...


_here = threading.local()


def watchers() -> list[Watcher]:
    """The watchers of this thread; none while `looking_away`."""
    if torch.compiler.is_compiling() or getattr(_here, "away", 0):
        return []
    return list(getattr(_here, "watchers", ()))


@contextmanager
def looking_away() -> Iterator[None]:
    """Suspends notifications in this thread, for code that is part of a call that was already reported."""
    _here.away = getattr(_here, "away", 0) + 1
    try:
        yield
    finally:
        _here.away -= 1


@contextmanager
def watching(watcher: Watcher, namespaces: Iterable[tuple[Any, str]]) -> Iterator[None]:
    """Notifies a watcher of calls in this thread; `namespaces` lists aliases of torch's functions."""
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
    yield layer, SDPA, _sdpa  # ours has the same arguments
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
    """Receives keyword arguments and output or, after an error, only the output."""
    named, found = (first, output[0]) if output else ({}, first)
    for watcher in watchers():
        watcher.on_exit(module, (*given, *named.values()), found)


def _past(original: Callable, tell: Tell) -> Callable:
    """Wraps a function so that watchers are notified of its calls, and of no calls within it."""

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


def _with_output_check(original: Callable, tell: Tell, outputs: Callable[..., Any]) -> Callable:
    """Wraps a function like `_past`; watchers also compare its output with the recorded call.

    `outputs` is given what the function returned, and its arguments. It returns the output `(b q h d)`, or None if that
    can't be compared.
    """

    @wraps(original)
    def call_and_check(*given: Any, **named: Any) -> Any:
        output = passed(*given, **named)
        for watcher in watchers():
            watcher.on_output(outputs(output, *given, **named))
        return output

    passed = _past(original, tell)
    return call_and_check


def _output_of_transformers(output: Any, *given: Any, dropout: float = 0.0, **named: Any) -> Any:
    return None if dropout else output[0]


def _output_of_torch(
    output: Any, query: Any, key: Any, value: Any, mask: Any = None, dropout_p: float = 0.0, *more: Any, **named: Any
) -> Any:
    if isinstance(output, Attention):  # of our own function
        output = output.output
    return None if dropout_p else with_batch(output).transpose(1, 2)


def _output_of_flex(output: Any, *given: Any, **named: Any) -> Any:
    return with_batch(output[0] if isinstance(output, tuple) else output).transpose(1, 2)


def _sdpa(original: Callable) -> Callable:
    """Wraps torch's function. Its CausalBias knows it by identity, and passes uninitialised memory to any other."""

    @wraps(original)
    def with_mask(query: Any, key: Any, value: Any, attn_mask: Any = None, *more: Any, **named: Any) -> Any:
        return original(query, key, value, with_entries(attn_mask, query.device), *more, **named)

    return _with_output_check(with_mask, of_torch, _output_of_torch)


def _alias(original: Callable) -> Callable:
    """Wraps one of torch's functions that was imported under another name."""
    return _flex(original) if original.__name__ == FLEX else _sdpa(original)


def _flex(original: Callable) -> Callable:
    return _with_output_check(original, of_flex, _output_of_flex)


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
    """Reports to `attention.watch` what a custom layer computes; does nothing if no model is watched.

        attention.report(q, k, v, is_causal=True)
        attention.report(weights=weights)

    Call it in the layer's forward, once per call of attention. Either pass queries `(b h q d)`, keys and values `(b g
    k d)` as they enter the scores, with the mask of torch's function (True where a query attends to a key, or added)
    and the scale, by default 1/sqrt(d); or pass `weights (b h q k)` after the softmax and before dropout. Raises
    ValueError unless it is given one or the other.

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
    """Wraps a layer of torch's encoder, which does not call its attention if it takes its fast path."""

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
    """Wraps a layer of transformers that returns its weights on request: while it is watched, they are requested."""
    signature = inspect.signature(original)

    @wraps(original)
    def forward(*given: Any, **named: Any) -> Any:
        found, bound = watchers(), signature.bind(*given, **named)
        if not found or given[0].training:  # in training its weights include dropout
            return original(*given, **named)
        asked, bound.arguments["output_attentions"] = bound.arguments.get("output_attentions", False), True
        context, weights = original(*bound.args, **bound.kwargs)
        for watcher in found:
            watcher.on_call(lambda: of_weights(weights))
        return context, weights if asked else None

    return forward


def _registry(original: Callable) -> Callable:
    """Wraps the registry from which models of transformers take their attention function, so that it is watched."""

    @wraps(original)
    def get_interface(self: Any, implementation: Any, *more: Any, **named: Any) -> Callable:
        found = original(self, implementation, *more, **named)
        tell = partial(of_transformers, implementation)
        return _with_output_check(found, tell, _output_of_transformers) if watchers() else found

    return get_interface

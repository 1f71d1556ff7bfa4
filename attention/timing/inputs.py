"""Prepares one case for timing: fresh data, the conditions of its pass, and errors returned as results."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.attention import sdpa_kernel

from attention.attend import Attention
from attention.timing import devices, stopwatch
from attention.timing.implementations import IMPLEMENTATIONS, Ready
from attention.timing.sweep import Case

MOVES = 3  # transfers that are timed in each direction
LONG = 0.2  # seconds from which on a transfer is timed once


@contextlib.contextmanager
def ready(case: Case, seed: int) -> Iterator[Callable[[], tuple[Tensor, ...]]]:
    """Yields the call that is timed, on fresh normal data, under the conditions of its pass; it returns all results."""
    how, learns = IMPLEMENTATIONS[case.implementation], case.passes != "forward"
    kernel = sdpa_kernel(how.kernel) if how.kernel is not None else contextlib.nullcontext()
    with warnings.catch_warnings(), kernel, torch.enable_grad() if learns else torch.inference_mode():
        warnings.simplefilter("ignore")  # torch warns before it raises the same as an error
        q, k, v = (x.requires_grad_(learns) for x in random_inputs(case, seed))
        prepared = how.ready(q, k, v, case.visible)
        yield _learning(prepared) if learns else lambda: _tensors(prepared.run())


def random_inputs(case: Case, seed: int) -> list[Tensor]:
    """Returns q (b h q d), k and v (b g k d) of a case: normal noise from a seed, made on its device.

    Raises ValueError if there are more queries than keys, or query heads that can't share the key-value heads evenly.
    """
    source = torch.Generator(case.device).manual_seed(seed)
    how = {"generator": source, "device": case.device, "dtype": devices.DTYPES[case.dtype]}
    return [torch.randn(shape, **how) for shape in _shapes(case)]


def _shapes(case: Case) -> list[tuple[int, ...]]:
    """The shapes of q, k and v."""
    queries, group = case.queries or case.length, case.key_heads
    if queries > case.length:
        raise ValueError(f"{queries:,} queries are more than the {case.length:,} tokens, of which they are the last")
    if case.heads % group:
        raise ValueError(f"{group} key-value heads don't divide {case.heads} heads into equal groups")
    keys = case.batch, group, case.length, case.d_head
    return [(case.batch, case.heads, queries, case.d_head), keys, keys]


def _learning(prepared: Ready) -> Callable[[], tuple[Tensor, ...]]:
    """Returns a call of the forward pass and of the gradients of all leaves, for a normal gradient of the output."""
    upstream = torch.randn_like(prepared.leaves[0] if prepared.like is None else prepared.like)
    return lambda: torch.autograd.grad(_tensors(prepared.run())[0], prepared.leaves, upstream)


def _tensors(result: Tensor | Attention) -> tuple[Tensor, ...]:
    return (result,) if isinstance(result, Tensor) else tuple(result)


def transfer_times(case: Case, results: tuple[Tensor, ...], clock: stopwatch.Clock) -> tuple[float, float]:
    """Minimum seconds to move q, k and v to the device, and the results back, from and to pageable memory."""
    host = [torch.ones(shape, dtype=devices.DTYPES[case.dtype]) for shape in _shapes(case)]
    there = _quickest(lambda: [x.to(case.device) for x in host], clock)
    return there, _quickest(lambda: [result.cpu() for result in results], clock)


def _quickest(move: Callable[[], object], clock: stopwatch.Clock) -> float:
    """Minimum seconds of a transfer, of which a long one is not repeated."""
    first = stopwatch.once(move, clock)
    return min([first, *(stopwatch.once(move, clock) for _ in range(MOVES - 1 if first < LONG else 0))])


def attempt(step: Callable[[], None]) -> str | None:
    """Runs a step; returns the reason if it fails, else None."""
    try:
        step()
    except (RuntimeError, ValueError, TypeError, NotImplementedError, MemoryError) as error:
        return _reason(error)
    return None


def _reason(error: Exception) -> str:
    """Returns an error as one line, which begins with "out of memory" if that is the cause."""
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in str(error)).split())[:200]
    short = isinstance(error, (torch.OutOfMemoryError, MemoryError))
    short = short or any(
        words in text.lower() for words in ("can't allocate memory", "not enough memory", "out of memory")
    )
    if short and torch.accelerator.is_available():
        torch.accelerator.empty_cache()
    return f"out of memory: {text}" if short else f"{type(error).__name__}: {text}"

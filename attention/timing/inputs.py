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


@contextlib.contextmanager
def ready(case: Case, seed: int) -> Iterator[Callable[[], tuple[Tensor, ...]]]:
    """Yields the call that is timed, on fresh normal data, under the conditions of its pass; it returns all results."""
    how, learns = IMPLEMENTATIONS[case.implementation], case.passes != "forward"
    kernel = sdpa_kernel(how.kernel) if how.kernel is not None else contextlib.nullcontext()
    with warnings.catch_warnings(), kernel, torch.enable_grad() if learns else torch.inference_mode():
        warnings.simplefilter("ignore")  # torch warns before it raises the same as an error
        q, k, v = (x.requires_grad_(learns) for x in random_inputs(case, seed))
        prepared = how.ready(q, k, v, case.mask == "causal")
        yield _learning(prepared) if learns else lambda: _tensors(prepared.run())


def random_inputs(case: Case, seed: int) -> list[Tensor]:
    """Returns q, k and v (b h n d) of a case: normal noise from a seed, made on its device."""
    source = torch.Generator(case.device).manual_seed(seed)
    shape = case.batch, case.heads, case.length, case.d_head
    how = {"generator": source, "device": case.device, "dtype": devices.DTYPES[case.dtype]}
    return [torch.randn(shape, **how) for _ in range(3)]


def _learning(prepared: Ready) -> Callable[[], tuple[Tensor, ...]]:
    """Returns a call of the forward pass and of the gradients of all leaves, for a normal gradient of the output."""
    upstream = torch.randn_like(prepared.leaves[0] if prepared.like is None else prepared.like)
    return lambda: torch.autograd.grad(_tensors(prepared.run())[0], prepared.leaves, upstream)


def _tensors(result: Tensor | Attention) -> tuple[Tensor, ...]:
    return (result,) if isinstance(result, Tensor) else tuple(result)


def transfer_times(case: Case, results: tuple[Tensor, ...], clock: stopwatch.Clock) -> tuple[float, float]:
    """Minimum seconds to move q, k and v to the device, and the results back, from and to pageable memory."""
    shape = 3, case.batch, case.heads, case.length, case.d_head
    host = torch.randn(shape).to(devices.DTYPES[case.dtype])
    there = [stopwatch.once(lambda: host.to(case.device), clock) for _ in range(MOVES)]
    back = [stopwatch.once(lambda: [result.cpu() for result in results], clock) for _ in range(MOVES)]
    return min(there), min(back)


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

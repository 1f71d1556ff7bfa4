"""Threads in which torch computes alone: who computes, in which mode, and what stays as it was."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F

from attention import attend, blocks, scaled_dot_product_attention
from attention.runtime import processor, threads
from tests.strategies import normal


@pytest.fixture
def two_threads() -> Iterator[None]:
    usual = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(usual)


def threads_of_a_new_thread() -> int:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad, nullcontext])
def test_parts_are_computed_apart_in_the_callers_mode(two_threads, mode):
    threads._helpers.cache_clear()
    found, both = [], threading.Barrier(2)

    def part(number: int) -> None:
        both.wait(60)  # at the same time
        found.append((number, torch.get_num_threads(), torch.is_inference_mode_enabled(), torch.is_grad_enabled()))

    with mode():
        threads.parallel_for(part, [0, 1])
        modes = torch.is_inference_mode_enabled(), torch.is_grad_enabled()
    assert sorted(found) == [(0, 1, *modes), (1, 1, *modes)]
    assert torch.get_num_threads() == threads_of_a_new_thread() == 2


def test_a_thread_computes_alone_for_a_while_and_then_as_before(two_threads):
    with pytest.raises(ZeroDivisionError), threads.single_threaded():
        _ = 1 // (torch.get_num_threads() - 1)
    assert torch.get_num_threads() == 2


def test_a_part_that_fails_fails_the_whole(two_threads):
    with pytest.raises(ZeroDivisionError):
        threads.parallel_for(lambda part: 1 // part, [1, 0])


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad, nullcontext])
@pytest.mark.parametrize("mask", ["none", "causal", "one for all", "for each head", "float"])
def test_threads_share_the_blocks_of_a_long_pass(two_threads, monkeypatch, mode, mask):
    monkeypatch.setattr(attend, "SMALL", 16)
    monkeypatch.setattr(attend, "WHOLE", 16)
    monkeypatch.setattr(blocks, "ROWS", 4)
    monkeypatch.setattr(blocks, "APART", 16)
    parts = []
    monkeypatch.setattr(
        blocks, "parallel_for", lambda call, given: parts.append(len(given)) or threads.parallel_for(call, given)
    )
    query, key, value = (normal(seed, 5, 13, 8) for seed in range(3))
    own = torch.rand(5, 13, 13, generator=torch.Generator().manual_seed(3), dtype=query.dtype)
    seen = {
        "none": None,
        "causal": None,
        "one for all": own[0] > 0.4,
        "for each head": (own > 0.4).logical_or(torch.eye(13).bool()),
        "float": own,
    }[mask]
    with mode():
        found = scaled_dot_product_attention(query, key, value, seen, is_causal=mask == "causal")
    wanted = F.scaled_dot_product_attention(query, key, value, seen, is_causal=mask == "causal")
    torch.testing.assert_close(found.output, wanted)
    torch.testing.assert_close(found.weights @ value, wanted)
    assert parts == [1 if mask in ("for each head", "float") else 2]


@pytest.mark.parametrize(("cache", "size"), [(None, 2**22), (2**20, 2**22), (2**21, 2**20), (2**22, 2**21)])
def test_blocks_of_a_long_pass_fit_a_large_second_cache(two_threads, monkeypatch, cache, size):
    """Whichever it is, weights and outputs are the same."""
    monkeypatch.setattr(processor, "caches", lambda: {2: cache} if cache else {})
    monkeypatch.setattr(blocks, "APART", 2**20)
    monkeypatch.setattr(attend, "WHOLE", 2**20)
    assert blocks.own_block() == size
    query, key, value = (normal(seed, 2, 1000, 8) for seed in range(3))
    found = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(found.output, F.scaled_dot_product_attention(query, key, value))
    torch.testing.assert_close(found.weights, (query @ key.mT / 8**0.5).softmax(-1))

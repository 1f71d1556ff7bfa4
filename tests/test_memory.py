"""Memory of large weights: used again once nobody looks at it any more, and never before."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch

from attention import scaled_dot_product_attention
from attention.runtime import memory, threads
from attention.runtime.memory import KEPT, LARGE, PAGE, SPARE, empty_hugepages

TASKS = Path("/proc/self/task")
LIKE = torch.empty(1)
CELLS = LARGE // LIKE.element_size()


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """None of the pieces that other tests have left."""
    gc.collect()
    monkeypatch.setattr(memory, "_pieces", [])


@pytest.mark.skipif(not hasattr(memory.mmap, "MADV_HUGEPAGE"), reason="no huge pages")
def test_what_nobody_looks_at_any_more_is_used_again():
    first = empty_hugepages((4, CELLS // 4), LIKE)
    place, part = first.data_ptr(), first[1, 5:9].numpy()
    del first
    assert empty_hugepages((CELLS,), LIKE).data_ptr() != place  # a part is still looked at
    del part
    assert empty_hugepages((CELLS,), LIKE).data_ptr() == place
    assert place % PAGE == 0


@pytest.mark.skipif(not hasattr(memory.mmap, "MADV_HUGEPAGE"), reason="no huge pages")
def test_what_waits_is_bounded():
    held = [empty_hugepages((CELLS,), LIKE) for _ in range(SPARE + 3)]
    assert len({each.data_ptr() for each in held}) == len(memory._pieces) == SPARE + 3
    held.clear()
    small = empty_hugepages((CELLS,), LIKE)
    assert len(memory._pieces) == SPARE
    large = empty_hugepages((2 * CELLS + 1,), LIKE)  # over what is kept
    assert 4 * large.numel() > KEPT
    assert len(memory._pieces) == SPARE
    assert small.numel() == CELLS


def test_weights_that_are_kept_stay_what_they_are():
    x = torch.randn(8, 1024, 8, generator=torch.Generator().manual_seed(3))
    kept = [scaled_dot_product_attention(x * turn, x, x, is_causal=True).weights for turn in (0.5, 1.0, 2.0)]
    before = [weights.sum(-1).tolist() for weights in kept]
    for turn in range(4):
        scaled_dot_product_attention(x * turn, x, x)
    assert [weights.sum(-1).tolist() for weights in kept] == before
    again = scaled_dot_product_attention(x, x, x, is_causal=True).weights
    assert torch.equal(again, kept[1])  # what was there before shows nowhere


@pytest.mark.skipif(not TASKS.exists(), reason="threads are counted on Linux")
def test_threads_of_a_pool_compute_alone():
    square = torch.randn(96, 96)

    def started() -> set[str]:
        """New threads only: those of other tests may end meanwhile."""
        before = {task.name for task in TASKS.iterdir()}
        (square @ square).exp()
        return {task.name for task in TASKS.iterdir()} - before

    with threads.pool(1, "alone") as alone:
        assert not alone.submit(started).result()

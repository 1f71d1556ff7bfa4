"""Operations and bytes, counted by hand."""

from __future__ import annotations

import pytest
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from attention.timing import roofline
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.inputs import ready
from attention.timing.roofline import memory, operations, peaks, traffic
from attention.timing.sweep import Case


class Counter(TorchDispatchMode):
    """Adds up what torch says that each operation costs."""

    flops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, cost = kwargs or {}, flop_registry.get(func.overloadpacket)
        if cost is None:
            with self:
                out = func.decompose(*args, **kwargs)
            return func(*args, **kwargs) if out is NotImplemented else out
        out = func(*args, **kwargs)
        self.flops += cost(*args, **kwargs, out_val=out)
        return out


def case(name: str, **more) -> Case:
    sizes = {"batch": 2, "heads": 3, "d_head": 4, "length": 10}
    kind = {"device": "cpu", "dtype": "float32", "mask": "full", "passes": "forward"}
    return Case(implementation=name, **{**sizes, **kind, **more})


def count_case(count, name: str, **more) -> float:
    return count(case(name, **more), IMPLEMENTATIONS[name])


def test_operations_of_a_forward_pass_are_two_products():
    assert count_case(operations, "SDPA") == 4 * 2 * 3 * 10**2 * 4


@pytest.mark.parametrize(
    ("name", "times"), [("SDPA", 3.5), ("SDPA flash", 3.5), ("SDPA math", 3), ("loop over heads", 3)]
)
def test_a_backward_pass_computes_the_scores_again_where_the_weights_were_not_kept(name, times):
    assert count_case(operations, name, passes="forward + backward") == times * count_case(operations, name)


@pytest.mark.parametrize("passes", ["forward", "forward + backward"])
@pytest.mark.parametrize("name", [name for name, how in IMPLEMENTATIONS.items() if not how.recomputes])
def test_the_products_that_torch_counts_while_it_runs_are_those_that_are_counted(name, passes):
    """By torch's own table of what an operation costs; it doesn't have the fused kernels of a CPU."""
    mask = (
        "causal" if name in ("published: single-causal", "published: two-heads", "published: boolean-mask") else "full"
    )
    asked = case(name, passes=passes, mask=mask)
    if name == "core into a reused buffer" and passes != "forward":
        pytest.skip("it has no gradients")
    with ready(asked, seed=0) as call, Counter() as counter:
        call()
    assert counter.flops == count_case(operations, name, passes=passes, mask=mask)


@pytest.mark.parametrize(
    ("name", "more", "pairs"),
    [
        ("SDPA", {}, 55),
        ("SDPA math", {}, 100),
        ("matmul softmax matmul", {}, 100),
        ("core with weights", {}, 100),
        ("core with weights", {"length": 1000}, 500_500),
        ("core with weights", {"length": 1000, "device": "cuda:0"}, 1_000_000),
        ("core with weights", {"length": 1000, "passes": "forward + backward"}, 3_000_000),
        ("SDPA", {"device": "cuda:0"}, 55),
    ],
)
def test_causal_operations_are_halved_only_where_the_future_is_skipped(name, more, pairs):
    assert count_case(operations, name, mask="causal", **more) == 4 * 2 * 3 * 4 * pairs


def test_a_layer_adds_its_four_maps():
    assert count_case(operations, "nn.MultiheadAttention") == 4 * 2 * 3 * 100 * 4 + 4 * 2 * (2 * 10) * 12 * 12


@pytest.mark.parametrize(
    ("name", "square", "maps", "squares"),
    [
        ("published: separate-maps", 4 * 2 * 3 * 100 * 4, 8 * 2 * 10 * 12 * 12, 3),
        ("published: single-unscaled", 4 * 2 * 3 * 100 * 4, 6 * 2 * 10 * 12 * 12, 1),  # one head of the whole width
        ("published: single-causal", 4 * 2 * 1 * 100 * 4, 6 * 2 * 10 * 12 * 4, 1),
        ("published: two-heads", 4 * 2 * 2 * 100 * 4, 8 * 2 * 10 * 12 * 8, 2),
    ],
)
def test_what_uses_some_of_the_heads_is_counted_for_these(name, square, maps, squares):
    assert count_case(operations, name) == square + maps
    how = IMPLEMENTATIONS[name]
    numbers = 2 * 2 * 10 * 12 + maps // (2 * 2 * 10) + 2 * squares * 100
    assert traffic(case(name), how) == 4 * numbers


def test_traffic_is_every_input_and_output_once():
    tokens = 2 * 3 * 10 * 4
    assert count_case(traffic, "SDPA") == 4 * tokens * 4
    assert count_case(traffic, "SDPA", dtype="bfloat16") == 4 * tokens * 2
    assert count_case(traffic, "core with weights") == (4 * tokens + 2 * 3 * 100) * 4
    assert count_case(traffic, "nn.MultiheadAttention") == (2 * tokens + 4 * 144) * 4


def test_memory_counts_the_squares_that_are_held():
    more = {"length": 4096, "heads": 64, "batch": 1}
    square = 64 * 4096**2 * 4
    assert count_case(memory, "core with weights", **more) == pytest.approx(square, rel=0.01)
    assert count_case(memory, "SDPA", **more) < 0.01 * square


@pytest.mark.parametrize(("seconds", "products"), [(2.0, 1), (0.5, 3)], ids=["slow", "fast"])
def test_larger_products_are_left_out_once_one_takes_too_long(monkeypatch, seconds, products):
    monkeypatch.setattr(roofline, "SIDES", (2, 4, 8))
    monkeypatch.setattr(roofline, "COPIED", 8)
    taken = []
    monkeypatch.setattr(roofline.stopwatch, "samples", lambda run, *_: taken.append(run) or [seconds])
    found = peaks("cpu", "float32", threads=1, patience=20.0)
    assert len(taken) == products + 1, "and a copy"
    assert found.matmul == 2 * (2 * 2**products / 2) ** 3 / seconds


def test_peaks_are_measured():
    found = peaks("cpu", "float32", threads=1, patience=0.02)
    assert 1e8 < found.matmul < 1e14
    assert 1e7 < found.copy < 1e13

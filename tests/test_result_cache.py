"""Results that are kept: one computation for all who ask, bounded bytes, and no way to stand still."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import wait
from threading import Event, Thread

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from attention.config import Config
from attention.runtime import result_cache as module
from attention.runtime.executors import RankedExecutor
from attention.runtime.result_cache import ResultCache
from attention.ui import results
from attention.ui.results import shared

LANE = RankedExecutor("test", 0, 1)  # one thread: the next work begins when all is told of the last
KB = 1024


@pytest.fixture(autouse=True)
def _bare(monkeypatch):
    """Results count without what keeping them takes, and go one by one."""
    monkeypatch.setattr(module, "ENTRY_BYTES", 0)
    monkeypatch.setattr(module, "FILL_LIMIT", 1)


def wait_for_all(kept: ResultCache) -> None:
    wait([entry.work for entry in kept.entries.values()], 60)
    LANE.submit(int).result(60)


def tensor(size: int) -> torch.Tensor:
    return torch.zeros(size, dtype=torch.uint8)


def test_whoever_asks_for_what_is_under_way_shares_it():
    kept, go, calls = ResultCache(KB), Event(), []

    @kept
    def made(number):
        return LANE.submit(lambda: (go.wait(60), calls.append(number))[0])

    works = {id(made.begin(1)) for _ in range(5)}
    go.set()
    assert made(1) is True and len(works) == 1 and calls == [1]
    assert made(2) is True and calls == [1, 2]


def test_what_failed_is_tried_again():
    kept, given = ResultCache(KB), iter("x7")

    @kept
    def made():
        return LANE.submit(int, next(given))

    with pytest.raises(ValueError, match="x"):
        made()
    wait_for_all(kept)
    assert made() == 7


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.lists(some.tuples(some.integers(0, 6), some.integers(1, 700)), max_size=30))
def test_results_stay_within_their_bytes_and_the_last_asked_for_stay_longest(asked):
    kept, order, sizes = ResultCache(KB), [], {}
    for key, size in asked:
        if key in kept.entries:
            size = sizes[key]
        sizes[key] = size
        kept.ask(key, lambda size=size: LANE.submit(tensor, size)).result(60)
        wait_for_all(kept)
        order = [other for other in order if other != key] + [key]
        while sum(sizes[other] for other in order) > KB and order[1:]:
            order.pop(0)
        assert kept.entries.keys() == set(order) and kept.bytes == sum(sizes[other] for other in order)
    kept.clear()
    assert kept.bytes == 0 and not kept.users and not kept.entries


def test_what_follows_other_results_is_bounded_with_them(caplog):
    """Keys of any kind, asked for by one another."""
    kept = ResultCache(3 * KB)

    @kept
    def first(number):
        return LANE.submit(tensor, KB)

    @kept
    def second(number):
        return LANE.then(first.begin(number), lambda found: tensor(KB))

    for number in range(20):
        assert len(second(number)) == KB
        wait_for_all(kept)
        assert kept.bytes <= 3 * KB
    assert not caplog.records and second(19) is second(19)


def test_a_result_that_was_dropped_is_freed_at_once():
    """Not by the next collection of garbage: traces are large, and many come in the seconds between two."""
    kept, alive = ResultCache(KB), []
    gc.disable()
    try:
        for key in "abc":
            found = kept.ask(key, lambda: LANE.submit(tensor, KB)).result(60)
            alive.append(weakref.ref(found))
            del found
            wait_for_all(kept)
        assert [one() is None for one in alive] == [True, True, False]
    finally:
        gc.enable()


def test_the_newest_stays_whatever_its_size():
    kept = ResultCache(10)
    for key in "ab":
        kept.ask(key, lambda: LANE.submit(tensor, KB)).result(60)
        wait_for_all(kept)
    assert list(kept.entries) == ["b"] and kept.bytes == KB


def test_memory_that_results_have_in_common_counts_once():
    kept, whole = ResultCache(10 * KB), tensor(KB)
    parts = {"a": whole[:3], "b": {"rows": [whole[3:].view(-1, 1)]}, "c": (whole.numpy(),)}
    for key, part in parts.items():
        kept.ask(key, lambda part=part: LANE.submit(lambda: part)).result(60)
    wait_for_all(kept)
    assert kept.bytes == KB
    kept._drop("a")
    assert kept.bytes == KB


def test_a_trace_counts_with_all_its_tensors():
    trace = results.heads.trace(Config(tokens=40, heads=2, d_model=8))
    parts = [*vars(trace).values(), *vars(trace.given).values()]
    tensors = {id(value.untyped_storage()): value for value in parts if isinstance(value, torch.Tensor)}
    own = sum(value.untyped_storage().nbytes() for value in tensors.values())
    assert own <= sum(dict(module.pieces(trace)).values()) <= own + 4 * 8 * 8 * 4


@pytest.mark.extended
def test_many_settings_at_once_end_also_where_nothing_is_kept(monkeypatch):
    """More visitors than threads, each with settings of their own, all asking for what follows from a trace."""
    monkeypatch.setattr(shared.RESULTS, "most", 0)
    found = {}

    def visit(seed: int) -> None:
        config = Config(tokens=24 + seed, heads=2, d_model=8, seed=seed)
        cells = results.heads.cells(config)
        found[seed] = (
            cells.queries,
            results.heads.parity(config).agrees,
            len(results.heads.numbers(config)["head"]),
        )

    threads = [Thread(target=visit, args=(seed,), daemon=True) for seed in range(25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == {seed: (24 + seed, True, 2) for seed in range(25)}

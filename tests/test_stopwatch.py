"""The statistics of a stopwatch, against a clock that only moves when it is told to."""

from __future__ import annotations

import gc
import statistics
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.timing.stopwatch import BAND, BLOCK, LOOK, Spread, clock, once, samples, spread


class Hands:
    """A clock whose hands are moved by what it times."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, *seconds: float):
        """Something to time: takes these seconds in turn, the last ones for ever."""
        left = list(seconds)

        def run() -> None:
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return run


def test_quartiles_are_those_that_one_finds_by_hand():
    assert spread([5.0, 1.0, 2.0, 4.0, 3.0]) == Spread(median=3.0, lower=2.0, upper=4.0, repeats=5, quickest=1.0)
    assert spread([7.0]) == Spread(7.0, 7.0, 7.0, 1, 7.0)


@settings(deadline=None)
@given(st.lists(st.floats(1e-9, 1e6), min_size=2, max_size=40))
def test_quartiles_rise_and_the_median_is_the_median(times):
    found = spread(times)
    assert min(times) == found.quickest <= found.lower <= found.median <= found.upper
    assert found.median == pytest.approx(statistics.median(times))


@pytest.mark.parametrize(
    ("times", "settled"),
    [
        ([1.0] * BAND, True),
        ([1.0] * (BAND - 1), False),
        ([1.0, 1.0, 1.0, 1.09, 1.09], True),
        ([1.0, 1.0, 1.0, 1.11, 1.2], False),
        ([1.0, 1.0, 1.3], False),
    ],
)
def test_a_spread_of_before_is_settled_within_a_tenth_of_the_median_over_enough_blocks(times, settled):
    assert replace(spread(times), quickest=None).is_stable is settled


@pytest.mark.parametrize(("repeated", "settled"), [(1.0, True), (1.1, True), (1.11, False), (None, False)])
def test_a_spread_is_settled_where_the_quickest_came_again_whatever_the_quartiles(repeated, settled):
    found = Spread(median=5.0, lower=2.0, upper=9.0, repeats=99, quickest=1.0, repeated=repeated)
    assert found.is_stable is settled
    assert found.seconds == 1.0
    assert found.ends == (None if repeated is None else (1.0, repeated))
    assert found.band == (1.0, 9.0)


def test_a_recording_of_before_has_its_median_and_its_quartiles_drawn():
    found = Spread(3.0, 2.0, 4.0, 5)
    assert (found.seconds, found.ends, found.band) == (3.0, (2.0, 4.0), (2.0, 4.0))
    assert (Spread(3.0, 3.0, 3.0, 1).ends, Spread(3.0, 3.0, 3.0, 1).band) == (None, None)


def test_samples_are_seconds_a_call():
    hands = Hands()
    times = samples(hands.work(0.25), seconds=1.0, threads=1, clock=hands)
    assert times == pytest.approx([0.25] * 4)


def test_the_first_calls_are_not_counted():
    hands = Hands()
    times = samples(hands.work(50.0, 1.0), seconds=2.0, threads=1, clock=hands)
    assert times == pytest.approx([1.0, 1.0])


def test_short_calls_are_timed_in_blocks_that_are_long_enough():
    hands = Hands()
    calls = 0

    def run() -> None:
        nonlocal calls
        calls += 1
        hands.now += 1e-6

    times = samples(run, seconds=0.01, threads=1, clock=hands)
    assert times == pytest.approx([1e-6] * len(times))
    assert calls / len(times) >= BLOCK / 1e-6, "reading the clock must be a small part of a block"


def test_blocks_are_no_longer_than_they_must_be_to_fall_between_two_disturbances():
    hands, blocks = Hands(), []

    def run() -> None:
        hands.now += 3e-5

    times = samples(run, seconds=0.05, threads=1, clock=hands, should_stop=lambda: bool(blocks.append(hands.now)))
    assert len(times) == len(blocks)
    lengths = [after - before for before, after in pairwise(blocks)]
    assert min(lengths) >= BLOCK
    assert max(lengths) < 2 * BLOCK


def test_where_reading_the_clock_takes_long_a_block_is_long():
    hands = Hands()

    def slow_clock() -> float:
        hands.now += 1e-5
        return hands.now

    calls = []
    times = samples(lambda: calls.append(0) or hands.work(1e-5)(), seconds=0.1, threads=1, clock=slow_clock)
    assert max(times) == pytest.approx(1e-5, rel=2 / LOOK)


def test_who_asks_to_stop_keeps_what_there_is():
    hands, asked = Hands(), iter([False, False, True])
    times = samples(hands.work(1.0), seconds=100.0, threads=1, clock=hands, should_stop=lambda: next(asked))
    assert times == pytest.approx([1.0] * 3)


def test_torch_uses_the_threads_that_are_stated():
    seen = set()
    before = torch.get_num_threads()
    hands = Hands()

    def run() -> None:
        seen.add(torch.get_num_threads())
        hands.now += 1.0

    samples(run, seconds=1.0, threads=1, clock=hands)
    assert seen == {1}
    assert torch.get_num_threads() == before


def test_no_garbage_is_collected_meanwhile_and_is_again_afterwards():
    hands, seen = Hands(), set()

    def run() -> None:
        seen.add(gc.isenabled())
        hands.now += 1.0

    samples(run, seconds=1.0, threads=1, clock=hands)
    assert (seen, gc.isenabled()) == ({False}, True)


def test_a_clock_waits_for_the_device_before_it_is_read(monkeypatch):
    done = []
    monkeypatch.setattr(torch.accelerator, "synchronize", lambda device: done.append(str(device)))
    assert clock("cuda:1", lambda: 42.0)() == 42.0
    assert done == ["cuda:1"]
    assert once(lambda: None, clock("cpu", iter([1.0, 3.5]).__next__)) == 2.5
    assert done == ["cuda:1"]

"""Whoever waits too long for a thread is told of, and a server that stands still is told from one that is busy."""

from __future__ import annotations

from threading import Event

import pytest

from attention.runtime import stall_detector
from attention.runtime.executors import RankedExecutor
from attention.runtime.stall_detector import LATE, STALLED_AFTER, StallDetector


class Watched:
    """A lane of one thread, which waits, a clock and the processor's ticks that a test moves."""

    def __init__(self, monkeypatch) -> None:
        self.now, self.ticks, self.end, begun = 0.0, 0, Event(), Event()
        monkeypatch.setattr("attention.runtime.executors.monotonic", lambda: self.now)
        self.lane = RankedExecutor("narrow", 0, 1)
        self.watch = StallDetector([self.lane], lambda: self.now, lambda: self.ticks)

        def hold() -> None:
            begun.set()
            self.end.wait(60)

        self.works = [self.lane.submit(hold)]
        begun.wait(60)

    def after(self, seconds: float, ticks: int = 0) -> str:
        """What is known after a look so much later."""
        self.now += seconds
        self.ticks += ticks
        self.watch.look()
        return self.watch.stalled()


@pytest.fixture
def watched(monkeypatch):
    found = Watched(monkeypatch)
    yield found
    found.end.set()
    for work in found.works:
        work.result(60)
    found.lane.shutdown()


def test_work_that_waits_is_logged_once_with_what_holds_its_threads(watched, caplog):
    watched.after(1000)  # nothing waits
    watched.works.append(watched.lane.submit(int))
    watched.after(LATE - 1)
    assert caplog.messages == []
    for _ in range(3):
        watched.after(1)
    (said,) = caplog.messages
    assert said.startswith("Work has waited 10 s for the lane 'narrow' of rank 0, whose threads are held: ")
    assert " hold > " in said and "wait" in said


def test_pieces_wait_for_each_other_as_they_should_and_are_logged_once_none_is_taken(watched, caplog):
    watched.lane.pieces = True
    watched.works += [watched.lane.submit(int) for _ in range(3)]
    for _ in range(3):  # each is taken in its turn, the last after 24 s
        watched.after(LATE - 2)
        watched.lane.waiting.sort()
        watched.lane.waiting.pop(0)
    assert caplog.messages == []
    watched.works = watched.works[:1]  # the others were taken away
    watched.works.append(watched.lane.submit(int))
    watched.after(1)
    watched.after(LATE)
    assert len(caplog.messages) == 1


def test_a_lane_that_stands_still_is_stuck_until_it_moves(watched):
    watched.works.append(watched.lane.submit(int))
    assert watched.after(LATE) == ""
    assert watched.after(STALLED_AFTER - 1) == ""
    assert watched.after(1) == "stuck: work waits for narrow, and no thread moves"
    watched.end.set()
    watched.works[1].result(60)
    assert watched.after(1) == ""


def test_a_lane_whose_threads_compute_is_busy(watched):
    watched.works.append(watched.lane.submit(int))
    for _ in range(10):
        assert watched.after(LATE, ticks=50) == ""


def test_threads_that_compute_use_ticks_and_those_that_wait_do_not(watched):
    lane = RankedExecutor("idle", 0, 1)
    before = stall_detector.compute_ticks()
    lane.submit(lambda: sum(range(3_000_000))).result(60)
    busy = stall_detector.compute_ticks()
    lane.shutdown()
    assert busy > before or stall_detector.compute_ticks() == 0

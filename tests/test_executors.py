"""Lanes: nothing that runs in one can wait for work that only the same one, or one above it, can do."""

from __future__ import annotations

from concurrent.futures import CancelledError, wait
from threading import Event

import pytest

from attention.runtime.executors import DeadlockError, RankedExecutor

LOW, HIGH = RankedExecutor("low", 0, 2), RankedExecutor("high", 1, 2)


@pytest.mark.parametrize("there", [LOW, HIGH])
def test_work_of_a_lane_waits_for_no_lane_but_lower_ones(there):
    """Also where a thread is free: else it would come out under load only."""
    done = Event()
    under_way = there.submit(done.wait, 60)
    for call in (under_way.result, under_way.exception, lambda: there.submit(int)):
        with pytest.raises(DeadlockError, match=f"the lane '{there.name}' of rank {there.rank}"):
            LOW.submit(call).result(60)
    if there is LOW:
        waiting = HIGH.submit(under_way.result)
        done.set()
        assert waiting.result(60) is True
    else:
        with pytest.raises(DeadlockError, match="may not wait for"):
            HIGH.submit(under_way.result).result(60)
        done.set()
    assert under_way.result(60) is True


def test_what_is_done_is_read_anywhere():
    done, failed = HIGH.submit(int, "7"), HIGH.submit(int, "seven")
    wait([done, failed], 60)
    assert LOW.submit(done.result).result(60) == 7
    assert isinstance(LOW.submit(failed.exception).result(60), ValueError)


def test_work_follows_other_work_of_any_lane_and_nobody_waits():
    start = Event()

    def seven(_: object) -> int:
        return 7

    first = LOW.submit(start.wait, 60)
    second = LOW.then(HIGH.then(first, seven), lambda found: found + 1)  # more chains than threads
    others = [LOW.then(first, seven) for _ in range(8)]
    start.set()
    assert second.result(60) == 8 and [other.result(60) for other in others] == [7] * 8


def test_what_follows_a_failure_fails_with_it():
    followed = []
    work = HIGH.then(LOW.submit(int, "seven"), followed.append)
    with pytest.raises(ValueError, match="seven"):
        work.result(60)
    assert not followed


def test_a_map_over_a_lane_keeps_its_order_and_its_error():
    assert list(LOW.map(int, "123")) == [1, 2, 3]
    with pytest.raises(ValueError, match="x"):
        list(LOW.map(int, "1x3"))
    assert HIGH.submit(lambda: list(LOW.map(int, "12"))).result(60) == [1, 2]
    with pytest.raises(DeadlockError):
        HIGH.submit(lambda: list(HIGH.map(int, "12"))).result(60)


def test_work_that_was_not_begun_can_be_cancelled():
    lane, end = RankedExecutor("one", 0, 1), Event()
    first, second = lane.submit(end.wait, 60), lane.submit(int)
    followed = lane.then(second, str)
    assert second.cancel()
    end.set()
    assert first.result(60)
    with pytest.raises(CancelledError):
        followed.result(60)
    lane.shutdown()


def test_patient_work_lets_others_go_first_but_not_for_ever(monkeypatch):
    clock, go, order = iter(range(100)), Event(), []
    monkeypatch.setattr("attention.runtime.executors.monotonic", lambda: next(clock))
    lane = RankedExecutor("patient", 0, 1)
    later, first = lane.low_priority(2.5), lane.submit(go.wait, 60)
    works = [
        each.submit(order.append, name) for name, each in zip("abcde", (later, lane, later, lane, lane), strict=True)
    ]
    go.set()
    wait([first, *works], 60)
    assert order == ["b", "a", "d", "e", "c"]  # due at 2, 3.5, 4, 5 and 5.5 seconds

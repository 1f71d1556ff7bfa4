"""Which visits of a case count, by a yardstick that doesn't know the case; nothing here reads a real clock."""

from __future__ import annotations

import pytest

from attention.timing.history import ENOUGH, Course, Place, Visit
from attention.timing.sweep import Case
from attention.timing.yardstick import CALLS, Yardstick, yardstick
from tests.timings import CASE

PLACE = Place("Test CPU", "Linux", "2.13.0", "highest", 2, "2026-01-31T12:00:00+00:00", 1e12, 1e11)


def course(visits: list[tuple[float, float]], scouted: float = 9.0) -> Course:
    """A case with visits of five blocks each: (seconds a call, seconds of the yardstick)."""
    yard = Yardstick(iter([seconds for _, seconds in visits for _ in range(CALLS)]).__next__)
    found = [Visit([seconds] * 5, yard.take()) for seconds, _ in visits]
    return Course(Case(**CASE), PLACE, yard, visits=found, scouted=[scouted])


def test_a_yardstick_takes_the_median_of_its_calls():
    assert Yardstick(iter([1.0, 9.0, 2.0, 9.0, 3.0]).__next__).take() == 3.0


def test_visits_on_a_busy_machine_are_left_out_where_there_are_enough_others():
    found = course([(1.0, 1.0), (2.0, 2.0), (1.0, 1.0), (2.0, 1.9), (1.0, 1.1)])
    assert found.times == [1.0] * 15
    assert found.settled
    assert found.done


def test_too_few_quiet_visits_all_count_and_are_not_settled():
    """Even where they agree: who is disturbed alike three times would seem sure."""
    found = course([(1.0, 1.0), (1.0, 2.0), (1.0, 2.0)])
    assert len(found.times) == 15
    assert found.spread.settled
    assert not found.settled
    assert not found.done
    assert course([(1.0, 1.0)] + [(1.0, 2.0)] * (ENOUGH - 1)).done


def test_a_slow_visit_of_the_case_itself_is_never_left_out():
    found = course([(1.0, 1.0), (2.0, 1.0), (1.0, 1.0), (2.0, 1.0)])
    assert sorted(set(found.times)) == [1.0, 2.0]
    assert not found.settled


def test_a_load_that_stays_is_no_reason_to_leave_anything_out():
    assert course([(2.0, 5.0)] * 3).settled


def test_a_load_that_stays_for_one_sweep_shows_where_another_had_none():
    found = course([(1.0, 1.0)] * 3)
    later = Course(found.case, found.place, found.yardstick, visits=[Visit([2.0] * 5, 2.0)] * 3, scouted=[9.0])
    assert found.settled
    assert later.spread.settled
    assert not later.settled


def test_all_sweeps_of_a_process_have_one_yardstick_for_a_device_and_its_threads():
    assert yardstick("cpu", 1) is yardstick("cpu", 1)
    assert yardstick("cpu", 1) is not yardstick("cpu", 2)


def test_before_the_first_visit_the_first_look_counts_and_is_never_settled():
    found = course([])
    assert (found.times, found.settled, found.spread.banded) == ([9.0], False, False)
    assert not found.timing().settled


@pytest.mark.parametrize(("visits", "share"), [(0, 0.1), (1, 0.1 + 0.8 / 3), (3, 1.0)])
def test_the_share_grows_with_the_visits(visits, share):
    assert course([(1.0, 1.0)] * visits).share == pytest.approx(share)

"""Which visits of a case count, by a yardstick that doesn't know the case; nothing here reads a real clock."""

from __future__ import annotations

import pytest

from attention.timing.history import ENOUGH, MOMENT, CaseHistory, Visit
from attention.timing.interference_probe import STRETCH, Reading, Yardstick, yardstick
from attention.timing.sweep import Case
from tests.busy_machine import PLACE
from tests.timings import CASE


def course(visits: list[tuple[float, float]], scouted: float = 9.0) -> CaseHistory:
    """A case with visits of five blocks each: (seconds a call, seconds of the yardstick)."""
    yard = Yardstick(iter([seconds for _, seconds in visits]).__next__)
    readings = [yard.take() for _ in visits]
    found = [Visit.between([seconds] * 5, at, at) for (seconds, _), at in zip(visits, readings, strict=True)]
    return CaseHistory(Case(**CASE), PLACE, yard, visits=found, scouted=[scouted])


def test_a_reading_is_the_mean_of_a_stretch_of_calls_and_the_least():
    calls = [STRETCH * share for share in (0.1, 0.2, 0.6, 0.1, 0.9)]
    found = Yardstick(iter(calls).__next__).take()
    assert found == Reading(mean=pytest.approx(STRETCH / 4), least=0.1 * STRETCH)


def test_a_visit_has_the_slower_reading_and_the_quickest_moment_of_those_around_it():
    assert Visit.between([2.0, 1.0], Reading(3.0, 1.5), Reading(5.0, 2.5)) == Visit([2.0, 1.0], 5.0, 1.5)


def test_visits_on_a_busy_machine_are_left_out_where_there_are_enough_others():
    found = course([(1.0, 1.0), (2.0, 2.0), (1.0, 1.0), (2.0, 1.9), (1.0, 1.1)])
    assert found.times == [1.0] * 15
    assert found.is_stable
    assert found.is_done


def test_too_few_quiet_visits_all_count_and_are_not_settled():
    """Even where they agree: who is disturbed alike three times would seem sure."""
    found = course([(1.0, 1.0), (1.0, 2.0), (1.0, 2.0)])
    assert len(found.times) == 15
    assert found.spread.lower == found.spread.upper == 1.0
    assert not found.is_stable
    assert not found.is_done
    assert course([(1.0, 1.0)] + [(1.0, 2.0)] * (ENOUGH - 1)).is_done


def test_a_slow_visit_of_the_case_itself_is_never_left_out_of_its_quartiles():
    found = course([(1.0, 1.0), (2.0, 1.0), (1.0, 1.0), (2.0, 1.0)])
    assert sorted(set(found.times)) == [1.0, 2.0]
    assert not found.is_stable, "two came to the same, three are asked for"
    assert course([(1.0, 1.0), (2.0, 1.0), (1.0, 1.0), (1.05, 1.0)]).is_stable


def test_the_quickest_counts_from_any_visit_and_is_believed_when_three_came_near():
    found = course([(1.0, 1.0), (1.2, 1.0), (1.2, 1.0), (0.9, 9.0)])
    assert (found.quickest, found.stable_time, found.is_stable) == (0.9, 1.2, False)
    timing = found.timing()
    assert (timing.quickest, timing.repeated, timing.visits, timing.quiet) == (0.9, 1.2, 4, 3)


@pytest.mark.parametrize(("seconds", "counts"), [(MOMENT, True), (1.01 * MOMENT, False)])
def test_a_short_call_needs_a_moment_alone_and_a_long_one_a_visit_alone(seconds, counts):
    yard = Yardstick(iter([1.0]).__next__)
    usual = yard.take().mean
    visits = [Visit([seconds] * 5, yard=2.0 * usual, moment=usual)] * 3
    assert CaseHistory(Case(**CASE), PLACE, yard, visits=visits).is_stable is counts
    nowhere = [Visit([seconds] * 5, yard=2.0 * usual, moment=1.2 * usual)] * 3
    assert not CaseHistory(Case(**CASE), PLACE, yard, visits=nowhere).is_stable


def test_a_load_that_stays_is_no_reason_to_leave_anything_out():
    assert course([(2.0, 5.0)] * 3).is_stable


def test_a_load_that_stays_for_one_sweep_shows_where_another_had_none():
    found = course([(1.0, 1.0)] * 3)
    later = CaseHistory(
        found.case, found.place, found.yardstick, visits=[Visit([2.0] * 5, 2.0, 2.0)] * 3, scouted=[9.0]
    )
    assert found.is_stable
    assert later.spread.lower == later.spread.upper
    assert not later.is_stable


def test_all_sweeps_of_a_process_have_one_yardstick_for_a_device_and_its_threads():
    assert yardstick("cpu", 1) is yardstick("cpu", 1)
    assert yardstick("cpu", 1) is not yardstick("cpu", 2)


def test_before_the_first_visit_the_first_look_counts_and_is_never_settled():
    found = course([])
    assert (found.times, found.is_stable, found.spread.has_quartiles) == ([9.0], False, False)
    assert not found.timing().settled


@pytest.mark.parametrize(("visits", "share"), [(0, 0.1), (1, 0.1 + 0.8 / 3), (3, 1.0)])
def test_the_share_grows_with_the_visits(visits, share):
    assert course([(1.0, 1.0)] * visits).share == pytest.approx(share)

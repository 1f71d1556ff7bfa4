"""What a sweep says of a machine that others use: the quickest holds where the median does not, or says that it may not.

The machine is simulated (`busy_machine`), so that what a call takes on it alone is known.
"""

from __future__ import annotations

import pytest

from attention.timing.history import MOMENT
from tests.busy_machine import Machine, measure_case, ruler

SEEDS = range(6)
SHORT = (2e-5, 1e-4, 1e-3, 0.9 * MOMENT)  # seconds of a call


@pytest.mark.parametrize("seconds", SHORT)
def test_on_a_quiet_machine_three_visits_are_enough_and_median_and_quickest_are_the_same(seconds):
    found = measure_case(Machine(), seconds)
    assert found.is_stable
    assert len(found.visits) == len(found.quiet) == 3
    assert found.spread.median == pytest.approx(found.spread.seconds) == pytest.approx(seconds)


@pytest.mark.parametrize("seconds", SHORT)
@pytest.mark.parametrize("busy", [0.5, 0.9, 1.0])
def test_the_quickest_of_a_short_call_is_right_however_busy_the_machine_is(busy, seconds):
    for seed in SEEDS:
        found = measure_case(Machine(seed, busy), seconds)
        assert found.is_stable, seed
        assert found.spread.seconds == pytest.approx(seconds, rel=0.02), seed


def test_median_and_quartiles_are_what_a_busy_machine_makes_of_them():
    """By which alone nothing of this would be settled: once the upper quartile moves, once the median as well."""
    short = [measure_case(Machine(seed, 1.0), 0.9 * MOMENT).spread for seed in SEEDS]
    assert all(found.upper > 2 * 0.9 * MOMENT > found.median for found in short)
    long = [measure_case(Machine(seed, 0.7, burst=3.0), 0.05).spread for seed in SEEDS]
    assert max(found.median for found in long) > 1.9 * 0.05
    assert max(found.seconds for found in long) < 1.01 * 0.05


@pytest.mark.parametrize("busy", [0.3, 0.7, 1.0])
def test_a_long_call_is_never_told_too_short_and_is_right_where_it_settles(busy):
    for seed in SEEDS:
        found = measure_case(Machine(seed, busy, burst=3.0), 0.05)
        assert found.spread.seconds >= 0.05 * (1 - 1e-9), "what others take only adds"
        assert not found.is_stable or found.spread.seconds == pytest.approx(0.05, rel=0.1), seed


def test_a_long_call_that_never_has_the_machine_alone_does_not_settle_though_its_visits_agree():
    found = [measure_case(Machine(seed, 1.0), 0.2) for seed in SEEDS]
    leasts = sorted(visit.quickest for visit in found[0].visits)
    assert leasts[2] < 1.1 * leasts[0], "they agree"
    assert leasts[0] > 1.5 * 0.2, "on what is wrong"
    assert not any(each.is_stable for each in found)


def test_long_calls_settle_where_bursts_leave_whole_visits_alone():
    found = [measure_case(Machine(seed, 0.3, burst=10.0), 0.05) for seed in SEEDS]
    assert sum(each.is_stable for each in found) >= 5


@pytest.mark.parametrize("seconds", [1e-4, 0.05])
def test_a_machine_that_is_twice_as_slow_for_a_whole_sweep_settles_nothing_where_it_was_seen_quicker(seconds):
    machine = Machine()
    yard = ruler(machine)
    yard.take()
    machine.slow = 2.0
    found = measure_case(machine, seconds, yard)
    assert not found.is_stable
    assert (len(found.visits), len(found.quiet)) == (12, 0)


def test_a_machine_that_was_never_seen_otherwise_is_as_it_is():
    found = measure_case(Machine(slow=2.0), 1e-4)
    assert found.is_stable
    assert found.spread.seconds == pytest.approx(2e-4)

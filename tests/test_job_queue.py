"""Tasks in line: whatever visitors do, so many run, each in its turn, nobody waits for ever, and what has ended makes room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from attention.runtime.executors import RankedExecutor
from attention.timing.sweep import Sweep
from attention.ui import results
from attention.ui.jobs import pace
from attention.ui.jobs.job import Job
from attention.ui.jobs.job_queue import JOBS, ROUND, JobQueue
from attention.ui.jobs.map_jobs import MapJob
from attention.ui.jobs.timing_jobs import TIMING_JOBS
from attention.ui.jobs.timing_process import TimingJob
from tests.samples import examples
from tests.test_drawing import until

ME, YOU, SHE = VISITORS = ("me", "you", "she")
KEPT, EXPIRY = 3, 100.0


class Clock:
    """Time that stands still unless a test moves it, and what was asked to be done later."""

    def __init__(self) -> None:
        self.now, self.due = 1000.0, list[tuple[float, Callable[[], None]]]()

    def __call__(self) -> float:
        return self.now

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.due.append((self.now + seconds, call))

    def move(self, seconds: float) -> None:
        self.now += seconds
        ripe = [call for at, call in self.due if at <= self.now]
        self.due = [(at, call) for at, call in self.due if at > self.now]
        for call in ripe:
            call()

    def rounds(self, seconds: float) -> None:
        for _ in range(int(seconds // ROUND) + 1):
            self.move(ROUND)


class Count(Job):
    """A kind of task, whole: counts to ten, and goes on where it was."""

    kind: ClassVar[str] = "count"
    history, keep_s = KEPT, EXPIRY
    counted = 0

    def run(self) -> None:
        while self.counted < 10 and not self.should_stop():
            self.counted += 1
            self.progress(self.counted / 10)

    @property
    def guess(self) -> float:
        return 20.0


class Apart(Count):
    """The same, of a kind that visitors don't share, that does not pause, and of which a visitor may have many."""

    kind: ClassVar[str] = "apart"
    shared, one_each, pauses = False, False, False


def a_line(at_once: int = 1) -> tuple[JobQueue, Clock, list[Callable[[], None]]]:
    """A line whose threads are begun by hand."""
    clock, begun = Clock(), list[Callable[[], None]]()
    return JobQueue(at_once, begun.append, clock=clock, later=clock.later), clock, begun


class Promises(RuleBasedStateMachine):
    """Any sequence of what visitors, threads and the clock may do. The threads are the test's own: taken, then returned."""

    @initialize(at_once=st.integers(1, 3))
    def opens(self, at_once: int) -> None:
        self.line, self.clock, self.begun = a_line(at_once)
        self.every, self.running = list[Job](), list[Job]()

    @rule(who=st.sampled_from(VISITORS), kind=st.sampled_from([Count, Apart]), what=st.integers(0, 3))
    def asks(self, who: str, kind: type[Job], what: int) -> None:
        task = self.line.request(kind, what, who)
        assert who in task.looks and task in self.line.tasks
        assert task.state not in ("cancelled", "left")
        if task not in self.every:
            self.every.append(task)
        if kind.one_each:
            others = [other for other in self.every if isinstance(other, kind) and other.open and other is not task]
            assert all(who not in other.looks for other in others)

    @precondition(lambda self: self.every)
    @rule(data=st.data(), who=st.sampled_from(VISITORS), act=st.sampled_from(["look", "leave", "pause", "go_on"]))
    def acts(self, data, who: str, act: str) -> None:
        task = data.draw(st.sampled_from(self.every))
        before, looked = task.state, who in task.looks
        if act in ("pause", "go_on"):
            getattr(self.line, act)(task, who)
        else:
            getattr(task, act)(who)
        if before in ("done", "cancelled", "left", "failed"):
            assert task.state == before, "what has ended stays so"
        elif act == "leave" and looked and not task.looks:
            assert task.state == "cancelled"
        elif act == "pause":
            here = {name for name, at in task.looks.items() if self.clock() - at < task.leave_after_s}
            alone = task.pauses and here == {who}
            assert not alone or task.state == "paused"

    @rule(seconds=st.sampled_from([1.0, 14.0, 16.0, 120.0, 700.0]))
    def time_goes_by(self, seconds: float) -> None:
        self.clock.move(seconds)

    @precondition(lambda self: self.begun)
    @rule()
    def a_thread_takes_one(self) -> None:
        waiting = [task for task in self.line.tasks if task.update_state() == "waiting" and task not in self.line.busy]
        task = self.line.take()
        assert task is (waiting[0] if waiting else None), "the first in line that waits"
        if task is None:
            self.begun.pop()
            self.line.threads -= 1
        else:
            self.begun.pop()
            self.running.append(task)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), fails=st.booleans())
    def a_run_is_over(self, data, fails: bool) -> None:
        task = data.draw(st.sampled_from(self.running))
        self.running.remove(task)
        state = task.update_state()
        self.line.finished(task, RuntimeError() if fails else None)
        self.begun.append(self.line._work)  # the same thread looks for the next
        assert task not in self.line.busy
        if state == "running":
            assert task.state == ("failed" if fails else "done")
        elif not fails:
            assert task.state == state

    @invariant()
    def so_many_run(self) -> None:
        assert set(self.running) == self.line.busy
        assert len(self.running) <= self.line.at_once
        assert all(task in self.line.busy for task in self.line.tasks if task.state == "running")

    @invariant()
    def who_waits_has_a_thread_coming(self) -> None:
        assert self.line.threads == len(self.begun) + len(self.running) <= self.line.at_once
        ready = [task for task in self.line.tasks if task.update_state() == "waiting"]
        self.line.tidy()
        assert not ready or self.line.threads == min(self.line.at_once, max(self.line.threads, len(ready)))

    @invariant()
    def places_are_in_the_order_of_the_line(self) -> None:
        places = [self.line.before(task) for task in self.line.tasks if task.update_state() == "waiting"]
        assert places == sorted(set(places)), "nobody has another one's place"
        ahead = sum(task.update_state() in ("waiting", "running") for task in self.line.tasks)
        assert all(place < ahead for place in places)

    @invariant()
    def what_has_ended_makes_room(self) -> None:
        self.line.tidy()
        ended = [task for task in self.line.tasks if not task.open]
        assert max(Counter(task.kind for task in ended).values(), default=0) <= KEPT
        assert all(self.clock() - task.seen < EXPIRY for task in ended)

    @invariant()
    def nobody_is_forgotten_who_looks(self) -> None:
        for task in self.every:
            if task.update_state() in ("waiting", "running", "paused"):
                assert task in self.line.tasks
                assert any(self.clock() - at < task.pause_limit_s for at in task.looks.values())

    def teardown(self) -> None:
        """Everybody who still waits has a turn, if only all go on looking and nobody pauses."""
        if not hasattr(self, "line"):
            return
        for task in self.every:
            for who in VISITORS:
                task.go_on(who)
                if task.open:
                    task.look(who)
        self.line.tidy()
        while self.begun or self.running:
            for task in self.running:
                self.line.finished(task)
                self.begun.append(self.line._work)
            self.running = []
            while self.begun:
                self.begun.pop()()
        assert not any(task.open for task in self.every)
        assert self.line.threads == 0 and not self.line.busy


Promises.TestCase.settings = settings(max_examples=examples(50), stateful_step_count=30, deadline=None)
TestPromises = Promises.TestCase


def test_a_kind_is_a_run():
    line, _, begun = a_line()
    task = line.request(Count, "settings", ME)
    assert (task.state, line.request(Count, "settings", YOU) is task, len(begun)) == ("waiting", True, 1)
    begun.pop()()
    assert (task.state, task.share, task.counted, line.threads) == ("done", 1.0, 10, 0)


def test_the_same_in_threads_of_a_lane():
    line = JobQueue(2, RankedExecutor("counts", 2, 2).submit)
    tasks = [line.request(Apart, at, ME) for at in range(20)]
    until(lambda: not any(task.open for task in tasks))
    assert {task.state for task in tasks} == {"done"}
    until(lambda: line.threads == 0)


def test_what_is_paused_lets_others_by_and_goes_on_where_it_was():
    class Halfway(Count):
        def progress(self, share: float) -> None:
            super().progress(share)
            if self.counted == 5:
                self.pause(ME)

    line, _, begun = a_line()
    first, second = line.request(Halfway, 1, ME), line.request(Count, 2, YOU)
    assert line.before(second) == 1
    begun.pop()()
    assert (first.state, first.share, second.state) == ("paused", 0.5, "done")
    line.go_on(first, ME)
    begun.pop()()
    assert (first.state, first.counted) == ("done", 10)


def test_who_pauses_stops_nothing_for_others_and_leaves_nothing_running_for_nobody():
    line, clock, _ = a_line()
    task = line.request(Count, 1, ME)
    line.request(Count, 1, YOU)
    assert line.take() is task
    line.pause(task, ME)
    assert task.state == "running"
    clock.move(Count.leave_after_s - 1)
    task.look(ME)
    clock.move(1)
    assert task.update_state() == "paused", "the other one has gone"
    line.request(Count, 1, SHE)
    assert task.state == "waiting"
    task.leave(SHE)
    assert task.state == "paused"
    clock.move(Count.pause_limit_s - 2)
    assert task.update_state() == "paused", "a hidden tab asks seldom"
    clock.move(1)
    assert task.update_state() == "left"


def test_a_visitor_who_has_gone_ends_what_runs_within_seconds():
    line, clock, _ = a_line()
    task = line.request(Count, 1, ME)
    assert line.take() is task and not task.should_stop()
    clock.move(Count.leave_after_s)
    assert task.should_stop()
    line.finished(task)
    assert (task.state, line.busy) == ("left", set())


def test_what_is_not_shared_has_a_task_each_and_no_pause():
    line, _, _ = a_line()
    mine, again = line.request(Apart, 1, ME), line.request(Apart, 1, ME)
    assert mine is not again and line.find(Apart, 1) is again
    line.pause(mine, ME)
    assert mine.state == "waiting" and line.before(again) == 1


def test_what_has_ended_is_dropped_some_time_after_the_last_look_though_nobody_comes():
    line, clock, begun = a_line()
    old, kept = (line.request(Count, at, who) for at, who in enumerate((ME, YOU)))
    begun.pop()()
    clock.rounds(EXPIRY - ROUND)
    kept.look(YOU)
    assert line.tasks == [old, kept]
    clock.rounds(2 * ROUND)
    assert line.tasks == [kept] and old.state == "done"
    clock.rounds(EXPIRY)
    assert line.tasks == []
    clock.rounds(ROUND)
    assert not clock.due


def test_what_was_paused_and_left_is_given_up_though_nobody_comes():
    line, clock, _ = a_line()
    task = line.request(Count, 1, ME)
    line.pause(task, ME)
    clock.rounds(Count.pause_limit_s + ROUND)
    assert task.state == "left" and line.tasks == []


def test_kinds_wait_for_each_other_and_each_keeps_its_own_that_have_ended():
    line, _, begun = a_line()
    count, apart = line.request(Count, 1, ME), line.request(Apart, 1, YOU)
    assert line.take() is count and line.take() is None
    assert (line.before(apart), line.other(apart), line.other(count)) == (1, "a count is being computed", "")
    assert (line.waiting(Count), line.waiting(Apart)) == (0, 1)
    line.finished(count)
    assert line.take() is apart and line.other(apart) == ""
    line.finished(apart)
    for at in range(KEPT + 1):
        line.request(Apart, at + 2, ME)
        begun.pop()()
    assert count in line.tasks and len([task for task in line.tasks if isinstance(task, Apart)]) == KEPT


def test_a_map_and_a_sweep_stand_in_one_line():
    assert results.long.STUDIO.line is TIMING_JOBS.line is JOBS and JOBS.at_once == 1
    assert {kind.kind: (kind.history, kind.keep_s) for kind in (MapJob, TimingJob)} == {
        "map": (3, 240.0),
        "sweep": (16, 3600.0),
    }


def test_a_failure_is_said_and_the_line_goes_on(caplog):
    class Broken(Count):
        def run(self) -> None:
            raise MemoryError("no room")

    line, _, begun = a_line()
    broken, whole = line.request(Broken, 1, ME), line.request(Count, 2, YOU)
    begun.pop()()
    assert (broken.state, broken.said, whole.state) == (
        "failed",
        "The job failed; the server log has the reason.",
        "done",
    )
    assert "no room" in caplog.text
    assert line.request(Broken, 1, YOU) is broken
    line.forget(broken)
    assert line.request(Broken, 1, YOU) is not broken


@pytest.mark.parametrize(
    ("share", "spent", "least", "most"),
    [(0.0, 0.0, 52, 52), (0.25, 13.0, 38.9, 39.1), (0.25, 64.0, 150, 195), (0.5, 128.0, 115, 130), (1.0, 256.0, 0, 0)],
    ids=["guessed", "as guessed", "two heads of eight took 64 s instead of 13", "half", "done"],
)
def test_what_is_left_is_guessed_first_and_measured_then(share, spent, least, most):
    assert least <= (pace.seconds_left(52.0, share, spent) or 0.0) <= most


def test_where_nothing_was_guessed_only_what_was_measured_tells():
    assert pace.seconds_left(None, 0.0, 5.0) is None
    assert pace.seconds_left(None, 0.25, 5.0) == 15.0


def test_a_task_corrects_its_guess_as_it_goes_and_pauses_do_not_count():
    line, clock, _ = a_line()
    task = line.request(Count, 1, ME)
    clock.move(5)
    task.look(ME)
    line.take()
    assert (task.seconds_left, task.slow) == (20.0, False), "a wait in line says nothing of the pace"
    for step in range(1, 4):
        clock.move(10)
        task.look(ME)
        task.progress(step / 10)
    assert task.seconds_left == pytest.approx(0.7 * (0.05 * 20 + 30) / 0.35)
    assert task.slow
    line.pause(task, ME)
    clock.move(500)
    assert task.seconds_spent == 30
    line.go_on(task, ME)
    task.look(ME)
    line.finished(task)
    assert line.take() is task and task.seconds_spent == 30


def test_news_that_do_not_come_are_news():
    line, clock, _ = a_line()
    task = line.request(Count, 1, ME)
    line.take()
    clock.move(2)
    assert (task.seconds_left, task.slow) == (20.0, False)
    clock.move(8)
    assert task.seconds_left == pytest.approx((0.05 * 20 + 10) / 0.05) and task.slow


def test_whoever_takes_too_long_makes_way_and_what_is_finished_stays():
    """Pauses don't count, and a sweep has a budget of its own."""
    line, clock, _ = a_line()
    task, next_one = line.request(Count, 1, ME), line.request(Count, 2, YOU)

    def both_look(seconds: int) -> None:
        for _ in range(seconds // 10):
            clock.move(10)
            task.look(ME)
            next_one.look(YOU)

    line.take()
    both_look(600)
    task.progress(0.4)
    task.pause(ME)
    line.finished(task)
    both_look(500)
    task.go_on(ME)
    line.take()
    both_look(600)
    assert task.state == "running" and not task.should_stop() and line.before(next_one) == 1
    clock.move(1)
    assert task.should_stop() and (task.state, task.share) == ("failed", 0.4)
    assert task.said == "Stopped after 20 minutes, the limit per job on this server."
    line.finished(task)
    assert line.take() is next_one
    assert TimingJob(Sweep(seconds=7200.0)).overdue == ""


def test_a_visitor_who_is_known_to_have_gone_waits_for_nothing():
    line, _, _ = a_line()
    ours, mine, yours = line.request(Count, 2, ME), line.request(Apart, 1, ME), line.request(Apart, 3, YOU)
    line.request(Count, 2, SHE)
    line.leave(ME)
    assert [task.state for task in (mine, ours, yours)] == ["cancelled", "waiting", "waiting"]

"""Measuring for visitors: one at a time, in a process of its own, and what was measured stays."""

from __future__ import annotations

import os
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from attention.timing import recordings
from attention.timing.one_at_a_time import ITS_TURN, WAITING
from attention.timing.sweep import Sweep
from attention.ui.budget import BUDGET
from attention.ui.jobs import timing_jobs as measuring
from attention.ui.jobs import timing_process
from attention.ui.jobs.timing_jobs import TimingJobs
from attention.ui.jobs.timing_process import TimingJob
from tests.test_budget import Firm
from tests.timings import line

ROWS = [recordings.row(timing) for timing in line([64, 128], [1.0, 2.0])]
PATIENCE, ME, MIB = 30, "me", 2**20


@pytest.fixture
def program(monkeypatch, tmp_path):
    """Puts a program of our own in the place of the command line."""

    def put(body: str) -> Path:
        path = tmp_path / "program"
        head = f"#!{sys.executable}\nimport json, sys, time, pathlib\nROWS = {ROWS!r}\n"
        tell = """
            def tell(i, share):
                print(json.dumps({"progress": {"share": share, "cases": 3}, "timing": ROWS[i]}), flush=True)
        """
        path.write_text(head + textwrap.dedent(tell) + textwrap.dedent(body))
        path.chmod(0o755)
        monkeypatch.setattr(timing_process.sys, "executable", str(path))
        return tmp_path

    return put


def until(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_timings_come_as_they_are_printed(program):
    program("tell(0, 0.5); tell(1, 1.0)")
    job = TimingJobs().submit(Sweep(), ME)
    until(lambda: not job.open)
    assert job.state == "done"
    assert [recordings.row(timing) for timing in job.timings.values()] == ROWS
    assert (job.share, job.cases, job.unbegun) == (1.0, 3, 1)


def test_a_cancelled_job_keeps_what_was_measured_and_its_process_ends(program):
    program("tell(0, 0.5); time.sleep(600)")
    desk = TimingJobs()
    job = desk.submit(Sweep(), ME)
    until(lambda: job.timings)
    job.leave(ME)
    until(lambda: job.process.poll() is not None)
    assert job.state == "cancelled"
    assert [timing.length for timing in job.timings.values()] == [64]


@pytest.mark.skipif(sys.platform == "win32", reason="the lock is one of Unix")
def test_a_process_that_was_ended_leaves_nothing_in_the_temporary_folder(program, monkeypatch, tmp_path):
    """Neither the lock file, nor what it has compiled."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    lock = place / f"attention-timing-{os.getuid()}.lock"
    program(f"""
        import os
        pathlib.Path({str(lock)!r}).touch()
        (pathlib.Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]) / "kernel").touch()
        tell(0, 0.5)
        time.sleep(600)
    """)
    desk = TimingJobs()
    job = desk.submit(Sweep(), ME)
    until(lambda: job.timings)
    assert len(list(place.iterdir())) == 2
    job.leave(ME)
    until(lambda: not desk.line.busy)
    assert list(place.iterdir()) == []


def test_one_is_measured_at_a_time_and_the_others_see_how_many_are_before_them(program):
    folder = program("""
        here = pathlib.Path(__file__).parent
        tell(0, 0.5)
        while not (here / "go").exists():
            time.sleep(0.02)
    """)
    desk = TimingJobs()
    jobs = [desk.submit(Sweep(), ME) for _ in range(3)]
    until(lambda: jobs[0].timings)
    assert [job.state for job in jobs] == ["running", "waiting", "waiting"]
    assert [desk.line.before(job) for job in jobs] == [0, 1, 2]
    jobs[1].leave(ME)
    assert desk.line.before(jobs[2]) == 1
    (folder / "go").touch()
    until(lambda: not any(job.open for job in jobs))
    assert [job.state for job in jobs] == ["done", "cancelled", "done"]
    assert jobs[1].process is None


def test_a_line_that_is_full_or_a_host_that_is_off_says_so(program, monkeypatch):
    program("time.sleep(600)")
    monkeypatch.setattr(measuring, "LINE", 1)
    desk = TimingJobs()
    first = desk.submit(Sweep(), ME)
    until(lambda: first.process)
    second = desk.submit(Sweep(), ME)
    assert desk.submit(Sweep(), ME).said == "Too many measurements are waiting; try again in a few minutes."
    monkeypatch.setenv("ATTENTION_MEASURE", "off")
    refused = desk.submit(Sweep(), ME)
    assert (refused.state, refused.said) == ("failed", "Measuring is switched off on this server.")
    for job in (second, first):  # what still waits would be measured once the test is over, with the program itself
        job.leave(ME)


@pytest.mark.parametrize("machine", [True, False])
def test_a_sweep_waits_for_memory_and_begins_by_itself_once_there_is_some(program, monkeypatch, machine):
    """What lacks is room on the machine, or room that others hold in the budget."""
    program("tell(0, 1.0)")
    free, others = [300 * MIB], Firm(500 * MIB)
    if machine:
        monkeypatch.setattr(timing_process.devices, "free_bytes", lambda key: free[0])
    desk = TimingJobs()
    monkeypatch.setattr(BUDGET, "most", 750 * MIB)
    monkeypatch.setattr(BUDGET, "claims", [desk.line] + [others] * (not machine))
    job = desk.submit(Sweep(), ME)
    until(lambda: job.lacks)
    left = "this machine has 300 MiB free." if machine else "250 MiB are free."
    assert "measuring needs 700 MiB, " in job.lacks and f"{left} It starts automatically" in job.lacks
    assert (job.state, job.claim, job.process) == ("waiting", 0, None)
    free[0], others.used_bytes = 800 * MIB, 0
    desk.line.tidy()
    until(lambda: not job.open)
    assert (job.state, job.lacks, len(job.timings)) == ("done", "", 1)


def test_a_second_sweep_waits_for_the_first_where_there_is_memory_for_one(program, monkeypatch):
    folder = program("""
        while not (pathlib.Path(__file__).parent / "go").exists():
            time.sleep(0.02)
        tell(0, 1.0)
    """)
    desk = TimingJobs()
    monkeypatch.setattr(BUDGET, "most", 750 * MIB)
    monkeypatch.setattr(BUDGET, "claims", [desk.line])
    first = desk.submit(Sweep(), ME)
    until(lambda: first.process)
    second = desk.submit(Sweep(), "you")
    assert (first.state, second.state, desk.line.before(second)) == ("running", "waiting", 1)
    assert first.claim >= timing_process.NEEDED and second.claim == 0
    (folder / "go").touch()
    until(lambda: not second.open)
    assert (first.state, second.state) == ("done", "done")


def test_a_process_that_waits_for_another_program_says_so_and_keeps_its_budget(program, monkeypatch):
    folder = program(f"""
        here = pathlib.Path(__file__).parent
        print({WAITING!r}, flush=True)
        while not (here / "go").exists():
            time.sleep(0.02)
        print({ITS_TURN!r}, flush=True)
        tell(0, 0.5)
        time.sleep(0.5)
    """)
    monkeypatch.setattr(timing_process, "GRACE", 1.0)
    monkeypatch.setattr(timing_process, "WATCH", 0.02)
    desk = TimingJobs()
    job, behind = (desk.submit(Sweep(seconds=1.0), ME) for _ in range(2))
    until(lambda: job.held)
    time.sleep(2.2)
    assert (job.state, desk.is_blocked, desk.line.before(behind)) == ("running", True, 1), "its budget has not started"
    behind.leave(ME)
    (folder / "go").touch()
    until(lambda: job.timings)
    assert (job.state, desk.is_blocked) == ("running", False)
    until(lambda: not job.open)
    assert (job.state, job.said) == ("done", "")


def test_who_leaves_or_cancels_while_another_program_measures_makes_room(program, monkeypatch):
    program(f"print({WAITING!r}, flush=True); time.sleep(600)")
    monkeypatch.setattr(timing_process, "WATCH", 0.02)
    desk = TimingJobs()
    for leave in (lambda job: job.leave(ME), lambda job: job.looks.update({ME: -1e9})):
        job = desk.submit(Sweep(), ME)
        until(lambda job=job: job.held)
        leave(job)
        until(lambda job=job: job.process.poll() is not None)
        assert not job.open


def test_a_process_that_does_not_end_is_ended_and_that_is_said(program, monkeypatch):
    program("tell(0, 0.5); time.sleep(600)")
    monkeypatch.setattr(timing_process, "GRACE", 0.5)
    monkeypatch.setattr(timing_process, "WATCH", 0.02)
    job = TimingJobs().submit(Sweep(seconds=1.0), ME)
    until(lambda: not job.open)
    assert job.state == "failed"
    assert job.said == "Stopped 0.5 seconds after its time budget, because it did not end by itself."
    assert len(job.timings) == 1


def test_a_process_that_ends_by_another_signal_names_it(program):
    program("import os; os.kill(os.getpid(), 6)")
    job = TimingJobs().submit(Sweep(), ME)
    until(lambda: not job.open)
    assert (job.state, job.said) == ("failed", "The measuring process ended by the signal SIGABRT.")


def test_who_no_longer_looks_makes_room(program, monkeypatch):
    program("""
        for i in range(600):
            tell(0, 0.5)
            time.sleep(0.05)
    """)
    desk = TimingJobs()
    job = desk.submit(Sweep(), ME)
    until(lambda: job.timings)
    job.looks[ME] = time.monotonic() - 90
    time.sleep(3 * timing_process.WATCH)
    assert job.state == "running", "a hidden tab asks once a minute"
    job.looks[ME] -= 60
    until(lambda: not job.open)
    assert job.state == "left"


def test_a_process_that_fails_says_its_last_words(program):
    program("print('device is gone'); sys.exit(2)")
    job = TimingJobs().submit(Sweep(), ME)
    until(lambda: not job.open)
    assert (job.state, job.said) == ("failed", "device is gone")


def test_a_process_that_the_system_ends_keeps_what_was_measured(program):
    program("tell(0, 0.5); import os; os.kill(os.getpid(), 9)")
    job = TimingJobs().submit(Sweep(), ME)
    until(lambda: not job.open)
    assert job.state == "failed"
    assert job.said == "The measuring process was killed by the system, most likely because memory ran out."
    assert len(job.timings) == 1


def test_the_owner_bounds_the_budget(program, monkeypatch):
    program("tell(0, 1.0)")
    monkeypatch.setenv("ATTENTION_MEASURE_SECONDS", "10")
    job = TimingJobs().submit(Sweep(seconds=600.0), ME)
    assert job.settings.seconds == 10
    until(lambda: not job.open)


def test_words_that_are_no_timing_are_not_taken_for_one():
    job = TimingJob(Sweep())
    for text in ("Warning: something else", "[]", '{"timing": 7}', '{"timing": {"length": -1}}'):
        timing_process.take_in(job, text)
    assert job.timings == {}
    assert job.said == '{"timing": {"length": -1}}'


@pytest.mark.skipif(sys.platform != "linux", reason="memory of another process can be bounded on Linux alone")
def test_a_process_gets_no_more_memory_than_it_claims(program, monkeypatch):
    monkeypatch.setattr(timing_process, "SHARE", 0.0)
    program("""
        import time
        time.sleep(0.5)
        try:
            held = bytearray(2**30)
        except MemoryError:
            print("no room")
            sys.exit(2)
    """)
    job = TimingJobs().submit(Sweep(), ME)
    until(lambda: job.process)
    assert job.claim == timing_process.NEEDED < 2**30
    until(lambda: not job.open)
    assert (job.state, job.said, job.claim) == ("failed", "no room", 0)

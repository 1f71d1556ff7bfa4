"""What pages say of a task in the background, whatever its kind: its place, how far it is, how long it takes, its end."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from attention import Config
from attention.timing.sweep import Sweep
from attention.ui import results
from attention.ui.jobs.timing_jobs import TIMING_JOBS
from attention.ui.jobs.timing_process import TimingJob
from attention.ui.views import job_status
from attention.ui.views.timing import ago
from tests.test_job_queue import ME, SHE, YOU, Apart, Count, a_line
from tests.test_pages import ROOT, run
from tests.test_timing_page import LENGTHS, figures
from tests.test_timing_page import run as timing_page
from tests.timings import line as timings


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    """A host that nobody else uses, until a test says otherwise."""
    load = {"now": 0.0}
    monkeypatch.setattr(job_status.pace.os, "getloadavg", lambda: (load["now"],) * 3)
    return load


def test_a_task_says_its_place_and_what_it_will_take():
    line, _, _ = a_line()
    first, second = line.request(Count, 1, ME), line.request(Count, 2, YOU)
    assert job_status.status_text(first, "To ten.", line.before(first), ME) == (
        "In the queue. To ten. About 20 s once it starts."
    )
    line.take()
    assert job_status.status_text(first, "To ten.", line.before(first), ME) == "To ten. About 20 s left."
    assert job_status.status_text(second, "To ten.", line.before(second), YOU).startswith(
        "In the queue, after 1 earlier job."
    )


def test_a_task_that_waits_for_another_kind_says_so():
    line, _, _ = a_line()
    line.request(Apart, 1, ME)
    line.take()
    task = line.request(Count, 2, YOU)
    said = job_status.status_text(task, "To ten.", line.before(task), YOU, line.other(task))
    assert said == "In the queue, after 1 earlier job; a apart is being computed. To ten. About 20 s once it starts."
    behind_sweep = TimingJob(Sweep(), "running")
    assert behind_sweep.doing == "a measurement is running"
    behind_sweep.held = True
    assert behind_sweep.doing == "a measurement waits for another program"


def test_a_task_that_takes_longer_says_how_long_and_why(idle):
    line, clock, _ = a_line()
    task = line.request(Count, 1, ME)
    line.take()
    clock.move(10)
    task.look(ME)
    task.progress(0.1)
    assert job_status.status_text(task, "To ten.", 0, ME) == "To ten. About 70 s left (longer than estimated)."
    idle["now"] = 64.0
    assert job_status.status_text(task, "To ten.", 0, ME) == "To ten. About 70 s left (the server is busy)."
    clock.move(10)
    task.progress(0.9)
    idle["now"] = 0.0
    assert job_status.status_text(task, "To ten.", 0, ME) == "To ten. About 3 s left."


def test_a_pause_is_said_and_who_is_in_its_way():
    line, _, _ = a_line()
    task = line.request(Count, 1, ME)
    line.take()
    line.request(Count, 1, SHE)
    line.pause(task, ME)
    assert job_status.status_text(task, "To ten.", 0, ME) == (
        "To ten. It continues because another visitor waits for it. About 20 s left."
    )
    task.leave(SHE)
    assert job_status.status_text(task, "To ten.", 0, ME) == "Paused. To ten. About 20 s left when it continues."


def test_a_budget_is_what_is_left_at_the_most():
    clock = a_line()[1]
    task = TimingJob(Sweep(seconds=30.0), clock=clock)
    task.look(ME)
    assert job_status.status_text(task, "One.", 2, ME) == "In the queue, after 2 earlier jobs. One."
    task.begin()
    clock.move(7.5)
    assert job_status.status_text(task, "One.", 0, ME) == "One. At most 23 s left."
    task.held = True
    assert job_status.status_text(task, "One.", 0, ME) == "One."
    assert not Apart.pauses and not TimingJob.pauses


def test_a_map_is_paused_goes_on_and_is_cancelled_from_its_page(monkeypatch):
    link = {"tokens": "8000", "heads": "3", "d_model": "24", "mask": "full", "seed": "77"}
    key = Config(tokens=8000, heads=3, d_model=24, mask="full", seed=77).for_page()
    line = results.long.STUDIO.line
    monkeypatch.setattr(line, "take", lambda: None)  # nothing runs until this test says so
    test = run(ROOT / "pages/heads.py", link)
    assert test.get("progress")[0].proto.text.startswith("In the queue. Exact weights: 0 of 3 heads, ")
    test.button(key="pause").click().run()
    drawing = results.long.STUDIO.find(key)
    assert drawing is not None and drawing.state == "paused"
    assert test.get("progress")[0].proto.text.startswith("Paused. Exact weights: 0 of 3 heads, ")
    said = [each.value for each in test.markdown]
    assert "**3 heads** over 8,000 tokens. Each head is a preview until its map is exact." in said
    monkeypatch.undo()
    test.button(key="continue").click().run()
    deadline = time.monotonic() + 60
    while not drawing.heads and drawing.open and time.monotonic() < deadline:
        drawing.look(next(iter(drawing.looks)))
        time.sleep(0.01)
    assert drawing.heads, "it goes on"
    assert not test.exception


def test_what_was_measured_is_there_again_when_the_page_is_opened_again(monkeypatch):
    sweep = Sweep(lengths=tuple(LENGTHS), seed=4711, heads=(12,))
    clock = a_line()[1]
    found = {timing.case: timing for timing in timings(LENGTHS, [0.001, 0.016, 0.256], heads=12)}
    task = TimingJob(sweep, timings=found, clock=clock)
    monkeypatch.setattr(TIMING_JOBS.line, "tasks", [task])
    monkeypatch.setattr(TIMING_JOBS.line, "clock", clock)
    task.look("an earlier session")
    task.end("done")
    clock.move(250)
    link = {"lengths": "64,256,1024", "seed": "4711", "heads": "12"}
    test = timing_page(link)
    assert test.get("progress")[0].proto.text == "Measured here 4 minutes ago: 3 cases."
    assert len(figures(test)) == 1
    assert not test.button(key="measure").disabled
    assert not timing_page(link | {"seed": "4712"}).get("progress"), "another sweep"
    task.timings = {case: replace(timing, settled=False) for case, timing in found.items()}
    assert not timing_page(link).get("progress"), "times of a busy machine are for the visitor who measured them"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "less than a minute ago"), (119, "1 minute ago"), (5999, "99 minutes ago"), (7300, "2 hours ago")],
)
def test_how_long_ago_that_was_is_said_in_words(seconds, said):
    assert ago(seconds) == said

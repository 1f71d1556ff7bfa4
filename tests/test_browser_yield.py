"""The rest of a page waits for its picture to be painted, and makes way for a change."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from attention import streamlit_internals
from attention.ui.session import browser_yield


@pytest.fixture
def run(monkeypatch) -> SimpleNamespace:
    """A run of a fragment: its requests, how long it slept and which reruns it asked for; `hurried`, if you like."""
    run = SimpleNamespace(fragment_ids_this_run=["view"], script_requests=ScriptRequests(), slept=0.0, asked=[])
    run.hurried = run.arrives = False
    run.linked = []
    for name, seconds in {"GAP": 0.06, "CALM": 0.25, "ARRIVAL": 0.5}.items():  # other tests have none
        monkeypatch.setattr(browser_yield, name, seconds)

    def sleep(seconds: float) -> None:
        run.slept += seconds

    monkeypatch.setattr(browser_yield, "sleep", sleep)
    monkeypatch.setattr(browser_yield, "monotonic", lambda: run.slept)
    monkeypatch.setattr(streamlit_internals, "run_context", lambda: run)
    monkeypatch.setattr(browser_yield.page, "is_hurried", lambda: run.hurried)
    monkeypatch.setattr(browser_yield.page, "arrives", lambda: run.arrives)
    monkeypatch.setattr(browser_yield.address_bar, "write_link", lambda: run.linked.append(run.slept))
    monkeypatch.setattr(browser_yield.st, "rerun", lambda scope: run.asked.append(scope))
    # a runner that waits for work has no request; one that works has, from then on, those that came since
    run.script_requests._state = type(run.script_requests._state).CONTINUE
    return run


def test_a_picture_is_given_time_to_be_painted(run):
    browser_yield.yield_to_browser()
    assert run.slept == pytest.approx(browser_yield.GAP)
    assert not run.asked


def test_the_first_picture_is_given_more(run):
    run.arrives = True
    browser_yield.yield_to_browser()
    assert run.slept == pytest.approx(0.5)


def test_a_run_makes_way_for_a_change(run):
    run.script_requests.request_rerun(RerunData(fragment_id="controls"))
    browser_yield.yield_to_browser()
    assert run.slept == pytest.approx(browser_yield.GAP)  # or the pictures of a slider that is dragged were never seen
    assert run.asked == ["fragment"]


def test_the_address_bar_follows_the_picture_whatever_comes_next(run):
    run.hurried = True
    browser_yield.yield_to_browser()
    run.script_requests.request_rerun(RerunData(fragment_id="controls"))
    browser_yield.yield_to_browser()
    assert run.linked == pytest.approx([browser_yield.GAP, run.slept])


def test_a_timer_ends_no_picture(run):
    run.script_requests.request_rerun(RerunData(fragment_id="growing", is_auto_rerun=True))
    browser_yield.yield_to_browser()
    assert not run.asked


def test_a_run_of_the_whole_page_is_left_to_streamlit(run):
    run.fragment_ids_this_run = None
    run.script_requests.request_rerun(RerunData(fragment_id="controls"))
    browser_yield.yield_to_browser()
    assert not run.asked


def test_the_rest_waits_longer_while_changes_follow_each_other(run):
    run.hurried = True
    browser_yield.yield_to_browser()
    assert browser_yield.CALM <= run.slept < browser_yield.CALM + 2 * browser_yield.LOOK
    run.script_requests.request_rerun(RerunData(fragment_id="controls"))
    run.slept = 0.0
    browser_yield.yield_to_browser()
    assert run.slept == pytest.approx(browser_yield.GAP)
    assert run.asked == ["fragment"]

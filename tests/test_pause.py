"""The rest of a page is sent once, after the picture."""

from __future__ import annotations

import pytest

from attention.ui import pause


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(pause, "sleep", lambda seconds: told.append("pause"))
    return told


def test_the_rest_follows_the_pause_and_only_once(sent):
    pause.then(lambda: sent.append("controls"))
    sent.append("picture")
    pause.paint()
    pause.paint()
    pause.rest()
    assert sent == ["picture", "pause", "controls", "pause"]


def test_a_page_without_a_pause_sends_the_rest_in_the_end(sent):
    pause.then(lambda: sent.append("controls"))
    pause.rest()
    assert sent == ["controls"]


def test_a_run_that_was_ended_leaves_nothing_to_the_next(sent):
    pause.then(lambda: sent.append("old"))
    pause.then(lambda: sent.append("new"))
    pause.rest()
    assert sent == ["new"]

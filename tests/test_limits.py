"""What the owner of a host allows: said clearly, and never more than was meant."""

from __future__ import annotations

import pytest

from attention.timing.sweep import Sweep
from attention.ui import limits
from attention.ui.limits import Limits, bounded


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in ("ATTENTION_MEASURE", "ATTENTION_MEASURE_SECONDS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("text", ["", " on ", "1", "Yes", "TRUE", "enabled"])
def test_on_is_on(monkeypatch, text):
    monkeypatch.setenv("ATTENTION_MEASURE", text)
    assert limits.limits() == Limits()


@pytest.mark.parametrize("text", ["off", "0", "No", "FALSE", "disabled", " never "])
def test_off_is_off(monkeypatch, text):
    monkeypatch.setenv("ATTENTION_MEASURE", text)
    assert limits.limits().why == "The owner of this host has switched measuring off."


@pytest.mark.parametrize(("text", "seconds"), [("20", 20), (" 7.5 ", 7.5), ("30s", 30), ("30 S", 30), ("", 120)])
def test_a_bound_is_seconds(monkeypatch, text, seconds):
    monkeypatch.setenv("ATTENTION_MEASURE_SECONDS", text)
    assert limits.limits() == Limits(seconds=seconds)


@pytest.mark.parametrize("text", ["²", "soon", "2 min", "0", "-5", "1", "1e9", "nan", "inf"])
def test_a_bound_that_is_none_switches_measuring_off_and_says_so(monkeypatch, caplog, text):
    limits._warn.cache_clear()
    monkeypatch.setenv("ATTENTION_MEASURE_SECONDS", text)
    said = (
        f"ATTENTION_MEASURE_SECONDS={text!r} is not a number of seconds between 2 and 7,200, like 20. "
        "Measuring is off until the owner of this host corrects it."
    )
    assert limits.limits().why == limits.limits().why == said
    assert [record.message for record in caplog.records] == [said], "once in the log of the server"


def test_a_switch_that_is_neither_is_off_and_says_so(monkeypatch):
    monkeypatch.setenv("ATTENTION_MEASURE", "perhaps")
    assert limits.limits().why.startswith("ATTENTION_MEASURE='perhaps' is neither on nor off. Measuring is off until")


def test_a_sweep_is_bounded_and_says_so(monkeypatch):
    assert bounded(Sweep()) == (Sweep(), [])
    monkeypatch.setenv("ATTENTION_MEASURE_SECONDS", "10")
    assert bounded(Sweep()) == (Sweep(seconds=10.0), ["seconds=60 is more than this host allows; here it is 10."])

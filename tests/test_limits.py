"""What visitors may measure: never more than the owner of the host has said."""

from __future__ import annotations

import pytest

from attention.timing.sweep import SWEEPS, Sweep
from attention.ui.limits import Limits, bounded, limits
from serving.settings import LONGEST


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in ("ATTENTION_MEASURE", "ATTENTION_MEASURE_SECONDS"):
        monkeypatch.delenv(name, raising=False)


def test_visitors_measure_unless_that_is_switched_off(monkeypatch):
    assert limits() == Limits() and not limits().why
    monkeypatch.setenv("ATTENTION_MEASURE", "off")
    assert limits().why == "The owner of this host has switched measuring off."


def test_an_owner_may_allow_what_a_sweep_may_take():
    assert SWEEPS.knobs["seconds"].high == LONGEST


def test_a_sweep_is_bounded_and_says_so(monkeypatch):
    assert bounded(Sweep()) == (Sweep(), [])
    monkeypatch.setenv("ATTENTION_MEASURE_SECONDS", "10")
    assert bounded(Sweep()) == (Sweep(seconds=10.0), ["seconds=60 is more than this host allows; here it is 10."])

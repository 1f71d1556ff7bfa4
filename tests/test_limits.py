"""What visitors may measure and run: never more than the owner of the host has said."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.runtime.context import StreamlitHeaders

from attention.serving.settings import LONGEST
from attention.timing.sweep import SWEEPS, Sweep
from attention.ui.limits import Limits, limit_budget, limits, models


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in ("ATTENTION_MEASURE", "ATTENTION_MEASURE_SECONDS"):
        monkeypatch.delenv(name, raising=False)


def test_visitors_measure_unless_that_is_switched_off(monkeypatch):
    assert limits() == Limits() and not limits().why
    monkeypatch.setenv("ATTENTION_MEASURE", "off")
    assert limits().why == "Measuring is switched off on this server."


def test_an_owner_may_allow_what_a_sweep_may_take():
    assert SWEEPS.knobs["seconds"].high == LONGEST


def test_a_sweep_is_bounded_and_says_so(monkeypatch):
    assert limit_budget(Sweep()) == (Sweep(), [])
    monkeypatch.setenv("ATTENTION_MEASURE_SECONDS", "10")
    assert limit_budget(Sweep()) == (Sweep(seconds=10.0), ["seconds=60 exceeds the limit of this server: set to 10."])


HERE = {"Host": "localhost:8501", "Origin": "http://localhost:8501"}
ASKED: dict[
    str, tuple[bool, str | None, str | None, dict[str, str]]
] = {  # free? the server's address, the visitor's, headers
    "as one starts it": (True, None, None, HERE),
    "by its number": (True, None, None, {"Host": "127.0.0.1:8501", "Origin": "http://127.0.0.1:8501"}),
    "by its longer number": (True, None, None, {"Host": "[::1]:8501", "Origin": "http://[::1]:8501"}),
    "for this machine alone": (True, "localhost", None, HERE),
    "a program of this machine": (True, "127.0.0.1", None, {"Host": "127.0.0.1"}),
    "from another machine": (False, None, "192.168.0.7", HERE),
    "by another name": (False, None, None, {"Host": "lab.example", "Origin": "https://lab.example"}),
    "a page of another site": (False, None, None, HERE | {"Origin": "https://lab.example"}),
    "a page that says nobody's name": (False, None, None, HERE | {"Origin": "null"}),
    "through a proxy": (False, None, None, HERE | {"X-Forwarded-For": "203.0.113.5"}),
    "through a proxy that says how": (False, "localhost", None, HERE | {"x-forwarded-proto": "https"}),
    "through a proxy of another kind": (False, None, None, HERE | {"Via": "1.1 lab"}),
    "on a host for others": (False, "0.0.0.0", None, HERE),
    "by no name": (False, None, None, {}),
    "by no name at all": (False, None, None, {"Host": "[::1"}),
}


@pytest.mark.parametrize("name", ASKED)
def test_any_model_of_the_hub_is_for_whoever_asks_from_this_machine(name, monkeypatch):
    free, address, visitor, headers = ASKED[name]
    for variable in ("ATTENTION_MODELS", "ATTENTION_MODELS_FREE"):
        monkeypatch.delenv(variable, raising=False)
    context = SimpleNamespace(headers=StreamlitHeaders(headers.items()), ip_address=visitor)
    monkeypatch.setattr("attention.ui.limits.st", SimpleNamespace(context=context, get_option=lambda name: address))
    assert models().free is free
    monkeypatch.setenv("ATTENTION_MODELS_FREE", "off" if free else "on")
    assert models().free is not free

"""What visitors may measure and run: ATTENTION_MEASURE… and ATTENTION_MODELS… of `serving.settings`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlsplit

import streamlit as st

from attention.models.catalogue import Offer, offers
from attention.serving.settings import settings
from attention.timing.sweep import Sweep
from attention.ui.budget import BUDGET, refusal_sentence

NEEDED = 700 * 2**20  # bytes that a process with torch and small tensors takes, plus a margin for other work
S = TypeVar("S", bound=Sweep)
PASSED_ON = ("forwarded", "x-forwarded-", "x-real-ip", "via", "cf-connecting-ip", "true-client-ip")  # sent by proxies
HERE = ("localhost", "127.0.0.1", "::1")  # addresses that only this machine can reach


@dataclass(frozen=True)
class Limits:
    """For how many seconds visitors may measure at most, and `why` they may not (empty if they may)."""

    seconds: float = 120.0
    why: str = ""

    @property
    def measure(self) -> bool:
        """Whether visitors may measure."""
        return not self.why


def limits() -> Limits:
    """The limits of this host."""
    said = settings()
    lacking = refusal_sentence("measuring", NEEDED, 0) if BUDGET.most < NEEDED else ""
    return Limits(said.measure_seconds, lacking if said.measure else "Measuring is switched off on this server.")


def limit_budget(sweep: S) -> tuple[S, list[str]]:
    """The sweep with a time budget that this host allows, and a sentence if that is a smaller one."""
    longest = limits().seconds
    if sweep.seconds <= longest:
        return sweep, []
    return replace(sweep, seconds=longest), [
        f"seconds={sweep.seconds:g} exceeds the limit of this server: set to {longest:g}."
    ]


@dataclass(frozen=True)
class Models:
    """The models that visitors may run, by name; whether they may name any of the hub (`free`); bytes per model (`most`)."""

    offers: Mapping[str, Offer]
    free: bool
    most: int
    off: bool = False


def models() -> Models:
    """The models that visitors of this host may run."""
    said = settings()
    if said.models is None:
        return Models({}, False, 0, off=True)
    free = _alone() if said.models_free is None else said.models_free
    return Models(offers(said.models), free, min(int(said.models_size * 1_000_000), BUDGET.most))


def _alone() -> bool:
    """Whether the request comes from this machine, through no proxy. False if the server is set to another address.

    A server without a set address listens on all of them, but this is also how users start the app for themselves. The
    request then decides: its IP address, its Host and Origin headers, and that no proxy has added any.
    """
    asked = st.context.headers
    passed_on = any(name.lower().startswith(PASSED_ON) for name in asked)
    names = [f"//{asked.get('Host', '')}", *([asked["Origin"]] if "Origin" in asked else [])]
    meant = st.get_option("server.address") in (None, *HERE) and all(_name(each) in HERE for each in names)
    return meant and st.context.ip_address is None and not passed_on  # None: an address of this machine


def _name(address: str) -> str:
    """The host name of an address; "" if it has none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""

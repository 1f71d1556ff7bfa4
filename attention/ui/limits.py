"""What the owner of a host lets visitors measure and run: ATTENTION_MEASURE… and ATTENTION_MODELS… of `serving.settings`."""

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

NEEDED = 700 * 2**20  # bytes that a process with torch and small tensors takes, with room for everyone else
S = TypeVar("S", bound=Sweep)
PASSED_ON = ("forwarded", "x-forwarded-", "x-real-ip", "via", "cf-connecting-ip", "true-client-ip")  # what proxies add
HERE = ("localhost", "127.0.0.1", "::1")  # addresses at which nobody but this machine can ask


@dataclass(frozen=True)
class Limits:
    """For how many seconds at the most may visitors measure, and why may they not (`why`, empty where they may)?"""

    seconds: float = 120.0
    why: str = ""

    @property
    def measure(self) -> bool:
        """May they?"""
        return not self.why


def limits() -> Limits:
    """What holds on this host."""
    said = settings()
    lacking = refusal_sentence("Measuring", NEEDED, 0) if BUDGET.most < NEEDED else ""
    return Limits(
        said.measure_seconds, lacking if said.measure else "The owner of this host has switched measuring off."
    )


def limit_budget(sweep: S) -> tuple[S, list[str]]:
    """The sweep with a time budget that this host allows, and a sentence where that is another one."""
    longest = limits().seconds
    if sweep.seconds <= longest:
        return sweep, []
    return replace(sweep, seconds=longest), [
        f"seconds={sweep.seconds:g} is more than this host allows; here it is {longest:g}."
    ]


@dataclass(frozen=True)
class Models:
    """Those that visitors may run, by their names; may they name others of the hub (`free`), and how many bytes has one?"""

    offers: Mapping[str, Offer]
    free: bool
    most: int
    off: bool = False


def models() -> Models:
    """What holds on this host."""
    said = settings()
    if said.models is None:
        return Models({}, False, 0, off=True)
    free = _alone() if said.models_free is None else said.models_free
    return Models(offers(said.models), free, int(said.models_size * 1_000_000))


def _alone() -> bool:
    """Is it somebody at this very machine who asks, through no proxy? Where a server listens beyond it, none is believed.

    An address that nobody has set listens everywhere, but is how one starts the app for oneself: then it is who asks that counts,
    by their own address, the name that they ask for, the page that asks, and what no proxy has added.
    """
    asked = st.context.headers
    passed_on = any(name.lower().startswith(PASSED_ON) for name in asked)
    names = [f"//{asked.get('Host', '')}", *([asked["Origin"]] if "Origin" in asked else [])]
    meant = st.get_option("server.address") in (None, *HERE) and all(_name(each) in HERE for each in names)
    return meant and st.context.ip_address is None and not passed_on  # None: an address of this machine


def _name(address: str) -> str:
    """Whose address it is; "" where it is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""

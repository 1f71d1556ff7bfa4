"""What the owner of a host lets visitors measure and run (serving/settings.py: ATTENTION_MEASURE… and ATTENTION_MODELS…)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import streamlit as st

from attention.models.catalogue import Offer, offers
from attention.timing.sweep import Sweep
from serving.settings import settings

S = TypeVar("S", bound=Sweep)
PASSED_ON = (
    "Forwarded",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Real-Ip",
    "Via",
)  # what proxies say of whom they ask for
HERE = ("localhost", "127.0.0.1", "::1")  # addresses at which nobody but this machine can ask


@dataclass(frozen=True)
class Limits:
    """May visitors measure, and for how many seconds at the most?"""

    measure: bool = True
    seconds: float = 120.0

    @property
    def why(self) -> str:
        """Why there is no measuring; empty where there is."""
        return "" if self.measure else "The owner of this host has switched measuring off."


def limits() -> Limits:
    """What holds on this host."""
    said = settings()
    return Limits(said.measure, said.measure_seconds)


def bounded(sweep: S) -> tuple[S, list[str]]:
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
    """Is it somebody at this very machine who asks, through no proxy? Known by the address, what was asked for, and by whom."""
    asked = st.context.headers
    host = re.sub(r":\d+$", "", asked.get("Host") or "").strip("[]")
    return st.get_option("server.address") in HERE and host in HERE and not any(asked.get(name) for name in PASSED_ON)

"""What the owner of a host lets visitors measure, said by environment variables.

    ATTENTION_MEASURE=off            switches measuring off (on unless set)
    ATTENTION_MEASURE_SECONDS=20     the longest time budget of a sweep (120 unless set)
    ATTENTION_MEMORY=690             megabytes that the server may use (unless set, what its control group or machine has)

What can't be understood switches measuring off and says so, on the page and in the log of the server: an owner who sets
a bound wants one.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, replace
from functools import cache

from attention.config import short
from attention.machine.budget import allowed
from attention.timing.sweep import SWEEPS, Sweep

ON = ("", "on", "1", "yes", "true", "enabled")
OFF = ("off", "0", "no", "false", "disabled", "none", "never")
LONGEST = 120.0  # seconds that a sweep may take, unless the owner says otherwise
SMALLEST = 600  # megabytes: the libraries take most of them
LEAST = 2.0  # seconds that an owner may allow: a slider needs a range


@dataclass(frozen=True)
class Limits:
    """May visitors measure, and for how many seconds at the most; `problem`: what the owner said and can't be"""

    measure: bool = True
    seconds: float = LONGEST
    problem: str = ""

    @property
    def why(self) -> str:
        """Why there is no measuring; empty where there is."""
        return "" if self.measure else self.problem or "The owner of this host has switched measuring off."


def limits() -> Limits:
    """What holds on this host."""
    switch, seconds = (os.environ.get(name, "").strip() for name in ("ATTENTION_MEASURE", "ATTENTION_MEASURE_SECONDS"))
    if switch.casefold() in OFF:
        return Limits(measure=False)
    if switch.casefold() not in ON:
        return _off(f"ATTENTION_MEASURE={short(switch)} is neither on nor off.")
    most = SWEEPS.knobs["seconds"].high or LONGEST
    longest = _number(seconds) if seconds else LONGEST
    if longest is None or not LEAST <= longest <= most:
        return _off(
            f"ATTENTION_MEASURE_SECONDS={short(seconds)} is not a number of seconds between {LEAST:g} and {most:,.0f}, "
            "like 20."
        )
    return Limits(seconds=longest)


def memory() -> int:
    """Bytes that the server may use. Raises ValueError for what is no size."""
    text = os.environ.get("ATTENTION_MEMORY", "").strip()
    megabytes = _number(text.casefold().removesuffix("mb")) if text else None
    if text and (megabytes is None or not SMALLEST <= megabytes <= 1e7):
        raise ValueError(
            f"ATTENTION_MEMORY={short(text)} is not a number of megabytes of at least {SMALLEST}, like 690."
        )
    return min(allowed(), int(megabytes * 10**6)) if megabytes else allowed()


def bounded(sweep: Sweep) -> tuple[Sweep, list[str]]:
    """The sweep with a time budget that this host allows, and a sentence where that is another one."""
    longest = limits().seconds
    if sweep.seconds <= longest:
        return sweep, []
    return replace(sweep, seconds=longest), [
        f"seconds={sweep.seconds:g} is more than this host allows; here it is {longest:g}."
    ]


def _number(text: str) -> float | None:
    try:
        return float(text.casefold().removesuffix("s"))
    except ValueError:
        return None


def _off(problem: str) -> Limits:
    text = f"{problem} Measuring is off until the owner of this host corrects it."
    _warn(text)
    return Limits(measure=False, problem=text)


@cache
def _warn(text: str) -> None:
    logging.getLogger(__name__).warning(text)

"""Remaining time of work: first as estimated beforehand, then increasingly as measured so far."""

from __future__ import annotations

import os

PRIOR = 0.05  # share of the work that counts as done at the estimated pace: as much measured work weighs the same
SLOW = 1.6  # work is slow if it takes more than this many times as long as estimated
EARLY = 2.0  # seconds of work up to which it is not called slow


def seconds_left(guess: float | None, share: float, spent: float) -> float | None:
    """Remaining seconds of work of which `share` was done in `spent` seconds; None if there is no estimate.

    `guess`: estimated seconds of all of it, which count for the share `PRIOR` in addition to what was measured.
    """
    prior = 0.0 if guess is None else PRIOR
    if prior + share <= 0:
        return None
    return max(0.0, 1 - share) * (prior * (guess or 0.0) + spent) / (prior + share)


def slow(guess: float | None, share: float, spent: float) -> bool:
    """Whether work is far slower than estimated."""
    return guess is not None and spent > EARLY and spent > SLOW * guess * share


def busy(own: int, cores: int) -> bool:
    """Whether other processes keep this host busy, besides `own` threads: by its load average, which Unix systems have."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > cores + own

"""How long work will still take: as it was guessed beforehand, and more and more as it has gone so far."""

from __future__ import annotations

import os

PRIOR = (
    0.05  # share of the work that counts as done at the guessed pace; as much work as that, measured, weighs the same
)
SLOW = 1.6  # times its guessed pace from which on work is slow
EARLY = 2.0  # seconds of work that are too few to call it slow


def seconds_left(guess: float | None, share: float, spent: float) -> float | None:
    """Seconds that are left of work of which a share is done after so many seconds; None where nothing tells.

    `guess`: seconds of all of it. What was guessed for a small share stands beside what was measured for the rest.
    """
    prior = 0.0 if guess is None else PRIOR
    if prior + share <= 0:
        return None
    return max(0.0, 1 - share) * (prior * (guess or 0.0) + spent) / (prior + share)


def slow(guess: float | None, share: float, spent: float) -> bool:
    """Does it go far more slowly than was guessed?"""
    return guess is not None and spent > EARLY and spent > SLOW * guess * share


def busy(own: int, cores: int) -> bool:
    """Do others keep this host busy, beside so many threads of one's own? Known by its load average, on a Unix."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > cores + own

"""The memory budget of the server, shared by results that are kept and work in progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from attention.runtime.admission import Admission
from attention.runtime.budget import ASIDE, Budget, process_limit, resident
from attention.runtime.memory import FreeList
from attention.runtime.tensor_cache import IdleTensors
from attention.serving.settings import settings
from attention.serving.uploads import SENT

S = TypeVar("S")
EXPIRY = 240.0  # seconds after which a result that was not requested or viewed is evicted
SAID = int(settings().memory * 1_000_000)  # bytes that the owner lets the server use; 0: the limit of the system
HAS = min(SAID or process_limit(), process_limit())
TIGHT = HAS - ASIDE < 2**30  # so little that freed memory is returned at once, although fresh memory takes time
BUDGET = Budget(HAS - ASIDE, lambda: FULL * HAS - resident() if TIGHT else HAS)
FULL = 15 / 16  # if TIGHT: share of HAS from which on cheap results are evicted, as they are for claims
KEPT = 0.3  # share of a small budget for results that are kept; work in progress may use the rest
SPARED = BUDGET.most / 8  # bytes of free pieces that may wait for reuse
SPARE = BUDGET.register(FreeList(), cheap=True)
MADE_ONCE = BUDGET.register(IdleTensors())
UNDER_WAY = BUDGET.register(Admission(int((1 - KEPT) * BUDGET.most)))
FILES = BUDGET.register(SENT.bounded_by(lambda: BUDGET.room(0)))


def shrink(settings: S, fits: Callable[[S], bool], less: Callable[[S], S]) -> S:
    """Returns the settings, replaced by `less` of them until they fit or `less` leaves them as they are."""
    while not fits(settings) and (smaller := less(settings)) != settings:
        settings = smaller
    return settings


def refusal_sentence(what: str, needed: int, free: int, then: str = "Try again in a few minutes.") -> str:
    """Returns why `needed` bytes are not available if `free` are left, and, if they may be later, what to expect `then`."""
    asks = f"{what} needs {needed / 2**20:,.0f} MiB"
    if needed > BUDGET.most:
        return f"Not enough memory: {asks}, this server has {BUDGET.most / 2**20:,.0f} MiB in total."
    return f"Not enough memory right now: {asks}, {max(0, free) / 2**20:,.0f} MiB are free. {then}"

"""The memory that this server may use, shared by all that is kept or under way."""

from __future__ import annotations

from attention.runtime.admission import Admission
from attention.runtime.budget import ASIDE, Budget, process_limit, resident
from attention.runtime.memory import FreeList
from attention.runtime.tensor_cache import IdleTensors
from attention.serving.settings import settings
from attention.serving.uploads import SENT

EXPIRY = 240.0  # seconds after which what nobody has asked for or looked at is let go of
SAID = int(settings().memory * 1_000_000)  # bytes that an owner lets it use; 0: what the system does
HAS = min(SAID or process_limit(), process_limit())
TIGHT = HAS - ASIDE < 2**30  # so little that what was freed goes back at once, though fresh memory takes time
BUDGET = Budget(HAS - ASIDE, lambda: FULL * HAS - resident() if TIGHT else HAS)
FULL = 15 / 16  # of what a host with little has: from there on results that are kept make way, as they do for claims
KEPT = 0.3  # of a small budget: results that are kept; what is under way may have the rest
SPARED = BUDGET.most / 8  # bytes that may wait for their next use
SPARE = BUDGET.register(FreeList(), cheap=True)
MADE_ONCE = BUDGET.register(IdleTensors())
UNDER_WAY = BUDGET.register(Admission(int((1 - KEPT) * BUDGET.most)))
FILES = BUDGET.register(SENT.bounded_by(lambda: BUDGET.room(0)))


def refusal_sentence(what: str, needed: int, free: int, then: str = "Try again in some minutes.") -> str:
    """Why there is no room for so many bytes where others leave so many, and what to do or to expect `then`."""
    asks = f"{what} needs {needed / 2**20:,.0f} MiB of memory at once;"
    if needed > BUDGET.most:
        return f"{asks} this host has {BUDGET.most / 2**20:,.0f} for all."
    left = f"{max(0, free) / 2**20:,.0f} of {BUDGET.most / 2**20:,.0f} are left"
    return f"{asks} others need so much at the moment that {left}. {then}"

"""A pause in which a browser draws what it was sent: it draws nothing while messages follow each other.

So a page sends the picture that one waits for first, pauses, and sends the rest: also its controls, which were moved
already where they are and rarely change. What is to come after the picture is said with `then`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from time import sleep

GAP = 0.06  # seconds
_later: ContextVar[Callable[[], None] | None] = ContextVar("_later", default=None)


def then(send: Callable[[], None]) -> None:
    """What this run is to send after its picture."""
    _later.set(send)


def paint() -> None:
    """To call once the picture that one waits for has been sent, before the rest of the page."""
    sleep(GAP)
    rest()


def rest() -> None:
    """Sends what is to come after the picture, unless it was sent."""
    send = _later.get()
    _later.set(None)
    if send:
        send()

"""A pause in which a browser draws what it was sent: it draws nothing while messages follow each other."""

from __future__ import annotations

from time import sleep

GAP = 0.06  # seconds


def paint() -> None:
    """To call once the picture that one waits for has been sent, before the rest of the page."""
    sleep(GAP)

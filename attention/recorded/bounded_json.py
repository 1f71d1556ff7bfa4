"""JSON from a stranger, parsed in time and memory that grow with the text alone.

`json` makes a list of seventy bytes of two characters, so what a text has is counted before anything is made of it.
"""

from __future__ import annotations

import json
from typing import Any

SHOWN = 60  # characters of a name in a sentence


class JSONError(ValueError):
    """The text has too much, nests too deep, or names something twice; the message says what it has."""


def parse(text: str, most: int) -> Any:
    """What a text says; raises ValueError where it is no JSON, and JSONError where it is too much.

    `most`: commas and opening brackets, those within strings included.
    """
    if sum(map(text.count, "[{,")) > most:
        raise JSONError(f"more than {most:,} commas and opening brackets")
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise JSONError("too many brackets within each other") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these names and values; raises JSONError where a name comes twice."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            shown = repr(name if len(name) <= SHOWN else f"{name[: SHOWN - 1]}…")
            raise JSONError(f"{shown} twice in one object")
        found[name] = value
    return found

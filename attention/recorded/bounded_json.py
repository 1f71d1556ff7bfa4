"""JSON from a stranger, parsed in time and memory that grow with the text alone.

`json` makes a list of seventy bytes of two characters, and keeps every name of an object until the object ends, so what a text
has is counted before anything is made of it.
"""

from __future__ import annotations

import json
import re
from typing import Any

SHOWN = 60  # characters of a name in a sentence
STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"(\s*+:)?|\Z)', re.DOTALL)  # to its end, and the colon behind it


class JSONError(ValueError):
    """The text has too much, nests too deep, or names something twice; the message says what it has."""


def parse(text: str, most: int, names: int) -> Any:
    """What a text says; raises ValueError where it is no JSON, and JSONError where it is too much.

    `most`: commas and opening brackets, those within strings included; `names`: different names in all objects together.
    """
    if sum(map(text.count, "[{,")) > most:
        raise JSONError(f"more than {most:,} commas and opening brackets")
    _check_names(text, most, names)
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise JSONError("too many brackets within each other") from None


def _check_names(text: str, most: int, names: int) -> None:
    """Raises JSONError if a text has more different names."""
    if text.count(":") <= names:
        return
    found: set[str] = set()
    for count, string in enumerate(STRING.finditer(text)):
        if count > 2 * most + 1:  # two of them have a comma, a bracket or a colon between them
            raise JSONError(f"more than {2 * most + 1:,} strings")
        if string[1]:
            found.add(string[0])
            if len(found) > names:
                raise JSONError(f"more than {names:,} different names")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these names and values; raises JSONError where a name comes twice."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            shown = repr(name if len(name) <= SHOWN else f"{name[: SHOWN - 1]}…")
            raise JSONError(f"{shown} twice in one object")
        found[name] = value
    return found

"""Parses untrusted JSON in time and memory that grow only with the length of the text.

`json` makes a list of 70 bytes from two characters, and keeps every name of an object until the object ends. So
brackets, commas and names are counted before the text is parsed.
"""

from __future__ import annotations

import json
import re
from typing import Any

SHOWN = 60  # characters of a name in a sentence
STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"(\s*+:)?|\Z)', re.DOTALL)  # to its end, with the colon after it


class JSONError(ValueError):
    """The text is too large, nests too deeply, or has a name twice; the message says what it has."""


def parse(text: str, most: int, names: int) -> Any:
    """Returns the value of a JSON text; raises ValueError if it is not JSON, and JSONError if it exceeds a limit.

    `most`: commas and opening brackets, including those within strings; `names`: different names in all objects together.
    """
    if sum(map(text.count, "[{,")) > most:
        raise JSONError(f"more than {most:,} commas and opening brackets")
    _check_names(text, most, names)
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise JSONError("too many brackets within each other") from None


def _check_names(text: str, most: int, names: int) -> None:
    """Raises JSONError if a text has more than `names` different names."""
    if text.count(":") <= names:
        return
    found: set[str] = set()
    for count, string in enumerate(STRING.finditer(text)):
        if count > 2 * most + 1:  # two strings have a comma, a bracket or a colon between them
            raise JSONError(f"more than {2 * most + 1:,} strings")
        if string[1]:
            found.add(string[0])
            if len(found) > names:
                raise JSONError(f"more than {names:,} different names")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object of these names and values; raises JSONError if a name occurs twice."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            shown = repr(name if len(name) <= SHOWN else f"{name[: SHOWN - 1]}…")
            raise JSONError(f"{shown} twice in one object")
        found[name] = value
    return found

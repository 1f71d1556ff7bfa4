"""Tokens in a file of their own: .json, a list of texts or an object with `tokens` and `keys`; .txt, one a line, or words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attention.imported.validate import LONGEST, TEXT, BroughtError
from attention.recorded import bounded_json
from attention.recorded.bounded_json import JSONError

LARGEST = 2**22  # bytes of such a file
WIDE = 2**21  # bytes of one with other characters than ASCII: Python takes up to four bytes for each of its characters
COMMAS = 5 * LONGEST // 2  # and opening brackets of JSON: those between the texts of two lists, and those in texts
NAMES = 1000  # different ones in JSON
SPACE = re.compile(
    r"[ \t\n]+"
)  # between words: other spaces, as a no-break space or a line separator, belong to a token
WORDS = ("tokens", "keys")


def read_json(data: bytes) -> dict[str, tuple[str, ...]]:
    """The lists of texts by their names; raises BroughtError."""
    text = _text(data)
    try:
        found = bounded_json.parse(text, COMMAS, NAMES)
    except JSONError as error:
        raise BroughtError(f"It has {error}: it is no list of at most {LONGEST:,} texts.") from None
    except ValueError:
        raise BroughtError('It is no JSON: a list of texts is read, like ["the", "cat"].') from None
    named = found if isinstance(found, dict) else {"tokens": found}
    lists = {name: texts(named[name], name) for name in WORDS if name in named}
    if not lists:
        raise BroughtError("It has no list “tokens”: a list of texts is read, or an object with tokens and keys.")
    return lists


def read_text(data: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines of a text, and its words: which of them are the tokens tells their number. Raises BroughtError.

    Line feeds end lines, in a file of Windows with a carriage return before each. Whatever else ends a line in Unicode may stand
    within a token.
    """
    text = _text(data)
    if text.count("\n") == text.count("\r\n"):
        text = text.replace("\r\n", "\n")
    text = text.removesuffix("\n")
    lines = tuple(text.split("\n", LONGEST)) if text else ()
    found = words(text)
    if len(lines) > LONGEST or (len(lines) == 1 and len(found) > LONGEST):
        raise BroughtError(f"It has more than {LONGEST:,} lines or words; there can be {LONGEST:,} tokens.")
    return lines, found if len(found) <= LONGEST else ()


def words(text: str) -> tuple[str, ...]:
    """The words of a text, of which there may be one more than tokens."""
    return tuple(filter(None, SPACE.split(text.strip(" \t\n"), LONGEST)))


def texts(value: Any, name: str) -> tuple[str, ...]:
    """A list of texts; raises BroughtError."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise BroughtError(f"“{name}” is no list of texts.")
    if len(value) > LONGEST or any(len(text) > TEXT for text in value):
        raise BroughtError(f"“{name}” has more than {LONGEST:,} texts, or one of more than {TEXT:,} characters.")
    return tuple(value)


def in_words(said: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Lists of texts among what a header says in words: as JSON, or as a text of words."""
    found = {}
    for name in WORDS:
        if name in said:
            value = decode_json(said[name])
            found[name] = texts(words(value) if isinstance(value, str) else value, name)
    return found


def decode_json(text: str) -> Any:
    """What a text says in JSON; itself where it is none."""
    try:
        return bounded_json.parse(text, COMMAS, NAMES)
    except ValueError:
        return text


def _text(data: bytes) -> str:
    if len(data) > (LARGEST if data.isascii() else WIDE):
        raise BroughtError(
            f"It has {len(data):,} bytes; {LARGEST:,} of tokens are read at the most, {WIDE:,} where not all are ASCII."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BroughtError("It is no text in UTF-8.") from None

"""Reads files of tokens: .json, a list of texts or an object with `tokens` and `keys`; .txt, lines or words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attention.array_files import bounded_json
from attention.array_files.bounded_json import JSONError
from attention.array_files.limits import COMMAS, LONGEST, TEXT, DataError

LARGEST = 2**22  # bytes of a file in ASCII
WIDE = 2**21  # bytes of a file with other characters: Python takes up to four bytes for each of its characters
NAMES = 1000  # different names in JSON
SPACE = re.compile(r"[ \t\n]+")  # between words; a no-break space or a line separator is part of a token
WORDS = ("tokens", "keys")


def read_json(data: bytes) -> dict[str, tuple[str, ...]]:
    """Returns the lists of texts by name; raises DataError."""
    text = _text(data)
    try:
        found = bounded_json.parse(text, COMMAS, NAMES)
    except JSONError as error:
        raise DataError(f"It has {error}: it is not a list of at most {LONGEST:,} texts.") from None
    except ValueError:
        raise DataError('It is not JSON: expected a list of texts, like ["the", "cat"].') from None
    named = found if isinstance(found, dict) else {"tokens": found}
    lists = {name: texts(named[name], name) for name in WORDS if name in named}
    if not lists:
        raise DataError("It has no list “tokens”: expected a list of texts, or an object with tokens and keys.")
    return lists


def read_text(data: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the lines and the words of a text; the number of tokens decides which of them are used. Raises DataError.

    Lines end with a line feed, or in a file of Windows with a carriage return and a line feed. Other line separators of
    Unicode may be part of a token.
    """
    text = _text(data)
    if text.count("\n") == text.count("\r\n"):
        text = text.replace("\r\n", "\n")
    text = text.removesuffix("\n")
    lines = tuple(text.split("\n", LONGEST)) if text else ()
    found = words(text)
    if len(lines) > LONGEST or (len(lines) == 1 and len(found) > LONGEST):
        raise DataError(f"It has more than {LONGEST:,} lines or words; there can be {LONGEST:,} tokens.")
    return lines, found if len(found) <= LONGEST else ()


def words(text: str) -> tuple[str, ...]:
    """Returns the words of a text, at most LONGEST + 1."""
    return tuple(filter(None, SPACE.split(text.strip(" \t\n"), LONGEST)))


def texts(value: Any, name: str) -> tuple[str, ...]:
    """Returns a list of texts as a tuple; raises DataError if it is none, or too long."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise DataError(f"“{name}” is not a list of texts.")
    if len(value) > LONGEST or any(len(text) > TEXT for text in value):
        raise DataError(f"“{name}” has more than {LONGEST:,} texts, or one of more than {TEXT:,} characters.")
    return tuple(value)


def in_words(said: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Returns the lists of texts in the metadata of a file: JSON, or words separated by spaces."""
    found = {}
    for name in WORDS:
        if name in said:
            value = decode_json(said[name])
            found[name] = texts(words(value) if isinstance(value, str) else value, name)
    return found


def decode_json(text: str) -> Any:
    """Returns the value of a JSON text, and the text itself if it is not JSON."""
    try:
        return bounded_json.parse(text, COMMAS, NAMES)
    except ValueError:
        return text


def _text(data: bytes) -> str:
    if len(data) > (LARGEST if data.isascii() else WIDE):
        raise DataError(
            f"It has {len(data):,} bytes; {LARGEST:,} of tokens are read at the most, {WIDE:,} where not all are ASCII."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("It is not UTF-8 text.") from None

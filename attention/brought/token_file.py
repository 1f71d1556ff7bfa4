"""Tokens in a file of their own: .json, a list of texts or an object with `tokens` and `keys`; .txt, one a line, or words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attention.brought.fitting import LONGEST, TEXT, BroughtError

LARGEST = 2**22  # bytes of such a file
WORDS = ("tokens", "keys")


def read_json(data: bytes) -> dict[str, tuple[str, ...]]:
    """The lists of texts by their names; raises BroughtError."""
    try:
        found = json.loads(_text(data))
    except (ValueError, RecursionError):
        raise BroughtError('It is no JSON: a list of texts is read, like ["the", "cat"].') from None
    named = found if isinstance(found, dict) else {"tokens": found}
    lists = {name: texts(named[name], name) for name in WORDS if name in named}
    if not lists:
        raise BroughtError("It has no list “tokens”: a list of texts is read, or an object with tokens and keys.")
    return lists


def read_text(data: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines of a text, and its words: which of them are the tokens tells their number."""
    text = _text(data)
    return tuple(text.splitlines()), tuple(text.split())


def texts(value: Any, name: str) -> tuple[str, ...]:
    """A list of texts; raises BroughtError."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise BroughtError(f"“{name}” is no list of texts.")
    if len(value) > LONGEST or any(len(text) > TEXT for text in value):
        raise BroughtError(f"“{name}” has more than {LONGEST:,} texts, or one of more than {TEXT:,} characters.")
    return tuple(value)


def in_words(said: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Lists of texts among what a header says in words: as JSON, or as a text of words."""
    found = {}
    for name in WORDS:
        if name in said:
            value = decoded(said[name])
            found[name] = texts(value.split() if isinstance(value, str) else value, name)
    return found


def decoded(text: str) -> Any:
    """What a text says in JSON; itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(data: bytes) -> str:
    if len(data) > LARGEST:
        raise BroughtError(f"It has {len(data):,} bytes; {LARGEST:,} of tokens are read at the most.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BroughtError("It is no text in UTF-8.") from None

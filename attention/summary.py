"""Short and legible texts; for `repr`, a tensor is written as dtype and shape, without its numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from torch import Tensor

LONGEST = 60  # characters of a value
TURNING = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}  # marks of writing direction


def describe(value: Any) -> str:
    """Returns dtype and shape of a tensor, as `float32 (8, 18, 18)`; the keys of a mapping; else the repr, cut if long."""
    if isinstance(value, Tensor):
        return f"{value.dtype} {tuple(value.shape)}".removeprefix("torch.")
    if isinstance(value, Mapping):
        return f"{{{', '.join(map(repr, value))}}}"
    if isinstance(value, (tuple, list)) and len(value) > 4:
        return f"<{len(value)}: {describe(value[0])}, …, {describe(value[-1])}>"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(describe, value))})"
    return text if len(text := repr(value)) <= LONGEST else text[: LONGEST - 1] + "…"


def summarize(value: object, /, **parts: Any) -> str:
    """Returns `Name(part=…, …)` of an object, with its parts described; parts that are None or empty are left out."""
    known = (
        f"{name}={describe(part)}" for name, part in parts.items() if isinstance(part, Tensor) or part not in EMPTY
    )
    return f"{type(value).__name__}({', '.join(known)})"


def summarize_fields(self: Any) -> str:
    """Returns the same with all fields of a dataclass: a `__repr__` for those that hold tensors."""
    return summarize(self, **{field.name: getattr(self, field.name) for field in fields(self)})


EMPTY: tuple[Any, ...] = (None, (), "", {})


def legible(text: str) -> str:
    """Returns the text without control characters (except line breaks and tabs), surrogates and writing direction marks."""
    return "".join(
        sign for sign in text if sign in "\n\t" or not (sign in TURNING or unicodedata.category(sign) in ("Cc", "Cs"))
    )


def readable(text: str) -> bool:
    """Whether all of a text is legible."""
    return (text.isascii() and text.isprintable()) or legible(text) == text  # the first is fast


def short(value: Any, longest: int = 80) -> str:
    """Returns the repr of a value, cut to `longest` characters."""
    return text if len(text := repr(value)) <= longest else text[: longest - 1] + "…"

"""Reads single fields of a model's config: any may be missing, of another type than usual, or nonsense like -1.

A config describes what its makers built; nothing in it is trusted to be what its name says. Fields have different names in
different families (`hidden_size`, `d_model`), and models in stages have a list where others have a number.
"""

from __future__ import annotations

from typing import Any

LARGEST = 10**7  # what is larger is no size of a model, but a way to say "no limit"


def field(config: Any, name: str) -> Any:
    """The value of a field; None if it is missing or can't be computed."""
    try:
        return getattr(config, name, None)
    except Exception:  # a property that raises, as of a config of several parts
        return None


def positive(value: Any) -> int | None:
    """A value as a size, None if it is none."""
    whole = (
        isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= LARGEST and value == int(value)
    )
    return int(value) if whole else None


def positives(value: Any) -> list[int]:
    """All sizes in a value: of a number one, of a list those of its stages, of anything else none."""
    each = value if isinstance(value, (list, tuple)) else (value,)
    return [size for one in each if (size := positive(one)) is not None]


def sizes(config: Any, *names: str) -> list[int]:
    """The sizes in the first of these fields that has any."""
    return next((found for name in names if (found := positives(field(config, name)))), [])


def pair(value: Any) -> tuple[int, int] | None:
    """Height and width: of two sizes, or of one for both; None if it is neither."""
    found = positives(value)
    return (found[0], found[-1]) if len(found) in (1, 2) else None

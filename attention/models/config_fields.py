"""Reads single fields of a model's config: any may be missing, of an unusual type, or invalid like -1.

A config describes the model as its authors built it; no field is trusted to be what its name says. Fields have
different names in different families (`hidden_size`, `d_model`), and models in stages have a list instead of a number.
"""

from __future__ import annotations

from typing import Any

LARGEST = 10**7  # larger values are no size of a model, but mean "no limit"


def field(config: Any, name: str) -> Any:
    """Returns the value of a field; None if it is missing or can't be computed."""
    try:
        return getattr(config, name, None)
    except Exception:  # a property that raises, for example of a config with several parts
        return None


def positive(value: Any) -> int | None:
    """Returns a value as a size, None if it is none."""
    whole = (
        isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= LARGEST and value == int(value)
    )
    return int(value) if whole else None


def positives(value: Any) -> list[int]:
    """Returns all sizes in a value: one for a number, those of all stages for a list, none for anything else."""
    each = value if isinstance(value, (list, tuple)) else (value,)
    return [size for one in each if (size := positive(one)) is not None]


def sizes(config: Any, *names: str) -> list[int]:
    """Returns the sizes in the first of these fields that has any."""
    return next((found for name in names if (found := positives(field(config, name)))), [])


def pair(value: Any) -> tuple[int, int] | None:
    """Returns height and width, from two sizes or from one for both; None if the value is neither."""
    found = positives(value)
    return (found[0], found[-1]) if len(found) in (1, 2) else None

"""Tables and laws of which `make test` runs some cases; `make test-all` runs the others too."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def sample(cases: Iterable[Any], keep: Callable[..., bool]) -> list[Any]:
    """The cases for `parametrize`; those that `keep` is not true of are marked as extended."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=() if keep(*row) else pytest.mark.extended) for row in rows]


def is_first(key: Callable[..., object]) -> Callable[..., bool]:
    """True of the first case with each key."""
    seen = set()

    def keep(*case: Any) -> bool:
        found = key(*case)
        return found not in seen and not seen.add(found)

    return keep


def examples(count: int) -> int:
    """How many cases hypothesis draws for a law that `make test-all` tries on so many: the first third of them."""
    return count if os.environ.get("ALL_EXAMPLES") else min(count, max(10, count // 3))

"""Tables and laws of which `make test` runs some cases; `make test-all` runs the others too."""

from __future__ import annotations

import os
from collections import defaultdict
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


def mark_unsampled(items: Iterable[pytest.Item]) -> None:
    """Marks cases as extended, where their test says how many of them `make test` runs: `@pytest.mark.sampled(6)`.

    The cases are divided into so many parts, and each part has one that is run: the first of the first part, the second of
    the second and so on, so that of a product of two lists each place of either list has its turn.
    """
    cases: dict[tuple[pytest.Item | None, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("extended"):
            cases[item.parent, item.name.partition("[")[0]].append(item)
    for each in cases.values():
        (mark,) = each[0].iter_markers("sampled")
        kept = sampled_places(len(each), mark.args[0])
        for at, item in enumerate(each):
            if at not in kept:
                item.add_marker(pytest.mark.extended)


def sampled_places(count: int, parts: int) -> set[int]:
    """Places in a list, one in each of its parts of equal size."""
    size = max(1, -(-count // parts))
    return {min(count - 1, start + part % size) for part, start in enumerate(range(0, count, size))}


def examples(count: int) -> int:
    """How many cases hypothesis draws for a law that `make test-all` tries on so many: the first tenth, 8 at least."""
    return count if os.environ.get("ALL_EXAMPLES") else min(count, max(8, count // 10))

"""Calls as users make them: without the shape checks that the tests switch on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import jaxtyping


@contextmanager
def without_checks() -> Iterator[None]:
    """Within it, misuse meets the code itself and not the checks of its annotations."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)

"""Admits views that need much memory one after the other if the host has little."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import streamlit as st

from attention.ui.budget import BUDGET, SPARE, SPARED, UNDER_WAY


@contextmanager
def memory_gate(what: Any, size: int) -> Iterator[None]:
    """Runs the block once `size` bytes are free in addition to what other pictures use at the moment."""
    with ExitStack() as waiting:
        if not UNDER_WAY.would_fit(what, size):
            waiting.enter_context(
                st.spinner("Large pictures of other visitors are drawn first, because memory is short.")
            )
        with UNDER_WAY.reserve(what, size):
            BUDGET.room(0 if UNDER_WAY.is_little(size) else size)
            waiting.close()
            yield
        if not UNDER_WAY.is_little(size):
            SPARE.hold(SPARED)

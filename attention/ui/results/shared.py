"""The app's lanes and what it keeps: sole owner of both, with a fair share of the processor for every visitor.

What is kept is keyed by the knobs that change the tensors, so moving the focus or the colour scale computes nothing
anew. All results together have so many bytes (`KEPT`); computing most of them again takes milliseconds.

Passes run in threads that all visitors share and that stay: Streamlit runs every rerun in a thread of its own, and in a
new thread a pass takes up to three times as long, as its memory is all fresh. The lanes say who may wait for whom.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import TimeoutError as NotYet
from typing import ParamSpec, TypeVar

import streamlit as st

from attention.runtime.executors import RankedExecutor, Task
from attention.runtime.result_cache import ResultCache
from attention.runtime.threads import cores
from attention.ui.budget import BUDGET, UNDER_WAY
from attention.ui.budget import KEPT as SHARE

MOST = 2**28  # bytes of results that are kept; of a small budget a share
AT_ONCE = min(2, cores())  # passes that run at the same time, however many visitors there are
PATIENCE = 2.0  # seconds
BESIDE = 0.2  # of what may be under way that work takes beside which there may be other
SPINNER = 0.3  # seconds after which whoever waits is told for what
P = ParamSpec("P")
T = TypeVar("T")
CHUNKS = RankedExecutor(
    "piece", 0, AT_ONCE
)  # of a pass; a lane of their own, as whoever waits for one has a thread of the passes
FORWARD = RankedExecutor("pass", 1, AT_ONCE)
EXCLUSIVE = RankedExecutor("wide pass", 1, 1)  # of those of which two at once would take too much memory
LOW_PRIORITY = FORWARD.low_priority(PATIENCE)  # for what stands below a picture: that of anybody else goes before it
RESULTS = BUDGET.register(ResultCache(min(MOST, int(SHARE * BUDGET.most)), since=lambda: UNDER_WAY.since), cheap=True)


def run_shared(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The call's result, computed by one of the few threads that all visitors share."""
    return FORWARD.submit(call, *args, **kwargs).result()


def lane(size: int) -> RankedExecutor:
    """Who computes what takes so many bytes: what takes much of this host's memory comes one after the other."""
    return FORWARD if size <= BESIDE * UNDER_WAY.most else EXCLUSIVE


def with_memory(size: int, call: Callable[P, T]) -> Callable[P, T]:
    """The same call, which counts as so many bytes while it runs, and for which what is kept makes room."""

    def counts(*args: P.args, **kwargs: P.kwargs) -> T:
        with UNDER_WAY.track(size):
            BUDGET.room(0)
            return call(*args, **kwargs)

    return counts


def wait_with_spinner(work: Task[T], what: str) -> T:
    """What came of work that may take long: whoever waits is told for what."""
    try:
        return work.result(SPINNER)
    except NotYet:
        if work.done():
            raise
    with st.spinner(what):
        return work.result()

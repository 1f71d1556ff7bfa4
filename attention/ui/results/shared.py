"""The executors and the result cache of the app, which give every visitor a fair share of the processor.

Results are keyed by the knobs that change the tensors, so that another selection or colour scale computes nothing again.
All results together are bounded in bytes (`MOST`, or a share of a small budget); most of them can be recomputed in
milliseconds.

Passes run in long-lived threads that all visitors share. Streamlit runs every rerun in a new thread, and a pass takes up
to three times as long in a new thread, because all of its memory is fresh. Executors have ranks, which define who may
wait for whom.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import TimeoutError as NotYet
from typing import ParamSpec, TypeVar

import streamlit as st

from attention.config import Config
from attention.runtime.executors import RankedExecutor, Task
from attention.runtime.result_cache import Cached, ResultCache
from attention.runtime.threads import cores
from attention.ui.budget import BUDGET, UNDER_WAY
from attention.ui.budget import KEPT as SHARE

MOST = 2**28  # maximum bytes of cached results; fewer with a small budget
AT_ONCE = min(2, cores())  # passes that run at the same time, independent of the number of visitors
PATIENCE = 2.0  # seconds within which other tasks overtake those of low priority
BESIDE = 0.2  # share of the memory for running work that one task may take if others run next to it
SPINNER = 0.3  # seconds until a spinner says what is waited for
P = ParamSpec("P")
T = TypeVar("T")
CHUNKS = RankedExecutor(
    "piece", 0, AT_ONCE
)  # chunks of a pass have their own executor: a thread of FORWARD waits for them
FORWARD = RankedExecutor("pass", 1, AT_ONCE)
EXCLUSIVE = RankedExecutor("wide pass", 1, 1)  # for passes of which two at once would take too much memory
LOW_PRIORITY = FORWARD.low_priority(PATIENCE)  # for content below a picture: pictures of all visitors come first


class Results(ResultCache):
    """The result cache of functions of configs: they get them without the view, so that it is not part of the key."""

    def __call__(self, begin: Callable[P, Task[T]], page: str = "") -> Cached[P, T]:
        """Turns a function that starts a task into one that caches results; `page`: whose knobs change the numbers."""
        return Cached(self, begin, lambda value: value.for_page(page) if isinstance(value, Config) else value)

    def on(self, page: str) -> Callable[[Callable[P, Task[T]]], Cached[P, T]]:
        """Returns the decorator for functions of a page that has knobs of its own."""
        return lambda begin: self(begin, page)


RESULTS = BUDGET.register(Results(min(MOST, int(SHARE * BUDGET.most)), since=lambda: UNDER_WAY.since), cheap=True)


def run_shared(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs the call in one of the few threads that all visitors share, and returns its result."""
    return FORWARD.submit(call, *args, **kwargs).result()


def lane(size: int) -> RankedExecutor:
    """The executor for a task that takes `size` bytes: tasks that take much of this host's memory run one after the other."""
    return FORWARD if size <= BESIDE * UNDER_WAY.most else EXCLUSIVE


def with_memory(size: int, call: Callable[P, T]) -> Callable[P, T]:
    """Wraps a call: `size` bytes are counted while it runs, and cached results are evicted if the memory is needed."""

    def counts(*args: P.args, **kwargs: P.kwargs) -> T:
        with UNDER_WAY.track(size):
            BUDGET.room(0)
            return call(*args, **kwargs)

    return counts


def wait_with_spinner(work: Task[T], what: str) -> T:
    """The result of a task that may take long; after `SPINNER` seconds the user sees what is waited for."""
    try:
        return work.result(SPINNER)
    except NotYet:
        if work.done():
            raise
    with st.spinner(what):
        return work.result()

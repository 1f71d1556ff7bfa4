"""What holds for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch

MODEST = 10  # niceness of a process whose tests others are waited for longer than


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where processes share the tests, those in a browser take the longest, one by one: all others make way for them."""
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    if not alone and "tests/browser/" not in item.nodeid and hasattr(os, "nice") and os.nice(0) < MODEST:
        os.nice(MODEST)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Small tensors on one thread: two that wait for each other on a busy machine take many times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session", autouse=True)
def _no_arrival() -> Iterator[None]:
    """Pages that run in this process have no browser that needs time when a visitor arrives."""
    from attention.ui import pause  # here, as the package's types are checked from its first import on

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pause, "ARRIVAL", pause.GAP)
        yield

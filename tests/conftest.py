"""What holds for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


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

"""Which tests execute which lines of the package: `python -m tests.mutations record` runs the suite with this plugin.

Each process writes the data of coverage, with one context per test, into the folder `CONTEXTS`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ["CONTEXTS"])

FOLDER.mkdir(parents=True, exist_ok=True)
_coverage = coverage.Coverage(
    data_file=str(FOLDER / "contexts"),
    data_suffix=True,
    source=[str(ROOT / "attention"), str(ROOT / "pages")],
    config_file=False,
)
_coverage.start()  # when the plugin is imported, before anything of the package is


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """The lines that run meanwhile are those of this test."""
    _coverage.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        _coverage.switch_context("")


def pytest_unconfigure() -> None:
    _coverage.stop()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        _coverage.save()

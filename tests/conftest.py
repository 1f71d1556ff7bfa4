"""What holds for every test."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import settings
from jaxtyping import install_import_hook
from streamlit.components.v2 import manifest_scanner

from tests.samples import examples, mark_unsampled

# `make hunt` draws new cases.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=examples(100))
settings.load_profile("same")

NUMERIC = (  # packages whose shapes and types are checked while tests run; CHECK_ALL_TYPES=1 checks the whole package
    *("masks", "operations", "blocks", "attend", "layer", "heads", "trace"),
    *("maps", "analysis", "sources", "published", "training", "tracing", "wire"),
)
CHECKED = ["attention"] if os.environ.get("CHECK_ALL_TYPES") else [f"attention.{name}" for name in NUMERIC]
CHARTED = {"test_axes", "test_pages"}  # with CHECK_ALL_TYPES=1: those of every test
install_import_hook(CHECKED, "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")

ABSENT = str(Path(__file__).with_name("absent"))  # packages that are as if they were not installed, to start quickly
sys.path.insert(0, ABSENT)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [ABSENT, os.environ.get("PYTHONPATH")]))

MODEST = 10  # niceness of a process whose tests others are waited for longer than


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where processes share the tests, those in a browser take the longest, one by one: all others make way for them."""
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    if not alone and "tests/browser/" not in item.nodeid and hasattr(os, "nice") and os.nice(0) < MODEST:
        os.nice(MODEST)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_unsampled(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Tests of a file run in one process, which starts what they share once; all tests in a browser share one, too.

    The groups of xdist 3.8 (`--dist loadgroup`) have no effect with pytest 9.2, which keeps ids of tests elsewhere.
    """
    from xdist.scheduler import LoadScopeScheduling

    class FileScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return FileScheduling(config, log)


def group_of(nodeid: str) -> str:
    """The group of a test, whose tests run in one process."""
    return "tests/browser" if nodeid.startswith("tests/browser/") else nodeid.partition("::")[0]


def pytest_collection_finish() -> None:
    """What was imported is no garbage, and pages that run here collect theirs after every run."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Small tensors on one thread: two that wait for each other on a busy machine take many times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session", autouse=True)
def _no_pause() -> Iterator[None]:
    """Pages that run in this process have no browser that needs time to draw."""
    from attention.ui.session import browser_yield

    with pytest.MonkeyPatch.context() as patch:
        for name in ("GAP", "CALM", "ARRIVAL"):
            patch.setattr(browser_yield, name, 0.0)
        yield


@pytest.fixture(scope="module", autouse=True)
def _valid_charts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Charts that tests of charts and of all pages build are valid Vega-Lite; those of other tests take a third longer so."""
    from attention.charts import spec

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            spec, "VALIDATE", CHECKED == ["attention"] or request.module.__name__.rpartition(".")[2] in CHARTED
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_scan() -> Iterator[None]:
    """Streamlit reads what is said of every installed package whenever a page is run here: a third of such a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield

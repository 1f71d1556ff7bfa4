"""Examples in the docstrings of public names: each has one, and each runs."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import pytest
import torch

import attention
from attention import codec, heads, masks, published, timing
from attention.serving import launch
from attention.timing import history, roofline
from attention.timing import rounds as rounds_of_timing
from attention.timing.roofline import Peaks
from tests.server import ROOT

PUBLIC = {name: getattr(attention, name) for name in attention.__all__} | {
    "MultiHeadAttention.from_torch": attention.MultiHeadAttention.from_torch,
    "heads.profile": heads.profile,
    "masks": masks,
    "codec.to_query": codec.to_query,
    "codec.from_query": codec.from_query,
    "timing.measure": timing.measure,
    "published": published,
}


@pytest.fixture(autouse=True)
def quick(tmp_path, monkeypatch):
    """Nothing is started, and a measurement is over as soon as there is a time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launch, "is_available", lambda: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(roofline, "peaks", lambda *_: Peaks(1e18, 1e18))
    monkeypatch.setattr(rounds_of_timing, "VISIT", (0.001, 0.002))
    monkeypatch.setattr(history, "ENOUGH", history.VISITS)


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_of_public_names_run(name):
    """In a namespace with `attention`, `torch` and the names of the module, as in an interactive session."""
    found = PUBLIC[name]
    home = found if inspect.ismodule(found) else sys.modules[found.__module__]
    names = vars(home) | {"attention": attention, "torch": torch}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(found) or "", names, name, None, None)
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.attempted, f"{name} has no example"
    assert not result.failed, "".join(said)


@pytest.mark.extended
def test_the_reference_has_every_public_name_and_is_built_without_a_warning(tmp_path):
    pytest.importorskip("pdoc", reason="pdoc is not installed: requirements-dev.txt has it")
    from docs import build_api

    done = subprocess.run(
        [sys.executable, "-m", "docs.build_api", str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    for module, names in {"attention": attention.__all__, **build_api.PUBLIC}.items():
        page = (tmp_path / module.replace(".", "/")).with_suffix(".html").read_text()
        assert [name for name in names if f'id="{name}"' not in page] == []
    assert set(PUBLIC) <= {*attention.__all__, "MultiHeadAttention.from_torch", *_qualified(build_api.PUBLIC)}


def _qualified(modules: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The names of modules, and of what is in them, as they are called after `attention.`."""
    for module, names in modules.items():
        short = module.removeprefix("attention.")
        yield from (short, *(f"{short}.{name}" for name in names))

"""What breaks around the app: a sentence where it was needed, and the rest goes on."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from attention.timing.one_at_a_time import turn
from tests.served import ROOT, served
from tests.visitor import visited

PARTS = (".streamlit", "attention.dist-info", "attention", "pages", "serving", "app.py", "pyproject.toml")


@pytest.fixture
def copied(tmp_path) -> Path:
    """The app in a folder of its own, to break something in it."""
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_recording_that_is_damaged_or_gone_is_named_and_all_else_works(copied):
    files = copied / "attention" / "recorded"
    (files / "minilm_code.npz").write_bytes((files / "minilm_code.npz").read_bytes()[:5000])
    (files / "minilm_street.npz").unlink()

    async def come(url: str) -> list:
        sources = ("recorded:minilm-code", "recorded:minilm-street", "recorded:two-layers", "generated")
        return [await visited(url, f"source={source}") for source in sources]

    with served(folder=copied) as server:
        damaged, gone, whole, usual = asyncio.run(come(server.url))
        log = server.log.read_text()
    (said,), (other,) = damaged.alerts, gone.alerts
    said = said.replace("\\", "")  # so that a name is no markup
    assert "minilm_code.npz is no .npz of arrays" in said and "[Begin anew" in said
    assert "minilm_street.npz can't be opened: No such file or directory." in other.replace("\\", "")
    assert str(copied) not in said + other
    number = said.partition("Number ")[2][:6]
    assert f"The error above was shown as number {number}." in log
    for visit in (whole, usual):
        assert visit.painted and not visit.alerts
    assert not [error for visit in (damaged, gone, whole, usual) for error in visit.errors]


def waits() -> None:
    raise AssertionError("nobody else measures")


@pytest.mark.parametrize("kind", ["none", "a file", "a link"])
def test_measuring_goes_on_where_nothing_can_be_written(monkeypatch, tmp_path, kind):
    """A full disk, a folder that is none, and one where somebody has put a link to a file of ours."""
    mine = tmp_path / "mine"
    mine.write_text("precious")
    if kind == "a link":
        (tmp_path / f"attention-timing-{os.getuid()}.lock").symlink_to(mine)
    place = {"none": tmp_path / "none", "a file": mine, "a link": tmp_path}[kind]
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(place))
    with turn(waits, waits):
        pass
    assert mine.read_text() == "precious"

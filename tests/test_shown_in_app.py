"""`attention.show` in a program: the app opens on what was given, and is gone when the program is stopped."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention.ui.session.state import KEY
from attention.watching.saved import save
from tests.brought import weights
from tests.served import ROOT
from tests.test_brought_pages import said
from tests.visitor import visited

PROGRAM = """
import torch, attention
attention.show(torch.rand(2, 3, 5, 5).softmax(-1), tokens="a b c d <b>e</b>".split(), title="Mine")
print("stopped")
"""
TOLD = re.compile(r"is at (http://127\.0\.0\.1:\d+)/your_data\. Press Ctrl\+C to stop it\.")


def begun(folder: Path, **said: str) -> subprocess.Popen:
    """The program in a folder, with a group of its own to send signals to."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "BROWSER": "echo asked for %s"} | said
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True)


def test_a_program_shows_it_until_it_is_stopped(tmp_path):
    program = begun(tmp_path, HOME=str(tmp_path))
    assert program.stdout
    try:
        url = TOLD.search(program.stdout.readline())[1]
        found = asyncio.run(visited(url, "", "your_data"))
        assert not found.errors and not found.alerts
        assert found.shows["source"].endswith(":attention.safetensors"), "the grid of it is what one came for"
        os.killpg(program.pid, signal.SIGINT)
        rest = program.stdout.read()
        assert "stopped" in rest and program.wait(60) == 0
    finally:
        program.kill()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=5)
    assert list(tmp_path.glob("attention-*")) == []


def test_a_program_that_is_asked_to_end_leaves_nothing_behind(tmp_path):
    (tmp_path / "aside").mkdir()
    program = begun(tmp_path, TMPDIR=str(tmp_path / "aside"))
    assert program.stdout
    try:
        told = TOLD.search(program.stdout.readline())
        assert told and list((tmp_path / "aside").glob("attention-*/*.safetensors"))
        program.terminate()
        assert program.wait(60) == 128 + signal.SIGTERM and "stopped" not in program.stdout.read()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(told[1], timeout=5)
    assert list((tmp_path / "aside").glob("attention-*")) == []


def test_files_that_an_owner_names_are_open_once(tmp_path, monkeypatch):
    (path,) = save({"": weights()}, tmp_path / "heads.safetensors")
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK")
    monkeypatch.setenv("ATTENTION_OPEN", f"{path}{os.pathsep}{broken}")
    test = AppTest.from_file(str(ROOT / "pages/your_data.py"), default_timeout=60).run()
    assert not test.exception and "broken.npz can't be shown" in test.error[0].value.replace("\\", "")
    (source,) = test.session_state[KEY].kept.brought
    assert source.startswith("file:") and source.endswith(":heads.safetensors") and "Open in this visit" in said(test)
    assert "weights: 4 heads x 6 queries x 6 keys, each of 3 layers." in said(test)
    test.button(key=f"close {source}").click().run()
    assert not test.exception and not test.session_state[KEY].kept.brought and "was read so" not in said(test)


def test_one_file_that_an_owner_names_is_read_otherwise(tmp_path, monkeypatch):
    (path,) = save({"": weights()}, tmp_path / "heads.safetensors")
    monkeypatch.setenv("ATTENTION_OPEN", f"{path}")
    test = AppTest.from_file(str(ROOT / "pages/your_data.py"), default_timeout=60).run()
    assert "weights: 4 heads x 6 queries x 6 keys, each of 3 layers." in said(test)
    test.selectbox(key="read mask").set_value("causal").run()
    (holding,) = test.session_state[KEY].kept.brought.values()
    assert not test.exception and holding.shape.square and "rows have weight on pairs that the mask hides" in said(test)

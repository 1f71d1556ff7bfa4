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
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

import attention
from attention.serving import launch
from attention.tracing.saved import save
from attention.ui.session.visit_state import KEY
from tests.example_uploads import weights
from tests.server import ROOT, free_port
from tests.test_upload_pages import page_text
from tests.visitor import visit_page

PROGRAM = """
import torch, attention
attention.show(torch.rand(2, 3, 5, 5).softmax(-1), tokens="a b c d <b>e</b>".split(), title="Mine")
print("stopped")
"""
IN_BACKGROUND = PROGRAM.replace(")\n", ", block=False)\nimport time; time.sleep(120)\n", 1)
TOLD = re.compile(r"is at (http://127\.0\.0\.1:\d+)/your_data\. (Press Ctrl\+C to stop it|It stops when Python does)")
WEIGHTS = torch.full((3, 5, 5), 0.2)


def start_program(folder: Path, program: str = PROGRAM, **said: str) -> subprocess.Popen:
    """The program in a folder, with a group of its own to send signals to."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "BROWSER": "echo asked for %s"} | said
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.extended
def test_a_program_shows_it_until_it_is_stopped(tmp_path):
    program = start_program(tmp_path, HOME=str(tmp_path))
    assert program.stdout
    try:
        url = TOLD.search(program.stdout.readline())[1]
        found = asyncio.run(visit_page(url, "", "your_data"))
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


@pytest.mark.extended
@pytest.mark.parametrize("code", [pytest.param(PROGRAM, id="waits"), pytest.param(IN_BACKGROUND, id="goes on")])
def test_a_program_that_is_asked_to_end_leaves_nothing_behind(code, tmp_path):
    (tmp_path / "aside").mkdir()
    program = start_program(tmp_path, code, TMPDIR=str(tmp_path / "aside"))
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


def test_it_runs_in_the_background_until_it_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda _: pytest.fail("a browser was opened"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    port = free_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        shown = attention.show(WEIGHTS, port=port, open_browser=False, block=False)
    try:
        assert shown.address == f"http://127.0.0.1:{port}/your_data"
        assert urllib.request.urlopen(shown.address, timeout=5).status == 200 and list(tmp_path.iterdir())
        with pytest.raises(RuntimeError, match=f"Port {port} is in use"):
            attention.show(WEIGHTS, port=port, open_browser=False)
    finally:
        shown.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(shown.address, timeout=5)
    shown.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("interactive", "block", "waits"), [(False, None, True), (True, None, False), (True, True, True)]
)
def test_a_program_waits_and_an_interactive_session_does_not(interactive, block, waits, monkeypatch):
    calls = []

    @contextmanager
    def running(files, port, open_browser, background):
        calls.append(("running", port, open_browser))
        yield None, "there"

    monkeypatch.setattr(launch, "running", running)
    monkeypatch.setattr(launch, "run", lambda files, port, open_browser: calls.append(("run", port, open_browser)))
    monkeypatch.setattr("sys.ps1", ">>> ", raising=False) if interactive else monkeypatch.delattr(
        "sys.ps1", raising=False
    )
    shown = attention.show(WEIGHTS, block=block)
    shown.close()
    assert calls == [("run" if waits else "running", 0, True)] and shown.address == ("" if waits else "there")


def test_without_streamlit_a_page_is_written_and_opened_on_request(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(launch, "is_available", lambda: False)
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert "<script" in attention.show(WEIGHTS, open_browser=False).place.read_text() and opened == []
    assert opened == [] and attention.show(WEIGHTS).place.as_uri() in opened


def test_files_that_an_owner_names_are_open_once(tmp_path, monkeypatch):
    (path,) = save({"": weights()}, tmp_path / "heads.safetensors")
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK")
    monkeypatch.setenv("ATTENTION_OPEN", f"{path}{os.pathsep}{broken}")
    test = AppTest.from_file(str(ROOT / "pages/your_data.py"), default_timeout=60).run()
    assert not test.exception and "broken.npz can't be shown" in test.error[0].value.replace("\\", "")
    (source,) = test.session_state[KEY].kept.uploaded
    assert source.startswith("file:") and source.endswith(":heads.safetensors") and "Open files" in page_text(test)
    assert "weights: 4 heads × 6 queries × 6 keys, in each of 3 layers." in page_text(test)
    test.button(key=f"close {source}").click().run()
    assert (
        not test.exception
        and not test.session_state[KEY].kept.uploaded
        and "was read as follows" not in page_text(test)
    )


def test_one_file_that_an_owner_names_is_read_otherwise(tmp_path, monkeypatch):
    (path,) = save({"": weights()}, tmp_path / "heads.safetensors")
    monkeypatch.setenv("ATTENTION_OPEN", f"{path}")
    test = AppTest.from_file(str(ROOT / "pages/your_data.py"), default_timeout=60).run()
    assert "weights: 4 heads × 6 queries × 6 keys, in each of 3 layers." in page_text(test)
    test.selectbox(key="read mask").set_value("causal").run()
    (holding,) = test.session_state[KEY].kept.uploaded.values()
    assert not test.exception and holding.shape.square and "rows have weight on masked pairs" in page_text(test)

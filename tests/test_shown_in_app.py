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
TOLD = re.compile(r"shows it at (http://127\.0\.0\.1:\d+)/your_data\. Ctrl\+C stops it\.")


def test_a_program_shows_it_until_it_is_stopped(tmp_path):
    env = os.environ | {"PYTHONPATH": str(ROOT), "BROWSER": "echo asked for %s", "HOME": str(tmp_path)}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert program.stdout
    try:
        url = TOLD.search(program.stdout.readline())[1]
        found = asyncio.run(visited(url, "", "your_data"))
        assert not found.errors and not found.alerts
        os.killpg(program.pid, signal.SIGINT)
        rest = program.stdout.read()
        assert "stopped" in rest and program.wait(60) == 0
    finally:
        program.kill()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=5)
    assert list(tmp_path.glob("attention-*")) == []


def test_files_that_an_owner_names_are_open_once(tmp_path, monkeypatch):
    (path,) = save({"": weights()}, tmp_path / "heads.safetensors")
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK")
    monkeypatch.setenv("ATTENTION_OPEN", f"{path}{os.pathsep}{broken}")
    test = AppTest.from_file(str(ROOT / "pages/your_data.py"), default_timeout=60).run()
    assert not test.exception and "broken.npz can't be shown" in test.error[0].value.replace("\\", "")
    (source,) = test.session_state[KEY].kept.brought
    assert source.startswith("file:") and source.endswith(":heads.safetensors") and "Open in this visit" in said(test)
    test.button(key=f"close {source}").click().run()
    assert not test.exception and not test.session_state[KEY].kept.brought

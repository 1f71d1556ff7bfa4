"""The server as a host sees it: cold, with a class that comes at once; nothing of the browser."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from urllib.parse import parse_qsl

import pytest
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from attention.codec import from_query
from attention.streamlit_internals import remember_theme
from tests.server import ROOT, run_server
from tests.visitor import visit_page

CLASS = 16  # visitors who open a cold server at once

# What pages import once they run: none of it by a visitor's script. Each topic has views and charts of its own.
RUN = """
import sys
from attention.ui import startup
startup.preload()
from streamlit.testing.v1 import AppTest
AppTest.from_string("import streamlit as st; st.write(1)").run(timeout=60)
before = set(sys.modules)
from attention.knobs import KNOBS
from pathlib import Path
for page in sorted(Path("pages").glob("*.py")):
    knob = {"softmax": "topic"}.get(page.stem)
    for choice in KNOBS[knob].choices if knob else [None]:
        test = AppTest.from_file(str(page.resolve()), default_timeout=60)
        if choice:
            test.query_params[knob] = choice
        test.run()
        assert not test.exception, test.exception
print("MISSING", sorted(set(sys.modules) - before))
"""


@pytest.mark.extended
def test_all_that_a_first_run_needs_is_imported_before():
    found = subprocess.run([sys.executable, "-c", RUN], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert found.stdout.splitlines()[-1:] == ["MISSING []"], found.stderr[-2000:]


@pytest.mark.extended
def test_a_class_that_opens_a_cold_server_sees_its_pictures():
    """Each has a link of their own: as many settings as visitors, more than there are threads."""
    links = [f"tokens={40 + number}&seed={number}" for number in range(CLASS)]

    async def come(url: str) -> list:
        return await asyncio.wait_for(asyncio.gather(*(visit_page(url, link) for link in links)), 120)

    with run_server() as server:
        found = asyncio.run(come(server.url))
        log = server.log.read_text()
    assert [visit.errors for visit in found] == [[]] * CLASS, log
    for link, visit in zip(links, found, strict=True):
        assert from_query(dict(parse_qsl(visit.painted))) == from_query(dict(parse_qsl(link)))
    assert "Traceback" not in log


def test_a_theme_that_is_remembered_is_the_one_that_streamlit_writes(monkeypatch):
    usual = app_session._populate_theme_msg
    options = {"theme": {"base": "dark", "baseRadius": "0.4rem", "chartCategoricalColors": ["#0072b2"]}}
    options["theme.light.sidebar"] = {"backgroundColor": "#f6f7f9", "headingFontWeights": [650] * 6}
    monkeypatch.setattr(
        app_session.config,  # pyright: ignore[reportPrivateImportUsage]
        "get_options_for_section",
        lambda section: options.get(section, {"a": None}),
    )
    monkeypatch.setattr(app_session, "_populate_theme_msg", usual)
    remember_theme()
    for _ in range(2):
        one, other = CustomThemeConfig(), CustomThemeConfig()
        for msg, write in ((one, usual), (other, app_session._populate_theme_msg)):
            write(msg)
            write(msg.light.sidebar, "theme.light.sidebar")
            write(msg.dark, "theme.dark")
        assert one == other and one.light.sidebar.background_color == "#f6f7f9" and not other.HasField("dark")
    assert app_session._populate_theme_msg is not usual

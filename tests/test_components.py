"""The browser's parts as they are packaged and served: found from anywhere, whole, and nothing but data in a message."""

from __future__ import annotations

import asyncio
import re
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from email.message import Message
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention.components import preload
from tests import drawings
from tests.server import ROOT, run_server

PARTS = ROOT / "attention" / "components"
BROWSER = PARTS / "browser"
SCRIPTS = sorted(BROWSER.rglob("*.js"))
COMPONENTS = sorted(file.stem for file in PARTS.glob("[a-z]*.py") if file.stem not in ("preload", "registry"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
IMPORTED = re.compile(r'^(?:import\b[^"]*|export\b[^"\n]*)"(\.[^"]+)";$', re.MULTILINE)
LONGEST, TALLEST = 130, 300

every_script = pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: str(file.relative_to(BROWSER)))
every_component = pytest.mark.parametrize("name", COMPONENTS)


def imports(file: Path) -> set[Path]:
    """The modules that a script names."""
    return {(file.parent / name).resolve() for name in IMPORTED.findall(file.read_text())}


def reachable_modules(file: Path) -> set[Path]:
    """All modules that a browser loads for a script."""
    found, edge = set(), {file}
    while edge:
        found |= edge
        edge = {other for each in edge for other in imports(each)} - found
    return found


def test_every_component_is_named_once_where_streamlit_looks():
    named = PROJECT["tool"]["streamlit"]["component"]["components"]
    assert sorted(each["name"] for each in named) == COMPONENTS
    assert {each["asset_dir"] for each in named} == {"components/browser"}


@pytest.mark.extended
def test_a_server_that_was_started_elsewhere_serves_them_as_they_stand(tmp_path):
    """And names them with the page that draws with them, once its first visitor can be let in."""
    with run_server(ROOT / "app.py", folder=tmp_path) as server:
        assert eventually(lambda: head(f"{server.url}/steps").get("link")) == preload.links("matrices")
        for name in COMPONENTS:
            for file in reachable_modules(BROWSER / "streamlit" / f"{name}.js"):
                path = file.relative_to(BROWSER).as_posix()
                with urllib.request.urlopen(
                    f"{server.url}/_stcore/bidi-components/attention-lab.{name}/{path}"
                ) as answer:
                    assert answer.headers.get_content_type() in ("text/javascript", "application/javascript")
                    assert answer.read() == file.read_bytes()


def head(url: str) -> Message:
    """What a server says before the body."""
    with urllib.request.urlopen(url) as answer:
        return answer.headers


def eventually(told: Callable[[], str | None]) -> str | None:
    """The first answer that is one, within a minute."""
    until = time.monotonic() + 60
    while (answer := told()) is None and time.monotonic() < until:
        time.sleep(0.2)
    return answer


def response_headers(path: str, kind: bytes) -> list[tuple[bytes, bytes]]:
    """The headers that a browser gets for an answer of a kind."""
    got = []

    async def send(message):
        got.append(message)

    headers = [(b"content-type", kind)]
    asyncio.run(preload.preload_components(path, send)({"type": "http.response.start", "headers": headers}))
    return got[0]["headers"][1:]


@pytest.mark.parametrize("path", ["/", "/heads", "/base/heads", "/masks", "/steps"])
def test_a_page_names_all_files_of_what_it_draws_with(path):
    ((name, value),) = response_headers(path, b"text/html; charset=utf-8")
    component = {"masks": "mask_gallery", "steps": "matrices"}.get(path.rpartition("/")[2], "heads_grid")
    prefix = f"_stcore/bidi-components/attention-lab.{component}/"
    named = re.findall(rf"<{prefix}(.*?)>; rel=(\w+)", value.decode())
    modules = reachable_modules(BROWSER / "streamlit" / f"{component}.js")
    wanted = {(file.relative_to(BROWSER).as_posix(), "modulepreload") for file in modules}
    assert name == b"link" and set(named) == wanted | {(f"{component}.css", "preload")}


def test_what_is_no_page_or_draws_nothing_names_nothing():
    assert response_headers("/steps", b"application/json") == response_headers("/timing", b"text/html") == []


def test_what_a_rule_with_has_concerns_is_named_by_a_class():
    """`.a:has(.b) [role]` makes Chromium compute the style of all elements with a role again, at every change of the page."""
    files = [file for file in (ROOT / "attention").rglob("*.css") if file.name != "print.css"]
    assert not {f"{file.name}: {rule}" for file in files for rule in rules_without_a_class(file.read_text())}


def rules_without_a_class(css: str) -> Iterator[str]:
    """The selectors whose last part, after one with `:has`, names no class."""
    for selector in re.findall(r"[^{};]+(?=\{)", re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        for rule in outside_brackets(r",", selector.strip()):
            *before, last = outside_brackets(r"\s*[>+~]\s*|\s+", rule.strip())
            names = (
                outside_brackets(",", last.removeprefix(":is(").removesuffix(")"))
                if last.startswith(":is(")
                else [last]
            )
            if any(":has(" in part for part in before) and not all("." in name for name in names):
                yield rule.strip()


def outside_brackets(separator: str, text: str) -> list[str]:
    """The parts of a text between separators that are in no brackets."""
    inside, parts, begin = 0, [], 0
    marks = {match.start(): match for match in re.finditer(separator, text)}
    for at, letter in enumerate(text):
        inside += (letter in "([") - (letter in ")]")
        if not inside and at in marks and at >= begin:
            parts, begin = [*parts, text[begin:at]], marks[at].end()
    return [*parts, text[begin:]]


@every_script
def test_what_a_script_imports_is_there(file):
    assert all(other.is_file() for other in imports(file))
    assert len(imports(file)) == len(re.findall(r'^(?:import\b|export .* from ")', file.read_text(), re.MULTILINE))


@every_script
def test_a_drawing_knows_no_streamlit(file):
    drawing = file.parent == BROWSER
    assert not drawing or not any("streamlit" in other.parts[len(BROWSER.parts) :] for other in reachable_modules(file))


@every_component
def test_a_browser_asks_for_all_of_a_component_at_once(name):
    script = BROWSER / "streamlit" / f"{name}.js"
    assert imports(script) == reachable_modules(script) - {script}


@pytest.mark.parametrize("file", [*SCRIPTS, *BROWSER.glob("*.css")], ids=lambda file: str(file.relative_to(BROWSER)))
def test_lines_and_files_are_short(file):
    lines = file.read_text().splitlines()
    assert max(map(len, lines)) <= LONGEST and len(lines) <= TALLEST


@pytest.mark.parametrize("name", sorted(drawings.messages()))
def test_every_key_of_a_header_is_known_to_the_browser(name):
    known = set(re.findall(r"\w+", (BROWSER / "message.js").read_text()))
    header = drawings.header(drawings.messages()[name])
    assert {each for each in header if each not in known} == set()


def test_nothing_but_data_travels_with_a_picture():
    """The scripts, the style and the markup are files: they were 39 of 303 kB."""
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    page.query_params["tokens"] = "128"
    protos = {each.proto.component_name: each.proto for each in page.run().get("bidi_component")}
    assert set(protos) == {"attention-lab.heads_grid", "attention-lab.copy_link"}
    for name, proto in protos.items():
        assert proto.js_source_path == f"streamlit/{name.removeprefix('attention-lab.')}.js"
        assert not (proto.js_content or proto.css_content or proto.css_source_path or proto.html_content)
    grid = protos["attention-lab.heads_grid"]
    assert len(grid.SerializeToString()) < len(grid.bytes) + 500
    assert 8 * 128 * 128 * 2 < len(grid.bytes) < 8 * 128 * 128 * 2 + 3000

"""Words that a stranger wrote are text on every page: markup, scripts, links and formulas in them do nothing, nor in files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from playwright.sync_api import Page

from attention.knobs import KNOBS
from attention.sources.layer_inputs import display_token
from tests import hostile_words
from tests.browser.conftest import SECONDS
from tests.browser.test_walk import HOVERED, open_folds
from tests.samples import is_first, sample
from tests.server import Server, run_server

OURS = f"source={quote(hostile_words.SOURCE)}"
TYPED = f"text={quote_plus(' '.join(hostile_words.WORDS))}"
DETAILS = {"softmax": "topic", "masks": "mask_detail"}
VIEWS = [
    "?row_as=lines", "?row_as=bars", "?row_as=output", "?colors=log&predict=row", "layers",
    *(f"{page}?{knob}={choice}" for page, knob in DETAILS.items() for choice in KNOBS[knob].choices[:2]),
    "steps?steps=all", "implementations", "training", "examples", "timing",
]  # fmt: skip
TAKEN = """(mark) => [...document.querySelectorAll("*")].filter((one) => one.textContent.trim() === mark
    || one.protocol === "javascript:" || (one.hostname ?? "").includes("evil")
    || /^x$|^(?!data:).*evil/.test(one.getAttribute("src")))
    .map((one) => one.outerHTML.slice(0, 200))"""
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the app with such words, without the policy that would keep a browser from what they want."""
    with run_server(hostile_words.folder(tmp_path_factory.mktemp("hostile"))) as server:
        yield server


def check_page(page: Page, link: str) -> None:
    """Fails where anything took a word for more than text."""
    assert page.evaluate("window.hacked") is None, f"{link}: a script ran"
    assert page.evaluate(TAKEN, hostile_words.MARK) == [], link


first_of_page = is_first(lambda view: view.partition("?")[0])


def has_words(view: str) -> bool:
    """The first view of every page with a picture of this source; one of those whose menus alone have its words."""
    return first_of_page(view) and view not in ("examples", "timing")


@pytest.mark.parametrize("view", sample(VIEWS, has_words))
def test_words_are_text_on_every_page(visit, strange, view):
    other = view.startswith(("training", "examples", "timing"))  # no picture of this source
    link = view if other else f"{view}{'&' if '?' in view else '?'}{OURS}"
    tab = visit(link, strange)
    tab.still()
    open_folds(tab)
    for chart in tab.page.locator(HOVERED).all():
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        for part in (0.3, 0.5, 0.7):
            tab.page.mouse.move(box["x"] + part * box["width"], box["y"] + part * box["height"])
        check_page(tab.page, link)
    for drawn in tab.page.locator('[data-testid="heads-grid"] .square, [data-testid="matrices"] canvas.lit').all()[:3]:
        drawn.hover()
        check_page(tab.page, link)
    tab.page.wait_for_timeout(300)  # charts are drawn after the run
    check_page(tab.page, link)


@pytest.mark.parametrize(
    "view", sample(["?row_as=lines", "steps?step=scores", "implementations"], lambda view: "lines" in view)
)
def test_what_somebody_types_is_text(visit, strange, view):
    """Characters of it are tokens; it stands in the field and in the link as well."""
    tab = visit(f"{view}{'&' if '?' in view else '?'}tokens=60&input=characters&{TYPED}", strange)
    tab.still()
    check_page(tab.page, view)


def test_words_are_seen_as_they_are(visit, strange):
    """Else the test above would pass where nothing is shown."""
    tab = visit(f"?row_as=lines&{OURS}", strange)
    names = tab.page.locator(".word-lines .keys .name")
    names.first.wait_for()
    assert names.all_inner_texts()[: len(hostile_words.WORDS)] == [display_token(word) for word in hostile_words.WORDS]


@pytest.mark.parametrize("kind", sample(["svg", "png"], lambda kind: kind == "svg"))
def test_words_with_lines_are_saved_with_whose_they_are(visit, strange, tmp_path, kind):
    tab = visit(f"?row_as=lines&head=2&{OURS}", strange)
    with tab.page.expect_download(timeout=SECONDS) as waited:
        tab.page.locator(f".word-lines [data-file={kind}]").click()
    assert waited.value.suggested_filename == f"attention-words-head-2.{kind}"
    content = saved_bytes(waited.value.path())
    if kind == "png":
        assert content[:8] == b"\x89PNG\r\n\x1a\n" and len(content) > 10_000
        return
    root = ET.fromstring(content)
    assert {part.tag.removeprefix(SVG) for part in root.iter()} == {"svg", "rect", "title", "desc", "text", "g", "path"}
    texts = [part.text or "" for part in root.iter(f"{SVG}text")]
    names = [text for text in texts if text.startswith("<b>ow</b>") and text.endswith("…")]
    assert len(names) == 2 * 4 and "Attention Lab: ?" in " ".join(texts)
    assert root.find(f"{SVG}desc").text.startswith(" ".join(hostile_words.WORDS))
    check_page(tab.page, "saving")


@pytest.mark.parametrize("kind", sample(["svg", "png"], lambda kind: kind == "svg"))
def test_the_map_of_layers_is_saved_with_whose_it_is(visit, strange, kind):
    tab = visit(f"layers?layer_map=first&{OURS}", strange)
    tab.still()
    tab.page.get_by_text("Downloads", exact=True).click()
    with tab.page.expect_download(timeout=SECONDS) as waited:
        tab.page.locator(f".picture-file [data-file={kind}]").click()
    assert waited.value.suggested_filename == f"attention-layers-first.{kind}"
    content = saved_bytes(waited.value.path())
    if kind == "png":
        assert content[:8] == b"\x89PNG\r\n\x1a\n" and len(content) > 10_000
        return
    root = ET.fromstring(content)
    assert {part.tag.removeprefix(SVG) for part in root.iter()} == {"svg", "rect", "title", "desc", "text", "g"}
    assert (
        len([*root.iter(f"{SVG}rect")]) == 1 + 72 + 40 and " ".join(hostile_words.WORDS) in root.find(f"{SVG}desc").text
    )


def saved_bytes(path: Path | None) -> bytes:
    assert path is not None
    return path.read_bytes()

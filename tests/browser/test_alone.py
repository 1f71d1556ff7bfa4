"""The HTML file opened from a disk: it asks nobody for anything, runs nothing that stands in labels, and shows what it should."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import attention
from attention.charts import theme
from tests.browser.test_drawings import colours

N, HEADS, LAYERS = 6, 3, 3
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>window.ran=1</script>",
    "<img src=x onerror='window.ran=2'>",
    "</script><script>window.ran=3</script>",
    "<a href=javascript:window.ran=4>x</a>",
    "$x^2$ {{7*7}} &lt;b&gt;",
    "\u202eabc",
)


def shifted_heads(by: int) -> torch.Tensor:
    """Heads that look so far back alone, the first ones at the last."""
    return torch.eye(N).roll(-by, 1).expand(HEADS, N, N)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Layers that differ by how far back they look."""
    weights = torch.stack([shifted_heads(by) for by in range(LAYERS)])
    path = tmp_path_factory.mktemp("alone") / "heads.html"
    return attention.html(weights, path=path, tokens=HOSTILE, title=HOSTILE[0])


@pytest.fixture
def wrong() -> list[str]:
    """What went wrong in the tab of a test."""
    return []


@pytest.fixture
def page(chromium: Browser, file: Path, theme_of_page: str, wrong: list[str]) -> Iterator[Page]:
    """A tab that has it open, and fails its test on an error, or where anything was asked for but the file and its own."""
    with chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme_of_page) as context:
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: wrong.append(f"{error}"))
        page.on("console", lambda told: wrong.extend([told.text] * (told.type == "error")))
        page.on(
            "request", lambda asked: wrong.extend([asked.url] * (not asked.url.startswith(("blob:", file.as_uri()))))
        )
        page.goto(file.as_uri())
        wait_for_layer(page, 0)
        yield page
        assert not wrong


@pytest.fixture(params=["light", "dark"])
def theme_of_page(request: pytest.FixtureRequest) -> str:
    return request.param


def wait_for_layer(page: Page, layer: int) -> None:
    expect(page.get_by_test_id("heads-layers")).to_have_attribute("data-painted", f"layer {layer}")


def expected_colours(by: int, side: str) -> list[list[str]]:
    ends = theme.WEIGHTS[side][0], theme.WEIGHTS[side][-1]
    return [[ends[key == (query - by) % N] for key in range(N)] for query in range(N)]


def test_a_layer_is_chosen_pointed_at_and_a_row_read(page, theme_of_page, monkeypatch):
    monkeypatch.setattr("tests.browser.test_drawings.SIDE", N)
    assert colours(page, 0) == expected_colours(0, theme_of_page)
    page.locator(".layers").select_option("2")
    wait_for_layer(page, 2)
    assert colours(page, 1) == expected_colours(2, theme_of_page)
    page.get_by_role("button", name="Previous layer").click()
    wait_for_layer(page, 1)
    page.locator(".square").first.hover()
    square = page.locator(".square").nth(1)
    box = square.bounding_box()
    where = {"x": 2.5 * box["width"] / N, "y": 3.5 * box["height"] / N}
    square.hover(position=where)
    expect(page.locator("[data-of=weight]")).to_have_text("100%")
    expect(page.locator("[data-of=query]")).to_have_text(f"“{HOSTILE[3]}” (3)")
    expect(page.locator("[data-of=key]")).to_have_text(f"“{HOSTILE[2]}” (2)")
    square.click(position=where)  # selects the head, and once more the cell
    expect(page.locator(".row-title")).to_contain_text("Head 1")
    square.click(position=where)
    expect(page.locator(".row-title")).to_have_text("Head 1, query 3: attended tokens")
    expect(page.locator(".word-lines .said")).to_contain_text(f"puts 100% on “{HOSTILE[2]}” (2)")
    page.locator(".word-lines .queries .word").nth(5).click()
    expect(page.locator(".row-title")).to_have_text("Head 1, query 5: attended tokens")
    expect(page.locator(".heads-grid [data-of=query]")).to_have_text(f"“{HOSTILE[5]}” (5)")
    page.get_by_role("button", name="Next layer").click()
    wait_for_layer(page, 2)
    expect(page.locator(".row-title")).to_have_text("Head 1, query 5: attended tokens")


def test_colours_of_ones_choice(page):
    page.locator(".colors").select_option("own maximum")
    expect(page.locator(".heads-grid .ticks")).to_contain_text("head max")
    page.locator(".colors").select_option("log")
    expect(page.locator(".heads-grid .scale-name")).to_have_text("weight (log)")


def test_it_can_be_used_by_keys_alone(page):
    page.keyboard.press("Tab")
    expect(page.locator(".layers")).to_be_focused()
    page.keyboard.press("ArrowDown")
    wait_for_layer(page, 1)
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(page.locator(".heads")).to_be_focused()
    page.keyboard.press("]")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".row-title")).to_have_text("Head 1, query 4: attended tokens")


def test_labels_are_text(page):
    page.locator(".layers").select_option("1")
    wait_for_layer(page, 1)
    page.locator(".square").nth(2).click()
    page.locator("summary", has_text="Row as table").click()
    for text in HOSTILE[:5]:
        expect(page.locator(".word-lines .name", has_text=text).first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[0])
    assert page.evaluate("window.ran") is None
    assert page.locator("main script, main img, main a, h1 script").count() == 0


def test_words_with_lines_are_saved_with_whose_they_are(page, tmp_path):
    page.locator(".layers").select_option("1")
    wait_for_layer(page, 1)
    page.locator(".square").nth(2).click()
    found = {}
    for kind in ("svg", "png"):
        with page.expect_download() as coming:
            page.locator(f".word-lines [data-file={kind}]").click()
        coming.value.save_as(tmp_path / coming.value.suggested_filename)
        found[kind] = (tmp_path / f"attention-words-head-2.{kind}").read_bytes()
    assert found["png"].startswith(b"\x89PNG") and len(found["png"]) > 5_000
    root = ElementTree.fromstring(found["svg"])
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert texts[0].startswith("Layer 1, head 2: <script>") and (root.findtext(f"{SVG}title") or "").endswith(
        HOSTILE[0]
    )
    assert root.findtext(f"{SVG}desc") == texts[-1] == "3 layers of 3 heads, given as weights."
    assert any(text.startswith("$x^2$ {{7*7}}") for text in texts) and not any(
        "Attention Lab: ?" in text for text in texts
    )


def test_nothing_else_may_run_or_be_asked_for(page, wrong):
    """The policy holds: what is put into the page later neither runs nor loads."""
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.ran = 5";
            document.body.append(script);
        }"""
    )
    assert page.evaluate("window.ran") is None
    assert page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'came', () => 'refused')") == "refused"
    assert len(wrong) >= 2 and all("Content Security Policy" in text or "Fetch API" in text for text in wrong)
    wrong.clear()


def test_axe_finds_nothing(page):
    page.locator(".square").nth(1).click()
    found = Axe().run(page).response["violations"]
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []


def test_a_theme_that_changes_is_followed(page, theme_of_page):
    other = "light" if theme_of_page == "dark" else "dark"
    page.emulate_media(color_scheme=other)
    text = theme.NEUTRALS[other]["text"]
    page.wait_for_function(
        "(text) => document.querySelector('.heads-layers').style.getPropertyValue('--text') === text", arg=text
    )
    assert page.evaluate("getComputedStyle(document.querySelector('.heads-layers')).backgroundColor") == (
        "rgb(255, 255, 255)" if other == "light" else "rgb(20, 23, 28)"
    )

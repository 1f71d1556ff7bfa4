"""The page Your data in a browser: a file is opened, shown, and seen by its own visit alone; what it is called is text."""

from __future__ import annotations

import io
import json

import pytest
from playwright.sync_api import expect

from attention.array_files import safe_file
from tests import example_uploads
from tests.bad_files import bomb
from tests.browser.conftest import Tab, open_page
from tests.samples import sample

HOSTILE = "<img src=x onerror=alert(1)>.safetensors"
TOKENS = ("<b>the</b>", "![x](http://host.invalid/p.png)", "$x$", "javascript:alert(1)", "%{x}", "</script>")


def file() -> bytes:
    found = example_uploads.named_upload()
    assert found.q is not None and found.k is not None
    tensors = {f"layers.{at}.{name}": part[at] for at in range(3) for name, part in (("q", found.q), ("k", found.k))}
    said = {
        "tokens": list(TOKENS),
        "mask": "causal",
        "title": "<script>alert(1)</script>",
        "what": "[a](http://host.invalid)",
    }
    return safe_file.write_safetensors(tensors, {name: json.dumps(value) for name, value in said.items()})


def put(tab: Tab, name: str, data: bytes) -> None:
    """Opens a file in the first field."""
    tab.page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": io.BytesIO(data).getvalue()}
    )


def test_a_file_is_opened_and_every_head_of_it_shown_as_text(visit, theme):
    tab = visit("your_data", theme=theme)
    put(tab, HOSTILE, file())
    expect(tab.page.get_by_text("was read as follows.")).to_contain_text("<script>alert(1)</script>")
    expect(tab.page.get_by_text("q: 4 heads × 6 tokens × 8 channels, in each of 3 layers.")).to_be_visible()
    tab.page.get_by_text("See its heads → Heads").click()
    expect(tab.widget("page-title")).to_contain_text(HOSTILE)
    expect(tab.widget("finding")).to_contain_text("4 heads of layer 0 of")
    for text in TOKENS[:3]:
        expect(tab.page.get_by_text(text, exact=True).first).to_be_attached()
    tab.choose("layer", "2")
    expect(tab.widget("finding")).to_contain_text("4 heads of layer 2 of")
    link = tab.page.url.partition("?")[2]
    other = visit(f"?{link}")
    expect(other.page.get_by_text("This link shows")).to_contain_text(HOSTILE)
    expect(other.widget("page-title")).to_contain_text("Hand-built, not learned")


@pytest.mark.parametrize("size", sample([[1280, 800], [390, 844]], lambda size: size[0] < 400))
def test_a_bad_file_is_named_and_nothing_is_wider_than_the_window(visit, size):
    tab = visit("your_data", size=size)
    put(tab, "bomb.npz", bomb())
    expect(tab.page.get_by_text("It unpacks to 314,572,879 bytes")).to_be_visible()
    wide = tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    put(tab, "good.safetensors", file())
    expect(tab.page.get_by_text("was read as follows.")).to_be_visible()


def test_an_opened_file_is_the_source_of_the_pages_in_the_menu(visit):
    tab = visit("your_data")
    tab.page.get_by_role("button", name="Try it with an example").click()
    expect(tab.page.get_by_text("was read as follows.")).to_be_visible()
    for name in ("Layers", "Heads"):
        open_page(tab.page, name)
        expect(tab.page.locator(".st-key-page-title")).to_contain_text("two_layers.safetensors")
    open_page(tab.page, "Your data")
    tab.page.get_by_role("button", name="Close").click()
    expect(tab.page.get_by_text("Open files")).to_be_hidden()
    open_page(tab.page, "Heads")
    expect(tab.page.locator(".st-key-page-title")).to_contain_text("Hand-built")

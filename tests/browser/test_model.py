"""The Model page in a browser: a model reads, its map leads to a head, a click on a picture to what is seen from there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import GRID
from tests.server import Server, warm_server
from tests.tiny_models import write_model

CHART = "[data-testid=stVegaLiteChart]"
LOADED = 60_000  # milliseconds: the libraries are imported with the first model


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Iterator[Server]:
    """A server with two small models."""
    base = tmp_path_factory.mktemp("models")
    listed = "; ".join(f"{kind} = {write_model(kind, base / kind)}" for kind in ("bert", "vit"))
    with warm_server(ATTENTION_MODELS=listed) as server:
        yield server


def click_chart(chart: Locator, x: float, y: float) -> None:
    """Clicks a chart at a share of its width and its height."""
    box = chart.bounding_box()
    assert box is not None
    chart.page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_a_model_reads_and_a_click_in_its_map_leads_to_a_head(visit, models):
    tab = visit("model?model=bert", server=models)
    tab.page.get_by_role("button", name="Run model").click()
    expect(tab.page.get_by_text("3 layers of 4 heads over 17 tokens")).to_be_visible(timeout=LOADED)
    expect(tab.page.get_by_text(re.compile(r"^Layer \d, head \d$")).first).to_be_visible()
    assert "head" not in tab.link
    click_chart(tab.page.locator(CHART).first.locator("canvas, svg").first, 0.62, 0.3)
    expect(tab.page).to_have_url(re.compile("head="))
    expect(
        tab.page.get_by_text(f"Layer {tab.link.get('layer', 0)}, head {tab.link['head']}", exact=True).first
    ).to_be_visible()
    tab.page.get_by_role("link", name="→ Heads").first.click()
    expect(tab.page.locator(GRID).locator(".squares figcaption")).to_have_count(4)
    assert tab.link["run"] == "bert"


def test_a_token_under_the_pointer_is_the_query_of_both_sentences(visit, models):
    tab = visit("model", server=models)
    chips = [tab.page.locator(f".st-key-model-chips{more} .now") for more in ("", "-1")]
    for each in chips:
        expect(each.locator(".selected b")).to_have_text("it")
    chips[0].get_by_role("button", name="cross").hover()
    for each in chips:
        expect(each.locator(".selected b")).to_have_text("cross")


@pytest.mark.extended
def test_what_is_typed_is_read_by_a_click_at_once(visit, models):
    """After the first reading as well: the click itself leaves the field, so that text and click are sent together."""
    tab = visit("model?model=bert", server=models)
    button, field = tab.page.get_by_role("button", name="Run model"), tab.page.get_by_label("Text", exact=True)
    for typed, many in (("the street", 4), ("the animal was tired", 7), ("it was too", 5)):
        field.fill("")
        field.press_sequentially(typed)
        button.click()
        expect(tab.page.get_by_text(f"3 layers of 4 heads over {many} tokens")).to_be_visible(timeout=LOADED)
        expect(button).to_be_enabled()
        assert tab.link["text"] == typed


def test_a_patch_that_is_clicked_is_seen_from(visit, models):
    tab = visit("model?model=vit", server=models, theme="dark", size=(390, 844))
    tab.page.get_by_role("button", name="Run model").click()
    expect(tab.page.get_by_text("[CLS] attends to the bright patches.")).to_be_visible(timeout=LOADED)
    tab.still()  # until then, the picture is drawn once more
    picture = tab.page.locator(CHART).first.locator("canvas, svg").first
    picture.scroll_into_view_if_needed()
    click_chart(picture, 0.9, 0.1)
    expect(tab.page.get_by_text("The patch at row 1, column 6 attends to the bright patches.")).to_be_visible()
    assert tab.link["patch"] == "6"


@pytest.mark.extended
def test_the_link_of_a_run_runs_the_model_again_in_another_visit(visit, models):
    tab = visit("model?model=bert&text=the+street+was+tired", server=models)
    tab.page.get_by_role("button", name="Run model").click()
    expect(tab.page.get_by_text("3 layers of 4 heads over 7 tokens")).to_be_visible(timeout=LOADED)
    tab.page.get_by_role("link", name="→ Heads").first.click()
    expect(tab.page.locator(".st-key-page-title")).to_contain_text("bert")
    assert "source" not in tab.link, "which only this visit has"
    other = visit(f"heads?{urlencode(tab.link)}", server=models)
    expect(other.page.locator(".st-key-page-title")).to_contain_text("bert", timeout=LOADED)
    assert other.link == tab.link

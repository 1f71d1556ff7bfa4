"""Times even in a browser: its colours, the numbers under the pointer, why it is in force, and the axis of the row."""

from __future__ import annotations

import math
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from attention import Config, trace
from attention.charts import theme

MEANING = "Not percent, but multiples of the uniform weight. 1: all visible keys get the same; 10: ten times that."
WEIGHTS = theme.WEIGHTS["light"]
SMALL = {"tokens": "64", "heads": "2", "d_model": "16"}
EVEN = SMALL | {"colors": "times even"}
PIXELS = """([head, cells]) => {
    const canvas = document.querySelectorAll(".heads-grid .square canvas")[head], { width } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, canvas.height);
    const at = (token) => Math.floor((token + 0.5) * width / 64);
    return cells.map(([query, key]) => [...data.slice(4 * (at(query) * width + at(key))).slice(0, 4)]);
}"""


def opened(visit, link: dict[str, str], **more: str):
    tab = visit(f"?{urlencode(link | more)}")
    tab.wait_for_grid(**link, **more)
    tab.quiet()
    return tab


def colour(times: float) -> list[float]:
    """The colour of so many times the even share."""
    at = 0.5 + math.log10(min(theme.TIMES, max(1 / theme.TIMES, times))) / (2 * math.log10(theme.TIMES))
    low = min(len(WEIGHTS) - 2, int(at * (len(WEIGHTS) - 1)))
    part = at * (len(WEIGHTS) - 1) - low
    below, above = ([int(WEIGHTS[i][j : j + 2], 16) for j in (1, 3, 5)] for i in (low, low + 1))
    return [a + part * (b - a) for a, b in zip(below, above, strict=True)]


def test_a_cell_has_the_colour_and_the_number_of_its_times_even(visit):
    tab = opened(visit, EVEN, mask="window", span="9")
    found = trace(Config(tokens=64, heads=2, d_model=16, mask="window", span=9))
    seen = found.mask.sum(-1)
    expect(tab.page.locator(".heads-grid .why")).to_have_text(MEANING)
    square = tab.page.locator('.heads-grid [data-head="1"]')
    box = square.bounding_box()
    cells = [(0, 0), (5, 2), (40, 33), (63, 60)]
    *pixels, hidden = tab.page.evaluate(PIXELS, [1, [*cells, (5, 40)]])
    assert hidden[3] == 0, "what is masked has no colour of a weight"
    for (query, key), (*rgb, dense) in zip(cells, pixels, strict=True):
        weight = found.weights[1, query, key].item()
        times = weight * int(seen[query])
        assert dense == 255 and rgb == pytest.approx(colour(times), abs=3)
        square.hover(position={"x": (key + 0.5) * box["width"] / 64, "y": (query + 0.5) * box["height"] / 64})
        expect(tab.page.locator("[data-of=query]")).to_contain_text(f"({query})")
        assert float(tab.page.locator("[data-of=weight]").inner_text().rstrip("%")) == pytest.approx(
            100 * weight, rel=5e-3
        )
        said = tab.page.locator("[data-of=even]").inner_text()
        assert said.endswith(" × uniform") and float(said.split()[0]) == pytest.approx(times, rel=6e-3)


@pytest.mark.extended
def test_a_scale_that_is_chosen_says_no_reason_and_no_times(visit):
    tab = opened(visit, SMALL)
    tab.choose("colors", "linear")
    tab.wait_for_grid(**SMALL, colors="linear")
    expect(tab.page.locator(".heads-grid .why")).to_be_hidden()
    expect(tab.page.locator("[data-of=even]")).to_be_hidden()
    tab.choose("colors", "times even")
    tab.wait_for_grid(**SMALL, colors="times even")
    expect(tab.page.locator(".heads-grid .why")).to_have_text(MEANING)
    expect(tab.page.locator("[data-of=even]")).to_contain_text("× uniform")


def test_the_first_query_does_not_spoil_a_heads_own_maximum(visit):
    """It sees one key and gives it all its weight; the scale ends at the greatest of the others."""
    tab = opened(visit, SMALL | {"colors": "own maximum"})
    found = trace(Config(tokens=64, heads=2, d_model=16)).weights[:, 1:].amax((1, 2)).tolist()
    said = tab.page.locator(".heads-grid .squares figcaption span").all_inner_texts()
    assert [float(text.rpartition("to ")[2]) for text in said] == pytest.approx(found, rel=5e-3)
    top = [int(WEIGHTS[-1][at : at + 2], 16) for at in (1, 3, 5)]
    assert tab.page.evaluate(PIXELS, [0, [(0, 0)]])[0][:3] == top, "what is beyond the scale has its last colour"


def test_the_large_head_says_times_even_of_a_long_sequence(visit):
    long = {
        "tokens": "1500",
        "heads": "1",
        "d_model": "16",
        "input": "refrain",
        "rows": "1000-1039",
        "cols": "990-1029",
    }
    tab = visit(f"?{urlencode(long)}")
    head = tab.page.get_by_test_id("large-head")
    expect(head.get_by_role("button", name="Whole head")).to_be_enabled()
    head.scroll_into_view_if_needed()
    canvas = head.locator("canvas")
    weight = trace(Config(tokens=1500, heads=1, d_model=16, input="refrain")).weights[0, 1020, 1005].item()
    box, (left, top, width, height) = canvas.bounding_box(), map(float, canvas.get_attribute("data-square").split())
    tab.page.mouse.move(box["x"] + left + 15.5 * width / 40, box["y"] + top + 20.5 * height / 40)
    expect(head.locator(".said")).to_contain_text("query 1,020, key 1,005: weight ")
    expect(head.locator(".said")).to_contain_text(" × uniform")
    said = head.locator(".said").inner_text().rpartition(", ")[2]
    assert float(said.split()[0]) == pytest.approx(weight * 1021, rel=6e-3)


@pytest.mark.extended
def test_a_button_draws_the_row_on_the_other_kind_of_scale_and_back(visit):
    bars = EVEN | {"row_as": "bars"}
    tab = opened(visit, bars)
    chart = tab.page.get_by_test_id("stVegaLiteChart").first
    expect(chart.get_by_text("× uniform", exact=True)).to_be_visible()
    expect(chart.get_by_text("1", exact=True)).to_be_visible()
    tab.page.get_by_role("button", name="Linear scale").click()
    expect(chart.get_by_text("weight", exact=True)).to_be_visible()
    assert tab.link == bars | {"axis": "linear"}
    tab.page.get_by_role("button", name="Log scale").click()
    expect(chart.get_by_text("× uniform", exact=True)).to_be_visible()
    assert tab.link == bars


def test_maps_that_are_too_narrow_for_a_name_have_a_short_one(visit):
    tab = visit("heads?heads=32")
    caption = tab.page.locator(".heads-grid .squares figure:nth-of-type(6) figcaption")
    expect(caption.locator("span")).to_have_text("(self+)")
    assert (caption.get_attribute("title") or "").startswith("(itself, one back)")
    shown = tab.page.locator(".heads-grid .squares figcaption span:visible")
    assert all(shown.all_inner_texts()) and shown.count() == 32


@pytest.mark.parametrize(("tokens", "said"), [(18, ""), (40, "every 2nd"), (65, "every 3rd"), (120, "")])
def test_an_axis_that_leaves_out_tokens_says_so(visit, tokens, said):
    """Beyond, labels are positions."""
    tab = visit(f"heads?tokens={tokens}")
    axes, labels = tab.page.locator(".heads-grid .axis"), tab.page.locator(".heads-grid .label.down:not(.picked)")
    expect(axes).to_have_text(["query ↑", "key →", said])
    if said:
        assert labels.count() == -(-tokens // int(said[6]))
    assert labels.first.inner_text().isdecimal() == (tokens == 120)


def test_a_long_sequence_offers_to_be_coloured_by_percent(visit):
    tab = visit("heads?tokens=192&heads=2&d_model=16")
    button = tab.page.locator(".heads-grid .percent")
    button.click()
    tab.wait_for_grid(tokens="192", heads="2", d_model="16", colors="linear")
    expect(button).to_be_hidden()
    expect(tab.page.locator(".heads-grid .scale-name")).to_have_text("weight")


def test_the_bars_of_the_largest_weights_have_their_words_below_them(visit):
    tab = visit("?source=recorded:minilm-river&head=4&query=5")
    tab.wait_for_grid(source="recorded:minilm-river", head=4, query=5)
    names = tab.page.locator(".heads-grid .names span")
    expect(names).to_have_text(["river"])
    name, bars = names.bounding_box(), tab.page.locator(".heads-grid .bars canvas").bounding_box()
    assert name and bars
    middle = bars["x"] + bars["width"] * (8 + 0.5) / 11
    assert abs(name["x"] + name["width"] / 2 - middle) < 3 and name["y"] >= bars["y"] + bars["height"]

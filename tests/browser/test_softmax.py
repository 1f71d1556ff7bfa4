"""The Softmax page in a real browser: its own controls, one pointer through all panels, no width left over."""

from __future__ import annotations

import math
import re

import pytest
import torch
from playwright.sync_api import Locator, expect

from attention.components.score_bars import form
from attention.operations.softmax import SOFTMAXES, head_sinks, head_softmax
from tests.browser.conftest import SECONDS, open_page

CHARTS = {"row": 0, "all": 2, "scaling": 1, "precision": 1, "positions": 2}  # others are in expanders
STEPS = "From q · k to the weights, with numbers"
FOLDS = (STEPS, "How many keys hold most of the weight", "The same row with other softmaxes")

TOPICS = {
    "row": "One row",
    "all": "All rows and heads",
    "scaling": "Why divide by √d",
    "precision": "Number types",
    "positions": "Positions",
}


def painted_charts(tab, count: int) -> list[Locator]:
    """The visible Vega charts of the page, once so many are painted."""
    tab.page.wait_for_function(
        """count => {  // at once: those of the topic before may still be there
            const all = [...document.querySelectorAll('[data-testid="stVegaLiteChart"]')];
            const charts = all.filter((chart) => chart.checkVisibility());
            return charts.length === count && charts.every((chart) => chart.querySelector("canvas, svg.marks"));
        }""",
        arg=count,
        timeout=SECONDS,
    )
    tab.quiet()
    charts = tab.page.locator('[data-testid="stVegaLiteChart"]:visible')
    expect(charts).to_have_count(count)
    return charts.all()


def painted_row(tab) -> list[Locator]:
    """The charts of one row, which are in expanders."""
    for count, fold in enumerate(FOLDS, 1):
        tab.page.get_by_text(fold).click()
        charts = painted_charts(tab, count)
    return charts


def pick(tab, knob: str, choice: str) -> None:
    tab.widget(knob).get_by_text(choice, exact=True).click()


def choose_topic(tab, label: str) -> None:
    """Opens a topic; those for engineers are behind a button of that name."""
    if label not in (TOPICS["precision"], TOPICS["positions"]):
        pick(tab, "topic", label)
    else:
        pick(tab, "topic", "For engineers")
        tab.page.get_by_role("button", name=label, exact=True).click()


@pytest.mark.parametrize(
    ("size", "theme"), [((1280, 800), "light"), ((390, 800), "dark")], ids=["wide", "narrow, dark"]
)
def test_every_topic_is_picked_and_none_is_wider_than_the_screen(visit, size, theme):
    tab = visit("softmax?heads=6&tokens=90", size=size, theme=theme)
    for topic, label in TOPICS.items():
        choose_topic(tab, label)
        charts = painted_charts(tab, CHARTS[topic]) or painted_row(tab)
        for chart in charts:
            box = chart.locator("canvas, svg.marks").first.bounding_box()
            assert box["width"] > 150
            assert box["x"] + box["width"] <= size[0]
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    choose_topic(tab, TOPICS["precision"])
    pick(tab, "dtype", "float16")
    pick(tab, "exponent", "naive")
    tab.page.get_by_text("float16, naive: stored scores").wait_for()
    assert tab.link | {"d_model": ""} == {"heads": "6", "tokens": "90", "topic": "precision", "d_model": ""} | {
        "dtype": "float16",
        "exponent": "naive",
    }


def test_one_pointer_for_all_panels(visit):
    """The same key under it in every step, with the value that it has there."""
    tab = visit("softmax?order=weight&head=2")
    tab.page.get_by_text(STEPS).click()
    (chart,) = painted_charts(tab, 1)
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    tab.page.mouse.move(box["x"] + 60, box["y"] + 130)
    tab.page.mouse.move(box["x"] + 70, box["y"] + 130, steps=4)
    said = chart.locator("svg text", has_text=re.compile(r"\(\d+\): "))
    expect(said).to_have_count(3, timeout=SECONDS)  # scaled scores and logits share a panel
    keys = {text.partition(":")[0] for text in said.all_text_contents()}
    assert len(keys) == 1
    tab.page.mouse.move(5, 700)
    expect(said).to_have_count(0, timeout=SECONDS)


NORMALISED = """async ([logits, form]) => {
    const { normalise } = await import("/_stcore/bidi-components/attention-lab.score_bars/normalise.js");
    return normalise(logits.map((logit) => logit ?? -Infinity), form);
}"""


@pytest.mark.extended
def test_the_browser_weighs_as_every_softmax_does(visit):
    page = visit("softmax").page
    logits = torch.randn(40, generator=torch.Generator().manual_seed(3), dtype=torch.float64) * 3
    logits[::7] = -math.inf
    sent = [None if each == -math.inf else each for each in logits.tolist()]
    for name in set(SOFTMAXES) - {"differential"}:  # that is two softmaxes, which no bar shows
        softmax = head_softmax(name, head_sinks(name, 0.5, 40, 0, 1)[0])
        found = page.evaluate(NORMALISED, [sent, form(softmax)])
        assert found == pytest.approx(softmax.normalise(logits[None].clone())[0].tolist(), abs=1e-9), name
        assert page.evaluate(NORMALISED, [[None, None], form(softmax)]) == [0, 0]


QUOTIENTS = """async (pairs) => {
    const { quotient } = await import("/_stcore/bidi-components/attention-lab.score_bars/score_bars_words.js");
    return pairs.map(([power, sum]) => quotient(power, sum, power / sum, { kind: "softmax" }));
}"""


@pytest.mark.extended
def test_a_calculator_gets_the_share_that_is_written_behind_the_quotient(visit):
    seeded = torch.Generator().manual_seed(0)
    powers = torch.rand(200, 2, dtype=torch.float64, generator=seeded).mul(24).sub(12).exp()
    pairs = [(7.4335, 23.43), (1.0, 1.0082), *((one, one + other) for one, other in powers.tolist())]
    for (power, whole), written in zip(pairs, visit("softmax").page.evaluate(QUOTIENTS, pairs), strict=True):
        above, below = (float(each.replace(",", "")) for each in written)
        assert f"{100 * above / below:.1f}" == f"{100 * power / whole:.1f}", written


EXP_OF = """(canvas, [key, keys]) => {  // the lower part of a bar of the middle panel
    const ratio = window.devicePixelRatio, column = (canvas.clientWidth - 40) / keys;
    const floor = 28 + 92 + 28 + 86, place = [40 + (key + 0.5) * column, floor - 20, 1, 18].map((at) => at * ratio);
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return [...copy.getImageData(...place).data];
}"""


@pytest.mark.extended
def test_a_bar_whose_number_stays_keeps_its_height_while_another_score_moves(visit):
    part = visit("softmax").page.locator(".score-bars[data-painted]")
    canvas, slider = part.locator("canvas"), part.locator("input")
    expect(part.locator("select")).to_have_value("7")
    before, moved = (canvas.evaluate(EXP_OF, [key, 18]) for key in (4, 7))
    for by in (0.5, 4):
        slider.fill(f"{by}")
        expect(part.locator(".by span")).to_have_text(f"by +{by:.2f}")
        assert canvas.evaluate(EXP_OF, [4, 18]) == before
    slider.fill("-1")
    assert canvas.evaluate(EXP_OF, [4, 18]) == before
    assert canvas.evaluate(EXP_OF, [7, 18]) != moved


@pytest.mark.extended
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_score_is_dragged_and_all_weights_respond(visit, theme):
    """By its bar, by the slider and by the menu of keys; nothing is asked of the server."""
    tab = visit("softmax", theme=theme)
    part = tab.page.locator(".score-bars[data-painted]")
    said, canvas = part.locator(".said"), part.locator("canvas")
    expect(said).to_have_text("“boat” (7) gets 31.7% of the weight.")
    finding = tab.page.locator(".st-key-finding").inner_text()
    assert finding.endswith("the bigger its share; all shares add up to 100%.")
    tab.still()
    sent, box = len(tab.sent), canvas.bounding_box()
    across, down = box["x"] + 40 + (box["width"] - 40) * 5.5 / 18, box["y"] + 100
    tab.page.mouse.move(across, down)
    tab.page.mouse.down()
    tab.page.mouse.move(across, down - 30, steps=3)
    tab.page.mouse.up()
    expect(said).to_have_text(re.compile(r"^“so” \(5\) gets [0-9.]+% instead of [0-9.]+%\.$"))
    expect(part.locator(".more")).to_have_text(
        re.compile(r"^Relative to every other key that is exp\(−?[0-9.]+\) = [0-9.]+ times as much")
    )
    expect(part.locator("select")).to_have_value("5")
    part.locator("select").select_option("2")
    expect(said).to_have_text(re.compile(r"^“[^”]+” \(2\) gets [0-9.]+% instead of [0-9.]+%\.$"))
    part.locator("input").focus()
    tab.page.keyboard.press("ArrowRight")
    expect(part.locator(".by span")).to_have_text("by +0.25")
    expect(part.locator(".more")).to_contain_text("2 logits are moved.")
    part.get_by_role("button", name="Undo").click()
    expect(said).to_have_text(re.compile(r"^“[^”]+” \(2\) gets [0-9.]+% of the weight\.$"))
    expect(part.locator(".more")).to_contain_text("counts e = 2.72 times as much")
    tab.page.mouse.move(across, down)  # far beyond the end of the axis, which follows: one key takes almost all
    tab.page.mouse.down()
    tab.page.mouse.move(across, down - 250, steps=3)
    tab.page.mouse.up()
    expect(said).to_have_text(re.compile(r"^“so” \(5\) gets 9[0-9.]+% instead of [0-9.]+%\.$"))
    assert len(tab.sent) == sent


@pytest.mark.extended
def test_the_query_is_chosen_by_its_token(visit):
    tab = visit("softmax?head=0&query=9")
    tab.choose("query", "“steep” (4)")
    tab.page.get_by_text("Softmax for “steep” (4): the bigger").first.wait_for()
    assert tab.link == {"query": "4"}


def test_the_menu_of_queries_keeps_up_with_the_length(visit):
    tab = visit("softmax?query=-1")
    field = tab.widget("query").locator("input")
    for tokens, last in (19, "last: “The” (18)"), (20, "last: “river” (19)"), (21, "last: “bank” (20)"):
        tab.slider("tokens").press("ArrowRight")
        tab.page.wait_for_url(f"**tokens={tokens}")
        expect(field).to_have_value(last)
        tab.quiet()
    assert tab.page.get_by_test_id("stAlert").count() == 0


@pytest.mark.extended
def test_no_scaling_at_all_is_one_click(visit):
    tab = visit("softmax?topic=scaling")
    painted_charts(tab, CHARTS["scaling"])
    tab.page.get_by_role("button", name="Turn scaling off").click()
    tab.page.wait_for_url("**scale=none*")
    tab.page.get_by_text("scores times 1 (scale").wait_for(state="attached")  # in an expander


@pytest.mark.extended
def test_predict_then_reveal(visit):
    """A link with a question: the answer comes at a click, and the link stays the question."""
    tab = visit("softmax?predict=temperature&temperature=0.3")
    painted_charts(tab, 1)
    assert tab.page.get_by_text("The entropy goes from").count() == 0
    tab.page.get_by_text("on fewer keys", exact=True).click()
    tab.quiet()
    tab.page.get_by_role("button", name="Reveal answer", exact=True).click()
    tab.page.get_by_text("The entropy goes from").wait_for()
    tab.page.get_by_text("Right.").wait_for()
    tab.page.locator(".score-bars[data-painted]").wait_for()
    assert tab.link == {"predict": "temperature", "temperature": "0.3"}


@pytest.mark.extended
def test_another_page_keeps_the_answer_until_it_is_revealed(visit):
    tab = visit("softmax?predict=temperature&temperature=0.3")
    painted_charts(tab, 1)
    for page in ("Heads", "Steps"):
        open_page(tab.page, page)
        tab.page.wait_for_url(f"**/{page.lower()}?*")
        tab.page.get_by_text("This link asks a question").wait_for()
        painted_charts(tab, 1)
        assert tab.page.locator('[data-testid="heads-grid"], [data-testid="matrices"]').count() == 0
    tab.page.get_by_role("button", name="Reveal answer", exact=True).click()
    tab.page.locator('[data-testid="matrices"]').wait_for()
    open_page(tab.page, "Heads")
    tab.page.locator('[data-testid="heads-grid"][data-painted]').wait_for()


@pytest.mark.extended
def test_a_strangers_token_is_a_token(visit):
    tab = visit("softmax?tokens=3&text=**bold**%20%5Bx%5D(http%3A%2F%2Fevil.example)%20%24x%24")
    painted_row(tab)
    assert tab.page.locator('a[href*="evil"]:not([data-testid=stPageLink-NavLink]), img[src*="evil"]').count() == 0


def test_a_long_badge_wraps(visit):
    tab = visit("softmax?softmax=plus+one&combine=without&second=window")
    badge = tab.page.locator(".stMarkdownBadge:visible", has_text="Checked")
    expect(badge).to_contain_text("4 fully masked queries")
    assert badge.evaluate("badge => badge.scrollWidth <= badge.clientWidth")

"""Every page, opened once: what axe-core, the policy of the page, the contrast of its words and a phone find wrong is nothing.

For people who don't see or use a page as others do, in both themes, with all that can be opened on it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from attention.knobs import KNOBS
from attention.published import ROWS
from tests.browser.colours import assert_readable
from tests.browser.conftest import SECONDS, Tab, of_today
from tests.samples import is_first, sample

SMALL = "tokens=6&d_model=16&heads=2"
ROW = f"implementations?{SMALL}&version=as+meant&implementation"
LESSON = next(name for name, row in ROWS.items() if row.evidence)
BLIND = "mask=window&combine=and&second=padding"  # its last query sees nothing
LARGE = "?tokens=4096&heads=2&d_model=32"  # drawn by other means than a short sequence
SCREENS = {  # links, and how many charts each has
    "/": 0,
    "/?start=step.take+over": 3,
    "": 0,
    "?row_as=bars&rows=3-9&cols=2-9": 2,
    "?row_as=lines&tokens=310&heads=1": 0,
    "?colors=own+maximum&grouping=show": 1,
    f"?{BLIND}": 0,
    LARGE: 1,
    "?tokens=2000&heads=2&d_model=16&colors=own+maximum": 1,
    "?source=recorded:smollm2-repeated&layer=18&head=6&layer_map=entropy": 1,
    "?predict=row": 0,
    "layers": 1,
    "layers?predict=row": 0,
    **{
        f"softmax?topic={topic}": count
        for topic, count in zip(KNOBS["topic"].choices or (), (0, 2, 4, 2, 2), strict=True)
    },
    "softmax?tokens=60&colors=own+maximum": 0,
    f"softmax?{BLIND}&colors=log": 0,
    "softmax?topic=precision&dtype=float16&exponent=naive&scale=none": 2,
    "softmax?predict=temperature&temperature=0.3": 1,
    **{f"masks?mask_detail={d}": n for d, n in zip(KNOBS["mask_detail"].choices or (), (0, 0, 0), strict=True)},
    "masks?predict=mask": 0,
    "steps": 0,
    "steps?tokens=4&heads=2&d_model=8&step=weights": 0,
    **{f"{ROW}={LESSON}&row_detail={detail}": 2 for detail in (KNOBS["row_detail"].choices or ())[1:]},
    f"{ROW}=position-weights&version=as+printed": 3,
    "find_the_bug": 0,
    "timing": 1,
    "timing?picture=limits&d_head=128": 1,
    "timing?work=forward+%2B+backward&lengths=96&heads=2": 1,
    "examples": 0,
    "your_data": 0,
    "model": 1,
    "training?at=1000": 3,
    "training?task=sort&seed=7": 3,
}
# WCAG 2.2 asks for contrast of what can be used (1.4.3), and axe takes no label for that of a slider which can't be moved.
FADED = '.stSlider:has(input:disabled) [data-testid="stWidgetLabel"]'
TAKES_FILES = "[data-testid=stFileUploaderDropzone]"  # Streamlit gives it a name, and the role of what has none
CHARTS = '[data-testid="stVegaLiteChart"], [data-testid="stPlotlyChart"]'
NAMED = """(charts) => [...document.querySelectorAll(charts)].map((chart) => {
    const named = [chart, ...chart.querySelectorAll("[aria-label]")].map((part) => part.getAttribute("aria-label"));
    return named.find((name) => /^(Bars|Lines?|Points|Heatmap)\\b/.test(name ?? "")) ?? chart.outerHTML.slice(0, 300);
})"""
ARRIVED = (
    '.stApp[data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"] [data-testid="stMain"] button'
)
SETTLED = """(dark) => (getComputedStyle(document.querySelector(".stApp")).colorScheme === "dark") === dark
    && !document.querySelector('[data-stale="true"]')
    && document.getAnimations().every((one) => !one.transitionProperty || one.playState !== "running")"""
OLD_COLOURS = (
    ".annotation, .legendtitletext"  # Streamlit gives these of a Plotly chart another colour at the next run only
)
DRAWN = """([charts, count]) => {
    const found = [...document.querySelectorAll(charts)];
    const drawn = (chart) => chart.querySelector("canvas, svg.marks, svg.main-svg");
    return found.length === count && found.every((chart) => !chart.checkVisibility() || drawn(chart));
}"""
TOO_WIDE = """() => {  // what is scrolled sideways, but for code, formulas, tables of numbers and the masks
    const parts = [document.scrollingElement, ...document.querySelectorAll("[data-testid=stMain], [data-testid=stMain] *")];
    const scrolls = (part) => part === parts[0] || /auto|scroll/.test(getComputedStyle(part).overflowX);
    const wide = (part) => part.clientWidth && part.scrollWidth > part.clientWidth;
    const ways = "pre, .katex-display, .dvn-scroller, .mask-gallery ul, :has(> [data-testid=stTableStyledTable])";
    const may = (part) => part.matches(ways);
    return parts.filter((part) => wide(part) && scrolls(part) && !may(part)).map((part) => part.outerHTML.slice(0, 200));
}"""
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
HOVERED = ".js-plotly-plot, [data-testid=stVegaLiteChart]"
FOLDS = '[data-testid="stExpander"] details:not([open]) summary'
first_of_page = is_first(lambda link: link.partition("?")[0])


def rules(contrast: bool) -> dict[str, object]:
    """What axe looks for: contrast takes it most of its time, and `assert_readable` measures that of charts, too."""
    return {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": contrast}}}


def violations(page: Page, contrast: bool = False) -> list[tuple]:
    """What axe finds."""
    found = Axe().run(page, {"exclude": [[FADED], [TAKES_FILES]]}, rules(contrast)).response["violations"]
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found]


def lasting(page: Page, look: Callable[[], list]) -> list:
    """What is found again and again: on a busy machine parts get the colours of the theme, and charts their width, late."""
    for _ in range(20):
        if not (found := look()):
            return []
        page.wait_for_timeout(500)
    return found


def open_folds(tab: Tab) -> None:
    """Opens every fold, those too that are in another; all that are seen are clicked together, as each takes a run."""
    for _ in range(20):
        folds = tab.page.locator(FOLDS)
        if not folds.count():
            return
        folds.evaluate_all("(all) => all.forEach((one) => one.click())")
        tab.still()
    raise AssertionError(f"{tab.page.url} has no end of folds")


@pytest.mark.parametrize("link", sample(SCREENS, lambda link: first_of_page(link) or link == LARGE))
def test_a_page_can_be_read_by_anybody_and_keeps_its_policy(walker, link):
    page = walker.page
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")
    page.goto(f"{walker.server.url}/{of_today(link)}")
    page.locator(ARRIVED).first.wait_for(state="attached")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(DRAWN, arg=[CHARTS, SCREENS[link]], timeout=SECONDS)
        page.wait_for_function(SETTLED, arg=theme == "dark", timeout=SECONDS)
        assert_readable(walker, OLD_COLOURS if theme == "dark" else "")
    headings = page.get_by_role("heading")  # none that is hidden
    assert [headings.first.evaluate("found => found.tagName"), page.get_by_role("heading", level=1).count()] == [
        "H1",
        1,
    ]
    assert lasting(page, lambda: violations(page, contrast=not link)) == [], (
        "axe checks the contrast of the first page, too"
    )

    open_folds(walker)
    page.wait_for_function(
        f"(charts) => ({NAMED})(charts).every((name) => name[0] !== '<')", arg=CHARTS, timeout=SECONDS
    )
    names = page.evaluate(NAMED, CHARTS)
    assert len({*names}) == len(names), names
    for chart in page.locator(HOVERED).all()[:2]:
        chart.hover()
    page.set_viewport_size(PHONE)
    page.wait_for_timeout(300)  # charts are drawn after the run
    assert page.evaluate("refused") == []
    assert lasting(page, lambda: page.evaluate(TOO_WIDE)) == []

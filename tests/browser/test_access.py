"""What axe-core finds wrong for people who don't see or use a page as others do: nothing, on any screen, in both themes."""

from __future__ import annotations

from time import monotonic

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from attention.knobs import KNOBS
from attention.published import ROWS
from tests.browser.conftest import SECONDS
from tests.samples import is_first, sample

SMALL = "tokens=6&d_model=16&heads=2"
ROW = f"implementations?{SMALL}&version=as+meant&implementation"
LESSON = next(name for name, row in ROWS.items() if row.evidence)
BLIND = "mask=window&combine=and&second=padding"  # its last query sees nothing
SCREENS = {  # links, and how many charts each has
    "": 0,
    "?row_as=bars&rows=3-9&cols=2-9": 2,
    "?row_as=lines&tokens=310&heads=1": 0,
    "?colors=own+maximum&grouping=show": 1,
    f"?{BLIND}": 0,
    "?tokens=2000&heads=2&d_model=16&colors=own+maximum": 1,
    "?source=recorded:smollm2-repeated&layer=18&head=6": 2,
    "?predict=row": 0,
    "layers": 4,
    "layers?predict=row": 0,
    **{f"softmax?topic={topic}": count for topic, count in zip(KNOBS["topic"].choices, (4, 2, 4, 2), strict=True)},
    "softmax?tokens=60&colors=own+maximum": 4,
    f"softmax?{BLIND}&colors=log": 3,
    "softmax?topic=precision&dtype=float16&exponent=naive&scale=none": 2,
    "softmax?predict=temperature&temperature=0.3": 1,
    **{f"masks?mask_detail={d}": count for d, count in zip(KNOBS["mask_detail"].choices, (4, 0, 0), strict=True)},
    "masks?predict=mask": 0,
    "steps": 0,
    "steps?tokens=4&heads=2&d_model=8&step=weights": 0,
    **{f"{ROW}={LESSON}&row_detail={detail}": 5 for detail in KNOBS["row_detail"].choices[1:]},
    f"{ROW}=position-weights&version=as+printed": 4,
    "timing": 2,
    "timing?picture=limits&d_head=128": 2,
    "timing?work=forward+%2B+backward&lengths=96&heads=2": 1,
    "examples": 0,
    "your_data": 0,
    "training?at=1000": 2,
    "training?task=sort&seed=7": 2,
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
PATIENCE = 20  # seconds until every part must have the colours of a theme
DRAWN = """([charts, count]) => {
    const found = [...document.querySelectorAll(charts)];
    return found.length === count && found.every((chart) => chart.querySelector("canvas, svg.marks, svg.main-svg"));
}"""


def lasting(page: Page, theme: str) -> list[tuple]:
    """What axe finds, and finds again: on a busy machine a part may still have the colours of the theme before."""
    until = monotonic() + PATIENCE
    while True:
        found = Axe().run(page, {"exclude": [[FADED], [TAKES_FILES]]}).response["violations"]
        if not found or monotonic() > until:
            return [(theme, rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found]
        page.wait_for_timeout(500)


@pytest.mark.parametrize("link", sample(SCREENS, is_first(lambda link: link.partition("?")[0])))
def test_axe_finds_nothing_and_every_chart_has_a_name_of_its_own(visit, link):
    tab = visit(link)
    tab.page.locator(ARRIVED).first.wait_for(state="attached")
    for theme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=theme)
        tab.page.wait_for_function(DRAWN, arg=[CHARTS, SCREENS[link]], timeout=SECONDS)
        tab.page.wait_for_function(SETTLED, arg=theme == "dark", timeout=SECONDS)
        assert lasting(tab.page, theme) == []
        names = tab.page.evaluate(NAMED, CHARTS)
        assert len({*names}) == len(names) and all(name[0] != "<" for name in names), names

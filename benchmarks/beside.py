"""Heavy work beside its neighbours: `python -m benchmarks.beside`.

The largest model that one may train is trained in one window, and after it a sweep is measured there. In another a slider is
moved, before and meanwhile: what it takes to paint may at most double. The training is stopped, which must be seen within half a
second. What a map of 65,536 tokens costs its neighbours is in benchmarks/long.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from statistics import median

from playwright.sync_api import Browser, Page

from benchmarks.browser import Slider, open_slider
from benchmarks.interleaved import environment
from benchmarks.paint import GRID, PAINTED, mark
from tests.chromium import launch_browser
from tests.server import Server, run_server

OFTEN = 12  # changes of the slider, before and meanwhile
SLOWER, LATE = 2.0, 0.5  # times its usual time; seconds
LARGEST = "training?v=2&train_layers=3&train_heads=8&train_d_model=256&train_steps=1000&train_seed=77"
SWEEP = "timing?seconds=60"
NEIGHBOUR = "heads?heads=8&tokens=128&input=noise"
STOPPED = """() => new Promise((done) => {
    const stop = [...document.querySelectorAll(".st-key-cancel button")].at(-1), start = performance.now();
    const seen = () => document.body.innerText.includes("Stopped after") || document.querySelector(".st-key-cancel") === null;
    const look = () => (seen() ? done(performance.now() - start) : requestAnimationFrame(look));
    stop.click();
    look();
})"""


def start_training(browser: Browser, server: Server) -> Page:
    """The largest training, once it takes its steps."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{server.url}/{LARGEST}")
    page.get_by_role("button", name="Train: 1,000 steps").click()
    page.get_by_text("steps a second").wait_for()
    return page


def measuring(browser: Browser, server: Server) -> Page:
    """A sweep as the page offers it, once it measures."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{server.url}/{SWEEP}")
    page.get_by_role("button", name="Measure here").click()
    page.get_by_role("button", name="Cancel").wait_for()
    return page


def neighbour_lines(browser: Browser, server: Server) -> Iterator[str]:
    """A line for the neighbour of each, and one for the stop."""
    slider: Slider = open_slider(browser, f"{server.url}/{NEIGHBOUR}", "temperature", GRID, PAINTED)
    slider.seconds()  # the first one warms up
    usual = median(slider.seconds() for _ in range(OFTEN))
    training = start_training(browser, server)
    yield _beside(slider, usual, "the largest training")
    training.bring_to_front()
    late = training.evaluate(STOPPED) / 1000
    yield f"{mark(late <= LATE)}  {late:.2f} s until the training is seen to stop, at most {LATE:g}"
    training.close()
    usual = median(slider.seconds() for _ in range(OFTEN))
    sweep = measuring(browser, server)
    line = _beside(slider, usual, "a sweep")
    assert sweep.get_by_role("button", name="Cancel").is_visible(), "it had ended before"
    yield line


def _beside(slider: Slider, usual: float, what: str) -> str:
    slow = median(slider.seconds() for _ in range(OFTEN)) / usual
    return f"{mark(slow <= SLOWER)}  {slow:.2f} of the usual {usual:.3f} s, at most {SLOWER:g}: a neighbour's beside {what}"


def main() -> None:
    with launch_browser() as browser, run_server() as server:
        lines = list(neighbour_lines(browser, server))
    print(f"Beside heavy work; Chromium; {environment()}")
    print(*lines, sep="\n")
    sys.exit(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    main()

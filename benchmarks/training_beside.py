"""A training beside its neighbours: `python -m benchmarks.training_beside`.

The largest model that one may train is trained in one window. In another a slider is moved, before and meanwhile: what it takes
to paint may at most double. Then the training is stopped, which must be seen within half a second.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from statistics import median

from playwright.sync_api import Browser, Page

from benchmarks.browser import Slider, opened
from benchmarks.interleaved import environment
from benchmarks.paint import GRID, PAINTED, mark
from tests.chromium import launched
from tests.served import Server, served

OFTEN = 12  # changes of the slider, before and meanwhile
SLOWER, LATE = 2.0, 0.5  # times its usual time; seconds
LARGEST = "training?v=2&train_layers=3&train_heads=8&train_d_model=256&train_steps=1000&train_seed=77"
NEIGHBOUR = "?heads=8&tokens=128&input=noise"
STOPPED = """() => new Promise((done) => {
    const stop = [...document.querySelectorAll(".st-key-cancel button")].at(-1), start = performance.now();
    const seen = () => document.body.innerText.includes("Stopped after") || document.querySelector(".st-key-cancel") === null;
    const look = () => (seen() ? done(performance.now() - start) : requestAnimationFrame(look));
    stop.click();
    look();
})"""


def begun(browser: Browser, server: Server) -> Page:
    """The largest training, once it takes its steps."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{server.url}/{LARGEST}")
    page.get_by_role("button", name="Train: 1,000 steps").click()
    page.get_by_text("steps a second").wait_for()
    return page


def told(browser: Browser, server: Server) -> Iterator[str]:
    """A line for the neighbour, and one for the stop."""
    slider: Slider = opened(browser, f"{server.url}/{NEIGHBOUR}", "temperature", GRID, PAINTED)
    slider.seconds()  # the first one warms up
    usual = median(slider.seconds() for _ in range(OFTEN))
    training = begun(browser, server)
    slow = median(slider.seconds() for _ in range(OFTEN)) / usual
    yield f"{mark(slow <= SLOWER)}  {slow:.2f} of the usual {usual:.3f} s, at most {SLOWER:g}: another visitor's change"
    training.bring_to_front()
    late = training.evaluate(STOPPED) / 1000
    yield f"{mark(late <= LATE)}  {late:.2f} s until it is seen to stop, at most {LATE:g}"


def main() -> None:
    with launched() as browser, served() as server:
        lines = list(told(browser, server))
    print(f"Beside the largest training; Chromium; {environment()}")
    print(*lines, sep="\n")
    sys.exit(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    main()

"""Slider to painted pixels, against a bare Streamlit app: `python -m benchmarks.paint`.

Both run in the same browser and take turns. The bare app is one slider and one text: what Streamlit itself costs. The
temperature is moved, so that every weight is computed, sent and painted again. A comparison (B − A) is measured against the
same page without one, and a choice (`--only choice`) against the standard softmax. Linux only, for the processor time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from time import monotonic, sleep
from typing import NamedTuple
from urllib.parse import parse_qsl

from playwright.sync_api import Browser

from attention.codec import from_query
from attention.pinned import pin
from benchmarks.browser import Slider, open_slider
from benchmarks.interleaved import environment
from tests.chromium import launch_browser
from tests.server import Server, run_server

BARE = """
import streamlit as st

value = st.slider("value", 0, 1000, key="value")
st.text(f"value {value}")
"""
GRID, MATRICES = '[data-testid="heads-grid"]', '[data-testid="matrices"]'
BARS = '[data-testid="score-bars"]'
CHART = '[data-testid="stVegaLiteChart"] canvas'
IDLE = 4  # seconds in which nobody asks the server for anything
PAINTED, DRAWN = "data-painted", "data-drawn"


class View(NamedTuple):
    """A page at some settings: its link, the picture that one waits for and its attribute that changes with it, and how
    often a bare app's time and its server's processor time (`cpu`) a change may take. `usual`: the view whose time the
    bound is about instead; if `compared`, its settings are side A.
    """

    link: str
    shows: str
    attribute: str
    bound: float
    cpu: float
    usual: str = ""
    compared: bool = False


SEEDS = count()
COMPARED = 1.5  # times the same change without a comparison
VIEWS = {
    "heads, 8 x 128": View("?heads=8&tokens=128", GRID, PAINTED, 1.6, 1),
    "heads, 16 x 512": View("?heads=16&tokens=512", GRID, PAINTED, 2.5, 3),
    "heads, 8 x 1024": View("?heads=8&tokens=1024", GRID, PAINTED, 2.5, 4),
    "B - A, 8 x 128": View("?heads=8&tokens=128", GRID, PAINTED, COMPARED, 1, "heads, 8 x 128", True),
    "B - A, 16 x 512": View("?heads=16&tokens=512", GRID, PAINTED, COMPARED, 4, "heads, 16 x 512", True),
    "softmax, a row": View("softmax?heads=8&tokens=128", BARS, PAINTED, 3, 1),
    "softmax, all rows": View("softmax?topic=all&heads=8&tokens=128", CHART, DRAWN, 3, 1),
    "softmax, scaling": View(
        "softmax?topic=scaling&heads=8&tokens=128",
        'path[aria-label*="kind: now"]',
        "transform",
        3,
        1,
    ),
    "softmax, number types": View(
        "softmax?topic=precision&heads=8&tokens=128", ".st-key-differences image", "href", 3, 1.5
    ),
    "masks, effect": View("masks?heads=8&tokens=128", '[data-testid="large-head"]', PAINTED, 3, 1),
    "masks, empty rows": View(
        "masks?mask_detail=empty%20rows&heads=8&tokens=128", '[data-testid="mask-gallery"]', PAINTED, 3, 2
    ),
    "steps, one": View("steps?heads=8&tokens=128&step=weights", MATRICES, PAINTED, 3, 1),
    "steps, all": View("steps?heads=8&tokens=128&steps=all", MATRICES, PAINTED, 3, 1.5),
}
CHOICES = {
    "sink": "softmax=sink",
    "sigmoid": "softmax=sigmoid",
    "sparsemax": "softmax=sparsemax",
    "differential": "softmax=differential",
    "ALiBi": "positions=alibi",
    "forgetting": "forgetting=on",
    "gate": "gate=headwise",
}
VIEWS |= {
    f"choice: {name}": View(f"?heads=8&tokens=128&{setting}", GRID, PAINTED, 1.15, 1.5, "heads, 8 x 128")
    for name, setting in CHOICES.items()
}


def seconds(sliders: dict[str, Slider], changes: int) -> dict[str, list[float]]:
    """Seconds of each change of every slider; they take turns, after one change each that doesn't count."""
    found: dict[str, list[float]] = {name: [] for name in sliders}
    for turn in range(changes + 1):
        for name, slider in sliders.items():
            took = slider.seconds()
            if turn:
                found[name].append(took)
    return found


def processor(server: Server, slider: Slider, changes: int) -> float:
    """Milliseconds of processor time that the server spends on one change, without what it spends while nobody asks."""
    start, before = monotonic(), server.cpu
    for _ in range(changes):
        slider.seconds()
    took, spent, start, before = monotonic() - start, server.cpu - before, monotonic(), server.cpu
    sleep(IDLE)
    return (spent - took * (server.cpu - before) / (monotonic() - start)) / changes * 1000


def report(name: str, found: dict[str, list[float]], cpu: dict[str, float]) -> Iterator[str]:
    """A line a bound of a view."""
    view, whole = VIEWS[name], VIEWS[name].usual or "the bare app"
    ratio, often = median(found[name]) / median(found[view.usual or "bare"]), cpu[name] / cpu["bare"]
    yield f"{mark(ratio <= view.bound)}  {ratio:.2f} of {whole}, at most {view.bound}: {name}: {quartile_line(found[name])}"
    yield f"{mark(often <= view.cpu)}  {often:.2f} of the bare app's processor time, at most {view.cpu}: {cpu[name]:.0f} ms"


def quartile_line(times: list[float]) -> str:
    low, middle, high = (1000 * cut for cut in quantiles(times, n=4))
    return f"{middle:.0f} ms ({low:.0f} to {high:.0f})"


def mark(holds: bool) -> str:
    return "pass" if holds else "FAIL"


def _link(view: View) -> str:
    """The link of a view, of a seed of its own: no weight of a page that was open before may be found in the cache."""
    link = f"{view.link}&input=noise&seed={next(SEEDS)}"
    if not view.compared:
        return link
    return f"{link}&against={pin(from_query(dict(parse_qsl(link.partition('?')[2])))[0])}"


def measure(name: str, browser: Browser, bare: Server, app: Server, changes: int) -> Iterator[str]:
    """Measures a view in turns with the bare app, and with the view that its bound is about; a line a bound."""
    sliders = {"bare": open_slider(browser, bare.url, "value", '[data-testid="stText"]')}
    for each in filter(None, (VIEWS[name].usual, name)):
        view = VIEWS[each]
        sliders[each] = open_slider(browser, f"{app.url}/{_link(view)}", "temperature", view.shows, view.attribute)
    found = seconds(sliders, changes)
    servers = {"bare": bare, name: app}
    cpu = {each: processor(server, sliders[each], changes) for each, server in servers.items()}
    yield from report(name, found, cpu)
    for slider in sliders.values():
        slider.page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=15, help="changes of each slider (15)")
    parser.add_argument("--only", default="", help="measure only the views whose name has this in it")
    given = parser.parse_args()
    print(
        f"Slider to painted pixels, medians of {given.changes} changes (quartiles); Chromium; {environment()}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder, launch_browser() as browser:
        script = Path(folder) / "bare.py"
        script.write_text(BARE)
        with run_server(script, Path(folder)) as bare, run_server() as app:
            lines = []
            for name in (name for name in VIEWS if given.only in name):
                for line in measure(name, browser, bare, app, given.changes):
                    print(line, flush=True)
                    lines.append(line)
    sys.exit(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    main()

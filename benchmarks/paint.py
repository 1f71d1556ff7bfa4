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
from pathlib import Path
from statistics import median, quantiles
from time import monotonic, sleep
from typing import NamedTuple
from urllib.parse import parse_qsl

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
    """A page at some settings: its link, the picture that one waits for and its attribute that changes with it, how
    often a bare app's time it may take, and milliseconds of the server's processor a change. `usual`: the view whose time the
    bound is about instead; if `compared`, its settings are side A.
    """

    link: str
    shows: str
    attribute: str
    bound: float
    cpu: float
    usual: str = ""
    compared: bool = False


COMPARED = 1.5  # times the same change without a comparison
VIEWS = {
    "heads, 8 x 128": View("?heads=8&tokens=128", GRID, PAINTED, 1.6, 25),
    "heads, 16 x 512": View("?heads=16&tokens=512", GRID, PAINTED, 2.5, 100),
    "heads, 8 x 1024": View("?heads=8&tokens=1024", GRID, PAINTED, 2.5, 150),
    "B - A, 8 x 128": View("?heads=8&tokens=128", GRID, PAINTED, COMPARED, 60, "heads, 8 x 128", True),
    "B - A, 16 x 512": View("?heads=16&tokens=512", GRID, PAINTED, COMPARED, 250, "heads, 16 x 512", True),
    "softmax, a row": View("softmax?heads=8&tokens=128", BARS, PAINTED, 3, 40),
    "softmax, all rows": View("softmax?topic=all&heads=8&tokens=128", CHART, DRAWN, 3, 40),
    "softmax, scaling": View(
        "softmax?topic=scaling&heads=8&tokens=128",
        'path[aria-label*="kind: now"]',
        "transform",
        3,
        40,
    ),
    "softmax, number types": View(
        "softmax?topic=precision&heads=8&tokens=128", ".st-key-differences image", "href", 3, 60
    ),
    "masks, effect": View("masks?heads=8&tokens=128", '[data-testid="large-head"]', PAINTED, 3, 40),
    "masks, empty rows": View(
        "masks?mask_detail=empty%20rows&heads=8&tokens=128", '[data-testid="mask-gallery"]', PAINTED, 3, 60
    ),
    "steps, one": View("steps?heads=8&tokens=128&step=weights", MATRICES, PAINTED, 3, 40),
    "steps, all": View("steps?heads=8&tokens=128&steps=all", MATRICES, PAINTED, 3, 60),
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
    f"choice: {name}": View(f"?heads=8&tokens=128&{setting}", GRID, PAINTED, 1.15, 60, "heads, 8 x 128")
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


def report(found: dict[str, list[float]], cpu: dict[str, float]) -> Iterator[str]:
    """A line a bound."""
    yield f"      bare: {quartile_line(found['bare'])}"
    for name, spent in cpu.items():
        view = VIEWS[name]
        ratio, line = median(found[name]) / median(found[view.usual or "bare"]), quartile_line(found[name])
        whole = view.usual or "the bare app"
        yield f"{mark(ratio <= view.bound)}  {ratio:.2f} of {whole}, at most {view.bound}: {name}: {line}"
        yield f"{mark(spent <= view.cpu)}  {spent:.0f} ms of the server's processor a change, at most {view.cpu}: {name}"


def quartile_line(times: list[float]) -> str:
    low, middle, high = (1000 * cut for cut in quantiles(times, n=4))
    return f"{middle:.0f} ms ({low:.0f} to {high:.0f})"


def mark(holds: bool) -> str:
    return "pass" if holds else "FAIL"


def _compared(link: str) -> str:
    """A link with its settings as both sides, of another seed: no weight of the usual view may be found in the cache."""
    link = f"{link}&input=noise&seed=1"
    return f"{link}&against={pin(from_query(dict(parse_qsl(link.partition('?')[2])))[0])}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=15, help="changes of each slider (15)")
    parser.add_argument("--only", default="", help="measure only the views whose name has this in it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, launch_browser() as browser:
        script = Path(folder) / "bare.py"
        script.write_text(BARE)
        with run_server(script, Path(folder)) as bare, run_server() as app:
            sliders = {"bare": open_slider(browser, bare.url, "value", '[data-testid="stText"]')}
            chosen = [name for name in VIEWS if given.only in name]
            for name in VIEWS:
                if name in chosen or any(VIEWS[other].usual == name for other in chosen):
                    view = VIEWS[name]
                    link = _compared(view.link) if view.compared else f"{view.link}&input=noise"
                    sliders[name] = open_slider(browser, f"{app.url}/{link}", "temperature", view.shows, view.attribute)
            found = seconds(sliders, given.changes)
            cpu = {name: processor(app, slider, given.changes) for name, slider in sliders.items() if name != "bare"}
    lines = list(report(found, cpu))
    print(f"Slider to painted pixels, medians of {given.changes} changes (quartiles); Chromium; {environment()}")
    print(*lines, sep="\n")
    sys.exit(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    main()

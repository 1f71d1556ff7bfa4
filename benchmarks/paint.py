"""Slider to painted pixels, against a bare Streamlit app: `python -m benchmarks.paint`.

Both run in the same browser and take turns. The bare app is one slider and one text: what Streamlit itself costs. The
temperature is moved, so that every weight is computed, sent and painted anew. Linux only, for the processor time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from benchmarks.browser import Slider, opened
from benchmarks.interleaved import environment
from tests.chromium import launched
from tests.served import Server, served

BARE = """
import streamlit as st

value = st.slider("value", 0, 1000, key="value")
st.text(f"value {value}")
"""
GRID = '[data-testid="heads-grid"]'
BOUNDS = {(8, 128): 1.6, (16, 512): 2.5, (8, 1024): 2.5}
CPU = 25  # milliseconds of the server a rerun, at 8 heads of 128 tokens


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
    """Milliseconds of processor time that the server spends on one change."""
    before = server.cpu
    for _ in range(changes):
        slider.seconds()
    return (server.cpu - before) / changes * 1000


def report(found: dict[str, list[float]], cpu: float) -> Iterator[str]:
    """A line a bound."""
    yield f"      bare: {told(found['bare'])}"
    for (heads, tokens), bound in BOUNDS.items():
        name = f"{heads} x {tokens}"
        ratio = median(found[name]) / median(found["bare"])
        yield f"{mark(ratio <= bound)}  {ratio:.2f} of the bare app, at most {bound}: {name}: {told(found[name])}"
    yield f"{mark(cpu <= CPU)}  {cpu:.0f} ms of the server's processor a change, at most {CPU}: 8 x 128"


def told(times: list[float]) -> str:
    low, middle, high = (1000 * cut for cut in quantiles(times, n=4))
    return f"{middle:.0f} ms ({low:.0f} to {high:.0f})"


def mark(holds: bool) -> str:
    return "pass" if holds else "FAIL"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=15, help="changes of each slider (15)")
    changes = parser.parse_args().changes
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        script = Path(folder) / "bare.py"
        script.write_text(BARE)
        with served(script, Path(folder)) as bare, served() as app:
            sliders = {"bare": opened(browser, bare.url, "value", '[data-testid="stText"]')}
            for heads, tokens in BOUNDS:
                link = f"{app.url}/?heads={heads}&tokens={tokens}&input=noise"
                sliders[f"{heads} x {tokens}"] = opened(browser, link, "temperature", GRID, "painted")
            found = seconds(sliders, changes)
            lines = list(report(found, processor(app, sliders["8 x 128"], changes)))
    print(f"Slider to painted pixels, medians of {changes} changes (quartiles); Chromium; {environment()}")
    print(*lines, sep="\n")
    sys.exit(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    main()

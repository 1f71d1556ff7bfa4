"""Long sequences on the Heads page, in a real Chromium: `python -m benchmarks.long`. Linux only.

65,536 tokens in 8 heads: from the slider's release to the preview; a zoom into 512 x 512 tokens against a change of a
bare Streamlit app; another visitor's slider while a map is drawn; and what remains of a map that is cancelled: the
seconds until the server rests, and the memory that it keeps.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from benchmarks.browser import Slider, open_slider
from benchmarks.interleaved import environment
from benchmarks.maps import status
from benchmarks.paint import BARE, GRID, PAINTED, mark, quartile_line
from tests.chromium import launch_browser
from tests.server import Server, run_server

LONG = "heads=8&d_model=512&input=topics&mask=full"
BELOW = 63_488  # the stop of the slider before 65,536
LARGE = '[data-testid="large-head"]'
IDLE = 0.2  # of a processor: what a server that draws nothing may use
CHANGES = 10
KEPT = 2 * 65_536 * 512 * 4 / 2**20 + 100  # MB: queries and keys in float32, and what any page keeps


def preview(browser: Browser, url: str) -> float:
    """Seconds from the key that makes a sequence 65,536 tokens long to its preview."""
    slider = open_slider(browser, f"{url}/heads?{LONG}&tokens={BELOW}", "tokens", GRID, PAINTED)
    _cancel(slider)
    slider.page.locator(".st-key-tokens input[type=range]").focus()
    took = slider.time_move(lambda: slider.page.keyboard.press("ArrowRight"), "keydown")
    _cancel(slider)
    slider.page.context.close()
    return took


def zooms(browser: Browser, url: str) -> list[float]:
    """Seconds from the end of a dragged rectangle of some 512 x 512 tokens to its picture, within 2,048 x 2,048."""
    link = f"{url}/heads?heads=2&d_model=128&input=topics&mask=full&tokens=65536&rows=30000-32047&cols=20000-22047"
    page = open_slider(browser, link, "tokens", GRID, PAINTED)
    page.page.get_by_text("Downloads").wait_for(timeout=300_000)
    found = []
    for _ in range(CHANGES):
        page.rest()
        canvas = page.page.locator(f"{LARGE} canvas")
        canvas.scroll_into_view_if_needed()
        box, mouse = canvas.bounding_box(), page.page.mouse
        mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.4 * box["height"])
        mouse.down()
        mouse.move(box["x"] + 0.65 * box["width"], box["y"] + 0.65 * box["height"], steps=5)
        released = Slider(page.page, "", LARGE, PAINTED).time_move(mouse.up, "pointerup")
        found.append(released)
        page.page.locator(LARGE).get_by_role("button", name="Zoom out").click()
    page.page.context.close()
    return found


def guest(browser: Browser, app: Server) -> tuple[list[float], list[float]]:
    """Seconds of a visitor's changes of a short sequence, alone and while another's long map is drawn."""
    short = open_slider(browser, f"{app.url}/heads?heads=8&tokens=128&input=noise", "temperature", GRID, PAINTED)
    alone = [short.seconds() for _ in range(CHANGES)]
    other = open_slider(browser, f"{app.url}/heads?{LONG}&tokens=65536", "tokens", GRID, PAINTED)
    beside = [short.seconds() for _ in range(CHANGES)]
    _cancel(other)
    other.page.context.close()
    short.page.context.close()
    return alone, beside


def cancel_drawing(browser: Browser, app: Server) -> tuple[float, float]:
    """Seconds from the click on Cancel until the server rests, and the megabytes that it has more than before."""
    first = open_slider(browser, f"{app.url}/heads?heads=8&tokens=128", "tokens", GRID, PAINTED)
    before = _memory(app)
    link = f"{app.url}/heads?{LONG}&tokens=65536&seed=5"
    page = open_slider(browser, link, "tokens", GRID, PAINTED)
    time.sleep(5)
    start = time.monotonic()
    page.page.get_by_role("button", name="Cancel").click()
    while True:
        used, since = app.cpu, time.monotonic()
        time.sleep(0.25)
        if (app.cpu - used) / (time.monotonic() - since) < IDLE:
            break
    took = since - start
    page.page.context.close()
    first.page.context.close()
    return took, _memory(app) - before


def _cancel(slider: Slider) -> None:
    slider.page.get_by_role("button", name="Cancel").click()
    slider.page.get_by_text("Cancelled").wait_for()
    slider.rest()


def _memory(app: Server) -> float:
    """Resident megabytes of a server."""
    return status("VmRSS", app.process.pid) / 1024


def _line(value: float, bound: float, what: str) -> bool:
    print(f"{mark(value <= bound)}  {value:.2f}, at most {bound}: {what}", flush=True)
    return value <= bound


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, launch_browser() as browser:
        script = Path(folder) / "bare.py"
        script.write_text(BARE)
        with run_server(script, Path(folder)) as plain, run_server() as app:
            print(f"Long sequences on the page; Chromium; {environment()}")
            bare = open_slider(browser, plain.url, "value", '[data-testid="stText"]')
            rerun = [bare.seconds() for _ in range(CHANGES)]
            held = [_line(median(preview(browser, app.url) for _ in range(3)), 1, "s from the slider to the preview")]
            alone, beside = guest(browser, app)
            held.append(
                _line(
                    max(beside),
                    1,
                    f"s of another visitor's slider, {quartile_line(beside)}; alone {quartile_line(alone)}",
                )
            )
            seconds, grown = cancel_drawing(browser, app)
            held.append(_line(seconds, 1, "s from Cancel until the server rests"))
            held.append(_line(grown, KEPT, "MB that a cancelled map leaves: queries and keys, for the row in focus"))
            ratio = median(zooms(browser, app.url)) / median(rerun)
            held.append(_line(ratio, 3, f"of a bare app's {quartile_line(rerun)}: zoom at 65,536 tokens"))
    sys.exit(not all(held))


if __name__ == "__main__":
    main()

"""From one published row to the next, click to painted pixels, against a bare Streamlit app: `python -m benchmarks.rows`.

The bounds are those of the Heads page, whose slider is moved beside it. Each row is shown as meant, as all of them have
weights then; every round has another seed. The bare app and both pages take turns in the same browser.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from attention.published import ROWS
from benchmarks.browser import Slider, open_slider
from benchmarks.interleaved import environment
from benchmarks.paint import BARE, GRID, PAINTED, VIEWS, mark, quartile_line
from tests.chromium import launch_browser
from tests.server import run_server

FIRST, *OTHERS = ROWS
SIZES = (8, 128), (16, 512), (8, 1024)


def switch_row(page: Slider, name: str) -> float:
    """Seconds from the click on a row to the frame that shows its weights."""
    page.page.bring_to_front()
    row = page.page.locator(".st-key-implementation").get_by_role("radio", name=ROWS[name].name, exact=True)
    row.scroll_into_view_if_needed()
    return page.time_move(row.click, "click")


def seconds(browser: Browser, url: str, bare: Slider, size: tuple[int, int], rounds: int) -> dict[str, list[float]]:
    """Seconds of each change of the bare app and of the Heads page, and of each switch, at a size."""
    found: dict[str, list[float]] = {"bare": [], "heads": [], "rows": []}
    sizes = f"heads={size[0]}&tokens={size[1]}&input=noise"
    heads = open_slider(browser, f"{url}/heads?{sizes}", "temperature", GRID, PAINTED)
    for seed in range(rounds):
        link = f"{url}/implementations?{sizes}&seed={seed}&version=as+meant&implementation={FIRST}"
        page = open_slider(browser, link, "tokens", GRID, PAINTED)
        page.page.wait_for_timeout(1000)  # what is below the grid is drawn as well
        for name in OTHERS:
            found["bare"].append(bare.seconds())
            found["heads"].append(heads.seconds())
            found["rows"].append(switch_row(page, name))
        page.page.context.close()
    return {name: times[1:] for name, times in found.items()}  # the first of a process doesn't count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="times that every row is visited at each size (3)")
    rounds = parser.parse_args().rounds
    missed = False
    with tempfile.TemporaryDirectory() as folder, launch_browser() as browser:
        script = Path(folder) / "bare.py"
        script.write_text(BARE)
        with run_server(script, Path(folder)) as plain, run_server() as app:
            bare = open_slider(browser, plain.url, "value", '[data-testid="stText"]')
            print(f"Click on a row to painted pixels, medians (quartiles); Chromium; {environment()}")
            for heads, tokens in SIZES:
                bound = VIEWS[f"heads, {heads} x {tokens}"].bound
                found = seconds(browser, app.url, bare, (heads, tokens), rounds)
                ratio = median(found["rows"]) / median(found["bare"])
                missed |= ratio > bound
                print(
                    f"{mark(ratio <= bound)}  {ratio:.2f} of the bare app, at most {bound}: {heads} x {tokens}: ",
                    end="",
                )
                print(", ".join(f"{name} {quartile_line(times)}" for name, times in found.items()), flush=True)
    sys.exit(missed)


if __name__ == "__main__":
    main()

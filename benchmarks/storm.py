"""Fifty changes of a slider within a second, from one visitor: `python -m benchmarks.storm`.

Keys in a real browser. The last value must be on the screen within a second, and the server must not have piled up
threads. Linux only, for the count of threads.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from benchmarks.browser import open_slider
from benchmarks.interleaved import environment
from benchmarks.paint import GRID, PAINTED, mark
from tests.chromium import launch_browser
from tests.server import Server, run_server

CHANGES = 50
GAP = 1 / CHANGES
LATE, THREADS = 1.0, 2  # seconds after the last key; threads more than before
SIZES = ((8, 128), (16, 512), (8, 1024))


@contextmanager
def count_threads(server: Server) -> Iterator[list[int]]:
    """The server's threads, counted again and again while the block runs."""
    counts, over = [server.threads], Event()

    def count() -> None:
        while not over.wait(0.005):
            counts.append(server.threads)

    thread = Thread(target=count)
    thread.start()
    yield counts
    over.set()
    thread.join()


def storm(browser, server: Server, heads: int, tokens: int) -> Iterator[str]:
    """Two lines: how late the last value was, and how many threads there were more than before."""
    slider = open_slider(
        browser, f"{server.url}/heads?heads={heads}&tokens={tokens}&input=noise", "temperature", GRID, PAINTED
    )
    slider.seconds()  # the first one warms up
    page, last = slider.page, f"temperature={1 + 0.05 * (CHANGES + 1):.2f}".rstrip("0")
    page.locator(".st-key-temperature input[type=range]").focus()
    with count_threads(server) as counts:
        start = time.perf_counter()
        for i in range(CHANGES):
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(max(0, 1000 * (start + (i + 1) * GAP - time.perf_counter())))
        took, end = time.perf_counter() - start, time.perf_counter()
        page.wait_for_selector(f'{GRID}[data-painted*="{last}"]')
        late = time.perf_counter() - end
    name, more = f"{heads} x {tokens}, {CHANGES} keys in {took:.1f} s", max(counts) - counts[0]
    yield f"{mark(late <= LATE)}  the last value after {late:.2f} s, at most {LATE}: {name}"
    yield f"{mark(more <= THREADS)}  {more} threads more, at most {THREADS}: {name}"


def main() -> None:
    with launch_browser() as browser, run_server() as server:
        lines = [line for heads, tokens in SIZES for line in storm(browser, server, heads, tokens)]
    print(f"A storm of changes; Chromium; {environment()}")
    print(*lines, sep="\n")
    sys.exit(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    main()

"""What a server takes whose owner has given it 690 MB, as the system sees it: from one visitor to five minutes after the last."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence

from benchmarks.host.bounds import figure_line, none, note_line
from benchmarks.host.crowd import SEEDS, Notes, coming_and_going, link, settings, together
from benchmarks.host.outside import MB, peak, process_state, resident, watch_process
from tests import server as served
from tests.server import warm_server
from tests.visitor import PATIENCE, open_connection

GIVEN = 690  # MB
ONE, AFTER = 90, 60  # MB that one visitor takes above the imports, and that may be left of all visitors
REST = 300.0  # seconds after the last visitor
PAGES = ("", "softmax", "masks", "steps", "implementations", "training", "timing")
LONG = "tokens=65536&heads=32"
DRAWN = "npz"  # the key of a button that is there once all heads are drawn
BARE = (
    "import streamlit, torch, pandas, plotly.graph_objects, altair; from pathlib import Path;"
    "print(Path('/proc/self/status').read_text().partition('VmRSS:')[2].split()[0])"
)


def bare() -> float:
    """Megabytes of a process that has imported the libraries and does nothing."""
    return int(subprocess.check_output([served.PYTHON, "-c", BARE], text=True)) * 1024 / MB


async def one(url: str, notes: Notes) -> None:
    """A visitor who looks, changes three settings and leaves."""
    async with notes.record_errors(), open_connection(url, link(SEEDS)) as visit, notes.record_errors(visit):
        await visit.arrive()
        for temperature in (0.5, 2.0, 3.0):
            await visit.change("temperature", [temperature])


def different() -> list[str]:
    """Forty links, all of them others."""
    return [f"tokens={60 + 5 * at}&heads={1 + at % 16}&input=noise&seed={SEEDS + at}" for at in range(40)]


def large(number: int) -> str:
    """A link to the longest sequence that is shown as a whole, nearly, in many heads: 64 MB of weights."""
    return f"tokens=1000&heads=16&input=noise&seed={SEEDS + number}"


async def at_once(url: str, links: Sequence[str], notes: Notes) -> None:
    """A visitor each, within two seconds."""
    found, _ = await together(url, links, 2.0)
    notes.errors += found.errors
    notes.crossed += found.crossed


async def long(url: str, notes: Notes) -> None:
    """A map of 65,536 tokens in 32 heads, looked at until all of it is drawn."""
    until = time.monotonic() + 4 * PATIENCE
    async with notes.record_errors(), open_connection(url, LONG) as visit, notes.record_errors(visit):
        await visit.arrive()
        while visit.clocks and DRAWN not in visit.widgets and time.monotonic() < until:
            await visit.look()
        if DRAWN not in visit.widgets:
            raise RuntimeError(f"the map was not drawn; the page said {visit.alerts}")


async def every_setting(url: str, notes: Notes) -> None:
    """Three hundred settings on each page."""
    for page in PAGES:
        await settings(url, page, 300, 6, notes)


STEPS: dict[str, Callable[[str, Notes], Coroutine[None, None, None]]] = {
    "one visitor": one,
    "40 different links at once": lambda url, notes: at_once(url, different(), notes),
    "40 visitors of one link of 1,000 tokens in 16 heads": lambda url, notes: at_once(url, [large(0)] * 40, notes),
    "20 different ones of these": lambda url, notes: at_once(url, [large(at) for at in range(1, 21)], notes),
    "200 visitors who come and go": lambda url, notes: coming_and_going(url, 200, 10, PAGES, notes),
    f"300 settings on each of {len(PAGES)} pages": every_setting,
    "a map of 65,536 tokens in 32 heads": long,
}


def lines(meanwhile: Callable[[], Iterator[str]] = lambda: iter(()), rest: float = REST) -> Iterator[str]:
    """Step by step; what is measured `meanwhile`, of other servers, is done while this one rests."""
    imports, first, notes = bare(), 0.0, Notes()
    with warm_server(ATTENTION_MEMORY=f"{GIVEN}") as server:
        process = server.process.pid
        yield note_line(f"{imports:.0f} MB are bare imports, {resident(process):.0f} a server before its first visitor")
        for name, step in STEPS.items():
            start, notes = time.monotonic(), Notes()
            with watch_process(process) as looks:
                asyncio.run(step(server.url, notes))
            yield figure_line(
                peak(looks), GIVEN, f"MB at the peak, {looks[-1].memory:.0f} after it: {name}, {_took(start)}"
            )
            if not first:
                first = looks[-1].memory
                yield figure_line(first - imports, ONE, "MB that one visitor takes above the bare imports")
            yield none(notes.errors + notes.crossed, f"errors, or pictures of somebody else: {name}")
        until = time.monotonic() + rest
        yield from meanwhile()
        time.sleep(max(0, until - time.monotonic()))
        left = process_state(process).memory
        yield figure_line(
            left - first, AFTER, f"MB more than after the first visitor, {rest:.0f} s after the last: {left:.0f}"
        )


def _took(start: float) -> str:
    return f"{time.monotonic() - start:.0f} s"

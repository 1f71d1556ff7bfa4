"""All that visitors do, for as long as one likes, and what is left of it: errors, memory, threads, files, children."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

from benchmarks.host.bounds import both, figure_line, none, note_line
from benchmarks.host.crowd import SEEDS, Notes, changes, coming_and_going, link
from benchmarks.host.memory import DRAWN, PAGES
from benchmarks.host.outside import Seen, logged_errors, peak, process_state, watch_process
from tests.server import Server, warm_server
from tests.visitor import enter_page

STEADY, GAP = 6, 1.0  # visitors who stay and change a setting every so many seconds
COMERS = 8  # who come one after the other, before the next heavy work
GROWTH = 40  # MB between the second third and the last
THREADS, FILES = 4, 8  # more than before: those of pools that begin with the work, connections that are being closed
QUIET = 150.0  # seconds until all that visitors have left behind must have ended
LOOKS = 6  # of a visitor at what is being done, before they cancel it


async def visit_map(url: str, number: int, notes: Notes) -> None:
    """A long map: every other one is looked at until it is drawn, the rest is cancelled."""
    await heavy(url, f"tokens=2048&heads=2&input=noise&seed={number}", "", "", number % 2 == 1, notes)


async def visit_training(url: str, number: int, notes: Notes) -> None:
    """A training that is cancelled."""
    await heavy(url, f"seed={number}", "training", "train", True, notes)


async def visit_sweep(url: str, number: int, notes: Notes) -> None:
    """A sweep that is cancelled."""
    await heavy(url, "", "timing", "measure", True, notes)


async def heavy(url: str, query: str, page: str, begun: str, cancelled: bool, notes: Notes) -> None:
    """Begins what takes long, by a button if need be, looks at it for a while or till its end, and cancels it."""
    async with notes.record_errors(), enter_page(url, query, page) as visit, notes.record_errors(visit):
        if begun in visit.widgets:
            await visit.press(begun)
        looks = 0
        while visit.clocks and DRAWN not in visit.widgets and not (cancelled and looks >= LOOKS):
            await visit.look()
            looks += 1
        if cancelled and visit.clocks and "cancel" in visit.widgets:
            await visit.press("cancel")


HEAVY: tuple[Callable[[str, int, Notes], Awaitable[None]], ...] = (visit_map, visit_training, visit_sweep, visit_map)


async def mixed_visitors(url: str, seconds: float, notes: Notes) -> None:
    """Some who stay, others who come and go on all pages, and heavy work of each kind in turns."""
    until = time.perf_counter() + seconds

    async def stays(seed: int) -> None:
        async with notes.record_errors(), enter_page(url, link(seed)) as visit:
            await changes(visit, seed, GAP, until, notes)

    async def come() -> None:
        while time.perf_counter() < until:
            await coming_and_going(url, COMERS, 2, PAGES, notes)

    async def work() -> None:
        number = 0
        while time.perf_counter() < until:
            await HEAVY[number % len(HEAVY)](url, number, notes)
            number += 1

    await asyncio.gather(*map(stays, range(SEEDS, SEEDS + STEADY)), come(), work())


def quiet(server: Server, before: Seen, patience: float) -> Seen:
    """The server once nothing of what visitors began is left, or as it is when patience has an end."""
    until = time.monotonic() + patience
    while True:
        now = process_state(server.process.pid)
        left = now.children or now.threads > before.threads + THREADS or now.files > before.files + FILES
        if not left or time.monotonic() > until:
            return now
        time.sleep(1)


def soak(server: Server, seconds: float, growth: float = GROWTH, patience: float = QUIET) -> Iterator[str]:
    """A line a bound, after so many seconds of it.

    `growth`: megabytes that the last third of it may take more than the second; `patience`: seconds until what visitors have
    left behind must have ended, fewer where their sessions are forgotten sooner.
    """
    notes = Notes()
    for number, one in enumerate(HEAVY):  # each once, so that all that stays is there
        asyncio.run(one(server.url, number, Notes()))
    before = process_state(server.process.pid)
    with watch_process(server.process.pid) as looks:
        asyncio.run(mixed_visitors(server.url, seconds, notes))
    after, third = quiet(server, before, patience), len(looks) // 3
    yield note_line(
        f"{seconds / 60:.1f} minutes, {len(notes.ends)} runs of scripts, {both(notes.ends)} till their end (p50 / p95)"
    )
    yield none(notes.errors, "errors")
    yield none(notes.crossed, "pictures of somebody else")
    yield none(logged_errors(server), "errors in the log")
    grown = peak(looks[2 * third :]) - peak(looks[third : 2 * third])
    yield figure_line(grown, growth, f"MB that the last third took more than the second; {peak(looks):.0f} at the peak")
    yield figure_line(after.threads - before.threads, THREADS, f"threads more than before, {after.threads} in all")
    yield figure_line(after.files - before.files, FILES, f"open files more than before, {after.files} in all")
    yield figure_line(after.children, 0, "children that are left")


def lines(minutes: float = 60) -> Iterator[str]:
    """On a server of its own."""
    with warm_server() as server:
        yield from soak(server, 60 * minutes)

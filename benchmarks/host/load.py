"""Visitors who change settings, beside the same visitors of a plain app in the same run."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.host.bounds import both, figure_line, none, note_line, percentile
from benchmarks.host.crowd import Notes, crowd
from benchmarks.host.outside import logged_errors, peak, watch_process
from tests.server import Server, run_server

PLAIN = Path(__file__).with_name("plain.py")
MS = 1000


class Load(NamedTuple):
    """So many visitors with a change every `gap` seconds, and the most that may be: milliseconds at the 95th percentile till
    the data of the picture and till the end of the run, and of the processor a change; 0 where there is no bound.
    """

    visitors: int
    gap: float
    picture: float
    end: float = 0
    cpu: float = 0

    def __str__(self) -> str:
        return f"{self.visitors} visitors, a change every {self.gap:g} s"


LOADS = (Load(25, 1, 80, 250, 20), Load(50, 1, 400), Load(100, 4, 250))


class Found(NamedTuple):
    """What visitors saw; milliseconds of the server's processor a change, cores of it and of the visitors, megabytes."""

    notes: Notes
    cpu: float
    cores: float
    client: float
    memory: float

    def __str__(self) -> str:
        notes = self.notes
        return (
            f"{len(notes.ends)} changes, picture {both(notes.pictures)}, end {both(notes.ends)} (p50 / p95); "
            f"{self.cpu:.0f} ms of the processor each, {self.cores:.2f} cores and {self.client:.2f} of the visitors; "
            f"{self.memory:.0f} MB"
        )


def run_load(server: Server, load: Load, seconds: float) -> Found:
    """A load on a server, from the moment on at which all its visitors are there."""
    since: list[float] = []

    def begun() -> None:
        since[:] = time.perf_counter(), server.cpu, time.process_time()

    with watch_process(server.process.pid) as looks:
        notes = asyncio.run(crowd(server.url, load.visitors, load.gap, seconds, begun))
    start, cpu, mine = since
    took, spent = time.perf_counter() - start, server.cpu - cpu
    client = (time.process_time() - mine) / took
    return Found(notes, MS * spent / max(1, len(notes.ends)), spent / took, client, peak(looks))


def verdicts(load: Load, found: Found) -> Iterator[str]:
    """A line a bound."""
    notes = found.notes
    yield figure_line(MS * percentile(notes.pictures, 0.95), load.picture, f"ms till the data of the grid, p95: {load}")
    ends, end = MS * percentile(notes.ends, 0.95), f"ms till the end of the run, p95: {load}"
    yield figure_line(ends, load.end, end) if load.end else note_line(f"{ends:.3g} {end}")
    if load.cpu:
        yield figure_line(found.cpu, load.cpu, f"ms of the server's processor a change: {load}")
    yield none(notes.errors, f"errors: {load}")
    yield none(notes.crossed, f"pictures of somebody else: {load}")


def lines(seconds: float = 20) -> Iterator[str]:
    """Every load on the app; of the plain one that which it may bear."""
    with tempfile.TemporaryDirectory() as folder, run_server(PLAIN, Path(folder)) as plain, run_server() as app:
        for load in LOADS[:1]:
            yield note_line(f"the plain app, {load}: {run_load(plain, load, seconds)}")
        plain.kill()
        for load in LOADS:
            found = run_load(app, load, seconds)
            yield note_line(f"{load}: {found}")
            yield from verdicts(load, found)
        yield none(logged_errors(app), "errors in the log")

"""A class of forty that opens its links within two seconds, each another one, on a warm server and on one that just started."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from statistics import median

from benchmarks.host.bounds import figure_line, none, note_line
from benchmarks.host.crowd import SEEDS, Notes, link, together
from benchmarks.host.outside import logged_errors
from tests.server import Server, run_server

CLASS, WITHIN = 40, 2.0  # visitors, and the seconds in which they come
WARM, COLD = 2.0, 6.0  # seconds that any of them may wait for the picture
REST = 1.0  # seconds between two classes


def lines(times: int = 20) -> Iterator[str]:
    """So many classes on one server, and so many on servers of their own that have just become healthy."""
    with run_server() as server:
        _come(server, 0)
        warm = [_come(server, turn) for turn in range(1, times + 1)]
    yield from _class_lines("warm", warm, WARM)
    cold = []
    for turn in range(times):
        with run_server() as server:
            cold.append(_come(server, turn))
    yield from _class_lines("cold", cold, COLD)


def _come(server: Server, turn: int) -> tuple[Notes, float]:
    seeds = range(SEEDS + CLASS * turn, SEEDS + CLASS * (turn + 1))
    before = len(server.log.read_text())
    found = asyncio.run(together(server.url, [link(seed) for seed in seeds], WITHIN))
    found[0].errors.extend(logged_errors(server, before))
    return found


def _class_lines(what: str, found: list[tuple[Notes, float]], bound: float) -> Iterator[str]:
    waits = [max(notes.pictures, default=float("nan")) for notes, _ in found]
    last = [last for _, last in found]
    name = f"{len(found)} classes of {CLASS} within {WITHIN:g} s on a {what} server"
    yield note_line(
        f"{name}: the last picture {median(last):.2f} s after the first one came, {max(last):.2f} at the most; "
        f"the longest wait {median(waits):.2f} s, {max(waits):.2f} at the most"
    )
    yield figure_line(max(waits), bound, f"s that anybody waited for the picture: {name}")
    yield none([error for notes, _ in found for error in notes.errors], f"errors: {name}")
    yield none([each for notes, _ in found for each in notes.crossed], f"pictures of somebody else: {name}")

"""What is seen of a process from outside: its memory with that of its children, its threads, its files. Linux only."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tests.server import Server

EVERY = 0.25  # seconds between two looks
MB = 1_000_000
PRIVATE = re.compile(r"^Private_\w+: +(\d+) kB", re.MULTILINE)


class Seen(NamedTuple):
    """Megabytes, threads, open files and children of a process at one moment."""

    memory: float
    threads: int
    files: int
    children: int


def process_state(process: int) -> Seen:
    """A process now; what its children share with it counts once."""
    place, below = Path(f"/proc/{process}"), list(children(process))
    memory = resident(process) + sum(map(own, below))
    return Seen(memory, len(list((place / "task").iterdir())), len(list((place / "fd").iterdir())), len(below))


def resident(process: int) -> float:
    """Resident megabytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1024 / MB


def own(process: int) -> float:
    """Megabytes that no other process has; 0 where it has ended."""
    with suppress(OSError):
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
        return sum(map(int, PRIVATE.findall(text))) * 1024 / MB
    return 0.0


def children(process: int) -> Iterator[int]:
    """Processes that it has begun and that have not ended, and those that these have begun."""
    for thread in Path(f"/proc/{process}/task").glob("*"):
        with suppress(OSError):
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from children(child)


@contextmanager
def watch_process(process: int) -> Iterator[list[Seen]]:
    """What is seen of it again and again while the block runs, the last one at its end."""
    found, over = [process_state(process)], threading.Event()

    def look() -> None:
        with suppress(OSError):  # it has ended
            while not over.wait(EVERY):
                found.append(process_state(process))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
        found.append(process_state(process))
    finally:
        over.set()
        thread.join()


def peak(found: list[Seen]) -> float:
    """The most megabytes of all looks."""
    return max(each.memory for each in found)


def logged_errors(server: Server, since: int = 0) -> list[str]:
    """What the log of a server has of errors that were raised since so many of its characters, a line each."""
    parts = server.log.read_text()[since:].split("Traceback (most recent call last)")[1:]
    return [next((line for line in part.splitlines()[1:] if line[:1].strip()), part[:200]) for part in parts]

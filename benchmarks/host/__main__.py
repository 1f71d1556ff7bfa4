"""`python -m benchmarks.host`: every part but the soak, or those that are named."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

from benchmarks import host
from benchmarks.host import classes, files, load, memory, rooms, soak, start
from benchmarks.interleaved import environment
from tests import server

PARTS = ("load", "class", "rooms", "start", "files", "memory")


def main() -> None:
    parser = argparse.ArgumentParser(description=host.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help="load, class, rooms, start, files, memory, soak; all but the last"
    )
    parser.add_argument("--seconds", type=float, default=20, help="of each load (20)")
    parser.add_argument("--times", type=int, default=20, help="classes of each kind (20)")
    parser.add_argument("--rest", type=float, default=memory.REST, help="seconds after the last visitor (300)")
    parser.add_argument("--minutes", type=float, default=60, help="of the soak (60)")
    parser.add_argument(
        "--python", default=server.PYTHON, help="what servers run with: that of `make run` in a clone (this one)"
    )
    given = parser.parse_args()
    server.PYTHON = given.python
    if unknown := set(given.parts) - {*PARTS, "soak"}:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    print(f"The app as a host; visitors on the same cores; {environment()}", flush=True)
    missed = [
        line for line in report_lines(given) if line.startswith("FAIL")
    ]  # all of them: a generator would end with the first
    sys.exit(bool(missed))


def report_lines(given: argparse.Namespace) -> Iterator[str]:
    """Every line of the parts asked for, printed as it comes."""
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "load": lambda: load.lines(given.seconds),
        "class": lambda: classes.lines(given.times),
        "rooms": rooms.lines,
        "start": start.lines,
        "files": files.lines,
        "memory": lambda: memory.lines(rest=given.rest),
        "soak": lambda: soak.lines(given.minutes),
    }
    asked = given.parts or PARTS
    if "memory" in asked:  # while its server rests, the others are measured that start some of their own
        others = [name for name in ("class", "start") if name in asked]

        def meanwhile() -> Iterator[str]:
            for name in others:
                yield from titled_lines(name, parts[name])

        parts["memory"] = lambda: memory.lines(meanwhile, given.rest)
        asked = [name for name in asked if name not in others]
    for name in asked:
        for line in titled_lines(name, parts[name]):
            print(line, flush=True)
            yield line


def titled_lines(name: str, part: Callable[[], Iterator[str]]) -> Iterator[str]:
    """The lines of a part under its name, and how long it took."""
    start = time.monotonic()
    yield f"{name}:"
    yield from part()
    yield f"      {name} took {time.monotonic() - start:.0f} s"


if __name__ == "__main__":
    main()

"""The table of timings: what is known and derived about each, by column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from attention.timing import comparison, line_names
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.recordings import Timing, lines


def columns(timings: Iterable[Timing]) -> dict[str, list]:
    """Returns what is known and derived about each timing, as lists by column name, ordered by line and length.

    The third column says why there is no time; it is left out if every timing has one.
    """
    timings = list(timings)
    found = [(label, timing) for label, line in lines(timings).items() for timing in line]
    slow = comparison.slowdowns(timing for _, timing in found)
    failed = any(timing.error for timing in timings)
    rows = [{"line": label, **_result_line(timing, slow.get(timing), failed)} for label, timing in found]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _result_line(timing: Timing, slower: float | None, failed: bool) -> dict[str, object]:
    known = timing.error is None
    banded = known and timing.spread.has_quartiles
    return {
        "tokens": timing.length,
        **({"error": timing.error or ""} if failed else {}),
        "quickest, ms": timing.quickest * 1e3 if timing.quickest is not None else None,
        "median, ms": timing.spread.median * 1e3 if known else None,
        "lower quartile, ms": timing.spread.lower * 1e3 if banded else None,
        "upper quartile, ms": timing.spread.upper * 1e3 if banded else None,
        "settled": timing.settled if known else None,
        "blocks": timing.repeats if known else None,
        "visits": timing.visits or None,
        "left alone": timing.quiet if timing.visits else None,
        "GFLOP/s": comparison.rate(timing) / 1e9 if known else None,
        "of matmul peak": comparison.share(timing) if known else None,
        "of copy speed": comparison.traffic_share(timing) if known else None,
        "times the best": slower,
        "peak MiB": timing.peak_bytes / 2**20 if timing.peak_bytes is not None else None,
        "to device, ms": timing.to_device * 1e3 if known else None,
        "results back, ms": timing.from_device * 1e3 if known else None,
        "first call, ms": timing.first * 1e3 if timing.first is not None else None,
        "device": timing.origin,
        "torch": timing.torch,
        "threads": timing.threads,
        "day": timing.day,
    }


@dataclass(frozen=True)
class AtLength:
    """All lines at one length: a table by columns, and the fastest line on each machine, as its name and the machine's."""

    length: int
    columns: dict[str, list]
    fastest: list[tuple[str, str]]


def at_one_length(timings: Iterable[Timing]) -> AtLength | None:
    """Returns milliseconds on each machine and what a line is, the fastest on the first machine first; None without times.

    It is the longest of the lengths at which the most lines have stable times. A line without one there has none in the table.
    """
    timings = [timing for timing in comparison.with_times(timings) if timing.settled]
    at: dict[int, list[Timing]] = {}
    for timing in timings:
        at.setdefault(timing.length, []).append(timing)
    if not at:
        return None
    length = max(at, key=lambda length: (len(at[length]), length))
    machines, names = line_names.machine_names(at[length]), line_names.names_without_machine(timings)
    rows: dict[str, dict[str, Timing]] = {}
    for label, line in lines(timings).items():
        for timing in (timing for timing in line if timing.length == length):
            rows.setdefault(names[label], {})[machines[timing.origin]] = timing
    first = next(iter(machines.values()))
    ordered = dict(sorted(rows.items(), key=lambda row: row[1][first].seconds if first in row[1] else inf))
    about = [IMPLEMENTATIONS.get(next(iter(row.values())).implementation) for row in ordered.values()]
    columns: dict[str, list] = {"line": list(ordered)}
    fastest = []
    for machine in machines.values():
        found = {name: row[machine] for name, row in ordered.items() if machine in row}
        columns[f"{machine}, ms"] = [found[name].seconds * 1e3 if name in found else None for name in ordered]
        best = min(found, key=lambda name: found[name].seconds)
        fastest.append((best, line_names.machine_in_sentence(found[best])))
    return AtLength(length, columns | {"what it is": [each.help if each else "" for each in about]}, fastest)

"""What timings say about each other: speed-up, crossover, growth, slowdown, shares of the roofline.

Every number comes with its uncertainty, from the quartiles of the timings that it is made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.recordings import Timing, lines
from attention.timing.sweep import Case

LAST = 4  # points over which growth is fitted


@dataclass(frozen=True)
class SpeedUp:
    """How many times faster at one length; between `low` and `high` by the quartiles of both, None without these.

    `settled`: did both times?
    """

    length: int
    ratio: float
    low: float | None
    high: float | None
    settled: bool = True


@dataclass(frozen=True)
class Crossover:
    """From which length on the other device is faster (None: at none of them), and between which lengths that may lie.

    `low`: no length measured was too short for it to pay. `high` None: by its uncertainty it may lie beyond them all.
    `known` False: there is no uncertainty to tell from, as calls were timed once. `loose`: points of which a time did not
    settle.
    """

    length: float | None
    low: float | None
    high: float | None
    shortest: int
    longest: int
    known: bool = True
    loose: int = 0

    @property
    def sentence(self) -> str:
        """The answer in words, and whether it stands on times that did not settle."""
        return f"{self._answer}; of its points, {self.loose} did not settle" if self.loose else self._answer

    @property
    def _answer(self) -> str:
        if self.length is None:
            return f"none in range: slower up to {self.longest:,} tokens"
        if self.length <= self.shortest:
            return f"faster from the shortest length on ({self.shortest:,} tokens)"
        if not self.known:
            return f"faster from about {self.length:,.0f} tokens on (timed too few times for a range)"
        low = f"{self.low:,.0f}" if self.low and self.low > self.shortest else f"at most {self.shortest:,}"
        high = f"{self.high:,.0f}" if self.high else f"beyond {self.longest:,}"
        return f"faster from about {self.length:,.0f} tokens on ({low} to {high})"


@dataclass(frozen=True)
class Growth:
    """Time grows with length to this power; `error`: the standard error of the fit, None with fewer than 3 points.

    `loose`: of its points, those that did not settle.
    """

    exponent: float
    error: float | None
    lengths: tuple[int, int]
    loose: int = 0


def measured(timings: Iterable[Timing]) -> list[Timing]:
    """Those that have a time."""
    return [timing for timing in timings if timing.error is None]


def speed_ups(slow: Iterable[Timing], fast: Iterable[Timing], transfer: bool = False) -> list[SpeedUp]:
    """How many times faster the second line is at each length that both have; with transfer, both pay theirs."""
    others = {timing.length: timing for timing in measured(fast)}
    pairs = [(timing, others[timing.length]) for timing in measured(slow) if timing.length in others]
    return [_speed_up(a, b, transfer) for a, b in sorted(pairs, key=lambda pair: pair[0].length)]


def _speed_up(slow: Timing, fast: Timing, transfer: bool) -> SpeedUp:
    a, b = slow.spread, fast.spread
    more, most = (timing.to_device + timing.from_device if transfer else 0.0 for timing in (slow, fast))
    ratio, settled = (a.median + more) / (b.median + most), slow.settled and fast.settled
    if not (a.banded and b.banded):
        return SpeedUp(slow.length, ratio, None, None, settled)
    ends = (a.lower + more) / (b.upper + most), (a.upper + more) / (b.lower + most)
    return SpeedUp(slow.length, ratio, *ends, settled)


def crossover(speed_ups: list[SpeedUp]) -> Crossover | None:
    """From which length on the ratio stays above one, by straight lines between points in log-log; None without points.

    The least and the greatest that it may be come from the upper and the lower ends of the ratios that have them.
    """
    if not speed_ups:
        return None
    ends = [(point.length, point.low, point.high) for point in speed_ups]
    low, high = ({length: end[at] for length, *end in ends if end[at] is not None} for at in (0, 1))
    middle, soonest, latest = map(_crossing, ({point.length: point.ratio for point in speed_ups}, high, low))  # pyright: ignore[reportArgumentType]  None is a bound that is not known
    loose = sum(not point.settled for point in speed_ups)
    return Crossover(middle, soonest, latest, speed_ups[0].length, speed_ups[-1].length, bool(low), loose)


def _crossing(found: dict[int, float]) -> float | None:
    """The length from which on ratios are at least one, to the last of them; None where they end below."""
    lengths, ratios = list(found), list(found.values())
    if not found:
        return None
    below = [i for i, ratio in enumerate(ratios) if ratio < 1]
    if not below:
        return float(lengths[0])
    i = below[-1]
    if i == len(lengths) - 1:
        return None
    (x0, x1), (y0, y1) = (map(math.log, pair) for pair in (lengths[i : i + 2], ratios[i : i + 2]))
    return math.exp(x0 - y0 * (x1 - x0) / (y1 - y0))


def growth(line: Iterable[Timing], last: int = LAST) -> Growth | None:
    """The slope of time over length in log-log, by least squares over the last points; None with fewer than two."""
    used = sorted(measured(line), key=lambda timing: (timing.length, timing.spread.median))[-last:]
    points = [(timing.length, timing.spread.median) for timing in used]
    if len({length for length, _ in points}) < 2:
        return None
    xs, ys = ([math.log(value) for value in values] for values in zip(*points, strict=True))
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    width = sum((a - x) ** 2 for a in xs)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / width
    rest = sum((b - y - slope * (a - x)) ** 2 for a, b in zip(xs, ys, strict=True))
    error = math.sqrt(rest / (len(xs) - 2) / width) if len(xs) > 2 else None
    return Growth(slope, error, (points[0][0], points[-1][0]), sum(not timing.settled for timing in used))


def slowdowns(timings: Iterable[Timing]) -> dict[Timing, float]:
    """How many times slower each is than the best implementation of the same case on the same device.

    Layers, whose four maps are part of the work, are compared with layers, and attention alone with attention alone.
    """
    found = measured(timings)
    best: dict[tuple, float] = {}
    for timing in found:
        best[_rivals(timing)] = min(best.get(_rivals(timing), math.inf), timing.spread.median)
    return {timing: timing.spread.median / best[_rivals(timing)] for timing in found}


def _rivals(timing: Timing) -> tuple:
    same = [entry.name for entry in fields(Case) if entry.name != "implementation"]
    how = IMPLEMENTATIONS.get(timing.implementation)
    work = (how.maps, how.used(timing.heads)) if how else None
    return (timing.origin, work, *(getattr(timing, name) for name in same))


def rate(timing: Timing) -> float:
    """Floating-point operations a second, as counted by `roofline`; of a timing that has a time."""
    return timing.operations / timing.spread.median


def share(timing: Timing) -> float | None:
    """Of the device's measured matrix product: 1 is all that it can. None where that was not measured."""
    return rate(timing) / timing.peak_operations if timing.peak_operations else None


def traffic_share(timing: Timing) -> float | None:
    """Of the device's measured copying speed, counting only what must move; over 1 where caches hold it."""
    return timing.traffic / timing.spread.median / timing.peak_traffic if timing.peak_traffic else None


def intensity(timing: Timing) -> float:
    """Operations for each byte that must move."""
    return timing.operations / timing.traffic if timing.traffic else math.inf


def bound(timing: Timing) -> float | None:
    """Operations a second that the roofline allows at this intensity (Williams, Waterman and Patterson 2009)."""
    if not (timing.peak_operations and timing.peak_traffic):
        return None
    return min(timing.peak_operations, timing.peak_traffic * intensity(timing))


def busy(timings: Iterable[Timing]) -> list[str]:
    """What to say of devices on which a case computed faster than the peak that was measured."""
    origins = dict.fromkeys(timing.origin for timing in measured(timings) if (share(timing) or 0.0) > 1)
    return [
        f"{origin}: more than 100 % of the matrix product, which was measured at a busy moment, also when it was "
        "repeated. Take shares from a quieter run."
        for origin in origins
    ]


def columns(timings: Iterable[Timing]) -> dict[str, list]:
    """What is known and derived about each timing, a list for each column of a table, in order of lines and lengths.

    Why there is no time is the third column; there is none of it where every timing has one.
    """
    timings = list(timings)
    found = [(label, timing) for label, line in lines(timings).items() for timing in line]
    slow = slowdowns(timing for _, timing in found)
    failed = any(timing.error for timing in timings)
    rows = [{"line": label, **_told(timing, slow.get(timing), failed)} for label, timing in found]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _told(timing: Timing, slower: float | None, failed: bool) -> dict[str, object]:
    known = timing.error is None
    banded = known and timing.spread.banded
    return {
        "tokens": timing.length,
        **({"error": timing.error or ""} if failed else {}),
        "ms": timing.spread.median * 1e3 if known else None,
        "lower quartile, ms": timing.spread.lower * 1e3 if banded else None,
        "upper quartile, ms": timing.spread.upper * 1e3 if banded else None,
        "blocks": timing.repeats if known else None,
        "settled": timing.settled if known else None,
        "GFLOP/s": rate(timing) / 1e9 if known else None,
        "of matmul peak": share(timing) if known else None,
        "of copy speed": traffic_share(timing) if known else None,
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


def crossovers(timings: Iterable[Timing]) -> list[str]:
    """From which length on each other device is faster than the CPU, without and with transfer, in words."""
    found, said = lines(timings), []
    for base, other in across_devices(found, lambda timing: timing.device == "cpu"):
        alone, moved = (crossover(speed_ups(found[base], found[other], transfer)) for transfer in (False, True))
        if alone and moved:
            against = f"{other} against {found[base][0].origin}"
            said.append(f"{against}: {alone.sentence}; with the transfer, {moved.sentence}")
    return said


Line = list[Timing]
SETTING = ("dtype", "mask", "passes", "batching", "heads", "d_head")  # of a case, but for implementation and length
ALIKE = ("implementation", *SETTING)


def kind(timing: Timing) -> tuple:
    """What two lines have in common that differ in nothing but where they were measured."""
    return tuple(getattr(timing, name) for name in ALIKE)


def across_devices(found: dict[str, Line], base: Callable[[Timing], bool]) -> list[tuple[str, str]]:
    """Pairs of labels of the same implementation and sizes, on the device that is the base and on another one."""
    others: dict[tuple, list[str]] = {}
    for label, line in found.items():
        if not base(line[0]):
            others.setdefault(kind(line[0]), []).append(label)
    bases = [label for label, line in found.items() if base(line[0])]
    return [(label, other) for label in bases for other in others.get(kind(found[label][0]), [])]

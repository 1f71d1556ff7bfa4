"""Compares timings: speed-up, crossover, slowdown and shares of the roofline.

Everything is based on `Timing.seconds`, the time of a call that is drawn. A ratio has an uncertainty that follows from how well
its two times repeat; a crossover is computed from stable ratios only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import ceil, floor
from types import MappingProxyType

from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.recordings import Timing, lines
from attention.timing.sweep import Case
from attention.timing.units import two_digits

EQUAL = 0.05  # two times that differ by less than this part are about equal
AT_EVERY = "at every length timed"  # where one is faster from the shortest length on
CPU = "the CPU"  # base of the comparison of devices, instead of an implementation


@dataclass(frozen=True)
class SpeedUp:
    """How many times faster at one length, with an interval from `low` to `high` by how both times repeat (None: unknown).

    `settled`: whether both times are stable.
    """

    length: int
    ratio: float
    low: float | None
    high: float | None
    settled: bool = True


@dataclass(frozen=True)
class Crossover:
    """The length from which the other line is faster (None: at no length), with an interval from `low` to `high`.

    `low` None or the shortest length: the crossover may be shorter. `high` None: it may be beyond the longest length.
    `loose`: the number of lengths left out because a time is not stable. `around`: the lengths next to the crossover that were
    timed, the same one twice if it is the shortest. `first`: the ratio at the shortest length.
    """

    length: float | None
    low: float | None
    high: float | None
    shortest: int
    longest: int
    loose: int = 0
    around: tuple[int, int] | None = None
    first: float = math.inf

    @property
    def sentence(self) -> str:
        """The result in words, with the number of lengths left out."""
        return f"{self.without_note}{self.note}"

    @property
    def note(self) -> str:
        """The number of lengths left out; empty if there are none."""
        return f"; {self.loose} length{'s' * (self.loose != 1)} with unstable times left out" if self.loose else ""

    @property
    def without_note(self) -> str:
        """From which length on the other line is faster."""
        if self.length is None:
            return f"slower at all lengths up to {self.longest:,} tokens"
        if abs(self.first - 1) <= EQUAL and self.around and self.around[0] == self.shortest:
            return f"about as fast at {self.shortest:,} tokens and faster beyond"
        if self.length <= self.shortest:
            return f"faster from the shortest length on ({self.shortest:,} tokens)"
        if (self.low is None or self.low <= self.shortest) and self.high is None:
            return f"faster from a length between {self.shortest:,} and {self.longest:,} tokens that these times leave open"
        return f"faster from {self.about} tokens on{self._interval}"

    @property
    def rough(self) -> str:
        """From which length on the other line is faster, where an interpolated length would say more than unstable times do."""
        return f"faster from {self.bracket} tokens on" if self.bracket else self.without_note

    @property
    def about(self) -> str:
        """The length from which on the other line is faster, with two significant digits if these are within the interval."""
        if self.length is None:
            return ""
        rounded = float(f"{self.length:.2g}")
        is_within = (self.low or rounded) <= rounded <= (self.high or rounded)
        return f"about {rounded if is_within else self.length:,.0f}"

    @property
    def bracket(self) -> str:
        """The timed lengths between which the other line becomes faster; empty if it does not, or is at the shortest."""
        if self.length is None or self.around is None or self.length <= self.shortest:
            return ""
        return "somewhere between {:,} and {:,}".format(*self.around)

    @property
    def _interval(self) -> str:
        """The known ends of the interval in brackets, one or both."""
        low = f"{self.low:,.0f}" if self.low and self.low > self.shortest else ""
        high = f"{self.high:,.0f}" if self.high else ""
        if low == high:
            return ""
        return f" ({low} to {high})" if low and high else f" (at least {low})" if low else f" (at most {high})"


def with_times(timings: Iterable[Timing]) -> list[Timing]:
    """The timings that have a time."""
    return [timing for timing in timings if timing.error is None]


def speed_ups(slow: Iterable[Timing], fast: Iterable[Timing], transfer: bool = False) -> list[SpeedUp]:
    """How many times faster the second line is at each common length; with `transfer`, both include their transfers."""
    others = {timing.length: timing for timing in with_times(fast)}
    pairs = [(timing, others[timing.length]) for timing in with_times(slow) if timing.length in others]
    return [_speed_up(a, b, transfer) for a, b in sorted(pairs, key=lambda pair: pair[0].length)]


def _speed_up(slow: Timing, fast: Timing, transfer: bool) -> SpeedUp:
    more, most = (timing.transfer if transfer else 0.0 for timing in (slow, fast))
    ratio, settled = (slow.seconds + more) / (fast.seconds + most), slow.settled and fast.settled
    a, b = slow.spread.ends, fast.spread.ends
    if a is None or b is None:
        return SpeedUp(slow.length, ratio, None, None, settled)
    return SpeedUp(slow.length, ratio, (a[0] + more) / (b[1] + most), (a[1] + more) / (b[0] + most), settled)


def ratio_bound(ratio: float, slow: tuple[bool, bool], fast: tuple[bool, bool]) -> tuple[str, float]:
    """A ratio of two times that are not both stable, with two digits, and whether it is at most, at least or roughly that.

    `slow`, `fast`: whether each of the times is stable, and whether it is an upper bound, as unstable minimums are.
    """
    (slow_stable, slow_bound), (fast_stable, fast_bound) = slow, fast
    if slow_bound and fast_stable:
        return "at most", two_digits(ratio, ceil)
    if fast_bound and slow_stable:
        return "at least", two_digits(ratio, floor)
    return "roughly", two_digits(ratio, round)


def suffices(stable: list[SpeedUp], points: list[SpeedUp]) -> bool:
    """Whether the stable ratios say as much as all: two or more, and the last of all is on the same side of one as theirs."""
    if len(stable) == len(points):
        return True
    return len(stable) > 1 and (stable[-1].ratio < 1) is (points[-1].ratio < 1)


def crossover(speed_ups: list[SpeedUp]) -> Crossover | None:
    """Computes the length from which the ratio stays above one, by linear interpolation in log-log.

    The ends of its interval come from the upper and the lower ends of the ratios. Returns None if no ratio is stable.
    """
    used = [point for point in speed_ups if point.settled]
    if not used:
        return None
    ends = [(point.length, point.low, point.high) for point in used]
    low, high = ({length: end[at] for length, *end in ends if end[at] is not None} for at in (0, 1))
    middle, soonest, latest = map(_crossing, ({point.length: point.ratio for point in used}, high, low))  # pyright: ignore[reportArgumentType]  None is a bound that is not known
    lengths = [point.length for point in used]
    above = next((n for n in lengths if middle is not None and n >= middle), None)
    around = (lengths[max(0, lengths.index(above) - 1)], above) if above is not None else None
    return Crossover(
        middle, soonest, latest, lengths[0], lengths[-1], len(speed_ups) - len(used), around, used[0].ratio
    )


def _crossing(found: dict[int, float]) -> float | None:
    """The length from which all longer lengths have a ratio of at least one; None if the last ratio is below one."""
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


def slowdowns(timings: Iterable[Timing]) -> dict[Timing, float]:
    """How many times slower each timing is than the best implementation of the same case on the same device.

    Layers, which include four linear maps, are compared with layers, and attention alone with attention alone.
    """
    found = with_times(timings)
    best: dict[tuple, float] = {}
    for timing in found:
        best[_rivals(timing)] = min(best.get(_rivals(timing), math.inf), timing.seconds)
    return {timing: timing.seconds / best[_rivals(timing)] for timing in found}


def _rivals(timing: Timing) -> tuple:
    """The key that timings of the same work on the same device have in common."""
    same = [entry.name for entry in fields(Case) if entry.name != "implementation"]
    return (timing.origin, *_work(timing), *(getattr(timing, name) for name in same))


def _work(timing: Timing) -> tuple:
    how = IMPLEMENTATIONS.get(timing.implementation)
    return (how.maps, how.used(timing.heads)) if how else (None, None)


def rate(timing: Timing) -> float:
    """Floating-point operations per second as counted by `roofline`; the timing must have a time."""
    return timing.operations / timing.seconds


def share(timing: Timing) -> float | None:
    """The rate as a share of the device's measured matrix product; None if that was not measured."""
    return rate(timing) / timing.peak_operations if timing.peak_operations else None


def traffic_share(timing: Timing) -> float | None:
    """The traffic rate, counting only necessary bytes, as a share of the device's measured copy rate.

    It is above 1 if caches hold the data.
    """
    return timing.traffic / timing.seconds / timing.peak_traffic if timing.peak_traffic else None


def intensity(timing: Timing) -> float:
    """Operations per byte that must be moved."""
    return timing.operations / timing.traffic if timing.traffic else math.inf


def roofline_bound(timing: Timing) -> float | None:
    """Operations per second that the roofline allows at this intensity (Williams, Waterman and Patterson 2009)."""
    if not (timing.peak_operations and timing.peak_traffic):
        return None
    return min(timing.peak_operations, timing.peak_traffic * intensity(timing))


def exceeds_memory(timing: Timing) -> bool:
    """Whether a timing is clearly faster than its device's memory allows, as its data was in a cache."""
    bound = roofline_bound(timing)
    return bound is not None and bound < (timing.peak_operations or 0) and rate(timing) > (1 + EQUAL) * bound


def busy(timings: Iterable[Timing]) -> list[str]:
    """One sentence for each device on which a case computed faster than the measured peak."""
    origins = dict.fromkeys(timing.origin for timing in with_times(timings) if (share(timing) or 0.0) > 1)
    return [
        f"{origin}: some shares exceed 100%, because the matrix product was measured while the machine was busy. Repeat the "
        "measurement for reliable shares."
        for origin in origins
    ]


Line = list[Timing]


def crossovers(timings: Iterable[Timing], names: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Says from which length each other device is faster than the CPU, without and with transfers.

    `names`: shorter names of lines by label, and of machines by origin.
    """
    found = lines(timings)
    pairs = across_devices(found, lambda timing: timing.device == "cpu")
    told = [(other, found[base][0].origin, break_even(found[base], found[other])) for base, other in pairs]
    return [
        f"{names.get(other, other)} against {names.get(origin, origin)}: {said}" for other, origin, said in told if said
    ]


def break_even(base: Line, other: Line) -> str:
    """Says from which length the other line is faster, without and with transfers; empty if they have no length in common.

    If fewer than half of the lengths have stable times on both, or these say other things than all, all are compared, roughly.
    """
    points = [speed_ups(base, other, transfer) for transfer in (False, True)]
    loose, count = sum(not point.settled for point in points[0]), len(points[0])
    if not count:
        return ""
    is_rough = 2 * loose > count or not all(suffices([p for p in some if p.settled], some) for some in points)
    if is_rough:
        points = [[replace(point, settled=True) for point in some] for some in points]
    both = [each for some in points if (each := crossover(some))]
    alone, moved = (each.rough if is_rough else each.without_note for each in both)
    copied = "also including the copy" if alone == moved else f"including the copy, {moved}"
    note = f"; roughly, as times are unstable at {loose} of {count} lengths" if is_rough else both[0].note
    return f"{alone}{',' if alone == moved else ';'} {copied}{note}"


# all axes but implementation and length
SETTING = ("dtype", "mask", "passes", "batching", "heads", "d_head", "queries", "kv_heads", "window")
# kernels of the browser, by the implementation of torch that computes in the same way
ALIKE = {"WebGPU fused": "SDPA", "WebGPU materialised": "matmul softmax matmul"}


def setting(case: Case) -> tuple:
    """All that a case is besides its implementation, device and length."""
    return tuple(getattr(case, name) for name in SETTING)


def settings(cases: Iterable[Case]) -> set[tuple]:
    """The settings of these cases."""
    return {setting(case) for case in cases}


def kind(timing: Timing) -> tuple:
    """The key that two lines have in common if they differ only in where they were measured."""
    return ALIKE.get(timing.implementation, timing.implementation), *setting(timing)


def across_devices(found: dict[str, Line], base: Callable[[Timing], bool]) -> list[tuple[str, str]]:
    """Pairs of labels with the same implementation and sizes, on the base device and on another device."""
    return _pairs(found, base, kind)


def across_implementations(found: dict[str, Line], base: str) -> list[tuple[str, str]]:
    """Pairs of labels with the same work, sizes and device, by the base implementation and by another one."""
    return _pairs(found, lambda timing: timing.implementation == base, _place)


def _place(timing: Timing) -> tuple:
    return (timing.origin, *_work(timing), *setting(timing))


def _pairs(
    found: dict[str, Line], base: Callable[[Timing], bool], like: Callable[[Timing], tuple]
) -> list[tuple[str, str]]:
    others: dict[tuple, list[str]] = {}
    for label, line in found.items():
        if not base(line[0]):
            others.setdefault(like(line[0]), []).append(label)
    bases = [label for label, line in found.items() if base(line[0])]
    return [(label, other) for label in bases for other in others.get(like(found[label][0]), [])]


def pairs(found: dict[str, Line], against: str) -> list[tuple[str, str]]:
    """Pairs of labels with common lengths: a line of the base (`CPU` or an implementation), and a line to compare with it."""
    if against == CPU:
        both = across_devices(found, lambda timing: timing.device == "cpu")
    else:
        both = across_implementations(found, against)
    return [(base, other) for base, other in both if speed_ups(found[base], found[other])]


def bases(timings: Iterable[Timing]) -> list[str]:
    """Possible bases of a comparison: `CPU` if another device ran the same case, and implementations with an alternative."""
    devices: dict[tuple, set[bool]] = {}
    rivals: dict[tuple, set[str]] = {}
    for timing in with_times(timings):
        devices.setdefault((timing.length, *kind(timing)), set()).add(timing.device == "cpu")
        rivals.setdefault((timing.length, *_place(timing)), set()).add(timing.implementation)
    rivaled = {name for names in rivals.values() if len(names) > 1 for name in names}
    return [CPU] * any(len(kinds) > 1 for kinds in devices.values()) + sorted(rivaled, key=_rank)


def _rank(implementation: str) -> tuple[int, str]:
    """Sort key: the order of the table, then unknown implementations."""
    names = list(IMPLEMENTATIONS)
    return (names.index(implementation) if implementation in names else len(names), implementation)

"""The lines of CPU against GPU: measured here, recorded elsewhere and published, all at one setting.

The setting is that of the papers: 16,384 tokens in all and 2,048 channels over all heads. The operations of every line are
counted by the papers' convention, so that rates are comparable. Lines that were timed at other sizes show rates only, no times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from attention.timing import comparison, convergence
from attention.timing.cpu_gpu_settings import FASTEST, CpuGpuSettings
from attention.timing.data_sheets import BUSES
from attention.timing.published import (
    LENGTHS,
    TOKENS,
    WIDTH,
    Series,
    operations,
    series,
    together,
)
from attention.timing.recordings import Timing
from attention.timing.recordings.timing import BROWSER

MEASURED, IN_BROWSER, RECORDED, PUBLISHED = "measured here", "measured in your browser", "recorded", "published"
FROM_BROWSER = "recorded in a browser"
RANKS = {IN_BROWSER: 0, MEASURED: 1, FROM_BROWSER: 2, RECORDED: 2}  # timed lines of a lower rank are compared first
NEAR = 4096  # tokens at which methods are compared and the answer is given
FUSED = (
    "SDPA",
    "flex_attention",
    "WebGPU fused",
)  # name prefixes of implementations that return no weights, as in the papers
BYTES = 2  # per number on a GPU: float16 and bfloat16
WIDE = {"float32": 4}  # bytes per number of other dtypes
ADDED = "forward and backward timed apart, and added"


@dataclass(frozen=True)
class Point:
    """One length: seconds per call (None if timed at other sizes), operations per second, and the quartiles of the seconds.

    `moved`: seconds of the transfers to and from the GPU, `back`: of the latter. `unsure`: its label was read through a legend.
    `loose`: why the time is not stable, empty if it is. `is_bound`: whether it is an upper bound, as unstable minimums are.
    """

    length: int
    seconds: float | None
    rate: float
    moved: float = 0.0
    quartiles: tuple[float, float] | None = None
    unsure: bool = False
    loose: str = ""
    back: float = 0.0
    is_bound: bool = False

    @property
    def is_stable(self) -> bool:
        """Whether its time is stable."""
        return not self.loose


@dataclass(frozen=True)
class TimingSeries:
    """A line: device, method, dtype, how it is known (`kind`) and its source (`place`).

    `peaks`: the largest measured operations and bytes per second. `failed`: lengths at which it ran out of memory. `torch`: the
    version of PyTorch that was timed, empty if it was another program.
    """

    kind: str
    device: str
    method: str
    dtype: str
    place: str
    points: tuple[Point, ...]
    address: str = ""
    setting: str = ""
    peaks: tuple[float, float] | None = None
    failed: tuple[int, ...] = ()
    torch: str = ""

    @property
    def brackets(self) -> str:
        """Dtype, method and origin, as shown next to every number of this line."""
        return f"{self.dtype}, {self.method}, {self.whence.partition(' (')[0]}"

    @property
    def whence(self) -> str:
        """Measured or recorded with the day, or published."""
        return self.kind if self.kind == PUBLISHED else self.place

    @property
    def origin(self) -> str:
        """The device, and when it was timed and with which version of PyTorch, or where its figures were published."""
        if self.kind == PUBLISHED:
            return f"{self.device}, {self.kind}: {self.place}"
        device = re.sub(r", \d+ threads?$", "", self.device)
        return f"{device}, {self.place.partition(' (')[0]}{f', torch {self.torch}' * bool(self.torch)}"

    @property
    def label(self) -> str:
        """The full name of the line, with its day and file."""
        return f"{self.device}: {self.method}, {self.dtype}, {self.whence}"

    @property
    def short(self) -> str:
        """The name without day and file, for a legend in which it is unambiguous."""
        return f"{self.device}: {self.method}, {self.dtype}, {self.kind}"

    def at(self, length: int) -> Point | None:
        """Returns the point of a length, or None if there is none with a time."""
        return next((point for point in self.points if point.length == length and point.seconds is not None), None)


def cpu(versus: CpuGpuSettings, timings: Iterable[Timing]) -> TimingSeries | None:
    """Returns the CPU's line: the first one that was measured here, else the first recorded one, else None."""
    found = [each for each in alike(versus, timings) if each.device == "cpu"]
    found = [each for each in found if each.implementation == "SDPA" and each.dtype == versus.cpu_dtype]
    return next(iter(sorted(_lines(found), key=lambda rival: rival.kind != MEASURED)), None)


def gpus(versus: CpuGpuSettings, timings: Iterable[Timing]) -> list[TimingSeries]:
    """Returns the GPUs' lines: measured or recorded ones first, then published ones."""
    found = [each for each in alike(versus, timings) if each.device != "cpu"]
    timed = [each for each in found if each.implementation.startswith(FUSED)]
    known = _best(sorted(_lines(timed), key=lambda rival: RANKS[rival.kind]))
    return [*known, *_few(versus, known, _published_series(versus))]


def _few(versus: CpuGpuSettings, timed: list[TimingSeries], printed: list[TimingSeries]) -> list[TimingSeries]:
    """Leaves out published lines beside timed ones, and else those of other sizes, unless all lines or these GPUs were chosen."""
    if versus.lines == "all" or versus.gpus:
        return printed
    return [] if timed else [rival for rival in printed if not rival.setting] or printed


def alike(versus: CpuGpuSettings, timings: Iterable[Timing]) -> list[Timing]:
    """The timings that have a time, at the sizes, the mask and the pass of the picture."""
    return [
        timing
        for timing in timings
        if timing.error is None
        and timing.batch * timing.length == TOKENS
        and timing.heads * timing.d_head == WIDTH
        and (str(timing.d_head), timing.mask, timing.passes) == (versus.d_head, versus.mask, versus.work)
        and not (timing.queries or timing.kv_heads or timing.window)
    ]


def _lines(timings: list[Timing]) -> list[TimingSeries]:
    return [line(each) for each in timed_lines(timings)]


def timed_lines(timings: list[Timing]) -> list[list[Timing]]:
    """Timings of one device, implementation and dtype together, in the order in which these appear, by length."""

    def kind(timing: Timing) -> tuple[str, ...]:
        return timing.origin, timing.implementation, timing.dtype

    order = {kind(timing): at for at, timing in reversed(list(enumerate(timings)))}
    by_line = sorted(timings, key=lambda timing: (order[kind(timing)], timing.length))
    return [_one_each(each) for _, each in groupby(by_line, kind)]


def _one_each(line: Iterable[Timing]) -> list[Timing]:
    """Keeps one timing of each length, one that is stable if there is any: a length may have been timed in two sweeps."""
    found: dict[int, Timing] = {}
    for timing in sorted(line, key=lambda timing: timing.settled):
        found[timing.length] = timing
    return sorted(found.values(), key=lambda timing: timing.length)


def line(timings: list[Timing]) -> TimingSeries:
    """The line of timings of one device, implementation and dtype, the shortest length first."""
    first = timings[0]
    peaks = [
        (each.peak_operations, each.peak_traffic) for each in timings if each.peak_operations and each.peak_traffic
    ]
    most = max(map(comparison.rate, comparison.with_times(timings)), default=0.0)  # above the peak of a busy machine
    kind = _kind(first)
    place = f"{kind} {first.day} ({first.file})" if kind in (RECORDED, FROM_BROWSER) else f"{kind} {first.day}"
    return TimingSeries(
        kind,
        first.named_device,
        first.implementation,
        first.dtype,
        place,
        tuple(_point(timing) for timing in timings),
        peaks=(max(most, *(each[0] for each in peaks)), max(each[1] for each in peaks)) if peaks else None,
        torch="" if first.is_from_browser or first.source == BROWSER else first.torch.partition("+")[0],
    )


def _kind(timing: Timing) -> str:
    if timing.source == BROWSER:
        return IN_BROWSER
    if timing.source:
        return FROM_BROWSER if timing.is_from_browser else RECORDED
    return MEASURED


def _point(timing: Timing) -> Point:
    spread = timing.spread
    width = timing.heads * timing.d_head
    count = operations(timing.length, timing.batch, width, timing.mask == "causal", timing.passes != "forward")
    return Point(
        timing.length,
        timing.seconds,
        count / timing.seconds,
        timing.transfer,
        (spread.lower, spread.upper) if spread.has_quartiles else None,
        loose=convergence.reason(timing),
        back=timing.from_device,
        is_bound=timing.is_bound,
    )


def _best(found: list[TimingSeries]) -> list[TimingSeries]:
    """Keeps the fastest line of each device and origin, of those with the length at which lines are compared if there are any."""
    kept: dict[tuple[str, str], TimingSeries] = {}
    for rival in found:
        key = rival.device, rival.place
        kept[key] = max(kept.get(key, rival), rival, key=lambda each: (each.at(NEAR) is not None, _fast(each)))
    return list(kept.values())


def _fast(rival: TimingSeries) -> float:
    """Operations per second at the length at which lines are compared, or at the line's longest length."""
    return next((each.rate for each in rival.points if each.length == NEAR), rival.points[-1].rate)


def _published_series(versus: CpuGpuSettings) -> list[TimingSeries]:
    found = [_printed_series(each, versus) for each in series() if _is_relevant(each, versus)]
    if versus.method == FASTEST:
        names = dict.fromkeys((rival.device, rival.setting) for rival in found)
        found = [max((each for each in found if (each.device, each.setting) == name), key=_fast) for name in names]
    return sorted(found, key=_fast, reverse=True)


def _is_relevant(each: Series, versus: CpuGpuSettings) -> bool:
    """Whether a series has the mask, the pass, the method and the GPU of the picture.

    A series whose two passes were timed separately is represented by its forward pass.
    """
    right = each.printed.passes == versus.work or (each.printed.setting and each.printed.passes == "forward")
    method = versus.method in (FASTEST, each.method)
    gpu = not versus.gpus or each.printed.gpu in versus.gpus
    return bool(right and method and gpu and (each.mask, str(each.d_head)) == (versus.mask, versus.d_head))


def _printed_series(each: Series, versus: CpuGpuSettings) -> TimingSeries:
    printed, rates, place = each.printed, each.rates, each.printed.place
    if printed.passes != versus.work:
        rates, place = together(each, _backward(each)), f"{place}, {ADDED}"
    points = [_figure(each, n, rate, versus) for n, rate in rates.items() if rate is not None]
    failed = tuple(n for n, rate in rates.items() if rate is None)
    return TimingSeries(
        PUBLISHED,
        printed.gpu,
        each.method,
        printed.dtype,
        place,
        tuple(points),
        printed.address,
        printed.setting,
        failed=failed,
    )


def _backward(forward: Series) -> Series:
    """The published backward pass that belongs to this forward pass."""
    return next(
        each
        for each in series()
        if each.printed.passes == "backward"
        and (each.printed.gpu, each.mask, each.d_head, each.method)
        == (forward.printed.gpu, forward.mask, forward.d_head, forward.method)
    )


def _figure(each: Series, length: int, rate: float, versus: CpuGpuSettings) -> Point:
    apart = bool(each.printed.setting)
    moved = 0.0 if apart else transferred_bytes(versus.work) / BUSES[versus.bus]
    return Point(length, None if apart else each.seconds(length), rate * 1e12, moved, unsure=length in each.unsure)


def transferred_bytes(work: str, dtype: str = "float16") -> float:
    """Bytes of the transfers: queries, keys and values to the GPU; the output back, or three gradients instead."""
    return sum(bytes_each_way(work, dtype))


def bytes_each_way(work: str, dtype: str) -> tuple[float, float]:
    """The bytes of the transfers to the GPU, and of those back."""
    one = float(TOKENS * WIDTH * WIDE.get(dtype, BYTES))
    return 3 * one, (1 if work == "forward" else 3) * one


def intensity(length: int, versus: CpuGpuSettings, dtype: str = "float16") -> float:
    """Operations per byte of traffic in the device's memory: every input and every result once, in this dtype."""
    learns = versus.work != "forward"
    least = (12 if learns else 4) * length * WIDTH * WIDE.get(dtype, BYTES)
    return operations(length, 1, WIDTH, versus.mask == "causal", learns) / least


def lengths(rivals: Iterable[TimingSeries]) -> list[int]:
    """All lengths of these lines and of the papers, sorted."""
    return sorted({*LENGTHS, *(point.length for rival in rivals for point in rival.points)})

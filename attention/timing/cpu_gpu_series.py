"""The lines of CPU against GPU: what was measured here, recorded elsewhere and published, at one setting.

That setting is the one of the papers: 16,384 tokens in all, 2,048 channels in all heads. Operations are counted for every line by
their convention, so that rates compare. Of what was timed with other sizes rates are shown, and no times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from attention.timing import convergence
from attention.timing.cpu_gpu_settings import FASTEST, CpuGpuSettings
from attention.timing.published import (
    BUSES,
    LENGTHS,
    TOKENS,
    WIDTH,
    Series,
    operations,
    series,
    together,
)
from attention.timing.recordings import Timing

MEASURED, RECORDED, PUBLISHED = "measured here", "recorded", "published"
NEAR = 4096  # tokens at which methods are compared, and of which the answer speaks
FUSED = ("SDPA", "flex_attention")  # how the implementations begin that no weights come from, as the papers' don't
BYTES = 2  # of a number on a GPU: fp16 and bf16
ADDED = "forward and backward timed apart, and added"


@dataclass(frozen=True)
class Point:
    """One length: seconds a call (None: of other sizes than the others'), operations a second, and where between these lie.

    `moved`: seconds on the way to the GPU and back. `unsure`: its label was read through a legend. `loose`: why the time
    did not settle, empty if it did.
    """

    length: int
    seconds: float | None
    rate: float
    moved: float = 0.0
    quartiles: tuple[float, float] | None = None
    unsure: bool = False
    loose: str = ""

    @property
    def is_stable(self) -> bool:
        """Did its time settle?"""
        return not self.loose


@dataclass(frozen=True)
class TimingSeries:
    """A line: on which device, computed how, of which numbers, whence it is known (`kind`) and where that stands (`place`).

    `peaks`: operations and bytes a second that were measured at best. `failed`: lengths at which it ran out of memory.
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

    @property
    def brackets(self) -> str:
        """What a number of it needs beside it: numbers, method, and whence it is known."""
        return f"{self.dtype}, {self.method}, {self.whence.partition(' (')[0]}"

    @property
    def whence(self) -> str:
        """Measured, recorded with its day, or published."""
        return self.kind if self.kind == PUBLISHED else self.place

    @property
    def label(self) -> str:
        """What it is called, with its day and its file."""
        return f"{self.device}: {self.method}, {self.dtype}, {self.whence}"

    @property
    def short(self) -> str:
        """The same without these, as a legend has it where that tells one line from the others."""
        return f"{self.device}: {self.method}, {self.dtype}, {self.kind}"

    def at(self, length: int) -> Point | None:
        """Its point of a length, where it has one with a time."""
        return next((point for point in self.points if point.length == length and point.seconds is not None), None)


def cpu(versus: CpuGpuSettings, timings: Iterable[Timing]) -> TimingSeries | None:
    """The CPU's line: what was measured here goes before what was recorded, in the order in which it comes."""
    found = [each for each in alike(versus, timings) if each.device == "cpu"]
    found = [each for each in found if each.implementation == "SDPA" and each.dtype == versus.cpu_dtype]
    return next(iter(sorted(_lines(found), key=lambda rival: rival.kind != MEASURED)), None)


def gpus(versus: CpuGpuSettings, timings: Iterable[Timing]) -> list[TimingSeries]:
    """The GPUs' lines: those that were measured or recorded, then those that were published."""
    found = [each for each in alike(versus, timings) if each.device != "cpu"]
    timed = [each for each in found if each.implementation.startswith(FUSED)]
    return [
        *_best(sorted(_lines(timed), key=lambda rival: rival.kind != MEASURED)),
        *_few(versus, _published_series(versus)),
    ]


def _few(versus: CpuGpuSettings, printed: list[TimingSeries]) -> list[TimingSeries]:
    """Of what was published that of other sizes only beside rates, or where there is nothing else, or it was asked for."""
    if versus.lines == "all" or versus.gpus or versus.picture == "rate":
        return printed
    return [rival for rival in printed if not rival.setting] or printed


def alike(versus: CpuGpuSettings, timings: Iterable[Timing]) -> list[Timing]:
    """The timings that came to a time at the sizes, the mask and the pass of the picture."""
    return [
        timing
        for timing in timings
        if timing.error is None
        and timing.batch * timing.length == TOKENS
        and timing.heads * timing.d_head == WIDTH
        and (str(timing.d_head), timing.mask, timing.passes) == (versus.d_head, versus.mask, versus.work)
    ]


def _lines(timings: list[Timing]) -> list[TimingSeries]:
    def kind(timing: Timing) -> tuple[str, ...]:
        return timing.origin, timing.implementation, timing.dtype

    order = {kind(timing): at for at, timing in reversed(list(enumerate(timings)))}
    by_line = sorted(timings, key=lambda timing: (order[kind(timing)], timing.length))
    return [_line(list(line)) for _, line in groupby(by_line, kind)]


def _line(timings: list[Timing]) -> TimingSeries:
    first = timings[0]
    threads = f", {first.threads} thread{'s' * (first.threads != 1)}" if first.device == "cpu" else ""
    peaks = [
        (each.peak_operations, each.peak_traffic) for each in timings if each.peak_operations and each.peak_traffic
    ]
    place = f"{RECORDED} {first.day} ({first.source})" if first.source else f"{MEASURED} {first.day}"
    return TimingSeries(
        RECORDED if first.source else MEASURED,
        first.device_name + threads,
        first.implementation,
        first.dtype,
        place,
        tuple(_point(timing) for timing in timings),
        peaks=(max(each[0] for each in peaks), max(each[1] for each in peaks)) if peaks else None,
    )


def _point(timing: Timing) -> Point:
    spread = timing.spread
    count = operations(timing.length, timing.batch, WIDTH, timing.mask == "causal", timing.passes != "forward")
    return Point(
        timing.length,
        timing.seconds,
        count / timing.seconds,
        timing.to_device + timing.from_device,
        (spread.lower, spread.upper) if spread.has_quartiles else None,
        loose=convergence.reason(timing),
    )


def _best(found: list[TimingSeries]) -> list[TimingSeries]:
    """Of each device and kind the line that was fastest."""
    kept: dict[tuple[str, str], TimingSeries] = {}
    for rival in found:
        key = rival.device, rival.place
        kept[key] = max(kept.get(key, rival), rival, key=_fast)
    return list(kept.values())


def _fast(rival: TimingSeries) -> float:
    """Operations a second at the length at which lines are compared, or at the longest that it has."""
    return next((each.rate for each in rival.points if each.length == NEAR), rival.points[-1].rate)


def _published_series(versus: CpuGpuSettings) -> list[TimingSeries]:
    found = [_printed_series(each, versus) for each in series() if _is_relevant(each, versus)]
    if versus.method == FASTEST:
        names = dict.fromkeys((rival.device, rival.setting) for rival in found)
        found = [max((each for each in found if (each.device, each.setting) == name), key=_fast) for name in names]
    return sorted(found, key=_fast, reverse=True)


def _is_relevant(each: Series, versus: CpuGpuSettings) -> bool:
    """Is it of the mask, the pass, the method and the GPUs of the picture? What was timed apart counts as its forward."""
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
    """What was timed of the backward pass beside this forward pass."""
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


def transferred_bytes(work: str) -> float:
    """Bytes to the GPU and back: queries, keys and values there; the output back, or three gradients in its place."""
    return float((3 + (1 if work == "forward" else 3)) * TOKENS * WIDTH * BYTES)


def intensity(length: int, versus: CpuGpuSettings) -> float:
    """Operations for each byte that must move in the GPU's own memory: every input and every result once, of two bytes."""
    learns = versus.work != "forward"
    least = (12 if learns else 4) * length * WIDTH * BYTES
    return operations(length, 1, WIDTH, versus.mask == "causal", learns) / least


def lengths(rivals: Iterable[TimingSeries]) -> list[int]:
    """Every length that a line has, and those of the papers."""
    return sorted({*LENGTHS, *(point.length for rival in rivals for point in rival.points)})

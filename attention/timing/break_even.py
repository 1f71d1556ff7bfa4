"""From which length on a GPU is faster than a CPU, for one text: without the copy of the data, and with it.

Both were timed at the sizes of one sweep, those by default, in one dtype. Nothing here is published or assumed: the copy is
timed as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log10

from attention.timing import comparison, convergence, cpu_gpu_series, cpu_gpu_summary, recordings
from attention.timing.comparison import AT_EVERY, EQUAL, Crossover
from attention.timing.cpu_gpu_series import IN_BROWSER, MEASURED, RECORDED, TimingSeries
from attention.timing.recordings import Timing
from attention.timing.recordings.timing import BROWSER
from attention.timing.sweep import Sweep, is_like
from attention.timing.units import seconds

OPEN_MARKS = "open marks: {why}"
NAMES = {MEASURED: "this server", IN_BROWSER: "your GPU"}  # of lines in words of the chart
BEYOND = "At {length:,} tokens the GPU takes {gpu} with the copy{gpu_why}, the CPU {cpu}{cpu_why}{ratio}."
AS_FAST = ": the GPU is {about} {times} times as fast"
OTHER_CODE = "It depends on the code: with the copy, {names}."
UNSTABLE = "; open marks are unstable times"
APART = 1.25  # by this factor two break-even lengths differ clearly
NOT_COMPARED = (
    "What was measured here is drawn, but not compared: fewer than two of its times are stable. Measure again."
)
ORDINARY = " (from ordinary memory, which is not pinned)"
ONE_KERNEL = "SDPA", "WebGPU fused"  # one kernel for all of attention, as a model runs it


@dataclass(frozen=True)
class BreakEven:
    """The lines of a CPU and a GPU at common lengths, and where they cross without (`alone`) and with the copy (`moved`).

    `longest`: the GPU's timing at the longest common length at which both times are stable, or at the last one if none is.
    `beside`: the recorded line of a device of which one was measured now, and what was measured now with too few stable times
    to be compared. `timings`: those of all these lines, the GPU's and the CPU's first. `is_rough`: whether unstable times are
    compared, too, as stable ones say too little. `others`: the break-even lengths with the copy of other implementations on
    the same two devices, by name.
    """

    cpu: TimingSeries
    gpu: TimingSeries
    alone: Crossover
    moved: Crossover
    longest: Timing
    beside: tuple[TimingSeries, ...] = ()
    timings: tuple[Timing, ...] = ()
    is_rough: bool = False
    others: tuple[tuple[str, float], ...] = ()

    @property
    def headline(self) -> str:
        """From which length on the GPU is faster, with the copy if it is at all, in one sentence.

        The length is that of the ring in the chart, or of its band.
        """
        gpu, cpu = cpu_gpu_summary.name_gpu(self.gpu), cpu_gpu_summary.name_cpu(self.cpu)
        said = f"In {self.longest.dtype} {gpu}{'' if 'GPU' in gpu else ' GPU'} is"
        if self.alone.length is None:
            return f"{said} at no length up to {self.alone.longest:,} tokens faster than {cpu}, even without the copy."
        if self.moved.length is None:
            alone = self._overtakes(said, cpu, self.alone, copied=False)
            return f"{alone}; with the copy, at no length up to {self.moved.longest:,}."
        return f"{self._overtakes(said, cpu, self.moved, copied=True)}, copying included."

    def _overtakes(self, said: str, cpu: str, crossing: Crossover, copied: bool) -> str:
        """That the GPU is faster, and from which length on; unstable times only tell the lengths next to it."""
        around = self.between(copied)
        if around and crossing.around:
            return f"{said.removesuffix(' is')} seems to overtake {cpu} between {{:,}} and {{:,}} tokens".format(
                *around
            )
        return f"{said} faster than {cpu} {self._from(crossing, copied)}"

    def _from(self, crossing: Crossover, copied: bool) -> str:
        """From which length on the GPU is faster, or that it is at every length."""
        if self.is_equal_at_first(copied):
            return f"beyond {crossing.shortest:,} tokens"
        if (crossing.length or 0) <= crossing.shortest and self._is_first(crossing.shortest):
            return AT_EVERY
        return f"from {self._since(crossing)} tokens on"

    def _since(self, crossing: Crossover) -> str:
        """The length from which on the GPU is faster; unstable times only tell the lengths next to it."""
        if (crossing.length or 0) <= crossing.shortest:
            return f"{crossing.shortest:,}"
        return crossing.bracket if self.is_rough else crossing.about

    @property
    def with_copy(self) -> str:
        """What was timed, from which length on the GPU is faster without the copy, and how many times, without it and with it.

        Without a ratio if the GPU is at no length faster.
        """
        if self.alone.length is None:
            return self._timed
        shortest, longest = self.alone.shortest, self.longest.length
        alone, copied = (f"{self._as_fast(longest, copy)} at {longest:,}" for copy in (False, True))
        if self.alone.longest > longest:  # which is compared roughly, and said after the stable times
            alone, copied = (
                f"{said}{' tokens' * (not copy)} and {self._as_fast(self.alone.longest, copy, said)} at {self.alone.longest:,}"
                for said, copy in ((alone, False), (copied, True))
            )
        elif self.alone.length <= shortest < longest:
            why = "" if self._is_first(shortest) else ", the shortest with stable times,"
            alone = f"{self._as_fast(shortest)} at {shortest:,} tokens{why} and {alone}"
            if self.moved.length is not None and self.moved.length <= shortest and not self.is_equal_at_first():
                copied = f"{self._as_fast(shortest, True)} at {shortest:,} and {copied}"
        since = "" if self.alone.length <= shortest else f"faster {self._from(self.alone, copied=False)}, "
        said = f"Without the copy the GPU is {since}{alone}; counting the copy there and back, {copied}."
        return " ".join(filter(None, [self._timed, said, self.other_code]))

    @property
    def _timed(self) -> str:
        """Which code was timed, in short."""
        code = self.longest.implementation
        by = "PyTorch's SDPA" if code == "SDPA" else f"PyTorch's SDPA on the CPU, {code} on the GPU"
        return f"Timed: one call of attention ({by}){UNSTABLE * self.is_rough}."

    @property
    def other_code(self) -> str:
        """Which other code breaks even at a clearly different length with the copy; empty if none is known to."""
        since = self.moved.length
        apart = [(n, name) for name, n in self.others if since and max(n / since, since / n) > APART]
        found = [(float(f"{n:.2g}"), name) for n, name in apart]
        if not found or since is None:
            return ""
        names = ", ".join(f"{name} is faster on the GPU from about {n:,.0f} tokens on" for n, name in sorted(found))
        return OTHER_CODE.format(names=names)

    @property
    def open_marks(self) -> str:
        """What the open marks of the chart mean, to stand beside them; empty if it has none."""
        found: dict[str, list[str]] = {}
        for series in (self.cpu, self.gpu, *self.beside):
            if words := convergence.open_marks(point.loose for point in series.points):
                found.setdefault(words, []).append("GPU" if series is self.gpu else NAMES.get(series.kind, "CPU"))
        alone = len(found) == 1
        why = ", ".join(words if alone else f"{words} ({', '.join(of)})" for words, of in found.items())
        return OPEN_MARKS.format(why=why) if found else ""

    @property
    def beyond(self) -> str:
        """The times at the longest length if they are not stable and not compared therefore; empty if they are.

        An unstable minimum is an upper bound. If only one of the two times is a bound, so is their ratio.
        """
        cpu, gpu = self.cpu.points[-1], self.gpu.points[-1]
        if not (cpu.loose or gpu.loose) or cpu.seconds is None or gpu.seconds is None:
            return ""
        copied, base = gpu.seconds + gpu.moved, cpu.seconds
        about, many = self._ratio_bound(base / copied, cpu.length)
        is_faster = base > (1 + EQUAL) * copied and many > 1
        ratio = AS_FAST.format(about=about, times=cpu_gpu_summary.times(many)) if is_faster else ""
        cpu_why, gpu_why = (f" ({convergence.open_marks((each,))})" if each else "" for each in (cpu.loose, gpu.loose))
        most = [f"{'at most ' * point.is_bound}{seconds(n)}" for point, n in ((gpu, copied), (cpu, base))]
        taken = {"gpu": most[0], "cpu": most[1], "ratio": ratio}
        return BEYOND.format(length=gpu.length, cpu_why=cpu_why, gpu_why=gpu_why, **taken)

    @property
    def not_compared(self) -> str:
        """That what was measured now is drawn, but not compared; empty if it is."""
        loose = [each for each in self.beside if each.kind != RECORDED]
        return NOT_COMPARED if loose else ""

    def is_equal_at_first(self, copied: bool = True) -> bool:
        """Whether both take equally long at the shortest length, with or without the copy, and the GPU is then faster."""
        ratios = cpu_gpu_summary.ratios(self.cpu, self.gpu)
        first, *others = (each.moved if copied else each.alone for each in ratios if each.is_stable or self.is_rough)
        return abs(first - 1) <= EQUAL and all(each > 1 for each in others)

    def _is_first(self, length: int) -> bool:
        """Whether a length is the shortest at which both were timed."""
        return length == min({point.length for point in self.cpu.points} & {point.length for point in self.gpu.points})

    def _ratio(self, length: int, copied: bool = False) -> float:
        """How many times as fast as the CPU the GPU is at a length."""
        found = next(each for each in cpu_gpu_summary.ratios(self.cpu, self.gpu) if each.length == length)
        return found.moved if copied else found.alone

    def times(self, length: int, copied: bool = False) -> str:
        """How many times as fast the GPU is at a length, as it is written."""
        return self._times(self._ratio(length, copied), length)

    def times_as_long(self, length: int) -> str:
        """How many times as long as the CPU the GPU takes at a length with the copy; empty if it is faster."""
        ratio = self._ratio(length, copied=True)
        return self._times(1 / ratio, length, is_faster=False) if ratio < 1 else ""

    def _times(self, ratio: float, length: int, is_faster: bool = True) -> str:
        """A ratio as it is written, with "at most", "at least" or "roughly" if the times at its length are unstable."""
        if all(point and point.is_stable for point in (self.cpu.at(length), self.gpu.at(length))):
            return cpu_gpu_summary.times(ratio)
        about, many = self._ratio_bound(ratio, length, is_faster)
        return f"{about} {cpu_gpu_summary.times(many)}"

    def _ratio_bound(self, ratio: float, length: int, is_faster: bool = True) -> tuple[str, float]:
        """How sure a ratio of the times at a length is, and its number."""
        at = (each.at(length) for each in (self.cpu, self.gpu))
        slow, fast = ((bool(point and point.is_stable), bool(point and point.is_bound)) for point in at)
        return comparison.ratio_bound(ratio, *((slow, fast) if is_faster else (fast, slow)))

    def meeting(self, copied: bool) -> float | None:
        """The length at which the lines of the CPU and of the GPU, with or without the copy, meet; None if they do not."""
        found = self.moved if copied else self.alone
        if self.is_equal_at_first(copied):
            return float(found.shortest)
        return found.length if found.length and found.length > found.shortest else None

    def between(self, copied: bool) -> tuple[int, int] | None:
        """The timed lengths between which the lines meet, where unstable times tell no more; None where a length is known."""
        if not self.is_rough or self.meeting(copied) is None or self.is_equal_at_first(copied):
            return None
        return (self.moved if copied else self.alone).around

    @property
    def crossing_point(self) -> tuple[float, float] | None:
        """The length and time at which the line of the CPU meets that of the GPU with the copy, if it is faster with it.

        Otherwise that without the copy. None if they do not meet, or if only the lengths next to it are known.
        """
        copied = self.moved.length is not None
        length = self.meeting(copied)
        if length is None or self.between(copied):
            return None
        points = [(point.length, (point.seconds or 0.0) + point.moved * copied) for point in self.gpu.points]
        before, after = next((pair for pair in pairwise(points) if pair[1][0] >= length), points[-2:])
        (x0, y0), (x1, y1) = ((log10(x), log10(y)) for x, y in (before, after))
        return length, 10 ** (y0 + (y1 - y0) * (log10(length) - x0) / (x1 - x0))

    def _as_fast(self, length: int, copied: bool = False, after: str = "") -> str:
        """How many times as fast the GPU is at a length, in words that follow those for another length (`after`)."""
        is_equal = abs(self._ratio(length, copied) - 1) <= EQUAL
        if copied and not is_equal and (longer := self.times_as_long(length)):
            return f"it takes {longer} times as long"
        said = "about as fast" if is_equal else f"{self.times(length, copied)} times as fast"
        return f"is {said}" if after.startswith("it takes") else said

    @property
    def timed_code(self) -> str:
        """Which code was timed on which devices, as other code of a CPU may be faster, and with which versions of torch."""
        code = "" if self.longest.implementation == "SDPA" else f"{self.longest.implementation} "
        on_cpu = next(timing for timing in self.timings if timing.device == "cpu")
        versions = [timing.torch.partition("+")[0] for timing in (on_cpu, self.longest)]
        cpu, gpu = (f" (PyTorch {version})" if version else "" for version in versions)
        return f"Timed: scaled_dot_product_attention on {self.cpu.device}{cpu}, {code}on {self.gpu.device}{gpu}."

    @property
    def subject(self) -> str:
        """What is timed, and where the times are from."""
        case = self.longest
        return (
            f"Timed: one layer on one text, softmax(q kᵀ / √d) v, forward, {case.heads} heads of {case.d_head} "
            f"channels, {case.dtype}. GPU {self.gpu.whence.partition(' (')[0]}, CPU {self.cpu.whence.partition(' (')[0]}."
        )

    @property
    def reason(self) -> str:
        """Why the copy costs what it costs, by the measured rates."""
        case = self.longest
        numbers = 4 * case.batch * case.length * case.heads * case.d_head
        size = numbers * case.number_bytes
        said = (
            f"At {case.length:,} tokens the copy takes {seconds(case.transfer)}, computing {seconds(case.seconds)}: query, "
            f"key, value and output ({size / 1e6:.2g} MB) cross the bus at {size / case.transfer / 1e9:.2g} GB/s"
            f"{ORDINARY * (case.source != BROWSER)}"
        )
        return (
            f"{said}, while the GPU's own memory moves {case.peak_traffic / 1e9:,.0f} GB/s."
            if case.peak_traffic
            else f"{said}."
        )


def break_even(timings: Iterable[Timing], sweep: Sweep) -> BreakEven | None:
    """Returns the break-even at the sizes of a sweep, of the first GPU and CPU with stable times at two common lengths or more.

    None if there are no such devices.
    """
    timings = [t for t in comparison.with_times(timings) if t.length in sweep.lengths and is_like(t, sweep)]
    like = [each for each in timings if each.implementation in ONE_KERNEL]
    lines = sorted(cpu_gpu_series.timed_lines(like), key=_is_recorded)  # measured now first
    cpus = [line for line in lines if line[0].device == "cpu"]
    gpus = [line for line in lines if line[0].device != "cpu" and any(each.transfer for each in line)]
    for gpu in gpus:
        for cpu in cpus:
            common = {each.length for each in cpu} & {each.length for each in gpu}
            found = _of([t for t in cpu if t.length in common], [t for t in gpu if t.length in common])
            if found is not None:
                beside = _beside(cpu, cpus, common) + _beside(gpu, gpus, common)
                return replace(
                    found,
                    beside=tuple(map(cpu_gpu_series.line, beside)),
                    timings=(*found.timings, *(timing for line in beside for timing in line)),
                    others=_other_code(timings, cpu[0], gpu[0]),
                )
    return None


def _other_code(timings: list[Timing], cpu: Timing, gpu: Timing) -> tuple[tuple[str, float], ...]:
    """The break-even lengths with the copy of other code on the devices of two timings, where stable times suffice for one."""
    others = [
        each
        for each in timings
        if each.origin in (cpu.origin, gpu.origin) and each.implementation not in ONE_KERNEL and each.dtype == gpu.dtype
    ]
    found, known = recordings.lines(others), list[tuple[str, float]]()
    for base, other in comparison.across_devices(found, lambda timing: timing.device == "cpu"):
        points = comparison.speed_ups(found[base], found[other], transfer=True)
        stable = [point for point in points if point.settled]
        crossing = comparison.crossover(stable) if comparison.suffices(stable, points) else None
        if crossing and crossing.length and crossing.length > crossing.shortest:
            known.append((found[base][0].implementation, crossing.length))
    return tuple(known)


def _is_recorded(line: list[Timing]) -> bool:
    return bool(line[0].source) and line[0].source != BROWSER


def _beside(shown: list[Timing], lines: list[list[Timing]], lengths: set[int]) -> list[list[Timing]]:
    """The first of these lines, at these lengths, that was recorded if the line that is shown was not, or the other way round."""
    others = (
        [t for t in line if t.length in lengths] for line in lines if _is_recorded(line) is not _is_recorded(shown)
    )
    return [line for line in others if line][:1]


def _of(cpu: list[Timing], gpu: list[Timing], is_rough: bool = False) -> BreakEven | None:
    ratios = [comparison.speed_ups(cpu, gpu, transfer) for transfer in (False, True)]
    if is_rough:
        ratios = [[replace(each, settled=True) for each in some] for some in ratios]
    alone, moved = map(comparison.crossover, ratios)
    if alone is None or moved is None or alone.shortest == alone.longest:
        return None
    stable = [each.length for each in comparison.speed_ups(cpu, gpu) if each.settled]
    longest = next(timing for timing in gpu if timing.length == max(stable, default=alone.longest))
    series = cpu_gpu_series.line(cpu), cpu_gpu_series.line(gpu)
    return BreakEven(*series, alone, moved, longest, timings=(*gpu, *cpu), is_rough=is_rough)


def pair(timings: Iterable[Timing]) -> list[Timing]:
    """Returns the timings of the first CPU and GPU with the same implementation and sizes, at their common lengths.

    The copy to the GPU was timed, and there are at least two lengths. What was measured here comes first, then a pair with stable
    times, then the kernel that models run. Empty if there is none.
    """
    found = recordings.lines(comparison.with_times(timings))
    pairs: list[tuple[list[Timing], list[Timing]]] = []
    for base, other in comparison.across_devices(found, lambda timing: timing.device == "cpu"):
        gpu = [timing for timing in found[other] if timing.transfer]
        common = {each.length for each in found[base]} & {each.length for each in gpu}
        if len(common) > 1:
            cpu, gpu = ([each for each in line if each.length in common] for line in (found[base], gpu))
            pairs.append((cpu, gpu))
    pairs.sort(
        key=lambda each: (
            all(line[0].source for line in each),
            not any(point.settled for point in comparison.speed_ups(*each)),
            not _is_fused(each[1]),
        )
    )
    return [timing for line in pairs[0] for timing in line] if pairs else []


def _is_fused(line: list[Timing]) -> bool:
    return line[0].implementation in ONE_KERNEL


def of_pair(timings: Iterable[Timing]) -> BreakEven | None:
    """Returns the break-even of the timings of a `pair`, by unstable times, too, where stable ones say too little."""
    timings = list(timings)
    cpu, gpu = ([each for each in timings if (each.device == "cpu") is of_cpu] for of_cpu in (True, False))
    if not cpu or not gpu:
        return None
    both = [comparison.speed_ups(cpu, gpu, transfer) for transfer in (False, True)]
    suffice = [comparison.suffices([each for each in points if each.settled], points) for points in both]
    return _of(cpu, gpu, is_rough=not all(suffice))

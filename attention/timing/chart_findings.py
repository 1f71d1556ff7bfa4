"""One sentence on what a chart of times shows: for each picture of CPU against GPU, and for each chart of lines.

Unstable times are left out, as no line joins them. A sentence names the length that it is about, and what it compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from attention.number_format import format_percent
from attention.timing import comparison, cpu_gpu_series, cpu_gpu_summary, footprint
from attention.timing.cpu_gpu_series import PUBLISHED, Point, TimingSeries
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.timing.cpu_gpu_summary import name_cpu, name_gpu, times
from attention.timing.data_sheets import DATA_SHEETS
from attention.timing.recordings import Timing, lines
from attention.timing.units import seconds, size

Lines = dict[str, list[Timing]]
DAY = re.compile(r", (?:recorded|measured) [^·]*")  # of a label: when and in which file a line was recorded


def cpu_gpu_finding(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """Returns the finding of the chosen picture of CPU against GPU; if it has none, the ratio, or what is missing."""
    finders = {"times faster": _speedups, "rate": _rates, "limits": _limits}
    found = finders[versus.picture](cpu, gpus, versus) if versus.picture in finders else ""
    return found or cpu_gpu_summary.headline(cpu, gpus, versus)


def line_finding(chart: str, timings: Iterable[Timing], against: str = comparison.CPU, transfer: bool = False) -> str:
    """Returns the finding of a chart of lines, empty if there is nothing to compare.

    `chart`: "time", "speed-up", "roofline", "memory" or "transfer"; `against` and `transfer` as in the chart of speed-ups.
    """
    timed = {label: comparison.with_times(line) for label, line in _short_labels(lines(timings)).items()}
    if chart == "memory":  # bytes are counted, not timed
        return _least_memory(timed)
    stable = {label: [t for t in line if t.settled] for label, line in timed.items()}
    found = {label: line for label, line in stable.items() if line}
    if chart == "speed-up":
        return _fastest_pair(found, against, transfer)
    return FINDERS[chart](found) if found else ""


def _short_labels(found: Lines) -> Lines:
    """The same lines without day and file in their labels, if these are different without."""
    short = {DAY.sub(" ", label).replace("  ", " ").strip(): line for label, line in found.items()}
    return short if len(short) == len(found) else found


def _speedups(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """The range of the ratios of the first comparable GPU, without the copy, or with it if the chart shows these alone."""
    found = cpu_gpu_summary.against(cpu, gpus)
    if cpu is None or found is None:
        return ""
    gpu, every, _ = found
    stable = [each for each in every if each.is_stable]
    if not stable:
        return ""
    copied = versus.transfer == cpu_gpu_summary.WITH
    ratios = _range([each.moved if copied else each.alone for each in stable])
    first, last = stable[0].length, stable[-1].length
    where = f"From {first:,} to {last:,} tokens" if first < last else f"At {first:,} tokens"
    return (
        f"{where} {_gpu_name(gpu)} is {ratios} times as fast as {name_cpu(cpu, gpu)} in {cpu.dtype}"
        f"{', the copy included' * copied}."
    )


def _rates(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """The highest rate of a GPU, and that of the CPU."""
    found = _best(gpus)
    if found is None:
        return ""
    gpu, point = found
    base = _best([cpu]) if cpu else None
    beside = f"; {name_cpu(base[0], gpu)} in {base[0].dtype} reaches at most {_rate(base[1])}" if base else ""
    said = f"{_gpu_name(gpu)} reaches {_rate(point)} at {point.length:,} tokens, the most of all lines{beside}."
    return said[0].upper() + said[1:]


def _limits(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """The largest share of its limit that a GPU reaches, by its data sheet, and the CPU, as measured."""
    known = [gpu for gpu in gpus if gpu.device in DATA_SHEETS and not gpu.setting]
    shares = [
        (point.rate / min(sheet.operations, sheet.traffic * work), gpu, point)
        for gpu in known
        if (sheet := DATA_SHEETS[gpu.device])
        for point in gpu.points
        if point.is_stable and (work := cpu_gpu_series.intensity(point.length, versus, gpu.dtype))
    ]
    if not shares:
        return ""
    share, gpu, point = max(shares, key=lambda each: each[0])
    said = (
        f"{_gpu_name(gpu)} reaches at most {format_percent(share)} of the limit of its data sheet, at "
        f"{point.length:,} tokens."
    )
    return said[0].upper() + said[1:]


def _best(series: Sequence[TimingSeries]) -> tuple[TimingSeries, Point] | None:
    """The line and the point with the highest rate."""
    found = [(each, point) for each in series for point in each.points if point.is_stable]
    return max(found, key=lambda each: each[1].rate, default=None)


def _gpu_name(gpu: TimingSeries) -> str:
    """A GPU within a sentence, with its dtype and that its figure was published."""
    return f"{name_gpu(gpu)} in {gpu.dtype}{' (published)' * (gpu.kind == PUBLISHED)}"


def _range(values: list[float]) -> str:
    low, high = times(min(values)), times(max(values))
    return low if low == high else f"{low} to {high}"


def _rate(point: Point) -> str:
    return f"{point.rate / 1e12:.3g} TFLOP/s"


def _extremes(found: Lines, value: Callable[[Timing], float]) -> tuple[int, list[tuple[float, str]]] | None:
    """The longest length that two lines or more have, and their values there with their names, the smallest first."""
    at: dict[int, list[tuple[float, str]]] = {}
    for label, line in found.items():
        for timing in line:
            at.setdefault(timing.length, []).append((value(timing), label))
    shared = [length for length, values in at.items() if len(values) > 1]
    return (max(shared), sorted(at[max(shared)])) if shared else None


def _fastest_line(found: Lines) -> str:
    ends = _extremes(found, lambda timing: timing.seconds)
    if ends is None:
        label, line = next(iter(found.items()))
        return f"{label} takes {seconds(line[-1].seconds)} at {line[-1].length:,} tokens."
    length, values = ends
    (least, first), (most, last) = values[0], values[-1]
    return (
        f"At {length:,} tokens {first} is the fastest of {len(values)} lines ({seconds(least)}); {last} takes "
        f"{times(most / least)} times as long."
    )


def _fastest_pair(found: Lines, against: str, transfer: bool) -> str:
    ratios = [
        (point.length, point.ratio, other)
        for base, other in comparison.pairs(found, against)
        for point in comparison.speed_ups(found[base], found[other], transfer)
        if point.settled
    ]
    if not ratios:
        return ""
    length = max(each[0] for each in ratios)
    _, ratio, label = max((each for each in ratios if each[0] == length), key=lambda each: each[1])
    return f"At {length:,} tokens {label} is {times(ratio)} times as fast as {against}{', with the copy' * transfer}."


def _nearest_to_peak(found: Lines) -> str:
    shares = [(share, label, t) for label, line in found.items() for t in line if (share := comparison.share(t))]
    if not shares:
        return ""
    share, label, timing = max(shares, key=lambda each: each[0])
    return (
        f"At {timing.length:,} tokens {label} reaches {format_percent(share)} of the peak of its device, a matrix product, "
        "the most of all lines."
    )


def _least_memory(found: Lines) -> str:
    least = {"cpu": footprint.RESOLUTION}
    drawn = {label: [t for t in line if (t.peak_bytes or 0) >= least.get(t.device, 1)] for label, line in found.items()}
    ends = _extremes(drawn, lambda timing: float(timing.peak_bytes or 0))
    if ends is None:
        return ""
    length, values = ends
    (low, first), (high, last) = values[0], values[-1]
    return (
        f"At {length:,} tokens {first} needs {size(int(low))}, the least of {len(values)} lines; {last} needs "
        f"{times(high / low)} times as much."
    )


def _largest_transfer(found: Lines) -> str:
    shares = [
        (t.transfer / (t.transfer + t.seconds), label, t) for label, line in found.items() for t in line if t.to_device
    ]
    if not shares:
        return ""
    length = max(t.length for _, _, t in shares)
    share, label, _ = max((each for each in shares if each[2].length == length), key=lambda each: each[0])
    return f"Copying takes {format_percent(share)} of a call of {label} at {length:,} tokens."


FINDERS: dict[str, Callable[[Lines], str]] = {
    "time": _fastest_line,
    "roofline": _nearest_to_peak,
    "transfer": _largest_transfer,
}

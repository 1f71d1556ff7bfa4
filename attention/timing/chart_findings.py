"""What a chart of times shows, for each picture of CPU against GPU, and for each chart of lines.

The first sentence is the headline of the page (`headline`); others stand below it in small.
Unstable times are left out, or the sentence says that it is rough. It names the length that it is about, and what it compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, takewhile
from math import floor

from attention.number_format import format_percent
from attention.timing import comparison, cpu_gpu_series, cpu_gpu_summary, footprint, growth, line_names
from attention.timing.answers import setting_text
from attention.timing.cpu_gpu_series import PUBLISHED, Point, TimingSeries
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.timing.cpu_gpu_summary import name_cpu, name_gpu, times
from attention.timing.data_sheets import DATA_SHEETS, sheet_name
from attention.timing.line_choice import USUAL
from attention.timing.line_names import machine_in_sentence as _machine
from attention.timing.line_names import namer
from attention.timing.ratio_finding import ratio_finding
from attention.timing.recordings import Timing, lines
from attention.timing.setting_finding import setting_finding
from attention.timing.units import seconds, size, two_digits

Lines = dict[str, list[Timing]]
APART = 1.05  # by this factor two numbers are apart in a chart
GROWS = 1.1  # times as long for twice the text; less is about as long
ALIKE = 1.5  # intensities that differ by at most this factor share one place on the axis of a roofline
REUSED = "core into a reused buffer"  # what it needs is in the buffer, which was there before
FLAT, FLAT_OVER = 1.25, 4  # times that differ by at most this factor, over lengths that differ by at least this one
MEMORY_LIMIT = ", where memory is the limit"
UNKNOWN = "; for {machines} too few times are stable to tell"
OPERATIONS = " (4 times the operations)"
OUTPUT = ", which is its output alone"
MOST_MISSING = 2  # sentences about lines that lack a length


def headline(finding: str) -> tuple[str, str]:
    """Returns the first sentence of a finding, and the others.

    >>> headline("At 512 tokens a CPU takes 1.25 ms. At 2,048, at most 31 times as long.")
    ('At 512 tokens a CPU takes 1.25 ms.', 'At 2,048, at most 31 times as long.')
    """
    first, stop, others = finding.partition(". ")
    return f"{first}{stop.strip()}", others


def cpu_gpu_finding(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """Returns the finding of the chosen picture of CPU against GPU; if it has none, the ratio, or what is missing."""
    finders = {"times faster": _speedups, "rate": _rates, "limits": _limits}
    found = finders[versus.picture](cpu, gpus, versus) if versus.picture in finders else ""
    return found or cpu_gpu_summary.headline(cpu, gpus, versus)


def line_finding(
    chart: str,
    timings: Iterable[Timing],
    against: str = comparison.CPU,
    transfer: bool = False,
    several: bool = False,
) -> str:
    """Returns the finding of a chart of lines, empty if there is nothing to compare.

    `chart`: "time", "speed-up", "roofline", "memory" or "transfer"; `against` and `transfer` as in the chart of speed-ups,
    `several` as in `ratio_finding`. The first line of these timings is the subject of a chart of speed-ups of a
    GPU and of a chart of copies.
    """
    timed = {label: comparison.with_times(line) for label, line in lines(timings).items()}
    if chart == "memory":  # bytes are counted, not timed
        return _least_memory(timed)
    stable = {label: [t for t in line if t.settled] for label, line in timed.items()}
    if chart == "roofline":
        return _nearest_to_limit({label: line for label, line in timed.items() if line})
    if chart == "speed-up":
        return ratio_finding({label: line for label, line in timed.items() if line}, against, transfer, several)
    found = {label: line for label, line in stable.items() if line}
    return _capital(FINDERS[chart](found)) if found else ""


def time_finding(timings: Iterable[Timing]) -> str:
    """Returns what differs between settings or two machines, how times grow with the length, or that they hardly do.

    Empty if too few times are stable.
    """
    timings = list(timings)
    finders = setting_finding, pair_finding, growth_finding, flat_times
    said = next(filter(None, (find(timings) for find in finders)), "")
    return line_names.of_keys(said, timings)


def pair_finding(timings: Iterable[Timing]) -> str:
    """Returns from which length on a GPU is faster than a CPU, if their lines cross, otherwise how long both take.

    That is at the longest length at which both are stable, with their ratio at the last one. Empty unless there are two lines, of
    the same code and setting.
    """
    found = sorted(lines(timings := list(timings)).values(), key=lambda line: line[0].device == "cpu")
    of_cpu, kinds = [line[0].device == "cpu" for line in found], {comparison.kind(line[0]) for line in found}
    if of_cpu != [False, True] or len(kinds) > 1:
        return ""
    timed = [{timing.length: timing for timing in comparison.with_times(line)} for line in found]
    common = sorted(timed[0].keys() & timed[1].keys())
    stable = [length for length in common if all(line[length].settled for line in timed)]
    if not stable:
        return ""
    if len({timed[0][length].seconds < timed[1][length].seconds for length in stable}) > 1:
        return line_finding("speed-up", timings)
    first, last = sorted((line[stable[-1]] for line in timed), key=lambda timing: timing.seconds)
    many = times(last.seconds / first.seconds)
    longer = "about as long" if many == "1" else f"{many} times as long"
    said = (
        f"At {stable[-1]:,} tokens {_machine(first)} takes {seconds(first.seconds)} and {_machine(last)} "
        f"{seconds(last.seconds)}, {longer}"
    )
    fast, slow = (line[common[-1]] for line in (timed if first.device != "cpu" else reversed(timed)))
    if common[-1] == stable[-1] or slow.seconds <= (1 + comparison.EQUAL) * fast.seconds:
        return f"{said}."
    about, beyond = comparison.ratio_bound(
        slow.seconds / fast.seconds, *((t.settled, t.is_bound) for t in (slow, fast))
    )
    return f"{said}. At {common[-1]:,}, {about} {times(beyond)} times as long, by unstable times."


def growth_finding(timings: Iterable[Timing], brief: bool = False) -> str:
    """Returns by how much the time of each device grows with the length, empty unless the growth of one is known.

    It is that over the lengths at which all devices have stable times, because shorter texts grow more slowly; then the last
    step of a device that has stable times beyond these, unless it is `brief`, with how the work grows instead.
    """
    found = lines(timings)
    known = [(found[label][0], rise) for label, rise in growth.of_lines(found).items()]
    subjects = {(timing.implementation, comparison.setting(timing)) for timing, _ in known}
    if len(subjects) != 1:  # a sentence on devices does not tell lines of one device apart
        return ""
    rises = [(_machine(timing), rise) for timing, rise in known if rise]
    if len({rise.lengths for _, rise in rises}) != 1:
        return ""
    (name, first), *others = rises
    later = "" if brief else "".join(_last_step(line, first.lengths[1]) for line in found.values())
    kernel = known[0][0].implementation
    start = "For" if kernel == USUAL[0] else f"With {kernel}, for"
    said = [
        f"{start} twice the text{OPERATIONS * brief} {name} takes {_as_long(first, ' as long')} on average from {first.over}"
    ]
    unknown = [_machine(timing) for timing, rise in known if not rise]
    if unknown:
        later += UNKNOWN.format(machines=" and ".join(unknown))
    return f"{', '.join([*said, *(f'{name} {_as_long(rise)}' for name, rise in others)])}{later}."


def _as_long(rise: growth.Growth, unit: str = "") -> str:
    """How many times as long twice the text takes; `unit`: what follows the number."""
    return "about as long" if rise.doubling < GROWS else f"{rise.factor} times{unit}"


def _last_step(line: list[Timing], beyond: int) -> str:
    """How many times as long a device takes for twice the text at the end of its stable times; "" if none are beyond a length."""
    stable = [timing for timing in comparison.with_times(line) if timing.settled]
    if len(stable) < 2 or stable[-2].length < beyond or stable[-1].length != 2 * stable[-2].length:
        return ""
    before, last = stable[-2:]
    factor = f"{last.seconds / before.seconds:.2g}"
    return f"; from {before.length:,} to {last.length:,}, {_machine(last)} {factor} times"


def missing_times(timings: Iterable[Timing]) -> str:
    """Returns which lines have no time at a length at which another line has one, with the reason if it is known."""
    found = lines(timings)
    timed = {label: {timing.length for timing in comparison.with_times(line)} for label, line in found.items()}
    every, name, said = set[int]().union(*timed.values()), namer(found), []
    for label, line in found.items():
        if lengths := sorted(every - timed[label]):
            why = next((f" ({t.error.partition(':')[0]})" for t in line if t.error and t.length in lengths), "")
            said.append(f"{_capital(name(line[0]))} has no time at {cpu_gpu_summary.name_lengths(lengths)}{why}.")
    return " ".join(said[:MOST_MISSING])


def flat_times(timings: Iterable[Timing]) -> str:
    """Returns that a GPU takes about as long for short texts as for longer ones, with the reason; empty if none does.

    The work grows at least as fast as the length, so if the time hardly grows, nearly all of it is a fixed cost.
    """
    name = namer(found := lines(timings))
    for line in found.values():
        stable = [t for t in comparison.with_times(line) if t.settled and t.device != "cpu"]
        flat = list(takewhile(lambda t, first=stable[:1]: t.seconds <= FLAT * first[0].seconds, stable))
        if flat and flat[-1].length >= FLAT_OVER * flat[0].length:
            least, most = (seconds(end(t.seconds for t in flat)) for end in (min, max))
            return (
                f"From {flat[0].length:,} to {flat[-1].length:,} tokens {name(flat[0])} takes about as long ({least} to "
                f"{most}): nearly all of it is the fixed cost of a call."
            )
    return ""


def rising_lengths(timings: Iterable[Timing]) -> tuple[int, int] | None:
    """Returns the shortest and the longest length if longer texts have more operations per byte in each line, else None.

    Of a few queries all lengths have about as many.
    """
    found = [comparison.with_times(line) for line in lines(timings).values()]
    for line in found:
        if any(APART * comparison.intensity(a) >= comparison.intensity(b) for a, b in pairwise(line)):
            return None
    lengths = {timing.length for line in found for timing in line}
    return (min(lengths), max(lengths)) if len(lengths) > 1 else None


def is_of_one_intensity(timings: Iterable[Timing]) -> bool:
    """Whether several lengths have about as many operations per byte, as those of a few queries have."""
    found = comparison.with_times(timings)
    of = [comparison.intensity(timing) for timing in found]
    return len({timing.length for timing in found}) > 1 and max(of) <= ALIKE * min(of)


def _speedups(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """The first and the last ratio of the first comparable GPU, with the copy first if that counts."""
    found = cpu_gpu_summary.against(cpu, gpus)
    if cpu is None or found is None:
        return ""
    gpu, every, _ = found
    stable = [each for each in every if each.is_stable]
    if not stable:
        return ""
    copied = cpu_gpu_summary.counts_copy(gpu, versus)
    first, last = stable[0], stable[-1]
    low, high = (times(each.moved if copied else each.alone) for each in (first, last))
    is_range = first.length < last.length and low == high
    where = f"From {first.length:,} to {last.length:,}" if is_range else f"At {first.length:,}"
    then = f", and {high} times at {last.length:,}" * (low != high)
    alone = " and ".join(dict.fromkeys(times(each.alone) for each in (first, last)))
    return (
        f"{where} tokens {_gpu_name(gpu)} is {low} times as fast as {name_cpu(cpu)} in {cpu.dtype}{then}"
        f"{', counting the copy' * copied}.{f' Without the copy, {alone} times as fast.' * copied}"
    )


def _rates(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """The highest rate of a GPU, and that of the CPU."""
    found = _best(gpus)
    if found is None:
        return ""
    gpu, point = found
    base = _best([cpu]) if cpu else None
    beside = ""
    if base:
        cpu, best = base
        beside = f" {_capital(name_cpu(cpu))} in {cpu.dtype} reaches {_rate(best)} at {best.length:,}."
    return _capital(
        f"{_gpu_name(gpu)} reaches {_rate(point)} at {point.length:,} tokens, the most of all lines.{beside}"
    )


def _limits(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """The largest share of its limit that a GPU reaches, by its data sheet, and the CPU, as measured."""
    known = [gpu for gpu in gpus if sheet_name(gpu.device) and gpu.dtype != "float32" and not gpu.setting]
    shares = [
        (point.rate / min(sheet.operations, sheet.traffic * work), gpu, point, sheet.traffic * work < sheet.operations)
        for gpu in known
        if (sheet := DATA_SHEETS[sheet_name(gpu.device)])
        for point in gpu.points
        if point.is_stable and (work := cpu_gpu_series.intensity(point.length, versus, gpu.dtype))
    ]
    if not shares:
        return ""
    share, gpu, point, is_memory = max(shares, key=lambda each: each[0])
    return _capital(
        f"{_gpu_name(gpu)} reaches at most {format_percent(share)} of the limit of its data sheet, at "
        f"{point.length:,} tokens{MEMORY_LIMIT * is_memory}."
    )


def _best(series: Sequence[TimingSeries]) -> tuple[TimingSeries, Point] | None:
    """The line and the point with the highest rate."""
    found = [(each, point) for each in series for point in each.points if point.is_stable]
    return max(found, key=lambda each: each[1].rate, default=None)


def _gpu_name(gpu: TimingSeries) -> str:
    """A GPU within a sentence, with its dtype and that its figure was published."""
    return f"{name_gpu(gpu)} in {gpu.dtype}{' (published)' * (gpu.kind == PUBLISHED)}"


def _rate(point: Point) -> str:
    return f"{point.rate / 1e12:.3g} TFLOP/s"


Extremes = tuple[int, list[tuple[float, Timing]]]


def _extremes(
    found: Iterable[list[Timing]], value: Callable[[Timing], float], of_most: bool = False
) -> Extremes | None:
    """The longest length that two lines have, or (`of_most`) the most lines, with values and timings, the smallest first."""
    at: dict[int, list[tuple[float, Timing]]] = {}
    for line in found:
        for timing in line:
            at.setdefault(timing.length, []).append((value(timing), timing))
    shared = [length for length, values in at.items() if len(values) > 1]
    length = max(shared, key=lambda length: (of_most * len(at[length]), length), default=0)
    return (length, sorted(at[length], key=lambda each: each[0])) if shared else None


def _capital(said: str) -> str:
    return said[:1].upper() + said[1:]


def _fastest_line(found: Lines) -> str:
    ends, name = _extremes(found.values(), lambda timing: timing.seconds, of_most=True), namer(found)
    if ends is None:
        last = next(iter(found.values()))[-1]
        return f"At {last.length:,} tokens {name(last)} takes {seconds(last.seconds)}."
    length, values = ends
    (least, first), (most, last) = values[0], values[-1]
    return (
        f"At {length:,} tokens {name(first)} is the fastest of {len(values)} lines ({seconds(least)}); {name(last)} takes "
        f"{times(most / least)} times as long."
    )


def _nearest_to_limit(found: Lines) -> str:
    """The largest share of the measured limit of each device in one setting, the first that most of the devices have.

    That is at the longest length with stable times of all devices. If there is none, each device is at its own longest stable
    length, or at its longest one, roughly.
    """
    of_setting: dict[tuple, list[Timing]] = {}
    for timing in (t for line in found.values() for t in line):
        of_setting.setdefault(comparison.setting(timing), []).append(timing)
    if not of_setting:
        return ""
    timed = max(of_setting.values(), key=lambda some: len({timing.origin for timing in some}))
    stable = _shares(timing for timing in timed if timing.settled)
    lengths = {origin: set(at) for origin, at in stable.items()}
    common = set.intersection(*(lengths.get(timing.origin, set()) for timing in timed))
    every = [at[max(common or at)] for at in (stable.get(origin, some) for origin, some in _shares(timed).items())]
    name = namer(found, of_machine=False)
    (_, first), *others = every
    is_one_length = len({timing.length for _, timing in every}) == 1
    alike = len({timing.implementation for _, timing in every}) == 1
    said = [
        f"{f'at {t.length:,} tokens ' * (t is first or not is_one_length)}"
        f"{'' if alike and t is not first else f'{_in_brackets(name(t))} '}{'reaches ' * (t is first)}"
        f"{_share(share, t)} of {'the measured limit' if t is first else 'that'} of {_machine(t)}"
        for share, t in every
    ]
    if others:
        said[-1] = f"and {said[-1]}"
    return _capital(", ".join(said) + ".")


def _shares(timings: Iterable[Timing]) -> dict[str, dict[int, tuple[float, Timing]]]:
    """The largest share of the measured limit by device and length, with its timing."""
    best: dict[str, dict[int, tuple[float, Timing]]] = {}
    for timing in timings:
        at, bound = best.setdefault(timing.origin, {}), comparison.roofline_bound(timing)
        share = (
            min(1.0, comparison.rate(timing) / bound) if bound else 0.0
        )  # the chart raises a limit to what was reached
        if timing.length not in at or share > APART * at[timing.length][0]:  # of lines that are about equal, the first
            at[timing.length] = share, timing
    return best


def _in_brackets(name: str) -> str:
    """The name of a line in a sentence, with its settings in brackets: "SDPA (float32, full mask)"."""
    code, _, setting = name.partition(", ")
    return f"{code} ({setting})" if setting else code


def _share(share: float, timing: Timing) -> str:
    """A share as a percentage, with two digits if the time is unstable; a minimum of unstable times is an upper bound."""
    if share == 1:
        return "all"
    if timing.settled:
        return format_percent(share)
    if timing.is_bound and share > 0:
        return f"at least {two_digits(100 * share, floor):.3g}%"
    return f"roughly {float(f'{share:.2g}') * 100:g}%"


def _least_memory(found: Lines) -> str:
    """The least and the most at the longest length that two lines have, of one device if any has two."""
    least = {"cpu": footprint.RESOLUTION}
    counted = [line for line in found.values() if line[0].implementation != REUSED]
    drawn = [[t for t in line if (t.peak_bytes or 0) >= least.get(t.device, 1)] for line in counted]
    by_device: dict[str, list[list[Timing]]] = {}
    for line in filter(None, drawn):
        by_device.setdefault(line[0].origin, []).append(line)
    each = [_extremes(some, lambda t: float(t.peak_bytes or 0)) for some in [*by_device.values(), drawn]]
    ends = max(filter(None, each[:-1]), key=lambda found: (found[0], found[1][0][1].device != "cpu"), default=each[-1])
    if ends is None:
        return ""
    length, values = ends
    low, first = values[0]
    alike = [each for each in values if _differences(each[1], first) == 1]
    if not alike:
        return f"At {length:,} tokens {namer(found)(first)} needs {size(int(low))} beyond the inputs."
    high, last = alike[-1]
    name, more = namer(found), times(high / low)
    as_much = "about as much" if more == "1" else f"{more} times as much"
    if first.origin == last.origin:
        short, where = namer({"": [first, last]}, of_machine=False), f"At {length:,} tokens on {_machine(first)}"
        needs = f"needs {size(int(low))} beyond the inputs"
        if first.implementation == last.implementation:  # in two settings
            code, (how, other) = (
                short(first).partition(", ")[0],
                (setting_text(t, [first, last]) for t in (first, last)),
            )
            return f"{where}, {code} needs {as_much} memory with {other} as with {how}. With {how}, it {needs}."
        is_output = low == first.output_bytes and first.passes == "forward"
        return f"{where}, {short(last)} needs {as_much} memory as {short(first)}. {short(first)} {needs}{OUTPUT * is_output}."
    return f"At {length:,} tokens {name(first)} needs {size(int(low))} beyond the inputs; {name(last)}, {as_much}."


def _differences(one: Timing, other: Timing) -> int:
    """In how many things two timings differ: the code, the settings and the machine."""
    pairs = zip(comparison.setting(one), comparison.setting(other), strict=True)
    return sum(a != b for a, b in (*pairs, (one.implementation, other.implementation), (one.origin, other.origin)))


def _largest_transfer(found: Lines) -> str:
    """The share of the copy in a call of the first line that has one, at its longest length and where it is largest."""
    copied = next(filter(None, ([t for t in line if t.to_device] for line in found.values())), None)
    if copied is None:
        return ""
    last, most = copied[-1], max(copied, key=copy_share)
    share, machine = format_percent(copy_share(last)), _machine(last)
    name = _in_brackets(namer(found, of_machine=False)(last))
    rest = "computing" if name == USUAL[0] else name
    said = f"At {last.length:,} tokens, copying to {machine} and back takes {share} of the time, {rest} the rest."
    if copy_share(most) > APART * copy_share(last):
        said += f" At {most.length:,} tokens, copying takes {format_percent(copy_share(most))}."
    return f"{said} Data that stays there needs no copy."


def copy_share(timing: Timing) -> float:
    """The share of the copy in a call."""
    return timing.transfer / (timing.transfer + timing.seconds)


FINDERS: dict[str, Callable[[Lines], str]] = {
    "time": _fastest_line,
    "transfer": _largest_transfer,
}

"""Answers to "how long does this take, and can a GPU pay?" for the sizes of a sweep, one sentence for each.

Where a GPU was timed at these sizes its time is quoted. Where none was, the limit by a data sheet bounds what one can reach.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from attention.timing import comparison, convergence, cpu_gpu_summary
from attention.timing.break_even import ONE_KERNEL
from attention.timing.cpu_gpu_series import FUSED
from attention.timing.data_sheets import BUSES, DATA_SHEETS, LAUNCH, Limit, limit
from attention.timing.recordings import Timing
from attention.timing.recordings.labels import axes_text, describe
from attention.timing.recordings.timing import BROWSER
from attention.timing.sweep import Case
from attention.timing.units import seconds

SHEET, BUS = "H100", "PCIe 5.0 x16"  # of the bound
MOST = 6  # answers
LEFT_OUT = (
    "over the time budget",
    "out of memory",
    "not started",
)  # beginnings of errors of cases that a device could compute
DEVICES = re.compile(r" ?(?=\b[GC]PU: )")  # before the sentences of a basis that name the devices
NO_GPU = "No GPU was timed at these sizes."
NO_CPU = "No CPU was timed with these settings: “Measure here” times that of this server."
OTHER_CPU = (
    "CPU times at these sizes are of other settings ({values}): “Measure here” times this server's CPU with these."
)
SIZES = "length", "batching", "heads", "d_head", "queries", "kv_heads", "window"
NOTHING = "Nothing was timed at these sizes: “Measure here” times this server's CPU, and “Measure my GPU” your own GPU."


@dataclass(frozen=True)
class Answer:
    """What is known of one setting and one GPU.

    `headline`: how many times as fast the GPU is as the CPU, or how long a call takes if one was timed alone. `basis`: how
    many times with the copy, from which length on it is faster, and what was compared. `caution`: why a time in it is not
    stable, empty if all are. `setting`: its values on the axes on which all timings differ.
    """

    headline: str
    basis: str
    caution: str = ""
    setting: str = ""

    @property
    def first(self) -> str:
        """The sentences of the basis before those that name the devices, for a caption; `rest` has these."""
        return DEVICES.split(self.basis, maxsplit=1)[0]

    @property
    def rest(self) -> str:
        """The sentences of the basis that name the devices, and all after them."""
        return self.basis[len(self.first) :].strip()

    @property
    def text(self) -> str:
        """Both sentences."""
        return f"{self.headline} {self.basis}"


def answers(timings: Iterable[Timing]) -> list[Answer]:
    """Returns an answer for each setting and GPU of these timings, at the longest length that it and a CPU have.

    A setting without a GPU is answered by its CPU and a data sheet. The visitor's GPU comes first, then one of this machine.
    Fused implementations are compared, as in the papers; others only if no fused one was timed. Lengths of theirs that were
    left out are named with the reason.
    """
    timings = list(timings)
    timed = comparison.with_times(timings)
    failed = [timing for timing in timings if (timing.error or "").startswith(LEFT_OUT)]
    groups: dict[tuple, list[Timing]] = {}
    for timing in [t for t in timed if t.implementation.startswith(FUSED)] or timed:
        groups.setdefault(comparison.setting(timing), []).append(timing)
    pairs = [(_cpu_of(setting, groups), gpu) for setting, group in groups.items() for gpu in _gpus(group)]
    compared = {id(cpu[0]) for cpu, gpu in pairs if cpu and gpu}
    told = [(cpu, gpu) for cpu, gpu in pairs if gpu or id(cpu[0]) not in compared]
    found = [(_answer(cpu, gpu, failed, timed), (gpu or cpu)[0]) for cpu, gpu in told]
    return list(dict.fromkeys(replace(each, setting=setting_text(at, timed)) for each, at in found if each))[:MOST]


def setting_text(timing: Timing, timings: list[Timing]) -> str:
    """The values of a timing on the axes on which these differ, like "full mask, float32"."""
    values = axes_text(timing, timings)
    return ", ".join(f"{value} mask" if value == timing.mask else value for value in values)


def _gpus(group: list[Timing]) -> list[list[Timing]]:
    """The timings of each GPU; one empty list if there is no GPU."""
    found: dict[str, list[Timing]] = {}
    for timing in sorted(group, key=lambda t: 0 if t.source == BROWSER else 2 if t.source else 1):
        if timing.device != "cpu":
            found.setdefault(timing.origin, []).append(timing)
    return list(found.values()) or [[]]


def _cpu_of(setting: tuple, groups: dict[tuple, list[Timing]]) -> list[Timing]:
    """The timings of the CPU that a setting is compared with: stable ones of this machine, if there are any, or recorded ones.

    A CPU that emulates the dtype of the setting is timed in float32, which is then compared, as it is where there is no other.
    """
    plain = tuple(
        "float32" if name == "dtype" else each for name, each in zip(comparison.SETTING, setting, strict=True)
    )
    every = [[t for t in groups.get(key, ()) if t.device == "cpu"] for key in (setting, plain)]
    found = [[t for t in some if bool(t.source) is recorded] for recorded in (False, True) for some in every]
    return next((some for some in found if any(t.settled for t in some)), next(filter(None, found), []))


def _answer(cpu: list[Timing], gpu: list[Timing], failed: list[Timing], timed: list[Timing]) -> Answer | None:
    """The answer of a CPU and a GPU, with what was left out of `failed`; None if nothing was timed. `timed`: all timings."""
    found = _answer_of_timed(cpu, gpu, timed)
    told = [_untimed(line, failed) for line in (cpu, gpu) if line]
    return found and replace(found, basis=" ".join([found.basis, *filter(None, told)]))


def _untimed(line: list[Timing], failed: list[Timing]) -> str:
    """Which lengths of a line were left out, and why the first of them was."""
    kind = line[0].origin, comparison.setting(line[0])
    known, names = {timing.length for timing in line}, {timing.implementation for timing in line}
    found: dict[int, str] = {}
    for timing in failed:
        if timing.implementation in names and (timing.origin, comparison.setting(timing)) == kind:
            found.setdefault(timing.length, timing.error or "")
    lengths = sorted(found.keys() - known)
    if not lengths:
        return ""
    where = _cpu_name(line[0]) if line[0].device == "cpu" else _gpu_name(line[0])
    return f"Not timed on {where}: {cpu_gpu_summary.name_lengths(lengths)} ({found[lengths[0]]})."


def _answer_of_timed(cpu: list[Timing], gpu: list[Timing], timed: list[Timing]) -> Answer | None:
    both = {t.length for t in cpu} & {t.length for t in gpu}
    stable = {n for n in both if all((found := _fastest(line, n)) and found.settled for line in (cpu, gpu))}
    length = max(stable or both or {t.length for t in gpu or cpu})
    here = _fastest(cpu, length)
    there = _fastest(gpu, length)
    if here and there:
        return _compare(cpu, gpu, here, there)
    if there:
        once = f" ({caution})" if (caution := _caution(there)) else ""
        return Answer(
            f"{describe(there)}: {seconds(there.seconds)} on {_gpu_name(there)}{once}.",
            f"{_no_cpu(there, timed)} {_basis(there)}",
        )
    return _bracket_break_even(cpu, here) if here else None


def _no_cpu(gpu: Timing, timed: list[Timing]) -> str:
    """That no CPU was timed with the mask, dtype and pass of a GPU, and with which others one was, at its length and sizes."""
    cpus = [each for each in timed if each.device == "cpu"]
    same = [each for each in cpus if all(getattr(each, name) == getattr(gpu, name) for name in SIZES)]
    found = [setting_text(each, [each, gpu]) for each in same]
    return OTHER_CPU.format(values=min(found, key=len)) if found else NO_CPU


def _compare(cpu: list[Timing], gpu: list[Timing], here: Timing, there: Timing) -> Answer:
    """The answer of a GPU and a CPU that were both timed at a length."""
    alone, moved = (here.seconds / taken for taken in (there.seconds, there.seconds + there.transfer))
    dtype = f" in {here.dtype}" if here.dtype != there.dtype else ""
    of_gpu = f" in {there.dtype}" if dtype else ""
    gpu_name, what, caution = f"{_gpu_name(there)}{of_gpu}", describe(there, not dtype), _caution(there, here)
    of = f"for {what[0].lower()}{what[1:]}"
    headline = f"{gpu_name} {cpu_gpu_summary.as_fast(alone)} as {_cpu_name(here)}{dtype} "
    headline += f"({seconds(there.seconds)} instead of {seconds(here.seconds)}) {of}."
    if caution:  # no ratio is claimed of times that are not stable
        headline = (
            f"{gpu_name} took {seconds(there.seconds)} and {_cpu_name(here)} {seconds(here.seconds)}{dtype} {of}; "
        )
        headline += f"a rough comparison: {caution}."
    return Answer(
        f"{headline[0].upper()}{headline[1:]}",
        f"{_copied(there)} {_ratio_text(moved, here, there)} as the CPU. {_break_even(cpu, gpu, here, there)}"
        f"{_beyond(cpu, gpu, here.length)}{_basis(there)} {_basis(here)}",
        f"Approximate: {caution}." if caution else "",
    )


def _caution(*timings: Timing) -> str:
    """Why times are not stable, in words; empty if all are."""
    words = dict.fromkeys(convergence.word(each) for each in timings if not each.settled)
    return ", ".join(filter(None, words))


def _gpu_name(timing: Timing) -> str:
    if timing.source == BROWSER:
        return f"your GPU ({timing.device_name})"
    return cpu_gpu_summary.name_card(timing.device_name)


def _cpu_name(timing: Timing) -> str:
    return cpu_gpu_summary.a_cpu(timing.device_name) if timing.source else "this server's CPU"


def _basis(timing: Timing) -> str:
    """What was timed on a device, like "GPU: Test GPU, SDPA, float32, recorded 2026-01-31."."""
    notes = [timing.implementation, timing.dtype, _whence(timing), convergence.word(timing)]
    kind = "CPU" if timing.device == "cpu" else "GPU"
    return f"{kind}: {', '.join([timing.named_device, *filter(None, notes)])}."


def _break_even(cpu: list[Timing], gpu: list[Timing], here: Timing, there: Timing) -> str:
    """From which length on the lines of two timings cross; empty if one length says it all."""
    base, other = (
        [t for t in some if (t.origin, t.implementation) == (at.origin, at.implementation)]
        for some, at in ((cpu, here), (gpu, there))
    )
    if len({t.length for t in base} & {t.length for t in other}) < 2 and there.seconds <= here.seconds:
        return ""
    return f"The GPU is {comparison.break_even(base, other)}. "


def _beyond(cpu: list[Timing], gpu: list[Timing], length: int) -> str:
    """The longest length of a GPU, if that is longer than what was compared and no CPU was timed there."""
    last = _fastest(gpu, max(timing.length for timing in gpu))
    if last is None or last.length <= length or any(timing.length == last.length for timing in cpu):
        return ""
    most = "" if last.settled else "at most "
    unit = "keys" if last.queries else "tokens"
    return f"At {last.length:,} {unit}, where no CPU was timed, the GPU takes {most}{seconds(last.seconds)}. "


def _fastest(timings: list[Timing], length: int) -> Timing | None:
    """The fastest timing of a length, of those that were measured here if there are any; of the one that charts draw first."""
    at = [t for t in timings if t.length == length]
    at = [t for t in at if not t.source] or at
    return min([t for t in at if t.implementation in ONE_KERNEL] or at, key=lambda t: t.seconds, default=None)


def _ratio_text(ratio: float, slow: Timing, fast: Timing) -> str:
    """How many times as fast the second of two timings is, with "at most", "at least" or "roughly" unless both are stable."""
    if slow.settled and fast.settled:
        return cpu_gpu_summary.as_fast(ratio)
    sides = [(each.settled, each.is_bound) for each in (slow, fast)]
    about, many = comparison.ratio_bound(max(ratio, 1 / ratio), *(sides if ratio >= 1 else reversed(sides)))
    return cpu_gpu_summary.as_fast(many if ratio >= 1 else 1 / many, about)


def _copied(case: Case) -> str:
    """The beginning of a sentence on a call with its copy, which for one token moves all keys and values."""
    if case.queries == 1:
        return "Including a copy of all keys and values for this one token, which no decoder makes, the GPU"
    return "Including the copy to the GPU and back, it"


def _whence(timing: Timing) -> str:
    if timing.source == BROWSER:
        return f"measured in your browser {timing.day}"
    if not timing.source:
        return f"measured here {timing.day}"
    where = " in a browser" if timing.is_from_browser else ""
    return f"recorded{where} {timing.day}"


def _bracket_break_even(cpu: list[Timing], here: Timing) -> Answer:
    """The answer where no GPU was timed: from which length on one can pay, by the limit of a data sheet."""
    sheet, bus = DATA_SHEETS[SHEET], BUSES[BUS]
    base: dict[int, Timing] = {}
    for timing in sorted(cpu, key=lambda t: t.seconds, reverse=True):
        base[timing.length] = timing
    bounds = {n: limit(timing.case, sheet, bus) for n, timing in sorted(base.items())}
    known = {n: bound for n, bound in bounds.items() if bound}
    taken = f"{describe(here)}: {seconds(here.seconds)} on {_cpu_name(here)}."
    if not known:
        return Answer(taken, f"{NO_GPU} {_basis(here)}")
    bound, times = known[max(known)], cpu_gpu_summary.times(here.seconds / known[max(known)].seconds)
    alone, moved = (
        {n: base[n].seconds > getattr(b, name) for n, b in known.items()} for name in ("seconds", "with_transfer")
    )
    return Answer(
        f"{taken} {_least(bound)}, at most {times} times as fast.",
        f"{NO_GPU} {_from(alone, 'A GPU can be faster')}; {_from(moved, 'including the copy to the GPU and back,')} "
        f"(by the data sheet; assumed: {seconds(LAUNCH)} to launch, {BUS}). {_basis(here)}",
    )


def _least(bound: Limit) -> str:
    return f"By its data sheet an {DATA_SHEETS[SHEET].name} takes at least {seconds(bound.seconds)}, limited by {bound.reason}"


def untimed(case: Case) -> Answer:
    """Returns the answer of a case of which there is no timing at all."""
    bound = limit(case, DATA_SHEETS[SHEET], BUSES[BUS])
    return Answer(f"{describe(case)}: not timed yet.{f' {_least(bound)}.' if bound else ''}", NOTHING)


def _from(pays: dict[int, bool], what: str) -> str:
    """Says from which length on every longer one pays."""
    lengths = list(pays)
    late = [n for n in lengths if not pays[n]]
    if not late:
        return f"{what} from {lengths[0]:,} tokens on, the shortest length"
    first = next((n for n in lengths if n > late[-1]), None)
    return (
        f"{what} at none of these lengths"
        if first is None
        else f"{what} from {first:,} tokens on, and not at {late[-1]:,}"
    )


def limits(cases: Iterable[Case], names: Iterable[str]) -> dict[str, dict[int, float]]:
    """Returns the least seconds of each GPU by its data sheet, at the lengths of these cases, which have one setting."""
    found: dict[str, dict[int, float]] = {}
    for name in names:
        bounds = {case.length: limit(case, DATA_SHEETS[name], BUSES[BUS]) for case in cases}
        if line := {n: bound.seconds for n, bound in sorted(bounds.items()) if bound}:
            found[name] = line
    return found

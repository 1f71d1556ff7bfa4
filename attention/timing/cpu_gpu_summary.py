"""Summarizes CPU against GPU: the speed-up in one sentence, and a table of every number with its source.

A ratio is given with the dtypes of both. Published figures enter no fit and no crossover: they are quoted only at the lengths
that were published. The break-even length is computed from timings only (`comparison.crossover`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from attention.timing import comparison, cpu_gpu_series
from attention.timing.cpu_gpu_series import FUSED, IN_BROWSER, MEASURED, NEAR, PUBLISHED, RECORDED, Point, TimingSeries
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.timing.data_sheets import BUSES, sheet_name
from attention.timing.published import PRINTED
from attention.timing.recordings import Timing

SPELT = r"[AEFHILMNORSX](?![a-z])|[AEIO]|8|1[18]\b"  # beginnings of names that take the article "an"
MASKS = {"causal": "causal", "full": "no mask"}
NOT_KNOWN = "The length from which a GPU is faster lies below the shortest length here. A recording of shorter lengths shows it."
LOOSE = "unstable"
WITH, BOTH = "with", "without and with"  # the choices of times that include the copy alone, and of both
WORKS = {"forward": "a forward pass", "forward + backward": "a forward and a backward pass"}


@dataclass(frozen=True)
class Ratio:
    """How many times as fast as the CPU the GPU is at one length, without (`alone`) and with (`moved`) the transfers.

    `loose`: why one of the two times is not stable, empty if both are.
    """

    length: int
    alone: float
    moved: float
    loose: str = ""

    @property
    def is_stable(self) -> bool:
        """Whether both times are stable."""
        return not self.loose


def ratios(cpu: TimingSeries, gpu: TimingSeries) -> list[Ratio]:
    """Returns the ratio at each length at which both have a time."""
    found: list[Ratio] = []
    for point in gpu.points:
        base = cpu.at(point.length)
        if point.seconds is not None and base is not None and base.seconds is not None:
            whole = point.seconds + point.moved
            loose = base.loose or point.loose
            found.append(Ratio(point.length, base.seconds / point.seconds, base.seconds / whole, loose))
    return found


def against(cpu: TimingSeries | None, gpus: list[TimingSeries]) -> tuple[TimingSeries, list[Ratio], Ratio] | None:
    """Returns the first GPU that is comparable with the CPU, all its ratios and the ratio to quote; None if there is none.

    A stable ratio is quoted if there is one: that at `NEAR`, else that of the longest text.
    """
    found = next(((gpu, every) for gpu in gpus if cpu and (every := ratios(cpu, gpu))), None)
    if found is None:
        return None
    quotable = [each for each in found[1] if each.is_stable] or found[1]
    return *found, next((each for each in quotable if each.length == NEAR), quotable[-1])


def numbers(gpu: TimingSeries, cpu: TimingSeries) -> str:
    """The dtypes of both, as shown next to each ratio."""
    return f"{gpu.dtype} against {cpu.dtype}"


def headline(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """Returns whether a GPU is faster, with the copy first if that `counts` and then without it, or what is missing.

    `between` names what is compared.
    """
    found = against(cpu, gpus)
    if cpu is None or found is None:
        return _missing(cpu, gpus, versus)
    gpu, _, at = found
    where, than = f"At {at.length:,} tokens {name_gpu(gpu)} in {gpu.dtype}", f"{name_cpu(cpu)} in {cpu.dtype}"
    if counts_copy(gpu, versus):
        return f"{where} {as_fast(at.moved)} as {than}, counting the copy. Without the copy, {times(at.alone)} times as fast."
    return f"{where} {as_fast(at.alone)} as {than}."


def counts_copy(gpu: TimingSeries, versus: CpuGpuSettings) -> bool:
    """Whether a ratio counts the copy: if the settings show times with it alone, or if they show both and it was measured."""
    is_measured = gpu.kind != PUBLISHED and any(point.moved for point in gpu.points)
    return versus.transfer == WITH or (versus.transfer == BOTH and is_measured)


def copy_sentence(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """How fast the copy is, if the headline counts it, or how many times as fast the GPU is with it; empty without a ratio."""
    if (found := against(cpu, gpus)) is None:
        return ""
    gpu, _, at = found
    how = assumed(gpu, versus) or _copy_speed(gpu, at.length, versus)
    if counts_copy(gpu, versus):
        return f"The copy to the GPU and back is counted{how}." if how else ""
    return f"Including the copy to the GPU and back{how}, it {as_fast(at.moved)} at {at.length:,} tokens."


def published_copy(gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """Why the copy of published lines takes another time than that of a timed GPU; empty unless both are drawn with it."""
    timed = next((gpu for gpu in gpus if gpu.kind in (MEASURED, RECORDED) and any(p.back for p in gpu.points)), None)
    is_assumed = any(gpu.kind == PUBLISHED and not gpu.setting for gpu in gpus)
    if timed is None or not is_assumed or versus.transfer not in (WITH, BOTH):
        return ""
    at = next((point for point in timed.points if point.length == NEAR), timed.points[-1])
    return (
        f"Published lines assume a copy at {BUSES[versus.bus] / 1e9:g} GB/s ({versus.bus}); that of the timed "
        f"{sheet_name(timed.device) or timed.device} is from and to ordinary memory, which is not pinned"
        f"{_copy_speed(timed, at.length, versus)}."
    )


def other_precision(
    cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings, timings: Iterable[Timing]
) -> str:
    """What half precision does to a float32 CPU that is compared with a GPU in half precision; empty if that was not timed."""
    found, other = against(cpu, gpus), cpu_gpu_series.cpu(replace(versus, cpu_dtype="bfloat16"), timings)
    if cpu is None or other is None or found is None or found[0].dtype == cpu.dtype or cpu.dtype != "float32":
        return ""
    point, half = cpu.at(found[2].length), other.at(found[2].length)
    if not (point and half and point.is_stable and half.is_stable and other.device == cpu.device):
        return ""
    ratio = (point.seconds or 0.0) / (half.seconds or 1.0)
    if times(max(ratio, 1 / ratio)) == "1":
        return "In bfloat16 the CPU takes about as long as in float32."
    much = f"is {times(ratio)} times as fast" if ratio > 1 else f"takes {times(1 / ratio)} times as long"
    return f"In bfloat16 the CPU {much} as in float32."


def _copy_speed(gpu: TimingSeries, length: int, versus: CpuGpuSettings) -> str:
    """The measured bytes per second of a copy to a GPU and back, as one may be slower; empty if none was measured."""
    point = gpu.at(length)
    if point is None or not 0 < point.back < point.moved:
        return ""
    there, back = cpu_gpu_series.bytes_each_way(versus.work, gpu.dtype)
    speeds = f"{there / (point.moved - point.back) / 1e9:.2g} GB/s to the GPU, {back / point.back / 1e9:.2g} GB/s back"
    return f" (measured for {(there + back) / 1e6:.3g} MB: {speeds})"


def name_gpu(gpu: TimingSeries) -> str:
    """A GPU within a sentence."""
    return f"your GPU ({gpu.device})" if gpu.kind == IN_BROWSER else name_card(gpu.device)


def name_card(device: str) -> str:
    """The name of a GPU with its article, by the short name of its data sheet if it has one, like "an H100"."""
    return name_with_article(sheet_name(device) or device)


def name_cpu(cpu: TimingSeries) -> str:
    """The CPU that a GPU is compared with, within a sentence."""
    if cpu.kind == MEASURED:
        return "this server's CPU"
    return a_cpu(cpu.device)


def between(cpu: TimingSeries | None, gpus: list[TimingSeries]) -> str:
    """Names the two devices of the headline, their dtypes and which times are not stable; empty if there is no ratio."""
    found = against(cpu, gpus)
    if cpu is None or found is None:
        return ""
    gpu, every, at = found
    here, there = (
        f", {LOOSE}" if (point := rival.at(at.length)) and not point.is_stable else "" for rival in (cpu, gpu)
    )
    return (
        f"{pays(every)} GPU: {gpu.device}, {gpu.method}, {gpu.kind}{there}. CPU: {cpu.device}, {cpu.method}, {cpu.kind}{here}."
        f"{_why_unsure(every)}"
    )


def answer(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """Returns the same statement with all details it depends on, or what is missing."""
    found = against(cpu, gpus)
    if cpu is None or found is None:
        return _missing(cpu, gpus, versus)
    gpu, every, at = found
    here, there = cpu.at(at.length), gpu.at(at.length)
    seconds = f"{_time(there.seconds)} against {_time(here.seconds)}" if here and there else ""
    seconds += "" if at.is_stable else f" ({LOOSE})"
    device = name_with_article(gpu.device)
    return (
        f"At {at.length:,} tokens, {MASKS[versus.mask]}, d_head {versus.d_head}, {device} ({gpu.brackets}) "
        f"is {times(at.alone)} times as fast as {_cpu(cpu)}: {seconds} for {WORKS[versus.work]}. "
        f"Including the copy to the GPU and back {_road(gpu, versus)}, it is {times(at.moved)} times as fast. {pays(every)}"
    )


def _unsure(every: list[Ratio]) -> str:
    """The lengths at which a time is not stable, in words; empty if all times are stable."""
    loose = [each.length for each in every if not each.is_stable]
    return name_lengths(loose) if loose else ""


def _why_unsure(every: list[Ratio]) -> str:
    """One sentence for each reason why times are not stable, with the lengths that it applies to."""
    reasons = dict.fromkeys(each.loose for each in every if each.loose)
    found = [(why, [each.length for each in every if each.loose == why]) for why in reasons]
    return "".join(f" At {name_lengths(lengths)}, {why}." for why, lengths in found)


def pays(every: list[Ratio]) -> str:
    """Says at which of the common lengths the GPU is faster, and nothing about other lengths."""
    over = f"{every[0].length:,} to {every[-1].length:,} tokens" if len(every) > 1 else f"{every[0].length:,} tokens"
    over += f", with an unstable time at {unsure}" if (unsure := _unsure(every)) else ""
    slow, late = ([each.length for each in every if getattr(each, name) < 1] for name in ("alone", "moved"))
    if not late:
        return f"The GPU is faster at every common length: {over}."
    if not slow:
        return f"The GPU is faster at every common length ({over}); including the copy, not at {name_lengths(late)}."
    return f"From {over}, the GPU is slower at {name_lengths(slow)}; including the copy, at {name_lengths(late)}."


def published_sentence() -> str:
    """Says which passes of which GPUs are published at this setting, and which GPUs only with other sizes."""
    found = {
        work: _join_words([each.gpu for each in PRINTED if each.passes == work and not each.setting]) for work in WORKS
    }
    apart = _join_words([each.gpu for each in PRINTED if each.setting])
    here = " and ".join(f"{work} of {gpus}" for work, gpus in found.items())
    return f"Published at these sizes: {here}. Published at other sizes, as rates only: {apart}."


def _join_words(names: Iterable[str]) -> str:
    """Joins distinct names, each with its article."""
    return " and ".join(name_with_article(name) for name in dict.fromkeys(names))


def crossing(versus: CpuGpuSettings, timings: Iterable[Timing]) -> str:
    """The break-even length by timings of both devices with this mask and pass, or else how to obtain it.

    It is computed at the sizes of the picture, or else at the first sizes at which both were timed, which are then named.
    """
    fused = [
        timing
        for timing in timings
        if timing.implementation.startswith(FUSED) and (timing.mask, timing.passes) == (versus.mask, versus.work)
    ]
    if said := comparison.crossovers(cpu_gpu_series.alike(versus, fused)):
        return said[0]
    for sizes in dict.fromkeys(map(_sizes, fused)):
        if said := comparison.crossovers(timing for timing in fused if _sizes(timing) == sizes):
            return f"Of other sizes ({', '.join(sizes)}): {said[0]}"
    return NOT_KNOWN


def _sizes(timing: Timing) -> tuple[str, ...]:
    return timing.batching, f"{timing.heads} heads", f"d_head {timing.d_head}"


def columns(cpu: TimingSeries | None, gpus: list[TimingSeries]) -> dict[str, list]:
    """Returns every number of the picture with its source, as lists by column name."""
    rows = [_row(rival, point, cpu) for rival in ([cpu] if cpu else []) + gpus for point in rival.points]
    rows += [_row(rival, n, cpu) for rival in gpus for n in rival.failed]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _row(rival: TimingSeries, at: Point | int, cpu: TimingSeries | None) -> dict[str, object]:
    point = None if isinstance(at, int) else at
    length = at if isinstance(at, int) else at.length
    known = {each.length: each for each in ratios(cpu, rival)} if cpu and rival is not cpu else {}
    ratio = known.get(length)
    against = numbers(rival, cpu) if cpu and ratio else ""
    return {
        "device": rival.device,
        "method": rival.method,
        "precision": rival.dtype,
        "origin": rival.kind,
        "tokens": length,
        "ms": point.seconds * 1e3 if point and point.seconds is not None else None,
        "TFLOP/s": point.rate / 1e12 if point else None,
        "transfer, ms": point.moved * 1e3 if point and point.moved else None,
        "times as fast as the CPU": ratio.alone if ratio else None,
        "with transfer": ratio.moved if ratio else None,
        "precisions": against,
        "note": "; ".join(filter(None, (_note(rival, point), rival.setting))),
        "source": rival.place,
        "address": rival.address,
    }


def _note(rival: TimingSeries, point: Point | None) -> str:
    if point is None:
        return "ran out of memory"
    if point.unsure:
        return "read through a legend"
    return point.loose


def _missing(cpu: TimingSeries | None, gpus: list[TimingSeries], versus: CpuGpuSettings) -> str:
    """Says why there is no ratio, and what to do."""
    if cpu is None:
        return (
            f"No CPU timing yet for this setting ({versus.cpu_dtype}, {versus.work}, {MASKS[versus.mask]}, d_head "
            f"{versus.d_head}). Select “Use these settings”, then “Measure here” below."
        )
    if not any(gpu.points for gpu in gpus):
        return "There are no published figures of these GPUs for this setting. Choose another method or other GPUs."
    return "These GPUs were timed at other sizes, so only rates are comparable. Select Rate."


def assumed(gpu: TimingSeries, versus: CpuGpuSettings) -> str:
    """That the copy to a published GPU is assumed, to put behind it; empty if it was measured."""
    return f" {_road(gpu, versus)}" if gpu.kind == PUBLISHED else ""


def _road(gpu: TimingSeries, versus: CpuGpuSettings) -> str:
    if gpu.kind != PUBLISHED:
        return "(as measured)"
    gigabytes = BUSES[versus.bus] / 1e9
    return f"({versus.bus}, assumed: {gigabytes:g} GB/s)"


def _cpu(cpu: TimingSeries) -> str:
    return f"{'this' if cpu.kind == MEASURED else 'a'} CPU ({cpu.device}; {cpu.brackets})"


def name_with_article(name: str) -> str:
    """A name after "a" or "an", as it is spoken."""
    return f"{'an' if re.match(SPELT, name) else 'a'} {name}"


def a_cpu(name: str) -> str:
    """A recorded CPU within a sentence, with its cores if its name has them, as in "a 2-core CPU"."""
    cores = re.search(r"\b(\d+) cores?\b", name)
    return name_with_article(f"{cores[1]}-core CPU" if cores else "CPU")


def name_lengths(lengths: list[int]) -> str:
    """Lengths in words, like "512 and 1,024 tokens"."""
    *others, last = [f"{n:,}" for n in lengths]
    return f"{', '.join(others)}{' and ' * bool(others)}{last} tokens"


def times(ratio: float) -> str:
    """Formats a ratio with two significant digits, and with three from 100 to 999."""
    if ratio >= 1000:
        return f"{round(ratio, 2 - len(str(int(ratio)))):,.0f}"
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def as_fast(ratio: float, about: str = "") -> str:
    """A ratio of times as in "is 13 times as fast", "takes roughly 16 times as long" or "is about as fast"."""
    if times(max(ratio, 1 / ratio)) == "1":
        return "is about as fast"
    many, about = times(max(ratio, 1 / ratio)), f"{about} " * bool(about)
    return f"is {about}{many} times as fast" if ratio >= 1 else f"takes {about}{many} times as long"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"

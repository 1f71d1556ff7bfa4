"""Answers to "how long does this take, and can a GPU pay?" for the sizes of a sweep, one sentence for each.

Where a GPU was timed at these sizes its time is quoted. Where none was, the limit by a data sheet bounds what one can reach.
"""

from __future__ import annotations

from collections.abc import Iterable

from attention.timing import comparison, cpu_gpu_summary
from attention.timing.cpu_gpu_series import FUSED
from attention.timing.data_sheets import BUSES, DATA_SHEETS, LAUNCH, limit
from attention.timing.recordings import Timing
from attention.timing.recordings.timing import BROWSER
from attention.timing.sweep import Case
from attention.timing.units import seconds

SHEET, BUS = "H100", "PCIe 5.0 x16"  # of the bound
MOST = 6  # sentences


def answers(timings: Iterable[Timing]) -> list[str]:
    """Returns a sentence for each setting of these timings, at the longest length that a CPU, or else anything, has."""
    groups: dict[tuple, list[Timing]] = {}
    for timing in comparison.with_times(timings):
        if timing.implementation.startswith(FUSED):
            groups.setdefault(comparison.setting(timing), []).append(timing)
    pairs = [(_cpu_of(setting, groups), [t for t in group if t.device != "cpu"]) for setting, group in groups.items()]
    compared = {id(cpu[0]) for cpu, gpu in pairs if cpu and gpu}
    told = [(cpu, gpu) for cpu, gpu in pairs if gpu or id(cpu[0]) not in compared]
    return list(dict.fromkeys(found for cpu, gpu in told if (found := _answer(cpu, gpu))))[:MOST]


def _cpu_of(setting: tuple, groups: dict[tuple, list[Timing]]) -> list[Timing]:
    """The timings of the CPU that a setting is compared with: those of this machine, if there are any.

    A CPU that emulates the dtype of the setting is timed in float32, which is then compared.
    """
    plain = tuple(
        "float32" if name == "dtype" else each for name, each in zip(comparison.SETTING, setting, strict=True)
    )
    cpu, other = ([t for t in groups.get(key, ()) if t.device == "cpu"] for key in (setting, plain))
    here, plain_here = ([t for t in some if not t.source] for some in (cpu, other))
    return here or plain_here or cpu


def _answer(cpu: list[Timing], gpu: list[Timing]) -> str:
    both = {t.length for t in cpu} & {t.length for t in gpu}
    length = max(both or {t.length for t in cpu or gpu})
    here = _fastest(cpu, length)
    there = _fastest(gpu, length)
    if here and there:
        alone, moved = (_times(here.seconds / taken) for taken in (there.seconds, there.seconds + there.transfer))
        dtype = here.dtype if here.dtype != there.dtype else ""
        return (
            f"{describe(there)}: {_time_on_device(there)} and {_time_on_device(here, dtype)}: the GPU is {alone}, or {moved} "
            f"including the copy to the GPU and back.{_break_even(cpu, gpu, here, there)}"
        )
    if there:
        return f"{describe(there)}: {_time_on_device(there)}. No CPU was timed at these sizes."
    return f"{describe(here)}: {_time_on_device(here)}. {bracket(cpu)}" if here else ""


def _break_even(cpu: list[Timing], gpu: list[Timing], here: Timing, there: Timing) -> str:
    """From which length on the lines of two timings cross, if they have more than one length in common."""
    base, other = (
        [t for t in some if (t.origin, t.implementation) == (at.origin, at.implementation)]
        for some, at in ((cpu, here), (gpu, there))
    )
    if len({t.length for t in base} & {t.length for t in other}) < 2:
        return ""
    return f" Over all lengths: {comparison.break_even(base, other)}."


def _fastest(timings: list[Timing], length: int) -> Timing | None:
    """The fastest timing of a length, of those that were measured here if there are any."""
    at = [t for t in timings if t.length == length]
    return min([t for t in at if not t.source] or at, key=lambda t: t.seconds, default=None)


def _times(ratio: float) -> str:
    """A ratio of times as in "13 times as fast" or "16 times as slow"."""
    fast = ratio >= 1
    return f"{cpu_gpu_summary.times(ratio if fast else 1 / ratio)} times as {'fast' if fast else 'slow'}"


def _time_on_device(timing: Timing, dtype: str = "") -> str:
    notes = [
        timing.implementation,
        dtype,
        _whence(timing),
        "unstable" * (not timing.settled),
    ]
    return f"{seconds(timing.seconds)} on {timing.named_device} ({', '.join(filter(None, notes))})"


def _whence(timing: Timing) -> str:
    if timing.source == BROWSER:
        return f"measured in your browser {timing.day}"
    where = " in a browser" if timing.is_from_browser else ""
    return f"recorded{where} {timing.day}" * bool(timing.source)


def describe(case: Case) -> str:
    """A case in words, like "one token of 16 heads of 128 against 8,192 keys, bfloat16"."""
    of = f"{case.heads} heads of {case.d_head}"
    sequences = f"{case.batch:,} sequences of " if case.batch > 1 else ""
    if case.queries:
        queries = "one token" if case.queries == 1 else f"{case.queries:,} tokens"
        text = f"{sequences}{queries} of {of} against {case.length:,} keys"
    else:
        text = f"{sequences}{case.length:,} tokens, {of}"
    parts = [
        text,
        f"{case.kv_heads} key-value heads" * bool(case.kv_heads),
        f"window {case.window:,}" * bool(case.window),
    ]
    parts += [case.mask if case.mask != "full" and case.queries != 1 else "", case.dtype]
    parts += [case.passes if case.passes != "forward" else ""]
    text = ", ".join(filter(None, parts))
    return text[0].upper() + text[1:]


def bracket(cpu: Iterable[Timing]) -> str:
    """From which of these lengths on a GPU can pay, by the limit of a data sheet; the lengths below it are certain."""
    sheet, bus = DATA_SHEETS[SHEET], BUSES[BUS]
    base: dict[int, Timing] = {}
    for timing in sorted(cpu, key=lambda t: t.seconds, reverse=True):
        base[timing.length] = timing
    bounds = {n: limit(timing.case, sheet, bus) for n, timing in sorted(base.items())}
    known = {n: bound for n, bound in bounds.items() if bound}
    if not known:
        return ""
    longest = max(known)
    bound, times = known[longest], cpu_gpu_summary.times(base[longest].seconds / known[longest].seconds)
    alone, moved = (
        {n: base[n].seconds > getattr(b, name) for n, b in known.items()} for name in ("seconds", "with_transfer")
    )
    return (
        f"No GPU was timed at these sizes. By its data sheet an {sheet.name} takes at least {seconds(bound.seconds)}, "
        f"limited by {bound.reason}: at most {times} times as fast. {_from(alone, 'A GPU can be faster')}; "
        f"{_from(moved, 'including the copy to the GPU and back,')} (assumed: {seconds(LAUNCH)} to launch, {BUS})."
    )


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

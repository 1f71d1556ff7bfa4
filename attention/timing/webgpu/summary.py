"""Sentences about a measurement of the visitor's GPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attention.timing import comparison
from attention.timing.cpu_gpu_series import NEAR
from attention.timing.cpu_gpu_summary import name_lengths
from attention.timing.published import TOKENS
from attention.timing.recordings import Timing
from attention.timing.units import seconds
from attention.timing.webgpu.results import FUSED, MATERIALISED, Measurement

MOST = 6  # sentences about break-even lengths
NO_CPU = "no CPU was timed at these sizes: “Measure here” times the one of this server."


def answer(found: Measurement, others: Iterable[Timing], first: Sequence[Timing] = ()) -> list[str]:
    """Returns sentences: time and rate at one length, and from which length this GPU is faster than the CPU of `others`.

    `first`: its timings of which the length is chosen; all if none of them has a time.
    """
    at, others = longest(first) or longest(found.gpu), list(others)
    return [*([_rates(found, at)] if at else []), *(pays(found, others) if others else [])]


def left_out(found: Measurement) -> str:
    """Says which cases were not started for lack of time; empty if all were."""
    if not found.unbegun:
        return ""
    lengths = sorted({each.length for each in found.gpu if (each.error or "").startswith("not started")})
    which = f" ({name_lengths(lengths)})" if lengths else ""
    count = "One case was" if found.unbegun == 1 else f"{found.unbegun} cases were"
    return f"{count} not started, as more than a minute would have been needed{which}. Choose fewer or shorter lengths for these."


def pays(found: Measurement, others: Iterable[Timing]) -> list[str]:
    """From which length the fused kernel is faster than a CPU at the sizes of the sweep, without and with the transfer.

    The headline of the page says it for the sizes of CPU against GPU.
    """
    rivals = [each for each in others if (each.device, each.implementation) == ("cpu", "SDPA")]
    sentences: list[str] = []
    fused = [each for each in _fused(found.gpu) if each.tokens != TOKENS]
    for setting in dict.fromkeys(map(comparison.setting, fused)):
        mine = [each for each in fused if comparison.setting(each) == setting]
        cpu = [each for each in rivals if comparison.setting(each) == setting]
        cpu = [each for each in cpu if each.origin == min(cpu, key=lambda each: bool(each.source)).origin]
        told = comparison.break_even(cpu, mine)
        sentences.append(f"{_sizes(mine[0])}, " + (f"against {cpu[0].origin}: {told}." if told else NO_CPU))
    return sentences[:MOST]


def _sizes(timing: Timing) -> str:
    """The sizes that all lengths of a line have in common."""
    parts = [
        "one query" * (timing.queries == 1),
        f"{timing.heads} heads of {timing.d_head}",
        f"{timing.kv_heads} key-value heads" * bool(timing.kv_heads),
        f"window {timing.window:,}" * bool(timing.window),
        timing.batching,
        timing.mask if timing.queries != 1 else "",
        timing.dtype,
    ]
    return ", ".join(filter(None, parts))


def _fused(timings: Iterable[Timing]) -> list[Timing]:
    return [each for each in timings if each.implementation == FUSED and each.error is None]


def details(found: Measurement) -> list[str]:
    """Returns sentences about the visitor's processor, and about how all was measured."""
    sentences = [
        _processor(found),
        _ends(found),
        f"Not timed: {'; '.join(found.wrong)}." if found.wrong else "",
        found.ended,
        _method(found),
    ]
    return [each for each in sentences if each]


def longest(timings: Sequence[Timing]) -> Timing | None:
    """Returns the fused timing at which the sentences look: of CPU against GPU at 4,096 tokens, or else the longest one."""
    return max(
        _fused(timings),
        key=lambda each: (bool(each.tokens), each.length == NEAR, each.length, -each.seconds),
        default=None,
    )


def _rates(found: Measurement, at: Timing) -> str:
    rate = at.operations / at.seconds
    text = (
        f"{found.device}, measured in your browser: fused, {at.length:,} tokens, {_sizes(at)}: {seconds(at.seconds)}, "
        f"{_rate(rate)}"
    )
    if found.rate and at.dtype == "float32":
        text += f", which is {rate / found.rate:.0%} of its loop of fused multiply-adds ({_rate(found.rate)})"
    elif found.rate:
        text += f"; its loop of fused multiply-adds in float32 makes {_rate(found.rate)}"
    twin = next((each for each in found.gpu if each.implementation == MATERIALISED and _like(each, at)), None)
    slower = f" Materialised it takes {seconds(twin.seconds)}." if twin and twin.error is None else ""
    return f"{text}.{slower}"


def _like(timing: Timing, at: Timing) -> bool:
    return (timing.length, comparison.setting(timing)) == (at.length, comparison.setting(at))


def _processor(found: Measurement) -> str:
    timing = found.processor
    if timing is None or timing.error is not None:
        return ""
    rate = timing.operations / timing.seconds
    return (
        f"The processor of the same device, in JavaScript on one thread: {seconds(timing.seconds)} for one head of "
        f"{timing.length:,} tokens, {_rate(rate)}. It is not what “times faster” compares with."
    )


def _ends(found: Measurement) -> str:
    """Where the materialised kernel ends."""
    ends = [each for each in found.gpu if each.implementation == MATERIALISED and each.error]
    if not ends:
        return ""
    first = min(ends, key=lambda each: each.length)
    return f"Materialised ends before {first.length:,} tokens: {first.error}."


def _method(found: Measurement) -> str:
    clock = (
        "the GPU's own timestamps"
        if found.stamped
        else "the wall clock, as there are no usable timestamps of the GPU here"
    )
    return (
        f"Before it was timed, each kernel agreed with this server's result in float64 ({found.difference:.1e} apart at most in "
        f"float32). Timed by {clock}; workgroups of {found.tile}."
    )


def _rate(rate: float) -> str:
    return f"{rate / 1e12:.3g} TFLOP/s" if rate >= 1e12 else f"{rate / 1e9:.3g} GFLOP/s"

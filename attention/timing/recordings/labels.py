"""Makes the labels of timings, wherever timings are shown."""

from __future__ import annotations

from collections.abc import Iterable

from attention.timing.recordings.timing import Timing
from attention.timing.sweep import Case

AXES = {
    "dtype": "{}",
    "mask": "{}",
    "passes": "{}",
    "batching": "{}",
    "heads": "heads {}",
    "kv_heads": "key-value heads {}",
    "d_head": "d_head {}",
    "queries": "queries {}",
    "window": "window {}",
}
ALL = {"kv_heads": "as many key-value heads", "queries": "all queries", "window": "no window"}  # for 0


def labels(timings: Iterable[Timing]) -> dict[Timing, str]:
    """Returns the label of each timing; this is the only place where labels are made.

    A label has the implementation, the device, whether it was recorded, and the other axes on which the timings differ. If
    all were measured here on one device, the device is left out, and `place` returns it once for all of them.
    """
    timings = list(timings)
    varied = _varied(timings)
    origins = ["origin"] if not place(timings) else []
    return {timing: _label(timing, [*origins, *varied]) for timing in timings}


def axes_text(timing: Timing, timings: Iterable[Timing]) -> list[str]:
    """Returns the values of a timing on the axes, other than the device, on which these timings differ."""
    return [_value(timing, name) for name in _varied(list(timings))]


def _varied(timings: list[Timing]) -> list[str]:
    return [name for name in AXES if len({getattr(timing, name) for timing in timings}) > 1]


def _label(timing: Timing, varied: list[str]) -> str:
    return " · ".join([timing.implementation, *(_value(timing, name) for name in varied)])


def _value(timing: Timing, name: str) -> str:
    value = getattr(timing, name)
    return ALL[name] if name in ALL and not value else AXES.get(name, "{}").format(value)


def place(timings: Iterable[Timing]) -> str:
    """Returns the device on which all timings were measured here; empty if there are several devices, or any was recorded."""
    timings = list(timings)
    origins = {timing.origin for timing in timings}
    return origins.pop() if len(origins) == 1 and not any(timing.source for timing in timings) else ""


def lines(timings: Iterable[Timing]) -> dict[str, list[Timing]]:
    """Groups the timings by label into the lines of a chart, each sorted by length."""
    found: dict[str, list[Timing]] = {}
    for timing, label in labels(timings).items():
        found.setdefault(label, []).append(timing)
    return {label: sorted(line, key=lambda timing: timing.length) for label, line in found.items()}


def describe(case: Case, with_dtype: bool = True) -> str:
    """A case in words, like "one token of 16 heads of 128 against 8,192 keys, bfloat16"."""
    of = f"{case.heads} head{'s' * (case.heads != 1)} of {case.d_head}"
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
    parts += [case.mask if case.mask != "full" and case.queries != 1 else "", case.dtype * with_dtype]
    parts += [case.passes if case.passes != "forward" else ""]
    text = ", ".join(filter(None, parts))
    return text[0].upper() + text[1:]

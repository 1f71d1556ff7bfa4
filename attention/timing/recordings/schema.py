"""Converts a timing to a row of a file and back, and checks every field by name."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from attention.summary import short
from attention.timing.recordings.timing import NAME, Timing
from attention.timing.sweep import SWEEPS

LONGEST = 300  # characters of a text
TRAVELS = [entry for entry in fields(Timing) if entry.name != "by_median"]
KINDS = {entry.name: str(entry.type) for entry in TRAVELS}  # like "float | None"
POSITIVE = ("batch", "heads", "d_head", "length", "threads", "peak_operations", "peak_traffic")
TIMES = ("lower", "median", "upper")
# fields that older recordings lack; they take their defaults
LATER = ("quickest", "repeated", "visits", "quiet", "tokens", "queries", "kv_heads", "window")
AXES = {  # fields of a sweep, which limit the sizes
    "batch": "batches",
    "heads": "heads",
    "d_head": "d_heads",
    "length": "lengths",
    "tokens": "tokens",
    "queries": "queries",
    "kv_heads": "kv_heads",
    "window": "windows",
}
CHOICES = {
    name: SWEEPS.knobs[axis].choices for name, axis in (("dtype", "dtypes"), ("mask", "masks"), ("passes", "passes"))
}
WORDS = {"str": "text", "bool": "true or false", "int": "a whole number", "float": "a number"}
SIGNS = "letters, digits, spaces and . , : ; ( ) + - @ # = _ are allowed"
GREATEST = {"int": 2**53, "float": 1e30}
SHORTEST, LATEST = 1e-12, 1e9  # seconds


class RecordingError(ValueError):
    """A file is not a valid recording; the message names the field, its value and what is allowed."""


def from_row(row: Any, where: str = "timing") -> Timing:
    """Returns one timing from its JSON object; raises RecordingError if the object is not valid.

    `settled` is verified: it stays true only if the times agree too. An older recording, which has quartiles only, is stable
    if these say so, whatever its `settled` says.
    """
    if not isinstance(row, dict):
        raise RecordingError(f"{where}={short(row)} is not an object with the fields of a timing.")
    names = [entry.name for entry in TRAVELS]
    for name in names:
        if name not in row and name not in LATER:
            raise RecordingError(f"{where}.{name} is missing.")
    for name in row:
        if name not in names:
            raise RecordingError(f"{where}.{short(name)} is not a field of a timing. These are: {', '.join(names)}.")
    given = [name for name in names if name in row]
    for name in given:
        _check(f"{where}.{name}", name, row[name])
    found = Timing(**{name: _exact(name, row[name]) for name in given})
    _check_whole(where, found)
    said = found.settled or found.quickest is None
    return replace(found, settled=said and found.error is None and found.spread.is_stable)


def row(timing: Timing) -> dict[str, Any]:
    """Returns the timing as the object that is written to a file; `from_row` reverses it."""
    return {entry.name: getattr(timing, entry.name) for entry in TRAVELS}


def _check(where: str, name: str, value: Any) -> None:
    """Raises RecordingError unless the value has the field's type and is within its limits."""
    kind, _, optional = KINDS[name].partition(" | ")
    if value is None and optional:
        return
    if value is None or not _right(kind, value):
        raise RecordingError(f"{where}={short(value)} is not {WORDS[kind]}{' or null' if optional else ''}.")
    if kind == "str":
        _check_text(where, name, value)
    elif kind != "bool":
        least, most = _ends(name, kind)
        if not least <= value <= most:
            raise RecordingError(
                f"{where}={short(value)} is not between {_format_limit(least)} and {_format_limit(most)}."
            )


def _right(kind: str, value: Any) -> bool:
    """Whether the value has this type. JSON does not distinguish 1 from 1.0, so an integer is accepted as a number."""
    types = {"str": str, "bool": bool, "int": int, "float": (int, float)}[kind]
    return isinstance(value, types) and (kind == "bool" or not isinstance(value, bool))


def _exact(name: str, value: Any) -> Any:
    """Converts the value of a float field to float, however it was written."""
    return float(value) if KINDS[name].startswith("float") and value is not None else value


def _ends(name: str, kind: str) -> tuple[float, float]:
    """The smallest and the largest allowed value of a number; sizes have the limits of a sweep."""
    if name in (*TIMES, "quickest", "repeated"):
        return SHORTEST, LATEST
    most = SWEEPS.knobs[AXES[name]].high if name in AXES else None
    return 1 if name in POSITIVE else 0, most or GREATEST[kind]


def _format_limit(end: float) -> str:
    return f"{end:,}" if isinstance(end, int) else f"{end:g}"


def _check_text(where: str, name: str, value: str) -> None:
    if len(value) > LONGEST or not value.isprintable():
        raise RecordingError(f"{where}={short(value)} is not printable text of at most {LONGEST} characters.")
    if name == "when":
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise RecordingError(
                f"{where}={short(value)} is not a date and time like 2026-01-31T12:00:00+00:00."
            ) from None
    elif name in CHOICES and value not in CHOICES[name]:
        raise RecordingError(f"{where}={short(value)} is not one of: {', '.join(CHOICES[name])}.")
    elif not value and name != "source":
        raise RecordingError(f"{where} is empty; it needs {'a reason' if name == 'error' else 'a name'}.")
    elif name != "error" and not NAME.fullmatch(value):
        raise RecordingError(f"{where}={short(value)} is not a name: {SIGNS}.")


def _check_whole(where: str, found: Timing) -> None:
    """Raises RecordingError unless there is an error, or three ordered times none of which is below the quickest."""
    times = (found.lower, found.median, found.upper)
    if found.error is not None:
        if any(value is not None for value in (*times, found.quickest, found.repeated)):
            raise RecordingError(f"{where} has an error and times. Where there is an error, the times are null.")
        return
    lower, median, upper = times
    if lower is None or median is None or upper is None:
        raise RecordingError(f"{where} has neither an error nor all of lower, median and upper.")
    if not 0 < lower <= median <= upper:
        said = f"lower={lower}, median={median}, upper={upper}"
        raise RecordingError(f"{where} has {said}; they are above 0 and rise.")
    if found.repeats < 1:
        raise RecordingError(f"{where}.repeats={found.repeats}; a time was measured at least once.")
    _check_quickest(where, found, lower)


def _check_quickest(where: str, found: Timing, lower: float) -> None:
    quickest, repeated = found.quickest, found.repeated
    if quickest is None:
        if repeated is not None:
            raise RecordingError(f"{where}.repeated={repeated} has no quickest that it repeats.")
    elif quickest > min(lower, repeated or lower):
        raise RecordingError(
            f"{where}.quickest={quickest} is above lower={lower} or repeated={repeated}; nothing is quicker than the quickest."
        )
    if found.quiet > found.visits:
        raise RecordingError(f"{where}.quiet={found.quiet} is more than its {found.visits} visits.")

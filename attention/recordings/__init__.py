"""Timings, and how they travel: as files that say on which device, with which torch and on which day.

`python -m attention.timing --out gpu.json` writes one on any machine; a file that is put into this folder ships with
the app, and one can be uploaded on the Timing page. A file is text from a stranger: it is checked field by field,
nothing in it is executed, and its timings are marked as recorded wherever they are shown.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from attention.config import short
from attention.stopwatch import Spread
from attention.sweep import Case

FORMAT = "attention timings 1"
BYTES = 8_000_000  # of a file at the most
ROWS = 20_000  # timings of a file at the most
DEPTH = 4  # brackets within brackets: the file, its list, a timing
LONGEST = 300  # characters of a text
NAME = re.compile(r"[\w .,:;()+@#=-]*")  # in names: nothing that HTML or Markdown would take for markup
HERE = Path(__file__).parent


class RecordingError(ValueError):
    """A file is no recording; the message names the field, its value and what is allowed."""


@dataclass(frozen=True, kw_only=True)
class Timing(Case):
    """How long a case took, where and when. All times are in seconds, all sizes in bytes.

    `median`, `lower` and `upper` (quartiles) over `repeats` blocks of calls; `settled` where the interquartile range
    came to at most 10 % of the median. `first`: the very first call, compiling included. `to_device`, `from_device`:
    moving the inputs there and the results back. `peak_bytes`: held at the peak, beyond the inputs; None: not known.
    `operations`, `traffic`: counted (see `roofline`). `peak_operations`, `peak_traffic`: what the device reached in a
    second, measured in the same run. `error`: why there is no time (None where there is one); running out of memory is
    one. `source`: the file that it was read from; empty where it was measured here.
    """

    device_name: str
    system: str
    torch: str
    precision: str
    threads: int
    when: str
    median: float | None = None
    lower: float | None = None
    upper: float | None = None
    repeats: int = 0
    settled: bool = False
    first: float | None = None
    to_device: float = 0.0
    from_device: float = 0.0
    peak_bytes: int | None = None
    operations: float = 0.0
    traffic: float = 0.0
    peak_operations: float | None = None
    peak_traffic: float | None = None
    error: str | None = None
    source: str = field(default="", metadata={"travels": False})

    @property
    def case(self) -> Case:
        """What was timed, without where, when and how long."""
        return Case(**{entry.name: getattr(self, entry.name) for entry in fields(Case)})

    @property
    def day(self) -> str:
        """The day on which it was measured, in UTC."""
        return self.when[:10]

    @property
    def origin(self) -> str:
        """The device and, where the timing was not measured here, the word recorded with the day and the file."""
        threads = f", {self.threads} thread{'s' * (self.threads != 1)}" if self.device == "cpu" else ""
        recorded = f", recorded {self.day} ({self.source})" if self.source else ""
        return f"{self.device_name}{threads}{recorded}"

    @property
    def spread(self) -> Spread:
        """Median and quartiles; raises ValueError where there is an error instead."""
        if self.median is None or self.lower is None or self.upper is None:
            raise ValueError(f"{self.implementation} at {self.length:,} tokens has no time: {self.error}")
        return Spread(self.median, self.lower, self.upper, self.repeats)


TRAVELS = tuple(entry for entry in fields(Timing) if entry.metadata.get("travels", True))
KINDS = {entry.name: str(entry.type) for entry in TRAVELS}  # like "float | None"
AXES = {"dtype": "", "mask": "", "passes": "", "batch": "batch ", "heads": "heads ", "d_head": "d_head "}
POSITIVE = ("batch", "heads", "d_head", "length", "threads", "peak_operations", "peak_traffic")
WORDS = {"str": "text", "bool": "true or false", "int": "a whole number", "float": "a number"}
GREATEST = {"int": 2**53, "float": 1e30}


def labels(timings: Iterable[Timing]) -> dict[Timing, str]:
    """What each timing is called wherever it is shown: this is the only place where such a name is made.

    Implementation, device, whether it was recorded, and of the other axes those on which the timings differ. Where all
    were measured here and on one device, `place` says so once for all of them.
    """
    timings = list(timings)
    varied = [name for name in AXES if len({getattr(timing, name) for timing in timings}) > 1]
    origins = ["origin"] if not place(timings) else []
    return {timing: _label(timing, [*origins, *varied]) for timing in timings}


def _label(timing: Timing, varied: list[str]) -> str:
    return " · ".join([timing.implementation, *(f"{AXES.get(name, '')}{getattr(timing, name)}" for name in varied)])


def place(timings: Iterable[Timing]) -> str:
    """The one device on which all of these were measured here; empty where there are several, or any was recorded."""
    timings = list(timings)
    origins = {timing.origin for timing in timings}
    return origins.pop() if len(origins) == 1 and not any(timing.source for timing in timings) else ""


def lines(timings: Iterable[Timing]) -> dict[str, list[Timing]]:
    """The timings that belong to one line of a chart, by the line's label and in order of length."""
    found: dict[str, list[Timing]] = {}
    for timing, label in labels(timings).items():
        found.setdefault(label, []).append(timing)
    return {label: sorted(line, key=lambda timing: timing.length) for label, line in found.items()}


def written(timings: Iterable[Timing]) -> str:
    """The timings as a file: JSON, one timing a line, every number to its last digit."""
    rows = (json.dumps(row(timing), allow_nan=False) for timing in timings)
    return f'{{"format": {json.dumps(FORMAT)}, "timings": [\n' + ",\n".join(rows) + "\n]}\n"


def table(timings: Iterable[Timing]) -> str:
    """The timings as CSV, with their labels; a cell that a spreadsheet would take for a formula is quoted."""
    out = io.StringIO()
    timings = list(timings)
    sheet = csv.DictWriter(out, ["label", *(entry.name for entry in TRAVELS)])
    sheet.writeheader()
    for timing, label in labels(timings).items():
        sheet.writerow({name: _cell(value) for name, value in {"label": label, **row(timing)}.items()})
    return out.getvalue()


def shipped() -> list[Timing]:
    """All recordings in this folder."""
    return [timing for path in sorted(HERE.glob("*.json")) for timing in read(path.read_bytes(), path.name)]


def read(data: bytes | str, source: str) -> list[Timing]:
    """The timings of a file, each marked as recorded in `source`; raises RecordingError, which names what is wrong."""
    found = _parsed(data)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise RecordingError(
            f'This is no recording: "format" is not {FORMAT!r}. python -m attention.timing writes one.'
        )
    rows = found.get("timings")
    if not isinstance(rows, list):
        raise RecordingError(f"timings={short(rows)} is not a list.")
    if len(rows) > ROWS:
        raise RecordingError(f"timings has {len(rows):,} entries; {ROWS:,} are allowed. Record fewer cases in a file.")
    source = name(source, "a file")  # never empty: that would mean that it was measured here
    return [replace(from_row(row, f"timings[{i}]"), source=source) for i, row in enumerate(rows)]


def from_row(row: Any, where: str = "timing") -> Timing:
    """One timing from its JSON object; raises RecordingError."""
    if not isinstance(row, dict):
        raise RecordingError(f"{where}={short(row)} is not an object with the fields of a timing.")
    names = [entry.name for entry in TRAVELS]
    for name in names:
        if name not in row:
            raise RecordingError(f"{where}.{name} is missing.")
    for name in row:
        if name not in names:
            raise RecordingError(f"{where}.{short(name)} is not a field of a timing. These are: {', '.join(names)}.")
    for entry in TRAVELS:
        _check(f"{where}.{entry.name}", entry.name, row[entry.name])
    found = Timing(**{entry.name: _exact(entry.name, row[entry.name]) for entry in TRAVELS})
    _check_whole(where, found)
    return found


def row(timing: Timing) -> dict[str, Any]:
    """A timing as the object that stands for it in a file; `from_row` gives it back."""
    return {entry.name: getattr(timing, entry.name) for entry in TRAVELS}


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def name(text: str, otherwise: str) -> str:
    """A name as it may be shown and recorded: what is not allowed in one left out, and never empty."""
    return "".join(letter for letter in text if NAME.fullmatch(letter))[:100].strip() or otherwise


def _parsed(data: bytes | str) -> Any:
    """JSON within bounds of size and depth, without NaN and infinities."""
    if len(data) > BYTES:
        raise RecordingError(f"The file has {len(data):,} bytes; {BYTES:,} are allowed.")
    try:
        text = data if isinstance(data, str) else data.decode()
        if (depth := _depth(text)) > DEPTH:
            raise RecordingError(f"The file nests {depth} brackets; a recording nests 3.")
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
    except RecordingError:
        raise
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"The file is not JSON: {short(str(error), 120)}.") from None


def _depth(text: str) -> int:
    """How deep brackets nest outside of strings; a string that never ends ends the text, or each quote would look."""
    depth = deepest = 0
    for bracket in re.sub(r'(?s)"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', "", text):
        depth += (bracket in "[{") - (bracket in "]}")
        deepest = max(deepest, depth)
    return deepest


def _no_constant(name: str) -> Any:
    raise RecordingError(f"The file has the value {name}; a timing has numbers alone, or null where there is none.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
        raise RecordingError(f"The file names {short(twice)} twice in one object.")
    return found


def _check(where: str, name: str, value: Any) -> None:
    """Raises RecordingError unless the value is of the field's kind and within its bounds."""
    kind, _, optional = KINDS[name].partition(" | ")
    if value is None and optional:
        return
    if value is None or not _right(kind, value):
        raise RecordingError(f"{where}={short(value)} is not {WORDS[kind]}{' or null' if optional else ''}.")
    if kind == "str":
        _check_text(where, name, value)
    elif kind != "bool" and not _least(name) <= value <= GREATEST[kind]:
        raise RecordingError(f"{where}={short(value)} is not between {_least(name)} and {GREATEST[kind]:g}.")


def _right(kind: str, value: Any) -> bool:
    """Is the value of this kind? JSON tells no 1 from 1.0, so that a whole number is a number too."""
    types = {"str": str, "bool": bool, "int": int, "float": (int, float)}[kind]
    return isinstance(value, types) and (kind == "bool" or not isinstance(value, bool))


def _exact(name: str, value: Any) -> Any:
    """Numbers of a field that may have a fraction as such, however they were written."""
    return float(value) if KINDS[name].startswith("float") and value is not None else value


def _least(name: str) -> int:
    return 1 if name in POSITIVE else 0


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
    elif name != "error" and not (value and NAME.fullmatch(value)):
        raise RecordingError(f"{where}={short(value)} has characters that no name here has, or none at all.")


def _check_whole(where: str, found: Timing) -> None:
    """Raises RecordingError unless there are three times in order, or an error."""
    times = (found.lower, found.median, found.upper)
    if found.error is not None:
        if any(value is not None for value in times):
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

"""Writes and reads recordings: JSON with every digit, CSV for spreadsheets, and the files that ship with the app."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attention.array_files import bounded_json
from attention.array_files.bounded_json import JSONError
from attention.summary import short
from attention.timing.recordings.labels import labels
from attention.timing.recordings.schema import LONGEST, TRAVELS, RecordingError, from_row, row
from attention.timing.recordings.timing import Timing, name
from attention.timing.sweep import CASES

FORMAT = "attention timings 1"
BYTES = 4_500_000  # largest size of a file
WIDE = 1_000_000  # largest size of a file that is not ASCII: Python needs up to four bytes for each of its characters
ROWS = CASES  # most timings in a file: those of the largest sweep, which fit into `BYTES`
COMMAS = 40 * ROWS  # commas and opening brackets together: one for each of the 35 fields of a timing, and some in texts
NAMES = 100  # most distinct names in a file: a timing has 35
HERE = Path(__file__).parent


def write_recording(timings: Iterable[Timing]) -> str:
    """Returns the timings as the text of a file: JSON, one timing per line, every number with all its digits."""
    rows = (json.dumps(row(timing), allow_nan=False) for timing in timings)
    return f'{{"format": {json.dumps(FORMAT)}, "timings": [\n' + ",\n".join(rows) + "\n]}\n"


def table(timings: Iterable[Timing]) -> str:
    """Returns the timings as CSV with their labels; a cell that a spreadsheet would take for a formula is quoted."""
    found = [{"label": label, **row(timing)} for timing, label in labels(timings).items()]
    return sheet({name: [each[name] for each in found] for name in ("label", *(entry.name for entry in TRAVELS))})


def sheet(columns: Mapping[str, Sequence[Any]]) -> str:
    """Returns columns of equal length as CSV; a cell that a spreadsheet would take for a formula is quoted."""
    out = io.StringIO()
    lines = csv.writer(out)
    lines.writerow(columns)
    lines.writerows([_cell(value) for value in line] for line in zip(*columns.values(), strict=True))
    return out.getvalue()


def shipped_recordings(lost: list[str] | None = None) -> list[Timing]:
    """Returns the timings of all recordings in this folder, those of the same sizes by the same statistic.

    Unreadable files are appended to `lost` if it is given; otherwise the first one raises RecordingError or OSError.
    """
    found = []
    for path in sorted(HERE.glob("*.json")):
        try:
            found += read_recording(path.read_bytes(), path.name)
        except (RecordingError, OSError) as error:
            if lost is None:
                raise
            lost.append(f"{path.name}: {error.strerror if isinstance(error, OSError) else error}")
    return _by_one_statistic(found)


def _by_one_statistic(timings: list[Timing]) -> list[Timing]:
    """Times by medians what has the sizes of a stable timing without a minimum: like is compared with like."""

    def sizes(timing: Timing) -> tuple:
        heads = timing.heads, timing.d_head, timing.kv_heads
        return timing.passes, timing.batching, *heads, timing.queries, timing.window

    lacking = {sizes(timing) for timing in timings if timing.settled and timing.quickest is None}
    return [replace(timing, by_median=sizes(timing) in lacking) for timing in timings]


def read_recording(data: bytes | str, source: str) -> list[Timing]:
    """Returns the timings of a file, each marked as recorded in `source`; raises RecordingError, which names what is wrong."""
    found = _parse_json(data)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise RecordingError(
            f'This is not a recording: "format" is not {FORMAT!r}. python -m attention.timing writes one.'
        )
    rows = found.get("timings")
    if not isinstance(rows, list):
        raise RecordingError(f"timings={short(rows)} is not a list.")
    if len(rows) > ROWS:
        raise RecordingError(f"timings has {len(rows):,} entries; {ROWS:,} are allowed. Record fewer cases in a file.")
    found = [_mark_source(from_row(row, f"timings[{i}]"), source) for i, row in enumerate(rows)]
    _check_once(found)
    return found


def _mark_source(timing: Timing, source: str) -> Timing:
    """Sets a source that is never empty, because an empty source means that a timing was measured here."""
    file = name(source, "a file")
    return replace(timing, source=name(f"{file}, from {timing.source}", file, LONGEST) if timing.source else file)


def _check_once(timings: list[Timing]) -> None:
    """Raises RecordingError if two timings would be the same point of the same line."""
    seen: dict[tuple, int] = {}
    for i, timing in enumerate(timings):
        first = seen.setdefault((replace(timing.case, device=""), timing.origin), i)
        if first != i:
            raise RecordingError(
                f"timings[{i}] is the same case as timings[{first}], on a device of the same name and on the same day. "
                "Record them in two files."
            )


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _parse_json(data: bytes | str) -> Any:
    """Parses JSON of limited size; NaN and infinities are refused, naming their field."""
    if len(data) > BYTES:
        raise RecordingError(f"The file has {len(data):,} bytes; {BYTES:,} are allowed.")
    if len(data) > WIDE and not data.isascii():
        raise RecordingError(
            f"The file has {len(data):,} bytes, not all of them ASCII; {WIDE:,} are allowed then. Write other characters as JSON "
            "escapes, as json.dump does."
        )
    try:
        text = (data if isinstance(data, str) else data.decode()).removeprefix("\ufeff")  # a byte order mark
        return bounded_json.parse(text, COMMAS, NAMES)
    except JSONError as error:
        raise RecordingError(f"The file has {error}; a recording must not.") from None
    except UnicodeDecodeError:
        raise RecordingError("The file is not JSON: it is not UTF-8 text.") from None
    except ValueError as error:
        raise RecordingError(f"The file is not JSON: {short(str(error), 120)}.") from None

"""What a browser sends of its measurement, checked like a recording: it is untrusted input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from attention.config import short
from attention.timing import stopwatch
from attention.timing.recordings import RecordingError, Timing, from_row, name
from attention.timing.recordings.timing import BROWSER, JAVASCRIPT, WEBGPU
from attention.timing.stopwatch import NEAR
from attention.timing.webgpu.plan import SENT

ROWS, TIMES = 200, 50  # of a message at most
FUSED, MATERIALISED = "WebGPU fused", "WebGPU materialised"
HOWS = {
    "fused": FUSED,
    "decode": FUSED,
    "materialised": MATERIALISED,
    "materialised decode": MATERIALISED,
    JAVASCRIPT: JAVASCRIPT,
}
NAMELESS = "a GPU without a name"


@dataclass(frozen=True)
class Measurement:
    """A measurement of a browser: its timings, and what else is said about it.

    `setting`: mask and d_head of the picture. `rate`: operations a second of a loop of fused multiply-adds, 0 if it
    was not measured. `wrong`: kernels that did not agree with the exact result and were not timed. `difference`:
    the largest one of the others in float32. `stamped`: whether the GPU's own timestamps were used. `unbegun`:
    cases that were left out for lack of time. `ended`: why it ended early, empty if it did not.
    """

    device: str
    setting: tuple[str, str]
    timings: list[Timing] = field(default_factory=list)
    rate: float = 0.0
    tile: str = ""
    wrong: tuple[str, ...] = ()
    difference: float = 0.0
    stamped: bool = True
    unbegun: int = 0
    ended: str = ""

    @property
    def gpu(self) -> list[Timing]:
        """The timings of the GPU."""
        return [timing for timing in self.timings if timing.device == WEBGPU]

    @property
    def processor(self) -> Timing | None:
        """The timing of the visitor's processor: one head in JavaScript."""
        return next((timing for timing in self.timings if timing.implementation == JAVASCRIPT), None)


def read_message(message: Any) -> Measurement:
    """Returns the measurement of a message from the browser; raises RecordingError, which names what is wrong."""
    if not isinstance(message, dict) or not isinstance(message.get("rows"), list):
        raise RecordingError(f"message={short(message)} has no list of rows.")
    if not 0 < len(message["rows"]) <= ROWS:
        raise RecordingError(f"rows has {len(message['rows'])} entries; 1 to {ROWS} are allowed.")
    device = name(_text(message, "device"), NAMELESS)
    about = {
        "device_name": device,
        "system": name(_text(message, "browser"), "a browser"),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "peak_operations": _number(message, "rate") or None,
    }
    return Measurement(
        device,
        (_text(message, "mask"), f"{_number(message, 'd_head'):.0f}"),
        [_timing(row, about, f"rows[{at}]") for at, row in enumerate(message["rows"])],
        _number(message, "rate"),
        _text(message, "tile"),
        tuple(_text({"wrong": each}, "wrong") for each in _list(message, "wrong")[:20]),
        _number(message, "difference"),
        message.get("stamped") is True,
        int(min(_number(message, "unbegun"), ROWS)),
        _text(message, "ended"),
    )


def _timing(row: Any, about: dict[str, Any], where: str) -> Timing:
    """Returns the timing of a row; all that a recording checks is checked."""
    if not isinstance(row, dict) or not isinstance(row.get("case"), dict) or row.get("how") not in HOWS:
        raise RecordingError(f"{where}={short(row)} is not a timed case.")
    sizes = {name: row["case"].get(name) for name in SENT}
    processor = row["how"] == JAVASCRIPT
    moves = _list(row, "moves")
    found = {
        "implementation": HOWS[row["how"]],
        "device": "cpu" if processor else WEBGPU,
        "dtype": row.get("dtype"),
        "passes": "forward",
        "torch": "none",
        "precision": "float32 sums",
        "threads": 1,
        **sizes,
        **about,
        "first": None,
        "to_device": moves[0] if len(moves) == 2 else 0.0,
        "from_device": moves[1] if len(moves) == 2 else 0.0,
        "peak_bytes": None,
        "operations": 0.0,
        "traffic": 0.0,
        "peak_traffic": None,
        "source": BROWSER,
        **_spread(_list(row, "times"), _text(row, "error"), where),
    }
    if processor:
        found |= {"device_name": "processor of the browser", "peak_operations": None}
    return _with_counts(from_row(found, where))


def _spread(times: list[Any], error: str, where: str) -> dict[str, Any]:
    """The fields of the times of a row, each of which was a visit, or of its error."""
    nothing = dict.fromkeys(("median", "lower", "upper", "quickest", "repeated"))
    if error or not times:
        return {**nothing, "repeats": 0, "settled": False, "error": error or "not timed"}
    if len(times) > TIMES or not all(isinstance(x, (int, float)) and not isinstance(x, bool) and x > 0 for x in times):
        raise RecordingError(f"{where}.times={short(times)} are not {TIMES} times above 0 at most.")
    found = stopwatch.spread([float(x) for x in times])
    ordered = sorted(times)
    repeated = float(ordered[2]) if len(times) > 2 else None
    return {
        "median": found.median,
        "lower": found.lower,
        "upper": found.upper,
        "quickest": found.quickest,
        "repeated": repeated,
        "repeats": len(times),
        "visits": len(times),
        "quiet": len(times),
        "settled": repeated is not None and repeated <= (1 + NEAR) * ordered[0],
        "error": None,
    }


def _with_counts(timing: Timing) -> Timing:
    """The timing with its operations and its least traffic: every number of queries, keys, values and output once.

    The materialised kernels compute all pairs, the others those that are visible.
    """
    visible, channels = timing.visible, timing.batch * timing.d_head
    pairs = visible.queries * timing.length if timing.implementation == MATERIALISED else visible.pairs
    vectors = timing.heads * visible.queries + timing.key_heads * visible.keys_read
    moved = 2.0 * channels * vectors * (2 if timing.dtype == "float16" else 4)
    return replace(timing, operations=4.0 * channels * timing.heads * pairs, traffic=moved)


def _text(message: dict[str, Any], key: str) -> str:
    value = message.get(key, "")
    if not isinstance(value, str):
        raise RecordingError(f"{key}={short(value)} is not text.")
    return "".join(letter for letter in value[:300] if letter.isprintable())


def _number(message: dict[str, Any], key: str) -> float:
    value = message.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e30:
        raise RecordingError(f"{key}={short(value)} is not a number from 0 on.")
    return float(value)


def _list(message: dict[str, Any], key: str) -> list[Any]:
    value = message.get(key, [])
    if not isinstance(value, list):
        raise RecordingError(f"{key}={short(value)} is not a list.")
    return value

"""The look of a line of CPU against GPU, the same in every chart: the colour and the mark are the device.

A recorded CPU, this server's CPU, a GPU alone, a GPU with the copy and the visitor's own GPU have the colours and marks of
`timing_look`. Other GPUs have further colours. Published figures are dotted, with marks of thin strokes and colours that no
timing has. A time that is not stable is an open mark on a dotted line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attention.charts.theme import HIDDEN
from attention.charts.timing_look import BROWSER, BROWSER_SYMBOLS, COPY, CPU, GPU, OTHERS, PAPERS, THIS_CPU
from attention.timing.cpu_gpu_series import FROM_BROWSER, IN_BROWSER, MEASURED, PUBLISHED, TimingSeries
from attention.timing.cpu_gpu_settings import METHODS

THIN = ("asterisk", "cross-thin", "x-thin", "y-up", "y-down", "hash", "line-ns", "y-left", "y-right")
MARKS = ("triangle-down", "pentagon", "hourglass", "bowtie")  # of other GPUs that were timed
COPIED = "7px,3px,1px,3px"  # where the colour does not say that the copy is included; fits twice into a legend entry
PUBLISHED_DASH = "dot"


def look(series: TimingSeries, gpus: Sequence[TimingSeries], copied: bool = False) -> dict[str, Any]:
    """Returns the colour, dash and mark of a line among those of these GPUs, which do not include a CPU."""
    if series.kind == PUBLISHED:
        symbol = f"{THIN[METHODS.index(series.method)]}-open"
        dash = COPIED if copied else PUBLISHED_DASH
        return {"color": PAPERS.get(series.device, HIDDEN), "dash": dash, "symbol": symbol}
    if series not in gpus:
        return _style(THIS_CPU if series.kind == MEASURED else CPU)
    browsers = [gpu for gpu in gpus if gpu.kind in (IN_BROWSER, FROM_BROWSER)]
    if series in browsers:
        symbol = BROWSER_SYMBOLS[(2 * browsers.index(series) + copied) % len(BROWSER_SYMBOLS)]
        return _style((BROWSER[0], symbol)) | ({"dash": COPIED} if copied else {})
    at = [gpu for gpu in gpus if gpu.kind != PUBLISHED and gpu not in browsers].index(series)
    if at == 0:
        return _style(COPY if copied else GPU)
    other = OTHERS[(at - 1) % len(OTHERS)], MARKS[(at - 1) % len(MARKS)]
    return _style(other) | ({"dash": COPIED} if copied else {})


def _style(style: tuple[str, str]) -> dict[str, Any]:
    color, symbol = style
    return {"color": color, "dash": "solid", "symbol": symbol}

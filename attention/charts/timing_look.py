"""Colours, marks and dashes of timings, the same in every chart.

The colour and the mark are the device: a recorded CPU, this server's CPU, a GPU alone, a GPU with the copy, or the visitor's own
GPU. Further devices, and further settings of a device (dtype, mask, pass, sizes), have colours and marks of their own: shapes are
distinguishable on paper and for colour-blind readers. The dash is the implementation. An open mark that no line joins is a time
that is not stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from attention.charts import theme
from attention.timing import comparison
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.line_names import line_names
from attention.timing.recordings import Timing
from attention.timing.recordings.timing import BROWSER as BROWSER_SOURCE

Style = tuple[str, str]  # a colour and a mark
CPU: Style = (theme.HEADS[0], "circle")
THIS_CPU: Style = ("#c2318a", "triangle-up")  # measured on this server
GPU: Style = (theme.HEADS[2], "square")  # without the copy
COPY: Style = (theme.HEADS[5], "diamond")  # a GPU with the copy
RETURN_COLOR = theme.HEADS[1]  # the part of the copy that brings the results back
BROWSER: Style = ("#8560e0", "star")  # the visitor's own GPU, measured in a browser
FIRST_SYMBOLS = {symbol for _, symbol in (CPU, THIS_CPU, GPU, COPY, BROWSER)}
# Of further devices, and of further settings of a device.
OTHERS = ("#d0506e", "#a6761d", "#17a2b8", "#66a61e", "#bc6c25", "#3a86a8", "#7a9e9f", "#8a8a8a")
# fmt: off
SYMBOLS = (
    "circle", "diamond", "square", "triangle-up", "cross", "x", "triangle-down", "hourglass", "pentagon", "bowtie",
    "triangle-left", "triangle-right", "star-triangle-up", "diamond-tall", "star-square", "diamond-wide", "hexagram",
    "star-diamond", "triangle-ne", "star-triangle-down", "triangle-sw", "triangle-nw", "hexagon", "triangle-se",
)
# fmt: on
PAPERS = {"H100": "#b34d9a", "A100": "#808000", "H200": "#6f7ad6"}  # distinct from timed ones, visible on both grounds
SHEETS = PAPERS | {"T4": "#767b86", "L4": "#7d6f64", "RTX 4090": "#2a9d8f"}
ROOFS = ("solid", "dash", "dot", "dashdot")  # dashes of limits, which are grey
BROWSER_SYMBOLS = ("star", "hexagram", "star-diamond", "star-square", "star-triangle-up", "star-triangle-down")
FIRST_DASHES = {"SDPA": "solid", "matmul softmax matmul": "dash", "core with weights": "dot", "SDPA math": "dashdot"}
MORE_DASHES = ("longdash", "longdashdot", *(f"{long}px,{gap}px" for gap in (2, 5, 8) for long in (2, 5, 9, 14, 20, 28)))
Kind = tuple[str | int, ...]


def symbols_from(first: str) -> tuple[str, ...]:
    """Returns all symbols, beginning with this one; those of other kinds of devices come last."""
    others = [symbol for symbol in SYMBOLS if symbol != first]
    return first, *sorted(others, key=lambda symbol: symbol in FIRST_SYMBOLS)


def dashes() -> dict[str, str]:
    """Returns the dash of each implementation."""
    others = (name for name in IMPLEMENTATIONS if name not in FIRST_DASHES)
    return FIRST_DASHES | dict(zip(others, MORE_DASHES, strict=False))


def open_symbol(symbol: str) -> str:
    """Returns the open form of a symbol, which marks times that are not stable."""
    base, dot, _ = symbol.partition("-dot")
    return f"{base}-open{dot}"


def kind(timing: Timing) -> Kind:
    """Returns the meaning of a symbol: the device, and all of the case except implementation and length."""
    return timing.origin, *comparison.setting(timing)


@dataclass(frozen=True)
class Look:
    """The style of the lines of a figure, equal in every chart of the same timings; its kinds in their order, by style.

    `names`: the short name of each line by its label. `copied`: whether the times of a GPU include the copy. `has_recorded`:
    whether a timing was recorded.
    """

    kinds: tuple[tuple[Kind, ...], ...]
    names: Mapping[str, str] = field(default_factory=dict)
    copied: bool = False
    has_recorded: bool = False

    @classmethod
    def of(cls, timings: Iterable[Timing], copied: bool = False) -> Look:
        """Returns the style of a figure of these timings."""
        timings = list(timings)
        groups = [[timing for timing in timings if _group(timing) == group] for group in range(len(STYLES))]
        kinds = tuple(tuple(dict.fromkeys(map(kind, group))) for group in groups)
        return cls(kinds, line_names(timings), copied, any(timing.source for timing in timings))

    def color(self, timing: Timing) -> str:
        group = _group(timing)
        further = [each for at, found in enumerate(self.kinds) if STYLES[at] is not BROWSER for each in found[1:]]
        if kind(timing) not in further:
            return self._style(group)[0]
        return OTHERS[further.index(kind(timing)) % len(OTHERS)]

    def shape(self, timing: Timing) -> str:
        group = _group(timing)
        at = self.kinds[group].index(kind(timing))
        if STYLES[group] is BROWSER:
            symbol = BROWSER_SYMBOLS[at % len(BROWSER_SYMBOLS)]
            return symbol if timing.implementation.endswith("fused") else f"{symbol}-dot"
        return symbols_from(self._style(group)[1])[at % len(SYMBOLS)]

    def dash(self, timing: Timing) -> str:
        return dashes().get(comparison.ALIKE.get(timing.implementation, timing.implementation), MORE_DASHES[-1])

    def is_own(self, timing: Timing) -> bool:
        """Whether a timing was measured now and others were not: its line stands out."""
        return self.has_recorded and timing.source in ("", BROWSER_SOURCE)

    def _style(self, group: int) -> Style:
        return COPY if self.copied and STYLES[group] is GPU else STYLES[group]


STYLES = CPU, THIS_CPU, GPU, BROWSER


def _group(timing: Timing) -> int:
    """The place of the style of a timing in `STYLES`."""
    if timing.is_from_browser:
        return STYLES.index(BROWSER)
    if timing.device != "cpu":
        return STYLES.index(GPU)
    return STYLES.index(CPU if timing.source else THIS_CPU)

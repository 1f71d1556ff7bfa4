"""Colours, symbols and dashes of lines of timings.

The colour is the implementation. The symbol is the device, combined with dtype, mask, pass and sizes if these differ:
shapes, unlike shades, are distinguishable on paper and for colour-blind readers. A dashed line was recorded. Long
strokes, stars and a colour of their own were measured in a browser, with wide gaps between the strokes if they were
recorded. An open, faint mark that no line joins is a time that is not stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from attention.charts import theme
from attention.timing import comparison
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.line_names import line_names
from attention.timing.recordings import Timing
from attention.timing.recordings.timing import BROWSER

MORE = (
    "#a6761d",
    "#17becf",
    "#e7298a",
    "#66a61e",
    "#ff7f7f",
    "#8a8a8a",
    "#9467bd",
    "#bc6c25",
    "#3a86a8",
    "#c9184a",
    "#52b788",
)
COLORS = (*theme.HEADS, *MORE, "#f72585", "#b5838d", "#4a4e9a", "#7a9e9f")
# fmt: off
SYMBOLS = (
    "circle", "diamond", "square", "triangle-up", "cross", "x", "triangle-down", "hourglass", "pentagon", "bowtie",
    "triangle-left", "triangle-right", "star-triangle-up", "diamond-tall", "star-square", "diamond-wide", "hexagram",
    "star-diamond", "triangle-ne", "star-triangle-down", "triangle-sw", "triangle-nw", "hexagon", "triangle-se",
)
# fmt: on
ROUND, POINTED = (SYMBOLS[0], *SYMBOLS[2::2]), SYMBOLS[1::2]
FOR_CPU, FOR_GPU = (
    (*ROUND, *reversed(POINTED)),
    (*POINTED, *reversed(ROUND)),
)  # a CPU's first is a circle, a GPU's a diamond
PAPERS = {"H100": "#b34d9a", "A100": "#808000", "H200": "#6f7ad6"}  # distinct from COLORS, visible on both backgrounds
SHEETS = PAPERS | {"T4": "#767b86", "L4": "#7d6f64", "RTX 4090": "#2a9d8f"}
BROWSER_COLOR, BROWSER_DASH, BROWSER_RECORDED_DASH = "#c77700", "14px,3px", "14px,10px"  # measured in a browser
BROWSER_SYMBOLS = ("star", "hexagram", "star-diamond", "star-square", "star-triangle-up", "star-triangle-down")
Kind = tuple[str | int, ...]


def open_symbol(symbol: str) -> str:
    """Returns the open form of a symbol, which marks times that are not stable."""
    base, dot, _ = symbol.partition("-dot")
    return f"{base}-open{dot}"


def kind(timing: Timing) -> Kind:
    """Returns the meaning of a symbol: the device, and all of the case except implementation and length."""
    return timing.origin, *comparison.setting(timing)


@dataclass(frozen=True)
class Look:
    """The style of the lines of a figure, equal in every chart of the same timings; its kinds in the order of symbols.

    `names`: the short name of each line by its label.
    """

    cpu_kinds: tuple[Kind, ...]
    gpu_kinds: tuple[Kind, ...]
    browser_kinds: tuple[Kind, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, timings: Iterable[Timing]) -> Look:
        """Returns the style of a figure of these timings."""
        timings = list(timings)
        browser = (kind(timing) for timing in timings if timing.is_from_browser)
        ordered = sorted(timings, key=lambda timing: not timing.source)  # a recorded one keeps its symbol beside others
        cpus, gpus = (
            dict.fromkeys(kind(t) for t in ordered if (t.device == "cpu") is is_cpu) for is_cpu in (True, False)
        )
        return cls(tuple(cpus), tuple(gpus), tuple(dict.fromkeys(browser)), line_names(timings))

    def color(self, timing: Timing) -> str:
        if timing.is_from_browser:
            return BROWSER_COLOR
        names = list(IMPLEMENTATIONS)
        at = names.index(timing.implementation) if timing.implementation in names else len(names)
        return COLORS[at % len(COLORS)]

    def shape(self, timing: Timing) -> str:
        if timing.is_from_browser:
            symbol = BROWSER_SYMBOLS[self.browser_kinds.index(kind(timing)) % len(BROWSER_SYMBOLS)]
            return symbol if timing.implementation.endswith("fused") else f"{symbol}-dot"
        symbols, kinds = (FOR_CPU, self.cpu_kinds) if timing.device == "cpu" else (FOR_GPU, self.gpu_kinds)
        return symbols[kinds.index(kind(timing)) % len(symbols)]

    def dash(self, timing: Timing) -> str:
        if timing.is_from_browser:
            return BROWSER_DASH if timing.source == BROWSER else BROWSER_RECORDED_DASH
        return "dash" if timing.source else "solid"

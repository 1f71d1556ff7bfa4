"""Colours, marks and dashes of timings, the same in every chart.

The colour and the mark are the device: a recorded CPU, this server's CPU, a GPU alone, a GPU with the copy, or the visitor's own
GPU. Further settings of a device (dtype, mask, pass, sizes) and further implementations have marks of their own, and colours near
that of the device; further devices have other colours. Shapes are distinguishable on paper and for colour-blind readers. Usual
settings keep theirs when others are added. The dash is the implementation. In a chart of more lines than can be named at their
ends, only those that a chart begins with keep all this: the others are pale and thin, in the colour of their device, and named
in their tooltips. An open mark that no line joins is a time that is not stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from attention.charts import theme
from attention.charts.line_ends import MOST
from attention.timing import comparison
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.line_choice import named_lines, slowest_lines
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
# Of further settings and implementations of a device, near its colour: blue for a CPU, green for a GPU.
TONES: dict[Style, tuple[str, ...]] = {
    CPU: ("#3d8fe0", "#7468d6", "#a36fd9", "#2f86a6", "#5b7fa8"),
    GPU: ("#7a9a00", "#00838f", "#a3761c", "#4f9a5b", "#5f8f8a"),
}
# Of further devices, and where a device has more lines than tones.
OTHERS = ("#d0506e", "#a6761d", "#17a2b8", "#66a61e", "#bc6c25", "#3a86a8", "#7a9e9f", "#8a8a8a")
# fmt: off
SYMBOLS = (
    "circle", "diamond", "square", "triangle-up", "cross", "x", "triangle-down", "pentagon", "hexagon", "hourglass", "bowtie",
    "triangle-left", "triangle-right", "star-triangle-up", "diamond-tall", "star-square", "diamond-wide", "hexagram",
    "star-diamond", "triangle-ne", "star-triangle-down", "triangle-sw", "triangle-nw", "triangle-se",
)
# fmt: on
PAPERS = {"H100": "#b34d9a", "A100": "#808000", "H200": "#6f7ad6"}  # distinct from timed ones, visible on both grounds
SHEETS = PAPERS | {"T4": "#767b86", "L4": "#7d6f64", "RTX 4090": "#2a9d8f"}
ROOFS = ("solid", "dash", "dot", "dashdot")  # dashes of limits, which are grey
BROWSER_SYMBOLS = ("star", "hexagram", "star-diamond", "star-square", "star-triangle-up", "star-triangle-down")
FIRST_DASHES = {
    "SDPA": "solid",
    "matmul softmax matmul": "dash",
    "core with weights": "longdash",
    "SDPA math": "dashdot",
}
MORE_DASHES = ("longdashdot", *(f"{long}px,{gap}px" for gap in (2, 5, 8) for long in (2, 5, 9, 14, 20, 28)))
USUAL = {  # the places of settings besides the first among colours and marks, so that they stay when others are added
    ("float32", "causal"): 1,
    ("bfloat16", "full"): 2,
    ("bfloat16", "causal"): 3,
    ("float16", "full"): 4,
    ("float16", "causal"): 5,
}
IMPLEMENTATION_PLACES = {  # the same for implementations besides the first, of a CPU, a CPU of this server and a GPU
    name: (4 + at, 7 + at, 1 + at)
    for at, name in enumerate(("matmul softmax matmul", "core with weights", "SDPA math"))
}
WIDTH, SIZE = 2, 8  # pixels of a line and of its marks
PALE_WIDTH, PALE_SIZE, PALE = 1, 5, 0.4  # the same of a line that is not named, and its opacity
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
    """Returns the line of a timing: the device, the implementation, and all of the case except the length."""
    return timing.origin, *comparison.kind(timing)


@dataclass(frozen=True)
class Look:
    """The style of the lines of a figure, equal in every chart of the same timings.

    `places`: of each line among the colours and marks, 0 for those of its style; a line without a place is pale.
    `extremes`: the pale lines that are named all the same. `names`: the short name of each line by its label. `copied`: whether
    the times of a GPU include the copy. `has_recorded`: whether a timing was recorded.
    """

    places: Mapping[Kind, int]
    extremes: frozenset[Kind] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    copied: bool = False
    has_recorded: bool = False

    @classmethod
    def of(cls, timings: Iterable[Timing], copied: bool = False, chart: str = "time") -> Look:
        """Returns the style of a figure of these timings; `chart` as in `usual_lines`."""
        timings = list(timings)
        named, extremes = named_lines(timings, chart, MOST), frozenset[Kind]()
        if chart == "time" and len(named) < len(timings):
            extremes = frozenset(map(kind, slowest_lines(timings)))
        places = _places(named)
        extremes = extremes if len(extremes | set(places)) <= MOST else frozenset()
        is_recorded = any(timing.source for timing in timings)
        return cls(places, extremes, line_names(timings), copied, is_recorded)

    def is_pale(self, timing: Timing) -> bool:
        """Whether a line is one of many that are not told apart by colours and marks."""
        return kind(timing) not in self.places

    def is_named(self, timing: Timing) -> bool:
        """Whether a line has its name at its end."""
        return not self.is_pale(timing) or kind(timing) in self.extremes

    def color(self, timing: Timing) -> str:
        place = self.places.get(kind(timing), 0)
        style = self._style(_group(timing))
        tones = TONES.get(style, ()) if timing.origin in self._first_devices else ()
        more = (*tones, *OTHERS)
        color = style[0] if place == 0 or timing.is_from_browser else more[(place - 1) % len(more)]
        return theme.transparent(color, PALE) if self.is_pale(timing) else color

    def shape(self, timing: Timing) -> str:
        place = self.places.get(kind(timing), 0)
        if timing.is_from_browser:
            symbol = BROWSER_SYMBOLS[place % len(BROWSER_SYMBOLS)]
            return symbol if timing.implementation.endswith("fused") else f"{symbol}-dot"
        return symbols_from(self._style(_group(timing))[1])[place % len(SYMBOLS)]

    def width(self, timing: Timing) -> int:
        """Pixels of a line."""
        return PALE_WIDTH if self.is_pale(timing) else WIDTH + self.is_own(timing)

    def size(self, timing: Timing) -> int:
        """Pixels of its marks."""
        return PALE_SIZE if self.is_pale(timing) else SIZE + 3 * self.is_own(timing)

    def dash(self, timing: Timing) -> str:
        if self.is_pale(timing):
            return "solid"
        return dashes().get(comparison.ALIKE.get(timing.implementation, timing.implementation), MORE_DASHES[-1])

    def is_own(self, timing: Timing) -> bool:
        """Whether a timing was measured now and others were not: its line stands out."""
        return self.has_recorded and timing.source in ("", BROWSER_SOURCE)

    @property
    def _first_devices(self) -> set[str | int]:
        """The first device of each style."""
        return {of[0] for of, place in self.places.items() if place == 0}

    def _style(self, group: int) -> Style:
        return COPY if self.copied and STYLES[group] is GPU else STYLES[group]


STYLES = CPU, THIS_CPU, GPU, BROWSER


def _places(timings: list[Timing]) -> dict[Kind, int]:
    """The place of each line among the colours and marks: 0 for the first of a style, and those of `USUAL` if they are free."""
    every: dict[Kind, int] = {}
    for group in range(len(STYLES)):
        found: dict[Kind, int] = {}
        kinds = {kind(timing): timing for timing in reversed(timings) if _group(timing) == group}
        first = next((comparison.setting(timing) for timing in reversed(kinds.values())), None)
        for at, (of, timing) in enumerate(reversed(kinds.items())):
            if at == 0 or timing.is_from_browser:
                found[of] = at
                continue
            setting = comparison.setting(timing)
            usual = USUAL.get((timing.dtype, timing.mask), len(USUAL) + 1)
            if setting == first:
                usual = IMPLEMENTATION_PLACES.get(timing.implementation, (1,) * len(STYLES))[group]
            free = [place for place in range(1, len(SYMBOLS)) if place not in found.values()]
            found[of] = next((place for place in free if place >= usual), free[0] if free else len(found))
        every |= found
    return every


def _group(timing: Timing) -> int:
    """The place of the style of a timing in `STYLES`."""
    if timing.is_from_browser:
        return STYLES.index(BROWSER)
    if timing.device != "cpu":
        return STYLES.index(GPU)
    return STYLES.index(CPU if timing.source else THIS_CPU)

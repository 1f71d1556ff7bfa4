"""How a line of timings looks: what its colour, its symbol and its dashes say.

A colour is an implementation. A symbol is a device, and where dtype, mask, pass or sizes differ as well, one of these on
a device: shapes, unlike shades, are told apart by every eye and on paper. A dashed line was recorded. An open, faint mark that
no line joins did not settle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attention.charts import theme
from attention.timing import comparison
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.recordings import Timing

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
COLORS = (*theme.HEADS, *MORE, "#f72585", "#b5838d")
# fmt: off
SYMBOLS = (
    "circle", "diamond", "square", "triangle-up", "cross", "x", "triangle-down", "hourglass", "pentagon", "bowtie",
    "triangle-left", "triangle-right", "star-triangle-up", "diamond-tall", "star-square", "diamond-wide", "hexagram",
    "star-diamond", "triangle-ne", "star-triangle-down", "triangle-sw", "triangle-nw", "hexagon", "triangle-se",
)
# fmt: on
Kind = tuple[str | int, ...]


def kind(timing: Timing) -> Kind:
    """What a symbol stands for: the device, and all of the case but implementation and length."""
    return timing.origin, *(getattr(timing, name) for name in comparison.SETTING)


@dataclass(frozen=True)
class Look:
    """How the lines of a figure look, the same in every chart of the same timings; `kinds` in the order of symbols."""

    kinds: tuple[Kind, ...]

    @classmethod
    def of(cls, timings: Iterable[Timing]) -> Look:
        """The look of a figure of these timings."""
        return cls(tuple(dict.fromkeys(map(kind, timings))))

    def color(self, timing: Timing) -> str:
        names = list(IMPLEMENTATIONS)
        at = names.index(timing.implementation) if timing.implementation in names else len(names)
        return COLORS[at % len(COLORS)]

    def shape(self, timing: Timing) -> str:
        return SYMBOLS[self.kinds.index(kind(timing)) % len(SYMBOLS)]

    def dash(self, timing: Timing) -> str:
        return "dash" if timing.source else "solid"

    def legend_label(self, label: str, timing: Timing) -> str:
        """What a legend calls a line: where all were recorded at one place, which its head says, the word is enough."""
        alone = len({origin for origin, *_ in self.kinds}) == 1
        return label.replace(f" · {timing.origin}", " · recorded") if alone and timing.source else label

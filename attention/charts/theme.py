"""Sizes, scales and colours of all charts. A colour has the same meaning in each of them.

Weights: one hue, orange, from the background of the page, which is zero, evenly in lightness (L*): on a light page a larger
weight is darker, on a dark one brighter. There the first tenth has a fuller colour, as dark shades are hard to tell apart.
The middle of "times even" is the uniform weight. Negative weights are as light as positive ones, in teal.
Masked cells: a hatch of neutral greys, never a colour of the map. The selected query is blue and solid, a key is green and
dashed; neither is a colour of the map. Heads have their own colours.
Head statistics have a map of one hue, olive, distances between heads one of another, steel: from the background, white or
dark, to the full colour. The blue frame of a selection is visible on both.
The kinds of keys that heads attend to have pale colours of their own, with a word in each cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# fmt: off
WEIGHTS = {  # 10 each, as many as a theme of Streamlit has (.streamlit/config.toml); the first is the page's background
    "light": ("#ffffff", "#ffe3ce", "#fec5a4", "#faa77e", "#f48855", "#eb6824", "#ce551d", "#b14316", "#95310f", "#7a1f08"),
    "dark": ("#14171c", "#4d210f", "#6f2e15", "#923c19", "#b84a1c", "#d46227", "#ef7b38", "#f79d69", "#fcbf94", "#ffe0bf"),
}
NEGATIVE = {  # as light as the weights of the same size
    "light": ("#ffffff", "#ceeef1", "#a9dadf", "#86c5cc", "#60b1ba", "#319da8", "#088894", "#05717d", "#025c68", "#014753"),
    "dark": ("#14171c", "#033339", "#024951", "#0c6068", "#0c7881", "#12919b", "#2eaab5", "#67c0c9", "#92d7dd", "#bceef3"),
}
# fmt: on
SIGNED = {page: (*reversed(NEGATIVE[page][1:]), *WEIGHTS[page]) for page in WEIGHTS}  # zero is in the middle
LOG_FLOOR = 1e-4  # the smallest weight that the logarithmic scale distinguishes from zero
TIMES = 100  # the scale of weights relative to the uniform weight goes from 1 / TIMES to TIMES

QUERY = "#0b84f3"
KEY = "#12b886"

# After Okabe and Ito 2008, without their black, in an order with distinct neighbours; from head 8 on they repeat.
HEADS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f7ee7", "#b8a800")

NEUTRALS = {
    "light": {"text": "#1f2430", "muted": "#5b6270", "line": "#c4c8d0", "masked": "#d9dbe0", "hatch": "#f1f2f4"},
    "dark": {"text": "#eceef2", "muted": "#a2a9b6", "line": "#3b404a", "masked": "#3a3c42", "hatch": "#2a2c31"},
}

# Placeholders in Plotly charts, which the browser replaces by colours of the theme of the page: its darkest or lightest grey,
# and `chartSequentialColors` and `chartDivergingColors` of .streamlit/config.toml, which are `WEIGHTS` and `SIGNED`.
PLOTLY_TEXT = "#000037"
PLOTLY_WEIGHTS = tuple(f"#0000{at}" for at in range(11, 21))
PLOTLY_SIGNED = (*(f"#0000{at}" for at in range(21, 26)), PLOTLY_WEIGHTS[0], *(f"#0000{at}" for at in range(26, 31)))
HIDDEN = "#858b97"  # masked values and bounds in charts; a grey that is legible in both themes
RAW, DIVIDED = ("#c8553d", "#1a9e8f")  # dot products without scaling, and divided by the square root of d_head
BROKEN = "#d6336c"  # not a finite number
LESS, MORE = ("#b8651b", "#0f8f82")  # a difference below and above zero; zero is the background, in either theme
KEPT = "#a3a7ad"  # a pair that two masks keep
ONE_SIDE = "#8a63d2"  # stripes on pairs that one side of a comparison masks
OLIVE, STEEL = (90, 132, 18), (95, 125, 149)  # as far from white as from the dark background
STRONGEST = 0.75  # opacity of the largest difference, on which the text of the page can be read in either theme
OPACITIES = (
    0,
    0.4,
    0.84,
)  # of head statistics at zero, in the middle and at the end of the scale: these differ clearly on a dark page, too
NUMBERS = tuple(f"rgba{(*OLIVE, alpha)}" for alpha in OPACITIES)
DISTANCES = tuple(f"rgba{(*STEEL, alpha)}" for alpha in (1, 0))  # near heads have the full colour
KINDS = {  # of keys that a head attends to, with their opacity, by the first word of its role; "two": any other number back
    "one": ("#0072b2", 0.5),
    "two": ("#56b4e9", 0.4),
    "next": ("#2eaab5", 0.4),
    "induction": ("#d55e00", 0.6),
    "first": ("#858b97", 0.4),
    "itself": ("#cc79a7", 0.45),
    "same": ("#e69f00", 0.5),
    "nearby": ("#009e73", 0.25),
    "uniform": ("#8f7ee7", 0.3),
    "random": ("#b8a800", 0.35),
}
INFLUENCE = {  # of one hue, unlike that of weights; the smallest is no background, which zeros have
    "light": ("#e4defa", "#bdb0f2", "#9180e3", "#6741ca", "#402584"),
    "dark": ("#2a1b57", "#402584", "#6741ca", "#8d75eb", "#b6abf9"),
}
LEAKS = {  # the influence of what is masked
    "light": ("#ffdfb8", "#f9b76e", "#e8892b", "#b8600c", "#7a3c04"),
    "dark": ("#7a3c04", "#a85608", "#d4720f", "#f39a3d", "#ffc98f"),
}

LOOK = {  # the colours of every grid of heads, in the browser's names
    "floor": LOG_FLOOR,
    "times": TIMES,
    "ramps": WEIGHTS,
    "accents": {"query": QUERY, "key": KEY},
    "head_colors": HEADS,
    "neutrals": NEUTRALS,
}

LOGARITHMIC = ("log", "times even")  # colour scales
GRID_HEIGHT = 470
FOCUS_HEIGHT = 520
PART = 384  # maximum number of cells per side of a part of a long head: about as many as its pixels
ROW_HEIGHT = 150
LINES_HEIGHT = 520  # maximum height of words with lines; longer ones scroll
STEP_HEIGHT = 88  # one of several steps of a row over the same keys
CURVE_HEIGHT = 160
MASS_HEIGHT = 220  # at which the labels of 90 and 99 % are a line apart
SMALL_HEIGHT = 270  # one of several heatmaps next to each other
NARROW_HEIGHT = 360  # a heatmap in half of the page, with its colour bar below
LESSON_HEIGHT = 320


def grid_header(painted: str, head: int, query: int, colors: str, **more: Any) -> dict[str, Any]:
    """Returns the header of a grid of heads: everything but its cells, by the keys that browser/message.js lists.

    `painted`: identifies the picture. `more`: other keys, and those whose value is not the usual one.
    """
    usual = {"height": GRID_HEIGHT, "note": "", "why": "", "pool": "max", "group": 1}
    focus = {"head": head, "query": query}
    return LOOK | usual | {"painted": painted, "focus": focus, "colors": colors} | more


def difference_look() -> dict[str, Any]:
    """Returns the colours that the header of a grid of differences has besides; zero is the background."""
    return {"signs": (LESS, MORE), "stripe": ONE_SIDE}


def head_colors(heads: int) -> list[str]:
    """Returns the colours of so many heads; they repeat."""
    return [HEADS[head % len(HEADS)] for head in range(heads)]


def transparent(color: str, alpha: float) -> str:
    """Returns a color like "#0072b2" with this opacity."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {alpha})"


def on_white(color: str, alpha: float) -> str:
    """Returns a color like "#0072b2" with this opacity as it looks on white."""
    return "#" + "".join(f"{round(255 + (int(color[at : at + 2], 16) - 255) * alpha):02x}" for at in (1, 3, 5))


def side(heads: int) -> int:
    """Returns the maximum number of cells per side in a grid of `heads` heads, about the pixels of a map on a screen."""
    return 512 if heads <= 2 else 192 if heads <= 8 else 128


def plotly_scale(colors: Sequence[str]) -> list[tuple[float, str]]:
    """Returns a colour map in Plotly's format."""
    return [(i / (len(colors) - 1), color) for i, color in enumerate(colors)]


def differences() -> list[tuple[float, str]]:
    """Returns the map of differences in Plotly's format: `LESS` and `MORE`, transparent at zero."""
    less, more = (tuple(int(color[at : at + 2], 16) for at in (1, 3, 5)) for color in (LESS, MORE))
    faded = [(*less, 1.0), (*less, 0.5), (*less, 0.0), (*more, 0.0), (*more, 0.5), (*more, 1.0)]
    return list(zip((0, 0.25, 0.5, 0.5, 0.75, 1), (f"rgba{color}" for color in faded), strict=True))

"""Sizes, scales and colours of everything that is drawn. One colour means one thing, everywhere.

Weights: Inferno (van der Walt and Smith 2015), even in lightness from black to yellow and safe for the colour-blind.
"Times even" has its middle at the even share: what is violet is less, what is orange is more.
Masked cells: a hatch of neutral greys, never a colour of the map. The query in focus is blue and drawn solid, a key
green and drawn dashed; both lack red, which the map has from a tenth of its way on. Every head has a colour of its own.
Numbers of whole heads have a map of one hue, olive, on which the blue frame of what is in focus is seen.
"""

from __future__ import annotations

# fmt: off
WEIGHTS = (
    "#010005", "#0c0826", "#240c4f", "#420a68", "#5d126e", "#781c6d", "#932667", "#ae305c",
    "#c73e4c", "#dd513a", "#ed6925", "#f8850f", "#fca50a", "#fac62d", "#f2e661", "#fcffa4",
)
# fmt: on
LOG_FLOOR = 1e-4  # the least weight that the logarithmic scale tells from zero
TIMES = 100  # times the even share, and its inverse, at which the scale of these ends

QUERY = "#0b84f3"
KEY = "#12b886"

# After Okabe and Ito 2008, without their black, in an order that keeps neighbours apart; from head 8 on they repeat.
HEADS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f7ee7", "#b8a800")

NEUTRALS = {
    "light": {"text": "#1f2430", "muted": "#5b6270", "line": "#c4c8d0", "masked": "#d9dbe0", "hatch": "#f1f2f4"},
    "dark": {"text": "#eceef2", "muted": "#a2a9b6", "line": "#3b404a", "masked": "#3a3c42", "hatch": "#2a2c31"},
}

PLOTLY_TEXT = (
    "#000037"  # of a note in a Plotly chart: Streamlit's theme puts its darkest grey there, or its lightest one
)
HIDDEN = "#858b97"  # in charts: what a mask hides, and bounds; a grey that can be read in both themes
RAW, DIVIDED = ("#c8553d", "#1a9e8f")  # dot products as they are, and divided by the square root of d_head
BROKEN = "#d6336c"  # no number
LESS, MORE = ("#b8651b", "#0f8f82")  # a difference below and above zero; zero is the ground itself, in either theme
NUMBERS = (
    "#131901",
    "#313e03",
    "#54661c",
    "#7a9136",
    "#a7c066",
    "#ddf2af",
)  # of whole heads; even in lightness, of one hue
INFLUENCE = ("#1c103c", "#402584", "#6741ca", "#8d75eb", "#b6abf9")  # even in lightness; of one hue, as no weights are

LOOK = {  # what every grid of heads is drawn with, as the browser knows it
    "floor": LOG_FLOOR,
    "times": TIMES,
    "stops": WEIGHTS,
    "accents": {"query": QUERY, "key": KEY},
    "head_colors": HEADS,
    "neutrals": NEUTRALS,
}

GRID_HEIGHT = 410
FOCUS_HEIGHT = 430
PART = 384  # cells a side at the most of a part of a long head: its square has about as many pixels
ROW_HEIGHT = 150
LINES_HEIGHT = 520  # words with lines, at the most: more of them scroll
STEP_HEIGHT = 78  # one step of a row, of several over the same keys
CURVE_HEIGHT = 160
MASS_HEIGHT = 220  # where the labels of 90 and 99 % stand a line apart
SMALL_HEIGHT = 270  # a heatmap of several side by side
NARROW_HEIGHT = 360  # a heatmap in half of the page, its scale below
LESSON_HEIGHT = 320


def side(heads: int) -> int:
    """Cells a side at the most in the grid of that many heads: about the pixels that a square has on a screen."""
    return 512 if heads <= 2 else 192 if heads <= 8 else 128


def plotly_scale(colors: tuple[str, ...] = WEIGHTS) -> list[tuple[float, str]]:
    """A map, that of the weights unless another is given, as Plotly takes it."""
    return [(i / (len(colors) - 1), color) for i, color in enumerate(colors)]


def differences() -> list[tuple[float, str]]:
    """The map of differences as Plotly takes it: `LESS` and `MORE`, fading into the ground towards zero."""
    less, more = (tuple(int(color[at : at + 2], 16) for at in (1, 3, 5)) for color in (LESS, MORE))
    faded = [(*less, 1.0), (*less, 0.5), (*less, 0.0), (*more, 0.0), (*more, 0.5), (*more, 1.0)]
    return list(zip((0, 0.25, 0.5, 0.5, 0.75, 1), (f"rgba{color}" for color in faded), strict=True))

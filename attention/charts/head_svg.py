"""One head as an SVG: its weights are one picture of pixels, everything else is vectors and text."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Sequence
from textwrap import wrap

import numpy as np

from attention.charts import theme
from attention.charts.head_map import HeadMap
from attention.charts.thumbnail import png

WIDTH, HEIGHT, EDGE = 1000, 700, 24
TOP, BELOW, BESIDE = 70, 120, 150  # pixels of the title, and of the labels of keys and queries
SIDE = HEIGHT - TOP - BELOW  # of the map
RIGHT = EDGE + BESIDE + SIDE + 28  # where the lines beside the map begin
TITLE, TEXT = 30, 20  # sizes of texts: on a screen of 1024 x 768 or more, at least 20 pixels
LETTER = 0.53  # width of a letter, of its size
CUT = 13  # letters of a token
LINE = 28
SMALLEST = 20  # distance of two labels
TICKS = (1, 2, 5)
GROUNDS = {"light": "#ffffff", "dark": "#0e1117"}  # of pages
FONT = "'Source Sans', 'Source Sans 3', system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML does not allow


def head_svg(title: str, lines: Iterable[str], shown: HeadMap, colors: str = "light") -> str:
    """Returns the SVG, in the colours of a light or a dark page."""
    rows, columns = shown.pixels.shape[:2]
    cell = SIDE / max(rows, columns)
    wide, high = columns * cell, rows * cell
    left, top = EDGE + BESIDE, TOP
    ink = theme.NEUTRALS[colors]["text"]
    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUNDS[colors]}"/>']
    parts.append(draw_text(EDGE, 44, title, TITLE, "start", 'font-weight="650"'))
    parts += [draw_hatch(colors), draw_map(shown, left, top, wide, high)]
    parts += [
        draw_text(left - 10, top + (at + 0.5) * cell + 7, text, TEXT, "end")
        for at, text in _labels(shown.queries, shown.first[0], rows, shown.tile, cell)
    ]
    for at, text in _labels(shown.keys, shown.first[1], columns, shown.tile, cell):
        x, y = left + (at + 0.5) * cell + 7, top + high + 12
        parts.append(draw_text(x, y, text, TEXT, "end", f'transform="rotate(-60 {x:.1f} {y:.1f})"'))
    if 0 <= (at := (shown.query - shown.first[0]) // shown.tile) < rows:
        parts.append(
            f'<rect x="{left}" y="{top + at * cell:.2f}" width="{wide:.2f}" height="{cell:.2f}" fill="none" '
            f'stroke="{theme.QUERY}" stroke-width="3"/>'
        )
    parts += [draw_text(RIGHT, TOP + 18 + at * LINE, line, TEXT, "start") for at, line in enumerate(_wrap_lines(lines))]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape_text(title)}" font-family="{FONT}" fill="{ink}">{"".join(parts)}</svg>'
    )


def draw_hatch(colors: str) -> str:
    """The pattern of masked cells, as the app draws it on a light or a dark page."""
    ground, line = (theme.NEUTRALS[colors][name] for name in ("masked", "hatch"))
    return (
        '<defs><pattern id="masked" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="{ground}"/>'
        f'<path d="M-8 8L0 0M0 8L8 0M8 8L16 0" stroke="{line}" stroke-width="2.4"/></pattern></defs>'
    )


def draw_map(shown: HeadMap, x: float, y: float, wide: float, high: float) -> str:
    """The cells of a head as one picture of pixels, over the hatching that masked cells leave visible."""
    opaque = np.where(shown.masked, 0, 255).astype(np.uint8)[..., None]
    data = base64.b64encode(png(np.concatenate([shown.pixels, opaque], -1))).decode()
    place = f'x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}"'
    return (
        f'<rect {place} fill="url(#masked)"/><image {place} preserveAspectRatio="none" style="image-rendering: pixelated" '
        f'href="data:image/png;base64,{data}"/>'
    )


def _wrap_lines(lines: Iterable[str]) -> list[str]:
    """The lines as they fit beside the map, with a gap after each."""
    letters = int((WIDTH - EDGE - RIGHT) / (TEXT * LETTER))
    wrapped = [[*wrap(line, letters), ""] for line in lines]
    return [line for part in wrapped for line in part][: SIDE // LINE + 3]


def _labels(texts: Sequence[str], first: int, cells: int, tile: int, cell: float) -> list[tuple[int, str]]:
    """What is written beside some cells: all tokens if they have room, else round positions, by the cell's index."""
    if texts and tile == 1 and cell >= SMALLEST:
        return [(at, text if len(text) <= CUT else f"{text[: CUT - 1]}…") for at, text in enumerate(texts)]
    step = next(
        size for power in range(7) for tick in TICKS if (size := tick * 10**power) / tile * cell >= 3 * SMALLEST
    )
    start = -(-first // step) * step
    return [((number - first) // tile, f"{number:,}") for number in range(start, first + cells * tile, step)]


def draw_text(x: float, y: float, text: str, size: int, anchor: str, more: str = "") -> str:
    """A line of text; `more`: its other attributes."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {more}>{escape_text(text)}</text>'


def escape_text(text: str) -> str:
    """A text as it is written in XML, which does not allow every character."""
    return html.escape(ILLEGAL.sub("\ufffd", text))

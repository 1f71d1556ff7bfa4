"""All heads of a layer as an SVG: the weights of each are one picture of pixels, titles and lines are text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, sqrt

from attention.charts import theme
from attention.charts.head_map import HeadMap
from attention.charts.head_svg import (
    EDGE,
    FONT,
    GROUNDS,
    LINE,
    TEXT,
    TITLE,
    TOP,
    WIDTH,
    draw_hatch,
    draw_map,
    draw_text,
    escape_text,
)

GAP, LABEL = 16, 30  # pixels between heads, and of the number above each
WIDER = 1.3  # columns per row, of as many


def grid_svg(title: str, lines: Iterable[str], heads: Sequence[HeadMap]) -> str:
    """Returns the SVG of heads 0, 1, 2 …, all of the same shape, with lines of text below them."""
    columns = min(len(heads), ceil(sqrt(len(heads) * WIDER)))
    wide = (WIDTH - 2 * EDGE - (columns - 1) * GAP) / columns
    rows, cells = heads[0].pixels.shape[:2]
    high = wide * rows / cells
    parts = [draw_hatch("light"), draw_text(EDGE, 44, title, TITLE, "start", 'font-weight="650"')]
    for head, shown in enumerate(heads):
        x, y = EDGE + head % columns * (wide + GAP), TOP + head // columns * (high + LABEL + GAP)
        parts.append(draw_text(x, y + LABEL - 9, f"{head}", TEXT, "start"))
        parts.append(draw_map(shown, x, y + LABEL, wide, high))
    below = TOP + ceil(len(heads) / columns) * (high + LABEL + GAP) + TEXT
    said = [*lines]
    parts += [draw_text(EDGE, below + at * LINE, line, TEXT, "start") for at, line in enumerate(said)]
    height = ceil(below + len(said) * LINE + EDGE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape_text(title)}" font-family="{FONT}" fill="{theme.NEUTRALS["light"]["text"]}">'
        f'<rect width="{WIDTH}" height="{height}" fill="{GROUNDS["light"]}"/>{"".join(parts)}</svg>'
    )

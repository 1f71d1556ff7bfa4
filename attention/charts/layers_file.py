"""The map of layers and heads as an SVG file, with the source of the heads and its link. All labels are text elements."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from attention.charts import theme

EDGE, LEFT, BELOW = 16, 62, 34  # pixels: margin, space left of the cells for layers, and below them for heads
CELL, ROW, NARROW = 40, 24, 22  # pixels: width and height of a cell, and width of one of many, which have no numbers
WIDE = 640  # minimum width in pixels
LETTERS, SMALL, LINE = 12, 11, 1.4  # font sizes in pixels, and line height relative to them
KEY = 18  # pixels: height of a row of the key to the colours
STEPS = 40  # of the colour bar


class Cell(NamedTuple):
    """A cell: its text, and its colour on white."""

    text: str
    fill: str


Cells = Mapping[tuple[int, int], Cell]  # by layer and head


def svg(
    cells: Mapping[tuple[int, int], float],
    layers: Sequence[int],
    heads: int,
    ends: tuple[float, float],
    written: Callable[[float], str],
    title: str,
    whose: Sequence[str],
) -> str:
    """Returns one cell per layer and head, with colours between `ends`; the paragraphs `whose` below name their source.

    `written`: returns a value as text.
    """
    low, top = ends
    drawn = {at: Cell(written(value), color((value - low) / (top - low))) for at, value in cells.items()}
    return _picture(drawn, layers, heads, [_scale(ends, written)], title, whose)


def kinds(
    cells: Cells, layers: Sequence[int], heads: int, colors: Mapping[str, str], title: str, whose: Sequence[str]
) -> str:
    """Returns the map of what each head does. `colors`: of each kind, by what it is called."""
    return _picture(cells, layers, heads, [_square(*each) for each in colors.items()], title, whose)


def _picture(
    cells: Cells, layers: Sequence[int], heads: int, key: Sequence[str], title: str, whose: Sequence[str]
) -> str:
    """Returns the cells with their title, the rows of the key to their colours, and the paragraphs `whose`."""
    cell = CELL if heads <= 16 else NARROW
    width = max(WIDE, LEFT + cell * heads + 2 * EDGE)
    said = [line for text in whose for line in wrap(text, int((width - 2 * EDGE) / (0.55 * SMALL)))]
    down = EDGE + 2 * LETTERS + EDGE
    end = down + ROW * len(layers) + BELOW
    after = end + KEY * (len(key) - 1) + 3 * EDGE
    high = after + LINE * SMALL * len(said)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high:.0f}" viewBox="0 0 {width} {high:.0f}" '
        "font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\">",
        f"<title>{_legal(title)}</title><desc>{_legal(' '.join(whose))}</desc>",
        f'<rect width="{width}" height="{high:.0f}" fill="#ffffff"/>',
        _text(title, EDGE, EDGE + LETTERS, LETTERS, weight=600),
        *_cells(cells, layers, heads, (LEFT + EDGE, down), cell),
        *(f'<g transform="translate({EDGE} {end + KEY * at})">{row}</g>' for at, row in enumerate(key)),
        *(_text(line, EDGE, after + LINE * SMALL * at, SMALL, muted=True) for at, line in enumerate(said)),
        "</svg>",
    ]
    return "\n".join(parts)


def _cells(cells: Cells, layers: Sequence[int], heads: int, corner: tuple[int, int], wide: int) -> list[str]:
    """Returns the cells with their texts, if they are wide enough, and the labels of layers and heads."""
    left, down = corner
    parts = [_text("layer", left - 8, down - 6, SMALL, "end", muted=True)]
    for at, layer in enumerate(layers):
        middle = down + ROW * at + ROW / 2 + 4
        parts.append(_text(str(layer), left - 8, middle, SMALL, "end"))
        for head in range(heads):
            if cell := cells.get((layer, head)):
                x, y = left + wide * head, down + ROW * at
                parts.append(f'<rect x="{x}" y="{y}" width="{wide - 1}" height="{ROW - 1}" fill="{cell.fill}"/>')
                if wide == CELL:
                    parts.append(_text(cell.text, x + wide / 2, middle, SMALL, "middle", ink="#000000"))
    below = down + ROW * len(layers) + SMALL + 4
    parts += [_text(str(head), left + wide * (head + 0.5), below, SMALL, "middle") for head in range(heads)]
    return [*parts, _text("head", left - 8, below, SMALL, "end", muted=True)]


def _scale(ends: tuple[float, float], written: Callable[[float], str]) -> str:
    """Returns the colour bar with the values at its ends."""
    wide = 4
    bar = [
        f'<rect x="{30 + wide * at}" width="{wide + 0.5}" height="10" fill="{color(at / (STEPS - 1))}"/>'
        for at in range(STEPS)
    ]
    labels = _text(written(ends[0]), 24, 9, SMALL, "end"), _text(written(ends[1]), 36 + wide * STEPS, 9, SMALL)
    return "".join((*bar, *labels))


def _square(said: str, fill: str) -> str:
    """Returns a row of the key to the colours of kinds."""
    return f'<rect width="12" height="12" fill="{fill}"/>{_text(said, 18, 10, SMALL)}'


def color(share: float) -> str:
    """Returns the colour at a share of the scale: that of `theme.NUMBERS` on white."""
    low, middle, high = theme.OPACITIES
    share = min(1.0, max(0.0, share))
    at = low + (middle - low) * 2 * share if share < 0.5 else middle + (high - middle) * (2 * share - 1)
    return theme.on_white("#{:02x}{:02x}{:02x}".format(*theme.OLIVE), at)


def _text(
    text: str,
    x: float,
    y: float,
    size: int,
    anchor: str = "start",
    *,
    weight: int = 400,
    ink: str = "",
    muted: bool = False,
) -> str:
    fill = ink or theme.NEUTRALS["light"]["muted" if muted else "text"]
    place = f'x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{fill}"'
    return f"<text {place}>{_legal(text)}</text>"


def _legal(text: str) -> str:
    """Returns text escaped for XML, without characters that are not printable."""
    return html.escape("".join(sign for sign in text if sign.isprintable()))

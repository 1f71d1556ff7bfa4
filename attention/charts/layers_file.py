"""The map of layers and heads as an SVG file, with the source of the heads and its link. All labels are text elements."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap

from attention.charts import theme

EDGE, LEFT, BELOW = 16, 62, 34  # pixels: margin, space left of the cells for layers, and below them for heads
CELL, ROW, NARROW = 40, 24, 22  # pixels: width and height of a cell, and width of one of many, which have no numbers
WIDE = 640  # minimum width in pixels
LETTERS, SMALL, LINE = 12, 11, 1.4  # font sizes in pixels, and line height relative to them
STEPS = 40  # of the colour bar


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
    cell = CELL if heads <= 16 else NARROW
    width = max(WIDE, LEFT + cell * heads + 2 * EDGE)
    said = [line for text in whose for line in wrap(text, int((width - 2 * EDGE) / (0.55 * SMALL)))]
    down = EDGE + 2 * LETTERS + EDGE
    end = down + ROW * len(layers) + BELOW
    high = end + 3 * EDGE + LINE * SMALL * len(said)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high:.0f}" viewBox="0 0 {width} {high:.0f}" '
        "font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\">",
        f"<title>{_legal(title)}</title><desc>{_legal(' '.join(whose))}</desc>",
        f'<rect width="{width}" height="{high:.0f}" fill="#ffffff"/>',
        _text(title, EDGE, EDGE + LETTERS, LETTERS, weight=600),
        *_cells(cells, layers, heads, ends, written if cell == CELL else None, (LEFT + EDGE, down), cell),
        *_scale(ends, written, end),
        *(_text(line, EDGE, end + 3 * EDGE + LINE * SMALL * at, SMALL, muted=True) for at, line in enumerate(said)),
        "</svg>",
    ]
    return "\n".join(parts)


def _cells(
    cells: Mapping[tuple[int, int], float],
    layers: Sequence[int],
    heads: int,
    ends: tuple[float, float],
    written: Callable[[float], str] | None,
    corner: tuple[int, int],
    wide: int,
) -> list[str]:
    """Returns the cells with their numbers, and the labels of layers and heads."""
    left, down = corner
    low, top = ends
    parts = [_text("layer", left - 8, down - 6, SMALL, "end", muted=True)]
    for at, layer in enumerate(layers):
        middle = down + ROW * at + ROW / 2 + 4
        parts.append(_text(str(layer), left - 8, middle, SMALL, "end"))
        for head in range(heads):
            value = cells.get((layer, head))
            if value is None:
                continue
            x, y = left + wide * head, down + ROW * at
            parts.append(
                f'<rect x="{x}" y="{y}" width="{wide - 1}" height="{ROW - 1}" fill="{color((value - low) / (top - low))}"/>'
            )
            if written is not None:
                parts.append(_text(written(value), x + wide / 2, middle, SMALL, "middle", ink="#000000"))
    below = down + ROW * len(layers) + SMALL + 4
    parts += [_text(str(head), left + wide * (head + 0.5), below, SMALL, "middle") for head in range(heads)]
    return [*parts, _text("head", left - 8, below, SMALL, "end", muted=True)]


def _scale(ends: tuple[float, float], written: Callable[[float], str], y: float) -> list[str]:
    """Returns the colour bar with the values at its ends."""
    wide = 4
    bar = [
        f'<rect x="{EDGE + 30 + wide * at}" y="{y}" width="{wide + 0.5}" height="10" fill="{color(at / (STEPS - 1))}"/>'
        for at in range(STEPS)
    ]
    labels = (
        _text(written(ends[0]), EDGE + 24, y + 9, SMALL, "end"),
        _text(written(ends[1]), EDGE + 36 + wide * STEPS, y + 9, SMALL),
    )
    return [*bar, *labels]


def color(share: float) -> str:
    """Returns the colour at a share of the scale: that of `theme.NUMBERS` on white."""
    low, middle, high = theme.OPACITIES
    share = min(1.0, max(0.0, share))
    at = low + (middle - low) * 2 * share if share < 0.5 else middle + (high - middle) * (2 * share - 1)
    mixed = (255 + (channel - 255) * at for channel in theme.OLIVE)
    return "#" + "".join(f"{round(channel):02x}" for channel in mixed)


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

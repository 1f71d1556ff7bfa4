"""A small map with words at its rows and columns, as HTML: text that can be selected, in the colours of either theme.

Its layout is in `ui/session/page.css`. A cell says its number when it is pointed at or tapped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.charts.thumbnail import interpolate

MAP = (
    '<figure class="word-map"><figcaption>{title}</figcaption><div role="img" aria-label="{alt}" '
    'style="grid-template-columns: max-content repeat({columns}, minmax(0, 1fr))"><span></span>{across}{rows}</div></figure>'
)
COLUMN = '<span class="across">{}</span>'
ROW = '<span class="down">{}</span>'
CELL = (
    '<i{mark} style="--by: {by}; background: light-dark({light}, {dark}){frame}" data-says="{says}" tabindex="-1"></i>'
)
MASKED = '<i class="masked{mark}" style="--by: {by}" data-says="{says}" tabindex="-1"></i>'  # --by: keeps the text in the map
FRAME = "inset {x}px {y}px light-dark(#0b63c5, #4cc3ff)"  # of one side of a cell
SIDES = (
    (-1, 0, 0, 2),
    (1, 0, 0, -2),
    (0, -1, 2, 0),
    (0, 1, -2, 0),
)  # rows and columns to the neighbour, offset of the frame


def word_map(
    cells: Float[Tensor, "q k"],
    visible: Bool[Tensor, "q k"],
    tokens: Sequence[str],
    colors: Mapping[str, Sequence[str]],
    title: str,
    alt: str,
    says: Callable[[str, str, float | None], str],
    marked: Bool[Tensor, "q k"] | None = None,
    marked_colors: Mapping[str, Sequence[str]] | None = None,
    is_contour: bool = False,
) -> str:
    """Returns the HTML of a map of cells from 0 to 1, hatched where they are not visible; `colors`: of a light and a dark page.

    `says`: the sentence of a cell, given the texts of its row and column and its number, None if it is not visible.
    Cells that are `marked` have an outline each, one around all that touch if it `is_contour`, or `marked_colors` if given.
    """
    outlined = torch.zeros_like(visible) if marked is None else marked
    shades = {page: interpolate(cells.clamp(0, 1).numpy(), colors[page]) for page in colors}
    if marked_colors:
        for page, each in shades.items():
            each[outlined.numpy()] = interpolate(cells.clamp(0, 1).numpy(), marked_colors[page])[outlined.numpy()]
        outlined = torch.zeros_like(visible)
    rows, by = [], [f"-{100 * (j + 0.5) / len(tokens):.0f}%" for j in range(len(tokens))]
    for i, query in enumerate(tokens):
        line = [
            CELL.format(
                **{page: "rgb({:.0f} {:.0f} {:.0f})".format(*each[i, j]) for page, each in shades.items()},
                says=escape(says(query, key, float(cells[i, j]))),
                mark=' class="marked"' * bool(outlined[i, j]),
                by=by[j],
                frame=_frame(outlined, i, j) if is_contour and outlined[i, j] else "",
            )
            if visible[i, j]
            else MASKED.format(says=escape(says(query, key, None)), mark=" marked" * bool(outlined[i, j]), by=by[j])
            for j, key in enumerate(tokens)
        ]
        rows.append(ROW.format(escape(query)) + "".join(line))
    across = "".join(COLUMN.format(escape(key)) for key in tokens)
    return MAP.format(title=escape(title), alt=escape(alt), columns=len(tokens), across=across, rows="".join(rows))


def _frame(marked: Bool[Tensor, "q k"], i: int, j: int) -> str:
    """The style of a cell of the contour: a line on each side whose neighbour is not marked."""

    def is_marked(row: int, column: int) -> bool:
        return 0 <= row < len(marked) and 0 <= column < marked.shape[1] and bool(marked[row, column])

    open_sides = [FRAME.format(x=x, y=y) for down, right, x, y in SIDES if not is_marked(i + down, j + right)]
    return f"; box-shadow: {', '.join(open_sides) or 'none'}"

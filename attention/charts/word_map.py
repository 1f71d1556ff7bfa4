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
CELL = '<i{mark} style="background: light-dark({light}, {dark})" data-says="{says}"></i>'
MASKED = '<i class="masked{mark}" data-says="{}"></i>'


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
) -> str:
    """Returns the HTML of a map of cells from 0 to 1, hatched where they are not visible; `colors`: of a light and a dark page.

    `says`: the sentence of a cell, given the texts of its row and column and its number, None if it is not visible.
    Cells that are `marked` have an outline, or `marked_colors` if these are given.
    """
    outlined = torch.zeros_like(visible) if marked is None else marked
    shades = {page: interpolate(cells.clamp(0, 1).numpy(), colors[page]) for page in colors}
    if marked_colors:
        for page, each in shades.items():
            each[outlined.numpy()] = interpolate(cells.clamp(0, 1).numpy(), marked_colors[page])[outlined.numpy()]
        outlined = torch.zeros_like(visible)
    rows = []
    for i, query in enumerate(tokens):
        line = [
            CELL.format(
                **{page: "rgb({:.0f} {:.0f} {:.0f})".format(*each[i, j]) for page, each in shades.items()},
                says=escape(says(query, key, float(cells[i, j]))),
                mark=' class="marked"' * bool(outlined[i, j]),
            )
            if visible[i, j]
            else MASKED.format(escape(says(query, key, None)), mark=" marked" * bool(outlined[i, j]))
            for j, key in enumerate(tokens)
        ]
        rows.append(ROW.format(escape(query)) + "".join(line))
    across = "".join(COLUMN.format(escape(key)) for key in tokens)
    return MAP.format(title=escape(title), alt=escape(alt), columns=len(tokens), across=across, rows="".join(rows))

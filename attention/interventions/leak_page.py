"""The picture of a leak test: outputs down, replaced tokens across. It needs no script, server or network."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import torch
from torch.nn import functional as F

if TYPE_CHECKING:
    from attention.interventions.leaks import Leaks

CELLS = 64  # maximum number of cells per side; with more tokens, a cell is the largest change of its tile
LABELLED = 40  # maximum number of tokens whose names fit
LETTERS = 12  # of a name
DEPENDS, LEAK = "#3b6fb6", "#d6336c"
STYLE = """
.leak-test { max-width: 720px; color-scheme: light dark; color: light-dark(#1f2430, #eceef2);
  font: 14px/1.4 system-ui, sans-serif; }
.leak-test .verdict { font-size: 17px; font-weight: 600; }
"""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>Leak test</title>
<style>body {{ margin: 0; padding: 16px; background: light-dark(#ffffff, #14171c); color-scheme: light dark; }}</style>
</head>
<body>
{picture}
</body>
</html>
"""


def whole_page(leaks: Leaks) -> str:
    """Returns the picture as a page of its own."""
    return PAGE.format(picture=picture(leaks))


def picture(leaks: Leaks) -> str:
    """Returns a sentence, the picture, the variants and the notes as HTML."""
    verdict = "No leak" if not leaks.pairs else "Reads both directions" if leaks.both_directions else "It leaks"
    listed = "".join(f"<li>{html.escape(str(each))}</li>" for each in (*leaks.variants, *leaks.notes))
    return (
        f'<div class="leak-test"><style>{STYLE}</style><p class="verdict">{verdict}</p><p>{html.escape(leaks.summary)}</p>'
        f"{drawing(leaks)}<p>Rows: outputs. Columns: replaced tokens. Blue: the output changes, stronger for larger changes. "
        f"Red: it changes with a later token, which is a leak in a causal model.</p><ul>{listed}</ul></div>"
    )


def drawing(leaks: Leaks, ink: str = "currentColor", ground: str = "none", causal: bool = True) -> str:
    """Returns the picture as SVG: by default in the colour of the text around it.

    Cells on and below the diagonal are blue, leaks red; pairs with a later token that has no effect are grey.
    `causal`: whether the model is meant to be; if not, all cells are blue.
    """
    count, change = len(leaks.tokens), leaks.change.nan_to_num(torch.inf)
    tile = -(-count // CELLS)
    leaking = (_largest(change.triu(1), tile) > leaks.threshold) & causal
    allowed = _largest(change.tril() if causal else change, tile)
    limit = max(float(allowed[allowed.isfinite()].max()) if bool(allowed.isfinite().any()) else 1.0, leaks.threshold)
    side, names = 480 / len(allowed), tile == 1 and count <= LABELLED
    left = top = 90 if names else 30
    cells = [
        _cell(left + x * side, top + y * side, side, *look)
        for y in range(len(allowed))
        for x in range(len(allowed))
        for look in [(LEAK, 1.0) if leaking[y, x] else (DEPENDS, min(1.0, float(allowed[y, x]) / limit) ** 0.5)]
        if leaking[y, x] or allowed[y, x] > leaks.threshold
    ]
    size, label = f"0 0 {left + 490} {top + 490}", html.escape(leaks.summary)
    place = f'x="{left}" y="{top}" width="480" height="480"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" width="100%" fill="{ink}" font-family="sans-serif" '
        f'font-size="11" style="color-scheme: light dark" role="img" aria-label="{label}">'
        f'<rect width="100%" height="100%" rx="6" fill="{ground}"/>'
        f'<path fill-opacity="0.07" d="M{left} {top}h480v480z"/>{"".join(cells)}'
        f'<rect fill="none" stroke="{ink}" stroke-opacity="0.5" {place}/>'
        f"{_names(leaks.tokens, left, top, side) if names else _counts(count, left, top)}</svg>"
    )


def _cell(x: float, y: float, side: float, color: str, opacity: float) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}"'
    return f'<rect {place} fill="{color}" fill-opacity="{opacity:.2f}"/>'


def _largest(change: torch.Tensor, tile: int) -> torch.Tensor:
    return F.max_pool2d(change[None], tile, ceil_mode=True)[0] if tile > 1 else change


def _names(tokens: tuple[str, ...], left: float, top: float, side: float) -> str:
    parts = []
    for at, token in enumerate(tokens):
        name = html.escape(token if len(token) <= LETTERS else token[: LETTERS - 1] + "…")
        middle = (at + 0.5) * side
        parts.append(f'<text x="{left - 6}" y="{top + middle + 4:.1f}" text-anchor="end">{name}</text>')
        x, y = left + middle + 4, top - 6
        parts.append(f'<text x="{x:.1f}" y="{y}" transform="rotate(-90 {x:.1f} {y})">{name}</text>')
    return "".join(parts)


def _counts(count: int, left: float, top: float) -> str:
    last = f'<text x="{left + 480}" y="{top - 6}" text-anchor="end">token {count - 1}</text>'
    return f'<text x="{left}" y="{top - 6}">token 0</text>{last}'

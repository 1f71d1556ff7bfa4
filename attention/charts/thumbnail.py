"""Thumbnails as pixels that a light or a dark page may have below them: a head, and lines.

They are transparent where nothing is: the larger a weight, the more opaque, in the colour that is legible on either page.
Only those of `page_thumbnail` are made for one of both pages.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image, ImageDraw
from torch import Tensor
from torch.nn import functional as F

from attention.charts.theme import HEADS, HIDDEN, NEGATIVE, WEIGHTS

SIDE = 168  # maximum number of pixels per side
STRIPE = 8  # pixels from stripe to stripe of masked cells
HATCH = (0.34, 0.12)  # opacity of the stripes of masked cells, and between them
INKS = ("#ed6925", NEGATIVE["light"][5], "#858b97")  # of weights, of negative ones, and of masked cells
LINES = (HEADS[4], HEADS[5], HEADS[2])  # in turn
EDGE, WIDTH = 16, 6  # pixels around lines, and of a line


def png(pixels: UInt8[np.ndarray, "p r c"]) -> bytes:
    """Returns pixels as a PNG file; their channels are red, green, blue and, if there are four, opacity."""
    memory = io.BytesIO()
    Image.fromarray(pixels).save(memory, "PNG")
    return memory.getvalue()


def thumbnail(
    weights: Float[Tensor, "q k"], mask: Bool[Tensor, "q k"], signed: bool = False, power: float = 1
) -> UInt8[np.ndarray, "p r 4"]:
    """Returns the pixels of one head; if it has more cells than pixels, a pixel is the largest weight under it.

    Masked cells are hatched. If `signed`, weights may be negative, and the largest is that of the largest magnitude. The
    opacity is the weight to this `power`: below 1, small weights are visible as well.
    """
    tile, cell = -(-len(weights) // SIDE), max(1, SIDE // len(weights))
    seen = weights.abs().masked_fill(~mask, -1)[None]
    size, at = F.max_pool2d(seen, tile, ceil_mode=True, return_indices=True)
    cells = weights.flatten()[at[0]].numpy().clip(-1, 1).repeat(cell, 0).repeat(cell, 1)
    masked = (size[0].numpy() < 0).repeat(cell, 0).repeat(cell, 1)
    ink = np.select([masked, cells < 0 if signed else np.zeros_like(masked)], [2, 1], 0)
    opacity = np.where(masked, np.where(stripes(*cells.shape), *HATCH), np.abs(cells) ** power)
    return np.dstack([np.array([rgb(color) for color in INKS])[ink], (255 * opacity).round()]).astype(np.uint8)


def page_thumbnail(
    weights: Float[Tensor, "q k"], mask: Bool[Tensor, "q k"], page: str, signed: bool = False
) -> UInt8[np.ndarray, "p r 4"]:
    """Returns the pixels of `thumbnail` with the colours that weights have in the maps of a "light" or "dark" page."""
    pixels = thumbnail(weights, mask, signed)
    shares, inks = pixels[..., 3] / 255, pixels[..., :3]
    masked, negative = ((inks == np.array(rgb(ink))).all(-1) for ink in (INKS[2], INKS[1]))
    colors = np.where(negative[..., None], interpolate(shares, NEGATIVE[page]), interpolate(shares, WEIGHTS[page]))
    colored = np.dstack([colors.round(), np.full_like(shares, 255)]).astype(np.uint8)
    return np.where(masked[..., None], pixels, colored)


def stripes(rows: int, columns: int) -> Bool[np.ndarray, "p r"]:
    """Returns which pixels are of the lighter stripes of masked cells."""
    return np.add.outer(range(rows), range(columns)) % STRIPE < STRIPE // 2


def lines(
    points: Sequence[Sequence[tuple[float, float]]],
    side: int = SIDE,
    ground: str = "",
    colors: Sequence[str] = LINES,
    crossing: tuple[float, float] | None = None,
) -> UInt8[np.ndarray, "p r 4"]:
    """Returns the pixels of lines through points, on two logarithmic axes, each in a colour of its own.

    `ground`: the colour below them, by default none. `crossing`: the point that a ring marks.
    """
    edge, width = EDGE * side // SIDE, WIDTH * side // SIDE
    logs = [np.log10(np.array(line, dtype=float)) for line in points if line]
    low, high = (pick(np.concatenate(logs), axis=0) for pick in (np.min, np.max))
    image = Image.new("RGBA", (side, side), ground or (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)

    def place(logarithms: np.ndarray) -> list[tuple[float, float]]:
        across = (logarithms - low) / np.maximum(high - low, 1e-9) * (side - 2 * edge)
        return [(edge + float(x), side - edge - float(y)) for x, y in across]

    for at, line in enumerate(logs):
        spots, color = place(line), colors[at % len(colors)]
        pen.line(spots, color, width, "curve")
        for x, y in spots:
            pen.ellipse((x - width, y - width, x + width, y + width), color)
    if crossing:
        ((x, y),), radius = place(np.log10([crossing])), edge / 2
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=HIDDEN, width=width // 2)
    return np.asarray(image)


def interpolate(values: Float[np.ndarray, "*any"], colors: Sequence[str]) -> Float[np.ndarray, "*any 3"]:
    """Returns the colours of values from 0 to 1 on a colour map, each channel from 0 to 255."""
    stops = np.array([rgb(color) for color in colors], dtype=np.float32)
    at = values * (len(stops) - 1)
    return np.stack([np.interp(at, range(len(stops)), channel) for channel in stops.T], -1)


def rgb(color: str) -> tuple[int, int, int]:
    """Returns the channels of `#rrggbb`."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)

"""A static picture of all heads next to the widget of a notebook: shown if no kernel or script runs.

Heads are scaled so that all of them fit: the picture has at most `PIXELS` pixels of one byte, whatever its content.
"""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor
from torch.nn import functional as F

from attention.charts import theme
from attention.charts.thumbnail import interpolate, rgb, stripes
from attention.notebook.picture import Picture
from attention.wire.cells import weights

PIXELS = 180_000
LARGEST, SMALLEST = 160, 6  # largest and smallest number of pixels per side of a head
GAP = 2  # pixels between heads
COLUMNS = 8  # heads in a row, if there is only one layer
SHADES = 253  # colours of the map; those after them are for masked cells, their lighter stripes and the background
GROUND = "#ffffff"
FIGURE = (
    '<figure style="margin: 0"><img alt="{alt}" src="data:image/png;base64,{data}" '
    'style="max-width: 100%; image-rendering: pixelated"><figcaption>{caption}</figcaption></figure>'
)


def still(picture: Picture) -> str:
    """The picture as HTML of less than 300 kB, without a script and without anything to load."""
    headers = [head for head, _ in map(_open_message, picture.layers)]
    layers, signed = [int(head["heads"]) for head in headers], any(head.get("signed") for head in headers)
    columns = max(layers) if len(layers) > 1 else min(layers[0], COLUMNS)
    rows = [math.ceil(heads / columns) for heads in layers]
    side, shown = _fit(columns, rows)
    sheet = np.full((sum(rows[:shown]) * (side + GAP), columns * (side + GAP)), SHADES + 2, dtype=np.uint8)
    top = 0
    for packed, count in zip(picture.layers[:shown], rows, strict=False):
        for at, head in enumerate(_shades(packed, side, signed)):
            down, across = (top + at // columns) * (side + GAP), at % columns * (side + GAP)
            sheet[down : down + len(head), across : across + head.shape[1]] = head[: len(sheet) - down]
        top += count
    alt = f"Attention weights of {sum(layers[:shown])} heads in {shown} layers"
    data = base64.b64encode(_png(sheet, signed)).decode()
    return FIGURE.format(alt=alt, data=data, caption=html.escape(_caption(picture, shown, len(layers))))


def _fit(columns: int, rows: list[int]) -> tuple[int, int]:
    """The side of a head in pixels, and how many layers are shown at that size."""
    for shown in range(len(rows), 0, -1):
        side = math.isqrt(PIXELS // (columns * sum(rows[:shown]))) - GAP
        if side >= SMALLEST or shown == 1:
            return max(1, min(LARGEST, side)), shown
    raise ValueError("A picture has at least one layer.")


def _caption(picture: Picture, shown: int, layers: int) -> str:
    parts = [part["name"] for part in picture.about["parts"] if part["name"]]
    where = "A layer per row, a head per column" if layers > 1 else "All heads of the layer"
    some = f" (the first {shown} of {layers} layers)" if shown < layers else ""
    named = f" Parts from top to bottom: {', '.join(parts)}." if len(parts) > 1 else ""
    return (
        f"{picture.about['title']}. {where}{some}; queries run down, keys across.{named} Run the cell to explore them."
    )


def _open_message(packed: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a layer, and the bytes after it (`wire.message.frame_message`)."""
    message = gzip.decompress(packed)
    length = int.from_bytes(message[:4], "little")
    return json.loads(message[4 : 4 + length]), message[4 + length + -length % 4 :]


def _shades(packed: bytes, side: int, signed: bool) -> UInt8[np.ndarray, "h p r"]:
    """The shade of each pixel of each head of a layer, at most `side` pixels per side; zero is the middle one if `signed`."""
    header, data = _open_message(packed)
    heads, rows, columns = (header[name] for name in ("heads", "rows", "columns"))
    tile = math.ceil(max(rows, columns) / side)
    codes = torch.frombuffer(bytearray(data), dtype=torch.uint16, count=heads * rows * columns)
    values = weights(codes.view(heads, rows, columns), header.get("signed", False))
    size, at = F.max_pool2d(
        values.abs().nan_to_num(-1), tile, ceil_mode=True, return_indices=True
    )  # of the largest weights
    share, sign = size, values.flatten(1).gather(1, at.flatten(1)).view_as(size).sign()
    if header["colors"] != "linear":
        share = 0.5 + (size * _visible_keys(header, data, size.shape[1], tile)).log10() / (
            2 * math.log10(header["times"])
        )
    share = share.clamp(0, 1)
    share = (1 + share * sign) / 2 if signed else share
    shades = np.where(size < 0, SHADES, (share.nan_to_num() * (SHADES - 1)).round()).astype(np.uint8)
    cell = max(1, side // max(rows, columns))
    large = shades.repeat(cell, 1).repeat(cell, 2)
    return large + ((large == SHADES) & stripes(*large.shape[1:]))


def _visible_keys(header: dict[str, Any], data: bytes, rows: int, tile: int) -> Float[Tensor, "s p 1"]:
    """The number of visible keys of the middle query of each pooled row; one line for all heads, or one per head."""
    lines, count = header["sights"]
    seen = torch.frombuffer(bytearray(data[-4 * lines * count :]), dtype=torch.float32).view(lines, count, 1)
    tile *= header["tile"] if count == header["queries"] else 1
    return seen[:, (torch.arange(rows) * tile + tile // 2).clamp(max=count - 1)]


def _png(sheet: UInt8[np.ndarray, "p r"], signed: bool) -> bytes:
    """A PNG file whose palette has the colours of the weights."""
    colors = (
        interpolate(np.linspace(0, 1, SHADES), (theme.SIGNED if signed else theme.WEIGHTS)["light"])
        .round()
        .astype(int)
        .flatten()
        .tolist()
    )
    image = Image.fromarray(sheet, "L")
    masked = (theme.NEUTRALS["light"][name] for name in ("masked", "hatch"))
    image.putpalette([*colors, *(channel for color in (*masked, GROUND) for channel in rgb(color))])
    memory = io.BytesIO()
    image.save(memory, "PNG", optimize=True)
    return memory.getvalue()

"""Pictures for vision models: draws the example, and checks uploads before they are unpacked."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, UnidentifiedImageError

from attention.models.packages import ModelError

SIDE = 448  # pixels per side of the example
KINDS = ("PNG", "JPEG", "WEBP")
PIXELS = 40_000_000  # pixels of a picture that is opened
LARGEST = 768  # pixels of the longer side that are kept; models use fewer
SKY, SEA, SAND = (142, 188, 226), (46, 104, 150), (226, 202, 152)
SUN, SAIL, HULL, STRIPE, BALL = (250, 214, 90), (246, 244, 238), (120, 62, 44), (196, 60, 52), (58, 140, 88)


def sample_picture() -> Image.Image:
    """Returns a boat under a sun and a ball on the sand: few things, far apart, so that related patches are easy to see."""
    found = Image.new("RGB", (SIDE, SIDE), SKY)
    draw, at = ImageDraw.Draw(found), SIDE / 448
    draw.rectangle([0, 250 * at, SIDE, 350 * at], SEA)
    draw.rectangle([0, 350 * at, SIDE, SIDE], SAND)
    draw.ellipse([330 * at, 40 * at, 410 * at, 120 * at], SUN)
    draw.polygon([(x * at, y * at) for x, y in ((120, 290), (300, 290), (270, 325), (150, 325))], HULL)
    draw.line([(205 * at, 290 * at), (205 * at, 110 * at)], HULL, 6)
    draw.polygon([(x * at, y * at) for x, y in ((213, 112), (213, 276), (292, 276))], SAIL)
    draw.polygon([(x * at, y * at) for x, y in ((197, 140), (197, 276), (140, 276))], STRIPE)
    draw.ellipse([70 * at, 372 * at, 128 * at, 430 * at], BALL)
    for x in range(0, SIDE, 56):  # waves
        draw.arc([x, 262 * at, x + 56, 282 * at], 200, 340, SKY, 2)
    return found


def open_picture(data: bytes) -> Image.Image:
    """Returns an uploaded picture, scaled down to the size that models use; raises ModelError if it is none, or too large.

    Its size is read before any of its pixels. Only a few formats are allowed, as each has a decoder of its own.
    """
    try:
        with Image.open(io.BytesIO(data), formats=KINDS) as found:
            if math.prod(found.size) > PIXELS:
                raise Image.DecompressionBombError
            found.draft("RGB", (LARGEST, LARGEST))
            whole = found.convert("RGB")
    except Image.DecompressionBombError as error:
        raise ModelError(f"The picture has more than {PIXELS:,} pixels. Use a smaller one.") from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise ModelError(f"This is no picture that can be opened here: {', '.join(KINDS)} are.") from error
    whole.thumbnail((LARGEST, LARGEST))
    return whole


def png(picture: Image.Image) -> bytes:
    """Returns a picture as a PNG file."""
    memory = io.BytesIO()
    picture.save(memory, "PNG")
    return memory.getvalue()


def model_view(pixels: np.ndarray, mean: Sequence[float], deviation: Sequence[float]) -> UInt8[np.ndarray, "y x 3"]:
    """Returns the picture that a model gets as `pixels (3 y x)`, with the normalization undone."""
    deviations, means = (np.asarray(each, dtype=np.float64).reshape(-1, 1, 1) for each in (deviation, mean))
    shown = (pixels.astype(np.float64) * deviations + means).clip(0, 1)
    return (255 * shown).round().astype(np.uint8).transpose(1, 2, 0)

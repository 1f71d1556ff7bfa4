"""The picture that a chat shows of a link: a card of 1200 x 630 pixels with a title, a few lines and one head."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from attention.charts import theme
from attention.charts.head_map import HeadMap
from attention.charts.thumbnail import rgb, stripes

WIDTH, HEIGHT, EDGE = 1200, 630, 44
SIDE = 500  # maximum pixels per side of the map
LABELS, SMALLEST = 24, 16  # most tokens whose texts are shown, and the smallest size of a text in pixels
CUT = 12  # characters of a token
PLAIN, BOLD = 400, 650  # weights of the font
NAME = "Attention Lab"
INK = theme.NEUTRALS["light"]


@dataclass(frozen=True)
class Card:
    """The words of a card: its title, and lines below it. Those that the font cannot write are left out."""

    title: str
    lines: tuple[str, ...] = ()


class Pen:
    """Writes on an image; `font` is the file of a font, None for the one that Pillow has."""

    def __init__(self, image: Image.Image, font: Path | None) -> None:
        self.draw, self.font = ImageDraw.Draw(image), font
        self.fonts: dict[tuple[int, int], ImageFont.FreeTypeFont] = {}

    def font_of(self, size: int, weight: int = PLAIN) -> ImageFont.FreeTypeFont:
        """The font in a size."""
        if (size, weight) not in self.fonts:
            self.fonts[size, weight] = _open_font(self.font, size, weight)
        return self.fonts[size, weight]

    def fits(self, text: str, size: int, width: float, weight: int = PLAIN) -> bool:
        """Whether a line is at most so wide."""
        return self.font_of(size, weight).getlength(text) <= width

    def can_write(self, text: str) -> bool:
        """Whether the font has a glyph for every character."""
        font = self.font_of(20)
        missing = _mask_bytes(font, "\uffff")
        return all(character.isspace() or _mask_bytes(font, character) != missing for character in text)

    def wrap(self, text: str, size: int, width: float, lines: int, weight: int = PLAIN) -> list[str]:
        """The text in at most so many lines; the last one ends with “…” if there is more."""
        found, words = [""], text.split()
        for at, word in enumerate(words):
            longer = f"{found[-1]} {word}".strip()
            if self.fits(longer, size, width, weight):
                found[-1] = longer
            elif len(found) == lines:
                found[-1] = self.cut(" ".join([found[-1], *words[at:]]), size, width, weight)
                break
            else:
                found.append(self.cut(word, size, width, weight))
        return [line for line in found if line]

    def cut(self, text: str, size: int, width: float, weight: int = PLAIN) -> str:
        """The text, with “…” for what does not fit."""
        if self.fits(text, size, width, weight):
            return text
        while text and not self.fits(f"{text}…", size, width, weight):
            text = text[:-1]
        return f"{text}…"

    def write(
        self, at: tuple[float, float], text: str, size: int, color: str, anchor: str, weight: int = PLAIN
    ) -> None:
        """Writes one line."""
        self.draw.text(at, text, color, self.font_of(size, weight), anchor)


def draw_card(card: Card, shown: HeadMap | None = None, font: Path | None = None) -> bytes:
    """Returns the card as a PNG file."""
    image = Image.new("RGB", (WIDTH, HEIGHT), "#ffffff")
    pen = Pen(image, font)
    left = EDGE if shown is None else _draw_map(image, pen, shown) + EDGE
    top, width = EDGE + 10, WIDTH - EDGE - left
    title = card.title if pen.can_write(card.title) else NAME
    for line in pen.wrap(title, 50, width, 2, BOLD):
        pen.write((left, top), line, 50, INK["text"], "la", BOLD)
        top += 60
    top += 14
    for text in filter(pen.can_write, card.lines):
        for line in pen.wrap(text, 30, width, 4):
            if top < HEIGHT - EDGE - 70:
                pen.write((left, top), line, 30, INK["muted"], "la")
            top += 40
        top += 12
    pen.write((left, HEIGHT - EDGE), NAME, 32, theme.QUERY, "ls", BOLD)
    memory = io.BytesIO()
    image.save(memory, "PNG", optimize=True)
    return memory.getvalue()


def _draw_map(image: Image.Image, pen: Pen, shown: HeadMap) -> int:
    """Draws the map with its tokens, and returns where it ends."""
    rows, columns = shown.pixels.shape[:2]
    cell = max(1, SIDE // max(rows, columns)) if max(rows, columns) <= SIDE // 8 else SIDE / max(rows, columns)
    wide, high = round(columns * cell), round(rows * cell)
    size = min(26, int(cell * 0.8))
    few = shown.tile == 1 and max(rows, columns) <= LABELS and size >= SMALLEST
    texts = [*shown.queries, *shown.keys]
    labelled = few and bool(texts) and pen.can_write("".join(texts))
    beside = 110 if labelled else 0
    left, top = EDGE + beside, (HEIGHT - high) // 2
    image.paste(_hatched(shown, wide, high), (left, top))
    if labelled:
        _label_rows(pen, shown.queries, (left, top), cell, size, beside)
    at = (shown.query - shown.first[0]) // shown.tile
    if 0 <= at < rows:
        box = (left - 2, top + at * cell - 2, left + columns * cell + 1, top + (at + 1) * cell + 1)
        pen.draw.rectangle(box, outline=theme.QUERY, width=4)
    return left + wide


def _hatched(shown: HeadMap, wide: int, high: int) -> Image.Image:
    """The cells of a head at this size, masked ones hatched."""
    size = wide, high
    pixels = np.array(Image.fromarray(shown.pixels).resize(size, Image.Resampling.NEAREST))
    masked = np.array(Image.fromarray(shown.masked).resize(size, Image.Resampling.NEAREST))
    pixels[masked & stripes(high, wide)] = rgb(INK["hatch"])
    return Image.fromarray(pixels)


def _label_rows(pen: Pen, texts: Sequence[str], corner: tuple[int, int], cell: float, size: int, width: int) -> None:
    """Writes the tokens of the queries beside the rows."""
    left, top = corner
    for at, text in enumerate(texts):
        spot = (left - 10, top + (at + 0.5) * cell)
        pen.write(spot, pen.cut(text[: 2 * CUT], size, width - 14), size, INK["text"], "rm")


def _open_font(file: Path | None, size: int, weight: int) -> ImageFont.FreeTypeFont:
    """The font of a file, if it can be read, else Pillow's."""
    if file is not None:
        try:
            font = ImageFont.truetype(file, size)
            font.set_variation_by_axes([weight])
            return font
        except OSError:
            pass
    found = ImageFont.load_default(size)
    assert isinstance(found, ImageFont.FreeTypeFont)
    return found


def _mask_bytes(font: ImageFont.FreeTypeFont, text: str) -> bytes:
    return bytes(font.getmask(text))  # pyright: ignore[reportArgumentType]  Pillow's own image is iterable

"""How heads of several layers are named in sentences and charts."""

from __future__ import annotations

from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_head
from attention.recorded.shipped import SHIPPED
from attention.ui.text import layers as text


def head_title(config: Config, cell: tuple[int, int]) -> str:
    """A head in words within a sentence, with its layer if there are several."""
    return format_head(cell[1], cell[0] if len(layers(config.source)) > 1 else None).lower()


def head_label(config: Config, cell: tuple[int, int]) -> str:
    """A head by its layer and its index there, as in L1H3: next to an axis, 1.3 would read as a number."""
    return f"L{cell[0]}H{cell[1]}" if len(layers(config.source)) > 1 else f"H{cell[1]}"


def cell_text(config: Config, cell: tuple[int, int], value: str, is_off: bool) -> str:
    """The tooltip of a head on the map of layers: its value, and whether it is switched off."""
    template = text.CELL_OFF if is_off else text.CELL
    return template.format(head=head_title(config, cell).capitalize(), value=value)


def heads_phrase(config: Config, count: int) -> str:
    """These heads in words, with the number of their layers if the model has others."""
    numbers = layers(config.source)
    if len(numbers) < 2 or numbers == tuple(range(len(numbers))):
        return text.ALL_HEADS.format(count=count)
    depth = model_depth(config)
    template = text.HEADS_OF_SOME if depth else text.HEADS_OF_SEVERAL
    return template.format(count=count, layers=len(numbers), all=depth)


def place_text(at: int, count: int) -> str:
    """The place of a head among `count` heads, the highest first, in words.

    >>> [place_text(at, 54) for at in (1, 2, 3, 11, 23, 54)]
    ['highest of 54', '2nd of 54', '3rd of 54', '11th of 54', '23rd of 54', 'lowest of 54']
    """
    if at in (1, count):
        return (text.HIGHEST if at == 1 else text.LOWEST).format(count=count)
    ending = "th" if at % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(at % 10, "th")
    return text.NTH.format(nth=f"{at}{ending}", count=count)


def model_depth(config: Config) -> int:
    """The number of layers of the model of a recording; 0 of other sources."""
    kind, _, name = config.source.partition(":")
    return SHIPPED[name].depth if kind == "recorded" and name in SHIPPED else 0

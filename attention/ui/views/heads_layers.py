"""The map of layers and heads, of a source that has several layers: one number a head; a click opens that layer and head."""

from __future__ import annotations

from math import log

import pyarrow as pa
import streamlit as st

from attention.charts import layers as chart
from attention.config import DEFAULTS, Config, layers
from attention.heads import EVERY, NUMBERS, Number, OfTokens
from attention.sources.origins import provenance, tokens
from attention.ui import compute
from attention.ui.controls import knobs
from attention.ui.session import gestures, page
from attention.ui.views import heads_parts as parts
from attention.ui.views import questions
from attention.ui.words import plain

FIRST = ("induction", "previous")  # the first of these that is known is what the map shows unless somebody chooses
SHOWN = frozenset({"layer_map"})
Cells = dict[tuple[int, int], float]


def _number(config: Config) -> str:
    """The number that the map shows."""
    usual = next(name for name in FIRST if name in _known(config))
    return config.layer_map if config.layer_map in _known(config) else usual


def _known(config: Config) -> dict[str, Number | OfTokens]:
    """The numbers that there are of a source: some are of tokens whose texts are known, in a sequence that looks at itself."""
    return EVERY if tokens(config).texts and not config.crosses else {**NUMBERS}


def _draw(config: Config) -> None:
    """The map beside what it shows, and whose heads these are."""
    number = EVERY[_number(config)]
    cells = _cells(_number(config), compute.heads.layers(config))
    st.markdown(f"**Layers and heads.** {number.label}: {plain(number.formula)}. Click a cell to open its head.")
    left, right = parts.beside()
    with left:
        if cells:
            _map(config, number, cells)
        else:
            st.caption("No query sees a key under this mask: there is nothing to show.")
    with right:
        options = (DEFAULTS["layer_map"], *_known(config))
        knobs.menu("layer_map", config, options, format_func=_called, on_change=page.change)
        if cells:
            st.caption(_said(config, number, cells))
        st.caption(plain(provenance(config)))


def _called(name: str) -> str:
    """A choice of the menu for the reader."""
    return EVERY[name].label if name in EVERY else f"Auto: {EVERY[_number(Config())].label.lower()}"


def _cells(name: str, found: dict[int, dict[str, list[float]]]) -> Cells:
    """A number by layer and head, of those that have one: none has where no query sees a key."""
    return {
        (layer, head): value
        for layer, columns in found.items()
        for head, value in enumerate(columns[name])
        if value is not None
    }


def _map(config: Config, number: Number | OfTokens, cells: Cells) -> None:
    table = {
        "layer": [layer for layer, _ in cells],
        "head": [head for _, head in cells],
        "value": list(cells.values()),
        "focus": [cell == (config.layer, config.head) for cell in cells],
        "turn": [page.kept().turns] * len(cells),
    }
    top = max(_top(number.unit, config.tokens), *cells.values())
    st.vega_lite_chart(
        pa.table(table),
        chart.numbers(layers(config.source), config.heads, number.label, top, _digits(number)),
        key="layers",
        width="stretch",
        on_select=gestures.layered,
        selection_mode=chart.CELL,
        alt=f"Heatmap by layer and head: {number.label.lower()} of each head",
    )


def _top(unit: str, tokens: int) -> float:
    """Where the scale of a number ends: the most that it can be; of a distance, under a causal mask."""
    return {"nats": log(tokens), "tokens": (tokens - 1) / 2}.get(unit, 1.0)


def _digits(number: Number | OfTokens) -> int:
    """After the point: as many as a cell has room for."""
    return 1 if number.unit else 2


def _said(config: Config, number: Number | OfTokens, cells: Cells) -> str:
    """The number of the head in focus, and whose is the greatest."""
    digits, unit = _digits(number), f" {number.unit}".rstrip()
    (layer, head), most = max(cells.items(), key=lambda cell: cell[1])
    return (
        f"Layer {config.layer}, head {config.head}, in focus: {cells[config.layer, config.head]:.{digits}f}{unit}. "
        f"The greatest: layer {layer}, head {head}, with {most:.{digits}f}{unit}."
    )


def _look(config: Config) -> object:
    """None where there is one layer, where the sequence is too long for a trace, or a question hides the heads."""
    if len(layers(config.source)) < 2 or config.traceable is not config or questions.hidden(config):
        return None
    return config.tensors, config.head, _number(config), config.layer_map


MAP = page.Part("layers of heads", _draw, _look, SHOWN, blocks=2)

"""The map of a model's heads on Model: the weight of every head on one pair of tokens, or a statistic."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import streamlit as st

from attention.analysis.head_numbers import EVERY
from attention.charts.layers import Room
from attention.config import Config
from attention.number_format import format_percent
from attention.sources.providers import distributes, tokens
from attention.tables import rows
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.results.layers import Layer
from attention.ui.session import gestures, page
from attention.ui.text import model as text
from attention.ui.views import heads_layers as maps

SPECIAL = 3  # times its mean: from this weight on a head links two tokens in particular
CHIPS = 40  # maximum number of tokens that are shown as chips, above a map of one cell per pair
ROOM = Room(67, 440)  # of six layers as high as the map of the selected head


class Pair(NamedTuple):
    """Two tokens in words, the weight of the first on the second in the selected head, and in every head.

    `means`: the mean weight on the second in every head, over all tokens that see it.
    """

    query: str
    key: str
    weight: float
    cells: maps.Cells
    means: maps.Cells


def has_words(config: Config) -> bool:
    """Whether the tokens of a source are shown as words."""
    return not config.is_cross and config.tokens <= CHIPS and tokens(config).line and bool(rows.labels(config))


def selected_pair(config: Config) -> Pair | None:
    """The selected token, and the key on which the selected head puts most of its weight; None if they have no words."""
    if not has_words(config) or not distributes(config):
        return None
    query, names = config.query_index, rows.labels(config)
    row = results.heads.trace(config).weights[config.head, query]
    key = int(row.argmax())
    if not float(row[key]):
        return None
    one, two = (_token_name(names, at) for at in (query, key))
    return Pair(
        one,
        two,
        float(row[key]),
        results.layers.pair_weights(config, query, key),
        results.layers.key_means(config, key),
    )


def _token_name(names: list[str], at: int) -> str:
    """A token in words, with its position if others have the same text."""
    return (text.TOKEN if names.count(names[at]) == 1 else text.TOKEN_AT).format(token=names[at], at=at)


def many_sentence(config: Config, pair: Pair, template: str = text.MANY) -> str:
    """How many heads put over half of the query on the key, and which most or for this query in particular, as Markdown."""
    many = sum(value > maps.HIGH for value in pair.cells.values())
    best = max(pair.cells, key=pair.cells.__getitem__)
    if other := contrast(pair):
        template += f" {text.IN_PARTICULAR}"
        best = next(cell for cell in pair.cells if pair.cells[cell] > maps.HIGH and cell != other)
    else:
        template += f" {text.MOST}"
    return template.format(
        other=maps.head_title(config, other) if other else "",
        mean=format_percent(pair.means[other]) if other else "",
        count=many,
        heads=len(pair.cells),
        query=escape(pair.query),
        key=escape(pair.key),
        best=maps.head_title(config, best) if other else maps.head_title(config, best).capitalize(),
        most=format_percent(pair.cells[best]),
    )


def contrast(pair: Pair) -> tuple[int, int] | None:
    """The head that puts over half of the query on the key as much of other tokens does; None if not one of two heads does.

    The other of the two puts at least `SPECIAL` times as much of this query there as of all tokens on average.
    """
    high = [cell for cell, value in pair.cells.items() if value > maps.HIGH]
    usual = [cell for cell in high if pair.cells[cell] < SPECIAL * pair.means[cell]]
    return usual[0] if len(high) == 2 and len(usual) == 1 else None


def _offer_other(config: Config, pair: Pair) -> None:
    """Draws a button that selects the other of two heads that put over half of the query on the key."""
    high = [cell for cell, value in pair.cells.items() if value > maps.HIGH]
    others = [cell for cell in high if cell != (config.layer, config.head)]
    if contrast(pair) and len(others) == 1:
        layer, head = others[0]
        label = text.SELECT.format(head=maps.head_title(config, others[0]))
        st.button(label, key="other head", on_click=page.change, kwargs={"layer": layer, "head": head})


def draw(
    prompt: Any,
    config: Config,
    found: dict[int, Layer],
    off: Collection[tuple[int, int]] | None = None,
    on_click: Callable[[], None] = gestures.on_layer_click,
    said: Pair | None = None,
) -> None:
    """Draws the map and a sentence about it: of the selected pair, unless a statistic is chosen or there is no pair.

    `said`: the pair of which the title of the page says the sentence.
    """
    pair = selected_pair(config) if prompt.layer_map not in EVERY else None
    if pair is None:
        maps.draw_map(config, found, off, on_click, ROOM)
        name = maps.number(config, found)
        told = text.METRIC.format(name=escape(EVERY[name].label), sentence=maps.metric_sentence(config, found))
        st.caption(told.rstrip(), help=maps.formula(name))
        return
    label = text.PAIR.format(query=pair.query, key=pair.key)
    maps.draw_cells(config, pair.cells, label, 1.0, 2, True, off, on_click, ROOM)
    st.caption(text.SHOWS.format(query=escape(pair.query), key=escape(pair.key)))
    if said is None or pair[:2] != said[:2]:
        st.caption(many_sentence(config, pair))
    _offer_other(config, pair)

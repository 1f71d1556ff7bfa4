"""The map of a model's heads on Model: the weight of every head on one pair of tokens, or a statistic."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from attention.analysis.head_numbers import EVERY
from attention.charts.layers import Room
from attention.config import Config
from attention.models.prompt import PROMPTS
from attention.number_format import format_percent
from attention.sources.providers import distributes, tokens
from attention.tables import rows
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.results.layers import Layer
from attention.ui.session import gestures, page
from attention.ui.text import model as text
from attention.ui.views import heads_layers as maps

LARGEST = PROMPTS.defaults["key"]  # the key with most of the weight
SPECIAL = 3  # times its mean: from this weight on a head links two tokens in particular
CHIPS = 40  # maximum number of tokens that are shown as chips, above a map of one cell per pair
ROOM = Room(67, 440)  # of six layers as high as the map of the selected head


class Pair(NamedTuple):
    """Two tokens by position and in words, the weight of the first on the second in the selected head, and in every head.

    `means`: the mean weight on the second in every head, over all tokens that see it.
    """

    at: tuple[int, int]
    query: str
    key: str
    weight: float
    cells: maps.Cells
    means: maps.Cells


def has_words(config: Config) -> bool:
    """Whether the tokens of a source are shown as words."""
    return not config.is_cross and config.tokens <= CHIPS and tokens(config).line and bool(rows.labels(config))


def selected_pair(config: Config, key: int = LARGEST) -> Pair | None:
    """The selected token and a key that it sees, by default the one with most of its weight in the selected head.

    None if tokens have no words, or rows are no distributions.
    """
    if not has_words(config) or not distributes(config):
        return None
    query, names, trace = config.query_index, rows.labels(config), results.heads.trace(config)
    row = trace.weights[config.head, query]
    if not (0 <= key < config.tokens and bool(trace.mask[query, key])):
        key = int(row.argmax())
    if not bool(trace.mask[query, key]):
        return None
    one, two = (_token_name(names, at) for at in (query, key))
    return Pair(
        (query, key),
        one,
        two,
        float(row[key]),
        results.layers.pair_weights(config, query, key),
        results.layers.key_means(config, key),
    )


def _token_name(names: list[str], at: int) -> str:
    """A token in words, with its position if others have the same text."""
    return (text.TOKEN if names.count(names[at]) == 1 else text.TOKEN_AT).format(token=names[at], at=at)


def many_sentence(config: Config, pair: Pair, heads: str = text.HEADS_RUN) -> str:
    """How many of the `heads` put over half of the query on the key, and which one most or in particular, as Markdown."""
    high = [cell for cell, value in pair.cells.items() if value > maps.HIGH]
    best, other = max(pair.cells, key=pair.cells.__getitem__), contrast(pair)
    template = (text.MANY_NONE, text.MANY_ONE, text.MANY)[min(len(high), 2)]
    if other:
        template, (best,) = text.MANY_TWO, (cell for cell in high if cell != other)
    return template.format(
        count=len(high),
        heads=heads.format(count=len(pair.cells)),
        query=escape(pair.query),
        key=escape(pair.key),
        best=maps.head_title(config, best),
        most=format_percent(pair.cells[best]),
    )


def contrast(pair: Pair) -> tuple[int, int] | None:
    """The head that puts over half of the query on the key as much of other tokens does; None if not one of two heads does.

    The other of the two puts at least `SPECIAL` times as much of this query there as of all tokens on average.
    """
    high = [cell for cell, value in pair.cells.items() if value > maps.HIGH]
    usual = [cell for cell in high if pair.cells[cell] < SPECIAL * pair.means[cell]]
    return usual[0] if len(high) == 2 and len(usual) == 1 else None


def knobs_of(pair: Pair) -> dict[str, int]:
    """The knobs of a pair of tokens, which stays when another head is selected."""
    return dict(zip(("query", "key"), pair.at, strict=True))


def _offer_other(config: Config, pair: Pair) -> None:
    """Draws how the two heads differ that put over half of the query on the key, and a button that selects the other."""
    usual = contrast(pair)
    if usual is None:
        return
    said = text.OTHER.format(
        other=maps.head_title(config, usual).capitalize(), mean=format_percent(pair.means[usual]), key=escape(pair.key)
    )
    st.caption(said)
    high = [cell for cell, value in pair.cells.items() if value > maps.HIGH]
    others = [cell for cell in high if cell != (config.layer, config.head)]
    if len(others) == 1:
        layer, head = others[0]
        label = text.SELECT.format(head=maps.head_title(config, others[0]))
        kwargs = {"layer": layer, "head": head, **knobs_of(pair)}
        st.button(label, key="other head", on_click=page.change, kwargs=kwargs)


def draw(
    prompt: Any,
    config: Config,
    found: dict[int, Layer],
    pair: Pair | None,
    off: Collection[tuple[int, int]] | None = None,
    on_click: Callable[..., None] = gestures.on_layer_click,
) -> None:
    """Draws the map: of the selected pair, unless a statistic is chosen or there is no pair. A click on a head keeps the pair."""
    if pair is not None:
        on_click = partial(on_click, more=knobs_of(pair))
    behaviour = maps.Behaviour(on_click, off, ROOM)
    if pair is None or prompt.layer_map in EVERY:
        maps.draw_map(config, found, behaviour)
    else:
        label = text.PAIR.format(query=pair.query, key=pair.key)
        maps.draw_cells(config, maps.Values(pair.cells, label), behaviour)


def draw_sentence(prompt: Any, config: Config, found: dict[int, Layer], pair: Pair | None, told: bool) -> None:
    """Draws what the map shows, as a sentence. `told`: the title of the page says it of the selected pair."""
    if pair is None or prompt.layer_map in EVERY:
        name = maps.number(config, found)
        said = text.METRIC.format(name=escape(EVERY[name].label), sentence=maps.metric_sentence(config, found))
        st.caption(said.rstrip(), help=maps.formula(name))
        return
    if not told:
        st.caption(many_sentence(config, pair))
    _offer_other(config, pair)

"""The map of a model's heads on Model: the weight of every head on one pair of tokens, or a statistic."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
import torch
from jaxtyping import Bool
from torch import Tensor

from attention.analysis.head_numbers import EVERY, is_special
from attention.charts.layers import Room
from attention.config import Config
from attention.fitting import layers
from attention.models.prompt import PROMPTS
from attention.number_format import format_percent
from attention.sources.providers import distributes, tokens
from attention.tables import rows
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.results.layers import KeyShare, Layer
from attention.ui.session import gestures, page
from attention.ui.text import model as text
from attention.ui.views import heads_layers as maps
from attention.ui.views.head_names import head_title

LARGEST = PROMPTS.defaults["key"]  # the key with most of the weight
CHIPS = 40  # maximum number of tokens that are shown as chips, above a map of one cell per pair
ROOM = Room(44, 440)  # of six layers: the map and its sentence end above the fold
LEFT_OUT = {"entropy_share", "effective_keys", "even"}  # say much the same as the entropy; Layers has them


class Pair(NamedTuple):
    """Two tokens by position and in words, the weight of the first on the second in the selected head, and in every head.

    `shares`: how much every head puts on the second, over all tokens that see it.
    """

    at: tuple[int, int]
    query: str
    key: str
    weight: float
    cells: maps.Cells
    shares: dict[tuple[int, int], KeyShare]


def has_words(config: Config) -> bool:
    """Whether the tokens of a source are shown as words."""
    return not config.is_cross and config.tokens <= CHIPS and tokens(config).line and bool(rows.labels(config))


def selected_pair(config: Config, key: int = LARGEST) -> Pair | None:
    """The selected token and a key that it sees, by default the other word with most of its weight in the selected head.

    A token that the model adds, or the selected one itself, is the default only if there is no other. None if tokens have no
    words, or rows are no distributions.
    """
    if not has_words(config) or not distributes(config):
        return None
    query, names, trace = config.query_index, rows.labels(config), results.heads.trace(config)
    row = trace.weights[config.head, query]
    if not (0 <= key < config.tokens and bool(trace.mask[query, key])):
        key = int(row.where(other_words(config)[query], -1).argmax())
        key = key if other_words(config)[query, key] else int(row.argmax())
    if not bool(trace.mask[query, key]):
        return None
    one, two = (token_name(names, at) for at in (query, key))
    return Pair(
        (query, key),
        one,
        two,
        float(row[key]),
        results.layers.pair_weights(config, query, key),
        results.layers.key_shares(config, key, maps.HIGH),
    )


def with_strongest_pair(config: Config, any_head: bool, any_query: bool) -> Config:
    """The config with the token and head, of those that may change, that put the largest weight on another word.

    Pairs of neighbours count only if there are no others, as many heads attend to the token before or after.
    """
    if not has_words(config) or not distributes(config):
        return config
    words, at = other_words(config), torch.arange(config.tokens)
    if not any_query:
        words = words & (at == config.query_index)[:, None]
    best: tuple[bool, float, Config] | None = None
    for layer in layers(config.source) if any_head else (config.layer,):
        each = results.heads.trace(config.of_layer(layer)).weights
        for head in range(config.heads) if any_head else (config.head,):
            share, key = each[head].where(words, -1).max(-1)
            far = (key - at).abs() > 1
            query = int((share + far * (share > 0)).argmax())
            found = bool(far[query]), float(share[query]), replace(config.of_layer(layer), head=head, query=query)
            if found[1] > 0 and (best is None or found[:2] > best[:2]):
                best = found
    return best[2] if best else config


def other_words(config: Config) -> Bool[Tensor, "q k"]:
    """Which pairs that take part are of two different words: tokens with a letter or a digit that the model does not add.

    The first token of a text is no such key: a decoder may put weight there that is meant for no token.
    """
    names = [name.strip().lower() for name in rows.labels(config)]
    word = torch.tensor([any(map(str.isalnum, name)) and not is_special(name) for name in names])
    other = torch.tensor([[one != two for two in names] for one in names])
    key = word & (torch.arange(len(names)) > 0)
    return results.heads.trace(config).mask & word[:, None] & key & other


def token_name(names: list[str], at: int) -> str:
    """A token in words, with its position if others have the same text."""
    return (text.TOKEN if names.count(names[at]) == 1 else text.TOKEN_AT).format(token=names[at], at=at)


def many_sentence(config: Config, pair: Pair, heads: str = text.HEADS_RUN) -> str:
    """How many of the `heads` put over half of the query on the key, and which one most, as Markdown.

    If two do, it says for how many tokens each of them does: a head that does so for many does not do it for this query alone.
    """
    high = high_heads(config, pair)
    best = max(pair.cells, key=pair.cells.__getitem__)
    many = [pair.shares[cell].above for cell in high]
    template = (text.MANY_NONE, text.MANY_ONE, text.MANY_TWO, text.MANY)[min(len(high), 3)]
    if len(set(many)) == 1 and len(high) == 2:
        template = text.MANY_ALIKE
    return template.format(
        **dict(zip(("one", "two"), (head_title(config, cell) for cell in high), strict=False)),
        **dict(zip(("many", "few"), many, strict=False)),
        queries=next(iter(pair.shares.values())).queries,
        count=len(high),
        heads=heads.format(count=len(pair.cells)),
        query=escape(pair.query),
        key=escape(pair.key),
        best=head_title(config, best),
        most=format_percent(pair.cells[best]),
    )


def high_heads(config: Config, pair: Pair) -> list[tuple[int, int]]:
    """The heads that put over half of the query on the key: the selected one, then the one that does so for most tokens."""
    high = [cell for cell, value in pair.cells.items() if value > maps.HIGH]
    return sorted(high, key=lambda cell: (cell != (config.layer, config.head), -pair.shares[cell].above))


def knobs_of(pair: Pair) -> dict[str, int]:
    """The knobs of a pair of tokens, which stays when another head is selected."""
    return dict(zip(("query", "key"), pair.at, strict=True))


def offer_other(config: Config, pair: Pair) -> None:
    """Draws a button that selects the other one of two heads that put over half of the query on the key."""
    high = high_heads(config, pair)
    others = [cell for cell in high if cell != (config.layer, config.head)]
    if len(high) == 2 and len(others) == 1:
        layer, head = others[0]
        label = text.SELECT.format(head=head_title(config, others[0]))
        kwargs = {"layer": layer, "head": head, **knobs_of(pair)}
        st.button(label, key="other head", on_click=page.change, kwargs=kwargs)


def draw(
    prompt: Any,
    config: Config,
    found: dict[int, Layer],
    pair: Pair | None,
    room: Room = ROOM,
    off: Collection[tuple[int, int]] | None = None,
    on_click: Callable[..., None] = gestures.on_layer_click,
) -> None:
    """Draws the map: of the selected pair, unless a statistic is chosen or there is no pair. A click on a head keeps the pair."""
    if pair is not None:
        on_click = partial(on_click, more=knobs_of(pair))
    behaviour = maps.Behaviour(on_click, off, room)
    if pair is None or prompt.layer_map in EVERY:
        name = EVERY[maps.number(config, found)].label
        maps.draw_map(config, found, behaviour, text.METRIC_TITLE.format(name=name, heads=config.heads * len(found)))
    else:
        named = {"query": pair.query, "key": pair.key}
        title = text.PAIR_TITLE.format(**named, heads=len(pair.cells))
        maps.draw_cells(config, maps.Values(pair.cells, text.PAIR.format(**named), title=title), behaviour)


def draw_sentence(prompt: Any, config: Config, found: dict[int, Layer], pair: Pair | None) -> None:
    """Draws what the map shows, as a sentence."""
    if pair is None or prompt.layer_map in EVERY:
        name = maps.number(config, found)
        said = text.METRIC.format(name=escape(EVERY[name].label), sentence=maps.metric_sentence(config, found))
        st.caption(said.rstrip(), help=maps.formula(name))
        return
    recorded = page.visit_state().reading is None
    st.caption(many_sentence(config, pair, text.HEADS_RECORDED if recorded else text.HEADS_RUN))
    offer_other(config, pair)

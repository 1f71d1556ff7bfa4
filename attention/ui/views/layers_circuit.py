"""Previous-token heads below induction heads: that they are there, and two of them at work on one pair of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from attention.analysis.repeats import Copy, Largest, largest_weight
from attention.charts import heatmap
from attention.charts.layers import left_out
from attention.components.large_head import large_head
from attention.config import Config
from attention.fitting import layers
from attention.knobs import DEFAULTS
from attention.number_format import format_token
from attention.sources.providers import tokens
from attention.ui import provenance, results
from attention.ui.markdown import escape, join_words
from attention.ui.results.layers import Layer
from attention.ui.session import page
from attention.ui.text import layers as text
from attention.ui.views import heads_layers as maps
from attention.ui.views import layers_copies as copies
from attention.ui.views import layers_kinds, questions
from attention.ui.views.head_names import head_title, model_depth

EMERGES = "trained:induction"
FOLD = "two heads"  # the key of the expander
HEIGHT = 380  # pixels of each of the two maps, with its axes
Cell = tuple[int, int]


def highest(config: Config, found: Mapping[int, Layer]) -> dict[str, int]:
    """The knobs that select the head with the largest value; {} if two sides are compared or a question asks for it."""
    held = maps.cells(maps.number(config, found), found)
    if not held or maps.absent(config, found) or config.against or questions.unsaid(config):
        return {}
    layer, head = max(held, key=held.__getitem__)
    return {"layer": layer, "head": head}


class Order(NamedTuple):
    """The layers of previous-token heads before the first induction head, those of others, and those of induction heads."""

    earlier: list[int]
    others: list[int]
    later: list[int]


def order_of_kinds(config: Config, found: Mapping[int, Layer]) -> Order | None:
    """Where the heads of both kinds are; None unless some previous-token head comes first.

    None, too, with other settings than the model's: what it wrote, it wrote with its own.
    """
    previous, later = (maps.high_layers(name, found) for name in ("previous", "induction"))
    if not (maps.is_weight(config, found) and previous and later) or previous[0] >= later[0]:
        return None
    if provenance.changed_settings(config) or not maps.tells_of_copies("induction", config, found):
        return None
    earlier = [layer for layer in previous if layer < later[0]]
    return Order(earlier, previous[len(earlier) :], later)


def finding(found: Mapping[int, Layer], order: Order) -> str:
    """That heads of both kinds are there, the ones before the others, for the heading of the page."""
    count = sum(value > maps.HIGH for value in maps.cells("induction", found).values())
    heads, find = text.LATER_HEADS if count > 1 else text.ONE_LATER
    earlier, later = _in_layers(order.earlier), _in_layers(order.later)
    return text.ORDER.format(earlier=earlier, later=later, heads=heads.format(count=count), find=find)


def say_order(config: Config, found: Mapping[int, Layer], order: Order, shown: str) -> None:
    """Says that previous-token heads are in layers below the induction heads, and what they can do for these.

    Draws buttons that show the map of the others, and a training in which such a head appears. `shown`: the statistic of the
    map, or that of the selected head on the map of what each head does; that one stays, and the best of the others is selected.
    """
    kinds = layers_kinds.is_shown(config)
    if not kinds and shown not in text.OTHER_PATTERN:
        return
    pair, texts = _copy(config.truncated, found), tokens(config.truncated).texts
    earlier, others, later = map(_in_layers, order)
    said = text.LATER.format(earlier=earlier, later=later, others=others and text.OTHERS_LATER.format(layers=others))
    said, how = "" if kinds else said, text.HOW_ALL_KINDS if kinds else text.HOW_ALL
    if pair:
        how = (text.HOW_KINDS if kinds else text.HOW).format(
            key=escape(f"“{texts[pair.key]}”"), query=escape(f"“{texts[pair.query]}”")
        )
    if kinds and others:
        how += text.OTHERS_COME_LATER.format(layers=others)
    if model_depth(config) and left_out(layers(config.source)):
        how += text.CHOSEN.format(count=len(layers(config.source)), depth=model_depth(config))
    st.markdown(said + how)
    name, label = text.OTHER_PATTERN.get(shown, text.OTHER_PATTERN["previous"])
    label = text.OTHER_HEAD[name] if kinds else label
    row = pair.key if pair and name == "previous" else DEFAULTS["query"]
    knobs = {"layer_map": config.layer_map if kinds else name, "query": row} | highest(
        replace(config, layer_map=name), found
    )
    with st.container(horizontal=True, gap="small"):
        st.button(label, key="try", help=text.TRY_HELP, on_click=page.change, kwargs=knobs)
        if config.source != EMERGES:
            st.button(text.EMERGE, key="emerge", help=text.EMERGE_HELP, on_click=_watch_emerge, args=(config,))


def _in_layers(numbers: Sequence[int]) -> str:
    """Layers in words; "" if there are none."""
    return text.IN_LAYERS[len(numbers) > 1].format(layers=join_words([*map(str, numbers)])) if numbers else ""


def _copy(config: Config, found: Mapping[int, Layer]) -> Copy | None:
    """The pair of tokens on which the strongest induction head is shown."""
    pair = copies.example(_at(config, _top("induction", found)), "induction")
    return pair if isinstance(pair, Copy) else None


def _watch_emerge(config: Config) -> None:
    """Shows the training at the last step without an induction head."""
    shows = config.layer_map if layers_kinds.is_shown(config) else DEFAULTS["layer_map"]
    steps = maps.steps_of_appearance(maps.highest_by_step(Config.of(EMERGES)))
    page.change(source=EMERGES, layer_map=shows, **({"training_step": steps[0]} if steps else {}))


def draw(config: Config, found: Mapping[int, Layer]) -> None:
    """Draws an expander; open, a head that attends to the token before and a later one after copies, both on one pair."""
    if config.tokens > copies.MOST:
        return
    fold = st.expander(text.TOGETHER_FOLD, icon=":material/hub:", key=FOLD, on_change="rerun")
    if fold.open:
        with fold:
            _draw_both(config.truncated, found)


def _draw_both(config: Config, found: Mapping[int, Layer]) -> None:
    """Draws the earlier head at the key of a copy, and the later head at its query."""
    first, second = (_at(config, _top(name, found)) for name in ("previous", "induction"))
    pair, trace = _copy(config, found), results.heads.trace(first)
    reads = largest_weight(trace.weights[first.head], trace.mask, pair.key) if pair else None
    if pair is None or reads is None:
        st.caption(text.TOGETHER_NONE)
        return
    both = (first, reads, text.TOGETHER_FIRST), (second, pair, text.TOGETHER_SECOND)
    for column, (shown, at, said) in zip(st.columns(2, gap="medium"), both, strict=True):
        with column:
            st.markdown(said.format(head=head_title(shown, (shown.layer, shown.head)).capitalize()))
            _draw_map(replace(shown, query=at.query), at)
    query, key = (escape(format_token(tokens(config).texts[at], at)) for at in (pair.query, pair.key))
    st.caption(text.TOGETHER_MEANS.format(query=query, key=key))


def _draw_map(config: Config, pair: Copy | Largest) -> None:
    cells = results.heads.part(config, config.head, ((0, config.tokens), (0, config.n_keys)), heatmap.PIXELS)
    marks, key = copies.marks(config, pair), f"together {config.layer}"
    large_head(config, cells, (0, 0), key=key, zooms=False, height=HEIGHT, marks=marks)


def _at(config: Config, cell: Cell) -> Config:
    """A head of these layers with no row selected."""
    return copies.with_plain_colors(replace(config, layer=cell[0], head=cell[1], query=DEFAULTS["query"]))


def _top(name: str, found: Mapping[int, Layer]) -> Cell:
    """The head that follows a pattern most."""
    held = maps.cells(name, found)
    return max(held, key=held.__getitem__)

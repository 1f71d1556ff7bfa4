"""The map of what each head does: a word and a colour for the kind of keys that it attends to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
import streamlit as st

from attention.analysis.head_survey import JOINED
from attention.charts import layers as chart
from attention.charts import theme
from attention.config import Config
from attention.fitting import layers
from attention.knobs import KINDS
from attention.ui.results.layers import Layer
from attention.ui.session import gestures
from attention.ui.text import layers as text
from attention.ui.views import heads_layers as maps
from attention.ui.views.head_names import cell_text, heads_phrase
from attention.ui.views.known_metrics import known_metrics

COUNTED_BY = {  # the statistic of a kind, by the first word of its role
    "one": "previous",
    "next": "next",
    "induction": "induction",
    "first": "first",
    "itself": "same",
    "same": "same",
    "uniform": "even",
}
MORE = "+"  # after the word of a head with a second kind of keys
OTHER = "two"  # the kind whose colour every other number of tokens back has


def is_shown(config: Config) -> bool:
    """Whether the map shows what each head does, not a statistic."""
    return config.layer_map == KINDS


def focus(config: Config, found: Mapping[int, Layer]) -> Config:
    """The settings with the statistic that counts what the selected head does, if the map shows that of each head."""
    if not is_shown(config):
        return config
    first = _kinds(config, found).get((config.layer, config.head), "").split(JOINED)[0]
    name = COUNTED_BY.get(first.partition(" ")[0], maps.FOCUS)
    return replace(config, layer_map=name if name in known_metrics(config) else "auto")


def _kinds(config: Config, found: Mapping[int, Layer]) -> dict[tuple[int, int], str]:
    """The role of each head that has one with a short word; those that the headline counts have the role of its statistic."""
    counted, name = maps.counted_heads(config, found), maps.number(config, found)
    role_of = {statistic: first for first, statistic in COUNTED_BY.items() if statistic != "same"}
    known = {
        (layer, head): role.name
        for layer, each in found.items()
        for head, role in enumerate(each.roles)
        if role and role.shows and role.name.split(JOINED)[0].partition(" ")[0] in text.SHORT_ROLES
    }
    return known | (dict.fromkeys(counted, role_of[name]) if name in role_of else {})


def finding(config: Config, found: Mapping[int, Layer]) -> str:
    """The most frequent kind, for the heading of the page, and how many heads have none."""
    every = sum(len(each.roles) for each in found.values())
    heads, firsts = heads_phrase(config, every), [*_firsts(_kinds(config, found)).values()]
    if not firsts:
        return text.KINDS_EMPTY.format(heads=heads)
    [(first, count)] = Counter(firsts).most_common(1)
    none = text.KINDS_NONE.format(count=every - len(firsts)) if len(firsts) < every else ""
    template = text.KINDS_FINDING if count > 1 else text.KINDS_EACH if len(firsts) > 1 else text.KINDS_ONE
    count = count if count > 1 else len(firsts)
    shown = count if count < every else text.ALL
    return template.format(heads=heads, count=shown, keys=text.SHORT_ROLES[first][1], none=none)


def _firsts(kinds: Mapping[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """The first word of each role, which names its colour and its word."""
    return {cell: role.partition(" ")[0].rstrip(",") for cell, role in kinds.items()}


class Kinds(NamedTuple):
    """The map: by head its kind in words and its word; and all kinds in words, each with its colour and opacity."""

    cells: dict[tuple[int, int], tuple[str, str]]
    named: dict[str, tuple[str, float]]


def kinds_map(config: Config, found: Mapping[int, Layer]) -> Kinds:
    """Returns the map; heads that follow no single pattern are not in it."""
    kinds = _kinds(config, found)
    firsts = _firsts(kinds)
    cells = {cell: (_key(first), _word(first, kinds[cell])) for cell, first in firsts.items()}
    return Kinds(cells, {_key(first): _color(first) for first in text.SHORT_ROLES if first in firsts.values()})


def draw_map(config: Config, found: Mapping[int, Layer], room: chart.Room, title: str) -> None:
    """Draws the map with its key, and what the words in its cells are."""
    (kinds, named), roles = kinds_map(config, found), _kinds(config, found)
    cells = [(layer, head) for layer, each in found.items() for head in range(len(each.roles))]
    table = maps.cell_columns(dict.fromkeys(cells, 0.0), (config.layer, config.head))
    del table["value"]
    colors = tuple((kind, theme.transparent(*color)) for kind, color in named.items())
    table["kind"] = [kinds[cell][0] if cell in kinds else None for cell in cells]
    table["word"] = [kinds[cell][1] if cell in kinds else "" for cell in cells]
    table["joined"] = [word.endswith(MORE) for word in table["word"]]
    table["says"] = [cell_text(config, cell, roles.get(cell) or text.NO_ROLE_NAME, False) for cell in cells]
    st.vega_lite_chart(
        pa.table(table),
        chart.kinds(layers(config.source), config.heads, colors, room, title),
        key="layers",
        width="stretch",
        on_select=gestures.on_layer_click,
        selection_mode=chart.CELL,
        alt=text.KINDS_ALT,
    )
    several = text.KINDS_SEVERAL if any(table["joined"]) else ""
    st.caption(f"{text.KINDS_CAPTION}{several}", help=text.KINDS_HELP)


def _word(first: str, role: str) -> str:
    """The word in the cell of a head."""
    return text.SHORT_ROLES[first][0] + MORE * (JOINED in role)


def _key(first: str) -> str:
    """A kind in the key to the colours: its word and what that means."""
    word, meaning = text.SHORT_ROLES[first]
    return text.KIND_KEY.format(word=word, meaning=meaning)


def _color(first: str) -> tuple[str, float]:
    return theme.KINDS.get(first, theme.KINDS[OTHER])

"""The map of what each head does: a word and a colour for the kind of keys that it attends to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
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


class HeadKind(NamedTuple):
    """What a head does: its role by name, and the first word of that, which names its word and colour.

    `joined`: whether there is a second kind of keys.
    """

    role: str
    first: str
    joined: bool

    @property
    def word(self) -> str:
        """The word in its cell."""
        return text.SHORT_ROLES[self.first][0] + MORE * self.joined

    @property
    def label(self) -> str:
        """The kind in the key to the colours: its word and what that means."""
        word, meaning = text.SHORT_ROLES[self.first]
        return text.KIND_KEY.format(word=word, meaning=meaning)

    @property
    def color(self) -> tuple[str, float]:
        """The colour of its kind, and the opacity of that."""
        return theme.KINDS.get(self.first, theme.KINDS[OTHER])

    @property
    def opacity(self) -> float:
        """The opacity of the colour in its cell."""
        return self.color[1] * (chart.JOINED if self.joined else 1)


def kinds_of_heads(config: Config, found: Mapping[int, Layer]) -> dict[tuple[int, int], HeadKind]:
    """Returns the kind of each head that follows a pattern; those that a statistic counts follow its pattern."""
    counted, name = maps.counted_heads(config, found), maps.number(config, found)
    role_of = {statistic: first for first, statistic in COUNTED_BY.items() if statistic != "same"}
    known = {
        (layer, head): HeadKind(role.name, first, JOINED in role.name)
        for layer, each in found.items()
        for head, role in enumerate(each.roles)
        if role and role.shows and (first := role.name.split(JOINED)[0].partition(" ")[0]) in text.SHORT_ROLES
    }
    if name not in role_of:
        return known
    first = role_of[name]
    return known | dict.fromkeys(counted, HeadKind(text.SHORT_ROLES[first][1], first, False))


def focus(config: Config, found: Mapping[int, Layer]) -> Config:
    """The settings with the statistic that counts what the selected head does, if the map shows that of each head."""
    if not is_shown(config):
        return config
    kind = kinds_of_heads(config, found).get((config.layer, config.head))
    name = COUNTED_BY.get(kind.first, maps.FOCUS) if kind else maps.FOCUS
    return replace(config, layer_map=name if name in known_metrics(config) else "auto")


def finding(config: Config, found: Mapping[int, Layer]) -> str:
    """The most frequent kind, for the heading of the page, and how many heads follow no single one."""
    every = sum(len(each.roles) for each in found.values())
    heads = heads_phrase(config, every)
    single = [kind.first for kind in kinds_of_heads(config, found).values() if not kind.joined]
    if not single:
        return text.KINDS_EMPTY.format(heads=heads)
    [(first, count)] = Counter(single).most_common(1)
    others = every - len(single)
    none = "" if not others else text.KINDS_ONE_NONE if others == 1 else text.KINDS_NONE.format(count=others)
    template = text.KINDS_FINDING if count > 1 else text.KINDS_EACH if len(single) > 1 else text.KINDS_ONE
    count = count if count > 1 else len(single)
    shown = count if count < every else text.ALL
    return template.format(heads=heads, count=shown, keys=text.SHORT_ROLES[first][1], none=none)


def key_of(kinds: Iterable[HeadKind]) -> dict[str, tuple[str, float]]:
    """Returns the colour and opacity of each of these kinds, by what the kind is called, in the order of their words."""
    order = [*text.SHORT_ROLES]
    return {kind.label: kind.color for kind in sorted(kinds, key=lambda kind: order.index(kind.first))}


def draw_map(config: Config, found: Mapping[int, Layer], room: chart.Room, title: str) -> None:
    """Draws the map with its key, and what the words in its cells are."""
    kinds = kinds_of_heads(config, found)
    cells = [(layer, head) for layer, each in found.items() for head in range(len(each.roles))]
    table = maps.cell_columns(dict.fromkeys(cells, 0.0), (config.layer, config.head))
    del table["value"]
    colors = tuple((label, theme.transparent(*color)) for label, color in key_of(kinds.values()).items())
    of_cells = [kinds.get(cell) for cell in cells]
    table["kind"] = [kind and kind.label for kind in of_cells]
    table["word"] = [kind.word if kind else "" for kind in of_cells]
    table["joined"] = [bool(kind and kind.joined) for kind in of_cells]
    said = [kind.role if kind else text.NO_ROLE_NAME for kind in of_cells]
    table["says"] = [cell_text(config, cell, does, False) for cell, does in zip(cells, said, strict=True)]
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

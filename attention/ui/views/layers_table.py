"""A table of every head with a sentence and all statistics, and the map of layers as a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import partial
from math import inf
from typing import Any

import pyarrow as pa
import streamlit as st

from attention.analysis.head_numbers import EVERY
from attention.analysis.head_survey import short_texts
from attention.charts import layers_file, theme
from attention.codec import link
from attention.components.picture_file import picture_file
from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_mean, format_percent, format_short_percent
from attention.pinned import shown_side
from attention.sources.providers import provenance, source_title
from attention.ui import results
from attention.ui.results.layers import Layer
from attention.ui.session import page
from attention.ui.session.role_note import texts_with_roles
from attention.ui.text import heads
from attention.ui.text import layers as text
from attention.ui.text.head_survey import HOLDS_ON, HOLDS_ON_HELP
from attention.ui.views import heads_layers as maps
from attention.ui.views import layers_compared as compared
from attention.ui.views import layers_kinds, questions
from attention.ui.views.layers_compared import Found

WIDE, COUNT = 540, 110  # pixels of the column of sentences, in which the longest has room, and of the number of texts
SHARES = re.compile(
    r": [a-z ]*[\d.]+% of its weight on average| \([a-z ]*[\d.]+%[^)]*\)( on average)?"
)  # in what a role says
FOLD, FILES = "every head", "layers as files"  # keys of the expanders


def _table(config: Config) -> None:
    """Draws one row per head in an expander; computed only if that is open."""
    fold = st.expander(text.TABLE, icon=":material/table_rows:", key=FOLD, on_change="rerun")
    if not fold.open:
        return
    config = shown_side(config).truncated
    found = results.layers.layers(config)
    known = [name for name in maps.known_metrics(config) if any(name in layer.numbers for layer in found.values())]
    shares = {name for name in known if maps.is_share(name, config)}
    told = columns(found, known, texts_with_roles(config, found), maps.number(config, found), shares)
    with fold:
        st.dataframe(
            pa.table(told).to_pandas().style.format(_formats(known, shares), na_rep=text.NOT_COUNTED),
            column_config=_config(known),
            hide_index=True,
            height=420,
            key="table of heads",
            placeholder=text.NOT_COUNTED,
        )


def columns(
    found: Found, known: list[str], holds: list[int | None], first: str = "", shares: Collection[str] = ()
) -> dict[str, list[Any]]:
    """The columns: layer, head, what it does, on how many texts it has this role, if that is known, and these statistics.

    `first`: the statistic that is beside the head, and by which heads are sorted, largest first. `shares`: those in percent.
    """
    heads = [(layer, head) for layer, each in found.items() for head in range(len(each.roles))]
    known = [name for name in known if name == first] + [name for name in known if name != first]
    if first in known:
        value = {cell: found[cell[0]].numbers[first][cell[1]] for cell in heads}
        held = dict(zip(heads, holds, strict=True)) if holds else {}
        heads.sort(key=lambda cell: -inf if (number := value[cell]) is None else number, reverse=True)
        holds = [held[cell] for cell in heads] if holds else holds
    told: dict[str, list[Any]] = {"layer": [layer for layer, _ in heads], "head": [head for _, head in heads]}
    values = {
        name: [_value(found[layer].numbers[name][head], name in shares) for layer, head in heads] for name in known
    }
    told |= {first: values[first]} if first in known else {}
    told["does"] = [_does(found[layer], head, first) for layer, head in heads]
    if any(count is not None for count in holds):
        told["holds"] = holds
    return told | values


def _does(layer: Layer, head: int, first: str) -> str:
    """What a head does: its role, or where over half of its weight goes by the statistic `first`, if it has none.

    Without its numbers, which are in columns of their own.
    """
    if role := layer.roles[head]:
        return SHARES.sub(_end_of_insertion, role.says).removesuffix(".")
    value = layer.numbers.get(first, [None] * (head + 1))[head]
    if first in text.KEYS and value is not None and value > maps.HIGH:
        return text.MOSTLY.format(keys=text.KEYS[first])
    return text.NO_ROLE_NAME


def _end_of_insertion(share: re.Match[str]) -> str:
    """A comma in place of a share between two kinds of keys if an insertion ends there."""
    ends = "," in share.string[: share.start()] and share.string.startswith(" and ", share.end())
    return "," if ends else ""


def _value(value: float | None, is_share: bool) -> float | None:
    """A value of the table: 100 times as much if it is a share, as its column has a percent sign."""
    return 100 * value if is_share and value is not None else value


def _formats(known: list[str], shares: Collection[str]) -> dict[str, Callable[[float], str]]:
    """How the numbers of each column are written: as on the rest of the page."""
    formats = {name: (lambda value: format_percent(value / 100)) if name in shares else format_mean for name in known}
    return formats | {"holds": "{:.0f}".format}


def _config(known: list[str]) -> dict[str, Any]:
    named = {name: st.column_config.NumberColumn(text.COLUMNS[name]) for name in ("layer", "head")}
    label, about = (said.format(texts=len(short_texts())) for said in (HOLDS_ON, HOLDS_ON_HELP))
    named |= {"holds": st.column_config.NumberColumn(label, help=about, width=COUNT)}
    named |= {"does": st.column_config.TextColumn(text.COLUMNS["does"], width=WIDE)}
    return named | {name: _number(name) for name in known}


def _number(name: str) -> Any:
    return st.column_config.NumberColumn(maps.metric_title(EVERY[name]), help=maps.formula(name))


def _files(config: Config) -> None:
    """Draws the downloads of the current map, if the expander is open."""
    fold = st.expander(text.DOWNLOADS, icon=":material/download:", key=FILES, on_change="rerun")
    if not fold.open:
        return
    config = shown_side(config).truncated
    with fold:
        found = results.layers.layers(config)
        if svg := picture(config, found):
            shown = config.layer_map if layers_kinds.is_shown(config) else maps.number(config, found)
            picture_file(svg, f"attention-layers-{shown}", text.SAVE, key="map as file")
        else:
            st.caption(text.NO_MAP)


def picture(config: Config, found: Found) -> str:
    """The map of layers as an SVG that says where the heads come from; "" if no head has the statistic."""
    whose = [provenance(config), f"Attention Lab: ?{link(config)}"]
    if layers_kinds.is_shown(config):
        kinds = layers_kinds.kinds_of_heads(config, found)
        cells = {
            cell: layers_file.Cell(kind.word, theme.on_white(kind.color[0], kind.opacity))
            for cell, kind in kinds.items()
        }
        colors = {named: theme.on_white(*color) for named, color in layers_kinds.key_of(kinds.values()).items()}
        title = text.KINDS_FILE_TITLE.format(source=source_title(config.source))
        return layers_file.kinds(cells, layers(config.source), config.heads, colors, title, [text.KINDS_FILE, *whose])
    name = maps.number(config, found)
    described, known = EVERY[name], maps.cells(name, found)
    if not known:
        return ""
    return layers_file.svg(
        known,
        layers(config.source),
        config.heads,
        maps.ends(name, config, known),
        _cell_format(config, name),
        text.FILE_TITLE.format(statistic=maps.metric_title(described), source=source_title(config.source)),
        [
            heads.FORMULA.format(label=described.label, formula=described.formula, source=described.source),
            *whose,
        ],
    )


def _cell_format(config: Config, name: str) -> Callable[[float], str]:
    """Returns how the file writes a value of a statistic."""
    if maps.is_share(name, config):
        return partial(format_short_percent, limit=maps.HIGH)
    return f"{{:.{maps.digits(EVERY[name])}f}}".format


def _look(config: Config) -> object:
    return (
        None
        if questions.unsaid(shown_side(config).truncated)
        else compared.view_inputs(config) and shown_side(config).truncated.for_page()
    )


def _look_files(config: Config) -> object:
    looks = compared.view_inputs(config)
    return looks and (shown_side(config).truncated.for_page(), config.layer_map)


TABLE = page.Part("table", _table, _look)
DOWNLOADS = page.Part("files", _files, _look_files)

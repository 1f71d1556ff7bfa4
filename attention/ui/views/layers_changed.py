"""The map of layers and heads as the difference of two sides: how much a statistic of each head changed."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import streamlit as st

from attention.analysis.head_numbers import EVERY
from attention.charts import layers as chart
from attention.comparison.row_numbers import EVERY as ROWS
from attention.comparison.sides import why_not_comparable
from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_mean
from attention.pinned import Sides, sides_of
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.results.layers import Layer
from attention.ui.session import gestures
from attention.ui.text import comparing as text
from attention.ui.views import heads_layers as maps
from attention.ui.views.pinned_sides import has_layer_difference

Found = Mapping[int, Layer]


def layer_sides(config: Config) -> Sides | None:
    """Returns both sides if their difference per head is shown and exists; None otherwise."""
    sides = sides_of(config) if config.side == "difference" else None
    return sides if sides and has_layer_difference(sides) else None


def changes(name: str, before: Found, after: Found) -> maps.Cells:
    """Returns how much a statistic of each head changed, of heads that have it on both sides."""
    a, b = maps.cells(name, before), maps.cells(name, after)
    return {cell: b[cell] - a[cell] for cell in b if cell in a}


def finding(config: Config, before: Found, after: Found) -> str:
    """Which head changed most, with both values."""
    name = maps.number(config, after)
    found, described = changes(name, before, after), EVERY[name]
    if not found:
        return text.NO_CHANGE
    cell = max(found, key=lambda cell: abs(found[cell]))
    statistic, count = escape(described.label), f"{len(found):,}"
    if not found[cell]:
        return text.UNCHANGED.format(statistic=statistic, count=count)
    a, b = (maps.value_text(config, after, maps.cells(name, side)[cell]) for side in (before, after))
    head = maps.head_title(config, cell).capitalize()
    return text.CHANGED.format(head=head, count=count, statistic=statistic, before=a, after=b)


def map_sentence(sides: Sides, before: Found, after: Found) -> str:
    """Which head's map changed most, by total variation; "" if maps have other sizes, or are too many to compare at once."""
    a, b = sides.a.truncated, sides.b.truncated
    if why_not_comparable(*((each.heads, each.tokens, each.n_keys) for each in (a, b))):
        return ""
    measure, found = results.layers.map_changes(a, b)
    if not found:
        return ""
    cell = max(found, key=found.__getitem__)
    if not found[cell]:
        return text.SAME_MAPS
    by_number = changes(maps.number(b, after), before, after)
    same = cell == max(by_number, key=lambda each: abs(by_number[each]), default=None) and by_number[cell]
    said, label = text.SAME_MAP_CHANGED if same else text.MAP_CHANGED, ROWS[measure].label
    measure, head = f"{label[0].lower()}{label[1:]}", maps.head_title(b, cell).capitalize()
    return said.format(head=head, measure=measure, value=format_mean(found[cell]))


def selected_sentence(config: Config, before: Found, after: Found) -> str:
    """The statistic of the selected head on both sides; "" if it has none."""
    name, here = maps.number(config, after), (config.layer, config.head)
    a, b = maps.cells(name, before), maps.cells(name, after)
    if here not in a or here not in b:
        return ""
    one, two = (maps.value_text(config, after, side[here]) for side in (a, b))
    return text.SELECTED.format(head=maps.head_title(config, here).capitalize(), before=one, after=two)


def draw_map(config: Config, before: Found, after: Found) -> None:
    """Draws the change of each head. The colours have a fixed limit: the largest value that the statistic may have."""
    name = maps.number(config, after)
    found, described = changes(name, before, after), EVERY[name]
    if not found:
        st.caption(text.NO_CHANGE)
        return
    limit = maps.top(described, config.tokens)
    table = maps.cell_columns(found, (config.layer, config.head))
    table |= {"share": [min(1.0, abs(value) / limit) for value in found.values()]}
    label = f"{described.label}, B − A"
    st.vega_lite_chart(
        pa.table(table),
        chart.signed(layers(config.source), config.heads, label, digits=maps.digits(described)),
        key="layers",
        width="stretch",
        on_select=gestures.on_layer_click,
        selection_mode=chart.CELL,
        alt=f"Heatmap by layer and head: change of {described.label.lower()} of each head",
    )
    unit = f"{format_mean(limit)} {described.unit}".rstrip()
    st.caption(text.LAYERS_SCALE.format(limit=f"±{unit}"))

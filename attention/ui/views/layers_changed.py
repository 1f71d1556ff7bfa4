"""The map of layers and heads as the difference of two sides: how much a statistic of each head changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import streamlit as st

from attention.analysis.head_numbers import EVERY
from attention.charts import layers as chart
from attention.codec import to_query
from attention.comparison.row_numbers import EVERY as ROWS
from attention.comparison.sides import why_not_subtracted
from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_mean, format_percent
from attention.pinned import Sides, pin
from attention.ui import next_step, results
from attention.ui.markdown import escape
from attention.ui.results.layers import Layer
from attention.ui.session import gestures
from attention.ui.text import comparing as text
from attention.ui.views import heads_layers as maps
from attention.ui.views.head_names import head_title

Found = Mapping[int, Layer]
LARGEST = 3  # heads that a sentence names


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
    head = head_title(config, cell).capitalize()
    return text.CHANGED.format(head=head, count=count, statistic=statistic, before=a, after=b)


def changed_maps(sides: Sides) -> tuple[str, maps.Cells]:
    """Which heads' maps changed most, in a sentence, and by how much the map of each changed.

    Both are empty if maps have other sizes, or are too many to compare at once.
    """
    a, b = sides.a.truncated, sides.b.truncated
    if why_not_subtracted(a, b):
        return "", {}
    measure, found = results.layers.map_changes(a, b)
    if not found:
        return "", {}
    largest = [cell for cell in sorted(found, key=found.__getitem__, reverse=True)[:LARGEST] if found[cell]]
    if not largest:
        return text.SAME_MAPS, {}
    named = ", ".join(f"{head_title(b, cell)} ({format_mean(found[cell])})" for cell in largest)
    return text.MAPS_CHANGED.format(measure=ROWS[measure].inside, heads=named), found


def link_to_largest(sides: Sides, found: maps.Cells) -> None:
    """Draws a link to B − A of the head whose map changed most."""
    if not found:
        return
    layer, head = cell = max(found, key=found.__getitem__)
    b = replace(sides.b.of_layer(layer), head=head, against=pin(sides.a.of_layer(layer)))
    next_step.page_link("heads", text.OPEN_CHANGED.format(head=head_title(b, cell)), to_query(b))


def selected_sentence(config: Config, before: Found, after: Found) -> str:
    """The statistic of the selected head on both sides; "" if it has none."""
    name, here = maps.number(config, after), (config.layer, config.head)
    a, b = maps.cells(name, before), maps.cells(name, after)
    if here not in a or here not in b:
        return ""
    one, two = (maps.value_text(config, after, side[here]) for side in (a, b))
    return text.SELECTED.format(head=head_title(config, here).capitalize(), before=one, after=two)


def draw_map(config: Config, before: Found, after: Found, room: chart.Room = chart.USUAL) -> None:
    """Draws the change of each head. The colours have a fixed limit: the largest value that the statistic may have."""
    name = maps.number(config, after)
    found, described = changes(name, before, after), EVERY[name]
    if not found:
        st.caption(text.NO_CHANGE)
        return
    limit, share = maps.top(described, config.tokens), maps.is_share(name, config)
    table = maps.cell_columns(found, (config.layer, config.head))
    table |= {"share": [min(1.0, abs(value) / limit) for value in found.values()]}
    label = f"{described.label}, B − A"
    st.vega_lite_chart(
        pa.table(table),
        chart.signed(
            layers(config.source), config.heads, label, digits=maps.digits(described), room=room, percent=share
        ),
        key="layers",
        width="stretch",
        on_select=gestures.on_layer_click,
        selection_mode=chart.CELL,
        alt=f"Heatmap by layer and head: change of {described.label.lower()} of each head",
    )
    unit = format_percent(limit) if share else f"{format_mean(limit)} {described.unit}".rstrip()
    st.caption(text.LAYERS_SCALE.format(points=text.POINTS if share else "", limit=f"±{unit}"))

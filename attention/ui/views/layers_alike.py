"""Which heads are similar: in a sentence, as a matrix of distances, and as points on a map."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.analysis.head_distances import ALIKE, Distances
from attention.analysis.head_numbers import EVERY
from attention.charts import head_points as points
from attention.charts import likeness
from attention.charts.layers import CELL
from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_mean, format_percent
from attention.pinned import shown_side
from attention.sources.providers import distributes, no_distribution
from attention.ui import results
from attention.ui.session import gestures, page
from attention.ui.text import layers as text
from attention.ui.views import heads_layers as maps
from attention.ui.views import layers_compared as compared
from attention.ui.views.head_names import head_label, head_title
from attention.ui.views.layers_compared import Cell

FOLD = "similar heads"  # the key of the expander
GROUPS, MEMBERS = 6, 8  # groups of nearly equal heads that are named, and heads per group


def _draw(config: Config) -> None:
    """Draws an expander; if it is open, which heads are similar."""
    fold = st.expander(text.ALIKE_FOLD, icon=":material/grain:", key=FOLD, on_change="rerun")
    if fold.open:
        with fold:
            _draw_likeness(config)


def _draw_likeness(config: Config) -> None:
    config = shown_side(config).truncated
    numbers = results.layers.compared_layers(config)
    cells = [(layer, head) for layer in numbers for head in range(config.heads)]
    focus, some = (config.layer, config.head), _some(config, numbers)
    label, head = head_label(config, focus), head_title(config, focus)
    st.markdown(text.ALIKE.format(label=label, head=head, some=some), help=text.ALIKE_HELP)
    if not distributes(config):
        why = no_distribution(config)
        st.caption(text.ALIKE_NO_DISTRIBUTION.format(why=f"{why[0].upper()}{why[1:]}"))
        return
    far = results.layers.distances(config)
    if not far.queries or len(cells) < 2:
        st.caption(text.ALIKE_ONE if len(cells) < 2 else text.ALIKE_EQUAL)
        return
    st.markdown(f"{_similar_heads_text(config, far, cells)} {_selected_text(config, far, cells)}")
    left, right = st.columns(2)
    with left:
        _square(config, far, cells)
    with right:
        _map(config, far, cells)


def _some(config: Config, numbers: tuple[int, ...]) -> str:
    """Which layers are compared; "" if all are."""
    every = layers(config.source)
    if numbers == every:
        return ""
    return text.ALIKE_SOME.format(count=len(numbers), layers=len(every), first=numbers[0], last=numbers[-1])


def _similar_heads_text(config: Config, far: Distances, cells: list[Cell]) -> str:
    """The groups of heads that are nearly the same, or the two nearest heads if there are no groups."""
    if not far.groups:
        one, two, apart = _nearest(far)
        return text.ALIKE_NONE.format(
            one=head_label(config, cells[one]), two=head_label(config, cells[two]), distance=format_mean(apart)
        )
    groups = "; ".join(
        _list_names([head_label(config, cells[head]) for head in group]) for group in far.groups[:GROUPS]
    )
    left = len(far.groups) - GROUPS
    more = text.ALIKE_MORE_GROUPS.format(count=left) if left > 0 else ""
    return text.ALIKE_GROUPS.format(limit=ALIKE, groups=groups, more=more)


def _selected_text(config: Config, far: Distances, cells: list[Cell]) -> str:
    """Which head is nearest to the selected one, and how far all others are from it on average."""
    here = cells.index((config.layer, config.head))
    apart, others = far.apart[here], [at for at in range(len(cells)) if at != here]
    other = min(others, key=lambda at: float(apart[at]))
    return text.ALIKE_SELECTED.format(
        label=head_label(config, cells[here]),
        other=head_label(config, cells[other]),
        distance=format_mean(float(apart[other])),
        mean=format_mean(float(apart[others].mean())),
    )


def _nearest(far: Distances) -> tuple[int, int, float]:
    apart = far.apart.clone().fill_diagonal_(2)
    one, two = divmod(int(apart.argmin()), len(apart))
    return one, two, float(apart[one, two])


def _list_names(names: list[str]) -> str:
    """Names in words; of a long list, the rest is counted."""
    if len(names) > MEMBERS:
        return text.ALIKE_MORE.format(heads=", ".join(names[:MEMBERS]), count=len(names) - MEMBERS)
    return text.ALIKE_LIST.format(first=", ".join(names[:-1]), last=names[-1])


def _square(config: Config, far: Distances, cells: list[Cell]) -> None:
    """Draws the matrix of distances, in the order of the tree."""
    names = [head_label(config, cells[head]) for head in far.order]
    focus = far.order.index(cells.index((config.layer, config.head)))
    st.plotly_chart(
        likeness.square(far.apart[far.order][:, far.order], names, focus),
        key="likeness",
        width="stretch",
        config={"displaylogo": False},
        alt=text.ALIKE_MATRIX_ALT,
    )
    st.caption(text.ALIKE_MATRIX, help=text.ALIKE_MATRIX_HELP)


def _map(config: Config, far: Distances, cells: list[Cell]) -> None:
    """Draws the heads as points; similar heads are near each other."""
    found = results.layers.layers(config)
    color = compared.axis(config, maps.number(config, found), found)
    reach = points.end(float(far.places.abs().max()))
    long = points.HEIGHT / 2 / reach  # pixels per square root of a bit, in both directions
    places = {cell: (x, y) for cell, (x, y) in zip(cells, far.places.tolist(), strict=True)}
    held = maps.cells(maps.number(config, found), found)
    at = lambda width, x, y: (width / 2 + x * long, points.HEIGHT / 2 - y * long)  # noqa: E731
    st.vega_lite_chart(
        compared.table(config, found, places, at, others=maps.outstanding(held) if held else ()),
        points.places(color, len(cells), reach),
        key="map of heads",
        width="stretch",
        on_select=partial(gestures.on_layer_click, "map of heads"),
        selection_mode=CELL,
        alt=text.ALIKE_MAP_ALT.format(statistic=color.title.lower()),
    )
    said = f"{text.ALIKE_MAP} {compared.dots_sentence(config, EVERY[maps.number(config, found)].label.lower())}"
    st.caption(said, help=text.ALIKE_MAP_HELP.format(kept=format_percent(far.kept)))


LIKENESS = page.Part("alike", _draw, compared.look_of_several)

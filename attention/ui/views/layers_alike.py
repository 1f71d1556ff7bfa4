"""Which heads are similar: in a sentence, as a matrix of distances, and as points on a map."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.analysis.head_distances import ALIKE, Distances
from attention.charts import head_points as points
from attention.charts import likeness
from attention.charts.layers import CELL
from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_mean, format_percent
from attention.operations.softmax import SOFTMAXES
from attention.pinned import shown_side
from attention.sources.providers import distributes
from attention.ui import results
from attention.ui.session import gestures, page
from attention.ui.views import heads_layers as maps
from attention.ui.views import layers_compared as compared
from attention.ui.views.heads_layers import head_label
from attention.ui.views.layers_compared import Cell

GROUPS, MEMBERS = 6, 8  # groups of nearly equal heads that are named, and heads per group
HELP = (
    "Jensen-Shannon divergence of two heads' weights for the same query, averaged over queries (Clark et al. 2019, section 6). "
    "0 bits: equal weights. 1 bit: no key in common."
)


def _draw(config: Config) -> None:
    config = shown_side(config).truncated
    numbers = results.layers.compared_layers(config)
    cells = [(layer, head) for layer in numbers for head in range(config.heads)]
    st.markdown(f"**Similar heads.** {_which(config, numbers)}", help=HELP)
    if not distributes(config):
        why = SOFTMAXES[config.softmax].no_distribution
        st.caption(
            f"{why[0].upper()}{why[1:]}, so rows are no distributions: there is no Jensen-Shannon divergence, and "
            "heads are not compared."
        )
        return
    far = results.layers.distances(config)
    if not far.queries or len(cells) < 2:
        st.caption(_nothing(len(cells)))
        return
    st.markdown(_similar_heads_text(config, far, cells))
    left, right = st.columns(2)
    with left:
        _square(config, far, cells)
    with right:
        _map(config, far, cells)


def _which(config: Config, numbers: tuple[int, ...]) -> str:
    every = layers(config.source)
    some = (
        f" Only {len(numbers)} of {len(every)} layers are compared: {numbers[0]} to {numbers[-1]}, around the selected one."
        * (numbers != every)
    )
    return f"Heads are close when they weight the same keys similarly.{some}"


def _nothing(heads: int) -> str:
    """Why there is nothing to compare."""
    if heads < 2:
        return "There is only one head; comparing needs two."
    return "Under this mask no query has more than one visible key, so all heads are equal."


def _similar_heads_text(config: Config, far: Distances, cells: list[Cell]) -> str:
    """The groups of heads that are nearly the same, or the two nearest heads if there are no groups."""
    if not far.groups:
        one, two, apart = _nearest(far)
        nearest = (
            f"{head_label(config, cells[one])} and {head_label(config, cells[two])}, {format_mean(apart)} bits apart"
        )
        return f"No two heads are nearly equal. The closest: {nearest}."
    said = "; ".join(_list_names([head_label(config, cells[head]) for head in group]) for group in far.groups[:GROUPS])
    more = f"; and {len(far.groups) - GROUPS} more groups" if len(far.groups) > GROUPS else ""
    return f"Nearly equal (at most {ALIKE} bits apart on average): {said}{more}."


def _nearest(far: Distances) -> tuple[int, int, float]:
    apart = far.apart.clone().fill_diagonal_(2)
    one, two = divmod(int(apart.argmin()), len(apart))
    return one, two, float(apart[one, two])


def _list_names(names: list[str]) -> str:
    """Names in words; of a long list, the rest is counted."""
    if len(names) > MEMBERS:
        return f"{', '.join(names[:MEMBERS])} and {len(names) - MEMBERS} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _square(config: Config, far: Distances, cells: list[Cell]) -> None:
    """Draws the matrix of distances, in the order of the tree."""
    names = [head_label(config, cells[head]) for head in far.order]
    focus = far.order.index(cells.index((config.layer, config.head)))
    st.plotly_chart(
        likeness.square(far.apart[far.order][:, far.order], names, focus),
        key="likeness",
        width="stretch",
        config={"displaylogo": False},
        alt="Heatmap by two heads: their distance in bits",
    )
    st.caption(
        "Coloured blocks: similar heads. Distances between all pairs, ordered by average-linkage clustering. Blue frames: the "
        "selected head."
    )


def _map(config: Config, far: Distances, cells: list[Cell]) -> None:
    """Draws the heads as points; similar heads are near each other."""
    found = results.layers.layers(config)
    color = compared.axis(config, maps.number(config, found), found)
    reach = points.end(float(far.places.abs().max()))
    long = points.HEIGHT / 2 / reach  # pixels per square root of a bit, in both directions
    places = {cell: (x, y) for cell, (x, y) in zip(cells, far.places.tolist(), strict=True)}
    st.vega_lite_chart(
        compared.table(config, found, places, lambda width, x, y: (width / 2 + x * long, points.HEIGHT / 2 - y * long)),
        points.places(color, len(cells), reach),
        key="map of heads",
        width="stretch",
        on_select=partial(gestures.on_layer_click, "map of heads"),
        selection_mode=CELL,
        alt=f"Points by head on a map of their distances, coloured by {color.title.lower()}",
    )
    st.caption(
        "Similar heads are near each other; click a point to select its head. Only distances have a meaning: two dimensions "
        f"keep {format_percent(far.kept)} of the variance (classical scaling of their square roots)."
    )


LIKENESS = page.Part("alike", _draw, compared.look_of_several, blocks=4)

"""What the absence of each head costs a trained model, and of every two heads if there are few."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from time import monotonic

import pyarrow as pa
import streamlit as st

from attention.charts import head_pairs
from attention.number_format import format_change, format_head
from attention.training.history import TrainingHistory
from attention.training.recipe import Recipe
from attention.ui import results
from attention.ui.results.training import Off
from attention.ui.text import training as words

EVERY = "every head off"  # the key of the switch
PAIRED = 8  # heads of a model of which all pairs are measured: 28
PATIENCE = 0.3  # seconds until the progress is shown
STANDS_IN = 0.1  # nats that a pair costs beyond both heads alone, from which on it is named


def draw(recipe: Recipe, course: TrainingHistory) -> None:
    """Draws a switch, and if it is on, the costs as a map."""
    heads = [(layer, head) for layer in range(recipe.layers) for head in range(recipe.heads)]
    paired = len(heads) <= PAIRED
    if not st.toggle(words.EVERY_PAIR if paired else words.EVERY, key=EVERY, help=words.EVERY_HELP):
        return
    groups: list[Off] = [(head,) for head in heads]
    costs = _measure(course, groups + [pair for pair in combinations(heads, 2) if paired], recipe.how)
    st.markdown(_finding(costs))
    _draw_map(recipe, costs, paired)
    st.caption(words.PAIRS_MAP if paired else words.COSTS_MAP)


def _measure(course: TrainingHistory, groups: list[Off], how: str) -> dict[Off, float]:
    """How much the loss rises without each group of heads, in nats."""
    whole, start, place, costs = results.training.without(course, ())[0], monotonic(), st.empty(), dict[Off, float]()
    for off in groups:
        costs[off] = results.training.without(course, off, how)[0] - whole
        if monotonic() - start > PATIENCE:
            place.progress(len(costs) / len(groups), words.MEASURING.format(done=len(costs), count=len(groups)))
    place.empty()
    return costs


def _finding(costs: Mapping[Off, float]) -> str:
    """Which head matters most alone, and which two stand in for each other."""
    alone = {off: cost for off, cost in costs.items() if len(off) == 1}
    most = max(alone, key=alone.__getitem__)
    said = words.ALONE.format(head=_name(most), cost=format_change(alone[most], plus=False))
    beyond = {off: cost - sum(alone[head,] for head in off) for off, cost in costs.items() if len(off) > 1}
    if not beyond:
        return said
    pair = max(beyond, key=beyond.__getitem__)
    if beyond[pair] < STANDS_IN:
        return f"{said} {words.NO_PAIR}"
    one, two = ((head,) for head in pair)
    both = words.PAIR.format(
        one=_name(one),
        two=_name(two).lower(),
        both=format_change(costs[pair]),
        first=format_change(alone[one]),
        second=format_change(alone[two]),
    )
    return f"{said} {both}"


def _name(off: Off) -> str:
    ((layer, head),) = off
    return format_head(head, layer)


def _draw_map(recipe: Recipe, costs: Mapping[Off, float], paired: bool) -> None:
    top = max(*map(abs, costs.values()), 1e-9)
    cells = [(*(_cell(off) if paired else (f"{off[0][0]}", f"{off[0][1]}")), cost, off) for off, cost in costs.items()]
    rows, columns = (tuple(dict.fromkeys(cell[at] for cell in cells)) for at in (0, 1))
    table = {
        "row": [cell[0] for cell in cells],
        "column": [cell[1] for cell in cells],
        "value": [cell[2] for cell in cells],
        "share": [abs(cell[2]) / top for cell in cells],
        "said": [", ".join(format_head(head, layer) for layer, head in cell[3]) for cell in cells],
    }
    across = words.PAIRS_AXIS if paired else words.COSTS_AXIS
    st.vega_lite_chart(
        pa.table(table), head_pairs.costs(rows, columns, across, words.COST), key="head costs", width="stretch"
    )


def _cell(off: Off) -> tuple[str, str]:
    """Row and column of one head or two: a head alone is on the diagonal."""
    one, *_, two = (f"{layer}.{head}" for layer, head in (off * 2)[:2])
    return two, one

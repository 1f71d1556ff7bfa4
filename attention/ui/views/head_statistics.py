"""The statistics of every head in a table, in a fold of the Heads page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from attention.analysis.head_kinds import Role
from attention.analysis.head_numbers import OF_DISTRIBUTIONS
from attention.config import Config
from attention.heads import ALL_METRICS
from attention.number_format import format_mean, format_percent
from attention.sources.providers import distributes, has_scores, no_distribution
from attention.ui.text import heads as text
from attention.ui.views import heads_parts as parts

STATISTICS = "statistics"  # key of the fold
WEIGHTS = frozenset({"greatest", "first", "previous", "same", "induction"})  # statistics that are weights of a row


def numbers(
    computed: Callable[[], dict[str, list[float]]],
    config: Config,
    roles: Callable[[], Sequence[Role | None]],
    of: str = "",
) -> None:
    """Draws a fold with the statistics and the role of every head, computed once it is open.

    `of`: of which side of a comparison.
    """
    opened = parts.fold(text.STATISTICS.format(of=of), "table_chart", STATISTICS, False)
    if opened.open:
        with opened:
            _numbers(computed(), config, parts.names(config, roles()))


def _numbers(found: dict[str, list[float]], config: Config, roles: list[str]) -> None:
    units = ", ".join(
        text.UNIT.format(statistic=number.label.lower(), unit=number.unit)
        for name, number in ALL_METRICS.items()
        if number.unit and name in found
    )
    units = f"; {units}" if units else ""
    st.caption(text.STATISTICS_HELP.format(units=units, formulas=text.FORMULAS))
    columns = {
        "head": st.column_config.NumberColumn(text.HEAD),
        "role": st.column_config.TextColumn(text.ROLE, width=124),
    } | {name: metric_column(name) for name in ALL_METRICS if name in found}
    if gone := [
        ALL_METRICS[name].label.lower() for name in ALL_METRICS if name in OF_DISTRIBUTIONS and name not in found
    ]:
        why = no_distribution(config)
        st.caption(text.NO_STATISTICS.format(statistics=", ".join(gone), why=why))
    height = table_height(len(found["head"]))
    table: dict[str, list[Any]] = {
        name: in_percent(name, values, distributes(config)) for name, values in found.items()
    }
    if any(roles):
        table = {"head": table["head"], "role": [name.split("\n")[0] for name in roles]} | table
    shown = with_formats(table, config)
    st.dataframe(shown, column_config=columns, hide_index=True, height=height, key="numbers")


def table_height(rows: int) -> int:
    """The height in pixels of a table of heads, which scrolls if there are many."""
    return min(400, 37 + 35 * rows)


def in_percent(name: str, values: list[float], shares: bool) -> list[float]:
    """The values of a statistic for a table `with_formats`: 100 times as much if they are shares of a row."""
    return [100 * value for value in values] if shares and name in WEIGHTS else values


def with_formats(table: dict[str, list[Any]], *sides: Config) -> Any:
    """A table whose statistics are written as on the rest of the page; a column is named by its statistic, and by a side.

    A softmax that gives every key some weight gives none of them all of it, even if that is rounded to one.
    """
    shares = all(map(distributes, sides))
    rounded = all(has_scores(side.source) and not side.head_softmax.sparse for side in sides)
    most = math.nextafter(1, 0) if rounded else 1.0
    formats = {
        column: (lambda value: format_percent(min(value / 100, most))) if shares and name in WEIGHTS else format_mean
        for column in table
        if (name := column.split()[0]) in ALL_METRICS
    }
    return pa.table(table).to_pandas().style.format(formats, na_rep="")


def metric_column(name: str, of: str = "") -> Any:
    """The column of a statistic, with its formula; `of`: of which side of a comparison."""
    number = ALL_METRICS[name]
    help = text.FORMULA_UNIT.format(formula=number.formula, unit=number.unit) if number.unit else number.formula
    return st.column_config.NumberColumn(f"{number.label} {of}".rstrip(), help=help)

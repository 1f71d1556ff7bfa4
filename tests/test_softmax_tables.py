"""The tables and charts of the Softmax page: rows against the tensors they come from, fields that exist."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import Config, trace
from attention.analysis.distribution import distribution
from attention.analysis.number_types import compare_number_types
from attention.analysis.row_stages import smallest, stages
from attention.analysis.scaling import WIDTHS, dots, point, sweep
from attention.charts import distribution as distribution_charts
from attention.charts import precision as precision_charts
from attention.charts import scaling as scaling_charts
from attention.charts import stages as stage_charts
from attention.tables import softmax
from tests.samples import examples
from tests.strategies import configs


@given(configs())
@settings(deadline=None, max_examples=examples(30))
def test_a_rows_columns_are_its_tensors(config):
    row = stages(trace(config))
    for order in ("position", "weight"):
        columns = softmax.stages(row, order)
        assert columns["weights"] == row.weights.tolist()
        assert columns["key"] == list(range(config.tokens))
        assert sorted(columns["place"]) == list(range(config.tokens))
        assert [value is not None for value in columns["logits"]] == row.visible.tolist()
        placed = sorted(zip(columns["place"], columns["weights"], strict=True))
        if order == "weight":
            sizes = [abs(weight) for _, weight in placed]
            assert sizes == sorted(sizes, reverse=True)
    heavy, names = row.weights.abs(), columns["set"]
    order, inside = heavy.argsort(descending=True, stable=True), 0
    for name, size in zip(("50%", "90%", "99%"), smallest(row.weights).values(), strict=True):
        inside += names.count(name)
        tied = heavy[order[size:inside]] if size else heavy[:0]
        assert size <= inside and len(tied) == inside - size
        torch.testing.assert_close(tied, heavy[order[size - 1]].expand(len(tied)), rtol=0.0101, atol=0)


def test_keys_of_equal_weight_are_in_the_same_set():
    row = stages(trace(Config(head=6)))  # a head with uniform weights
    assert set(softmax.stages(row, "position")["set"]) == {"50%"}
    pair = softmax.stages(stages(trace(Config())), "position")
    assert pair["token"][7] == pair["token"][17] and pair["set"][7] == pair["set"][17] == "50%"


def test_mass_by_eye():
    row = stages(trace(Config(query=0)))
    table = softmax.mass(row)
    assert table["held"] == [0.0] + [1.0] * 18
    assert table["holds"] == [None, "50%, 90%, 99%"] + [None] * 17


@given(configs(), st.integers(1, 12))
@settings(deadline=None, max_examples=examples(30))
def test_a_cell_of_the_map_has_the_greatest_difference(config, side):
    t = trace(config)
    for found in (each for each in compare_number_types(t) if each.dtype != "float32"):
        cells, broken, tile = softmax.differences(found, t.mask, side)
        assert len(cells) == math.ceil(config.tokens / tile) <= side
        for i, j in [(0, 0), (len(cells) - 1, 0), (len(cells) - 1, len(cells) - 1)]:
            at = slice(i * tile, (i + 1) * tile), slice(j * tile, (j + 1) * tile)
            seen = found.difference[at][t.mask[at]]
            assert bool(broken[i, j]) == bool(seen.isnan().any())
            if not broken[i, j] and len(seen):
                assert float(cells[i, j].abs()) == float(seen.abs().max())
                assert float(cells[i, j]) in seen.tolist()
            assert bool(cells[i, j].isnan()) == (bool(broken[i, j]) or not len(seen))


@pytest.mark.parametrize(("heads", "tokens"), [(1, 5), (8, 40), (32, 300)])
def test_entropies_leave_no_query_out(heads, tokens):
    t = trace(Config(tokens=tokens, heads=heads, d_model=64 * heads // 8 or 8))
    found = distribution(t.weights, t.mask)
    table = softmax.entropies(found, heads)
    assert len(table["head"]) <= softmax.POINTS + heads
    for head in range(heads):
        lines = [i for i, each in enumerate(table["head"]) if each == head]
        assert max(table["high"][i] for i in lines) == float(found.entropy[head].max())
        assert min(table["low"][i] for i in lines) == float(found.entropy[head].min())
    assert all(
        low <= mean + 1e-6 <= high + 2e-6
        for low, mean, high in zip(*(table[n] for n in ("low", "mean", "high")), strict=True)
    )


def test_the_histogram_shows_every_pair():
    t = trace(Config(tokens=60, heads=3, d_model=96, temperature=0.3))
    found = distribution(t.weights, t.mask)
    table = softmax.histogram(found)
    for head in range(3):
        pairs = [n for each, n in zip(table["head"], table["pairs"], strict=True) if each == head]
        assert sum(pairs) == int(found.counts[head].sum())
    assert max(table["tall"]) == 1
    assert min(table["tall"]) == pytest.approx(softmax.LEAST_TALL)
    empty = trace(Config(mask="padding", span=18))
    nothing = distribution(empty.weights, empty.mask)
    assert softmax.histogram(nothing)["pairs"] == softmax.entropies(nothing, 8)["mean"] == []


def test_curves_end_with_the_present_setting():
    now = point(dots(4, 8), 8, 0.1)
    table = softmax.curves([sweep(4, width) for width in WIDTHS], now)
    assert len(table["kind"]) == 2 * len(WIDTHS) + 1
    assert (table["kind"][-1], table["d_head"][-1], table["scale"][-1]) == ("now", 8, 0.1)


@given(st.floats(1e-30, 1e30))
def test_an_axis_ends_at_the_next_round_number(greatest):
    end = stage_charts.reach(greatest)
    assert greatest * (1 - 1e-8) <= end <= 2.51 * greatest
    assert round(end / 10 ** math.floor(math.log10(end) + 1e-9), 6) in (1, 2, 5)


def fields(spec: Any) -> Iterator[str]:
    """Every field that a specification draws."""
    for name, part in spec.items() if isinstance(spec, dict) else enumerate(spec):
        if name == "field":
            yield part
        elif isinstance(part, (dict, list)):
            yield from fields(part)


def computed_fields(spec: Any) -> Iterator[str]:
    """Every field that a specification computes by itself."""
    for name, part in spec.items() if isinstance(spec, dict) else enumerate(spec):
        if name == "as":
            yield part
        elif isinstance(part, (dict, list)):
            yield from computed_fields(part)


@pytest.mark.parametrize(
    "config", [Config(), Config(tokens=200, colors="log", order="weight", heads=3, d_model=96)], ids=["18", "200"]
)
def test_charts_draw_columns_that_are_there(config):
    t = trace(config)
    row, found = stages(t), distribution(t.weights, t.mask)
    columns = softmax.stages(row, config.order)
    labels = softmax.drawn_labels(columns, config)
    now = point(dots(4, 8), 8, 0.1)
    curves = softmax.curves([sweep(4, 8)], now)
    drawn = [
        (stage_charts.panels(labels, config.tokens, 5.0, 1.0, config.colors), columns),
        (stage_charts.single_step("dots", labels, config.tokens, 5.0), columns),
        (stage_charts.mass(config.tokens), softmax.mass(row)),
        (distribution_charts.histogram(config.heads, 1), softmax.histogram(found)),
        (
            distribution_charts.entropies(config.heads, config.tokens, 2.0, 1),
            softmax.entropies(found, config.heads),
        ),
        (precision_charts.row(config.tokens, 1e-3), softmax.worst_row(compare_number_types(t)[3])),
        *(
            (chart, curves)
            for chart in (
                scaling_charts.variance(),
                scaling_charts.entropy(2.0),
                scaling_charts.greatest(),
                scaling_charts.jacobian(),
            )
        ),
    ]
    for spec, table in drawn:
        assert set(fields(spec)) <= set(table) | set(computed_fields(spec))
        assert len({len(column) for column in table.values()}) == 1
        assert "data" not in spec


def test_a_strangers_token_stays_a_token():
    """What somebody types is a quoted literal in the labels, and data elsewhere."""
    config = Config(tokens=3, input="characters", text="'\\]")
    columns = softmax.stages(stages(trace(config)), "position")
    spec = stage_charts.panels(softmax.drawn_labels(columns, config), 3, 1.0, 1.0)
    expressions = [
        layer["encoding"]["x"]["axis"]["labelExpr"]
        for layer in spec["vconcat"][-1]["layer"]
        if "axis" in layer["encoding"]["x"]
    ]
    assert set(expressions) == {r"['\'', '\\', ']'][datum.value]"}


def test_the_map_tells_what_is_no_number():
    cells = torch.tensor([[0.5, math.nan], [-0.25, 0.0]])
    broken = torch.tensor([[False, False], [False, True]])
    figure: Any = precision_charts.differences(cells, broken, 3, 0.5)
    values, hidden, lost = figure.data
    assert (values.zmin, values.zmax) == (-0.5, 0.5)
    assert list(values.x) == [0, 3]
    assert [[not math.isnan(z) for z in row] for row in values.z] == [[True, False], [True, False]]
    assert [[not math.isnan(z) for z in row] for row in hidden.z] == [[False, True], [False, False]]
    assert [[not math.isnan(z) for z in row] for row in lost.z] == [[False, False], [False, True]]

"""Long sequences compared: B minus A against two passes in float64, exact zeros, and the page with its job."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from attention.comparison.long_differences import LongSide, log_sum_exps, of_head, subtract
from attention.comparison.row_numbers import row_numbers
from attention.comparison.sampled_rows import sampled_queries
from attention.comparison.sides import side_of as side_of_trace
from attention.config import Config
from attention.fitting import coerce
from attention.maps.jobs import Cancelled
from attention.number_format import format_percent
from attention.pinned import pin, sides_of
from attention.trace import Trace, trace
from attention.ui.jobs.map_jobs import head_maps_arguments
from attention.ui.views import heads_long_compared
from tests.test_compared_sides import HEADS, double_weights, grids, numpy_weights
from tests.test_pages import run

BASE = {"heads": 2, "d_model": 16, "input": "refrain"}
PAIRS = [  # settings of both sides, of A, of B, and cells per side: tiles that are smaller or taller than a block
    ({"tokens": 1500}, {}, {"mask": "window", "span": 40}, 64),
    ({"tokens": 1700, "kv_heads": 1}, {"mask": "full", "softmax": "sink"}, {"temperature": 0.3, "softcap": 2.0}, 512),
    ({"tokens": 2000}, {"mask": "dilated", "span": 3}, {"mask": "strided", "span": 7}, 3),
    ({"tokens": 2100, "heads": 1}, {"seed": 1}, {"mask": "full"}, 128),  # in float32
    ({"tokens": 1400}, {"softmax": "differential"}, {"softmax": "sigmoid", "mask": "window", "span": 300}, 100),
]


def config_of(*given: dict[str, Any]) -> Config:
    """A config with the settings of all of these."""
    return Config(
        **coerce({name: value for each in ({**vars(Config())}, BASE, *given) for name, value in each.items()})
    )


def side_of(found: Trace, head: int) -> LongSide:
    """One head of a trace as a side, from its queries and keys alone."""
    config = found.config
    pair = of_head(head, range(config.heads), found.q, found.k)
    return LongSide(log_sum_exps(head, config.heads, *pair, head_maps_arguments(config)), *pair)


@pytest.mark.parametrize(("shared", "of_a", "of_b", "side"), PAIRS)
def test_a_long_difference_is_that_of_two_passes_in_float64(shared, of_a, of_b, side):
    a, b = config_of(shared, of_a), config_of(shared, of_b)
    (before, after), head = (trace(a), trace(b)), a.heads - 1
    sides = side_of(before, head), side_of(after, head)
    by_hand = {"differential": numpy_weights, "sigmoid": numpy_weights}
    weights = [
        torch.as_tensor(by_hand.get(each.config.softmax, double_weights)(each)[head]) for each in (before, after)
    ]
    masks = [each.mask.expand(a.tokens, a.tokens) for each in (before, after)]
    for rows, cols in ([(0, a.tokens)] * 2, [(300, 901), (100, 1333)]):
        found = subtract(*sides, rows, cols, side)
        part = slice(*rows), slice(*cols)
        one, two = (each[part] for each in weights)
        shown = [_tiles(mask[part].double(), found.cells.tile) for mask in masks]
        tiles = _tiles(two - one, found.cells.tile)
        cells, place = found.cells, found.cells.place[0][..., None]
        assert torch.allclose(cells.change[0].abs().double(), tiles.abs().amax(-1), atol=1e-6)
        assert torch.allclose(cells.change[0].double(), tiles.gather(-1, place)[..., 0], atol=1e-6)
        assert torch.allclose(cells.a[0].double(), _tiles(one, cells.tile).gather(-1, place)[..., 0], atol=1e-6)
        assert torch.allclose(cells.b[0].double(), _tiles(two, cells.tile).gather(-1, place)[..., 0], atol=1e-6)
        for sees, mask in zip((cells.in_a, cells.in_b), shown, strict=True):
            assert torch.equal(sees[0].double(), mask.gather(-1, place)[..., 0])
        assert torch.equal((cells.in_a | cells.in_b)[0], (shown[0] + shown[1]).any(-1))
        sums = torch.stack([(two - one).abs().sum(-1), (two - one).sum(-1)])
        assert torch.allclose(found.sums, sums, atol=1e-5)


def _tiles(cells: torch.Tensor, tile: int) -> torch.Tensor:
    """The cells of each tile, padded with zeros: `(p r tile*tile)`."""
    high, wide = cells.shape
    return F.pad(cells, (0, -wide % tile, 0, -high % tile)).unfold(0, tile, tile).unfold(1, tile, tile).flatten(2)


@pytest.mark.parametrize("mask", ["causal", "window"])
def test_identical_long_sides_give_exact_zeros(mask):
    config = config_of({"tokens": 1500, "mask": mask})
    sides = side_of(trace(config), 1), side_of(trace(config), 1)
    found = subtract(*sides, (0, 1500), (0, 1500), 64)
    assert not found.cells.change.any() and not found.sums.any()
    assert torch.equal(found.cells.a, found.cells.b) and torch.equal(found.cells.in_a, found.cells.in_b)
    assert found.cells.in_a.any() and not found.cells.in_a.all()


def test_a_cancelled_difference_ends():
    config = config_of({"tokens": 1500})
    side = side_of(trace(config), 0)
    with pytest.raises(Cancelled):
        subtract(side, side, (0, 1500), (0, 1500), 64, cancelled=lambda: True)


def test_the_page_compares_two_long_sequences():
    a = config_of({"tokens": 1500})
    link = {"v": "3", "tokens": "1500", "heads": "2", "d_model": "16", "input": "refrain", "mask": "window"}
    test = run(HEADS, link | {"against": pin(a)})
    deadline = time.monotonic() + 60
    while "large_head" not in grids(test) and time.monotonic() < deadline:
        time.sleep(0.1)
        test.run()
    assert not test.exception and not test.warning
    assert grids(test).count("heads_grid") == grids(test).count("large_head") == 1
    b = config_of({"tokens": 1500, "mask": "window"})
    change = (double_weights(trace(b)) - double_weights(trace(a))).abs().sum(-1).mean(-1) / 2
    assert test.dataframe[-1].value["variation"].tolist() == pytest.approx(sorted(change.tolist())[::-1], abs=1e-5)
    assert any(
        f"{format_percent(float(change.max()))} of a row's weight moved" in each.value.replace("\\", "")
        for each in test.markdown
    )
    both = [side_of_trace(trace(each)) for each in (a, b)]
    sampled = row_numbers(*both)
    rows = sampled_queries(1500)
    order = [int(head) for head in test.dataframe[-1].value["head"]]
    for name, sign in (("distance", 1), ("entropy", 1), ("moved", 0)):
        means = [
            float((sampled[name][head][rows] if sign else sampled[name][head][rows].abs()).mean()) for head in order
        ]
        assert test.dataframe[-1].value[name].tolist() == pytest.approx(means, abs=1e-4)
    test.segmented_control(key="side").set_value("a").run()
    assert not test.exception and "B − A" not in "".join(each.value for each in test.caption)


def test_one_head_of_a_long_sequence_is_compared_with_another():
    link = {"v": "3", "tokens": "1500", "heads": "2", "d_model": "16", "input": "refrain", "head": "1"}
    a = config_of({"tokens": 1500})
    test = run(HEADS, link | {"against": pin(a, 0)})
    deadline = time.monotonic() + 60
    while "large_head" not in grids(test) and time.monotonic() < deadline:
        time.sleep(0.1)
        test.run()
    assert not test.exception
    weights = double_weights(trace(a))
    change = float((weights[1] - weights[0]).abs().sum(-1).mean()) / 2
    table = test.dataframe[-1].value
    assert table["head"].tolist() == ["1 of B against 0 of A"] and table["variation"].tolist() == pytest.approx(
        [change], abs=1e-5
    )


def test_what_long_sides_can_not_be_compared_is_said():
    b = config_of({"tokens": 1500})
    sides = sides_of(Config(**vars(b) | {"against": pin(config_of({"tokens": 1400}))}))
    assert sides is not None and "A has 1,400 tokens and B has 1,500" in heads_long_compared.why_not(sides)
    assert heads_long_compared.shown_alone(sides.b) == sides.b

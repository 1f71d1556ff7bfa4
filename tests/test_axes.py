"""Every axis of a Vega chart has its ends before its data come: else a browser looks for them in nothing, and warns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from attention.charts import distribution, lesson, precision, row, row_change, scaling, shares, stages
from attention.knobs import KNOBS

COLORS = [name for name in KNOBS["colors"].choices if name != "auto"]
SPECS = {  # functions, as some take long
    **{f"row {keys} {colors}": partial(row.weights, (), keys, colors, 3) for keys in (4, 60) for colors in COLORS},
    **{f"stages {colors}": partial(stages.panels, (), 4, 1.0, 1.0, colors, 3) for colors in COLORS},
    **{f"rows {colors}": partial(stages.rows, ("a", "b"), (), 4, colors, 3) for colors in COLORS},
    **{f"both rows {keys}": partial(row_change.both_rows, keys, (0.0, 1.0)) for keys in (4, 60)},
    **{f"row change {keys}": partial(row_change.change, (), keys, 0.5) for keys in (4, 60)},
    "given": partial(stages.single_step, "weights", (), 4, 1.0),
    "mass": partial(stages.mass, 4),
    "by head": partial(shares.by_head, 2, 0, "share"),
    "by grouping": partial(shares.by_grouping, (2, 1), 1),
    "histogram": partial(distribution.histogram, 2, 0),
    "entropies": partial(distribution.entropies, 2, 4, 1.0, 0),
    "worst": partial(precision.row, 4, 1.0),
    "variance": scaling.variance,
    "entropy": partial(scaling.entropy, 1.0),
    "greatest": scaling.greatest,
    "jacobian": scaling.jacobian,
    "lesson": partial(lesson.lines, "d_head", "largest weight", ["a"], [1.0, 2.0]),
}


def measured_channels(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The channels of a view and of all within it that measure a column along an axis."""
    for name, channel in spec.get("encoding", {}).items():
        if name in ("x", "y") and channel.get("type") == "quantitative" and "field" in channel:
            yield name, channel
    for part in (*spec.get("layer", ()), *spec.get("vconcat", ())):
        yield from measured_channels(part)


@pytest.mark.parametrize("name", SPECS)
def test_an_axis_has_ends(name):
    channels = list(measured_channels(SPECS[name]()))
    assert channels
    for axis, channel in channels:
        assert len(channel.get("scale", {}).get("domain", ())) == 2, (axis, channel)


def test_own_maximum_ends_at_the_greatest_of_its_column():
    for spec, field in (
        (row.weights((), 4, "own maximum"), "weight"),
        (stages.panels((), 4, 1, 1, "own maximum"), "weights"),
    ):
        ends = [channel["scale"]["domain"] for _, channel in measured_channels(spec)]
        assert [0, {"expr": f"extent(pluck(data('source'), '{field}'))[1] || 1"}] in ends


def test_axes_of_two_rows_hold_all_their_weights():
    assert row_change.weight_ends([0.3, 0.1], [0.0, 0.17]) == (0, 0.5)
    assert row_change.weight_ends([-0.03], [0.9]) == (-0.05, 1)
    assert row_change.change_end([0.04, -0.13]) == 0.2
    assert row_change.weight_ends([], []) == (0, 1)

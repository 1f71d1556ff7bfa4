"""The large head's figure: what is sent as it stands is what Plotly makes of the same."""

from __future__ import annotations

import json
import re

import plotly.io
import pytest
import torch
from plotly.tools import return_figure_from_figure_or_data

from attention import Config, trace
from attention.charts import heatmap, heatmap_differences
from attention.knobs import KNOBS
from attention.tables import rows as tables

SCALES = [name for name in KNOBS["colors"].choices if name != "auto"]


@pytest.mark.parametrize("colors", SCALES)
@pytest.mark.parametrize("knobs", [{"input": "words", "tokens": 9}, {"tokens": 70, "rows": "12-40", "cols": "30-58"}])
def test_a_figure_that_is_ready_says_what_plotly_would_say(knobs, colors):
    config = Config(colors=colors, **knobs)
    cells, tile, seeing = tables.focus(trace(config), 32)
    first, names = (config.window[0][0], config.window[1][0]), tables.labels(config)
    ready = heatmap.selectable(cells, tile, colors, names, config.query_index, first, seeing)
    plain = heatmap.weights(cells, tile, colors, names, config.query_index if first == (0, 0) else None, seeing=seeing)
    said, wanted = json.loads(_sent_json(ready)), json.loads(_sent_json(plain))
    assert said["layout"].pop("dragmode") == "select"
    if first != (0, 0):
        assert (
            said["layout"]["yaxis"]["range"][1] == first[0] - 0.5
            and said["layout"]["xaxis"]["range"][0] == first[1] - 0.5
        )
        assert said["data"][0]["x0"] - wanted["data"][0]["x0"] == first[1]
        moved = ("x0", "y0")
        said, wanted = ({k: v for k, v in each["data"][0].items() if k not in moved} for each in (said, wanted))
    assert said == wanted


def _sent_json(figure) -> str:
    """As Streamlit has it."""
    return f"{plotly.io.to_json(return_figure_from_figure_or_data(figure, validate_figure=True), validate=False)}"


CELLS = torch.tensor([[1.0, torch.nan], [0.0, 0.5]])
FIGURES = {
    **{colors: heatmap.weights(CELLS, 1, colors, []) for colors in SCALES},
    "selectable": heatmap.selectable(CELLS, 1, "linear", [], 0, (0, 0)),
    "vector": heatmap.vector(CELLS[:1], 1, "linear"),
    "influence": heatmap.influence(CELLS),
    "narrow": heatmap.narrow(heatmap.influence(CELLS)),
    "difference": heatmap_differences.difference(CELLS, 1, []),
    "outputs": heatmap_differences.outputs(CELLS, (1, 1), 1.0),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_hatch_is_below_no_cell_that_it_could_be_seen_through(name):
    """It lies below all cells, also those that are not hidden: their colours are as dense as can be, or there is none."""
    figure = FIGURES[name].to_dict()
    dense = [re.fullmatch("#[0-9a-f]{6}", color) for _, color in figure["data"][0]["colorscale"]]
    assert all(dense) == bool(figure["layout"].get("images"))


def test_what_is_hidden_is_hatched_and_no_difference_is_not():
    cells = torch.tensor([[1.0, torch.nan], [0.5, 0.5]])
    assert [image.source for image in heatmap.weights(cells, 1, "linear", []).layout.images] == [
        heatmap.HATCH["source"]
    ]
    for figure in (heatmap_differences.difference(cells, 1, []), heatmap_differences.outputs(cells, (1, 1), 1.0)):
        assert not figure.layout.images

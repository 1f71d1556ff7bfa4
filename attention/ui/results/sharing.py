"""What is drawn of a link outside of its page: one head as pixels."""

from __future__ import annotations

from dataclasses import replace

from attention.charts.head_map import HeadMap, color_cells
from attention.charts.heatmap import PIXELS
from attention.config import Config
from attention.runtime.executors import Task
from attention.tables import rows as tables
from attention.trace import Trace
from attention.ui.results.heads import after_trace
from attention.ui.results.shared import LOW_PRIORITY, RESULTS

HEAVIEST = 3  # weights of the selected row that are written out
VIEW = ("head", "query", "rows", "cols", "colors")  # knobs of the view that the map depends on


def head_map(config: Config, colors: str = "light") -> HeadMap:
    """The selected head of a config that is short enough for a trace, in the colours of a light or a dark page."""
    return begin_head_map(config, colors).result()


def begin_head_map(config: Config, colors: str = "light") -> Task[HeadMap]:
    """Starts it."""
    return _head_map.begin(config, tuple(getattr(config, name) for name in VIEW), colors)


@RESULTS
def _head_map(config: Config, view: tuple[str | int, ...], colors: str) -> Task[HeadMap]:
    shown = replace(config, **dict(zip(VIEW, view, strict=True)))
    return after_trace(config, lambda found: _color(replace(found, config=shown), colors), LOW_PRIORITY)


def _color(found: Trace, colors: str) -> HeadMap:
    config = found.config
    cells, tile, seeing = tables.focus(found, PIXELS)
    rows, cols = config.window
    heaviest = tables.heaviest(tables.row(found), HEAVIEST)
    at = zip(heaviest["key"], heaviest["token"], heaviest["weight"], heaviest["visible"], strict=True)
    return HeadMap(
        pixels=color_cells(cells, seeing, config.color_scale, config.head_softmax.signed, colors),
        tile=tile,
        first=(rows[0], cols[0]),
        queries=tuple(tables.labels(config)[slice(*rows)]),
        keys=tuple(tables.key_labels(config)[slice(*cols)]),
        query=config.query_index,
        heaviest=tuple((key, token, weight) for key, token, weight, visible in at if visible),
    )

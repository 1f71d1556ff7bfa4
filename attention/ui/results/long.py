"""Results of the Heads page for a long sequence: its maps, drawn in the background, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor

from attention.analysis.head_kinds import Role
from attention.analysis.head_roles import roles_of_maps
from attention.analysis.map_numbers import hides_pattern
from attention.analysis.map_numbers import numbers as map_profile
from attention.analysis.parity import Parity, worst
from attention.analysis.parity import map_parity as map_against_torch
from attention.charts import theme
from attention.config import Config
from attention.maps.blocks import choices, visible
from attention.maps.exact import each_head
from attention.maps.picture import HeadMaps
from attention.maps.quadtree import Ends
from attention.maps.zoom import pool_window
from attention.runtime.executors import Task
from attention.sources.providers import built_rules, distributes, tokens, unit
from attention.tables import rows as tables
from attention.tables.rows import Row
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.map_jobs import MapJob, MapJobs, head_maps_arguments
from attention.ui.jobs.vectors import Vectors
from attention.ui.results.heads import no_role
from attention.ui.results.shared import FORWARD, RESULTS, run_shared
from attention.wire.cells import Cells, pixel_cells

T = TypeVar("T")
STUDIO = MapJobs(JOBS)


def drawing(config: Config, visitor: str) -> MapJob:
    """The job that draws the maps of a config for a visitor; started if there is none."""
    return STUDIO.ask(config.for_page(), theme.side(config.heads), visitor)


@RESULTS
def tiles_seen(config: Config, tile: int) -> Task[Tensor]:
    """The tiles of the map that are not fully masked."""
    return FORWARD.submit(visible, config.rule, config.tokens, config.span, tile)


@RESULTS
def keys_seen(config: Config) -> Task[Tensor]:
    """The number of visible keys per query."""
    return FORWARD.submit(choices, config.rule, config.tokens, config.span)


def part(config: Config, drawing: MapJob, maps: HeadMaps, rows: Ends, cols: Ends) -> Cells:
    """The cells of a part of the selected head.

    The whole head is taken from the maps; a smaller part is computed from them, at the resolution of the picture.
    """
    everything, seeing = (0, config.tokens), keys_seen(config)
    if rows == cols == everything:
        seen = tiles_seen(config, maps.tile)
        pixels = maps.pooled_by(config.pool).pixels
        return pixel_cells(pixels, seen, maps.tile, seeing, config.tokens, config.head_softmax.signed)
    return run_shared(_finer, config, drawing.vectors, maps, seeing, rows, cols)


def _finer(config: Config, vectors: Vectors, maps: HeadMaps, seeing: Tensor, rows: Ends, cols: Ends) -> Cells:
    high, wide = rows[1] - rows[0], cols[1] - cols[0]
    tile = -(-max(high, wide) // theme.PART)
    seen = visible(config.rule, config.tokens, config.span, tile, rows, cols)
    _, query, key = vectors.of(maps.first)
    cells = pool_window(maps, query, key, rows, cols, tile, config.pool)
    return pixel_cells(cells, seen, tile, seeing[slice(*rows)], wide, config.head_softmax.signed)


def is_pattern_hidden(config: Config, maps: HeadMaps) -> bool:
    """Whether the map of the selected head, pooled by maximum, does not show on which keys its large weights are."""
    pixels = maps.pooled_by("max").pixels[0]
    return hides_pattern(pixels, tiles_seen(config, maps.tile), keys_seen(config), maps.tile)


def long_row(config: Config, drawing: MapJob) -> Row:
    """The selected row of a long sequence, computed exactly."""
    given = config.for_page(), config.head, config.query_index
    found = RESULTS.ask(
        ("row", *given), lambda: FORWARD.then(drawing.preview, lambda _: compute_row(*given, drawing.vectors))
    )
    return tables.describe_row(config, *found.result())


def compute_row(config: Config, head: int, at: int, vectors: Vectors) -> tuple[Tensor, Tensor]:
    """The weights of one query in one head of a long sequence, and which keys it sees."""
    group, query, key = vectors.of(head)
    options = {"held": group, "of": config.heads, "begun": head - group.start, "rows": (at, at + 1), "tile": 1}
    maps = next(each_head(query, key, stats=False, **options, **head_maps_arguments(config)))
    seen = config.rule(torch.tensor([[at]]), torch.arange(config.tokens)[None], config.tokens, config.span)
    return maps.mean[0, 0].clone(), seen.expand(1, config.tokens)[0]


def map_numbers(config: Config, drawing: MapJob) -> dict[str, list[float]]:
    """The head statistics of a finished drawing, as columns."""
    found = _of_maps("numbers", config, drawing, _map_columns)
    joined = {name: [value for some in found for value in some[name]] for name in found[0]}
    joined["head"] = [*range(config.heads)]  # within a group, heads are counted from its first
    return joined


def _map_columns(maps: HeadMaps, query: Tensor, key: Tensor, config: Config) -> dict[str, list[float]]:
    seeing = visible(config.rule, config.tokens, config.span, config.tokens).any()
    return tables.without_distributions(tables.columns(map_profile(maps, query, key), bool(seeing)), config)


def roles(config: Config, drawing: MapJob) -> list[Role | None]:
    """What each head of a finished drawing does, in words."""
    if not distributes(config):
        return [no_role(config)] * config.heads
    return [role for some in _of_maps("roles", config, drawing, _map_roles) for role in some]


def _map_roles(maps: HeadMaps, query: Tensor, key: Tensor, config: Config) -> list[Role | None]:
    seen = tokens(config)
    return roles_of_maps(maps, query, key, seen.texts, unit(config), seen.line, built_rules(config))


def map_parity(config: Config, drawing: MapJob) -> Parity:
    """Compares some rows of a finished drawing with PyTorch's."""
    return worst(_of_maps("parity", config, drawing, lambda maps, query, key, _: map_against_torch(maps, query, key)))


def _of_maps(name: str, config: Config, drawing: MapJob, call: Callable[..., T]) -> list[T]:
    """Applies `call` to the maps of a finished drawing, some heads at a time; the cached result does not keep the drawing."""
    return RESULTS.ask(
        (name, config), lambda: FORWARD.submit(lambda: drawing.map_groups(lambda *found: call(*found, config)))
    ).result()

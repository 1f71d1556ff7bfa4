"""Results of the Implementations page."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from torch import Tensor

from attention.charts import theme
from attention.config import Config
from attention.fitting import coerce
from attention.published import ROWS, Evidence, hunts
from attention.published import compare as rows
from attention.published.case import bytes_of, case
from attention.published.cost import Cost, Pace
from attention.published.hunts import Hunt, HuntMaps
from attention.published.supported_inputs import Demand
from attention.published.supported_inputs import demands as tried
from attention.runtime.executors import RankedExecutor, Task
from attention.sources.generated import WIDE
from attention.ui.budget import BUDGET, shrink
from attention.ui.results.shared import EXCLUSIVE, FORWARD, LOW_PRIORITY, RESULTS, lane, with_memory
from attention.wire.cells import Cells
from attention.wire.cells import cells as drawn

T = TypeVar("T")
PAGE = "Implementations"  # the page whose knobs are the cache key
SHARE = 0.5  # of the budget: the maps of one comparison; the rest is for other visitors
REACH = 2**30  # maximum number of multiplications for a map of influence


@RESULTS.on(PAGE)
def comparison(config: Config, name: str, printed: bool) -> Task[rows.Comparison]:
    """Compares one published row with the reference."""
    return _begin_in_lane(config, FORWARD, rows.compare, ROWS[name], config, printed)


def _begin_in_lane(config: Config, usual: RankedExecutor, call: Callable[..., T], *given: Any) -> Task[T]:
    """Submits to the usual executor; calls with wide maps, on any host or for this one, run one after the other."""
    size = bytes_of(config)
    together = config.d_model <= WIDE and lane(size) is FORWARD
    return usual.submit(call, *given) if together else EXCLUSIVE.submit(with_memory(size, call), *given)


def refusal(config: Config) -> tuple[str, Config] | None:
    """Why a comparison does not fit on this host, and the widest config that does; None if it fits."""
    needed, most = bytes_of(config), int(SHARE * BUDGET.most)
    if needed <= most:
        return None
    smaller = shrink(
        config,
        lambda each: bytes_of(each) <= most,
        lambda each: Config(**coerce(vars(each) | {"d_model": each.d_model * 3 // 4})),
    )
    return (
        f"Maps of {config.d_model:,} channels need {needed / 2**20:,.0f} MiB of memory; "
        f"{most / 2**20:,.0f} MiB are available.",
        smaller,
    )


def judgements(config: Config) -> dict[tuple[str, bool], rows.Judgement]:
    """The verdict on every published row, corrected and as published; a row selected next is thus already compared."""
    return {
        (name, printed): comparison(config, name, printed and bool(row.as_printed)).judgement
        for name, row in ROWS.items()
        for printed in (False, True)
    }


@RESULTS
def evidence(name: str) -> Task[Evidence]:
    """The numbers shown next to the lesson of a published row that has some."""
    return LOW_PRIORITY.submit(ROWS[name].evidence)  # pyright: ignore[reportArgumentType]  asked of rows that have some


@RESULTS.on(PAGE)
def published_costs(config: Config, name: str, printed: bool) -> Task[tuple[Cost, float | None]]:
    """The costs of a published row, and its leak."""
    return _begin_in_lane(config, LOW_PRIORITY, rows.costs, ROWS[name], config, printed)


@RESULTS.on(PAGE)
def influences(config: Config, name: str, printed: bool) -> Task[Tensor | None]:
    """The influence of tokens on outputs in one published row, over as many first tokens as the time limit allows."""
    row, most = ROWS[name], max(2, math.isqrt(REACH // (4 * config.batch * config.d_model**2)))
    return _begin_in_lane(config, LOW_PRIORITY, lambda: rows.influence(row, case(config, most, row.crosses), printed))


@RESULTS
def demands(name: str, printed: bool) -> Task[list[Demand]]:
    """The inputs that a published row accepts."""
    return LOW_PRIORITY.submit(tried, ROWS[name], printed)


@RESULTS.on(PAGE)
def pace(config: Config, name: str, printed: bool) -> Task[Pace]:
    """A published row's time and the reference's, measured once."""
    return _begin_in_lane(config, LOW_PRIORITY, rows.time_row, ROWS[name], config, printed)


@RESULTS
def hunt_maps(hunt: Hunt) -> Task[HuntMaps]:
    """The maps of a bug, correct and wrong."""
    return FORWARD.submit(hunts.hunt_maps, hunt)


@RESULTS.on(PAGE)
def published_cells(config: Config, name: str, printed: bool) -> Task[Cells | None]:
    """The cells of a published row, None if it raises; NaN is drawn as masked."""
    return FORWARD.then(comparison.begin(config, name, printed), _published_cells)


def _published_cells(found: rows.Comparison) -> Cells | None:
    if found.weights is None:
        return None
    visible = found.unmasked & ~found.weights.isnan()
    return drawn(found.weights.nan_to_num(0).float(), visible, theme.side(len(found.weights)))

"""Results of the Steps page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from torch import Tensor

from attention.config import Config
from attention.fitting import coerce
from attention.knobs import KNOBS
from attention.pinned import Sides
from attention.runtime.executors import Task
from attention.steps import compared
from attention.steps.values import bytes_of, difference, pairs, values
from attention.ui.budget import BUDGET, refusal_sentence, shrink
from attention.ui.results.shared import RESULTS, lane, wait_with_spinner, with_memory
from attention.wire.matrix_cells import Matrix, encode_differences
from attention.wire.matrix_cells import encode_steps as sent

FEWEST = int(KNOBS["tokens"].low or 0)
PAGE = "Steps"  # the page whose knobs are the cache key
COMPUTING = "Computing every step of the pass …"
ALL_HEADS = 2**20  # up to this many weights the steps of all heads are kept, otherwise of one head

T = TypeVar("T")


def refusal(config: Config) -> tuple[str, Config] | None:
    """Why the steps do not fit into the memory of this host, and the largest config that does; None if they fit."""
    needed = _page_bytes(config)
    if needed <= BUDGET.most:
        return None
    smaller = shrink(config, lambda each: _page_bytes(each) <= BUDGET.most, _reduce)
    return refusal_sentence("this view", needed, 0), smaller


def _page_bytes(config: Config) -> int:
    return bytes_of(config.for_page(PAGE))


def _reduce(config: Config) -> Config:
    """Returns a config with usual values, with fewer channels, or with fewer tokens; the same one at the least of either."""
    if config.d_model <= config.heads or config.tokens <= FEWEST:
        return config
    if config.d_v:
        less = {"d_v": 0}
    elif _page_bytes(replace(config, tokens=FEWEST, keys=0)) > BUDGET.most / 2:
        less = {"d_model": config.d_model * 3 // 4}
    else:
        less = {"tokens": config.tokens * 3 // 4, "keys": config.keys * 3 // 4}
    return Config(**coerce(vars(config) | less))


def matrices(config: Config, names: tuple[str, ...]) -> list[Matrix]:
    """The matrices of these steps of the pass, with the Steps page's knobs (other sequence, width of values)."""
    return _matrices(config.for_page(PAGE), config.head, names)


def differences(sides: Sides, names: tuple[str, ...]) -> list[Matrix]:
    """The matrices of B minus A of these steps; of those that can't be subtracted, that of B."""
    configs, alone = _both(sides), sides.heads is not None
    return _of_both(
        configs, ("differences", names, alone), lambda a, b: encode_differences(configs, (a, b), names, alone)
    )


def equal_steps(sides: Sides) -> list[str]:
    """The steps of B whose numbers are exactly those of A."""
    configs, alone = _both(sides), sides.heads is not None
    return _of_both(configs, ("equal steps", alone), lambda a, b: compared.equal_steps(configs, (a, b), alone))


def _both(sides: Sides) -> tuple[Config, Config]:
    """Both sides with the knobs of this page, and with their heads."""
    return tuple(replace(side.for_page(PAGE), head=side.head) for side in sides[:2])  # pyright: ignore[reportReturnType]  two of them


def _of_both(configs: tuple[Config, Config], what: tuple[Any, ...], call: Callable[[Any, Any], T]) -> T:
    """What a function of the tensors of both sides returns; `what` is its name in the cache."""
    sizes = sum(map(bytes_of, configs))
    work = lane(sizes)
    both = work.all_of(*(_begin_values(config, config.head) for config in configs))
    wait_with_spinner(both, COMPUTING)
    return RESULTS.ask(
        (*what, *configs), lambda: work.then(both, with_memory(sizes, lambda found: call(*found)))
    ).result()


def _begin_values(config: Config, head: int) -> Task[dict[str, Tensor]]:
    """Starts computing all steps, of all heads if their weights are few, otherwise of one."""
    few = config.heads * config.tokens * (config.keys or config.n_keys) <= ALL_HEADS
    return _values.begin(config, None if few else head)


def torch_difference(config: Config) -> float:
    """The difference of the context to PyTorch's, for cross-attention or values of another width."""
    return _difference(config.for_page(PAGE))


def blind(config: Config) -> int:
    """The number of fully masked rows, with the Steps page's knobs."""
    return int((~pairs(config.for_page(PAGE)).any(-1)).sum())


def _matrices(config: Config, head: int, names: tuple[str, ...]) -> list[Matrix]:
    found = _begin_values(config, head)
    wait_with_spinner(found, COMPUTING)
    given = replace(config, head=head)
    size = bytes_of(config)
    return RESULTS.ask(
        ("matrices", given, names),
        lambda: lane(size).then(found, with_memory(size, lambda made: sent(given, made, names))),
    ).result()


@RESULTS.on(PAGE)
def _values(config: Config, head: int | None) -> Task[dict[str, Tensor]]:
    size = bytes_of(config)
    return lane(size).submit(with_memory(size, values), config, slice(None) if head is None else slice(head, head + 1))


@RESULTS.on(PAGE)
def _difference(config: Config) -> Task[float]:
    size = bytes_of(config)
    return lane(size).then(_values.begin(config, 0), with_memory(size, partial(difference, config)))

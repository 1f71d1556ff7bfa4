"""Results of the Steps page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from torch import Tensor

from attention.config import Config
from attention.fitting import coerce
from attention.knobs import KNOBS
from attention.runtime.executors import Task
from attention.steps.values import bytes_of, difference, pairs, values
from attention.ui.budget import BUDGET, refusal_sentence, shrink
from attention.ui.results.shared import RESULTS, lane, wait_with_spinner, with_memory
from attention.wire.matrix_cells import Matrix
from attention.wire.matrix_cells import encode_steps as sent

FEWEST = int(KNOBS["tokens"].low or 0)
PAGE = "Steps"  # the page whose knobs are the cache key
ALL_HEADS = 2**20  # up to this many weights the steps of all heads are kept, otherwise of one head


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


def torch_difference(config: Config) -> float:
    """The difference of the context to PyTorch's, for cross-attention or values of another width."""
    return _difference(config.for_page(PAGE))


def blind(config: Config) -> int:
    """The number of fully masked rows, with the Steps page's knobs."""
    return int((~pairs(config.for_page(PAGE)).any(-1)).sum())


def _matrices(config: Config, head: int, names: tuple[str, ...]) -> list[Matrix]:
    few = config.heads * config.tokens * (config.keys or config.n_keys) <= ALL_HEADS
    found = _values.begin(config, None if few else head)
    wait_with_spinner(found, "Computing every step of the pass …")
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

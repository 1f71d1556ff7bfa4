"""Queries and keys of any number of tokens, computed from some tokens at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.config import Config
from attention.inputs import INPUTS, SPLIT, make_generator
from attention.operations.forgetting import ON, draw_forget_map, retention
from attention.operations.positions import POSITIONS
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.sources.constructed import places
from attention.sources.generated import STRETCH, by_heads, early, embed, maps, pairs_of

Stretches = Callable[[int, int], Tensor]  # tokens (n c), from one position to before another
WIDTH = 4  # bytes of a number


def queries_and_keys(
    config: Config, executor: Executor | None = None, heads: range | None = None
) -> tuple[Float[Tensor, "h q d"], Float[Tensor, "g k d"]]:
    """Returns queries, and keys that are not repeated, of any number of tokens; nothing is cached, values are not computed.

    They are those of all heads, or of neighbouring ones that share their keys with no others. Threads of an `executor`
    share the tokens, and allocate fresh memory while the tokens are drawn. If one matrix makes both, they are one
    tensor.
    """
    heads, of, d = heads or range(config.heads), config.heads // config.n_kv_heads, config.d_head
    with torch.inference_mode():
        w = maps(config.for_page())
        query = w.query[:, heads.start * d : heads.stop * d]
        key = w.key[:, heads.start // of * d : heads.stop // of * d]
    ways = [query] if torch.equal(query, key) else [query, key]
    make = partial(torch.zeros if executor else torch.empty, dtype=torch.float32)
    fresh = [partial(make, (config.tokens, matrix.shape[1])) for matrix in ways]
    rooms = [executor.submit(each).result if executor else each for each in fresh]
    with torch.inference_mode():
        some = stretches(config)
    found = [room() for room in rooms]
    parts = [(first, min(first + STRETCH, config.tokens)) for first in range(0, config.tokens, STRETCH)]
    for _ in (executor.map if executor else map)(partial(_multiply_part, some, ways, found), parts):
        pass
    q, *k = (by_heads(config, each, len(heads) // size) for each, size in zip(found, (1, of), strict=False))
    return q, (k or [q])[0]


@torch.inference_mode()
def _multiply_part(some: Stretches, ways: list[Tensor], found: list[Tensor], part: tuple[int, int]) -> None:
    """Writes the product of a part of the tokens with each matrix to its place."""
    x = some(*part)
    for matrix, room in zip(ways, found, strict=True):
        torch.mm(x, matrix, out=room[slice(*part)])


def retained(config: Config) -> Float[Tensor, "h n"] | None:
    """Returns the `retention` of any number of tokens from their forget gates, None if nothing is forgotten."""
    if config.forgetting != ON:
        return None
    return _retained(replace(early(config.for_page()), forgetting=ON, forget_bias=config.forget_bias))


@tensor_lru_cache(2)
@torch.inference_mode()
def _retained(config: Config) -> Float[Tensor, "h n"]:
    some, to_gates = stretches(config), draw_forget_map(config.d_model, config.heads, config.seed)
    starts = range(0, config.tokens, STRETCH)
    parts = [some(first, min(first + STRETCH, config.tokens)) @ to_gates for first in starts]
    return retention(torch.cat(parts) + config.forget_bias)


def stretches(config: Config) -> Stretches:
    """Returns a function of two positions that gives the tokens from one to before the other, with their positions.

    Positional channels are computed on request, and of a text, which repeats from its beginning, one turn is held.
    Tokens of other inputs, and tokens with positions added to them, are held as a whole.
    """
    if POSITIONS[config.positions].to_input is not None:
        whole = embed(config)
        return lambda first, last: whole[first:last]
    pairs, many = pairs_of(config), turn(config)
    own = INPUTS[config.input](many, config.d_model - 2 * pairs, make_generator(config.seed), config.text)
    if many == config.tokens:
        return lambda first, last: _beside(own[first:last], first, last, pairs)
    return lambda first, last: _beside(own[_first_turn(first, last, many - 1)], first, last, pairs)


def turn(config: Config) -> int:
    """Returns the largest number of different tokens: one turn of a text and the very first, which follows none; else all."""
    once = len(SPLIT[config.input](config.text) or " ") + 1 if config.input in SPLIT else config.tokens
    return min(config.tokens, once)


def made_of(config: Config) -> int:
    """Returns the bytes of tokens that `stretches` holds: those drawn, without positional channels of hand-built heads."""
    if POSITIONS[config.positions].to_input is not None:
        return 2 * WIDTH * config.tokens * config.d_model
    return WIDTH * turn(config) * (config.d_model - 2 * pairs_of(config))


def _first_turn(first: int, last: int, many: int) -> Int[Tensor, " n"]:
    """Returns indices of tokens in the first turn: the very first, then those of one turn again and again."""
    return torch.where((at := torch.arange(first, last)) > 0, (at - 1) % many + 1, 0)


def _beside(own: Float[Tensor, "n o"], first: int, last: int, pairs: int) -> Float[Tensor, "n c"]:
    return torch.cat([own, places(first, last, pairs)], 1) if pairs else own

"""From a config to the queries, keys and values of its heads, for any number of tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import MappingProxyType

import torch
from einops import rearrange, reduce, repeat
from jaxtyping import Float
from torch import Tensor

from attention.config import DEFAULTS, Config
from attention.inputs import INPUTS, seeded
from attention.inputs import tokens as texts
from attention.scores import POSITIONS
from attention.sources.given import Given, Projections, Source, Tokens

KEPT = 2**21  # channels of all tokens up to which the last ones are kept: 8 MB in float32, five times
SHARES = 2  # of the tokens, each the work of a thread where there are several
LATER = ("mask", "combine", "second", "span", "scale", "temperature", "softcap", "softmax")  # knobs of what follows


@dataclass(frozen=True, eq=False)
class Projected:
    """Tokens `x (q c)` and their projections in every head: `q (h q d)`, `k v (h k d)`, shared ones repeated."""

    x: Float[Tensor, "q c"]
    projections: Projections
    q: Float[Tensor, "h q d"]
    k: Float[Tensor, "h k d"]
    v: Float[Tensor, "h k d"]


class Generated:
    """The origin whose queries, keys and values are made from the knobs alone."""

    idle: Mapping[str, str] = MappingProxyType({"layer": "Made from the settings is one layer."})

    def tokens(self, source: Source, config: Config) -> Tokens:
        """The words or characters of a text input; of other inputs only their number."""
        return _tokens(config.tokens, config.text, config.input)

    def provenance(self, source: Source, config: Config) -> str:
        """That nothing was learned, and what was drawn."""
        drawn = "the unit matrix" if config.projections == "identity" else f"{config.projections}, drawn at random"
        return (
            f"Made from the settings, nothing learned: input {config.input}, projections {drawn}, seed {config.seed}."
        )

    def given(self, source: Source, config: Config) -> Given:
        """Self-attention of the tokens of a config."""
        own, made = self.tokens(source, config), projected(config)
        parts = {name: getattr(made, name) for name in ("x", "projections", "q", "k", "v")}
        return Given(config, own, own, config.rule, self.provenance(source, config), **parts)


@lru_cache(maxsize=8)  # named whenever a row or a cell is
def _tokens(n: int, text: str, name: str) -> Tokens:
    return Tokens(n, tuple(texts(n, text, name)))


def projected(config: Config) -> Projected:
    """Queries, keys and values with their positions; the last ones are kept, as most changes leave them as they are."""
    plain = replace(config.tensors, **{name: DEFAULTS[name] for name in LATER})
    return (_kept if config.tokens * config.d_model <= KEPT else _projected)(plain)


def _projected(config: Config) -> Projected:
    h, g = config.heads, config.groups
    with torch.inference_mode():
        x, w = embedded(config), maps(config)
        q = _part(config, x, w.query, h)
        k = repeat(_part(config, x, w.key, g), "g k d -> (g r) k d", r=h // g)
        v = repeat(x @ w.value, "k (g d) -> (g r) k d", g=g, r=h // g)
    return Projected(x, w, q, k, v)


def queries_and_keys(
    config: Config, executor: Executor | None = None
) -> tuple[Float[Tensor, "h q d"], Float[Tensor, "g k d"]]:
    """Queries, and keys that are not repeated, of any number of tokens; nothing of them is kept, nor the values made.

    Threads of an `executor` share the tokens, and one gets fresh memory from the system while the tokens are drawn. Where
    one matrix makes both, they are one tensor.
    """
    size = config.tokens, config.heads * config.d_head
    room = executor.submit(torch.zeros, size).result if executor else partial(torch.empty, size)
    with torch.inference_mode():
        x, w = embedded(config), maps(config)
    q = _part(config, x, w.query, config.heads, executor, room())
    return q, q if torch.equal(w.query, w.key) else _part(config, x, w.key, config.groups, executor)


@torch.inference_mode()
def _part(
    config: Config,
    x: Float[Tensor, "n c"],
    matrix: Float[Tensor, "c e"],
    heads: int,
    executor: Executor | None = None,
    room: Float[Tensor, "n e"] | None = None,
) -> Float[Tensor, "h n d"]:
    """What a matrix makes of the tokens, by heads, turned where positions turn it."""
    found = x.new_empty(len(x), matrix.shape[1]) if room is None else room
    for _ in (executor.map if executor else map)(partial(_product, matrix), x.chunk(SHARES), found.chunk(SHARES)):
        pass
    by_heads, turned = rearrange(found, "n (h d) -> h n d", h=heads), POSITIONS[config.positions].to_heads
    return turned(by_heads) if turned else by_heads


@torch.inference_mode()
def _product(matrix: Tensor, some: Tensor, found: Tensor) -> None:
    torch.mm(some, matrix, out=found)


def embedded(config: Config) -> Float[Tensor, "q c"]:
    """The tokens, with what positions add to them."""
    n, positions = config.tokens, POSITIONS[config.positions]
    x = INPUTS[config.input](n, config.d_model, seeded(config.seed), config.text)
    return x + positions.to_input(n, config.d_model) if positions.to_input else x


_kept = lru_cache(maxsize=2)(_projected)


def maps(config: Config) -> Projections:
    """The four matrices of a config. Heads that share keys and values take the mean of theirs, or smaller ones."""
    drawn = config.heads if config.sharing == "averaged" else config.groups
    w = projections(config.projections, config.d_model, drawn * config.d_head, config.seed)
    if drawn == config.groups:
        return w
    return replace(w, key=averaged(w.key, config.groups, drawn), value=averaged(w.value, config.groups, drawn))


def averaged(matrix: Float[Tensor, "c h_d"], groups: int, heads: int) -> Float[Tensor, "c g_d"]:
    """The mean of the maps of neighbouring heads, one for each group (Ainslie et al. 2023, section 2.1)."""
    return reduce(matrix, "c (g r d) -> c (g d)", "mean", g=groups, r=heads // groups)


@lru_cache(maxsize=2)  # drawing them takes longer than a small pass, and most changes leave them as they are
def projections(kind: str, c: int, g: int, seed: int) -> Projections:
    """The four matrices for c channels, g of them in keys and values: `kind` as the knob of that name says.

    Independent and tied ones are Xavier-uniform over the fused query, key and value map, as in nn.MultiheadAttention;
    their random numbers are others than those of the input.
    """
    if kind == "identity":
        one = torch.eye(c)
        return Projections(one, one[:, :g], one[:, :g], one)
    random, bound = seeded(-1 - seed), math.sqrt(6 / (2 * c + 2 * g))
    query, key, value = (torch.empty(c, width).uniform_(-bound, bound, generator=random) for width in (c, g, g))
    output = torch.empty(c, c).uniform_(-1, 1, generator=random) / math.sqrt(c)
    return Projections(query, query[:, :g] if kind == "tied" else key, value, output)

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
from attention.inputs import INPUTS, SPLIT, backwards, seeded
from attention.inputs import tokens as texts
from attention.machine.made_once import made_once
from attention.scores import POSITIONS
from attention.sources.given import Given, Projections, Source, Tokens

OTHER = 5000  # what the seed of the other sequence is moved by, where it is random: half of the seeds that there are
SEEDS = 10_000
KEPT = 2**21  # channels of all tokens up to which the last ones are kept: 8 MB in float32, five times
SHARES = 2  # of the tokens, each the work of a thread where there are several
LATER = ("mask", "combine", "second", "span", "scale", "temperature", "softcap", "softmax")  # knobs of what follows


@dataclass(frozen=True, eq=False)
class Projected:
    """Tokens `x (q c)` and projections in every head: `q (h q d)`, `k (h k d)`, `v (h k e)`, shared ones repeated."""

    x: Float[Tensor, "q c"]
    projections: Projections
    q: Float[Tensor, "h q d"]
    k: Float[Tensor, "h k d"]
    v: Float[Tensor, "h k e"]


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
        """The tokens of a config, and keys and values of these or, where it asks for that, of another sequence."""
        queries, made = self.tokens(source, config), projected(config)
        keys = other_tokens(config) if config.keys else queries
        parts = {name: getattr(made, name) for name in ("x", "projections", "q", "k", "v")}
        return Given(config, queries, keys, config.rule, self.provenance(source, config), **parts)


@lru_cache(maxsize=8)  # named whenever a row or a cell is
def _tokens(n: int, text: str, name: str) -> Tokens:
    return Tokens(n, tuple(texts(n, text, name)))


def other_tokens(config: Config) -> Tokens:
    """The tokens of the other sequence, that keys and values come from where a config asks for it."""
    return _tokens(config.keys, other(config)[1], config.input)


def early(config: Config) -> Config:
    """The same settings with whatever acts on queries and keys once they are made as by default."""
    return replace(config, **{name: DEFAULTS[name] for name in LATER})


def projected(config: Config) -> Projected:
    """Queries, keys and values with their positions; the last ones are kept, as most changes leave them as they are."""
    plain = early(config.on("Steps"))
    return (_last if config.tokens * config.d_model <= KEPT else _projected)(plain)


def _projected(config: Config) -> Projected:
    h, g = config.heads, config.groups
    with torch.inference_mode():
        x, w = embedded(config), maps(config)
        y = sequence(config, "y", config.keys, *other(config))["y"] if config.keys else x
        q = _part(config, x, w.query, h)
        k = repeat(_part(config, y, w.key, g), "g k d -> (g r) k d", r=h // g)
        v = repeat(y @ w.value, "k (g e) -> (g r) k e", g=g, r=h // g)
    return Projected(x, w, q, k, v)


def queries_and_keys(
    config: Config, executor: Executor | None = None
) -> tuple[Float[Tensor, "h q d"], Float[Tensor, "g k d"]]:
    """Queries, and keys that are not repeated, of any number of tokens; nothing of them is kept, nor the values made.

    Threads of an `executor` share the tokens, and one gets fresh memory from the system while the tokens are drawn. Where
    one matrix makes both, they are one tensor.
    """
    size = config.tokens, config.heads * config.d_head
    fresh = partial(torch.zeros if executor else torch.empty, size, dtype=torch.float32)
    room = executor.submit(fresh).result if executor else fresh
    with torch.inference_mode():
        x, w = embedded(config), maps(config.tensors)
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


def other(config: Config) -> tuple[int, str]:
    """Seed and text of the other sequence: a text is read backwards, with its seed, so that equal words stay equal."""
    return (config.seed if config.input in SPLIT else (config.seed + OTHER) % SEEDS), backwards(
        config.text, config.input
    )


def sequence(config: Config, name: str, n: int, seed: int, text: str) -> dict[str, Tensor]:
    """The n tokens of x, or of another sequence, and what they are made of."""
    x = INPUTS[config.input](n, config.d_model, seeded(seed), text)
    to_input = POSITIONS[config.positions].to_input
    if to_input is None:
        return {name: x}
    sines = to_input(n, config.d_model)
    return {f"embedded {name}": x, f"sines {name}": sines, name: x + sines}


def embedded(config: Config) -> Float[Tensor, "q c"]:
    """The tokens, with what positions add to them."""
    return sequence(config, "x", config.tokens, config.seed, config.text)["x"]


_last = made_once(2)(_projected)


def maps(config: Config) -> Projections:
    """The four matrices of a config. Heads that share keys and values take the mean of theirs, or smaller ones."""
    drawn = config.heads if config.sharing == "averaged" else config.groups
    w = projections(config.projections, config.d_model, drawn * config.d_head, config.seed)
    if drawn > config.groups:
        w = replace(w, key=averaged(w.key, config.groups, drawn), value=averaged(w.value, config.groups, drawn))
    if config.d_v in (0, config.d_head):
        return w
    value, output = _value_maps(config)
    return replace(w, value=value, output=output)


def _value_maps(config: Config) -> tuple[Float[Tensor, "c g_e"], Float[Tensor, "h_e c"]]:
    """Maps to and from values of a width of their own, drawn as the others are: Xavier, or unit matrices."""
    c, wide = config.d_model, config.heads * config.d_v
    drawn = wide if config.sharing == "averaged" else config.groups * config.d_v
    if config.projections == "identity":
        value, output = (torch.eye(*size, dtype=torch.float32) for size in ((c, drawn), (wide, c)))
    else:
        random = seeded(-1 - SEEDS - config.seed)
        empty = partial(torch.empty, dtype=torch.float32)
        value = empty(c, drawn).uniform_(-1, 1, generator=random) * math.sqrt(6 / (c + drawn))
        output = empty(wide, c).uniform_(-1, 1, generator=random) / math.sqrt(wide)
    if drawn > config.groups * config.d_v:
        value = averaged(value, config.groups, config.heads)
    return value, output


def averaged(matrix: Float[Tensor, "c h_d"], groups: int, heads: int) -> Float[Tensor, "c g_d"]:
    """The mean of the maps of neighbouring heads, one for each group (Ainslie et al. 2023, section 2.1)."""
    return reduce(matrix, "c (g r d) -> c (g d)", "mean", g=groups, r=heads // groups)


@made_once(2)  # drawing them takes longer than a small pass, and most changes leave them as they are
def projections(kind: str, c: int, g: int, seed: int) -> Projections:
    """The four matrices for c channels, g of them in keys and values: `kind` as the knob of that name says.

    Independent and tied ones are Xavier-uniform over the fused query, key and value map, as in nn.MultiheadAttention;
    their random numbers are others than those of the input.
    """
    if kind == "identity":
        one = torch.eye(c, dtype=torch.float32)
        return Projections(one, one[:, :g], one[:, :g], one)
    random, bound = seeded(-1 - seed), math.sqrt(6 / (2 * c + 2 * g))
    empty = partial(torch.empty, dtype=torch.float32)
    query, key, value = (empty(c, width).uniform_(-bound, bound, generator=random) for width in (c, g, g))
    output = empty(c, c).uniform_(-1, 1, generator=random) / math.sqrt(c)
    return Projections(query, query[:, :g] if kind == "tied" else key, value, output)

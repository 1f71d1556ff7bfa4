"""Trace: every step of one pass, kept, from x to output.

`trace` is written to be read beside its picture: one line a step, in the order of the formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import torch
from einops import einsum, rearrange, reduce, repeat
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import HIDDEN, attend
from attention.config import Config
from attention.inputs import INPUTS, seeded
from attention.masks import MASKS
from attention.scores import POSITIONS, SCALES, SOFTMAXES, capped


@dataclass(frozen=True)
class Projections:
    """The four matrices: `query (c c)`, `key value (c, kv_heads d)`, `output (c c)`; a token is a row, x @ W."""

    query: Float[Tensor, "c c"]
    key: Float[Tensor, "c g"]
    value: Float[Tensor, "c g"]
    output: Float[Tensor, "c c"]


@dataclass(frozen=True, eq=False)
class Trace:
    """Every step of one pass on the CPU in float32.

    `x (q c)`, `q (h q d)`, `k v (h k d)` (shared ones repeated for each head), `weights (h q k)`, `mask (q k)` (True
    takes part), `context (h q d)`, `output (q c)`. `scores` and `bias` are of the size of the weights and are computed
    when they are asked for.
    """

    config: Config
    x: Float[Tensor, "q c"]
    projections: Projections
    q: Float[Tensor, "h q d"]
    k: Float[Tensor, "h k d"]
    v: Float[Tensor, "h k d"]
    mask: Bool[Tensor, "q k"]
    weights: Float[Tensor, "h q k"]
    context: Float[Tensor, "h q d"]
    output: Float[Tensor, "q c"]

    @property
    def scale(self) -> float:
        """What dot products are multiplied by: the scale over the temperature."""
        return SCALES[self.config.scale](self.config.d_head) / self.config.temperature

    @property
    def scores(self) -> Float[Tensor, "h q k"]:
        """Scaled scores, before softcap, mask and bias."""
        return einsum(self.q, self.k, "h q d, h k d -> h q k") * self.scale

    @property
    def bias(self) -> Float[Tensor, "h q k"]:
        """What positions add to the scores; zeros where they add nothing."""
        bias = position_bias(self.config)
        return torch.zeros(()).expand(self.weights.shape) if bias is None else bias

    @property
    def logits(self) -> Float[Tensor, "h q k"]:
        """What the softmax sees: scores after softcap, with bias, and minus infinity where the mask hides."""
        return (capped(self.scores, self.config.softcap) + self.bias).masked_fill_(~self.mask, HIDDEN)


def trace(config: Config) -> Trace:
    """One pass of multi-head self-attention, step by step (Vaswani et al. 2017, section 3.2)."""
    n, h, g = config.tokens, config.heads, config.groups
    positions = POSITIONS[config.positions]
    with torch.inference_mode():
        x = INPUTS[config.input](n, config.d_model, seeded(config.seed), config.text)
        x = x + positions.to_input(n, config.d_model) if positions.to_input else x
        w = maps(config)
        q = rearrange(x @ w.query, "q (h d) -> h q d", h=h)
        k = rearrange(x @ w.key, "k (g d) -> g k d", g=g)
        v = repeat(x @ w.value, "k (g d) -> (g r) k d", g=g, r=h // g)
        q, k = (positions.to_heads(q), positions.to_heads(k)) if positions.to_heads else (q, k)
        k = repeat(k, "g k d -> (g r) k d", r=h // g)
        mask = config.rule.square(n, n, config.span)
        context, weights = _pass(config, q, k, v, mask)
        output = rearrange(context, "h q d -> q (h d)") @ w.output
    return Trace(config, x, w, q, k, v, mask, weights, context, output)


def _pass(config: Config, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Context and weights of the settings; a position bias goes in with the mask."""
    scale = SCALES[config.scale](config.d_head) / config.temperature
    bias = position_bias(config)
    joint = mask if bias is None else bias.masked_fill_(~mask, HIDDEN)
    run = partial(attend, scale=scale, softcap=config.softcap or None, normalise=SOFTMAXES[config.softmax])
    return run(q, k, v, None if config.rule is MASKS["full"] and bias is None else joint)


def position_bias(config: Config) -> Float[Tensor, "h q k"] | None:
    """What the positions add to the scores of every head, None where they add nothing."""
    to_scores = POSITIONS[config.positions].to_scores
    if to_scores is None:
        return None
    at = torch.arange(config.tokens)
    return to_scores(at[:, None], at[None, :], torch.arange(config.heads)[:, None, None], config.heads)


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

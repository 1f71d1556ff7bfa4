"""Trace: every step of one pass, kept, from x to output.

`trace` is written to be read beside its picture: one line a step, in the order of the formula.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import torch
from einops import einsum, rearrange
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import HIDDEN, attend
from attention.config import CELLS, Config, ConfigError
from attention.machine.memory import room
from attention.masks import MASKS
from attention.scores import POSITIONS, SOFTMAXES, capped
from attention.sources.generated import Projected, Projections, projected

SHARED = 2**20  # weights from which two threads share the heads


@dataclass(frozen=True, eq=False)
class Trace:
    """Every step of one pass on the CPU in float32.

    `x (q c)`, `q (h q d)`, `k v (h k d)` (shared ones repeated for each head), `weights (h q k)`, `mask (q k)` (True
    takes part), `context (h q d)`. `output (q c)` and what is of the size of the weights, `scores`, `bias` and `logits`,
    are computed when they are asked for.
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

    @property
    def output(self) -> Float[Tensor, "q c"]:
        """The context of all heads, joined and mapped by W_o."""
        return rearrange(self.context, "h q d -> q (h d)") @ self.projections.output

    @property
    def scale(self) -> float:
        """What dot products are multiplied by: the scale over the temperature."""
        return self.config.factor

    @property
    def scores(self) -> Float[Tensor, "h q k"]:
        """Scaled scores, before softcap, mask and bias."""
        return einsum(self.q, self.k, "h q d, h k d -> h q k") * self.scale

    @property
    def bias(self) -> Float[Tensor, "h q k"]:
        """What positions add to the scores; zeros where they add nothing."""
        bias = position_bias(self.config)
        return torch.zeros((), dtype=torch.float32).expand(self.weights.shape) if bias is None else bias

    @property
    def logits(self) -> Float[Tensor, "h q k"]:
        """What the softmax sees: scores after softcap, with bias, and minus infinity where the mask hides."""
        return (capped(self.scores, self.config.softcap) + self.bias).masked_fill_(~self.mask, HIDDEN)


def trace(config: Config, executor: Executor | None = None) -> Trace:
    """One pass of multi-head self-attention, step by step (Vaswani et al. 2017, section 3.2).

    Two threads of an `executor` share the heads, where these are large. Raises ConfigError for more than CELLS weights,
    heads x tokens x tokens; `head_maps` draws those.
    """
    n, h = config.tokens, config.heads
    if h * n * n > CELLS:
        most = math.isqrt(CELLS // h)
        limit = f"{h} heads of {n:,} x {n:,} weights are over the limit of {CELLS:,} cells"
        raise ConfigError(f"tokens={n}: {limit} of a trace. The most that fits is {most}; head_maps draws any length.")
    given = projected(config)
    with torch.inference_mode():
        mask = config.rule.square(n, n, config.span)
        bias = position_bias(config)
        joint = mask if bias is None else bias.masked_fill_(~mask, HIDDEN)
        joint = None if config.rule is MASKS["full"] and bias is None else joint
        weights, context = room((h, n, n), given.q), torch.empty_like(given.q)
    fill = partial(_heads, config, given, joint, weights, context)
    if executor and h > 1 and h * n * n > SHARED:
        list(executor.map(fill, (slice(0, h // 2), slice(h // 2, h))))
    else:
        fill(slice(0, h))
    return Trace(config, given.x, given.projections, given.q, given.k, given.v, mask, weights, context)


@torch.inference_mode()
def _heads(
    config: Config, given: Projected, joint: Tensor | None, weights: Tensor, context: Tensor, some: slice
) -> None:
    """Fills in the weights and the context of some heads; a position bias comes with the mask."""
    q, k, v = given.q[some], given.k[some], given.v[some]
    joint = joint if joint is None or joint.ndim == 2 else joint[some]
    options = {"scale": config.factor, "softcap": config.softcap or None, "normalise": SOFTMAXES[config.softmax]}
    context[some] = attend(q, k, v, joint, **options, out=weights[some]).output


def position_bias(config: Config) -> Float[Tensor, "h q k"] | None:
    """What the positions add to the scores of every head, None where they add nothing."""
    to_scores = POSITIONS[config.positions].to_scores
    if to_scores is None:
        return None
    at = torch.arange(config.tokens)
    return to_scores(at[:, None], at[None, :], torch.arange(config.heads)[:, None, None], config.heads)

"""One set of weights for all published implementations, in the layouts that they use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from einops import rearrange, repeat
from jaxtyping import Float
from torch import Tensor

from attention.layer import MultiHeadAttention


class Linear(NamedTuple):
    """A linear map as in `nn.Linear`: `F.linear(x, *linear)` is x weightᵀ + bias."""

    weight: Float[Tensor, "o i"]
    bias: Float[Tensor, " o"]


@dataclass(frozen=True, eq=False)
class Weights:
    """The maps of every head, `query key (h c d)`, `value (h c e)`, `output (h e c)`, for tokens as rows: x @ query[0].

    Missing biases are zeros. `batch` and `tokens` are the sizes that a layer is built for, if it is built for fixed sizes.
    """

    query: Float[Tensor, "h c d"]
    key: Float[Tensor, "h c d"]
    value: Float[Tensor, "h c e"]
    output: Float[Tensor, "h e o"]
    query_bias: Float[Tensor, "h d"]
    key_bias: Float[Tensor, "h d"]
    value_bias: Float[Tensor, "h e"]
    output_bias: Float[Tensor, " o"]
    batch: int = 1
    tokens: int = 1

    @classmethod
    def of(cls, query: Tensor, key: Tensor, value: Tensor, output: Tensor, batch: int = 1, tokens: int = 1) -> Weights:
        """Returns weights without biases."""
        rows = (x.new_zeros(x.shape[0], x.shape[-1]) for x in (query, key, value))
        return cls(query, key, value, output, *rows, output.new_zeros(output.shape[-1]), batch, tokens)  # pyright: ignore[reportCallIssue]  as many as there are

    @classmethod
    def split(cls, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int, groups: int) -> Weights:
        """Returns the maps of a pass, given as one matrix for all heads each; shared maps are repeated for every head."""
        query = rearrange(query, "c (h d) -> h c d", h=heads)
        key, value = (repeat(x, "c (g d) -> (g r) c d", g=groups, r=heads // groups) for x in (key, value))
        return cls.of(query, key, value, rearrange(output, "(h e) c -> h e c", h=heads))

    @classmethod
    def from_layer(cls, layer: MultiHeadAttention, batch: int = 1, tokens: int = 1) -> Weights:
        """Returns the maps and biases of a layer, detached; convert an `nn.MultiheadAttention` with `from_torch` first."""
        groups, heads = layer.kv_heads, layer.heads
        maps, biases = [], []
        for proj, g in ((layer.q_proj, heads), (layer.k_proj, groups), (layer.v_proj, groups)):
            bias = proj.bias if proj.bias is not None else proj.weight.new_zeros(proj.out_features)
            maps.append(repeat(proj.weight.detach(), "(g d) c -> (g r) c d", g=g, r=heads // g))
            biases.append(repeat(bias.detach(), "(g d) -> (g r) d", g=g, r=heads // g))
        out = layer.out_proj
        output = rearrange(out.weight.detach(), "c (h d) -> h d c", h=heads)
        last = out.bias.detach() if out.bias is not None else out.weight.new_zeros(out.out_features)
        return cls(*maps, output, *biases, last, batch, tokens)  # pyright: ignore[reportCallIssue]  as many as there are

    def to(self, dtype: torch.dtype) -> Weights:
        """Returns the same weights in another dtype."""
        return replace(self, **{name: x.to(dtype) for name, x in vars(self).items() if isinstance(x, Tensor)})

    def first(self, heads: int) -> Weights:
        """Returns the first `heads` heads only."""
        kept = {n: x[:heads] for n, x in vars(self).items() if isinstance(x, Tensor) and n != "output_bias"}
        return replace(self, **kept)

    @property
    def merge_heads(self) -> Weights:
        """All heads as one head of their joint width, with the same maps."""
        maps = {n: rearrange(getattr(self, n), "h c d -> 1 c (h d)") for n in ("query", "key", "value")}
        biases = {f"{n}_bias": rearrange(getattr(self, f"{n}_bias"), "h d -> 1 (h d)") for n in maps}
        return replace(self, **maps, **biases, output=rearrange(self.output, "h e c -> 1 (h e) c"))

    @property
    def without_bias(self) -> Weights:
        """The maps only, for implementations without biases."""
        return Weights.of(self.query, self.key, self.value, self.output, self.batch, self.tokens)

    def learning(self) -> tuple[Weights, list[Tensor]]:
        """Returns the same weights with gradients, and all leaves: every tensor and every layout created so far is a leaf."""
        tensors = {name: _leaf(x) for name, x in vars(self).items() if isinstance(x, Tensor)}
        layouts = {name: Linear(*map(_leaf, x)) for name, x in vars(self).items() if isinstance(x, Linear)}
        found = replace(self, **tensors)
        vars(found).update(layouts)
        return found, [*tensors.values(), *(leaf for layout in layouts.values() for leaf in layout)]

    @cached_property
    def q_proj(self) -> Linear:
        """Projects c to (h d)."""
        return _linear(self.query, self.query_bias)

    @cached_property
    def k_proj(self) -> Linear:
        """Projects c to (h d)."""
        return _linear(self.key, self.key_bias)

    @cached_property
    def v_proj(self) -> Linear:
        """Projects c to (h e)."""
        return _linear(self.value, self.value_bias)

    @cached_property
    def out_proj(self) -> Linear:
        """Projects (h e) to c."""
        return Linear(rearrange(self.output, "h e c -> c (h e)"), self.output_bias)

    @cached_property
    def qkv_proj(self) -> Linear:
        """Projects c to (h 3 d), with query, key and value of a head next to each other."""
        maps = torch.cat([self.query, self.key, self.value], -1)
        return _linear(maps, torch.cat([self.query_bias, self.key_bias, self.value_bias], -1))


def _leaf(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_()


def _linear(maps: Float[Tensor, "h c d"], bias: Float[Tensor, "h d"]) -> Linear:
    return Linear(rearrange(maps, "h c d -> (h d) c"), rearrange(bias, "h d -> (h d)"))

"""An attention-only transformer built from `MultiHeadAttention`, small enough to be trained while the user watches.

Tokens are embedded; each layer adds the output of its heads to them, computed after a layer norm (Xiong et al. 2020, pre-LN);
a final norm and a linear map give the logits of the next token. There are no layers other than attention, as in Elhage et al.
2021 ("attention-only").
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention.attend import attend
from attention.layer import MultiHeadAttention
from attention.operations.differential import EPS, first_lambda, join_halves, split_halves
from attention.operations.gate import ELEMENTWISE, OFF
from attention.operations.mask import HIDDEN
from attention.operations.qk_norm import ON, rms_norm
from attention.operations.softmax import SOFTMAXES
from attention.training.recipe import GATE, LEARNED, PLACES, WEIGHTS, Recipe
from attention.training.tasks import VOCABULARY

SPREAD = 0.1  # standard deviation of the four vectors that lambda is made of, as in the paper


class Heads(NamedTuple):
    """Inputs of the attention of one layer: `q k v (b h n d)` with positions, before QK-norm.

    `sinks (h)`: learned logits in the denominators, or lambdas; `gate (b h n u)`: what the output is multiplied by; None
    without them.
    """

    q: Float[Tensor, "b h n d"]
    k: Float[Tensor, "b h n d"]
    v: Float[Tensor, "b h n d"]
    sinks: Float[Tensor, " h"] | None = None
    gate: Float[Tensor, "b h n u"] | None = None


class Pairs:
    """Computes weights from queries and keys, with the QK-norm, mask, position bias, scale and softmax of a recipe."""

    def __init__(self, recipe: Recipe, n: int | None = None) -> None:
        n = recipe.what.tokens if n is None else n
        self.recipe, self.causal = recipe, recipe.mask == "causal" and PLACES[recipe.positions].to_scores is None
        self.seen = recipe.rule.square(n, n, recipe.span)
        bias = PLACES[recipe.positions].to_scores
        self.mask: Tensor = self.seen
        if bias is not None:
            at, heads = torch.arange(n), torch.arange(recipe.heads)[:, None, None]
            self.mask = bias(at[:, None], at[None], heads, recipe.heads).masked_fill(~self.seen, HIDDEN)

    def context_and_weights(
        self, q: Tensor, k: Tensor, v: Tensor, sinks: Float[Tensor, "*l h"] | None = None
    ) -> tuple[Float[Tensor, "... n d"], Float[Tensor, "... n n"]]:
        """Returns context and weights. What is added to the denominator is a key of zeros whose value is zeros.

        Its logit is in the mask: one of `sinks` if the softmax has learned ones, else the softmax's own.
        """
        softmax = SOFTMAXES[self.recipe.softmax]
        if softmax.halves > 1:
            q, k = split_halves(q, softmax.halves), split_halves(k, softmax.halves)
        q, k = (rms_norm(q), rms_norm(k)) if self.recipe.qk_norm == ON else (q, k)
        plain = None if self.causal else self.mask
        if softmax.sums_to_one:
            return attend(q, k, v, plain, self.causal, self.recipe.factor)
        assert sinks is not None or not (softmax.learned or softmax.halves > 1), "The learned sinks are missing."
        if softmax.halves > 1 and sinks is not None:
            _, both = attend(q, k, v[..., :0], plain, self.causal, self.recipe.factor)
            weights = both[0] - sinks[..., None, None] * both[1]  # one product with the values, not two
            return weights @ v, weights
        sinks, mask = k.new_tensor([softmax.sink]) if sinks is None else sinks, self.mask
        if mask.dtype == torch.bool:
            mask = torch.zeros(mask.shape, dtype=k.dtype).masked_fill(~mask, HIDDEN)
        heads, n = torch.broadcast_shapes(sinks.shape, mask.shape[:-2]), mask.shape[-1]
        added = sinks[..., None, None].expand(*heads, n, 1), mask.expand(*heads, n, n)
        k, v = (torch.nn.functional.pad(each, (0, 0, 1, 0)) for each in (k, v))
        context, weights = attend(q, k, v, torch.cat(added, -1), scale=self.recipe.factor)
        return context, weights[..., 1:]


class Layer(nn.Module):
    """One layer, which returns what its heads add to the tokens."""

    def __init__(self, recipe: Recipe, number: int) -> None:
        super().__init__()
        self.turned, self.halves = PLACES[recipe.positions].to_heads, recipe.halves
        self.norm = nn.LayerNorm(recipe.d_model)
        self.attention = MultiHeadAttention(recipe.d_model, recipe.heads, bias=False)
        self.sinks = nn.Parameter(torch.zeros(recipe.heads)) if SOFTMAXES[recipe.softmax].learned else None
        self.start = first_lambda(number)
        self.lambdas = nn.Parameter(torch.empty(4, recipe.d_head // self.halves)) if self.halves > 1 else None
        width = recipe.d_model if recipe.gate == ELEMENTWISE else recipe.heads
        self.gate = nn.Linear(recipe.d_model, width, bias=False) if recipe.gate != OFF else None

    def heads(self, x: Float[Tensor, "b n c"]) -> Heads:
        """Returns queries, keys and values of every head, its sink and its gate."""
        normed, by = self.norm(x), self.attention
        q, k, v = (self._split(part(normed)) for part in (by.q_proj, by.k_proj, by.v_proj))
        q, k = (self._turn(q), self._turn(k)) if self.turned else (q, k)
        gate = None if self.gate is None else self._split(self.gate(normed)).sigmoid()
        return Heads(q, k, v, self.sinks if self.lambdas is None else self._factors(self.lambdas), gate)

    def _turn(self, part: Float[Tensor, "b h n d"]) -> Float[Tensor, "b h n d"]:
        """Applies positions to queries or keys, of each softmax by itself."""
        assert self.turned is not None
        return self.turned(part) if self.halves == 1 else join_halves(self.turned(split_halves(part, self.halves)))

    def _factors(self, lambdas: Float[Tensor, "4 w"]) -> Float[Tensor, " h"]:
        """Returns the lambda of the layer, once per head (Ye et al. 2025, equation 2)."""
        one, two = (lambdas[0] * lambdas[1]).sum().exp(), (lambdas[2] * lambdas[3]).sum().exp()
        return (one - two + self.start).expand(self.attention.heads)

    def _split(self, part: Float[Tensor, "b n h_d"]) -> Float[Tensor, "b h n d"]:
        return rearrange(part, "b n (h d) -> b h n d", h=self.attention.heads)

    def normed(self, context: Float[Tensor, "b h n d"]) -> Float[Tensor, "b h n d"]:
        """Returns what heads found; a difference of two softmaxes is divided by its root mean square."""
        return context if self.halves == 1 else rms_norm(context, EPS) * (1 - self.start)

    def project_heads(self, context: Float[Tensor, "b h n d"]) -> Float[Tensor, "b n c"]:
        """Returns the sum that all heads add to the tokens."""
        return self.attention.out_proj(rearrange(context, "b h n d -> b n (h d)"))


class Model(nn.Module):
    """The model of a recipe, with initial weights drawn from its seed."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        self.recipe = recipe
        self.embedding = nn.Embedding(VOCABULARY, recipe.d_model)
        self.places = nn.Embedding(recipe.what.tokens, recipe.d_model) if recipe.positions == LEARNED else None
        self.layers = nn.ModuleList(Layer(recipe, at) for at in range(recipe.layers))
        self.norm = nn.LayerNorm(recipe.d_model)
        self.says = nn.Linear(recipe.d_model, VOCABULARY, bias=False)
        self.to(torch.float32)  # independent of torch's default dtype
        random, gates = (
            recipe.random(WEIGHTS),
            recipe.random(GATE),
        )  # with gates or lambdas, all other weights are the same
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:  # norms and sinks keep their own initial values
                deviation = 1.0 if name.startswith(("embedding", "places")) else recipe.d_model**-0.5
                deviation = SPREAD if name.endswith("lambdas") else deviation
                added = ".gate." in name or name.endswith("lambdas")
                nn.init.normal_(parameter, 0.0, deviation, generator=gates if added else random)

    @cached_property
    def pairs(self) -> Pairs:
        """The `Pairs` for the length of the task."""
        return Pairs(self.recipe)

    def forward(self, ids: Int[Tensor, "b n"]) -> Float[Tensor, "b n v"]:
        """Returns the logits of the token that follows each token."""
        return self.forward_with_scores(ids)[0]

    def forward_with_scores(self, ids: Int[Tensor, "b n"]) -> tuple[Float[Tensor, "b n v"], list[Heads]]:
        """Returns the logits, and the inputs of each layer's attention.

        With learned positions, there are at most as many tokens as in the task.
        """
        n = ids.shape[1]
        pairs = self.pairs if n == self.recipe.what.tokens else Pairs(self.recipe, n)
        x, found = self.embedding(ids), []
        if self.places is not None:
            x = x + self.places.weight[:n]
        if to_input := PLACES[self.recipe.positions].to_input:
            x = x + to_input(n, self.recipe.d_model)
        for layer in self.layers:
            heads = layer.heads(x)  # pyright: ignore[reportCallIssue]  a Layer
            context, _ = pairs.context_and_weights(heads.q, heads.k, heads.v, heads.sinks)
            context = layer.normed(context)  # pyright: ignore[reportCallIssue]  a Layer
            context = context if heads.gate is None else context * heads.gate
            x = x + layer.project_heads(context)  # pyright: ignore[reportCallIssue]  a Layer
            found.append(heads)
        return self.says(self.norm(x)), found

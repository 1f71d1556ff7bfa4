"""An attention-only transformer built from `MultiHeadAttention`, small enough to be trained while the user watches.

Tokens are embedded; each layer adds the output of its heads to them, computed after a layer norm (Xiong et al. 2020, pre-LN);
a final norm and a linear map give the logits of the next token. There are no layers other than attention, as in Elhage et al.
2021 ("attention-only").
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention.attend import attend
from attention.layer import MultiHeadAttention
from attention.operations.mask import HIDDEN
from attention.operations.softmax import SOFTMAXES
from attention.training.recipe import LEARNED, PLACES, WEIGHTS, Recipe
from attention.training.tasks import VOCABULARY

Off = Collection[tuple[int, int]]  # heads that are switched off, as layer and head


class Heads(NamedTuple):
    """Inputs of the attention of one layer, after positions are applied: `q k v (b h n d)`."""

    q: Float[Tensor, "b h n d"]
    k: Float[Tensor, "b h n d"]
    v: Float[Tensor, "b h n d"]


class Pairs:
    """Computes weights from queries and keys, with the mask, position bias, scale and softmax of a recipe."""

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
        self, q: Tensor, k: Tensor, v: Tensor
    ) -> tuple[Float[Tensor, "... n d"], Float[Tensor, "... n n"]]:
        """Returns context and weights. What is added to the denominator is a key of zeros whose value is zeros."""
        softmax = SOFTMAXES[self.recipe.softmax]
        if softmax.sums_to_one:
            mask = None if self.causal else self.mask
            return attend(q, k, v, mask, self.causal, self.recipe.factor)
        mask = self.mask
        if softmax.sink and mask.dtype == torch.bool:  # the logit of the added key is in the mask
            mask = torch.zeros(mask.shape, dtype=k.dtype).masked_fill(~mask, HIDDEN)
        nothing = F.pad(mask, (1, 0), value=bool(mask.dtype == torch.bool) or softmax.sink)
        k, v = (F.pad(each, (0, 0, 1, 0)) for each in (k, v))
        context, weights = attend(q, k, v, nothing, scale=self.recipe.factor)
        return context, weights[..., 1:]


class Layer(nn.Module):
    """One layer, which returns what its heads add to the tokens."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        self.turned = PLACES[recipe.positions].to_heads
        self.norm = nn.LayerNorm(recipe.d_model)
        self.attention = MultiHeadAttention(recipe.d_model, recipe.heads, bias=False)

    def heads(self, x: Float[Tensor, "b n c"]) -> Heads:
        """Returns queries, keys and values of every head."""
        normed, by = self.norm(x), self.attention
        q, k, v = (
            rearrange(part(normed), "b n (h d) -> b h n d", h=by.heads) for part in (by.q_proj, by.k_proj, by.v_proj)
        )
        return Heads(self.turned(q), self.turned(k), v) if self.turned else Heads(q, k, v)

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
        self.layers = nn.ModuleList(Layer(recipe) for _ in range(recipe.layers))
        self.norm = nn.LayerNorm(recipe.d_model)
        self.says = nn.Linear(recipe.d_model, VOCABULARY, bias=False)
        self.to(torch.float32)  # independent of torch's default dtype
        random = recipe.random(WEIGHTS)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:  # norms keep their own initial values
                deviation = 1.0 if name.startswith(("embedding", "places")) else recipe.d_model**-0.5
                nn.init.normal_(parameter, 0.0, deviation, generator=random)

    @cached_property
    def pairs(self) -> Pairs:
        """The `Pairs` for the length of the task."""
        return Pairs(self.recipe)

    def forward(self, ids: Int[Tensor, "b n"], off: Off = ()) -> Float[Tensor, "b n v"]:
        """Returns the logits of the token that follows each token."""
        return self.forward_with_scores(ids, off)[0]

    def forward_with_scores(self, ids: Int[Tensor, "b n"], off: Off = ()) -> tuple[Float[Tensor, "b n v"], list[Heads]]:
        """Returns the logits, and the inputs of each layer's attention; heads in `off` add nothing.

        With learned positions, there are at most as many tokens as in the task.
        """
        n = ids.shape[1]
        pairs = self.pairs if n == self.recipe.what.tokens else Pairs(self.recipe, n)
        x, found = self.embedding(ids), []
        if self.places is not None:
            x = x + self.places.weight[:n]
        if to_input := PLACES[self.recipe.positions].to_input:
            x = x + to_input(n, self.recipe.d_model)
        for number, layer in enumerate(self.layers):
            heads = layer.heads(x)  # pyright: ignore[reportCallIssue]  a Layer
            context, _ = pairs.context_and_weights(*heads)
            silent = [head for at, head in off if at == number]
            if silent:
                context = context.index_fill(1, torch.tensor(silent), 0)
            x = x + layer.project_heads(context)  # pyright: ignore[reportCallIssue]  a Layer
            found.append(heads)
        return self.says(self.norm(x)), found

"""Document 002: queries, keys and values from one projection, split inside each head; fixed batch and length."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attention.attend import Attention
from attention.published.row import Document, Row
from attention.published.weights import Weights


def fused(x: Float[Tensor, "b n c"], w: Weights, mask: Tensor | None = None) -> Attention:
    context, weights = each_head(x, w, mask)
    joined = context.permute(0, 2, 1, 3).reshape(w.batch, w.tokens, -1)  # b n (h d)
    output = F.linear(joined, *w.out_proj)  # b n c
    return Attention(output, weights)


def fused_as_printed(x: Float[Tensor, "b n c"], w: Weights, mask: Tensor | None = None) -> Attention:
    context, weights = each_head(x, w, mask)
    joined = context.reshape(w.batch, w.tokens, -1)  # b n (h d)
    output = F.linear(joined, *w.out_proj)  # b n c
    return Attention(output, weights)


def each_head(x: Float[Tensor, "b n c"], w: Weights, mask: Tensor | None) -> Attention:
    heads, _, width = w.query.shape
    qkv = F.linear(x, *w.qkv_proj).reshape(w.batch, w.tokens, heads, 3 * width)  # b n h (3 d)
    query, key, value = qkv.permute(0, 2, 1, 3).chunk(3, dim=-1)  # b h n d
    scores = query @ key.transpose(-2, -1) / math.sqrt(width)  # b h q k
    if mask is not None:
        scores = scores + mask  # b h q k
    weights = torch.softmax(scores, dim=-1)  # b h q k
    context = weights @ value  # b h n d
    return Attention(context, weights)


FUSED = Row(
    name="Fused query, key and value",
    gloss="heads and tokens mixed up",
    document=Document("Multi-Head Attention Explained Simply", "notebook"),
    particular="One projection from d_model to 3 d_model, split into three inside each head; an additive float mask; batch "
    "and length are fixed when the layer is built; it prints its shapes.",
    formula=r"[Q_h\;K_h\;V_h]=xW_h,\quad\operatorname{concat}_h\left[\operatorname{softmax}\left("
    r"\tfrac{Q_hK_h^\top}{\sqrt{d}}+M\right)V_h\right]W_O",
    as_meant=fused,
    as_printed=fused_as_printed,
    mistake="Heads are joined without moving the head axis back behind the tokens.",
    lesson="A reshape keeps the order of the elements; it does not swap axes. The context is ordered "
    "head by head, so a row of d_model holds several tokens of one head instead of one token of all heads. Every shape "
    "and all weights are correct and nothing is raised, but tokens and heads are scrambled. With a causal mask this leaks "
    "the future: early rows contain contexts of later tokens. With one head the mistake does not show, and a test of "
    "shapes never finds it.",
    demand="Self-attention only; only the batch and the length that it was built for; a float mask that broadcasts to "
    "(batch, heads, q, k), for which the published forward has no argument.",
    mask="added",
    tries=(
        ("A causal mask leaks", {"mask": "causal", "heads": 8}),
        ("One head hides it", {"heads": 1}),
    ),
)

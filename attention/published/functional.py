"""Document 003: attention as a function with a boolean mask, which also returns its weights."""

from __future__ import annotations

import ast
import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from attention.attend import Attention
from attention.operations.mask import HIDDEN
from attention.published.row import Document, Row, Slip
from attention.published.weights import Weights

Queries = Float[Tensor, "b q c"]
Keys = Float[Tensor, "b k c"]
Mask = Tensor | None


def functional(query: Queries, key: Keys, value: Keys, w: Weights, mask: Mask = None) -> Attention:
    mask = mask.unsqueeze(1) if mask is not None else None  # b 1 q k
    return multi_head(query, key, value, w, mask)


def functional_as_printed(query: Queries, key: Keys, value: Keys, w: Weights, mask: Mask = None) -> Attention:
    return multi_head(query, key, value, w, mask)


def multi_head(query: Queries, key: Keys, value: Keys, w: Weights, mask: Mask) -> Attention:
    batch, heads = query.shape[0], len(w.query)
    q = F.linear(query, *w.q_proj).unflatten(-1, (heads, -1)).transpose(1, 2)  # b h q d
    k = F.linear(key, *w.k_proj).unflatten(-1, (heads, -1)).transpose(1, 2)  # b h k d
    v = F.linear(value, *w.v_proj).unflatten(-1, (heads, -1)).transpose(1, 2)  # b h k e
    context, weights = self_attention(q, k, v, mask)
    joined = context.transpose(1, 2).reshape(batch, query.shape[1], -1)  # b q (h e)
    output = F.linear(joined, *w.out_proj)  # b q c
    return Attention(output, weights)


def self_attention(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Attention:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # b h q k
    if mask is not None:
        scores = scores.masked_fill(mask == 0, HIDDEN)  # b h q k
    weights = torch.softmax(scores, dim=-1)  # b h q k
    context = weights @ value  # b h q e
    return Attention(context, weights)


def no_colon() -> object:
    """Parses the first line of a function without its colon."""
    return ast.parse("def attention(query, key, value)\n    return query\n")


def trailing_comma() -> object:
    """Parses an assertion that ends in a comma."""
    return ast.parse("assert d_model % heads == 0,\n")


def never_set() -> object:
    """Reads an attribute of a layer that its constructor never sets."""
    return type("MultiHeadAttention", (nn.Module,), {})().d_v


FUNCTIONAL = Row(
    name="Functional, boolean mask",
    gloss="mask lacks the head axis",
    document=Document("Attention", "post"),
    particular="Query, key and value are separate inputs; 0 in the mask means masked; the weights are returned with the "
    "output.",
    formula=r"\operatorname{concat}_h\left[\operatorname{softmax}\left(\tfrac{Q_hK_h^\top}{\sqrt{d}}\;\big|\;"
    r"-\infty\text{ where }M=0\right)V_h\right]W_O",
    as_meant=functional,
    as_printed=functional_as_printed,
    mistake="A mask of shape (batch, q, k) is applied to scores of shape (batch, heads, q, k) without a head axis.",
    lesson="Broadcasting aligns shapes from the right, so the batch axis of the mask meets the head axis of the scores. If "
    "the two sizes differ, an error is raised. If they are equal, nothing is raised: head i applies the mask of sequence "
    "i to every sequence. A batch of one is correct by chance. An axis of size one for the heads fixes it.",
    demand="Corrected: any batch, any two lengths, a mask of (batch, q, k). Published: a mask for one sequence.",
    mask="boolean",
    tries=(
        ("As many sequences as heads", {"batch": 4, "heads": 4, "head": 3}),  # head 0 masks the right keys
        ("One sequence", {"batch": 1}),
        ("Two sequences, four heads", {"batch": 2, "heads": 4}),
    ),
    slips=(
        Slip("The function that computes attention has no colon after its arguments.", no_colon),
        Slip("The assertion that heads divide d_model ends in a comma.", trailing_comma),
        Slip("The layer splits its values by d_v, which it never sets.", never_set),
    ),
)

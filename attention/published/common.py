"""Mistakes that are common in code of attention and come from no document; only the page Find the bug shows them.

Each is a causal head with one wrong line. Its name is in `COMMON`, and must not change: links contain what `hunt_name` makes
of it.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.attend import Attention
from attention.operations.mask import HIDDEN
from attention.published.row import Document, Row
from attention.published.weights import Weights


def causal_head(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    query, key, value = x @ w.query[0], x @ w.key[0], x @ w.value[0]  # b n d
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # b q k
    seen = torch.tril(torch.ones(scores.shape[1:]))  # q k
    weights = torch.softmax(scores.masked_fill(seen == 0, HIDDEN), dim=-1)  # b q k
    output = weights @ value  # b n d
    return Attention(output, weights.unsqueeze(1))


def mask_off_by_one(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    query, key, value = x @ w.query[0], x @ w.key[0], x @ w.value[0]  # b n d
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # b q k
    seen = torch.tril(torch.ones(scores.shape[1:]), diagonal=1)  # q k
    weights = torch.softmax(scores.masked_fill(seen == 0, HIDDEN), dim=-1)  # b q k
    output = weights @ value  # b n d
    return Attention(output, weights.unsqueeze(1))


def softmax_over_queries(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    query, key, value = x @ w.query[0], x @ w.key[0], x @ w.value[0]  # b n d
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # b q k
    seen = torch.tril(torch.ones(scores.shape[1:]))  # q k
    weights = torch.softmax(scores.masked_fill(seen == 0, HIDDEN), dim=1)  # b q k
    output = weights @ value  # b n d
    return Attention(output, weights.unsqueeze(1))


ALIKE: dict[str, Any] = {
    "document": Document("Common mistakes", "list"),
    "particular": "One causal head without biases and without an output projection. Here applied to the first head.",
    "formula": r"\operatorname{softmax}\left(\tfrac{QK^\top}{\sqrt{d}}+\text{causal}\right)V",
    "as_meant": causal_head,
    "demand": "Self-attention only; any batch and length; no mask other than causal.",
    "part": lambda w: w.first(1).without_bias,
    "mask": "causal",
    "maps_back": False,
    "bias": False,
}
COMMON: dict[str, Row] = {
    "mask-off-by-one": Row(
        name="Causal mask off by one",
        as_printed=mask_off_by_one,
        mistake="The mask keeps one diagonal too many, so every token can attend to the next one.",
        lesson="A language model predicts the next token, so this mask shows it the answer: the training loss falls close "
        "to zero and the model fails in use. Nothing is raised, and every row still sums to one. To find it, replace a token "
        "and check that no earlier output changes.",
        **ALIKE,
    ),
    "softmax-over-queries": Row(
        name="Softmax over the queries",
        as_printed=softmax_over_queries,
        mistake="The softmax runs over the queries: axis 1 of a tensor of shape (batch, query, key).",
        lesson="Columns sum to one instead of rows, so queries compete for a key, and the weights of a query depend on "
        "later queries although the mask is right. Write the axis as `dim=-1`, which stays the keys when an axis for heads is "
        "added, and check that every row sums to one.",
        **ALIKE,
    ),
}

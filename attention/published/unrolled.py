"""Document 004: a causal head with every line written out, then two such heads, concatenated and projected."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from attention.attend import Attention
from attention.operations.mask import HIDDEN
from attention.published.row import Document, Evidence, Row, greatest_weight, random_tensor
from attention.published.weights import Weights

DOCUMENT = Document("Multi-head attention", "notebook")


def single_causal(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    w_q, w_k, w_v = w.query[0].T, w.key[0].T, w.value[0].T  # d c
    query = x @ w_q.T  # b n d
    key = x @ w_k.T  # b n d
    value = x @ w_v.T  # b n d
    scores = query @ key.transpose(-2, -1) / math.sqrt(len(w_q))  # b q k
    seen = torch.tril(torch.ones(scores.shape[1:], device=x.device))  # q k
    weights = torch.softmax(scores.masked_fill(seen == 0, HIDDEN), dim=-1)  # b q k
    output = weights @ value  # b n d
    return Attention(output, weights.unsqueeze(1))


def two_heads(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    seen = torch.tril(torch.ones(x.shape[1], x.shape[1], device=x.device))  # q k

    query_1, key_1, value_1 = x @ w.query[0], x @ w.key[0], x @ w.value[0]  # b n d
    scores_1 = query_1 @ key_1.transpose(-2, -1) / math.sqrt(query_1.shape[-1])  # b q k
    weights_1 = torch.softmax(scores_1.masked_fill(seen == 0, HIDDEN), dim=-1)  # b q k
    context_1 = weights_1 @ value_1  # b n d

    query_2, key_2, value_2 = x @ w.query[1], x @ w.key[1], x @ w.value[1]  # b n d
    scores_2 = query_2 @ key_2.transpose(-2, -1) / math.sqrt(query_2.shape[-1])  # b q k
    weights_2 = torch.softmax(scores_2.masked_fill(seen == 0, HIDDEN), dim=-1)  # b q k
    context_2 = weights_2 @ value_2  # b n d

    joined = torch.cat([context_1, context_2], dim=-1)  # b n (2 d)
    output = joined @ w.output.flatten(0, 1)  # b n c
    return Attention(output, torch.stack([weights_1, weights_2], dim=1))


def two_heads_as_printed(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    earlier = single_causal(x, w).weights.squeeze(1)  # b q k
    seen = torch.tril(torch.ones(x.shape[1], x.shape[1], device=x.device))  # q k

    query_1, key_1, value_1 = x @ w.query[0], x @ w.key[0], x @ w.value[0]  # b n d
    scores_1 = query_1 @ key_1.transpose(-2, -1) / math.sqrt(query_1.shape[-1])  # b q k
    weights_1 = torch.softmax(earlier.masked_fill(seen == 0, HIDDEN), dim=-1)  # b q k
    context_1 = weights_1 @ value_1  # b n d

    query_2, key_2, value_2 = x @ w.query[1], x @ w.key[1], x @ w.value[1]  # b n d
    scores_2 = query_2 @ key_2.transpose(-2, -1) / math.sqrt(query_2.shape[-1])  # b q k
    weights_2 = torch.softmax(earlier.masked_fill(seen == 0, HIDDEN), dim=-1)  # b q k
    context_2 = weights_2 @ value_2  # b n d

    joined = torch.cat([context_1, context_2], dim=-1)  # b n (2 d)
    output = joined @ w.output.flatten(0, 1)  # b n c
    return Attention(output, torch.stack([weights_1, weights_2], dim=1))


def one_hot() -> Evidence:
    """Mean largest weight of a row by width: matrices uniform in [0, 1), and the same numbers minus their mean."""
    points = []
    for width in (4, 8, 12, 16, 32, 64, 128):
        x = random_tensor(8, 32, width, seed=width)
        q, k = (random_tensor(8, width, width, seed=s, uniform=True) for s in (1, 2))
        for name, shift in (("uniform in [0, 1)", 0.0), ("the same, centred", 0.5)):
            scores = (x @ (q - shift)) @ (x @ (k - shift)).mT / math.sqrt(width)
            points.append((name, float(width), greatest_weight(torch.softmax(scores, -1))))
    setting = (
        "Noise; 32 tokens that all attend to each other, so the uniform weight is 1/32; head_size equals the channels."
    )
    title, y = "Positive weights make rows one-hot", "Mean largest weight"
    return Evidence(title, setting, "Channels per token", y, tuple(points))


SINGLE = Row(
    name="Single head, causal, (B, T, C)",
    gloss="sees no later tokens",
    document=DOCUMENT,
    particular="Matrices of shape (head_size, C), where head_size may exceed C; always causal; no biases, no output "
    "projection; weights drawn uniformly from [0, 1). Here applied to the first head.",
    formula=r"\operatorname{softmax}\left(\tfrac{xW_Q^\top(xW_K^\top)^\top}{\sqrt{d}}+\text{causal}\right)xW_V^\top",
    as_meant=single_causal,
    lesson="The published code is correct, but its example is misleading. Weights that are all positive have a nonzero "
    "mean, which adds the same term, the sum of the token's channels, to every channel of a query and of a key. All "
    "channels of the dot product then agree, scores grow far beyond what 1/√d compensates, and rows become nearly "
    "one-hot. At the width of the example, 12 channels, one of 32 keys gets 0.72 of a row; with the same numbers minus "
    "their mean, 0.15. The example itself does not show it: of its 4 tokens the first attends only to itself, and with "
    "few keys rows are sharp anyway (0.9 and 0.7).",
    demand="Self-attention only; any batch and length, any head_size; no mask other than causal.",
    part=lambda w: w.first(1).without_bias,
    mask="causal",
    maps_back=False,
    bias=False,
    evidence=one_hot,
)
TWO = Row(
    name="Two heads unrolled",
    gloss="softmax applied twice",
    document=DOCUMENT,
    particular="Every line is written out for each of two heads, which are joined and projected; always causal. Here "
    "applied to the first two heads.",
    formula=r"\left[\operatorname{softmax}(S_1)V_1\;\;\operatorname{softmax}(S_2)V_2\right]W_O,\quad "
    r"S_i=\tfrac{Q_iK_i^\top}{\sqrt{d}}+\text{causal}",
    as_meant=two_heads,
    as_printed=two_heads_as_printed,
    mistake="Both heads take the weights of an earlier single head and apply softmax to them again.",
    lesson="A variable name without its number still exists from earlier cells, so nothing is raised: both heads mask the "
    "weights of the earlier head instead of their own scores. Their own scores are unused, and their weights are "
    "identical: here the softmax of the weights that the first head should have. Weights lie between 0 and 1, so a second "
    "softmax can't make one key more than e times as heavy as another: sharp rows become nearly flat. To find such mistakes, "
    "restart the notebook, run every cell, and compare two heads side by side.",
    demand="At least two heads; self-attention only; any batch and length; no mask other than causal.",
    part=lambda w: w.first(2).without_bias,
    mask="causal",
    bias=False,
)

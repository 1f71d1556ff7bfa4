"""Document 001: one matrix per head and inputs of different sequences; the formula in its text, one weight per position."""

from __future__ import annotations

import math
from types import FunctionType

import torch
from einops import einsum
from jaxtyping import Float
from torch import Tensor

from attention.attend import Attention
from attention.operations.scale import unscaled
from attention.published.row import Document, Row, Slip
from attention.published.weights import Weights

DOCUMENT = Document("Building a Multi-Head Attention Layer in a Transformer", "post")
Queries = Float[Tensor, "b q c"]
Keys = Float[Tensor, "b k c"]


def head_matrices(query: Queries, key: Keys, value: Keys, w: Weights) -> Attention:
    contexts, squares = [], []
    for head in range(len(w.query)):
        q = query @ w.query[head]  # b q d
        k = key @ w.key[head]  # b k d
        v = value @ w.value[head]  # b k e
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)  # b q k
        context = weights @ v  # b q e
        contexts.append(context)
        squares.append(weights)
    joined = torch.cat(contexts, dim=-1)  # b q (h e)
    output = joined @ w.output.flatten(0, 1)  # b q c
    return Attention(output, torch.stack(squares, dim=1))


def head_matrices_as_printed(query: Queries, key: Keys, value: Keys, w: Weights) -> Attention:
    contexts, squares = [], []
    for head in range(len(w.query)):
        q = query @ w.query[head]  # b q d
        k = key @ w.key[head]  # b k d
        v = value @ w.value[head]  # b k e
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)  # b q k
        context = (weights.unsqueeze(-1) * v).sum(dim=1)  # b k e
        contexts.append(context)
        squares.append(weights)
    joined = torch.cat(contexts, dim=1)  # b (h k) e
    output = joined @ w.output.flatten(0, 1)  # b k c
    return Attention(output, torch.stack(squares, dim=1))


def position_weights(query: Queries, key: Keys, value: Keys, w: Weights) -> Attention:
    q, k, v = heads_of(query, key, value, w)
    scores = einsum(q, k, "b h q d, b h k d -> b h q k")  # b h q k
    weights = torch.softmax(scores, dim=-1)  # b h q k
    context = einsum(weights, v, "b h q k, b h k e -> b h q e")  # b h q e
    output = einsum(context, w.output, "b h q e, h e c -> b q c")  # b q c
    return Attention(output, weights)


def position_weights_as_printed(query: Queries, key: Keys, value: Keys, w: Weights) -> Attention:
    q, k, v = heads_of(query, key, value, w)
    scores = einsum(q, k, "b h k d, b h k d -> b h k")  # b h k
    weights = torch.softmax(scores, dim=-1)  # b h k
    context = einsum(weights, v, "b h k, b h k e -> b h e")  # b h e
    output = einsum(context, w.output, "b h e, h e c -> b c")  # b c
    return Attention(output.unsqueeze(1), weights.unsqueeze(2))


def heads_of(query: Queries, key: Keys, value: Keys, w: Weights) -> tuple[Tensor, Tensor, Tensor]:
    q = einsum(query, w.query, "b q c, h c d -> b h q d")  # b h q d
    k = einsum(key, w.key, "b k c, h c d -> b h k d")  # b h k d
    v = einsum(value, w.value, "b k c, h c e -> b h k e")  # b h k e
    return q, k, v


def never_imported() -> object:
    """Uses a module that is not imported."""
    return FunctionType((lambda: math.sqrt(64)).__code__, {})()  # in an empty module namespace


MATRICES = Row(
    name="One weight matrix per head, cross inputs",
    gloss="no matrix product",
    document=DOCUMENT,
    particular="W_Q, W_K, W_V of shape (heads, d_model, d), a loop over heads, a separate value width, queries and keys "
    "from different sequences; no biases, no mask.",
    formula=r"\operatorname{concat}_h\left[\operatorname{softmax}\left(\tfrac{XW_{Q,h}(YW_{K,h})^\top}{\sqrt{d}}\right)"
    r"YW_{V,h}\right]W_O",
    as_meant=head_matrices,
    as_printed=head_matrices_as_printed,
    mistake="Weights and values are multiplied elementwise and summed over the queries. A second fault "
    "shows with two heads or more: they are joined along tokens.",
    lesson="An elementwise product followed by a sum is a matrix product only if the sum runs over the shared axis. Here "
    "the new axis aligns the values of a sequence with the batch, and the sum runs over the queries. For one sequence the "
    "shapes happen to fit: every token gets its own value back, times the total attention it received, and no value "
    "passes between tokens. The heads are then concatenated along tokens instead of channels, so with two heads the output "
    "projection gets the wrong width.",
    demand="Corrected: any batch, any two lengths, values of any width; no mask. Published: one head and a batch of one, or "
    "of as many sequences as tokens.",
    part=lambda w: w.without_bias,
    bias=False,
    tries=(
        ("One sequence", {"batch": 1, "heads": 8}),
        ("One sequence, one head", {"batch": 1, "heads": 1, "projections": "independent"}),
        ("Keys of another sequence, values of 8 channels", {"keys": 12, "d_v": 8}),
    ),
    slips=(Slip("The square root of d_k uses math, which is never imported.", never_imported),),
)
POSITIONS = Row(
    name="One weight per position",
    gloss="one row of weights for all",
    document=DOCUMENT,
    particular="The formula in the text, before heads are introduced: query i is compared with key i only, unscaled. Here "
    "applied in each head.",
    formula=r"a_i=\frac{\exp(x_i\cdot k_i)}{\sum_j\exp(x_j\cdot k_j)},\quad Y=\sum_i a_iv_i"
    r"\qquad\text{meant: }\;a_{ij}=\frac{\exp(x_i\cdot k_j)}{\sum_l\exp(x_i\cdot k_l)},\quad Y_i=\sum_j a_{ij}v_j",
    as_meant=position_weights,
    as_printed=position_weights_as_printed,
    mistake="One index is used instead of two: the sequence gets one vector of weights instead of one per query.",
    lesson="Attention compares every query with every key, so its weights need two indices. With one, query i is compared "
    "only with key i, the scores are the diagonal of the full matrix, and the softmax makes tokens compete for a single "
    "summary of the sequence. That is pooling: every position gets the same output.",
    demand="Corrected: any batch, any two lengths. Published: as many keys as queries.",
    part=lambda w: w.without_bias,
    scale=unscaled,
    bias=False,
    tries=(("Keys of another sequence", {"keys": 12}), ("Keys of the same sequence", {"keys": 0})),
)

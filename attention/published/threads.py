"""Public threads on mistakes: an inverted mask, a window that is too long, and heads that are split by a view."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import Attention
from attention.operations.mask import HIDDEN
from attention.published.row import WINDOW, Document, Row
from attention.published.weights import Weights


def boolean_mask(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    query, key, value = split_heads(x, w)  # b h n d
    later = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=1).bool()  # n n
    context, weights = dot_product_attention(query, key, value, attn_mask=~later)
    return join_heads(context, weights, w)


def boolean_mask_as_printed(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    query, key, value = split_heads(x, w)  # b h n d
    later = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=1).bool()  # n n
    context, weights = dot_product_attention(query, key, value, attn_mask=later)
    return join_heads(context, weights, w)


def window(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    query, key, value = split_heads(x, w)  # b h n d
    context, weights = window_attention(query, key, value, window_size=(WINDOW - 1, 0))
    return join_heads(context, weights, w)


def window_as_printed(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    query, key, value = split_heads(x, w)  # b h n d
    context, weights = window_attention(query, key, value, window_size=(WINDOW, 0))
    return join_heads(context, weights, w)


def split(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    batch, tokens, heads = x.shape[0], x.shape[1], len(w.query)
    query, key, value = (
        F.linear(x, *linear).view(batch, tokens, heads, -1).transpose(1, 2) for linear in (w.q_proj, w.k_proj, w.v_proj)
    )  # b h n d
    everything = torch.ones(tokens, tokens, dtype=torch.bool)  # n n
    context, weights = dot_product_attention(query, key, value, everything)
    joined = context.transpose(1, 2).reshape(batch, tokens, -1)  # b n (h d)
    output = F.linear(joined, *w.out_proj)  # b n c
    return Attention(output, weights)


def split_as_printed(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    batch, tokens, heads = x.shape[0], x.shape[1], len(w.query)
    query, key, value = (
        F.linear(x, *linear).view(batch, heads, tokens, -1) for linear in (w.q_proj, w.k_proj, w.v_proj)
    )  # b h n d
    everything = torch.ones(tokens, tokens, dtype=torch.bool)  # n n
    context, weights = dot_product_attention(query, key, value, everything)
    joined = context.reshape(batch, tokens, -1)  # b n (h d)
    output = F.linear(joined, *w.out_proj)  # b n c
    return Attention(output, weights)


def split_heads(x: Float[Tensor, "b n c"], w: Weights) -> list[Tensor]:
    maps = (w.q_proj, w.k_proj, w.v_proj)
    return [F.linear(x, *linear).unflatten(-1, (len(w.query), -1)).transpose(1, 2) for linear in maps]  # b h n d


def join_heads(context: Tensor, weights: Tensor, w: Weights) -> Attention:
    joined = context.transpose(1, 2).flatten(2)  # b n (h d)
    output = F.linear(joined, *w.out_proj)  # b n c
    return Attention(output, weights)


def dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Bool[Tensor, "n n"]) -> Attention:
    """As in PyTorch: a key takes part where `attn_mask` is True; a row without any gives zeros."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # b h n n
    scores = scores.masked_fill(~attn_mask, HIDDEN)  # b h n n
    weights = torch.softmax(scores, dim=-1).nan_to_num()  # b h n n
    return Attention(weights @ value, weights)


def window_attention(query: Tensor, key: Tensor, value: Tensor, window_size: tuple[int, int]) -> Attention:
    """As in FlashAttention: query i attends to keys from i - left to i + right, both included."""
    left, right = window_size
    at = torch.arange(query.shape[-2])  # n
    distance = at[:, None] - at  # n n
    return dot_product_attention(query, key, value, (-right <= distance) & (distance <= left))


CAUSAL = r"\operatorname{concat}_h\left[\operatorname{softmax}\left(\tfrac{Q_hK_h^\top}{\sqrt{d}}\;\big|\;-\infty\text{ where }"
BOOLEAN_MASK = Row(
    name="Boolean mask for SDPA",
    gloss="mask inverted",
    document=Document("LLMs-from-scratch #1061", "issue", "https://github.com/rasbt/LLMs-from-scratch/issues/1061"),
    particular="A causal mask as a boolean matrix, passed to PyTorch's scaled_dot_product_attention, which is written out here "
    "to return weights.",
    formula=CAUSAL + r"k>q\right)V_h\right]W_O",
    as_meant=boolean_mask,
    as_printed=boolean_mask_as_printed,
    mistake="The matrix is True for later tokens, which are to be masked; the function takes True for keys that take part.",
    lesson="Two functions of PyTorch read the same mask in opposite ways: in scaled_dot_product_attention True takes part, in "
    "nn.MultiheadAttention True is masked. Inverted, a causal mask lets every token attend to later tokens only, and the last "
    "row has no key: its output is zero, or NaN in older versions. Shapes fit and nothing is raised. To find it, print the "
    "weights of four tokens, or replace a token and check that no earlier output changes.",
    demand="Self-attention only; any batch and length; no mask other than causal.",
    mask="causal",
    tries=(("Four tokens", {"tokens": 4, "heads": 1, "head": 0}),),
)
TOO_LONG = Row(
    name="Sliding window of four",
    gloss="window one token too long",
    document=Document(
        "Megatron-Bridge #2656", "pull request", "https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/2656"
    ),
    particular="A model with a window of four tokens, the query included, runs on a kernel that takes the window as the numbers "
    "of keys to the left and to the right of the query. Gemma 2, Gemma 3, Mistral and gpt-oss were converted so.",
    formula=CAUSAL + r"k>q\text{ or }k\le q-4\right)V_h\right]W_O",
    as_meant=window,
    as_printed=window_as_printed,
    mistake="The model's window counts the query itself, the kernel's does not: the window is one token too long.",
    lesson="A window of W tokens has W keys with the query among them, so W - 1 are to its left. FlashAttention's window_size is "
    "what lies to the left and to the right, both ends included, and the query comes on top. The number was passed on as it "
    "was, so each query attends to one key that the model never saw at that distance. Sequences that fit into the window are "
    "right, which is why short tests pass. Count the visible keys of a late row.",
    demand="Self-attention only; any batch and length; no mask other than its window.",
    mask="window",
    tries=(("As short as the window", {"tokens": 4}), ("One token longer", {"tokens": 5})),
)
SPLIT = Row(
    name="Heads split by a view",
    gloss="tokens split, not channels",
    document=Document("FuxiCTR #30", "issue", "https://github.com/reczoo/FuxiCTR/issues/30"),
    particular="Queries, keys and values are cut into heads by one view, without moving an axis; three models of this library "
    "for click prediction were built so. The heads are joined as in Chinese-Text-Classification-Pytorch #53, which splits alike.",
    formula=r"\operatorname{concat}_h\left[\operatorname{softmax}\left(\tfrac{Q_hK_h^\top}{\sqrt{d}}\right)V_h\right]W_O",
    as_meant=split,
    as_printed=split_as_printed,
    mistake="(batch, tokens, heads · channels) is viewed as (batch, heads, tokens, channels): heads are cut out of the sequence.",
    lesson="A view reads the same memory in rows of another length, token by token. So the first of four heads gets the first "
    "quarter of the tokens with all of their channels, in pieces, and no token attends to another quarter. The same view "
    "backwards puts every piece where it came from, so shapes fit and a model still trains. With one head the mistake does not "
    "show. Split the last axis first, then swap: `view(batch, tokens, heads, -1).transpose(1, 2)`.",
    demand="Self-attention only; any batch and length; no mask; heads divide d_model.",
    tries=(("Four heads, twelve tokens", {"heads": 4, "tokens": 12}), ("One head hides it", {"heads": 1})),
)

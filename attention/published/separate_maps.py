"""Document 000: queries, keys and values by three maps, for one head of the full width and for several heads."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attention.attend import Attention
from attention.operations.scale import unscaled
from attention.published.row import Document, Evidence, Row, greatest_weight, random_tensor
from attention.published.weights import Weights

DOCUMENT = Document("Single Head Attention", "notebook")


def single_unscaled(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    query = F.linear(x, *w.q_proj)  # b n c
    key = F.linear(x, *w.k_proj)  # b n c
    value = F.linear(x, *w.v_proj)  # b n c
    scores = query @ key.transpose(-2, -1)  # b q k
    weights = torch.softmax(scores, dim=-1)  # b q k
    output = weights @ value  # b n c
    return Attention(output, weights.unsqueeze(1))


def multi_head(x: Float[Tensor, "b n c"], w: Weights) -> Attention:
    batch, tokens, _ = x.shape
    heads, _, width = w.query.shape
    query = F.linear(x, *w.q_proj).view(batch, tokens, heads, width).transpose(1, 2)  # b h n d
    key = F.linear(x, *w.k_proj).view(batch, tokens, heads, width).transpose(1, 2)  # b h n d
    value = F.linear(x, *w.v_proj).view(batch, tokens, heads, width).transpose(1, 2)  # b h n d
    scores = query @ key.transpose(-2, -1) / math.sqrt(width)  # b h q k
    weights = torch.softmax(scores, dim=-1)  # b h q k
    context = weights @ value  # b h n d
    joined = context.transpose(1, 2).reshape(batch, tokens, heads * width)  # b n (h d)
    output = F.linear(joined, *w.out_proj)  # b n c
    return Attention(output, weights)


def saturation() -> Evidence:
    """Mean largest weight of a row by width, with and without the scale; noise, and maps as nn.Linear initializes them."""
    points = []
    for width in (4, 8, 16, 32, 64, 128, 256, 512):
        x = random_tensor(8, 32, width, seed=width)
        q, k = ((random_tensor(8, width, width, seed=s, uniform=True) * 2 - 1) / math.sqrt(width) for s in (1, 2))
        scores = (x @ q) @ (x @ k).mT
        for name, scale in (("no scale", 1.0), ("1/sqrt(d)", 1 / math.sqrt(width))):
            points.append((name, float(width), greatest_weight(torch.softmax(scores * scale, -1))))
    setting = "Noise; 32 tokens that all attend to each other, so the uniform weight is 1/32."
    return Evidence(
        "Without a scale, wider heads are sharper", setting, "Width of the head", "Mean largest weight", tuple(points)
    )


SINGLE = Row(
    name="Single head, unscaled",
    gloss="no division by √d, as meant",
    document=DOCUMENT,
    particular="Three linear maps with biases, one head of the full width, no scale, no mask, no output projection.",
    formula=r"\operatorname{softmax}\left(QK^\top\right)V",
    as_meant=single_unscaled,
    lesson="The published code is correct. But the variance of a dot product grows with its number of channels d, and "
    "nothing divides it: the wider the head, the closer each row is to one-hot, where the softmax passes almost no "
    "gradient. This is what the scale is for. With few channels its absence is hardly noticeable.",
    demand="Self-attention only; any batch and length; no mask.",
    part=lambda w: w.merge_heads,
    scale=unscaled,
    maps_back=False,
    evidence=saturation,
    tries=(("4 channels", {"heads": 1, "d_model": 4}), ("512 channels", {"heads": 1, "d_model": 512})),
)
MULTI = Row(
    name="Multi-head, separate maps",
    gloss="heads split correctly",
    document=DOCUMENT,
    particular="Three maps of the full width, split into heads by view and transpose; scaled by 1/√d_head.",
    formula=r"\operatorname{concat}_h\left[\operatorname{softmax}\left(\tfrac{Q_hK_h^\top}{\sqrt{d}}\right)V_h\right]W_O",
    as_meant=multi_head,
    lesson="The published code is correct, including two lines that others get wrong: channels are split into heads "
    "before the axes are swapped, and the axes are swapped back before the heads are joined. "
    "The formula in the text omits the scale that the code applies.",
    demand="Self-attention only; any batch and length; no mask; heads divide d_model.",
)

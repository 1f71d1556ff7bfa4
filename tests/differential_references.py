"""Writes differential_references.json: outputs of transformers' DiffLlama, which test_operations compares with the table's.

Run `python -m tests.differential_references` where transformers (5.23, Apache-2.0) is installed. Only inputs that are drawn
here and its outputs are in the file. It returns the weights of both softmaxes, never their difference.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor

from tests.strategies import normal

FILE = Path(__file__).with_suffix(".json")
SHAPES = ((4, 1, 8, 3), (6, 2, 4, 0), (9, 3, 6, 11))  # tokens, pairs of heads, channels of a softmax, layer


def inputs(n: int, heads: int, d: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys `(s h n d)` of both softmaxes and values `(h n 2d)` in float64."""
    q, k = (normal(seed, 2, heads, n, d, dtype=torch.float64) for seed in (1, 2))
    return q, k, normal(3, heads, n, 2 * d, dtype=torch.float64)


def record(n: int, heads: int, d: int, layer: int) -> dict[str, object]:
    """The output of DiffLlama's attention before its last projection, and the weights that it returns."""
    from transformers.models.diffllama.configuration_diffllama import DiffLlamaConfig
    from transformers.models.diffllama.modeling_diffllama import DiffLlamaAttention

    config = DiffLlamaConfig(
        hidden_size=2 * heads * d, num_attention_heads=2 * heads, num_key_value_heads=2 * heads, attention_dropout=0.0,
        rms_norm_eps=1e-5, attn_implementation="eager",  # pyright: ignore[reportCallIssue]  of every config
    )  # fmt: skip
    attention = DiffLlamaAttention(config, layer).double()
    q, k, v = inputs(n, heads, d)
    sides = [each.flatten(0, 1) for each in (q, k)] + [torch.cat([*v.chunk(2, -1)])]
    with torch.no_grad():
        for vector in (attention.lambda_q1, attention.lambda_q2):
            vector.zero_()  # then lambda is the one that training starts from
        for name, given in zip("qkv", sides, strict=True):
            projection = torch.nn.Identity()
            flat = given.transpose(0, 1).flatten(1)[None]
            projection.forward = lambda x, flat=flat: flat  # pyright: ignore[reportAttributeAccessIssue]
            setattr(attention, f"{name}_proj", projection)
        attention.o_proj = torch.nn.Identity()  # pyright: ignore[reportAttributeAccessIssue]
        hidden = torch.full((n, n), -torch.inf, dtype=torch.float64).triu(1)[None, None]
        ones = torch.ones(1, n, d, dtype=torch.float64)
        output, weights = attention(torch.zeros(1, n, 2 * heads * d).double(), (ones, ones * 0), hidden)
    return {
        "shape": [n, heads, d], "factor": attention.lambda_init, "output": output[0].tolist(), "weights": weights[0].tolist(),
    }  # fmt: skip


if __name__ == "__main__":
    FILE.write_text(json.dumps([record(*shape) for shape in SHAPES]))

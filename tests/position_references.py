"""Numbers of positions from the code of transformers; `python -m tests.position_references` writes them to a file.

The tests compare with that file, so that they don't depend on the installed version.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch

FILE = Path(__file__).with_name("position_references.json")
SHAPES = (  # scaling, base, channels, fraction, factor, original length
    ("linear", 10_000.0, 64, 1.0, 4.0, 2048),
    ("ntk", 10_000.0, 128, 1.0, 8.0, 2048),
    ("ntk", 10_000.0, 64, 0.25, 3.0, 512),
    ("yarn", 1_000_000.0, 128, 1.0, 4.0, 32_768),
    ("yarn", 10_000.0, 64, 1.0, 40.0, 4096),
    ("yarn", 10_000.0, 32, 0.5, 2.0, 64),
    ("yarn (not rounded)", 150_000.0, 64, 1.0, 32.0, 4096),
    ("llama3", 500_000.0, 128, 1.0, 8.0, 8192),
    ("llama3", 500_000.0, 64, 1.0, 32.0, 8192),
    ("llama3", 10_000.0, 80, 0.4, 4.0, 256),
)
HEADS = (8, 12, 20)
DISTANCES = (*range(-20, 21), -200, -128, -127, -64, -63, 23, 31, 32, 63, 64, 91, 113, 127, 128, 400)


def rotary(scaling: str, base: float, d: int, fraction: float, factor: float, length: int) -> dict[str, object]:
    """Returns inverse frequencies and the attention factor of transformers."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    name, _, exact = scaling.partition(" ")
    kind = {"ntk": "dynamic"}.get(name, name)
    given = {"rope_type": kind, "rope_theta": base, "factor": factor, "partial_rotary_factor": fraction}
    given |= {"original_max_position_embeddings": length, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    given |= {"truncate": False} if exact else {}
    given |= {"factor": factor - 1} if kind == "dynamic" else {}  # at twice the length it is one more
    config = LlamaConfig(
        hidden_size=2 * d,
        num_attention_heads=2,
        head_dim=d,
        max_position_embeddings=length,
        rope_parameters=given,
    )
    found, gain = ROPE_INIT_FUNCTIONS[kind](config, device="cpu", seq_len=2 * length)
    shape = {"scaling": scaling, "base": base, "d": d, "fraction": fraction, "factor": factor, "length": length}
    return shape | {"inverse_frequencies": [float(f"{each:.8g}") for each in found.tolist()], "gain": gain}


def write() -> None:
    """Writes the file."""
    import transformers
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from transformers.models.t5.modeling_t5 import T5Attention

    ones = torch.ones(1, 2)
    slopes = {heads: build_alibi_tensor(ones, heads, torch.float32)[:, 0, 1].tolist() for heads in HEADS}
    relative = torch.tensor(DISTANCES)
    buckets = {
        name: T5Attention._relative_position_bucket(relative, both, 32, 128).tolist()
        for name, both in (("t5", True), ("t5 causal", False))
    }
    origin = (
        f"transformers {transformers.__version__}: modeling_rope_utils (the dynamic scaling at twice the length for ntk), "
        "models/bloom/modeling_bloom.py build_alibi_tensor, models/t5/modeling_t5.py _relative_position_bucket"
    )
    found = {
        "origin": origin,
        "rotary": [rotary(*shape) for shape in SHAPES],
        "alibi bloom": slopes,
        "key minus query": DISTANCES,
        "buckets": buckets,
    }
    FILE.write_text(json.dumps(found, separators=(",", ":")).replace('{"scaling"', '\n{"scaling"') + "\n")


if __name__ == "__main__":
    write()

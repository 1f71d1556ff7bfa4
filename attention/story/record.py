"""Writes story.npz: `python -m attention.story.record`. It needs what `attention/recorded/models.py` needs for MiniLM."""

from __future__ import annotations

import numpy as np
import torch
from einops import rearrange

from attention.recorded.minilm import HEADS, MiniLM
from attention.story.head import FILE, HEAD, LAYER, SENTENCES

if __name__ == "__main__":
    torch.set_num_threads(1)  # the same order of summation on every machine
    model = MiniLM()
    at = f"encoder.layer.{LAYER}.attention"
    weight = model.weights[f"{at}.output.dense.weight"]
    arrays = {"w_o": rearrange(weight, "c (h d) -> h c d", h=HEADS)[HEAD]}
    for name, sentence in SENTENCES.items():
        ids, _ = model.tokens(sentence.text)
        states = model.hidden_states(ids)
        values = model.values(states[LAYER], LAYER)[HEAD]
        arrays |= {f"read_{name}": states[LAYER], f"values_{name}": values, f"after_{name}": states[-1]}
    kept = {name: each.to(torch.float16).numpy() for name, each in arrays.items()}
    np.savez_compressed(FILE, **kept)  # pyright: ignore[reportArgumentType]  arrays by name
    print(FILE, FILE.stat().st_size)

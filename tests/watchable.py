"""Tiny models with random weights, as people have them: of transformers, of `torch.nn`, and written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as by_another_name

TOKENS, VOCABULARY, WIDTH, HEADS = 9, 50, 32, 4
NEEDED = "transformers is not installed: requirements-dev.txt has it"
Case = tuple[Any, dict[str, torch.Tensor], tuple[str, ...]]


def ids(count: int = TOKENS) -> torch.Tensor:
    """Two texts; what stands in them is anything."""
    return torch.randint(3, VOCABULARY, (2, count), generator=torch.Generator().manual_seed(count))


def padding_mask(count: int = TOKENS) -> torch.Tensor:
    """Their mask: the second is shorter."""
    mask = torch.ones(2, count, dtype=torch.long)
    mask[1, count - 3 :] = 0
    return mask


def _sizes(**more: Any) -> dict[str, Any]:
    usual = {"vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": 3, "num_attention_heads": HEADS}
    return usual | {"intermediate_size": 48, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0} | more


def bert() -> Case:
    """An encoder, one of its texts padded."""
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig(**_sizes())), {"input_ids": ids(), "attention_mask": padding_mask()}, ("attentions",)


def gpt2() -> Case:
    """A decoder."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=2, n_head=HEADS, bos_token_id=1, eos_token_id=2)
    return GPT2LMHeadModel(config), {"input_ids": ids()}, ("attentions",)


def llama() -> Case:
    """A decoder whose heads share keys and values, with rotary positions."""
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(**_sizes(num_key_value_heads=2))), {"input_ids": ids()}, ("attentions",)


def gemma2() -> Case:
    """A decoder with a softcap, a scale of its own, and windows in every other layer."""
    from transformers import Gemma2Config, Gemma2Model

    more = {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 50}
    model = Gemma2Model(Gemma2Config(**_sizes(**more, attn_logit_softcapping=2.0)))
    model.set_attn_implementation("eager")  # PyTorch's function has no softcap
    return model, {"input_ids": ids()}, ("attentions",)


def gpt_oss() -> Case:
    """A decoder with sinks: a row's weights come to less than one."""
    from transformers import GptOssConfig, GptOssModel

    more = {"num_key_value_heads": 2, "head_dim": 8, "num_local_experts": 2, "num_experts_per_tok": 1}
    model = GptOssModel(GptOssConfig(**_sizes(**more, sliding_window=4)))
    model.set_attn_implementation("eager")
    return model, {"input_ids": ids()}, ("attentions",)


def inkling() -> Case:
    """A decoder whose sinks follow from each token, with position biases, windows, and gates after the weights."""
    from transformers import Inkling2ForCausalLM, Inkling2TextConfig

    windows = {
        "swa_head_dim": 8,
        "swa_num_attention_heads": HEADS,
        "swa_num_key_value_heads": 2,
        "sliding_window_size": 4,
    }
    more = {"num_key_value_heads": 2, "head_dim": 8, "rel_extent": 8, "d_rel": 4, "n_layers_per_attn_res_block": 1}
    experts = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
    kinds = {"layer_types": ["hybrid_sliding", "hybrid"], "num_hidden_layers": 2}
    config = Inkling2TextConfig(**_sizes(**more, **windows, **experts, **kinds) | {"eos_token_id": None})
    return Inkling2ForCausalLM._from_config(config, attn_implementation="eager"), {"input_ids": ids()}, ("attentions",)


def granite() -> Case:
    """A decoder with sinks whose eager attention returns the weights without them."""
    from transformers import GraniteSWAConfig, GraniteSWAForCausalLM

    config = GraniteSWAConfig(**_sizes(num_key_value_heads=2, sliding_window=4))
    return (
        GraniteSWAForCausalLM._from_config(config, attn_implementation="eager"),
        {"input_ids": ids()},
        ("attentions",),
    )


def mistral() -> Case:
    """A decoder with a window in every layer, shorter than its text."""
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(**_sizes(num_key_value_heads=2, sliding_window=4, head_dim=8))
    return MistralForCausalLM(config), {"input_ids": ids()}, ("attentions",)


def gemma3() -> Case:
    """A decoder with windows in every other layer."""
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    config = Gemma3TextConfig(**_sizes(num_key_value_heads=2, head_dim=8, sliding_window=4, layer_types=kinds))
    return Gemma3ForCausalLM(config), {"input_ids": ids()}, ("attentions",)


def deepseek() -> Case:
    """A decoder whose cache holds less than keys: these are computed anew at every step."""
    from transformers import DeepseekV3Config, DeepseekV3ForCausalLM

    low = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 12}
    experts = {"first_k_dense_replace": 3, "n_routed_experts": 4, "n_group": 1, "topk_group": 1}
    return (
        DeepseekV3ForCausalLM(DeepseekV3Config(**_sizes(num_key_value_heads=HEADS, **low, **experts))),
        {"input_ids": ids()},
        ("attentions",),
    )


def bloom() -> Case:
    """A decoder that multiplies by itself, and returns its weights."""
    from transformers import BloomConfig, BloomForCausalLM

    config = BloomConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, n_layer=2, n_head=HEADS, bos_token_id=1, eos_token_id=2
    )
    return BloomForCausalLM(config), {"input_ids": ids()}, ("attentions",)


def deberta() -> Case:
    """An encoder that multiplies by itself, and returns its weights if it is asked for them."""
    from transformers import DebertaV2Config, DebertaV2Model

    config = DebertaV2Config(**_sizes(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8))
    return DebertaV2Model(config), {"input_ids": ids(), "attention_mask": padding_mask()}, ("attentions",)


def hybrid() -> Case:
    """A decoder of which every fourth layer alone has attention with weights."""
    from transformers import Qwen3NextConfig, Qwen3NextForCausalLM

    linear = {
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
    }
    experts = {
        "num_experts": 2,
        "num_experts_per_tok": 1,
        "moe_intermediate_size": 8,
        "shared_expert_intermediate_size": 8,
    }
    sizes = _sizes(num_hidden_layers=8, num_key_value_heads=2, head_dim=8)
    return Qwen3NextForCausalLM(Qwen3NextConfig(**sizes, **linear, **experts)), {"input_ids": ids()}, ("attentions",)


def differential() -> Case:
    """A decoder that subtracts one softmax from another."""
    from transformers import DiffLlamaConfig, DiffLlamaForCausalLM

    config = DiffLlamaConfig(**_sizes(num_key_value_heads=2, head_dim=8))
    return DiffLlamaForCausalLM(config), {"input_ids": ids()}, ("attentions",)


def t5() -> Case:
    """An encoder and a decoder, whose positions are added to the scores."""
    from transformers import T5Config, T5Model

    config = T5Config(vocab_size=VOCABULARY, d_model=WIDTH, d_kv=8, num_heads=HEADS, d_ff=48, num_layers=2)
    names = ("encoder_attentions", "decoder_attentions", "cross_attentions")
    return T5Model(config), {"input_ids": ids(), "attention_mask": padding_mask(), "decoder_input_ids": ids(5)}, names


def vit() -> Case:
    """A model of pictures."""
    from transformers import ViTConfig, ViTModel

    sizes = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": 48}
    pixels = torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    return ViTModel(ViTConfig(**sizes, image_size=16, patch_size=4)), {"pixel_values": pixels}, ("attentions",)


MODELS: dict[str, Callable[[], Case]] = {
    "bert": bert,
    "gpt2": gpt2,
    "llama": llama,
    "gemma2": gemma2,
    "gpt-oss": gpt_oss,
    "t5": t5,
    "vit": vit,
}
WRITERS: dict[str, Callable[[], Case]] = {
    "gpt2": gpt2,
    "llama": llama,
    "mistral": mistral,
    "gemma3": gemma3,
    "deepseek": deepseek,
    "bloom": bloom,
}
OTHERS: dict[str, Callable[[], Case]] = {
    "deberta": deberta,
    "hybrid": hybrid,
    "differential": differential,
    "inkling": inkling,
    "granite": granite,
}


def make_case(name: str) -> Case:
    """One of them, in eval mode, the same every time; the test is skipped without transformers."""
    pytest.importorskip("transformers", reason=NEEDED)
    torch.manual_seed(7)
    model, inputs, names = (MODELS | WRITERS | OTHERS)[name]()
    for parameter in model.parameters() if name not in MODELS else ():
        if parameter.ndim > 1:  # so that attention is far from even
            nn.init.normal_(parameter, std=0.3)
    for name, parameter in model.named_parameters():
        if name.endswith("sinks"):
            nn.init.normal_(parameter)
    return model.eval(), inputs, names


class ByHand(nn.Module):
    """Attention as people write it; which way it goes says `how`."""

    def __init__(self, how: str = "torch", causal: bool = False) -> None:
        super().__init__()
        self.maps, self.how, self.causal = nn.Linear(WIDTH, 3 * WIDTH), how, causal

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.maps(x).chunk(3, -1))
        if self.how == "torch":
            out = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        elif self.how == "another name":
            out = by_another_name(q, k, v, is_causal=self.causal)
        else:
            out = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v
        return out.transpose(1, 2).flatten(2)


class HandAttention(ByHand):
    """The same with a name that says what it is."""


class Blocks(nn.Module):
    """Several of them, one after another."""

    def __init__(self, *blocks: nn.Module) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = x + block(x)
        return x

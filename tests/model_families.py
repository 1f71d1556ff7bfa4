"""Families of models in miniature, with large random weights so that no head is uniform: a line each, to add a family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

transformers = pytest.importorskip("transformers", reason="requirements-dev.txt has it")

WORDS, NARROW, WIDE = 60, 4, 64  # in the vocabulary; keys that a window has, one that matters and one that doesn't
WINDOW = "window"  # stands for its size below
USUAL = {"vocab_size": WORDS, "bos_token_id": 1, "eos_token_id": None, "pad_token_id": 0, "max_position_embeddings": 64}
SIZES = USUAL | {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37}
GROUPED = SIZES | {"num_key_value_heads": 2}
SHORT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
SIDES = {"vocab_size": WORDS, "d_model": 32, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": None}
IMAGE = {"image_size": 16, "patch_size": 8, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 16}
LATENT = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 12}
LINEAR = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8}
ALTERNATING = ["sliding_attention", "full_attention"]


def _model_maker(name: str, head: str, config: str = "Config", **sizes: Any) -> Callable[[int, str | None], Any]:
    """A function of the window's size and of an implementation that makes a model of this name, as `LlamaForCausalLM`."""

    def make(window: int, implementation: str | None) -> Any:
        given = {size: window if value == WINDOW else value for size, value in sizes.items()}
        kind, settings = getattr(transformers, f"{name}{head}"), getattr(transformers, f"{name}{config}")(**given)
        return kind._from_config(settings, attn_implementation=implementation)

    return make


FAMILIES = {
    "BERT": _model_maker("Bert", "Model", **SIZES),
    "GPT-2": _model_maker("GPT2", "LMHeadModel", **USUAL, **SHORT),
    "GPT-Neo": _model_maker(
        "GPTNeo",
        "ForCausalLM",
        **USUAL,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=WINDOW,
    ),
    "GPT-J": _model_maker("GPTJ", "ForCausalLM", **USUAL, **SHORT, rotary_dim=4),
    "OPT": _model_maker("OPT", "ForCausalLM", **SIZES, ffn_dim=37, word_embed_proj_dim=32),
    "BLOOM": _model_maker("Bloom", "ForCausalLM", **USUAL, hidden_size=48, n_layer=2, n_head=6),
    "MPT": _model_maker("Mpt", "ForCausalLM", vocab_size=WORDS, d_model=48, n_layers=2, n_heads=6, max_seq_len=64),
    "Falcon": _model_maker("Falcon", "ForCausalLM", **SIZES, alibi=False),
    "Falcon with ALiBi": _model_maker("Falcon", "ForCausalLM", **SIZES, alibi=True),
    "Llama": _model_maker("Llama", "ForCausalLM", **GROUPED),
    "Mistral": _model_maker("Mistral", "ForCausalLM", **GROUPED, sliding_window=WINDOW),
    "Gemma 2": _model_maker(
        "Gemma2",
        "ForCausalLM",
        **GROUPED,
        head_dim=8,
        sliding_window=WINDOW,
        query_pre_attn_scalar=16,
        attn_logit_softcapping=0.5,
    ),
    "Gemma 3": _model_maker(
        "Gemma3", "ForCausalLM", "TextConfig", **GROUPED, head_dim=8, sliding_window=WINDOW, layer_types=ALTERNATING
    ),
    "Qwen3": _model_maker("Qwen3", "ForCausalLM", **GROUPED, head_dim=8),
    "Qwen3-Next": _model_maker(
        "Qwen3Next",
        "ForCausalLM",
        **GROUPED | LINEAR | EXPERTS | {"num_hidden_layers": 4},
        head_dim=8,
        num_experts=4,
        shared_expert_intermediate_size=16,
        layer_types=["linear_attention", "full_attention"] * 2,
    ),
    "gpt-oss": _model_maker(
        "GptOss",
        "ForCausalLM",
        **GROUPED | {"intermediate_size": 32},
        head_dim=8,
        num_local_experts=2,
        num_experts_per_tok=1,
        sliding_window=WINDOW,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    ),
    "DeepSeek-V3": _model_maker(
        "DeepseekV3",
        "ForCausalLM",
        **SIZES | LATENT | EXPERTS | {"num_key_value_heads": 4},
        n_routed_experts=4,
        n_group=1,
        topk_group=1,
        first_k_dense_replace=1,
    ),
    "T5": _model_maker("T5", "ForConditionalGeneration", **SIDES, num_layers=2, num_heads=4, d_kv=8, d_ff=37),
    "BART": _model_maker(
        "Bart",
        "ForConditionalGeneration",
        **SIDES,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=37,
        decoder_ffn_dim=37,
        max_position_embeddings=64,
        forced_eos_token_id=None,
    ),
    "ModernBERT": _model_maker(
        "ModernBert",
        "Model",
        **SIZES,
        local_attention=WINDOW,
        global_attn_every_n_layers=2,
        cls_token_id=1,
        sep_token_id=2,
    ),
    "DeBERTa": _model_maker(
        "DebertaV2", "Model", **SIZES, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8
    ),
    "ViT": _model_maker("ViT", "Model", **IMAGE, intermediate_size=37),
    "DINOv2 with registers": _model_maker("Dinov2WithRegisters", "Model", **IMAGE, num_register_tokens=4),
}
ENCODERS = {"BERT", "ModernBERT", "DeBERTa", "ViT", "DINOv2 with registers"}
IMAGES = {"ViT", "DINOv2 with registers"}
TWO_SIDES = {"T5", "BART"}
WINDOWED = {"GPT-Neo", "Mistral", "Gemma 2", "Gemma 3", "gpt-oss"}


def family(name: str, window: int = WIDE, implementation: str | None = "eager") -> Any:
    """A model in eval mode, the same every time; None: with the implementation that transformers chooses."""
    torch.manual_seed(0)
    model = FAMILIES[name](window, implementation).eval()
    with torch.no_grad():
        for part, weight in model.named_parameters():
            if weight.ndim > 1 or "sinks" in part:
                weight.normal_(0, 1 if "sinks" in part else 0.3)
    return model

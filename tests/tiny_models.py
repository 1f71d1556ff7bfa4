"""Small models of the usual kinds, with random weights and tokenizers of their own, written into a folder as others are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

transformers = pytest.importorskip("transformers", reason="pip install -r requirements-models.txt")
tokenizers = pytest.importorskip("tokenizers", reason="pip install -r requirements-models.txt")

TEXT = "The animal didn't cross the street because it was too tired."
WORDS = ["the", "animal", "didn", "t", "cross", "street", "because", "it", "was", "too", "tire", "##d", "'", ".", "!"]
SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}


def pieces(folder: Path) -> Any:
    """A tokenizer of words and what they go on with, as BERT's; its marks are around one text or two."""
    names = {name: at for at, name in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(names, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.decoder = tokenizers.decoders.WordPiece()
    marks = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
    )
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    found = transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=40, **named)
    found.save_pretrained(folder)
    return found


def letters(folder: Path, **named: str) -> Any:
    """A tokenizer of bytes, merged where they follow each other often, as GPT-2's."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, special_tokens=["<s>", "</s>"])
    made.train_from_iterator([TEXT] * 3, trainer)
    if "eos_token" in named and "bos_token" not in named:
        made.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    found = transformers.PreTrainedTokenizerFast(tokenizer_object=made, **named)
    found.save_pretrained(folder)
    return found


def _bert(folder: Path) -> Any:
    cut = pieces(folder)
    return transformers.BertModel(transformers.BertConfig(vocab_size=len(cut), **SIZES, max_position_embeddings=40))


def _gpt2(folder: Path) -> Any:
    cut = letters(folder, bos_token="<s>", eos_token="</s>")
    sizes = {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64}
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=len(cut), **sizes))


def _llama(folder: Path) -> Any:
    cut = letters(folder, bos_token="<s>", eos_token="</s>")
    config = transformers.LlamaConfig(vocab_size=len(cut), **SIZES, num_key_value_heads=2, max_position_embeddings=64)
    return transformers.LlamaForCausalLM(config)


def _gemma2(folder: Path) -> Any:
    cut = letters(folder, bos_token="<s>", eos_token="</s>")
    more = {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 3, "attn_logit_softcapping": 2.0}
    config = transformers.Gemma2Config(
        vocab_size=len(cut), **SIZES, **more, query_pre_attn_scalar=5, max_position_embeddings=64
    )
    return transformers.Gemma2ForCausalLM(config)


def _t5(folder: Path) -> Any:
    cut = letters(folder, eos_token="</s>", pad_token="<s>")
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
    marks = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
    return transformers.T5ForConditionalGeneration(transformers.T5Config(vocab_size=len(cut), **sizes, **marks))


def _vit(folder: Path) -> Any:
    transformers.ViTImageProcessor(size={"height": 32, "width": 48}).save_pretrained(folder)
    return transformers.ViTModel(transformers.ViTConfig(**SIZES, image_size=(32, 48), patch_size=8))


def _deberta(folder: Path) -> Any:
    """Of those that look up nowhere how to attend."""
    cut = pieces(folder)
    return transformers.DebertaModel(
        transformers.DebertaConfig(vocab_size=len(cut), **SIZES, max_position_embeddings=40)
    )


def _xlnet(folder: Path) -> Any:
    """Its config says that it has -1 positions, for any number."""
    cut = letters(folder, bos_token="<s>", eos_token="</s>", pad_token="<s>")
    return transformers.XLNetModel(
        transformers.XLNetConfig(vocab_size=len(cut), d_model=32, n_layer=2, n_head=4, d_inner=48)
    )


def _swin(folder: Path) -> Any:
    """Its stages have heads of their own, and attend within windows."""
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    sizes = {"embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "window_size": 4}
    return transformers.SwinModel(transformers.SwinConfig(image_size=32, patch_size=2, **sizes))


def _t5_encoder(folder: Path) -> Any:
    cut = letters(folder, eos_token="</s>", pad_token="<s>")
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
    return transformers.T5EncoderModel(transformers.T5Config(vocab_size=len(cut), **sizes))


def _beit(folder: Path) -> Any:
    """It has a vocabulary: of pictures."""
    transformers.BeitImageProcessor(
        size={"height": 32, "width": 32}, crop_size={"height": 32, "width": 32}
    ).save_pretrained(folder)
    return transformers.BeitModel(transformers.BeitConfig(**SIZES, image_size=32, patch_size=8))


def _siglip(folder: Path) -> Any:
    """Its last layer has a query that is no patch."""
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return transformers.SiglipVisionModel(transformers.SiglipVisionConfig(**SIZES, image_size=32, patch_size=8))


def _yolos(folder: Path) -> Any:
    """It has marks before and after the patches."""
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    config = transformers.YolosConfig(**SIZES, image_size=[32, 32], patch_size=8, num_detection_tokens=5)
    return transformers.YolosModel(config)


def _roberta(folder: Path) -> Any:
    """Two of its positions are not for tokens."""
    cut = letters(folder, bos_token="<s>", eos_token="</s>", pad_token="<s>")
    config = transformers.RobertaConfig(vocab_size=len(cut), **SIZES, max_position_embeddings=22, pad_token_id=1)
    return transformers.RobertaModel(config)


ODD: dict[str, Callable[[Path], Any]] = {
    "xlnet": _xlnet,
    "swin": _swin,
    "t5_encoder": _t5_encoder,
    "beit": _beit,
    "siglip": _siglip,
    "yolos": _yolos,
    "roberta": _roberta,
}
KINDS: dict[str, Callable[[Path], Any]] = {
    "bert": _bert,
    "gpt2": _gpt2,
    "llama": _llama,
    "gemma2": _gemma2,
    "t5": _t5,
    "vit": _vit,
    "deberta": _deberta,
}


def write_model(kind: str, folder: Path) -> Path:
    """The folder of a model of a kind, its weights large enough for its heads to differ."""
    torch.manual_seed(7)
    folder.mkdir(parents=True, exist_ok=True)
    model = (KINDS | ODD)[kind](folder).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1 and "norm" not in name.lower():
                weight.normal_(0, 0.35)
    model.save_pretrained(folder)
    return folder

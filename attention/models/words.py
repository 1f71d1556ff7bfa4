"""What a language model predicts for its text, with the texts of the tokens; how alike two sentences are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attention.interventions.predictions import (
    Predictions,
    compare_sentences,
    fill_tokens,
    summarize_logits,
)
from attention.models.inputs import Given
from attention.models.loading import TEXT, Model
from attention.models.sizes import NUMBER

FILLED = 64  # tokens of a text in which each is masked in turn, a pass for every eight


@dataclass(frozen=True, eq=False)
class Words:
    """The `predictions` for the tokens of a text (`labels`, with their `ids`), and the text of every predicted token.

    `fills`: each row is about the token itself, which was masked, and not about the next one.
    """

    predictions: Predictions
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    texts: Mapping[int, str]
    fills: bool


def logit_bytes(model: Model, found: Given) -> int:
    """Returns the bytes of the logits of a pass."""
    layer = model.language_model.get_output_embeddings()
    rows = min(8, len(found.reads)) * len(found.reads) if model.fills else len(found.reads)
    return NUMBER * rows * len(layer.weight)


def predict_words(model: Model, found: Given, output: Any) -> Words | None:
    """Returns what a language model predicts, from the `output` of its pass; a fill-mask model is run again with masks.

    None if a text for a fill-mask model is too long, or its tokenizer has no mask.
    """
    ids = found.tensors["input_ids"][0]
    if not model.fills:
        predictions = summarize_logits(output.logits[0], ids)
    elif len(ids) <= FILLED and getattr(model.tokenizer, "mask_token_id", None) is not None:
        inputs = {name: value for name, value in found.tensors.items() if name != "input_ids"}
        predictions = fill_tokens(model.language_model, ids, model.tokenizer.mask_token_id, inputs=inputs)
    else:
        return None
    known = {*predictions.ids.flatten().tolist(), *ids.tolist()}
    texts = {each: token_text(model.tokenizer, each) for each in known}
    return Words(predictions, tuple(ids.tolist()), found.reads.texts, texts, model.fills)


def token_text(tokenizer: Any, token: int) -> str:
    """Returns the text of a token, with its space."""
    return str(tokenizer.decode([token], clean_up_tokenization_spaces=False))


def sentence_similarity(model: Model, text: str, second: str) -> float | None:
    """Returns the similarity of two texts for an encoder, each read by itself; None if there is no second text."""
    if model.reads != TEXT or model.language_model is not None or not second.strip():
        return None
    both = (model.tokenizer(each, truncation=True, return_tensors="pt")["input_ids"] for each in (text, second))
    return compare_sentences(model.net, *both)

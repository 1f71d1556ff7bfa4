"""What a language model predicts for its text, with the texts of the tokens; how alike two sentences are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from jaxtyping import Float
from torch import Tensor

from attention.interventions.predictions import (
    Predictions,
    append_prediction,
    compare_sentences,
    fill_tokens,
    summarize_logits,
)
from attention.models.inputs import Given
from attention.models.loading import TEXT, Model
from attention.models.packages import ModelError
from attention.models.sizes import NUMBER

BROKEN = "\ufffd"  # what bytes are decoded to if they form no character
FILLED = 64  # tokens of a text in which each is masked in turn, a pass for every eight


@dataclass(frozen=True, eq=False)
class Words:
    """The `predictions` for the tokens of a text (`labels`, with their `ids`), and the text of every predicted token.

    `fills`: each row is about the token itself, which was masked, and not about the next one. `decode`: the text of any token, ""
    for one that ends a text.
    """

    predictions: Predictions
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    texts: Mapping[int, str]
    fills: bool
    decode: Callable[[int], str]


def logit_bytes(model: Model, found: Given) -> int:
    """Returns the bytes of the logits of a pass."""
    layer = model.language_model.get_output_embeddings()
    rows = min(8, len(found.reads)) * len(found.reads) if model.fills else len(found.reads)
    return NUMBER * rows * len(layer.weight)


def predict_words(model: Model, found: Given, output: Any, before: Words | None = None) -> Words | None:
    """Returns what a language model predicts, from the `output` of its pass; a fill-mask model is run again with masks.

    `before`: what it predicted for the tokens before the last, if the pass was for the last alone.

    None if a text for a fill-mask model is too long, or its tokenizer has no mask.
    """
    ids = found.tensors["input_ids"][0]
    if before is not None:
        predictions = append_prediction(before.predictions, int(ids[-1]), output.logits[0, -1])
    elif not model.fills:
        predictions = summarize_logits(output.logits[0], ids)
    elif len(ids) <= FILLED and getattr(model.tokenizer, "mask_token_id", None) is not None:
        inputs = {name: value for name, value in found.tensors.items() if name != "input_ids"}
        predictions = fill_tokens(model.language_model, ids, model.tokenizer.mask_token_id, inputs=inputs)
    else:
        return None
    known = {*predictions.ids.flatten().tolist(), *ids.tolist()}
    texts = dict(before.texts) if before is not None else {}
    texts |= {each: token_text(model.tokenizer, each) for each in known - texts.keys()}
    decode = partial(plain_text, model.tokenizer)
    return Words(predictions, tuple(ids.tolist()), found.reads.texts, texts, model.fills, decode)


def token_text(tokenizer: Any, token: int) -> str:
    """Returns the text of a token, with its space; of one that is only a part of a character, its number."""
    text = str(tokenizer.decode([token], clean_up_tokenization_spaces=False))
    return f"[token {token}]" if BROKEN in text else text


def plain_text(tokenizer: Any, token: int) -> str:
    """Returns the text of a token; "" for a special token, as the one that ends a text."""
    special = token in tokenizer.all_special_ids
    return "" if special else str(tokenizer.decode([token], clean_up_tokenization_spaces=False))


def find_token(model: Model, typed: str, logits: Float[Tensor, " v"], rank: int) -> int:
    """Returns the token of a typed word, with or without a space before it, whichever has the larger logit.

    The `rank`-th most probable one if nothing was typed. Raises ModelError if the word is not a single token.
    """
    if not typed:
        return int(logits.topk(rank + 1).indices[rank])
    special, cut = set(model.tokenizer.all_special_ids), model.tokenizer
    found = [[each for each in cut(text)["input_ids"] if each not in special] for text in (f" {typed.strip()}", typed)]
    single = [each[0] for each in found if len(each) == 1]
    if not single:
        raise ModelError(f"“{typed}” is {len(found[0])} tokens for this model. Type a word that is a single token.")
    return max(single, key=lambda each: float(logits[each]))


def sentence_similarity(model: Model, text: str, second: str) -> float | None:
    """Returns the similarity of two texts for an encoder, each read by itself; None if there is no second text."""
    if model.reads != TEXT or model.language_model is not None or not second.strip():
        return None
    both = (model.tokenizer(each, truncation=True, return_tensors="pt")["input_ids"] for each in (text, second))
    return compare_sentences(model.net, *both)

"""The inputs of a model as tensors, from a text, two texts or a picture, with the labels of their tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor, nn

from attention.models import pictures
from attention.models.config_fields import field as of_config
from attention.models.config_fields import pair, positives, sizes
from attention.models.labels import Labels, Place, of_patches, of_text, places
from attention.models.loading import BOTH, PICTURE, Model
from attention.models.packages import ModelError

LONGEST = 1024  # tokens of a text
POSITIONS = re.compile(r"(^|\.)(embed_positions|position_embeddings|wpe)$")  # modules that are tables of positions
WRITTEN = 48  # tokens that a model generates at most if there is no second text


@dataclass(frozen=True)
class Given:
    """Tensors by name, the labels of what is read and of what is written, and notes on what was left out.

    For a picture: the rows and columns of its patches, the number of marks that the model puts `after` them, and the
    picture as the model gets it.
    """

    tensors: Mapping[str, Tensor]
    reads: Labels
    writes: Labels | None = None
    notes: tuple[str, ...] = ()
    patches: tuple[int, int] | None = None
    after: int = 0
    picture: UInt8[np.ndarray, "y x 3"] | None = field(default=None, compare=False)


def model_inputs(model: Model, text: str, second: str, picture: Image.Image | None) -> Given:
    """Returns the inputs that a model takes of these; raises ModelError if it can't read them."""
    if model.reads == PICTURE:
        return _picture(model, picture or pictures.sample_picture())
    if not text.strip():
        raise ModelError("Type a text first.")
    if model.reads == BOTH:
        return _both(model, text, second)
    found, labels, notes = _cut(model, text, second)
    return Given(found, labels, notes=notes)


def _cut(model: Model, text: str, second: str = "") -> tuple[dict[str, Tensor], Labels, tuple[str, ...]]:
    """Returns the tokens of one text or two, truncated to what the model can read, their labels, and notes."""
    cut, two = model.tokenizer, (second,) if second.strip() else ()
    most = limit(model)
    many = len(cut(text, *two, truncation=False, max_length=most, verbose=False)["input_ids"])
    found = cut(text, *two, truncation=True, max_length=most, return_tensors="pt")
    if found["input_ids"].shape[1] < 2:
        raise ModelError("This is a single token; attention needs at least two. Type a longer text.")
    names = ("input_ids", "attention_mask", "token_type_ids")
    notes = (f"The text has {many:,} tokens; this model reads the first {most:,}.",) if many > most else ()
    ids, known = found["input_ids"][0].tolist(), _places(found, text, second) if cut.is_fast else ()
    _check_known(model, ids)
    labels = of_text(cut, ids, known)
    return {name: found[name] for name in names if name in found}, labels, notes


def _places(found: Any, text: str, second: str) -> list[Place | None]:
    """Returns the places of the tokens in their text; None for marks."""
    of, spans = found.sequence_ids(0), found.encodings[0].offsets
    begins: list[Place | None] = [None] * len(of)
    for number, each in enumerate((text, second)):
        at = [token for token, side in enumerate(of) if side == number]
        for token, place in zip(at, places([spans[token] for token in at], each), strict=True):
            begins[token] = place
    return begins


def limit(model: Model) -> int:
    """Returns the number of tokens that a model can read: the minimum of its config, tokenizer, position tables, and LONGEST."""
    said = sizes(model.config, "max_position_embeddings", "n_positions", "max_seq_len")
    return min([LONGEST, *said, *positives(model.tokenizer.model_max_length), *_tables(model.net)])


def _tables(net: nn.Module) -> Iterator[int]:
    """Yields the lengths of position tables; some count from after the padding id (RoBERTa)."""
    for name, module in net.named_modules():
        if isinstance(module, nn.Embedding) and POSITIONS.search(name):
            yield module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)


def _check_known(model: Model, ids: Sequence[int]) -> None:
    """Raises ModelError if the tokenizer has tokens that the model does not have."""
    try:
        words = model.net.get_input_embeddings().num_embeddings
    except (AttributeError, NotImplementedError):  # it has no such table, or doesn't say which it is
        return
    if max(ids) >= words:
        raise ModelError(
            f"The tokenizer gives token {max(ids):,}, but the model has tokens up to {words - 1:,}: they do not belong together."
        )


def _both(model: Model, text: str, second: str) -> Given:
    """Returns the inputs of a model that reads a text and writes another: the second text, or what the model itself generates."""
    found, labels, notes = _cut(model, text)
    start = of_config(model.config, "decoder_start_token_id")
    start = model.net.generation_config.decoder_start_token_id if start is None else start
    if second.strip():
        ids = model.tokenizer(text_target=second, truncation=True, max_length=limit(model))["input_ids"]
        written = [model.tokenizer.pad_token_id or 0 if start is None else start, *ids][: limit(model)]
    else:
        named = {"max_new_tokens": WRITTEN, "do_sample": False, "num_beams": 1}
        written = model.net.generate(**found, **named)[0].tolist()
        notes += ("The text of the decoder was generated: the most probable token at each step.",)
    written = written[:-1] if len(written) > 2 and written[-1] == model.tokenizer.eos_token_id else written
    if len(written) < 2:
        raise ModelError("The model generates no text for this input. Type a second text for its decoder.")
    more = {"decoder_input_ids": torch.tensor([written])}
    return Given(found | more, labels, of_text(model.tokenizer, written), notes)


def _picture(model: Model, picture: Image.Image) -> Given:
    pixels, size = model.processor(images=picture, return_tensors="pt")["pixel_values"], pair(model.config.patch_size)
    if size is None or pixels.ndim != 4 or pixels.shape[:2] != (1, 3):
        raise ModelError(
            f"The model does not see one picture in colours, cut into patches, but pixels {tuple(pixels.shape)}."
        )
    (high, wide), cut = size, model.processor
    rows, cols = pixels.shape[-2] // high, pixels.shape[-1] // wide
    shift = (cut.image_mean, cut.image_std) if getattr(cut, "do_normalize", True) else ((0.0,), (1.0,))
    shown = pictures.model_view(pixels[0].numpy(), *shift)[: rows * high, : cols * wide]
    after = sum(positives(of_config(model.config, "num_detection_tokens")))  # YOLOS
    read = of_patches(rows * cols, rows, cols)
    return Given({"pixel_values": pixels}, read, patches=(rows, cols), after=after, picture=shown)

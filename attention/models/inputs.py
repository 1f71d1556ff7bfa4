"""What a model is given: a text, a pair of texts, a picture, as tensors, with what their tokens are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from attention.models import pictures
from attention.models.labels import Labels, of_patches, of_text
from attention.models.loading import BOTH, PICTURE, Model
from attention.models.packages import ModelError

LONGEST = 1024  # tokens of a text
WRITTEN = 48  # tokens that a model writes at the most, where nobody says what it should have written


@dataclass(frozen=True)
class Given:
    """Tensors by their names, the labels of what is read and of what is written, and what had to be left out.

    Of a picture, the rows and columns of its patches, and how the model sees it.
    """

    tensors: Mapping[str, Tensor]
    reads: Labels
    writes: Labels | None = None
    notes: tuple[str, ...] = ()
    patches: tuple[int, int] | None = None
    picture: UInt8[np.ndarray, "y x 3"] | None = field(default=None, compare=False)


def given(model: Model, text: str, second: str, picture: Image.Image | None) -> Given:
    """What a model of its kind takes of these; raises ModelError where that is nothing."""
    if model.reads == PICTURE:
        return _picture(model, picture or pictures.shipped())
    if not text.strip():
        raise ModelError("Type a text first: there is nothing to read.")
    if model.reads == BOTH:
        return _both(model, text, second)
    found, labels, notes = _cut(model, text, second)
    return Given(found, labels, notes=notes)


def _cut(model: Model, text: str, second: str = "") -> tuple[dict[str, Tensor], Labels, tuple[str, ...]]:
    """The tokens of one text or two, as many as the model can read, and what they are called."""
    cut, two = model.tokenizer, (second,) if second.strip() else ()
    most = limit(model)
    many = len(cut(text, *two, verbose=False)["input_ids"])
    found = cut(text, *two, truncation=True, max_length=most, return_tensors="pt")
    if found["input_ids"].shape[1] < 2:
        raise ModelError("This is a single token; attention needs two. Type a little more.")
    names = ("input_ids", "attention_mask", "token_type_ids")
    notes = (f"The text has {many:,} tokens; this model reads the first {most:,}.",) if many > most else ()
    gaps = _gaps(found, text, second) if cut.is_fast else None
    labels = of_text(cut, found["input_ids"][0].tolist(), gaps)
    return {name: found[name] for name in names if name in found}, labels, notes


def _gaps(found: Any, text: str, second: str) -> list[bool]:
    """Before which tokens the text that they stand in has a space, or begins."""
    ends, gaps = [0, 0], []
    for of, (first, last) in zip(found.sequence_ids(0), found.encodings[0].offsets, strict=True):
        if of is None:
            gaps.append(True)
            continue
        gaps.append(first > ends[of] or not first or (text, second)[of][first : first + 1].isspace())
        ends[of] = max(last, ends[of])
    return gaps


def limit(model: Model) -> int:
    """Tokens that a model can read at once: as its makers say, and as this app shows."""
    places = getattr(model.config, "max_position_embeddings", None) or getattr(model.config, "n_positions", None)
    return int(min(LONGEST, model.tokenizer.model_max_length, places or LONGEST))


def _both(model: Model, text: str, second: str) -> Given:
    """What is read, and what is written: the second text, or what the model itself writes."""
    found, labels, notes = _cut(model, text)
    start = getattr(model.config, "decoder_start_token_id", None)
    start = model.net.generation_config.decoder_start_token_id if start is None else start
    if second.strip():
        ids = model.tokenizer(text_target=second, truncation=True, max_length=limit(model))["input_ids"]
        written = [model.tokenizer.pad_token_id or 0 if start is None else start, *ids][: limit(model)]
    else:
        named = {"max_new_tokens": WRITTEN, "do_sample": False, "num_beams": 1}
        written = model.net.generate(**found, **named)[0].tolist()
        notes += ("What it writes is its own: word after word, each the likeliest.",)
    written = written[:-1] if len(written) > 2 and written[-1] == model.tokenizer.eos_token_id else written
    if len(written) < 2:
        raise ModelError("The model writes nothing to that. Type what it should have written as the second text.")
    more = {"decoder_input_ids": torch.tensor([written])}
    return Given(found | more, labels, of_text(model.tokenizer, written), notes)


def _picture(model: Model, picture: Image.Image) -> Given:
    pixels = model.processor(images=picture, return_tensors="pt")["pixel_values"]
    size = model.config.patch_size
    high, wide = size if isinstance(size, (tuple, list)) else (size, size)
    rows, cols = pixels.shape[-2] // high, pixels.shape[-1] // wide
    cut = model.processor
    shift = (cut.image_mean, cut.image_std) if getattr(cut, "do_normalize", True) else ((0.0,), (1.0,))
    shown = pictures.seen(pixels[0].numpy(), *shift)[: rows * high, : cols * wide]
    return Given({"pixel_values": pixels}, of_patches(rows * cols, rows, cols), patches=(rows, cols), picture=shown)

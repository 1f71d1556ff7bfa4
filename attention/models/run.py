"""Has a model read something, and gives the attention of all of its layers, in parts, each of which is one stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from attention.models.inputs import Given, given
from attention.models.labels import Labels, of_patches
from attention.models.loading import BOTH, PICTURE, Model
from attention.models.packages import ModelError
from attention.models.parts import CROSS, DECODER, ENCODER, Layers, Part, outputs, which
from attention.models.seen import Seen, watched
from attention.models.sizes import NUMBER, megabytes

Hear = Callable[[float], object]  # told how much of it is done; what it raises ends the pass
WEIGHTS = 2**28  # bytes of all weights, where a model has nothing else
TITLES = {"": "", ENCODER: ": encoder", DECODER: ": decoder", CROSS: ": from decoder to encoder"}


@dataclass(frozen=True)
class Run:
    """What came of a pass: its parts by their names ("": there is but one), and what had to be left out of the input.

    Of a picture, the rows and columns of its patches, and the picture as the model sees it.
    """

    parts: dict[str, Part]
    about: str
    notes: tuple[str, ...] = ()
    patches: tuple[int, int] | None = None
    picture: UInt8[np.ndarray, "y x 3"] | None = field(default=None, compare=False)

    @property
    def bytes(self) -> int:
        """What it takes in memory."""
        return sum(part.stack.bytes for part in self.parts.values())


def run(model: Model, text: str, second: str, picture: Image.Image | None, hear: Hear) -> Run:
    """A pass of a model over a text, two texts or a picture; raises ModelError where that can't be shown."""
    with torch.no_grad():
        found = given(model, text, second, picture)
        parts = _seen(model, found, hear) if model.tells else {}
        parts = parts or _told(model, found)
    return Run(parts, model.about, found.notes, found.patches, found.picture)


def _seen(model: Model, found: Given, hear: Hear) -> dict[str, Part]:
    """The parts of what its attention computes, as that happens; none where it tells nothing."""
    kinds: dict[str, Layers] = {}
    many = expected(model)

    def heard(seen: Seen) -> None:
        kinds.setdefault(which(seen.where, model.reads == BOTH), Layers()).add(seen)
        hear(min(1.0, sum(len(each.seen) for each in kinds.values()) / many))

    with watched(model.net, heard):
        model.net(**found.tensors, use_cache=False) if model.reads != PICTURE else model.net(**found.tensors)
    order = [name for name in ("", ENCODER, DECODER, CROSS) if name in kinds]
    return {name: _part(model, found, name, kinds[name]) for name in order}


def _part(model: Model, found: Given, name: str, layers: Layers) -> Part:
    queries, keys = _sides(found, name, layers.seen[0].q.shape[1], layers.seen[0].k.shape[1])
    return layers.part(model.offer.name + TITLES[name], _what(model, found), queries, keys)


def _sides(found: Given, name: str, queries: int, keys: int) -> tuple[Labels, Labels]:
    """The tokens of both sides of a part, which have to be as many as there are."""
    sides = found.reads, found.reads
    if found.writes is not None and name != ENCODER:
        sides = found.writes, found.writes if name == DECODER else found.reads
    if found.patches is not None and queries == keys >= len(found.reads):
        marked = of_patches(queries, *found.patches)
        sides = marked, marked
    if (len(sides[0]), len(sides[1])) != (queries, keys):
        raise ModelError("The model looks at other pieces than its tokens, so that none of them can be named.")
    return sides


def _what(model: Model, found: Given) -> str:
    read = "a picture" if found.patches else f"{len(found.reads):,} tokens"
    return f"{model.about} It reads {read}."


def _told(model: Model, found: Given) -> dict[str, Part]:
    """The parts of the weights that it gives when it is asked for them, where it tells nothing as it goes."""
    needed = NUMBER * expected(model) * _heads(model.config) * len(found.reads) ** 2
    if needed > WEIGHTS:
        raise ModelError(
            f"Of this model there are weights alone: {megabytes(needed)} for {len(found.reads):,} tokens, over "
            f"{megabytes(WEIGHTS)}. A shorter text fits."
        )
    more = {} if model.reads == PICTURE else {"use_cache": False}
    said = model.net(**found.tensors, output_attentions=True, **more)
    names = {"": "attentions", ENCODER: "encoder_attentions", DECODER: "decoder_attentions", CROSS: "cross_attentions"}
    told: dict[str, tuple[Tensor, ...]] = {name: tuple(said.get(key) or ()) for name, key in names.items()}
    if not any(told.values()):
        raise ModelError("This model has no attention, or tells nobody its weights.")
    return {name: _output(model, found, name, each) for name, each in told.items() if each}


def _output(model: Model, found: Given, name: str, told: tuple[Tensor, ...]) -> Part:
    queries, keys = _sides(found, name, *told[0].shape[-2:])
    return outputs(told, model.offer.name + TITLES[name], _what(model, found), queries, keys)


def expected(model: Model) -> int:
    """How often its attention is computed in a pass."""
    layers = _number(model.config, "num_hidden_layers", "num_layers", "n_layer", "encoder_layers")
    both = 2 * _number(model.config, "decoder_layers", "num_decoder_layers") if model.reads == BOTH else 0
    return max(1, layers + (both or 2 * layers * (model.reads == BOTH)))


def _heads(config: Any) -> int:
    return _number(config, "num_attention_heads", "num_heads", "n_head", "encoder_attention_heads")


def _number(config: Any, *names: str) -> int:
    """The first of these sizes that a model has."""
    return next((int(found) for name in names if (found := getattr(config, name, None))), 1)

"""Has a model read something, and gives the attention of all of its layers, in parts, each of which is one stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from attention.models.following import Following, followed
from attention.models.inputs import Given, given
from attention.models.labels import Labels, of_patches
from attention.models.loading import BOTH, PICTURE, Model
from attention.models.packages import ModelError
from attention.models.parts import Part, of_group, of_weights
from attention.models.sizes import NUMBER, megabytes
from attention.watching.parts import CROSS, DECODER, ENCODER, grouped, labels

Hear = Callable[[float], object]  # told how much of it is done; what it raises ends the pass
Room = Callable[[int], bool]  # asked for so many bytes
WEIGHTS = 2**28  # bytes of all weights, where a model has nothing else
NAMED = 3  # layers that a note names
OUTPUTS = {"": "attentions", ENCODER: "encoder_attentions", DECODER: "decoder_attentions", CROSS: "cross_attentions"}


@dataclass(frozen=True)
class Run:
    """What came of a pass: its parts by their names ("": there is but one), and what had to be left out.

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


def run(
    model: Model, text: str, second: str, picture: Image.Image | None, hear: Hear, room: Room = lambda size: True
) -> Run:
    """A pass of a model over a text, two texts or a picture; raises ModelError where that can't be shown, or has no room."""
    with torch.no_grad():
        found = given(model, text, second, picture)
        needed = size(model, found)
        if not room(needed):
            raise ModelError(
                f"The heads of {len(found.reads):,} tokens take {megabytes(needed)} of memory, and this host has no room for "
                "that now. A shorter text fits."
            )
        parts, notes = _parts(model, found, _passed(model, found, hear))
    if found.patches is not None:
        parts = {name: replace(part, stack=replace(part.stack, line=False)) for name, part in parts.items()}
    return Run(parts, model.about, found.notes + notes, found.patches, found.picture)


def _passed(model: Model, found: Given, hear: Hear) -> Following:
    """What was seen of a pass."""
    many = expected(model)
    with followed(model.net, lambda count: hear(min(1.0, count / many))) as seen:
        model.net(**found.tensors, **_plain(model))
    hear(1.0)
    return seen


def _plain(model: Model) -> dict[str, bool]:
    """Nothing is kept of a text for the next token."""
    return {} if model.reads == PICTURE else {"use_cache": False}


def _parts(model: Model, found: Given, seen: Following) -> tuple[dict[str, Part], tuple[str, ...]]:
    """All that was seen; where that is not all there is, what the model itself says of its weights."""
    unseen = list(seen.seen.unseen)
    if seen.calls and not unseen:
        return _followed(model, found, seen), ()
    try:
        return _told(model, found), ()
    except ModelError:
        if not seen.calls:
            raise
    names = ", ".join([*unseen[:NAMED], *["…"] * (len(unseen) > NAMED)])
    return _followed(model, found, seen), (f"{len(unseen)} layers of its attention can't be seen: {names}.",)


def _followed(model: Model, found: Given, seen: Following) -> dict[str, Part]:
    """The parts of what was seen."""
    groups, parts = grouped(seen.calls), {}
    for group, label in zip(groups, labels(groups), strict=True):
        sides, whole = _sides(found, group.kind, *group.pairs), sum(each.kind == group.kind for each in groups) == 1
        name = label.removeprefix(f"{group.pattern}, ")
        parts[name] = of_group(seen, group, _title(model, name), _what(model, found), *sides, whole)
    return parts


def _told(model: Model, found: Given) -> dict[str, Part]:
    """The parts of the weights that a model gives when it is asked for them."""
    needed = NUMBER * expected(model) * _heads(model.config) * len(found.reads) ** 2
    if needed > WEIGHTS:
        raise ModelError(
            f"Of this model there are weights alone: {megabytes(needed)} for {len(found.reads):,} tokens, over "
            f"{megabytes(WEIGHTS)}. A shorter text fits."
        )
    said = model.net(**found.tensors, output_attentions=True, **_plain(model))
    told: dict[str, tuple[Tensor, ...]] = {name: tuple(said.get(key) or ()) for name, key in OUTPUTS.items()}
    if not any(told.values()):
        raise ModelError("This model has no attention, or tells nobody its weights.")
    return {
        name: of_weights(each, _title(model, name), _what(model, found), *_sides(found, name, *each[0].shape[-2:]))
        for name, each in told.items()
        if each
    }


def _sides(found: Given, kind: str, queries: int, keys: int) -> tuple[Labels, Labels]:
    """The tokens of both sides of a part, which have to be as many as there are."""
    sides = found.reads, found.reads
    if found.writes is not None and kind != ENCODER:
        sides = found.writes, found.writes if kind == DECODER else found.reads
    if found.patches is not None and queries == keys >= len(found.reads):
        marked = of_patches(queries, *found.patches)
        sides = marked, marked
    if (len(sides[0]), len(sides[1])) != (queries, keys):
        raise ModelError("The model looks at other pieces than its tokens, so that none of them can be named.")
    return sides


def _title(model: Model, part: str) -> str:
    return f"{model.offer.name}: {part}" if part else model.offer.name


def _what(model: Model, found: Given) -> str:
    return f"{model.about} It reads {'a picture' if found.patches else f'{len(found.reads):,} tokens'}."


def size(model: Model, found: Given) -> int:
    """Bytes that queries, keys and values of all heads take at the most, and the weights of one layer meanwhile."""
    tokens = max(len(found.reads), len(found.writes or ()))
    wide = 3 * expected(model) * tokens * _number(model.config, "hidden_size", "d_model")
    return NUMBER * (wide + _heads(model.config) * tokens**2)


def expected(model: Model) -> int:
    """How often its attention is computed in a pass."""
    layers = _number(model.config, "num_hidden_layers", "num_layers", "n_layer", "encoder_layers")
    both = 2 * _number(model.config, "decoder_layers", "num_decoder_layers") if model.reads == BOTH else 0
    return max(1, layers + both)


def _heads(config: Any) -> int:
    return _number(config, "num_attention_heads", "num_heads", "n_head", "encoder_attention_heads")


def _number(config: Any, *names: str) -> int:
    """The first of these sizes that a model has."""
    return next((int(found) for name in names if (found := getattr(config, name, None))), 1)

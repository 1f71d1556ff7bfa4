"""Runs a model on an input, and returns the attention of its layers in parts, each of which is a stack."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor, nn

from attention.models.config_fields import field as of_config
from attention.models.config_fields import sizes
from attention.models.heads_off import HeadsOff, switched_off
from attention.models.inputs import Given, model_inputs
from attention.models.kv_cache import append_row, last_token, make_cache, reusable_part
from attention.models.labels import Labels, of_patches
from attention.models.linear_hooks import Following, follow_model
from attention.models.loading import BOTH, PICTURE, Model
from attention.models.packages import ModelError
from attention.models.parts import Part, of_group, of_weights
from attention.models.sizes import NUMBER, megabytes
from attention.models.words import Words, logit_bytes, predict_words, sentence_similarity
from attention.tracing.layer_names import NO_PAIRS
from attention.tracing.parts import CROSS, DECODER, ENCODER, Group, group_calls, labels

Hear = Callable[[float], object]  # called with the share that is done; an exception that it raises ends the pass
Room = Callable[[int], bool]  # whether there is memory for this many bytes
WEIGHTS = 2**28  # bytes of all weights, if a model returns nothing else
NARROW = 32  # channels of a head
NAMED = 3  # layers that a note names
OUTPUTS = {"": "attentions", ENCODER: "encoder_attentions", DECODER: "decoder_attentions", CROSS: "cross_attentions"}


@dataclass(frozen=True)
class Run:
    """The result of a pass: its parts by name ("" if there is only one), a description, and notes on what was left out.

    For a picture: the rows and columns of its patches, and the picture as the model gets it. For a language model: the `words`
    that it predicts. For an encoder that was given two texts: their `similarity`.
    """

    parts: dict[str, Part]
    about: str
    notes: tuple[str, ...] = ()
    patches: tuple[int, int] | None = None
    picture: UInt8[np.ndarray, "y x 3"] | None = field(default=None, compare=False)
    words: Words | None = field(default=None, compare=False)
    similarity: float | None = None

    @property
    def bytes(self) -> int:
        """Bytes that it takes in memory."""
        return sum(part.stack.bytes for part in self.parts.values()) + (
            self.words.predictions.bytes if self.words else 0
        )


def run(
    model: Model,
    text: str,
    second: str,
    picture: Image.Image | None,
    hear: Hear,
    room: Room = lambda size: True,
    before: Run | None = None,
    off: HeadsOff | None = None,
) -> Run:
    """Runs a model on a text, two texts or a picture; raises ModelError if the result can't be shown or memory is lacking.

    `before`: a run whose keys and values are used if the text has just one more token than its text, at the end.
    `off`: heads that are switched off; such a run has attention alone, no `words`.
    """
    with torch.no_grad():
        found = model_inputs(model, text, second, picture)
        needed = size(model, found)
        if not room(needed):
            raise ModelError(
                f"The heads of {len(found.reads):,} tokens take {megabytes(needed)} of memory, and this host has no room for "
                "that now. A shorter text fits."
            )
        says = model.language_model is not None and off is None and room(needed + logit_bytes(model, found))
        if before is not None and says and (longer := _run_last_token(model, found, hear, before)) is not None:
            return longer
        quietly = lambda given: model.net(**_arguments(model, given))  # noqa: E731
        with nullcontext() if off is None else switched_off(model, found, off, quietly):
            seen, output = _forward_pass(model, found, hear, says and not model.fills)
            parts, notes = _parts(model, found, seen)
        words = predict_words(model, found, output) if says else None
        alike = sentence_similarity(model, text, second)
    if off is not None:
        parts = {name: _without_heads(part, off) for name, part in parts.items()}
    if found.patches is not None:
        parts = {name: replace(part, stack=replace(part.stack, line=False)) for name, part in parts.items()}
    return Run(parts, model.about, found.notes + notes, found.patches, found.picture, words, alike)


def _without_heads(part: Part, off: HeadsOff) -> Part:
    """Returns a part whose title and description name the heads that are off, without norms: those heads add other values."""
    stack = replace(part.stack, title=f"{part.stack.title}, {off.title}", what=f"{part.stack.what} {off.what}")
    return replace(part, stack=stack, norms=None)


def _run_last_token(model: Model, found: Given, hear: Hear, before: Run) -> Run | None:
    """Returns the result of a run on the last token and the keys and values of a run on the others; None if it has none."""
    part = reusable_part(model, found.tensors, before.parts, before.words)
    if part is None:
        return None
    last, cache = replace(found, tensors=last_token(found.tensors)), make_cache(model, part.stack)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that are not seen are those of the run before
        seen, output = _forward_pass(model, last, hear, True, past_key_values=cache, use_cache=True)
    longer = append_row(part, seen, found.reads, _what(model, found))
    words = predict_words(model, found, output, before.words)
    return None if longer is None else replace(before, parts={"": longer}, notes=found.notes, words=words)


def _forward_pass(model: Model, found: Given, hear: Hear, says: bool, **more: Any) -> tuple[Following, Any]:
    """Returns what was recorded of a pass, and what the model returned; `says`: with its output layer."""
    many = expected_calls(model)
    with follow_model(model.net, lambda count: hear(min(1.0, count / many))) as seen:
        output = (model.language_model if says else model.net)(**_arguments(model, found) | more)
    hear(1.0)
    return seen, output


def _arguments(model: Model, found: Given) -> dict[str, Any]:
    """Returns the arguments of the model, without those that it does not take. No cache for a next token is kept."""
    takes = inspect.signature(model.net.forward).parameters
    anything = any(each.kind is each.VAR_KEYWORD for each in takes.values())
    named = {**found.tensors, **({} if model.reads == PICTURE else {"use_cache": False})}
    return {name: value for name, value in named.items() if anything or name in takes}


def _parts(model: Model, found: Given, seen: Following) -> tuple[dict[str, Part], tuple[str, ...]]:
    """Returns the parts of the recorded calls; if layers are missing, those of the weights that the model returns, if any."""
    unseen = seen.seen.unseen
    if not seen.calls or set(unseen.values()) - {NO_PAIRS}:  # layers without pairs have no weights to return
        try:
            return _returned_parts(model, found)
        except ModelError:
            if not seen.calls:
                raise
    parts, notes = _traced_parts(model, found, seen)
    if unseen:
        reasons = ". ".join(dict.fromkeys(unseen.values()))
        notes = (*notes, f"Left out: {_list_layers(list(unseen))}. {reasons[:1].upper()}{reasons[1:]}.")
    return parts, notes


def _list_layers(names: Sequence[str]) -> str:
    """Returns some layers by name, the first few of many."""
    many = f"{len(names)} layers: " if len(names) > 1 else ""
    return many + ", ".join([*names[:NAMED], *["…"] * (len(names) > NAMED)])


def _traced_parts(model: Model, found: Given, seen: Following) -> tuple[dict[str, Part], tuple[str, ...]]:
    """Returns the parts of the recorded calls, and a sentence for each group that can't be shown."""
    fitting: list[tuple[Group, tuple[Labels, Labels]]] = []
    patterns, notes = [], []  # patterns of the groups that are left out
    for group in group_calls(seen.calls):
        try:
            fitting.append((group, _sides(found, group.kind, *group.pairs)))
        except ModelError as error:
            names = [name for name, call in seen.calls.items() if any(call is one for one in group.calls)]
            notes.append(f"Left out: {_list_layers(names)}. {error}")
            patterns.append(group.pattern)
    if not fitting:
        raise ModelError(" ".join(notes))
    groups, parts = [group for group, _ in fitting], {}
    for (group, (queries, keys)), label in zip(fitting, labels(groups), strict=True):
        whole = sum(each.kind == group.kind for each in groups) == 1 and group.pattern not in patterns
        name = label.removeprefix(f"{group.pattern}, ")
        parts[name] = of_group(seen, group, _title(model, name), _what(model, found), queries, keys, whole)
    return parts, tuple(notes)


def _returned_parts(model: Model, found: Given) -> tuple[dict[str, Part], tuple[str, ...]]:
    """Returns the parts of the weights that the model returns on request, and a sentence for layers that can't be shown."""
    needed = NUMBER * expected_calls(model) * _heads(model) * len(found.reads) ** 2
    if needed > WEIGHTS:
        raise ModelError(
            f"Of this model there are weights alone: {megabytes(needed)} for {len(found.reads):,} tokens, over "
            f"{megabytes(WEIGHTS)}. A shorter text fits."
        )
    said = model.net(**_arguments(model, found), output_attentions=True)
    parts, notes = dict[str, Part](), tuple[str, ...]()
    for name, key in OUTPUTS.items():
        told = [each for each in said.get(key) or () if isinstance(each, Tensor)]
        part, left_out = _of_told(model, found, name, told)
        parts |= {} if part is None else {name: part}
        notes += left_out
    if not parts:
        raise ModelError(" ".join(notes) or "This model has no attention, or does not return its weights.")
    return parts, notes


def _of_told(model: Model, found: Given, name: str, told: Sequence[Tensor]) -> tuple[Part | None, tuple[str, ...]]:
    """Returns a part of the layers whose weights belong to these tokens and have the same number of heads, and a
    sentence on the others.
    """
    sides = {at: each for at, weights in enumerate(told) if (each := _sides_of(model, found, name, weights))}
    heads = told[min(sides)].shape[1] if sides else 0
    fit = [at for at in sides if told[at].shape[1] == heads]
    notes = ()
    if odd := [at for at in range(len(told)) if at not in fit]:
        shapes = ", ".join(dict.fromkeys(f"{tuple(told[at].shape)}" for at in odd))
        many = f"layer{'s' * (len(odd) > 1)} {', '.join(map(str, odd))}{f' ({name})' * bool(name)}"
        notes = (f"Left out: {many}. The model gives weights of {shapes}, which are not one square of its tokens.",)
    if not fit:
        return None, notes
    part = of_weights([told[at] for at in fit], _title(model, name), _what(model, found), *sides[fit[0]])
    return (replace(part, stack=replace(part.stack, numbers=tuple(fit)), whole=False) if odd else part), notes


def _sides_of(model: Model, found: Given, name: str, weights: Tensor) -> tuple[Labels, Labels] | None:
    """Returns the tokens of both sides of a layer's weights; None if its axes are something else, for example windows."""
    by_distance = name in ("", ENCODER) and of_config(
        model.config, "attention_window"
    )  # Longformer: columns are no keys
    if by_distance or weights.ndim != 4 or len(weights) != 1:
        return None
    try:
        return _sides(found, name, *weights.shape[-2:])
    except ModelError:
        return None


def _sides(found: Given, kind: str, queries: int, keys: int) -> tuple[Labels, Labels]:
    """Returns the tokens of both sides of a part; raises ModelError if their numbers are not those of queries and keys."""
    sides = found.reads, found.reads
    if found.writes is not None and kind != ENCODER:
        sides = found.writes, found.writes if kind == DECODER else found.reads
    if found.patches is not None and queries == keys >= len(found.reads):
        marked = of_patches(queries, *found.patches, found.after)
        sides = marked, marked
    if (len(sides[0]), len(sides[1])) != (queries, keys):
        raise ModelError("The model attends to other pieces than its tokens, so they can't be named.")
    return sides


def _title(model: Model, part: str) -> str:
    return f"{model.offer.name}: {part}" if part else model.offer.name


def _what(model: Model, found: Given) -> str:
    return f"{model.about} It reads {'a picture' if found.patches else f'{len(found.reads):,} tokens'}."


def size(model: Model, found: Given) -> int:
    """Returns the bytes of queries, keys and values of all heads, at most, and of the weights of one layer."""
    tokens = max(len(found.reads), len(found.writes or ()))
    wide = 3 * expected_calls(model) * tokens * _width(model)
    return NUMBER * (wide + _heads(model) * tokens**2)


def expected_calls(model: Model) -> int:
    """Returns how many times attention is computed in a pass."""
    layers = sum(sizes(model.config, "depths", "num_hidden_layers", "num_layers", "n_layer", "encoder_layers"))
    both = 2 * sum(sizes(model.config, "decoder_layers", "num_decoder_layers")) if model.reads == BOTH else 0
    return max(1, layers + both)


def _heads(model: Model) -> int:
    """Returns the heads of a layer; if the config does not say, as many as fit with NARROW channels each."""
    names = "num_attention_heads", "num_heads", "n_head", "encoder_attention_heads"
    return max(sizes(model.config, *names), default=max(1, _width(model) // NARROW))


def _width(model: Model) -> int:
    """Returns the channels of a token; if the config does not say, the most that a linear map takes."""
    wide = (each.in_features for each in model.net.modules() if isinstance(each, nn.Linear))
    return max(sizes(model.config, "hidden_size", "d_model", "hidden_sizes") or wide, default=1)

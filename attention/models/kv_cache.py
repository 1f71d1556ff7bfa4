"""Continues a run by one token: keys and values of the tokens before it come from the earlier result, as from a cache.

This holds for decoders in which every token attends to itself and to all before it, and whose cache has nothing but keys and
values as they enter the scores: `FAMILIES`, by `model_type`; to add one: here and in tests/test_kv_cache.py. Others are run on
the whole text again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attention.imported.stack import Stack
from attention.models.catalogue import PACKAGE
from attention.models.labels import Labels
from attention.models.linear_hooks import Following, norms
from attention.models.loading import Model
from attention.models.packages import library
from attention.models.parts import Part
from attention.models.words import Words
from attention.tracing.parts import group_calls, make_stack

FAMILIES = {"gemma2", "gemma3_text", "gpt2", "llama", "mistral", "opt", "qwen3"}


def reusable_part(
    model: Model, tensors: Mapping[str, Tensor], parts: Mapping[str, Part], words: Words | None
) -> Part | None:
    """Returns the part of an earlier run on all tokens but the last; None if its keys and values can't be used."""
    if words is None or model.fills or len(parts) != 1:
        return None
    (part,), ids = parts.values(), tuple(tensors["input_ids"][0].tolist())
    stack = part.stack
    plain = stack.v is not None and stack.square is None and not stack.rules and stack.own.get("mask") == "causal"
    known = model.config.model_type in FAMILIES and ids[:-1] == words.ids
    return part if known and plain and part.whole and not stack.numbers else None


def make_cache(model: Model, stack: Stack) -> Any:
    """Returns the keys and values of a stack as the model takes them."""
    assert stack.k is not None and stack.v is not None
    layers = [(k[None], v[None]) for k, v in zip(stack.k, stack.v, strict=True)]
    if model.offer.kind == PACKAGE:
        return tuple(layers)
    cache: Any = library("transformers.cache_utils").DynamicCache(config=model.config)
    for layer, (k, v) in enumerate(layers):
        cache.update(k, v, layer)
    return cache


def last_token(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns the inputs of a model without the tokens before the last; the mask of padding stays whole."""
    return {name: each if name == "attention_mask" else each[:, -1:] for name, each in tensors.items()}


def append_row(before: Part, seen: Following, labels: Labels, what: str) -> Part | None:
    """Returns a part with the row of a new token; None if its call is not that of a token that attends to all before it."""
    groups = group_calls(seen.calls)
    if len(groups) != 1 or seen.seen.unseen.keys() - seen.calls.keys() or groups[0].pairs != (1, len(labels)):
        return None
    new, old = make_stack(groups[0], before.stack.title, labels.texts, labels.texts), before.stack
    same = all(new.own[name] == old.own[name] for name in ("scale", "softcap"))
    if new.q is None or old.q is None or new.own["mask"] != "full" or not same:
        return None
    lengths = [norms(call, seen.outputs[name]) for name, call in seen.calls.items() if name in seen.outputs]
    stack = replace(new, q=torch.cat([old.q, new.q], 2), own=old.own, what=what)
    return Part(stack, labels, labels, torch.stack(lengths) if len(lengths) == len(seen.calls) else None)

"""Switches heads off in a model that was trained here (`attention.training`), in the three ways of `ablation`.

A batch of test sequences counts as one text: a head's mean is over all tokens of all sequences. Its output on another sequence is
that on the test sequence before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Int
from torch import Tensor

from attention.interventions.ablation import WAYS, OtherOutputs, Outputs
from attention.interventions.projections import Head, Projection, record_heads, replace_heads
from attention.training.model import Model
from attention.training.run import Drawn, evaluate


def find_projections(model: Model) -> dict[int, Projection]:
    """Returns the output projection of each layer."""
    names = {layer: f"layers.{layer}.attention.out_proj" for layer in range(model.recipe.layers)}
    return {
        layer: Projection(name, model.get_submodule(name), layer, model.recipe.heads) for layer, name in names.items()
    }


def record_outputs(model: Model, ids: Int[Tensor, "b n"]) -> OtherOutputs:
    """Returns the outputs of all heads by layer, (b n) h e: those of all sequences, one after another."""
    with record_heads(find_projections(model)) as outputs, torch.inference_mode():
        model(ids)
    return dict(outputs)


@contextmanager
def heads_off(
    model: Model, heads: Iterable[Head], how: str, usual: Outputs, other: OtherOutputs | None = None
) -> Iterator[None]:
    """Within the context, the model runs without some of its heads.

    Args:
        how: one of `ablation.WAYS`.
        usual: the outputs of all heads on the sequences over which means are taken.
        other: for "resample", their outputs on other sequences, with as many tokens as are read.
    """
    replaced = {
        (layer, head): WAYS[how](usual[layer][:, head], other[layer][:, head] if other is not None else None)
        for layer, head in heads
    }
    with replace_heads(find_projections(model), replaced):
        yield


def evaluate_without(model: Model, on: Drawn, heads: Iterable[Head], how: str, usual: Outputs) -> tuple[float, float]:
    """Returns loss and accuracy on sequences without some heads; `usual`: the outputs of all heads on them."""
    tokens = on.ids.shape[1] - 1
    before = {layer: outputs.roll(tokens, 0) for layer, outputs in usual.items()}
    with heads_off(model, heads, how, usual, before):
        return evaluate(model, on)

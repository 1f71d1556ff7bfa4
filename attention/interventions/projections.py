"""The output projection of each layer's attention: where the outputs of the heads can be read and replaced.

Its input is the outputs of all heads side by side: head h has the channels h e to (h + 1) e. `FAMILIES` names the module for each
family of models for which this was tested; to add one: its `model_type` and the end of the module's name there, and a row in
tests/test_interventions.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

Head = tuple[int, int]  # layer and head, both from 0
Replacement = Float[Tensor, "#n e"] | Float[Tensor, "#n 1"] | Callable[[Tensor], Tensor]

LLAMA, BERT = "self_attn.o_proj", "attention.output.dense"
FAMILIES = {
    "bert": BERT,
    "bloom": "self_attention.dense",
    "deberta-v2": BERT,
    "deepseek_v3": LLAMA,
    "falcon": "self_attention.dense",
    "gemma2": LLAMA,
    "gemma3_text": LLAMA,
    "gpt2": "attn.c_proj",
    "gpt_neo": "attn.attention.out_proj",
    "gpt_neox": "attention.dense",
    "gpt_oss": LLAMA,
    "gptj": "attn.out_proj",
    "llama": LLAMA,
    "mistral": LLAMA,
    "modernbert": "attn.Wo",
    "mpt": "attn.out_proj",
    "opt": "self_attn.out_proj",
    "qwen2": LLAMA,
    "qwen3": LLAMA,
    "roberta": BERT,
}
HEADS = "num_attention_heads", "n_head", "n_heads", "num_heads"  # what configs call the number of heads
LAYER = re.compile(r"^(.*?\.)?(\d+)\.")


class UnsupportedError(ValueError):
    """This cannot be computed for a model of this family; the message names the family and the reason."""


@dataclass(frozen=True, eq=False)
class Projection:
    """The output projection of layer `layer` (by its number in the module's `name`), with `heads` heads."""

    name: str
    module: nn.Module
    layer: int
    heads: int

    @property
    def matrix(self) -> Float[Tensor, "w c"]:
        """The weight matrix, from the outputs of the heads side by side to the channels of a token."""
        weight = self.module.weight
        assert isinstance(weight, Tensor)
        return weight.T if isinstance(self.module, nn.Linear) else weight  # a Conv1D stores it transposed

    @property
    def per_head(self) -> Float[Tensor, "h e c"]:
        """The slice of the weight matrix that belongs to each head."""
        return self.matrix.unflatten(0, (self.heads, -1))

    @property
    def layer_name(self) -> str:
        """Name of the module of the whole layer."""
        found = LAYER.match(self.name)
        assert found is not None
        return found[0].rstrip(".")


def find_projections(model: Any) -> dict[int, Projection]:
    """Returns the output projection of each layer, by layer number.

    Args:
        model: a module with a `config` that has a `model_type` in `FAMILIES` and a number of heads, and with modules of the name
            that is listed there. Models of transformers have both, with and without an output layer.

    Raises:
        UnsupportedError: for any other model, naming its family.
    """
    config = getattr(model, "config", None)
    family = getattr(config, "model_type", None) or type(model).__name__
    end = FAMILIES.get(family)
    if end is None or not isinstance(model, nn.Module):
        known = ", ".join(FAMILIES)
        raise UnsupportedError(
            f"Where the heads of a {family} model write their outputs is not known, so they can't be switched off or patched. "
            f"Known families: {known}."
        )
    heads = next((size for name in HEADS if isinstance(size := getattr(config, name, None), int)), 0)
    named = [(name, module) for name, module in model.named_modules() if f".{name}".endswith(f".{end}")]
    found = {}
    for name, module in named:
        at = LAYER.match(name)
        if at is not None:
            found[int(at[2])] = Projection(name, module, int(at[2]), heads)
    if not found or len(found) < len(named) or not heads or any(len(each.matrix) % heads for each in found.values()):
        raise UnsupportedError(
            f"This {family} model does not have one output projection “{end}” per layer that divides into its heads "
            f"({len(named)} found, {heads} heads)."
        )
    return found


def check_heads(projections: Mapping[int, Projection], heads: Iterable[Head]) -> None:
    """Raises ValueError, with the heads that there are, if one of these is not among them."""
    for layer, head in heads:
        if layer not in projections or not 0 <= head < projections[layer].heads:
            raise ValueError(
                f"There is no head {head} in layer {layer}. The layers are {_span(projections)}, "
                f"with {next(iter(projections.values())).heads} heads each."
            )


@contextmanager
def remove_after(handles: Iterable[RemovableHandle]) -> Iterator[None]:
    """Removes hooks of modules when the context ends."""
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def record_heads(projections: Mapping[int, Projection]) -> Iterator[dict[int, Float[Tensor, "n h e"]]]:
    """Within the context, the latest outputs of the heads of each layer, before the output projection, of one sequence."""
    found: dict[int, Tensor] = {}

    def hook(each: Projection, module: nn.Module, given: tuple[Any, ...]) -> None:
        x = given[0].detach()
        found[each.layer] = x.reshape(-1, each.heads, x.shape[-1] // each.heads).clone()

    handles = [each.module.register_forward_pre_hook(partial(hook, each)) for each in projections.values()]
    with remove_after(handles):
        yield found


@contextmanager
def replace_heads(projections: Mapping[int, Projection], outputs: Mapping[Head, Replacement]) -> Iterator[None]:
    """Within the context, these heads have these outputs (one row for all tokens, or one per token) in every pass.

    A function is given the head's own outputs, (n e), and returns others.

    Raises:
        ValueError: if the model has no such head.
    """
    with replace_in_texts(projections, [outputs]):
        yield


@contextmanager
def replace_in_texts(
    projections: Mapping[int, Projection],
    outputs: Sequence[Mapping[Head, Replacement]],
) -> Iterator[None]:
    """Within the context, heads have other outputs in each text of a pass: `outputs` has an entry per text, in their order.

    Raises:
        ValueError: if the model has no such head.
    """
    changed = {head for each in outputs for head in each}
    check_heads(projections, changed)

    def hook(each: Projection, module: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
        x = given[0].reshape(len(outputs), -1, each.heads, given[0].shape[-1] // each.heads).clone()
        for text, replaced in enumerate(outputs):
            for (layer, head), value in replaced.items():
                if layer == each.layer:
                    x[text, :, head] = value(x[text, :, head]) if callable(value) else value.to(x)
        return x.reshape(given[0].shape), *given[1:]

    handles = [
        projections[layer].module.register_forward_pre_hook(partial(hook, projections[layer]))
        for layer in {layer for layer, _ in changed}
    ]
    with remove_after(handles):
        yield


def _span(projections: Mapping[int, Projection]) -> str:
    numbers = sorted(projections)
    return (
        f"{numbers[0]} to {numbers[-1]}"
        if len(numbers) == numbers[-1] - numbers[0] + 1
        else ", ".join(map(str, numbers))
    )

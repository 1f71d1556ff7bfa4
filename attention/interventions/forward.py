"""Runs a model on ids of tokens, and returns its outputs and those of its layers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

OUTPUTS = "logits", "last_hidden_state"
CAPACITY = (
    "expert_capacity",
    "capacity",
    "capacity_factor",
)  # attributes of layers whose experts take a limited number of tokens


@dataclass(frozen=True)
class Forward:
    """Calls a model with ids. `inputs`: its other arguments, the same in each call; those of the encoder for a model with two."""

    model: Any
    inputs: Mapping[str, Any]

    def __call__(self, ids: Int[Tensor, "b n"], **more: Any) -> Any:
        """Whatever the model returns."""
        given = {name: _expand(value, len(ids)) for name, value in self.inputs.items()}
        usual = {"use_cache": False} if self.takes("use_cache") else {}
        return self.model(**{self.ids_name: ids} | given | usual | more) if self.ids_name else self.model(ids, **given)

    @property
    def ids_name(self) -> str:
        """The argument for the ids: empty if the model's first argument is to be used."""
        if getattr(getattr(self.model, "config", None), "is_encoder_decoder", False) and self.takes(
            "decoder_input_ids"
        ):
            return "decoder_input_ids"
        return "input_ids" if "input_ids" in self.named_parameters else ""

    def takes(self, name: str) -> bool:
        """Whether the model has an argument of this name."""
        named = self.named_parameters
        return name in named or ("input_ids" in named and any(each.kind is each.VAR_KEYWORD for each in named.values()))

    @property
    def named_parameters(self) -> Mapping[str, inspect.Parameter]:
        """The arguments of the model, by name."""
        called = self.model.forward if isinstance(self.model, nn.Module) else self.model
        return inspect.signature(called).parameters

    def outputs(self, ids: Int[Tensor, "b n"], **more: Any) -> Float[Tensor, "b n v"]:
        """The outputs of each token: logits, or else the last hidden states. Raises ValueError if the model has neither."""
        return take_outputs(self(ids, **more), ids)


def take_outputs(result: Any, ids: Int[Tensor, "b n"]) -> Float[Tensor, "b n v"]:
    """The outputs of each token among what a model returned; raises ValueError if there are none."""
    named = [getattr(result, name, None) for name in OUTPUTS]
    listed = list(result) if isinstance(result, (tuple, list)) else [result]
    for value in (*named, *listed):
        if isinstance(value, Tensor) and value.is_floating_point() and value.shape[:-1] == ids.shape:
            return value.detach()
    wanted = f"({', '.join(map(str, ids.shape))}, channels)"
    shapes = ", ".join(str(tuple(value.shape)) for value in (*named, *listed) if isinstance(value, Tensor)) or "none"
    raise ValueError(
        f"The model returns no outputs of shape {wanted} for ids {tuple(ids.shape)}. Its tensors: {shapes}."
    )


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Runs a model without gradients and in eval mode, and restores the mode of each of its modules afterwards."""
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    before = [module.training for module in modules]
    try:
        if modules:
            model.eval()
        with torch.no_grad():
            yield
    finally:
        for module, mode in zip(modules, before, strict=True):
            module.training = mode


@contextmanager
def recorded_layers(model: Any) -> Iterator[dict[str, Tensor]]:
    """The latest output of each layer, by the name of its module: of the members of the longest nn.ModuleList."""
    found: dict[str, Tensor] = {}

    def record(name: str, output: Any) -> None:
        first = output[0] if isinstance(output, (tuple, list)) else output
        if isinstance(first, Tensor) and first.ndim == 3:
            found[name] = first.detach()

    handles = [
        layer.register_forward_hook(lambda module, given, output, name=name: record(name, output))
        for name, layer in _layers(model).items()
    ]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def _layers(model: Any) -> dict[str, nn.Module]:
    if not isinstance(model, nn.Module):
        return {}
    lists = [(name, each) for name, each in model.named_modules() if isinstance(each, (nn.ModuleList, nn.Sequential))]
    name, longest = max(lists, key=lambda each: len(each[1]), default=("", nn.ModuleList()))
    return {f"{name}.{at}".lstrip("."): layer for at, layer in enumerate(longest)}


def capacity_layers(model: Any) -> list[str]:
    """Names of layers whose experts take a limited number of tokens, so that tokens compete for their places."""
    if not isinstance(model, nn.Module):
        return []
    return [name for name, module in model.named_modules() if any(hasattr(module, each) for each in CAPACITY)]


def embedded_tokens(model: Any) -> int:
    """The number of tokens that a model knows; raises ValueError if it doesn't say."""
    try:
        return int(model.get_input_embeddings().num_embeddings)
    except (AttributeError, NotImplementedError, TypeError):
        pass
    tables = (
        [each for each in model.modules() if isinstance(each, nn.Embedding)] if isinstance(model, nn.Module) else []
    )
    if not tables:
        raise ValueError("The model has no table of embeddings. Pass `vocabulary`, the number of tokens that it knows.")
    return tables[0].num_embeddings


def _expand(value: Any, many: int) -> Any:
    """A tensor of one sequence, repeated for many."""
    return (
        value.expand(many, *value.shape[1:]) if isinstance(value, Tensor) and value.ndim and len(value) == 1 else value
    )

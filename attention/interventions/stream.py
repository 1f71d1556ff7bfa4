"""The residual stream of a decoder with the norm before the layer: everything that is added up to the last norm.

`read_stream` proves on the text itself that the model is of this form: each layer adds the output projection of its attention and
the output of one other module (the MLP) to its input, unchanged; the last norm and the output layer give the logits. A model for
which this does not hold is refused by the name of its family.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention.interventions.predictions import one_sequence, run_logits
from attention.interventions.projections import (
    Projection,
    UnsupportedError,
    find_projections,
    record_heads,
    remove_after,
)

RELATIVE = 1e-3  # by which sums may differ, relative to the largest value
ROUNDING = 1e-5  # by which a small part of a sum may differ, relative to the largest value of the sum


@dataclass(frozen=True, eq=False)
class Stream:
    """What a model adds to its residual stream on one text of n tokens, by layer number.

    `start`: the embeddings, the input of the first layer. `heads`: outputs of the heads before the projection. `others`: what the
    rest of each layer adds, the MLP. `ends`: the output of each layer. `norm`, `unembed`: the last norm and the output layer.
    """

    projections: Mapping[int, Projection]
    start: Float[Tensor, "n c"]
    heads: Mapping[int, Float[Tensor, "n h e"]]
    others: Mapping[int, Float[Tensor, "n c"]]
    ends: Mapping[int, Float[Tensor, "n c"]]
    norm: nn.Module
    unembed: nn.Module
    logits: Float[Tensor, "n v"]

    def direction(self, at: int, token: int, against: int | None = None) -> tuple[Float[Tensor, " c"], float]:
        """The direction in the stream that raises a logit (or a difference of two) at a position, and the constant part.

        The scale of the last norm is held as it is at this position, so that the logit is linear in the stream.
        """
        weight = _tensor(self.unembed, "weight")
        bias = None if getattr(self.unembed, "bias", None) is None else _tensor(self.unembed, "bias")
        out = weight[token] - (weight[against] if against is not None else 0.0)
        constant = 0.0 if bias is None else float(bias[token] - (bias[against] if against is not None else 0.0))
        x = self.ends[max(self.ends)][at]
        gain, shift, scale, centred = _norm_parts(self.norm, x)
        into = (out * gain).float() / scale
        return (into - into.mean() if centred else into), constant + float(out.float() @ shift)

    def logit(self, at: int, token: int, against: int | None = None) -> float:
        """The model's own logit, or the difference of two."""
        return float(self.logits[at, token] - (self.logits[at, against] if against is not None else 0.0))


def read_stream(model: Any, ids: Int[Tensor, "*b n"] | Sequence[int]) -> Stream:
    """Runs a decoder on a text and returns what it adds to its residual stream.

    Raises:
        UnsupportedError: for a family whose output projections are not known, or whose layers do more than to add (a norm after
            the layer, scaled additions), or whose logits are scaled or capped after the output layer.
    """
    found, unembed = find_projections(model), _output_layer(model)
    layers = {number: model.get_submodule(each.layer_name) for number, each in found.items()}
    inside = {module: number for number, layer in layers.items() for module in layer.modules()}
    norms = [each for each in model.modules() if each not in inside and _is_norm(each)]
    watched = [*inside, *norms, unembed]
    with record_heads(found) as heads, _record_calls(watched) as calls:
        logits = run_logits(model, ids)
    many = one_sequence(ids).shape[1]
    ends = {number: _rows(calls[layers[number]][1], many) for number in sorted(found)}
    starts = {number: _rows(calls[layers[number]][0], many) for number in sorted(found)}
    others = {}
    for number, each in sorted(found.items()):
        rest = ends[number] - starts[number] - _rows(calls[each.module][1], many)
        outputs = [calls[module][1] for module, of in inside.items() if of == number and module in calls]
        if not any(_same(rest, output, float(ends[number].abs().max())) for output in outputs):
            raise UnsupportedError(_refusal(model, f"layer {number} does more than to add its attention and its MLP"))
        others[number] = rest
    _check_chain(model, sorted(found), starts, ends)
    norm = _last_norm(model, norms, calls, ends[max(ends)], calls[unembed][0])
    stream = Stream(found, starts[min(starts)], dict(heads), others, ends, norm, unembed, logits)
    _check_logits(model, stream)
    return stream


def _refusal(model: Any, why: str) -> str:
    family = getattr(getattr(model, "config", None), "model_type", type(model).__name__)
    return (
        f"The logits of a {family} model can't be split into what its heads add: {why}. This works for decoders that have their "
        "norm before each layer, as GPT-2 and Llama."
    )


def _check_chain(model: Any, numbers: Sequence[int], starts: Mapping[int, Tensor], ends: Mapping[int, Tensor]) -> None:
    """Raises UnsupportedError unless each layer's input is the output of the one before."""
    for before, after in pairwise(numbers):
        if not _same(ends[before], starts[after]):
            raise UnsupportedError(_refusal(model, f"something changes the stream between layers {before} and {after}"))


def _check_logits(model: Any, stream: Stream) -> None:
    """Raises UnsupportedError unless the last norm and the output layer give the model's logits."""
    last, token = len(stream.logits) - 1, int(stream.logits[-1].argmax())
    into, constant = stream.direction(last, token)
    found, there = float(stream.ends[max(stream.ends)][last] @ into) + constant, stream.logit(last, token)
    if abs(found - there) > RELATIVE * max(1.0, abs(there)):
        raise UnsupportedError(_refusal(model, "its logits are scaled or capped after the output layer"))


def _output_layer(model: Any) -> nn.Module:
    found = (
        model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else getattr(model, "lm_head", None)
    )
    if not isinstance(found, nn.Module):
        raise UnsupportedError(_refusal(model, "it has no output layer over its vocabulary"))
    return found


def _is_norm(module: nn.Module) -> bool:
    weight = getattr(module, "weight", None)
    return isinstance(weight, Tensor) and weight.ndim == 1


def _last_norm(
    model: Any, norms: Sequence[nn.Module], calls: Mapping[nn.Module, Any], end: Tensor, before: Tensor
) -> nn.Module:
    for norm in norms:
        ends = norm in calls and _same(end, calls[norm][0]) and _same(calls[norm][1], before)
        if ends and _norm_parts(norm, end[-1], calls[norm][1].reshape(end.shape)[-1]) is not None:
            return norm
    raise UnsupportedError(
        _refusal(model, "no norm of a known form stands between its last layer and its output layer")
    )


def _norm_parts(norm: nn.Module, x: Float[Tensor, " c"], output: Float[Tensor, " c"] | None = None) -> Any:
    """Gain, shift and scale of a norm at an input, and whether it subtracts the mean; None if none of these gives `output`.

    A LayerNorm is (x - mean) / scale * weight + bias, an RMSNorm x / scale * weight, in some models * (1 + weight).
    """
    weight, bias = _tensor(norm, "weight"), getattr(norm, "bias", None)
    eps = next(
        (value for name in ("eps", "variance_epsilon") if isinstance(value := getattr(norm, name, None), float)), 1e-6
    )
    shift = torch.zeros_like(weight) if bias is None else bias.detach().float()
    if isinstance(norm, nn.LayerNorm):
        return weight, shift, float((x.var(unbiased=False) + eps).sqrt()), True
    scale = float((x.square().mean() + eps).sqrt())
    given = output
    if given is None:
        with torch.no_grad():
            given = norm(x[None])[0].float()
    gain = min((weight, 1 + weight), key=lambda each: float((x / scale * each + shift - given).abs().max()))
    fits = output is None or _same(x / scale * gain + shift, output)
    return (gain, shift, scale, False) if fits else None


def _tensor(module: nn.Module, name: str) -> Tensor:
    value = getattr(module, name)
    assert isinstance(value, Tensor)
    return value.detach().float()


def _rows(x: Tensor, many: int) -> Float[Tensor, "n c"]:
    return x.reshape(many, -1)


def _same(one: Tensor, other: Tensor, whole: float = 0.0) -> bool:
    """Whether two tensors are equal up to rounding, whatever their shape; `whole`: the largest value that they are a part of."""
    if one.numel() != other.numel():
        return False
    tolerance = RELATIVE * float(one.abs().max()) + ROUNDING * whole
    return float((one.reshape(-1) - other.reshape(-1)).abs().max()) <= tolerance


@contextmanager
def _record_calls(modules: Sequence[nn.Module]) -> Iterator[dict[nn.Module, tuple[Tensor, Tensor]]]:
    """Within the context: input and output of the last call of each module that takes and returns a tensor of float."""
    found: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def hook(module: nn.Module, given: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        x = given[0] if given else named.get("hidden_states")
        y = output[0] if isinstance(output, (tuple, list)) and output else output
        if isinstance(x, Tensor) and isinstance(y, Tensor) and x.is_floating_point() and y.is_floating_point():
            found[module] = x.detach().float().clone(), y.detach().float().clone()  # Falcon adds in place

    handles = [each.register_forward_hook(hook, with_kwargs=True) for each in dict.fromkeys(modules)]
    with remove_after(handles):
        yield found

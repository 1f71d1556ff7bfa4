"""Reads the output of a transformers model: its attention by parts, and the batch rows of one sequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from attention.tracing.parts import CROSS, DECODER, ENCODER

NAMES = {"encoder_attentions": ENCODER, "decoder_attentions": DECODER, "cross_attentions": CROSS, "attentions": ""}
STREAMS = "Content stream", "Query stream"
RELATIVE = (
    "columns relative to each query (Longformer, LED), with those of global tokens beside them, and are not shown. "
    "If the model has a decoder, its weights are: give {'decoder_attentions': out.decoder_attentions}."
)
WINDOWS = (
    "of windows of an image (Swin), each a sequence of its own. out.attentions[layer] with batch= shows one window."
)
NO_PAIRS = {  # fields that mark outputs whose attention does not cover a whole sequence
    "global_attentions": RELATIVE,
    "encoder_global_attentions": RELATIVE,
    "reshaped_hidden_states": WINDOWS,
}
EAGER = (
    "A model that runs by SDPA or flash attention returns no weights: load it with attn_implementation='eager', "
    "or watch it (attention.watch)."
)


class Part(NamedTuple):
    """Weights, one tensor per layer, or steps of such. `rows`: the row of the batch in each step.

    `read`: see `join_steps`; None if the weights came alone.
    """

    weights: Any
    rows: Sequence[int]
    steps: bool = False
    read: int | None = None


def find_parts(given: Any, batch: int) -> dict[str, Part]:
    """The parts of an output, {} if it is something else; raises ValueError for attention with another meaning."""
    if inner := _inner_outputs(given):
        parts = {name: find_parts(output, batch) for name, output in inner.items()}
        return {f"{name}: {part}" if part else name: one for name, each in parts.items() for part, one in each.items()}
    named = {part: _get(given, name) for name, part in NAMES.items() if _has(given, name)}
    found = {part: weights for part, weights in named.items() if weights is not None and len(weights)}
    if named and not found:
        raise ValueError(f"There are no attention weights in this {type(given).__name__}. {EAGER}")
    for name, why in NO_PAIRS.items():
        if found and _has(given, name):
            raise ValueError(f"The attention weights in this {type(given).__name__} are {why}")
    _check_axes(given, found)
    _check_encoder(found.get(ENCODER, ()))
    if "" in found and CROSS in found:  # Q-Former has its cross-attention in both
        cross = {id(layer) for layer in found[CROSS]}
        found[""] = [layer for layer in found[""] if id(layer) not in cross]
    if _has(given, "sequences"):
        return _parts_of_generation(given, found, batch)
    return {name: part for kind, weights in found.items() for name, part in _parts_of_pass(given, kind, weights, batch)}


def _inner_outputs(given: Any) -> dict[str, Any]:
    """The outputs with attention within an output that has none itself, as of CLIP's two models, by readable names."""
    if not isinstance(given, Mapping) or any(name in given for name in NAMES):
        return {}
    inner = {key: value for key, value in given.items() if any(_get(value, name) for name in NAMES)}
    return {
        key.removesuffix("_output").replace("_", " ").capitalize(): value
        for key, value in inner.items()
        if not hasattr(value, "shape")
    }


def _check_axes(given: Any, found: Mapping[str, Any]) -> None:
    """Raises ValueError for tensors that can't be weights of pairs of tokens, because they have other axes."""
    for weights in found.values():
        layers = weights if hasattr(weights[0], "shape") or weights[0] is None else weights[0]
        for at, layer in enumerate(layers):
            if (shape := getattr(layer, "shape", None)) is not None and len(shape) != 4:
                raise ValueError(
                    f"The attentions of layer {at} in this {type(given).__name__} are {(*shape,)}, not (batch, heads, queries, "
                    "keys): the model computes them within blocks (LongT5, Reformer), or they are not weights (RWKV)."
                )


def _parts_of_pass(given: Any, kind: str, weights: Any, batch: int) -> Iterator[tuple[str, Part]]:
    """Yields the parts of one forward pass."""
    if not isinstance(weights[0], (tuple, list)):
        hidden = _get(given, "last_hidden_state")
        if kind == "" and hidden is not None and (shape := _shape(weights)) and shape[0] != len(hidden):
            raise ValueError(
                f"The attention weights are of {shape[0]} sequences, and this {type(given).__name__} is of {len(hidden)}: their "
                "first axis is not the batch, but frames or windows. out.attentions[layer] with batch= shows one of these."
            )
        yield kind, Part(weights, [batch])
    elif _has(given, "mems"):  # XLNet with target_mapping
        for at, name in enumerate(STREAMS):
            yield name, Part([layer[at] for layer in weights], [batch])
    else:
        yield kind, Part(weights, [batch] * len(weights), True)


def _parts_of_generation(given: Any, found: Mapping[str, Any], batch: int) -> dict[str, Part]:
    """The parts of an output of `generate` for one sequence; in a beam search its row differs by step."""
    steps = {kind: weights for kind, weights in found.items() if kind != ENCODER}
    count = max((len(weights) for weights in steps.values()), default=1)
    indices, longest, rows = _get(given, "beam_indices"), count, [batch] * count
    if indices is not None:
        if not -len(indices) <= batch < len(indices):
            raise ValueError(f"batch={batch}: generate returned {len(indices)} sequences.")
        longest = int((indices >= 0).sum(1).max())
        rows = [row for row in indices[batch].tolist() if row >= 0]
    elif _has(given, "beam_indices"):
        raise ValueError(
            "This is of a beam search without beam_indices, and nothing says which row each step has a sequence in. "
            "generate(…, output_scores=True) returns them."
        )
    read = _get(given, "sequences").shape[1] - longest
    parts = {kind: Part(weights[: len(rows)], rows, True, read) for kind, weights in steps.items()}
    if ENCODER in found:
        batches = [len(each[0][0]) for each in steps.values()] or [1]
        texts = len(found[ENCODER][0])  # the encoder ran once per text, the decoder once per sequence of it
        parts = {ENCODER: Part(found[ENCODER], [rows[0] * texts // batches[0] if steps else batch])} | parts
    return parts


def _check_encoder(layers: Any) -> None:
    for at, layer in enumerate(layers):
        if (shape := getattr(layer, "shape", ())) and shape[-2] != shape[-1]:
            raise ValueError(
                f"encoder_attentions of layer {at} are {tuple(shape)}: an encoder's queries are its keys, so these columns are "
                "no keys (in LED they are relative). {'decoder_attentions': out.decoder_attentions} shows the decoder."
            )


def _shape(weights: Any) -> Sequence[int]:
    """The shape of the first layer if it has a batch axis, else ()."""
    shape = getattr(next((layer for layer in weights if layer is not None), None), "shape", ())
    return shape if len(shape) == 4 else ()


def _has(given: Any, name: str) -> bool:
    return (isinstance(given, Mapping) and name in given) or hasattr(given, name)


def _get(given: Any, name: str) -> Any:
    return given[name] if isinstance(given, Mapping) and name in given else getattr(given, name, None)

"""Queries and keys, or weights, of a layer that a user has uploaded or computed here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor

from attention.config import Config
from attention.fitting import INPUT_KNOBS
from attention.imported.registry import find_entry
from attention.operations.qk_norm import ON, rms_norm
from attention.sources.layer_inputs import LayerInputs, Source, Tokens
from attention.sources.recorded import BASELINE, SIZES

WORDS = {"file": "from your file", "model": "run here", "training": "trained here"}  # as a badge


class Uploaded:
    """The provider of uploaded attention: settings that follow queries and keys act on them, earlier ones have no effect.

    Of a longer sequence, only the first `tokens` of the config are used.
    """

    idle: Mapping[str, str] = MappingProxyType(
        dict.fromkeys(INPUT_KNOBS, "No effect: this source is an upload.")
        | dict.fromkeys(SIZES, "Fixed by the upload.")
        | BASELINE
        | {"training_step": "No effect: the upload has one training step."}
    )

    def tokens(self, source: Source, config: Config) -> Tokens:
        """Returns the tokens of the queries."""
        stack = find_entry(source.key).stack
        return Tokens(config.tokens, stack.queries[: config.tokens], stack.line)

    def keys(self, source: Source, config: Config) -> Tokens:
        """Returns the tokens of the keys."""
        holding = find_entry(source.key)
        if not holding.shape.keys:
            return self.tokens(source, config)
        return Tokens(holding.shape.keys, holding.stack.keys, holding.stack.line)

    def provenance(self, source: Source, config: Config) -> str:
        """Returns the description of the upload, and that only this visit has it."""
        said = find_entry(source.key).stack.what.strip()
        said += "." if said and said[-1] not in ".!?" else ""
        return f"{said} Only you can see it.".strip()

    def label(self, source: Source, config: Config) -> str:
        """Returns where it comes from."""
        return WORDS[source.kind]

    def layer_inputs(self, source: Source, config: Config) -> LayerInputs:
        """Returns one layer, in memory of its own: a cached pass must not keep the other layers."""
        stack, sizes = find_entry(source.key).stack, find_entry(source.key).shape
        at, n = sizes.numbers.index(source.layer), config.tokens
        m, repeats = sizes.keys or n, sizes.heads // sizes.kv_heads
        parts = {
            "q": _own(stack.q, at, n),
            "k": _own(stack.k, at, m, repeats),
            "v": _own(stack.v, at, m, repeats),
            "weights": _own(stack.weights, at, n),
        }
        square = stack.square_of(at)
        rule = config.rule if square is None else square
        tokens, keys = self.tokens(source, config), self.keys(source, config)
        return LayerInputs(config, tokens, keys, rule, self.provenance(source, config), **parts)  # pyright: ignore[reportArgumentType]  tensors by name

    def mask_label(self, source: Source) -> str:
        """Returns the mask of a layer that is no rule of the app, in a few words."""
        found = find_entry(source.key)
        return found.mask_label(found.shape.numbers.index(source.layer))

    def queries_and_keys(
        self, source: Source, config: Config, heads: range
    ) -> tuple[Float[Tensor, "h n d"], Float[Tensor, "g n d"]]:
        """Returns queries of neighbouring heads, and their keys, not repeated, for the maps of a long sequence."""
        holding = find_entry(source.key)
        stack, of = holding.stack, holding.shape.heads // holding.shape.kv_heads
        assert stack.q is not None and stack.k is not None
        at, n = holding.shape.numbers.index(source.layer), config.tokens
        query, key = stack.q[at, heads.start : heads.stop, :n], stack.k[at, heads.start // of : heads.stop // of, :n]
        query, key = query.float().contiguous(), key.float().contiguous()
        return (rms_norm(query), rms_norm(key)) if config.qk_norm == ON else (query, key)


def _own(
    part: Float[Tensor, "l g all d"] | None, at: int, many: int, repeats: int = 1
) -> Float[Tensor, "h n d"] | None:
    """Returns the first `many` tokens of a layer in float32, shared ones repeated for each head."""
    if part is None:
        return None
    layer = part[at, :, :many]
    return layer.to(torch.float32, copy=True) if repeats == 1 else layer.float().repeat_interleave(repeats, 0)

"""Queries, keys and values of a layer from a recording."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from jaxtyping import Float
from torch import Tensor

from attention.config import Config
from attention.fitting import INPUT_KNOBS
from attention.recorded.file import Recording
from attention.recorded.shipped import SHIPPED, recording
from attention.sources.layer_inputs import LayerInputs, Source, Tokens

SIZES: tuple[str, ...] = ("tokens", "heads", "d_model", "kv_heads")
BASELINE = {"baseline": "The baseline is the source's own mask."}


class Recorded:
    """The provider of recorded attention: settings that follow queries and keys act on them, earlier ones have no effect.

    By default, mask, scale, softcap and softmax are those of the recorded model. Positions are in the queries and keys
    already, or are added to the scores as they were there; a bias may be added to the scores of any recording.
    """

    idle: Mapping[str, str] = MappingProxyType(
        dict.fromkeys(INPUT_KNOBS, "No effect: this source is a recording.")
        | dict.fromkeys(SIZES, "Fixed by the recording.")
        | BASELINE
        | {"training_step": "No effect: the training of this model was not recorded."}
    )

    def recording(self, source: Source, config: Config) -> Recording:
        """Returns the recording of a source."""
        return recording(source.key)

    def tokens(self, source: Source, config: Config) -> Tokens:
        """Returns the recorded tokens."""
        texts = self.recording(source, config).tokens
        return Tokens(len(texts), texts)

    def provenance(self, source: Source, config: Config) -> str:
        """Returns what the file says about itself."""
        found = self.recording(source, config)
        return f"{found.what} Weights: {found.weights} License: {found.license}. Made: {found.made}."

    def label(self, source: Source, config: Config) -> str:
        """Returns what was recorded."""
        return "recorded from a real model" if SHIPPED[source.key].learned else "hand-built, not learned"

    def layer_inputs(self, source: Source, config: Config) -> LayerInputs:
        """Returns one layer of the recording."""
        own, found = self.tokens(source, config), self.recording(source, config)
        at = found.shape.numbers.index(source.layer)
        q, k, v = (None if part is None else part[at] for part in (found.q, found.k, found.v))
        parts = {"q": q, "k": _for_each(k, config.heads), "v": _for_each(v, config.heads)}
        return LayerInputs(config, own, own, config.rule, self.provenance(source, config), **parts)  # pyright: ignore[reportArgumentType]  tensors by name


def _for_each(shared: Float[Tensor, "g k d"] | None, heads: int) -> Float[Tensor, "h k d"] | None:
    """Returns the keys or values of every head, shared ones repeated."""
    return None if shared is None else shared.repeat_interleave(heads // len(shared), 0)

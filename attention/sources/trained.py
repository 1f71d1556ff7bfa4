"""Queries and keys of a layer from a training that ships, as they were after some steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attention.config import Config
from attention.fitting import INPUT_KNOBS
from attention.recorded.file import Recording
from attention.sources.layer_inputs import Source
from attention.sources.recorded import BASELINE, SIZES, Recorded
from attention.training import shipped


class Trained(Recorded):
    """The provider of models that this app has trained: a recording for each of several steps, at which heads form."""

    idle: Mapping[str, str] = MappingProxyType(
        dict.fromkeys(INPUT_KNOBS, "No effect: this source is a recorded training.")
        | dict.fromkeys(SIZES, "Fixed by the training.")
        | BASELINE
    )

    def recording(self, source: Source, config: Config) -> Recording:
        """Returns the heads after the number of steps that a config names."""
        return shipped.recording(source.key, config.training_step)

    def label(self, source: Source, config: Config) -> str:
        """Returns that it was trained, and where; at step 0, that it was not yet."""
        return "trained in this app" if config.training_step else "not trained yet"

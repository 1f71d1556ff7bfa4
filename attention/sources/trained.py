"""From a training that ships to the queries and keys of a layer, as they were after some steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attention.config import INPUT_KNOBS, Config
from attention.recorded.file import Recording
from attention.sources.layer_inputs import Source
from attention.sources.recorded import BASELINE, SIZES, Recorded
from attention.training import shipped


class Trained(Recorded):
    """The origin whose model was trained by this app: a recording after each of some steps, of which heads form."""

    idle: Mapping[str, str] = MappingProxyType(
        dict.fromkeys(INPUT_KNOBS, "Does nothing here: this attention was learned, not made from the settings.")
        | dict.fromkeys(SIZES, "As it was trained.")
        | BASELINE
    )

    def recording(self, source: Source, config: Config) -> Recording:
        """The heads after the steps that a config names."""
        return shipped.recording(source.key, config.training_step)

    def label(self, source: Source, config: Config) -> str:
        """That it was learned, and here."""
        return "trained in this app"

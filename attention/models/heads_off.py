"""A run of a model with some of its heads switched off: all later layers get other inputs, so their maps change as well.

The maps of the layer itself and of those before it stay as they are: a head is switched off after its weights are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import NamedTuple

from attention.interventions.ablation import WAYS
from attention.interventions.projections import (
    Head,
    Projection,
    Replacement,
    check_heads,
    find_projections,
    record_heads,
    replace_heads,
)
from attention.models.inputs import Given, model_inputs
from attention.models.loading import Model
from attention.models.packages import ModelError

NAMED = 3  # heads that a title names
NOTES = {"zero": "", "mean": " (mean)", "resample": " (another text)"}
INSTEAD = {
    "zero": "Zero replaces",
    "mean": "The mean over the text replaces",
    "resample": "Outputs on another text replace",
}


class HeadsOff(NamedTuple):
    """Heads that are off, which of `ablation.WAYS` replaces their outputs, and the text for "resample"."""

    heads: tuple[Head, ...]
    how: str
    other: str

    @property
    def title(self) -> str:
        """The heads as the title of a source names them, `layer 1 head 4 off`."""
        by_layer = [(layer, [head for _, head in found]) for layer, found in groupby(self.heads, lambda each: each[0])]
        named = ", ".join(
            f"layer {layer} head{'s' * (len(of) > 1)} {', '.join(map(str, of))}" for layer, of in by_layer
        )
        return f"{named if len(self.heads) <= NAMED else f'{len(self.heads)} heads'} off{NOTES[self.how]}"

    @property
    def what(self) -> str:
        """All heads that are off, and what replaces their outputs, as a sentence."""
        names = ", ".join(f"{layer}.{head}" for layer, head in self.heads)
        return f"{INSTEAD[self.how]} the output of heads that are off (layer.head): {names}. Outputs shown are those before."


@contextmanager
def switched_off(model: Model, found: Given, off: HeadsOff, forward: Callable[[Given], object]) -> Iterator[None]:
    """Within the context, the model runs without some of its heads.

    `forward` runs the model as it is; it is called for the outputs that replace those of the heads, if there are any.

    Raises:
        ModelError: if it is not known how to switch off heads of this model, there is no such head, or the other text is short.
    """
    try:
        projections = find_projections(model.net)
        check_heads(projections, off.heads)
    except ValueError as error:
        raise ModelError(str(error)) from error
    with replace_heads(projections, _replacements(model, projections, found, off, forward)):
        yield


def _replacements(
    model: Model, projections: dict[int, Projection], found: Given, off: HeadsOff, forward: Callable[[Given], object]
) -> dict[Head, Replacement]:
    """Returns the outputs of the heads that are off."""
    if off.how == "zero":
        return {head: lambda here: WAYS["zero"](here, None) for head in off.heads}
    given = found if off.how == "mean" else model_inputs(model, off.other, "", None)
    if len(given.reads) < len(found.reads):
        raise ModelError(
            f"The other text has {len(given.reads)} tokens; it needs at least {len(found.reads)}, as many as this one."
        )
    with record_heads(projections) as outputs:
        forward(given)
    many = len(found.reads)
    return {
        (layer, head): WAYS[off.how](outputs[layer][:many, head], outputs[layer][:, head]) for layer, head in off.heads
    }

"""The knobs with which a user overrides how the arrays of a file are read."""

from __future__ import annotations

from dataclasses import dataclass

from attention.imported import axes
from attention.imported.axes import AUTO
from attention.masks import MASKS
from attention.operations.scale import SCALES
from attention.settings import Settings, choice, whole


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the arrays of a file are read, if the user chooses something other than the guess."""

    part: int = whole(0, 0, 63, "Part of the file", "Which part is shown if the file has several, for example encoder and decoder; counted from 0.")
    weights: str = choice(AUTO, (AUTO, *axes.WEIGHTS), "Axes of the weights", "l layers, b sequences of a batch, h heads, q queries, k keys; the last axis changes fastest. Auto: from the shape, and from the axis along which the numbers sum to 1.")
    vectors: str = choice(AUTO, (AUTO, *axes.VECTORS), "Axes of Q, K and V", "l layers, b sequences of a batch, h heads, n tokens, d channels of a head. Auto: from the shape and the number of tokens.")
    item: int = whole(0, 0, 4095, "Sequence of the batch", "Sequence that is shown, counted from 0.")
    mask: str = choice(AUTO, (AUTO, *MASKS), "Mask", "Which keys were visible to a query. Auto: as in the file, otherwise all.")
    scale: str = choice(AUTO, (AUTO, *SCALES), "Scale", "Factor of the dot products. Auto: as in the file, otherwise 1/sqrt(d_head).")

    def __post_init__(self) -> None:
        for name in READINGS.knobs:
            READINGS.check(name, getattr(self, name))
# fmt: on


READINGS = Settings(Reading, "how a file is read", prefix="read ")

"""Defines the properties of a published implementation of attention, apart from its code."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature

import torch
from jaxtyping import Bool
from torch import Tensor

from attention.attend import Attention
from attention.operations.mask import HIDDEN
from attention.operations.scale import root
from attention.published.weights import Weights


@dataclass(frozen=True)
class Evidence:
    """Numbers that illustrate a lesson, drawn as lines: `points` are (series, x, y), found in a `setting`."""

    title: str
    setting: str
    x: str
    y: str
    points: tuple[tuple[str, float, float], ...]

    @property
    def half(self) -> float:
        """The smallest x from which the first series stays over one half; infinity if there is none."""
        first = [(x, y) for series, x, y in self.points if series == self.points[0][0]]
        under = max((x for x, y in first if y <= 0.5), default=-math.inf)
        return min((x for x, y in first if x > under), default=math.inf)


@dataclass(frozen=True)
class Document:
    """A published document: its title (or first heading if it has no title), its `kind` and its address.

    `address` is "" if the document has none.
    """

    title: str
    kind: str
    address: str = ""

    @property
    def title_in_words(self) -> str:
        """The title in words: `the notebook “Multi-head attention”`."""
        return f"the {self.kind} “{self.title}”"


@dataclass(frozen=True)
class Slip:
    """A mistake that keeps the published code from running; `show` raises the same error."""

    what: str
    show: Callable[[], object]

    @property
    def error(self) -> str:
        """Type and message of the error, found by calling `show`."""
        try:
            self.show()
        except SyntaxError as error:  # without file and line, as there is no file
            return f"{type(error).__name__}: {error.msg}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        raise AssertionError(f"{self.what!r} did not raise; the lesson about it is out of date.")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One published implementation of attention.

    `as_meant` (corrected) and `as_printed` (as published; None if that is right) take `x` or `query, key, value`, then `w`
    and, if they support one, `mask`; they return the output and the weights. `part` selects the weights that they use, `scale`
    is the factor of the dot products, `mask` a name in `FORMS`. `gloss` says for a list what is particular about it, `mistake`
    names what is wrong in the published code, `lesson` explains it, and `tries` are named settings that show it.
    """

    name: str
    document: Document
    particular: str
    formula: str
    as_meant: Callable[..., Attention]
    as_printed: Callable[..., Attention] | None = None
    gloss: str = ""
    mistake: str = ""
    lesson: str
    demand: str
    part: Callable[[Weights], Weights] = lambda w: w
    scale: Callable[[int], float] = root
    mask: str = "none"
    maps_back: bool = True
    bias: bool = True
    slips: tuple[Slip, ...] = ()
    evidence: Callable[[], Evidence] | None = None
    tries: tuple[tuple[str, dict[str, str | int]], ...] = ()

    @property
    def crosses(self) -> bool:
        """Whether it takes queries and keys of different sequences."""
        return "query" in signature(self.as_meant).parameters

    def version(self, printed: bool) -> Callable[..., Attention]:
        """Returns the function that runs: as published if `printed` and there is one, else corrected."""
        return self.as_printed if printed and self.as_printed else self.as_meant

    def parameters(self, w: Weights) -> int:
        """Number of learned parameters."""
        w = self.part(w)
        maps = [w.query, w.key, w.value, *([w.output] if self.maps_back else [])]
        biases = [w.query_bias, w.key_bias, w.value_bias, *([w.output_bias] if self.maps_back else [])]
        return sum(x.numel() for x in [*maps, *(biases if self.bias else [])])


def additive_mask(mask: Bool[Tensor, "b q k"], like: Tensor) -> Tensor:
    """Returns minus infinity for masked keys and zero elsewhere, for every head: (b 1 q k)."""
    return like.new_zeros(mask.shape).masked_fill_(~mask, HIDDEN)[:, None]


def boolean(mask: Bool[Tensor, "b q k"], like: Tensor) -> Tensor:
    """Returns the mask unchanged, True for a key that takes part: (b q k)."""
    return mask


WINDOW = 4  # keys of the row that has a window, its query included
FORMS: dict[str, Callable[[Bool[Tensor, "b q k"], Tensor], Tensor] | None] = {
    "none": None,
    "causal": None,  # always causal, independent of the settings
    "window": None,  # always a causal window of `WINDOW` keys
    "added": additive_mask,
    "boolean": boolean,
}


def greatest_weight(weights: Tensor) -> float:
    """Mean over all rows of the largest weight: 1 is one-hot."""
    return float(weights.amax(-1).mean())


def random_tensor(*shape: int, seed: int, uniform: bool = False) -> Tensor:
    """Returns normal noise from a seed, or uniform numbers in [0, 1)."""
    random = torch.Generator().manual_seed(seed)
    return (torch.rand if uniform else torch.randn)(*shape, generator=random)

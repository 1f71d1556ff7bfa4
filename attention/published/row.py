"""What is known about one published way to write attention, apart from its code."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature

import torch
from jaxtyping import Bool
from torch import Tensor

from attention.attend import Attention
from attention.published.weights import Weights
from attention.scores import HIDDEN, root


@dataclass(frozen=True)
class Evidence:
    """Numbers beside a lesson, to be drawn as lines: `points` are (series, x, y), found in a `setting`."""

    title: str
    setting: str
    x: str
    y: str
    points: tuple[tuple[str, float, float], ...]

    @property
    def half(self) -> float:
        """The least x from which on the first series is over a half; infinity where it never is."""
        first = [(x, y) for series, x, y in self.points if series == self.points[0][0]]
        under = max((x for x, y in first if y <= 0.5), default=-math.inf)
        return min((x for x, y in first if x > under), default=math.inf)


@dataclass(frozen=True)
class Document:
    """What was published: its title, or its first heading where it has none, what `kind` of document it is, and where.

    `address` is "" where the document names none.
    """

    title: str
    kind: str
    address: str = ""

    @property
    def title_in_words(self) -> str:
        """In words: `the notebook “Multi-head attention”`."""
        return f"the {self.kind} “{self.title}”"


@dataclass(frozen=True)
class Slip:
    """A mistake that keeps the printed code from running at all; `show` raises what it raises."""

    what: str
    show: Callable[[], object]

    @property
    def error(self) -> str:
        """Type and message, found by trying."""
        try:
            self.show()
        except SyntaxError as error:  # without the place, as there is no file
            return f"{type(error).__name__}: {error.msg}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        raise AssertionError(f"{self.what!r} did not raise; the lesson about it is out of date.")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One way to write attention.

    `as_meant` and `as_printed` (None: the print is right) take `x` or `query, key, value`, then `w` and, if they have
    one, `mask`; they give the output and the weights. `part` is what they use of the weights, `scale` what dot products
    are multiplied by, `mask` a name in `FORMS`. `mistake` names what is wrong in the print, `lesson` explains it,
    `tries` are settings of knobs at which there is something to see, with a name.
    """

    name: str
    document: Document
    particular: str
    formula: str
    as_meant: Callable[..., Attention]
    as_printed: Callable[..., Attention] | None = None
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
        """Does it take queries and keys of different sequences?"""
        return "query" in signature(self.as_meant).parameters

    def version(self, printed: bool) -> Callable[..., Attention]:
        """The function that runs."""
        return self.as_printed if printed and self.as_printed else self.as_meant

    def parameters(self, w: Weights) -> int:
        """Numbers that it learns."""
        w = self.part(w)
        maps = [w.query, w.key, w.value, *([w.output] if self.maps_back else [])]
        biases = [w.query_bias, w.key_bias, w.value_bias, *([w.output_bias] if self.maps_back else [])]
        return sum(x.numel() for x in [*maps, *(biases if self.bias else [])])


def additive_mask(mask: Bool[Tensor, "b q k"], like: Tensor) -> Tensor:
    """Minus infinity where the mask hides, zero elsewhere, for every head: (b 1 q k)."""
    return like.new_zeros(mask.shape).masked_fill_(~mask, HIDDEN)[:, None]


def boolean(mask: Bool[Tensor, "b q k"], like: Tensor) -> Tensor:
    """True takes part: (b q k)."""
    return mask


FORMS: dict[str, Callable[[Bool[Tensor, "b q k"], Tensor], Tensor] | None] = {
    "none": None,
    "causal": None,  # always, whatever is asked for
    "added": additive_mask,
    "boolean": boolean,
}


def greatest_weight(weights: Tensor) -> float:
    """Mean over all rows of the greatest weight: 1 is one-hot."""
    return float(weights.amax(-1).mean())


def random_tensor(*shape: int, seed: int, uniform: bool = False) -> Tensor:
    """Normal noise from a seed, or uniform numbers in [0, 1)."""
    random = torch.Generator().manual_seed(seed)
    return (torch.rand if uniform else torch.randn)(*shape, generator=random)

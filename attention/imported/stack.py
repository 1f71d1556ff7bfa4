"""The uploaded stack: some layers of heads, alike in their sizes, with their tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor

from attention.summary import summarize_fields


@dataclass(frozen=True, eq=False)
class Stack:
    """Layers of heads as `q (l h q d)`, `k (l g k d)` and optionally `v (l g k e)`, as `weights (l h q k)` alone, or as both.

    Queries and keys include their positions, as they are multiplied in a score; heads may share keys and values (g
    divides h). Numbers are of any floating type. `queries` and `keys` are the texts of the tokens, () if there are
    none; `keys` equals `queries` if a sequence attends to itself. `numbers`: which layers of their model these are; ()
    for all. `line`: whether tokens are a line, as words are, and not the patches of a picture.

    `square (q k)`: which pairs take part, if this is no rule of `masks.MASKS`, or `(l q k)` for a mask per layer;
    `own`: defaults of the knobs of mask and scores, as in `recorded.file.OWN`; `rules`: the mask rule and the span of
    each layer, if layers have different ones; `sinks`: the learned logits of the softmax “sink”. A scale that has no
    name in `scores.SCALES` is multiplied into q. `title` is the name that users see, `what` says in a sentence or two
    what was recorded from which model.
    """

    title: str
    what: str
    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    q: Float[Tensor, "l h q d"] | None = None
    k: Float[Tensor, "l g k d"] | None = None
    v: Float[Tensor, "l g k e"] | None = None
    weights: Float[Tensor, "l h q k"] | None = None
    square: Bool[Tensor, "*l q k"] | None = None
    sinks: Float[Tensor, "l h"] | None = None
    own: Mapping[str, Any] = field(default_factory=dict)
    numbers: tuple[int, ...] = ()
    line: bool = True
    rules: tuple[tuple[str, int], ...] = ()

    __repr__ = summarize_fields

    def square_of(self, at: int) -> Bool[Tensor, "q k"] | None:
        """Returns which pairs take part in a layer, given by its index; None if a rule applies."""
        return self.square[at] if self.square is not None and self.square.ndim == 3 else self.square

    def own_of(self, at: int) -> dict[str, Any]:
        """Returns `own` for a layer, given by its index, including its rule."""
        mask, span = self.rules[at] if self.rules else (None, None)
        return dict(self.own) | ({} if mask is None else {"mask": mask, "span": span})

    @property
    def bytes(self) -> int:
        """Bytes that its numbers take in memory."""
        parts = (self.q, self.k, self.v, self.weights, self.square)
        return sum(part.numel() * part.element_size() for part in parts if part is not None)

"""Some layers of heads that somebody brought, alike in their sizes, with their tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor

from attention.summary import summarize_fields


@dataclass(frozen=True, eq=False)
class Stack:
    """Layers of heads as `q (l h q d)`, `k (l g k d)` and maybe `v (l g k e)`, or as `weights (l h q k)` alone, or both.

    Queries and keys are as they meet in a score, positions in them; heads may share keys and values (g divides h). Numbers
    are of any floating type. `queries` and `keys` are the texts of the tokens, () where nobody named them; `keys` is
    `queries` where a sequence looks at itself. `numbers`: which layers of their model these are; () for all.
    `line`: do the tokens stand in a line, as words do, and not in a picture?

    `square (q k)`: which pairs take part, where no rule of `masks.MASKS` says it, or `(l q k)`, those of each layer; `own`:
    what the knobs of mask and scores say unless somebody sets them otherwise, as in `recorded.file.OWN`; `rules`: the name and
    the span of the rule of each layer, where layers have different ones. A factor that has no name in `scores.SCALES` is in q.
    `title` is its name for the reader, `what` who made it of what, in a sentence or two.
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
    own: Mapping[str, Any] = field(default_factory=dict)
    numbers: tuple[int, ...] = ()
    line: bool = True
    rules: tuple[tuple[str, int], ...] = ()

    __repr__ = summarize_fields

    def square_of(self, at: int) -> Bool[Tensor, "q k"] | None:
        """Which pairs take part in the layer in this place; None if a rule says it."""
        return self.square[at] if self.square is not None and self.square.ndim == 3 else self.square

    def own_of(self, at: int) -> dict[str, Any]:
        """What `own` is for the layer in this place, its rule included."""
        mask, span = self.rules[at] if self.rules else (None, None)
        return dict(self.own) | ({} if mask is None else {"mask": mask, "span": span})

    @property
    def bytes(self) -> int:
        """What its numbers take in memory."""
        parts = (self.q, self.k, self.v, self.weights, self.square)
        return sum(part.numel() * part.element_size() for part in parts if part is not None)

"""The two sides of a comparison, and which pairs of heads can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.config import Config
from attention.sources.providers import distributes
from attention.trace import Trace

NEEDS_EQUAL = "Heads are subtracted and matched over equally many tokens only."
ROUNDING = 5e-3  # by how much a row of 16-bit weights may exceed a sum of one


@dataclass(frozen=True, eq=False)
class Side:
    """One side: `weights (h q k)`, and `mask`, True for visible keys, `(q k)` or one per head.

    `context (h q e)`: the outputs of the heads, None if their values are not known. `distributes`: whether every row is a
    distribution, of which a part may be missing (a sink, or a fully masked row). What is known of the rows of one side is kept
    with it, for comparisons with other sides.
    """

    weights: Float[Tensor, "h q k"]
    mask: Bool[Tensor, "*h q k"]
    context: Float[Tensor, "h q e"] | None = None
    distributes: bool = True

    def of_heads(self, heads: Sequence[int]) -> Side:
        """Returns the side with these heads alone, in this order."""
        at = list(heads)
        mask = self.mask if self.mask.ndim == 2 else self.mask[at]
        context = None if self.context is None else self.context[at]
        return Side(self.weights[at], mask, context, self.distributes)

    def part(self, rows: tuple[int, int], columns: tuple[int, int]) -> Side:
        """Returns the side with these queries and keys alone, each from a start up to an end; its rows may sum to less."""
        some, keys = slice(*rows), slice(*columns)
        context = None if self.context is None else self.context[:, some]
        return Side(self.weights[:, some, keys], self.mask[..., some, keys], context, self.distributes)

    @property
    def seeing(self) -> Bool[Tensor, "*h q"]:
        """The rows with a visible key."""
        return self.mask.any(-1)

    @cached_property
    def missing(self) -> Float[Tensor, "h q"]:
        """What each row lacks to a sum of one, in float64; at least zero."""
        return (1 - self.weights.sum(-1, dtype=torch.float64)).clamp_(min=0)

    @cached_property
    def entropies(self) -> Float[Tensor, "h q"]:
        """The entropy of each row in nats, in float64, if rows are distributions: what is missing counts as one more key."""
        heads = zip(self.weights, self.missing, strict=True)
        return torch.stack([row_entropies(rows.double(), missing) for rows, missing in heads])

    @cached_property
    def largest(self) -> Int[Tensor, "h q"]:
        """The key of the largest weight of each row; -1 for a row of zeros."""
        return self.weights.argmax(-1).masked_fill_(~self.weights.any(-1), -1)

    @property
    def size(self) -> tuple[int, int, int]:
        """Heads, queries and keys."""
        return tuple(self.weights.shape)  # pyright: ignore[reportReturnType]  a shape of three


def row_entropies(rows: Float[Tensor, "q k"], missing: Float[Tensor, " q"]) -> Float[Tensor, " q"]:
    """Returns the entropies of rows in nats; what is missing to a sum of one counts as one more key."""
    return torch.special.entr(rows).sum(-1) + torch.special.entr(missing)


def side_of(trace: Trace) -> Side:
    """Returns a trace as a side; its context counts only if the source has values."""
    context = trace.context if trace.context.shape[-1] else None
    return Side(trace.weights, trace.mask, context, distributes(trace.config) and are_distributions(trace.weights))


def are_distributions(weights: Float[Tensor, "h q k"]) -> bool:
    """Whether no weight is negative and no row sums to more than one, within the rounding of 16-bit numbers."""
    return bool(weights.amin() >= 0) and bool(weights.sum(-1, dtype=torch.float32).amax() <= 1 + ROUNDING)


def why_not_subtracted(a: Config, b: Config) -> str:
    """Returns why the weights of two configs have no difference; "" if at least one head has."""
    return why_not_comparable(*((each.heads, each.tokens, each.n_keys) for each in (a, b)))


def why_not_comparable(a: tuple[int, int, int], b: tuple[int, int, int]) -> str:
    """Returns why the weights of two sizes (heads, queries, keys) have no difference; "" if at least one head has.

    Tokens are compared by their position, so both sides need equally many.
    """
    (_, queries, keys), (_, others, other_keys) = a, b
    if (queries, keys) == (others, other_keys):
        return ""
    if queries != others:
        return f"A has {queries:,} tokens and B has {others:,}. {NEEDS_EQUAL}"
    return f"A has {keys:,} keys and B has {other_keys:,}. {NEEDS_EQUAL}"

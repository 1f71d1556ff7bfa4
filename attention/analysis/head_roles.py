"""What a head does, in a name and a sentence, from its weights alone; nothing where nothing stands out.

A head is named by the kind of keys that have most of its weight: the token so many places back, the first one, the same token,
what followed an earlier copy, those nearby, all alike. Definitions as in `heads.py`. To add a kind: a `Kind` in `_kinds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.heads import Pairs, PerHead, followers, on_pairs, same

MOST = 0.5  # of the weight: a kind of key that has it stands out
TOGETHER, EACH = 0.7, 0.25  # of two kinds between which a head splits its weight: both, and the lesser one
WHOLE = 1.05  # more than that is counted twice: the kinds have keys in common
FARTHEST = 12  # places back that are looked at
NEAR = 5  # tokens on either side that are near
BEYOND = 1.4  # times what an even head has there: in a short text everything is near
EVEN = 0.1  # of the weight, at the most, that an even head would have elsewhere
PAIRS = 2**15  # of equal tokens that are looked at
SOME = 64  # rows in which evenness is looked for
COUNTS = "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"


class Kind(NamedTuple):
    """A kind of keys: its short name, what a head does that looks at them, and each head's mean weight there."""

    name: str
    does: str
    share: PerHead


@dataclass(frozen=True)
class Role:
    """What a head does: a short name, and a sentence without its subject ("looks one token back: 0.91 of its weight.")."""

    name: str
    says: str


EVENLY = Role("even", "looks at all keys alike, whatever they are.")


def roles(
    weights: Float[Tensor, "h q k"], mask: Bool[Tensor, "q k"], tokens: Sequence[str] = (), unit: str = "token"
) -> list[Role | None]:
    """The role of each head, None where nothing stands out. `tokens`: the texts of queries that are also the keys.

    `unit` says what a token is to the reader: a word, say.
    """
    kinds = _kinds(weights, mask, tokens, unit)
    even, near = _even(weights, mask), _near(weights, mask, unit)
    return [EVENLY if even[head] else _role(kinds, near, head) for head in range(len(weights))]


def _role(kinds: list[Kind], near: Kind, head: int) -> Role | None:
    first, *others = sorted(kinds, key=lambda kind: float(kind.share[head]), reverse=True)
    second = next(kind for kind in others if not {first.name, kind.name} & {"itself"} or not _copies(first, kind))
    one, two = float(first.share[head]), float(second.share[head])
    if one < TOGETHER and two >= EACH and TOGETHER <= one + two <= WHOLE:
        both = f"splits its weight: it {first.does} ({one:.2f}) and {second.does} ({two:.2f})."
        return Role(f"{first.name}, {second.name}", both)
    for kind in (first, near):
        if (share := float(kind.share[head])) >= MOST:
            return Role(kind.name, f"{kind.does}: {share:.2f} of its weight.")
    return None


def _copies(one: Kind, two: Kind) -> bool:
    """Do both count the query itself?"""
    return any(kind.name.startswith("same ") for kind in (one, two))


def _kinds(weights: Tensor, mask: Tensor, tokens: Sequence[str], unit: str) -> list[Kind]:
    """All kinds but nearness, which is for those that have no other."""
    found = [_back(weights, mask, by, unit) for by in range(-1, min(FARTHEST, len(mask) - 1) + 1)]
    seeing = mask.any(-1)
    seeing[:2] = False  # what a query sees that has no choice says nothing
    first = weights[:, seeing, 0].mean(-1) if seeing.any() else weights.new_zeros(len(weights))
    found.append(Kind(f"first {unit}", f"rests on the first {unit} (a sink)", first))
    if not tokens:
        return found
    query, key = _some(*same(tokens))
    again = torch.zeros(len(tokens), dtype=torch.bool).index_fill_(0, query[(query != key) & mask[query, key]], True)
    copies = on_pairs(weights, mask, query[again[query]], key[again[query]])
    itself = weights.diagonal(0, 1, 2)[:, again].mean(-1) if again.any() else copies
    elsewhere = torch.where(copies - itself > EACH / 2, copies, 0)
    followed = on_pairs(weights, mask, *followers(query, key))
    found.append(Kind(f"same {unit}", f"looks at the same {unit}, wherever it stands", elsewhere))
    found.append(Kind("induction", f"looks at what followed this {unit} before (induction)", followed))
    return found


def _some(query: Tensor, key: Tensor) -> Pairs:
    """All of these pairs or, where they are many, those of evenly spread queries."""
    step = -(-len(query) // PAIRS)
    kept = query % step == step - 1 if step > 1 else slice(None)
    return query[kept], key[kept]


def _back(weights: Tensor, mask: Tensor, by: int, unit: str) -> Kind:
    """Keys so many places back; -1: the next one, 0: the query itself. The first rows, which have no choice, don't count."""
    counted = mask.diagonal(-by).clone()
    counted[: max(0, 2 - max(by, 0))] = False
    shares = weights.diagonal(-by, 1, 2)[:, counted]
    share = shares.mean(-1) if shares.shape[1] else weights.new_zeros(len(weights))
    if by < 1:
        return Kind("itself", "looks at itself", share) if by == 0 else Kind("next", f"looks at the next {unit}", share)
    return Kind(f"{COUNTS[by]} back", f"looks {COUNTS[by]} {unit}{'s' * (by > 1)} back", share)


def _near(weights: Tensor, mask: Tensor, unit: str) -> Kind:
    """What stands nearby, of the queries that see twice as much and more; none where an even head has nearly as much there."""
    seen = mask.sum(-1)
    counted, usual = seen > 2 * NEAR, 0.0
    total = weights.new_zeros(len(weights))
    for by in range(-NEAR, NEAR + 1):
        shares = weights.diagonal(-by, 1, 2)
        rows = slice(max(by, 0), max(by, 0) + shares.shape[1])
        total += shares[:, counted[rows]].sum(-1)
        usual += float((mask.diagonal(-by) / seen[rows].clamp(min=1))[counted[rows]].sum())
    share = torch.where(total >= BEYOND * usual, total / counted.sum().clamp(min=1), 0)
    return Kind("nearby", f"looks about itself, within {COUNTS[NEAR]} {unit}s", share)


def _even(weights: Tensor, mask: Tensor) -> Bool[Tensor, "h"]:
    """Is every row nearly what it is if all keys in sight have the same weight? Of rows that see several."""
    several = (mask.sum(-1) > 2).nonzero().flatten()
    if not len(several):
        return torch.zeros(len(weights), dtype=torch.bool)
    some = several[torch.linspace(0, len(several) - 1, min(SOME, len(several))).long()]
    shares = mask[some] / mask[some].sum(-1, keepdim=True)
    return (weights[:, some] - shares).abs().sum(-1).amax(-1) / 2 <= EVEN

"""Mask rules: which keys a query attends to.

A rule answers for one pair of positions: `q` and `k` are integer tensors that broadcast (one number each, or a column
and a row), `n` is the number of keys, `span` the chosen reach. Rules combine: `causal & documents`, `local | sinks`,
`full - causal` (without); the names of these are in `COMBINATIONS`.

The same function is also evaluated for whole blocks of pairs, with bounds instead of positions (maps/bounds.py), so
that masked blocks are never computed: write it with arithmetic, comparisons and `& | ~`.

To add one, write the function under `@rule(...)`, and add its name to `MASKS`, beside rules with its purpose. The
sidebar, the link, the gallery and most tests follow; two tests have a picture and the counted pairs of every mask
(docs/EXTENDING.md). The first line of its docstring is its help text. A rule is fast at any length if it is about `q -
k` or about blocks of `span` tokens; one that alternates with the position itself, like `k % 3`, has no whole blocks to
skip, and pages at 65,536 tokens wait for it.

>>> MASKS["window"].square(queries=4, keys=4, span=2).int()
tensor([[1, 0, 0, 0],
        [1, 1, 0, 0],
        [0, 1, 1, 0],
        [0, 0, 1, 1]], dtype=torch.int32)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Pairs = Callable[[Int[Tensor, "..."], Int[Tensor, "..."], int, int], Bool[Tensor, "..."]]

FIRST = 4  # StreamingLLM keeps four initial tokens (Xiao et al. 2023, section 3.2)
PAIRS = 2**20  # pairs of a square that are computed at once: 8 MB for the distances between positions
GAP = 2  # the dilated window has every second token
KEPT_BY = {  # the help of a combination, from the help of both masks
    "and": "A pair is kept if both masks keep it: {first}, and {second}",
    "or": "A pair is kept if either mask keeps it: {first}, or {second}",
    "without": "A pair is kept if the first mask keeps it and the second does not: {first}, except where {second}",
}
BASIC, LONG, JOINED = "Basic", "For long texts", "For several texts"  # purposes of rules


@dataclass(frozen=True)
class Rule:
    """A mask rule: `allows(q, k, n, span)` is True if the query at q attends to the key at k.

    `source` names the publication of the rule, `span` says what the span means to it ("" if it has none), `users` names
    models that use it, `shows` says in a few words what a query sees, and `purpose` what the rule is for (the last three ""
    for rules that were combined here).
    """

    allows: Pairs
    source: str
    span: str = ""
    users: str = ""
    shows: str = ""
    purpose: str = ""

    def __call__(self, q: Int[Tensor, ...], k: Int[Tensor, ...], n: int, span: int) -> Bool[Tensor, ...]:
        return self.allows(q, k, n, span)

    def __and__(self, other: Rule) -> Rule:
        return self._combine(other, torch.logical_and, "and")

    def __or__(self, other: Rule) -> Rule:
        return self._combine(other, torch.logical_or, "or")

    def __sub__(self, other: Rule) -> Rule:
        return self._combine(other, lambda mine, theirs: mine & ~theirs, "without")

    @property
    def help(self) -> str:
        """The help text: the first line of the rule's docstring."""
        return (self.allows.__doc__ or "").strip().splitlines()[0]

    def square(self, queries: int, keys: int, span: int) -> Bool[Tensor, "q k"]:
        """Returns the rule for every pair, as the boolean mask that attention takes (True takes part)."""
        rows, cols = torch.arange(queries)[:, None], torch.arange(keys)[None, :]
        if queries * keys <= PAIRS:
            return self(rows, cols, keys, span).expand(queries, keys)
        square = torch.empty(queries, keys, dtype=torch.bool)
        for part in rows.split(max(1, PAIRS // keys)):
            square[part[0] : part[-1] + 1] = self(part, cols, keys, span)
        return square

    def _combine(self, other: Rule, op: Callable[[Tensor, Tensor], Tensor], word: str) -> Rule:
        def allows(q, k, n, span):
            return op(self.allows(q, k, n, span), other.allows(q, k, n, span))

        first, second = (f"{each.help[0].lower()}{each.help[1:].rstrip('.')}" for each in (self, other))
        allows.__doc__ = f"{KEPT_BY[word].format(first=first, second=second)}."
        joined = ((getattr(self, part), getattr(other, part)) for part in ("source", "span"))
        return Rule(allows, *("; ".join(dict.fromkeys(filter(None, parts))) for parts in joined))


def rule(source: str, span: str = "", *, users: str, shows: str = "", purpose: str = "") -> Callable[[Pairs], Rule]:
    """Returns a decorator that makes a mask rule of a function, from the other fields of `Rule`."""
    return lambda allows: Rule(allows, source, span, users, shows, purpose)


@rule(
    "Vaswani et al. 2017, section 3.2.3 (encoder)",
    users="BERT, ViT, the encoders of T5 and Whisper",
    shows="hides nothing",
    purpose=BASIC,
)
def full(q, k, n, span):
    """A query attends to every key."""
    return (q >= 0) & (k >= 0)


@rule(
    "Vaswani et al. 2017, section 3.2.3 (decoder)",
    users="GPT-2, Llama 2, most decoders",
    shows="hides later words",
    purpose=BASIC,
)
def causal(q, k, n, span):
    """A query attends to itself and all earlier tokens."""
    return k <= q


@rule(
    "Jiang et al. 2023, Mistral 7B, section 2",
    "visible keys, the query itself included",
    users="Mistral 7B v0.1, layers of Gemma 2 and 3",
    shows="the last few words",
    purpose=LONG,
)
def window(q, k, n, span):
    """A query attends to itself and the tokens just before it."""
    return (k <= q) & (q - k < span)


@rule(
    "Beltagy et al. 2020, Longformer, section 3.1",
    "one more than the largest visible distance",
    users="ModernBERT, most layers",
    shows="neighbours on both sides",
    purpose=LONG,
)
def local(q, k, n, span):
    """A query attends to its neighbours on both sides."""
    return (q - k).abs() < span


@rule(
    "Raffel et al. 2020, T5, section 3.2.1",
    "length of the prefix",
    users="PaliGemma, GLM-130B",
    shows="a prompt, and earlier words",
    purpose=JOINED,
)
def prefix(q, k, n, span):
    """A query attends to the whole prefix, to itself and to earlier tokens."""
    return (k < span) | (k <= q)


@rule(
    "Krell et al. 2021, sequence packing",
    "length of a document",
    users="packed BERT, NaViT",
    shows="each text by itself",
    purpose=JOINED,
)
def documents(q, k, n, span):
    """A query attends to the tokens of its own document only."""
    return torch.div(q, span, rounding_mode="floor") == torch.div(k, span, rounding_mode="floor")


@rule(
    "Beltagy et al. 2020, Longformer, sections 3.1 and 4.1",
    "visible keys, the query itself included",
    users="Longformer as a decoder, some heads",
    shows="every second word nearby",
    purpose=LONG,
)
def dilated(q, k, n, span):
    """A query attends to itself and every second token before it, so the window reaches twice as far."""
    return (k <= q) & (q - k < GAP * span) & ((q - k) % GAP == 0)


@rule(
    "Child et al. 2019, Sparse Transformers, section 4.3",
    "stride: length of the window and step beyond it",
    users="Sparse Transformer for images and audio",
    shows="nearby and sampled words",
    purpose=LONG,
)
def strided(q, k, n, span):
    """A query attends to itself, the tokens just before it, and one per span farther back."""
    return (k <= q) & ((q - k < span) | ((q - k) % span == 0))


@rule(
    "Beltagy et al. 2020, Longformer, section 3.1",
    "one more than the largest visible distance",
    users="Longformer, ETC",
    shows="nearby words, and the first",
    purpose=LONG,
)
def global_first(q, k, n, span):
    """A query attends to its neighbours and the first token; the first token attends to all."""
    return ((q - k).abs() < span) | (q == 0) | (k == 0)


@rule(
    "Xiao et al. 2023, StreamingLLM, section 3.2",
    "keys in the window, the query itself included",
    users="StreamingLLM",
    shows="the last and first words",
    purpose=LONG,
)
def sinks(q, k, n, span):
    """A query attends to itself, the tokens just before it, and the first four tokens."""
    return (k <= q) & ((q - k < span) | (k < FIRST))


@rule(
    "PyTorch 2.13 documentation, torch.nn.MultiheadAttention: key_padding_mask",
    "number of padding tokens at the end",
    users="batches of unequal lengths",
    shows="hides filler at the end",
    purpose=JOINED,
)
def padding(q, k, n, span):
    """A query attends to every key except the padding at the end."""
    return (k < n - span) & (q >= 0)


MASKS: dict[str, Rule] = {
    "full": full,
    "causal": causal,
    "window": window,
    "local": local,
    "dilated": dilated,
    "strided": strided,
    "global": global_first,
    "sinks": sinks,
    "prefix": prefix,
    "documents": documents,
    "padding": padding,
}


def alone(first: Rule, second: Rule) -> Rule:
    """The mask by itself."""
    return first


def both(first: Rule, second: Rule) -> Rule:
    """Pairs that both masks keep."""
    return first & second


def either(first: Rule, second: Rule) -> Rule:
    """Pairs that one of the masks keeps, or both."""
    return first | second


def without(first: Rule, second: Rule) -> Rule:
    """Pairs that the mask keeps and the second does not."""
    return first - second


COMBINATIONS: dict[str, Callable[[Rule, Rule], Rule]] = {"none": alone, "and": both, "or": either, "without": without}

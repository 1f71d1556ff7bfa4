"""What a source provides: the inputs of one layer of heads, and its tokens."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import regex
from jaxtyping import Bool, Float
from torch import Tensor

from attention.config import Config
from attention.inputs import CLUSTER
from attention.masks import Rule
from attention.summary import summarize_fields

MARKS = {"\n": "↵", "\t": "⇥"}
VISIBLE = regex.compile(r"[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]")
ACCENT = regex.compile(r"\p{M}")
LONGEST = 80  # maximum number of characters of a token that are shown


class LackingError(LookupError):
    """Raised if a source lacks a part; the message names it, and what the source has."""


@dataclass(frozen=True)
class Source:
    """Where attention comes from: the kind of its provider, the provider's key for it, and a layer as its model counts it."""

    kind: str
    key: str = ""
    layer: int = 0

    @classmethod
    def of(cls, config: Config) -> Source:
        """Returns the source that a config names."""
        kind, _, key = config.source.partition(":")
        return cls(kind, key, config.layer)


@dataclass(frozen=True)
class Tokens:
    """`count` tokens, with their texts if they have any; `line` is False for the parts of a picture."""

    count: int
    texts: tuple[str, ...] = ()
    line: bool = True

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The texts for display: cut, and with visible spaces; () if the tokens have no texts."""
        return tuple(display_token(text) for text in self.texts)


def display_token(token: str) -> str:
    """Returns a readable token: spaces become marks, invisible characters their code points, and long tokens are cut.

    An accent without a letter is put on a circle, else it would be shown on the character before it.
    """
    if token.isspace():
        return _cut("".join(MARKS.get(sign, "␣") for sign in token.replace("\r\n", "\n")))
    if not VISIBLE.search(token):
        return _cut(" ".join(MARKS.get(sign, "␣") if sign.isspace() else f"U+{ord(sign):04X}" for sign in token))
    return _cut(f"◌{token}" if ACCENT.match(token) else token)


def _cut(text: str) -> str:
    """Returns at most LONGEST code points of a text, cut between characters if these are not too long themselves."""
    if len(text) <= LONGEST:
        return text
    ends = [found.end() for found in CLUSTER.finditer(text) if found.end() < LONGEST]
    return text[: ends[-1] if ends else LONGEST - 1] + "…"


@dataclass(frozen=True)
class Projections:
    """The four matrices: `query (c c)`, `key (c, kv_heads d)`, `value (c, kv_heads e)`, `output (heads e, c)`; x @ W."""

    query: Float[Tensor, "c c"]
    key: Float[Tensor, "c g"]
    value: Float[Tensor, "c v"]
    output: Float[Tensor, "w c"]

    __repr__ = summarize_fields


@dataclass(frozen=True, eq=False)
class LayerInputs:
    """The inputs of one layer: queries and keys or only their weights, and the other parts that its source has.

    `q (h q d)`, `k (h k d)`, `v (h k e)` (shared ones repeated for each head) include positions; `x (q c)` and
    `projections` are what they were computed from. `rule`: which pairs take part, as the rule that is set (masks.py),
    or a fixed boolean mask supplied by the source. The config determines how scores become weights, unless `weights`
    come without queries and keys: these are used unchanged. `provenance`: how the layer was made, in a sentence for the
    reader.
    """

    config: Config
    queries: Tokens
    keys: Tokens
    rule: Rule | Bool[Tensor, "q k"]
    provenance: str
    x: Float[Tensor, "q c"] | None = None
    projections: Projections | None = None
    q: Float[Tensor, "h q d"] | None = None
    k: Float[Tensor, "h k d"] | None = None
    v: Float[Tensor, "h k e"] | None = None
    weights: Float[Tensor, "h q k"] | None = None

    __repr__ = summarize_fields

    @property
    def has(self) -> frozenset[str]:
        """The names of the parts that exist."""
        return frozenset(name for name in PARTS if getattr(self, name) is not None)

    @property
    def square(self) -> Bool[Tensor, "q k"]:
        """Which pairs take part, as the boolean mask that attention takes."""
        if isinstance(self.rule, Tensor):
            return self.rule
        return self.rule.square(self.queries.count, self.keys.count, self.config.span)


PARTS = tuple(entry.name for entry in fields(LayerInputs) if entry.default is None)

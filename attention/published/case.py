"""What the rows are tried on: sequences, weights and a mask, and the reference on the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import Attention, scaled_dot_product_attention
from attention.config import Config
from attention.published.row import FORMS, Row
from attention.published.weights import Weights
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.scores import POSITIONS, SCALES, SOFTMAXES
from attention.sources.generated import WIDE, other, sequence
from attention.steps.values import matrices

CELLS = 2**20  # weights of one case, batch x heads x tokens x tokens, at the most
WORK = 2**28  # multiplications of its four maps at the most
MATRICES = 11  # as wide as the tokens, that a comparison holds at once: 8, and 11 where a row joins three (measured)
NEXT = 10_000  # seeds between one sequence of the batch and the next
Form = Callable[[Bool[Tensor, "b q k"], Tensor], Tensor | None] | None


@dataclass(frozen=True, eq=False)
class Case:
    """Inputs `query (b q c)`, `key value (b k c)`, weights, and a mask `(b q k)`, True where a key takes part."""

    query: Float[Tensor, "b q c"]
    key: Float[Tensor, "b k c"]
    value: Float[Tensor, "b k c"]
    weights: Weights
    mask: Bool[Tensor, "b q k"]

    @classmethod
    def of(cls, x: Float[Tensor, "b n c"], weights: Weights, mask: Bool[Tensor, "b n n"]) -> Case:
        """Sequences that attend to themselves, with weights built for their sizes."""
        return cls(x, x, x, replace(weights, batch=x.shape[0], tokens=x.shape[1]), mask)

    def inputs(self, row: Row, form: Form = None) -> dict[str, Tensor | Weights | None]:
        """The arguments of a row's functions by name; `form` gives the mask another form than the row's own."""
        given = {"query": self.query, "key": self.key, "value": self.value} if row.crosses else {"x": self.query}
        form = form or FORMS[row.mask]
        masked = {"mask": form(self.mask, self.query)} if form and FORMS[row.mask] else {}
        return {**given, "w": row.part(self.weights), **masked}


def case(config: Config, most: int | None = None, crosses: bool = False) -> Case:
    """A batch from the settings, in float64, so that what differs is a mistake and not rounding.

    Sequence 0 is that of the other pages; sequence i is drawn with the i-th next seed, and its last i keys (modulo the
    length) are padding. Where it `crosses`, keys and values are of another sequence and of a width of their own, if the
    settings ask for that. Past `CELLS` weights or much `WORK`, and to `most` where given, sequences are cut to their
    first tokens.
    """
    queries, keys = (min(n, most or n) for n in longest(config))
    config, keys = (config, keys) if crosses else (replace(config, keys=0, d_v=0), queries)
    return (_last if config.d_model <= WIDE else _case)(config, queries, keys)


def _case(config: Config, queries: int, keys: int) -> Case:
    with torch.no_grad():
        weights = Weights.split(*matrices(config).values(), config.heads, config.n_kv_heads).to(torch.float64)  # pyright: ignore[reportCallIssue]  four of them
        padded = torch.arange(keys) < keys - torch.arange(config.batch)[:, None] % keys
        mask = config.rule.square(queries, keys, config.span) & padded[:, None, :]
        x = _sequences(config, config.tokens, config.seed, config.text)[:, :queries]
        if not config.keys:
            return Case.of(x, weights, mask)
        y = _sequences(config, config.keys, *other(config))[:, :keys]
        return Case(x, y, y, replace(weights, batch=config.batch, tokens=queries), mask)


_last = tensor_lru_cache(1)(_case)  # as row after row is compared on it


def bytes_of(config: Config) -> int:
    """Bytes that comparing a row takes at its peak: its maps in float64, and once more in the layout that it asks for."""
    return MATRICES * torch.float64.itemsize * config.d_model * max(config.d_model, config.heads * config.d_v)


def longest(config: Config) -> tuple[int, int]:
    """Queries and keys of a case: those of the settings, or as many as there is time for, but one key and two queries."""
    by_cells = math.isqrt(CELLS // (config.batch * config.heads))
    width = max(config.d_model, config.heads * config.d_v)
    most = max(2, min(by_cells, WORK // (4 * config.batch * config.d_model * width)))
    return min(config.tokens, most), min(config.keys or config.tokens, most)


def _sequences(config: Config, n: int, seed: int, text: str) -> Float[Tensor, "b n c"]:
    """One sequence of n tokens for each of the batch, as a pass makes it from its seed."""
    return torch.stack([sequence(config, "x", n, seed + NEXT * i, text)["x"] for i in range(config.batch)]).double()


def left_out(config: Config) -> list[str]:
    """The settings that no published row knows, and that rows and reference leave out, in words."""
    plain = {"scale": next(iter(SCALES)), "temperature": 1.0, "softcap": 0.0, "softmax": next(iter(SOFTMAXES))}
    odd = [name for name, value in plain.items() if getattr(config, name) != value]
    late = POSITIONS[config.positions].to_heads or POSITIONS[config.positions].to_scores
    return [f"{name} {getattr(config, name)}" for name in odd] + ([f"{config.positions} positions"] if late else [])


def reference(row: Row, case: Case) -> Attention:
    """Attention as the row means it, by our own core: output (b q c), weights (b h q k)."""
    w = row.part(case.weights)
    h = len(w.query)
    q = rearrange(F.linear(case.query, *w.q_proj), "b q (h d) -> b h q d", h=h)
    k = rearrange(F.linear(case.key, *w.k_proj), "b k (h d) -> b h k d", h=h)
    v = rearrange(F.linear(case.value, *w.v_proj), "b k (h e) -> b h k e", h=h)
    context, weights = scaled_dot_product_attention(q, k, v, masks(row, case), scale=row.scale(q.shape[-1]))
    joined = rearrange(context, "b h q e -> b q (h e)")
    return Attention(F.linear(joined, *w.out_proj) if row.maps_back else joined, weights)


def masks(row: Row, case: Case) -> Bool[Tensor, "b 1 q k"] | None:
    """The mask that counts for this row: none, causal whatever the settings, or the case's."""
    if row.mask == "none":
        return None
    return (torch.ones_like(case.mask).tril() if row.mask == "causal" else case.mask)[:, None]

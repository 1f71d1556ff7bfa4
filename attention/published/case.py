"""The inputs on which rows are compared (sequences, weights and a mask), and the reference on the same inputs."""

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
from attention.operations.positions import POSITIONS
from attention.operations.scale import SCALES
from attention.operations.softmax import SOFTMAXES
from attention.published.row import FORMS, WINDOW, Row
from attention.published.weights import Weights
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.sources.generated import WIDE, other, sequence
from attention.steps.values import matrices

CELLS = 2**20  # largest number of weights of one case, batch x heads x tokens x tokens
WORK = 2**28  # largest number of multiplications of its four maps
MATRICES = 11  # of the width of the tokens, held at once in a comparison: 8, or 11 if a row joins three (measured)
NEXT = 10_000  # difference of the seeds of consecutive sequences of the batch
Form = Callable[[Bool[Tensor, "b q k"], Tensor], Tensor | None] | None


@dataclass(frozen=True, eq=False)
class Case:
    """Inputs `query (b q c)`, `key value (b k c)`, weights, and a mask `(b q k)`, True if a key takes part."""

    query: Float[Tensor, "b q c"]
    key: Float[Tensor, "b k c"]
    value: Float[Tensor, "b k c"]
    weights: Weights
    mask: Bool[Tensor, "b q k"]

    @classmethod
    def of(cls, x: Float[Tensor, "b n c"], weights: Weights, mask: Bool[Tensor, "b n n"]) -> Case:
        """Returns a case of self-attention, with weights built for the sizes of the sequences."""
        return cls(x, x, x, replace(weights, batch=x.shape[0], tokens=x.shape[1]), mask)

    def inputs(self, row: Row, form: Form = None) -> dict[str, Tensor | Weights | None]:
        """Returns the arguments of a row's functions by name; `form` replaces the row's own form of the mask."""
        given = {"query": self.query, "key": self.key, "value": self.value} if row.crosses else {"x": self.query}
        form = form or FORMS[row.mask]
        masked = {"mask": form(self.mask, self.query)} if form and FORMS[row.mask] else {}
        return {**given, "w": row.part(self.weights), **masked}


def case(config: Config, most: int | None = None, crosses: bool = False) -> Case:
    """Returns a batch from the settings in float64, so that a difference is a mistake and not rounding.

    Sequence 0 is that of the other pages; the seed of sequence i is larger by i times `NEXT`, and its last i keys (modulo the
    length) are padding. If it `crosses`, keys and values are of another sequence and of a width of their own, as far as the
    settings ask for that. Above `CELLS` weights or `WORK` multiplications, and to at most `most` tokens if given, sequences are
    cut to their first tokens.
    """
    queries, keys = (min(n, most or n) for n in longest(config))
    config, keys = (config, keys) if crosses else (replace(config, keys=0, d_v=0), queries)
    return (_last if config.d_model <= WIDE else _case)(config, queries, keys)


def _case(config: Config, queries: int, keys: int) -> Case:
    with torch.no_grad():
        found = matrices(replace(config, gate="off")).values()  # four, as no row has a gate
        weights = Weights.split(*found, config.heads, config.n_kv_heads).to(torch.float64)  # pyright: ignore[reportCallIssue]
        padded = torch.arange(keys) < keys - torch.arange(config.batch)[:, None] % keys
        mask = config.rule.square(queries, keys, config.span) & padded[:, None, :]
        x = _sequences(config, config.tokens, config.seed, config.text)[:, :queries]
        if not config.keys:
            return Case.of(x, weights, mask)
        y = _sequences(config, config.keys, *other(config))[:, :keys]
        return Case(x, y, y, replace(weights, batch=config.batch, tokens=queries), mask)


_last = tensor_lru_cache(1)(_case)  # because all rows are compared on the same case


def bytes_of(config: Config) -> int:
    """Peak bytes of comparing a row: its maps in float64, and again in the layout that it uses."""
    return MATRICES * torch.float64.itemsize * config.d_model * max(config.d_model, config.heads * config.d_v)


def longest(config: Config) -> tuple[int, int]:
    """Numbers of queries and keys of a case: those of the settings, limited by `CELLS` and `WORK` to no fewer than two."""
    by_cells = math.isqrt(CELLS // (config.batch * config.heads))
    width = max(config.d_model, config.heads * config.d_v)
    most = max(2, min(by_cells, WORK // (4 * config.batch * config.d_model * width)))
    return min(config.tokens, most), min(config.keys or config.tokens, most)


def _sequences(config: Config, n: int, seed: int, text: str) -> Float[Tensor, "b n c"]:
    """One sequence of n tokens for each of the batch, generated from its seed as in a pass."""
    return torch.stack([sequence(config, "x", n, seed + NEXT * i, text)["x"] for i in range(config.batch)]).double()


def left_out(config: Config) -> list[str]:
    """The settings that no published row supports, and that rows and reference ignore, in words."""
    plain = {
        "scale": next(iter(SCALES)),
        "temperature": 1.0,
        "softcap": 0.0,
        "qk_norm": "off",
        "query_scale": "none",
        "gate": "off",
        "forgetting": "off",
        "softmax": next(iter(SOFTMAXES)),
    }
    odd = [name for name, value in plain.items() if getattr(config, name) != value]
    late = POSITIONS[config.positions].to_heads or POSITIONS[config.positions].to_scores
    return [f"{name} {getattr(config, name)}" for name in odd] + ([f"{config.positions} positions"] if late else [])


def reference(row: Row, case: Case) -> Attention:
    """Attention as defined by the corrected row, computed by the core: output (b q c), weights (b h q k)."""
    w = row.part(case.weights)
    h = len(w.query)
    q = rearrange(F.linear(case.query, *w.q_proj), "b q (h d) -> b h q d", h=h)
    k = rearrange(F.linear(case.key, *w.k_proj), "b k (h d) -> b h k d", h=h)
    v = rearrange(F.linear(case.value, *w.v_proj), "b k (h e) -> b h k e", h=h)
    context, weights = scaled_dot_product_attention(q, k, v, masks(row, case), scale=row.scale(q.shape[-1]))
    joined = rearrange(context, "b h q e -> b q (h e)")
    return Attention(F.linear(joined, *w.out_proj) if row.maps_back else joined, weights)


def masks(row: Row, case: Case) -> Bool[Tensor, "b 1 q k"] | None:
    """The mask that applies to this row: None, causal or a window independent of the settings, or the case's."""
    if row.mask == "none":
        return None
    causal = torch.ones_like(case.mask).tril()
    own = {"causal": causal, "window": causal.triu(1 - WINDOW)}
    return own.get(row.mask, case.mask)[:, None]

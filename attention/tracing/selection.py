"""Which part of a watched model is kept: all of it, or some layers, heads and queries, in a chosen dtype."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention.tracing.call import Call
from attention.tracing.sdpa_call import SdpaCall


@dataclass(frozen=True)
class Choice:
    """`layers` as the model numbers them, `heads` of each, and the range of positions of `queries`; None for all."""

    layers: frozenset[int] | None = None
    heads: tuple[int, ...] | None = None
    queries: range | None = None
    dtype: torch.dtype | None = None

    def of(self, sdpa: SdpaCall) -> SdpaCall:
        """A call with these heads alone; raises ValueError for a head that does not exist."""
        if self.heads is None:
            return sdpa
        many = sdpa.q.shape[1]
        if wrong := [head for head in self.heads if not 0 <= head < many]:
            raise ValueError(f"heads has {wrong[0]}; there are {many} heads, counted from 0")
        heads, share = torch.tensor(self.heads), many // sdpa.k.shape[1]
        groups = heads // share
        whole = groups.unique().repeat_interleave(share)
        groups = groups.unique() if torch.equal(groups, whole) else groups
        sinks = None if sdpa.sinks is None else sdpa.sinks[:, heads]
        mask = sdpa.mask if sdpa.mask is None or sdpa.mask.shape[1] == 1 else sdpa.mask[:, heads]
        return replace(sdpa, q=sdpa.q[:, heads], k=sdpa.k[:, groups], v=sdpa.v[:, groups], sinks=sinks, mask=mask)

    def convert(self, sdpa: SdpaCall) -> tuple[SdpaCall, float]:
        """A call in the chosen dtype, and the largest difference that this makes to a weight."""
        if self.dtype is None or self.dtype == sdpa.q.dtype:
            return sdpa, 0.0
        narrow = replace(sdpa, **{name: getattr(sdpa, name).to(self.dtype) for name in "qkv"})
        return narrow, float((_weights(sdpa) - _weights(narrow)).abs().max())

    def rows(self, call: Call) -> Call:
        """The chosen queries, and keys up to the last one visible to any; raises ValueError without such queries."""
        if self.queries is None:
            return call
        start, stop = (min(max(at - call.first, 0), call.q.shape[1]) for at in (self.queries.start, self.queries.stop))
        if start == stop:
            end = call.first + call.q.shape[1]
            raise ValueError(
                f"tokens={self.queries.start} to {self.queries.stop - 1}: there are queries {call.first} to {end - 1}"
            )
        mask = None if call.mask is None else call.mask[:, start:stop]
        sinks = None if call.sinks is None else call.sinks[:, start:stop]
        short = replace(call, q=call.q[:, start:stop].clone(), mask=mask, sinks=sinks, first=call.first + start)
        seen = short.square
        keys = call.k.shape[1] if seen is None else int(seen.any(0).nonzero().max()) + 1 if seen.any() else 1
        k, v = call.k[:, :keys].clone(), call.v[:, :keys].clone()
        return replace(short, k=k, v=v, mask=None if mask is None else mask[..., :keys].clone())


def make_choice(
    layers: Iterable[int] | None,
    heads: Iterable[int] | None,
    tokens: range | slice | int | None,
    dtype: torch.dtype | None,
) -> Choice:
    """Converts the arguments of `watch`; raises ValueError for invalid ones. `tokens`: a count, or a range."""
    if isinstance(tokens, int):
        tokens = range(tokens)
    if isinstance(tokens, slice):
        tokens = range(tokens.start or 0, 2**62 if tokens.stop is None else tokens.stop, tokens.step or 1)
    if tokens is not None and (tokens.step != 1 or not 0 <= tokens.start < tokens.stop):
        raise ValueError(
            f"tokens={tokens}: give neighbouring positions from 0 on, as range(100, 140), or how many of the first."
        )
    if dtype is not None and not dtype.is_floating_point:
        raise ValueError(f"dtype={dtype} is not a floating type.")
    return Choice(
        None if layers is None else frozenset(layers),
        None if heads is None else tuple(sorted(set(heads))),
        tokens,
        dtype,
    )


def _weights(sdpa: SdpaCall) -> Tensor:
    """The weights of the first sequence of a call."""
    mask, sinks = (None if part is None else part[0] for part in (sdpa.mask, sdpa.sinks))
    q, k, v = sdpa.q[0], sdpa.k[0], sdpa.v[0]
    return Call(q, k, v, sdpa.scale, mask, sdpa.softcap, sinks, score_dtype=sdpa.score_dtype).weights()

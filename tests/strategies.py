"""What hypothesis draws from: configs of any kind, tensors that go into attention, masks.

`configs` reads `KNOBS`, so that a new knob is drawn from the day it exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from attention.codec import EDITIONS
from attention.config import Config
from attention.fitting import coerce
from attention.knobs import GENERATED, KNOBS

SMALL = {
    "tokens": 24,
    "d_model": 48,
    "text": 40,
    "query": 24,
    "span": 30,
    "keys": 20,
    "d_v": 12,
}  # greatest values of drawn configs
LETTERS = "abcXYZ \n\t\u200d019_-'’.,;&=+%#?/\\<>\"·éßİλж中́🙂👩"  # printable, and some of it trouble in a link

seeds = st.integers(0, 2**31)
sizes = st.integers(1, 7)


def values(name: str, high: float | None = None) -> st.SearchStrategy[Any]:
    """Any value that the knob allows by itself, up to `high` where it is given."""
    knob = KNOBS[name]
    if knob.choices:
        return st.sampled_from(knob.choices)
    top = knob.high if high is None else high
    if knob.form:
        return st.just("") | st.tuples(st.integers(0, 30), st.integers(0, 30)).map("{0[0]}-{0[1]}".format)
    if knob.low is None:
        return st.text(LETTERS, max_size=int(top or 0))
    if isinstance(knob.low, int):
        return st.integers(knob.low, int(top))
    return st.floats(knob.low, top, allow_subnormal=False)


@st.composite
def configs(draw: st.DrawFn, **fixed: Any) -> Config:
    """Any valid config of a small size; `fixed` knobs have the value given, or the nearest that fits the others.

    Its source is made from the knobs, unless `source` is among them.
    """
    fixed = {"source": GENERATED} | fixed
    drawn = {name: draw(values(name, SMALL.get(name))) for name in KNOBS if name not in fixed}
    return Config(**coerce(drawn | fixed))


def unversioned_config(**values: Any) -> Config:
    """What a link of these values opens that names no edition of the defaults: what it opened at first."""
    return Config(**{**EDITIONS[0], **values})


def newest(query: Mapping[str, str]) -> dict[str, str]:
    """The entries of a link as it is shared now: with the edition that its defaults are of, where it says anything."""
    return {"v": str(len(EDITIONS)), **query} if query else {}


def query_without_edition(query: Mapping[str, Any]) -> dict[str, Any]:
    """What a link says, apart from the edition."""
    return {name: value for name, value in dict(query).items() if name != "v"}


def normal(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal noise of this shape, the same for the same seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@st.composite
def broadcast(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to this one: some axes of one, some leading axes left out."""
    kept = [size if draw(st.booleans()) else 1 for size in shape]
    return tuple(kept[draw(st.integers(0, len(kept))) :])


@st.composite
def masks(draw: st.DrawFn, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor | None:
    """None, a boolean mask or an added one (some cells minus infinity) that broadcasts to the shape of the scores."""
    kind = draw(st.sampled_from(["none", "bool", "float"]))
    if kind == "none":
        return None
    random = torch.Generator().manual_seed(draw(seeds))
    some = draw(broadcast(shape))
    seen = torch.rand(some, generator=random) < draw(st.sampled_from([0.0, 0.2, 0.8, 1.0]))
    added = torch.randn(some, generator=random).to(dtype)
    return seen if kind == "bool" else added.masked_fill(~seen, -torch.inf)

"""The sizes and choices of the pass of a config, as the operations read them."""

from __future__ import annotations

from functools import lru_cache

from attention.config import Config
from attention.fitting import shape
from attention.masks import MASKS
from attention.operations.gate import ELEMENTWISE, OFF
from attention.operations.operation import Spec
from attention.operations.rotary import ROTARY_KNOBS
from attention.operations.softmax import SOFTMAXES
from attention.sources.providers import has

CHOICES = (
    "scale",
    "temperature",
    "softcap",
    "positions",
    "softmax",
    "qk_norm",
    "query_scale",
    "gate",
    "forgetting",
    "forget_bias",
    "seed",
    *ROTARY_KNOBS,
)  # knobs that operations read


def lengths(config: Config) -> dict[str, int]:
    """Returns the length of every axis: b q k c h g s d e u, as in the docstring of the package."""
    d, sizes = config.d_head, shape(config.source)
    e = config.d_v or (sizes.d_v if sizes else 0) or d
    halves = SOFTMAXES[config.softmax].halves
    found = {"b": 1, "q": config.tokens, "k": config.keys or config.n_keys, "c": config.d_model}
    found |= {"h": config.heads, "g": config.n_kv_heads, "d": d // halves, "e": e}
    found |= {"s": halves} if halves > 1 else {}
    return found if config.gate == OFF else found | {"u": e if config.gate == ELEMENTWISE else 1}


@lru_cache(maxsize=64)  # called whenever a matrix is drawn, counted or highlighted
def spec_of(config: Config) -> Spec:
    """Returns the spec of a config."""
    sizes = shape(config.source)
    return Spec(
        lengths(config),
        has(config.source),
        **{name: getattr(config, name) for name in CHOICES},
        sinks=config.sinks,
        crosses=bool(config.keys),
        masks=config.rule is not MASKS["full"] or bool(sizes and sizes.square),
        mixes=config.projections not in ("constructed", "identity") or bool(config.d_v),
    )

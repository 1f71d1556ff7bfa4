"""Config: every setting that determines a picture.

Its knobs are in `knobs.py`, what changes the numbers (`Numbers`) apart from what only changes the view (`View`). How values
must fit together is in `fitting.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from attention.fitting import (
    MASK_KNOBS,
    check,
    coerce,
    defaults,
    ends,
    fixed_by_source,
    shape,
    source_defaults,
    why_invalid,
)
from attention.knobs import DEFAULTS, KNOBS, LAST_QUERY, LINEAR_MAX_TOKENS, MAX_TRACE_TOKENS, MAX_WEIGHTS, Numbers, View
from attention.masks import COMBINATIONS, MASKS, Rule
from attention.operations.differential import NAME as DIFFERENTIAL
from attention.operations.normalisers import Normaliser
from attention.operations.scale import SCALES
from attention.operations.softmax import SOFTMAXES, head_sinks, head_softmax
from attention.settings import ConfigError
from attention.summary import short


@dataclass(frozen=True, kw_only=True)
class Config(View, Numbers):
    """One valid setting of every knob, frozen and hashable. Raises `ConfigError` for any other values.

    `heads` divide `d_model`, `kv_heads` (0: one for each head) divide `heads`, `head` is one of the heads, `query` one
    of the tokens (-1: the last), and tokens x d_model is at most 33,554,432. Knobs that a `source` determines have the
    values of that source.

    >>> config = attention.Config(tokens=9, heads=2, d_model=64, mask="window", span=3)
    >>> config.d_head
    32
    >>> config
    Config(tokens=9, heads=2, d_model=64, mask='window', span=3)
    """

    def __post_init__(self) -> None:
        for name in ("source", "layer"):
            check(name, getattr(self, name))
        known = fixed_by_source(self.source)
        for name in KNOBS:
            if name not in known or getattr(self, name) != known[name]:
                check(name, getattr(self, name))
        for name, value in coerce(vars(self)).items():
            if value != getattr(self, name):
                raise ConfigError(_misfit(self, name, value))

    def __repr__(self) -> str:
        """Returns the call that creates the config, without knobs at their defaults."""
        chosen = (f"{name}={value!r}" for name, value in vars(self).items() if value != DEFAULTS[name])
        return f"Config({', '.join(chosen)})"

    @classmethod
    def of(cls, source: str, **values: Any) -> Config:
        """Returns the config of a source with the source's own defaults, except for these knobs, as a link with these alone."""
        return cls(**{**defaults(source, values.get("layer")), "source": source, **values})

    def of_layer(self, number: int) -> Config:
        """Returns the config of another layer of its source. Knobs at a default of this layer follow that of the other."""
        usual, other = (source_defaults(self.source, layer) for layer in (self.layer, number))
        values = {name: other[name] for name in MASK_KNOBS & other.keys() if getattr(self, name) == usual[name]}
        return Config(**coerce(vars(self) | values | {"layer": number}))

    @property
    def d_head(self) -> int:
        """The number of channels of one head."""
        return self.d_model // self.heads

    @property
    def logit_scale(self) -> float:
        """The factor of dot products: the scale divided by the temperature."""
        return SCALES[self.scale](self.score_width) / self.temperature

    @property
    def score_width(self) -> int:
        """The number of channels of one dot product: those of a head, or of half of it in differential attention."""
        return self.d_head // SOFTMAXES[self.softmax].halves

    @property
    def sinks(self) -> tuple[float, ...]:
        """The parameter of each head's softmax.

        It is what is added to the denominator, as the logit of one more key, minus infinity if nothing is; sinks that a
        source has learned are shifted by `sink_logit`. For a sigmoid it is subtracted from every logit, for differential
        attention it is lambda.
        """
        if self.softmax == DIFFERENTIAL:
            return (self.diff_lambda,) * self.heads
        sizes = shape(self.source)
        if sizes and sizes.sinks and SOFTMAXES[self.softmax].learned:
            return tuple(self.sink_logit + each for each in sizes.sinks[sizes.numbers.index(self.layer)])
        return head_sinks(self.softmax, self.sink_logit, self.sigmoid_length, self.seed, self.heads)

    @property
    def head_softmax(self) -> Normaliser:
        """The softmax of the selected head."""
        return head_softmax(self.softmax, self.sinks[self.head])

    @property
    def n_kv_heads(self) -> int:
        """The number of heads with keys and values of their own: `kv_heads`, or `heads` if it is 0."""
        return self.kv_heads or self.heads

    @property
    def rule(self) -> Rule:
        """The rule for which pairs take part: the mask, combined with the second one if requested."""
        return COMBINATIONS[self.combine](MASKS[self.mask], MASKS[self.second])

    @property
    def rule_name(self) -> str:
        """The rule in a few words: `window`, or `causal and documents`."""
        return self.mask if self.combine == "none" else f"{self.mask} {self.combine} {self.second}"

    @property
    def query_index(self) -> int:
        """The position of the selected query, counted from 0."""
        return self.query if self.query != LAST_QUERY else self.tokens - 1

    @property
    def color_scale(self) -> str:
        """The colour scale in use: the chosen one, or the one for the sequence length."""
        return self.colors if self.colors != "auto" else "linear" if self.tokens <= LINEAR_MAX_TOKENS else "times even"

    @property
    def color_reason(self) -> str:
        """Why that scale is in use if it was not chosen, as in `auto: linear up to 32 tokens`; else empty."""
        side = "up to" if self.tokens <= LINEAR_MAX_TOKENS else "beyond"
        scale = KNOBS["colors"].names.get(self.color_scale, self.color_scale)
        return f"auto: {scale} {side} {LINEAR_MAX_TOKENS} tokens" if self.colors == "auto" else ""

    @property
    def window(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The ranges of queries and keys that are shown enlarged, each as its first token and the one after its last."""
        return ends(self.rows, self.tokens), ends(self.cols, self.n_keys)

    @property
    def is_cross(self) -> bool:
        """Whether the keys of the source are those of another sequence."""
        sizes = shape(self.source)
        return bool(sizes and sizes.keys)

    @property
    def n_keys(self) -> int:
        """The number of keys: the tokens, or those of another sequence if the source has one."""
        sizes = shape(self.source)
        return (sizes.keys if sizes else 0) or self.tokens

    @property
    def truncated(self) -> Config:
        """The config of as many of its tokens as are shown weight by weight: itself, unless it is long."""
        sizes = shape(self.source)
        if sizes and not sizes.long:
            return self
        tokens = min(self.tokens, MAX_TRACE_TOKENS, math.isqrt(MAX_WEIGHTS // self.heads))
        return self if tokens == self.tokens else Config(**coerce(vars(self) | {"tokens": tokens}))

    def for_page(self, page: str = "") -> Config:
        """Returns the config with the knobs at their defaults that change no number on a page: the key of caches.

        These are the `View`, and the knobs of other pages.
        """
        return _for_page(self, page)


@lru_cache(maxsize=256)  # called several times per picture, and creating a config validates it
def _for_page(config: Config, page: str) -> Config:
    idle = (name for name, knob in KNOBS.items() if knob.about != "tensors" or (knob.pages and page not in knob.pages))
    return replace(config, **{name: DEFAULTS[name] for name in idle})


def _misfit(config: Config, name: str, nearest: Any) -> str:
    return f"{name}={short(getattr(config, name))}: {why_invalid(vars(config), name)}. The nearest that fits is {nearest!r}."

"""The stops of sliders whose range depends on other knobs."""

from __future__ import annotations

import math
from functools import lru_cache

from attention.config import Config
from attention.fitting import most_tokens, shape
from attention.knobs import KNOBS, MAX_TOKENS
from attention.ui.controls.kind import Stops

EVERY, STOPS = 128, 16  # every length up to this is a stop; number of stops per octave beyond


def ends(config: Config, last: Config, before: Stops | None = None) -> Stops:
    """Every stop of the sequence length; minimum, maximum and step of the other sliders.

    `before`: the stops for the config `last`.

    Streamlit treats a slider with other stops as another widget, and loses what the user does to the old one while the
    new one is on its way. No slider therefore changes its stops because it was moved, unless its value is not among them.
    """
    h, end = config.heads, max(config.tokens, config.span)
    widest, most = int(KNOBS["d_model"].high), longest(config)  # pyright: ignore[reportArgumentType]  it has a bound
    tokens, span = (before["tokens"], before["span"]) if before else ((0,), (1, 0, 1))
    return {
        "tokens": tokens if config.tokens in tokens and tokens[-1] == most else lengths(config.tokens, most),
        "d_model": (h, max(widest // h * h, config.d_model), h),
        "span": span if config.tokens == last.tokens and end <= span[1] else (1, end, 1),
    }


def longest(config: Config) -> int:
    """The maximum number of tokens of a source that may have several lengths, under the softmax that is set."""
    sizes = shape(config.source)
    return MAX_TOKENS if sizes and not sizes.long else most_tokens(config.source, config.softmax)


@lru_cache(maxsize=64)
def lengths(tokens: int, most: int = MAX_TOKENS) -> tuple[int, ...]:
    """The stops of the sequence length: every length up to 128, then 16 per octave; `tokens` and `most` are included."""
    octaves = range(int(math.log2(EVERY)), int(math.log2(MAX_TOKENS)))
    coarse = {2**octave + step * 2**octave // STOPS for octave in octaves for step in range(STOPS)}
    return tuple(stop for stop in sorted({*range(2, EVERY), *coarse, most, tokens}) if stop <= most)

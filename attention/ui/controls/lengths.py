"""The stops of sliders whose ends depend on other knobs."""

from __future__ import annotations

import math
from functools import lru_cache

from attention.config import KNOBS, MAX_TOKENS, Config, shape
from attention.ui.controls.kind import Stops

EVERY, STOPS = 128, 16  # up to which length every one is a stop of its slider, and how many an octave beyond


def ends(config: Config, last: Config, before: Stops | None = None) -> Stops:
    """Every stop of the sequence length; least, greatest and step of the others. What was `before`, for the `last` config.

    To Streamlit a slider with other stops is another widget, and what somebody does to the one before, while its
    successor is on its way, is lost. So none changes by its own move, other than to a value that it doesn't hold.
    """
    h, end = config.heads, max(config.tokens, config.span)
    widest, most = int(KNOBS["d_model"].high), longest(config.source)  # pyright: ignore[reportArgumentType]  it has a bound
    tokens, span = (before["tokens"], before["span"]) if before else ((0,), (1, 0, 1))
    return {
        "tokens": tokens if config.tokens in tokens and tokens[-1] == most else lengths(config.tokens, most),
        "d_model": (h, max(widest // h * h, config.d_model), h),
        "span": span if config.tokens == last.tokens and end <= span[1] else (1, end, 1),
    }


def longest(source: str) -> int:
    """The most tokens that there are of a source."""
    sizes = shape(source)
    return sizes.tokens if sizes and sizes.long else MAX_TOKENS


@lru_cache(maxsize=64)
def lengths(tokens: int, most: int = MAX_TOKENS) -> tuple[int, ...]:
    """The stops of the sequence length: every one up to 128, then sixteen an octave, this one and the last."""
    octaves = range(int(math.log2(EVERY)), int(math.log2(MAX_TOKENS)))
    coarse = {2**octave + step * 2**octave // STOPS for octave in octaves for step in range(STOPS)}
    return tuple(stop for stop in sorted({*range(2, EVERY), *coarse, most, tokens}) if stop <= most)

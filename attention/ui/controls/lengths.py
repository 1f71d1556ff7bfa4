"""The stops of sliders whose ends depend on other knobs."""

from __future__ import annotations

import math
from functools import lru_cache

from attention.config import KNOBS, LONGEST, Config
from attention.ui.controls.kind import Stops

EVERY, STOPS = 128, 16  # up to which length every one is a stop of its slider, and how many an octave beyond


def ends(config: Config, last: Config, before: Stops | None = None) -> Stops:
    """Every stop of the sequence length; least, greatest and step of the others. What was `before`, for the `last` config.

    To Streamlit a slider with other stops is another widget, and what somebody does to the one before, while its
    successor is on its way, is lost. So none changes by its own move, other than to a value that it doesn't hold.
    """
    h, end = config.heads, max(config.tokens, config.span)
    tokens, span = (before["tokens"], before["span"]) if before else ((), (1, 0, 1))
    return {
        "tokens": tokens if config.tokens in tokens else lengths(config.tokens),
        "d_model": (h, int(KNOBS["d_model"].high) // h * h, h),  # pyright: ignore[reportArgumentType]  it has a bound
        "span": span if config.tokens == last.tokens and end <= span[1] else (1, end, 1),
    }


@lru_cache(maxsize=64)
def lengths(tokens: int) -> tuple[int, ...]:
    """The stops of the sequence length: every one up to 128, then sixteen an octave, and this one."""
    octaves = range(int(math.log2(EVERY)), int(math.log2(LONGEST)))
    coarse = {2**octave + step * 2**octave // STOPS for octave in octaves for step in range(STOPS)}
    return tuple(sorted({*range(2, EVERY), *coarse, LONGEST, tokens}))

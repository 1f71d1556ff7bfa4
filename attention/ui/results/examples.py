"""The thumbnails of the examples."""

from __future__ import annotations

import numpy as np
from jaxtyping import UInt8

from attention.charts.thumbnail import lines, png, thumbnail
from attention.config import Config
from attention.lessons.cards import find_card
from attention.runtime.executors import Task
from attention.story.settings import Story
from attention.timing import cpu_gpu_series
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.trace import Trace
from attention.training.recipe import Recipe
from attention.ui.results.heads import after_trace
from attention.ui.results.shared import LOW_PRIORITY, RESULTS
from attention.ui.results.timing import shipped_timings

POWER = 0.75  # of a relative weight


@RESULTS
def picture(name: str) -> Task[bytes]:
    """The selected head of a card, up to the number of tokens of a trace; or its lines of timings."""
    card = find_card(name)
    assert card is not None, name
    config = card.example.config
    if isinstance(config, CpuGpuSettings):
        return LOW_PRIORITY.submit(_times, config)
    if isinstance(config, Story):
        config = config.config
    if isinstance(config, Recipe):
        config = Config.of("trained:induction", layer=1, head=2, training_step=config.at)
    assert isinstance(config, Config), name
    signed = config.head_softmax.signed
    return after_trace(config.truncated, lambda found: png(_head(found, config.head, signed)), LOW_PRIORITY)


def _head(found: Trace, head: int, signed: bool) -> UInt8[np.ndarray, "p r 4"]:
    """The pixels of a head relative to its largest weight, as heads with small weights would be pale beside others."""
    weights = found.weights[head]
    return thumbnail(weights / weights.abs().max().clamp(min=1e-9), found.mask, signed, POWER)


def _times(versus: CpuGpuSettings) -> bytes:
    """The CPU line of the shipped timings and the GPU lines, the latter with and without transfer."""
    cpu, gpus = cpu_gpu_series.cpu(versus, shipped_timings()), cpu_gpu_series.gpus(versus, [])
    timed = [(cpu, False), *((gpu, moved) for gpu in gpus for moved in (True, False))]
    return png(
        lines(
            [
                [
                    (point.length, point.seconds + point.moved * moved)
                    for point in rival.points
                    if point.seconds and point.is_stable
                ]
                for rival, moved in timed
                if rival
            ]
        )
    )

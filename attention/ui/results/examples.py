"""The thumbnails of the examples."""

from __future__ import annotations

from attention.charts.thumbnail import lines, png, thumbnail
from attention.config import Config
from attention.lessons.cards import find_card
from attention.runtime.executors import Task
from attention.story.settings import Story
from attention.timing import cpu_gpu_series
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.training.recipe import Recipe
from attention.ui.results.heads import after_trace
from attention.ui.results.shared import LOW_PRIORITY, RESULTS
from attention.ui.results.timing import shipped_timings


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
    return after_trace(
        config.truncated, lambda found: png(thumbnail(found.weights[config.head], found.mask, signed)), LOW_PRIORITY
    )


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

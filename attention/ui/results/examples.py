"""The thumbnails of the examples."""

from __future__ import annotations

from attention.charts.thumbnail import lines, png, thumbnail
from attention.config import Config
from attention.lessons.cards import gallery
from attention.runtime.executors import Task
from attention.timing import cpu_gpu_series
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.ui.results.heads import after_trace
from attention.ui.results.shared import LOW_PRIORITY, RESULTS
from attention.ui.results.timing import shipped_timings


@RESULTS
def picture(name: str) -> Task[bytes]:
    """The selected head of an example, up to the number of tokens of a trace; or its lines of timings."""
    config = gallery()[name].example.config
    if isinstance(config, CpuGpuSettings):
        return LOW_PRIORITY.submit(_times, config)
    assert isinstance(config, Config)  # stories and trainings are steps of the path, which have no thumbnails
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

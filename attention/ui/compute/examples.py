"""The small pictures of the examples."""

from __future__ import annotations

from attention.charts.thumbnail import lines, png, thumbnail
from attention.config import Config
from attention.examples import EXAMPLES
from attention.machine.lanes import Work
from attention.timing import rivals
from attention.timing.versus import Versus
from attention.ui.compute.heads import traced
from attention.ui.compute.owner import KEPT, LATER
from attention.ui.compute.timing import shipped


@KEPT
def picture(name: str) -> Work[bytes]:
    """The head in focus of an example, of as many of its tokens as are computed weight by weight; or its lines of times."""
    config = EXAMPLES[name].config
    if not isinstance(config, Config):
        return LATER.submit(_times, config)
    return traced(config.traceable.tensors, lambda found: png(thumbnail(found.weights[config.head], found.mask)), LATER)


def _times(versus: Versus) -> bytes:
    """The CPU's line of what ships and the GPUs', these with and without the way there and back."""
    cpu, gpus = rivals.cpu(versus, shipped()), rivals.gpus(versus, [])
    timed = [(cpu, False), *((gpu, moved) for gpu in gpus for moved in (True, False))]
    return png(
        lines(
            [
                [
                    (point.length, point.seconds + point.moved * moved)
                    for point in rival.points
                    if point.seconds and point.settled
                ]
                for rival, moved in timed
                if rival
            ]
        )
    )

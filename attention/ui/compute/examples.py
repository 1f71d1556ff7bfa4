"""The small pictures of the examples."""

from __future__ import annotations

from attention.charts.thumbnail import png, thumbnail
from attention.examples import EXAMPLES
from attention.machine.lanes import Work
from attention.ui.compute.heads import traced
from attention.ui.compute.owner import KEPT, LATER


@KEPT
def picture(name: str) -> Work[bytes]:
    """The head in focus of an example, of as many of its tokens as are computed weight by weight."""
    config = EXAMPLES[name].config
    return traced(config.traceable.tensors, lambda found: png(thumbnail(found.weights[config.head], found.mask)), LATER)

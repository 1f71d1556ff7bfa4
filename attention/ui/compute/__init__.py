"""Calls into the core whose results are kept: a file a page, each function named for what it gives.

`owner` has the lanes in which everything is computed and `KEPT`, which bounds what is kept by its bytes. A function that hands
work to a lane and is decorated with `KEPT` is called for its result, or begun (`heads.cells.begin(config)`) by whoever does not
want to wait yet. Views write `from attention.ui import compute` and `compute.heads.trace(config)`.
"""

from attention.ui.compute import brought, examples, heads, long, masks, published, softmax, steps, timing, training

__all__ = ["brought", "examples", "heads", "long", "masks", "published", "softmax", "steps", "timing", "training"]

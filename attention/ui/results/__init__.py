"""Cached calls into the core: one file per page, each function named after what it returns.

`shared` has the executors that compute everything, and `RESULTS`, the result cache, bounded in bytes. A function that submits a
task and is decorated with `RESULTS` returns its result when it is called; `begin` starts it without waiting
(`heads.cells.begin(config)`). Views write `from attention.ui import results` and `results.heads.trace(config)`.
"""

from attention.ui.results import (
    examples,
    head_surveys,
    heads,
    layers,
    long,
    long_differences,
    masks,
    models,
    published,
    sharing,
    softmax,
    steps,
    timing,
    training,
    uploads,
)

__all__ = [
    "examples",
    "head_surveys",
    "heads",
    "layers",
    "long",
    "long_differences",
    "masks",
    "models",
    "published",
    "sharing",
    "softmax",
    "steps",
    "timing",
    "training",
    "uploads",
]

"""Programs of recorded or uploaded attention: they read the downloaded file and compute the weights.

A test runs them for every such source and compares the weights. They need torch and NumPy, long ones also this package.
"""

from __future__ import annotations

import textwrap

from attention.config import Config
from attention.fitting import shape
from attention.sources.spec import lengths
from attention.steps.program import condition, lines, options

FILE = "attention.npz"  # the name of the downloaded file
READ = f"""\
import numpy as np
import torch

data = np.load("{FILE}")  # under Downloads on Heads
"""


def source(config: Config) -> str:
    """Returns the program for a source with queries and keys, or weights alone; it defines `weights (heads queries n)`."""
    sizes = shape(config.source)
    assert sizes is not None
    if not sizes.has.issuperset("qk"):
        return READ + 'weights = torch.from_numpy(data["weights"])  # as given, without queries and keys\n'
    span = {"span": config.span} if "span" in condition(config) else {}
    named = "".join(f"{name} = {value}\n" for name, value in span.items())
    vectors = 'Q, K = torch.from_numpy(data["q"]), torch.from_numpy(data["k"])\n'
    vectors += "(heads, queries, d_head), n = Q.shape, K.shape[1]\n"
    vectors += 'V = torch.from_numpy(data["v"])\n' * ("v" in sizes.has)
    own = {"mask_code": 'torch.from_numpy(data["mask"])'} if sizes.square else {}
    repeated = lengths(config) | {"g": config.heads}
    return "\n".join([READ, named + vectors, lines(config, "scores", queries="queries", sizes=repeated, **own)])


def long_source(config: Config, side: int) -> str:
    """Returns the program for a config too long for all weights at once; it ends with `maps`, of `side` pixels per side."""
    return READ + textwrap.dedent(f"""\
        query, key = (torch.from_numpy(data[name]) for name in "qk")

        from attention import head_maps
        from attention.masks import COMBINATIONS, MASKS

        rule = COMBINATIONS["{config.combine}"](MASKS["{config.mask}"], MASKS["{config.second}"])
        maps = head_maps(query, key, rule, {options(config, side)})
        """)

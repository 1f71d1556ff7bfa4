"""How long a training takes, known from its sizes before it begins, and after which of its steps one looks.

Seconds are those of one processor that does nothing else (AMD EPYC, torch 2.13), fitted to steps of 35 sizes, of which one in
ten is off by a sixth. Beside others a training takes twice as long.
"""

from __future__ import annotations

import math

from attention.training.recipe import Recipe

EVERY = 50  # moments of a training at the least, where it has so many steps
APART = 0.75  # seconds between two moments at the most
MOST = 150  # moments of a training: each keeps queries and keys, and costs MOMENT of a step
MOMENT = 0.9


def step(recipe: Recipe) -> float:
    """Seconds of a step: whatever it is of, channels by channels, channels, scores, and what comes of the vocabulary."""
    n, layers, d = recipe.what.tokens, recipe.layers, recipe.d_model
    parts = 2.5 + 2.1e-5 * n * layers * d**2 + 3.2e-4 * n * layers * d
    return (parts + 1.1e-3 * layers * recipe.heads * n**2 + 1.4e-4 * n * d) / 1000


def seconds(recipe: Recipe) -> float:
    """Seconds of all of it."""
    return step(recipe) * (recipe.steps + MOMENT * len(moments(recipe)))


def moments(recipe: Recipe) -> tuple[int, ...]:
    """After which steps there is something to see: evenly over the course, from before the first to after the last."""
    close = min(recipe.steps // EVERY, int(APART / step(recipe)))
    return (*range(0, recipe.steps, max(1, math.ceil(recipe.steps / MOST), close)), recipe.steps)

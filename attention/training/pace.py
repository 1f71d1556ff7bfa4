"""Predicts from its sizes how long a training takes, and after which steps checkpoints are made.

Seconds are those of one otherwise idle core (AMD EPYC, torch 2.13), fitted to steps of 35 sizes; one in ten is off by a sixth.
With other load on the machine a training takes twice as long.
"""

from __future__ import annotations

import math

from attention.training.recipe import Recipe

EVERY = 50  # minimum number of checkpoints of a training, if it has as many steps
APART = 0.75  # largest number of seconds between two checkpoints
MOST = 150  # largest number of checkpoints: each keeps queries and keys, and takes MOMENT times as long as a step
MOMENT = 0.9


def step(recipe: Recipe) -> float:
    """Seconds of a step: a constant, and terms in channels squared, channels, scores and the vocabulary."""
    n, layers, d = recipe.what.tokens, recipe.layers, recipe.d_model
    parts = 2.5 + 2.1e-5 * n * layers * d**2 + 3.2e-4 * n * layers * d
    return (parts + 1.1e-3 * layers * recipe.heads * recipe.halves * n**2 + 1.4e-4 * n * d) / 1000


def seconds(recipe: Recipe) -> float:
    """Seconds of the whole training."""
    return step(recipe) * (recipe.steps + MOMENT * len(moments(recipe)))


def moments(recipe: Recipe) -> tuple[int, ...]:
    """The steps after which checkpoints are made: evenly spaced, from before the first step to after the last."""
    close = min(recipe.steps // EVERY, int(APART / step(recipe)))
    return (*range(0, recipe.steps, max(1, math.ceil(recipe.steps / MOST), close)), recipe.steps)

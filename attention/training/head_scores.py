"""Metrics of each head of a trained model on a probe: four general ones, and the task's own.

They are defined in `attention/heads.py`, except the task's own: the mean weight that the queries that count put on the keys that
determine the answer (`tasks.Drawn.told`). To add one, add a name of `heads.ALL_METRICS` to `recipe.NUMBERS`, and its words to
`KEYS` of `ui/text/training.py`.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.heads import ALL_METRICS, profile
from attention.training.model import Pairs
from attention.training.recipe import NUMBERS, OWN, Recipe
from attention.training.tasks import Drawn


def weights(
    recipe: Recipe,
    q: Float[Tensor, "l h n d"],
    k: Float[Tensor, "l h n d"],
    sinks: Float[Tensor, "l h"] | None = None,
) -> Float[Tensor, "l h n n"]:
    """The weights of every layer, from its queries, keys and learned sinks, with the recipe's mask, scale and softmax."""
    with torch.inference_mode():
        return Pairs(recipe, q.shape[-2]).context_and_weights(q, k, k, sinks)[1]


def scores(recipe: Recipe, probe: Drawn, found: Float[Tensor, "l h n n"]) -> dict[str, Float[Tensor, "l h"]]:
    """Returns each metric of `recipe.NUMBERS` for each head, from its weights on a probe of one sequence."""
    mask = recipe.rule.square(found.shape[-2], found.shape[-1], recipe.span)
    every = profile(found.flatten(0, 1), mask, texts(recipe, probe))
    numbers = {name: getattr(every, name).view(found.shape[:2]) for name in NUMBERS if name != OWN}
    counted, told = probe.counted[0], probe.told[0]
    return numbers | {OWN: (found * told).sum(-1)[..., counted].mean(-1)}


def even(recipe: Recipe, probe: Drawn) -> float:
    """The task's own metric of a head with uniform weights."""
    n = probe.counted.shape[1]
    seen = recipe.rule.square(n, n, recipe.span).float()
    return float(scores(recipe, probe, (seen / seen.sum(-1, keepdim=True).clamp(min=1))[None, None])[OWN])


def texts(recipe: Recipe, probe: Drawn) -> tuple[str, ...]:
    """The texts of the tokens of a probe that the model reads."""
    return tuple(recipe.what.texts[token] for token in probe.ids[0, :-1].tolist())


def formula(recipe: Recipe, name: str) -> str:
    """The definition of a metric in words."""
    if name == OWN:
        return f"mean weight on the keys that determine the answer, over positions that have one: {recipe.what.told}"
    return ALL_METRICS[name].formula

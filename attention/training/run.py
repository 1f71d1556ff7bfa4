"""A training as a generator of checkpoints, without threads and without Streamlit: it depends on the recipe only.

The consumer decides when the training continues, and may pause it for any time. All random numbers come from its own
generators, so a recipe gives the same training on the same kind of machine, whatever else runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Generator, Tensor

from attention.training.adamw import AdamW
from attention.training.head_scores import scores, weights
from attention.training.model import Heads, Model
from attention.training.pace import moments
from attention.training.recipe import BATCH, FRESH, TEST, Recipe
from attention.training.tasks import Drawn

WARM = 0.1  # share of the steps in which the learning rate rises; then it falls along a cosine
HELD_OUT = 128  # number of test sequences for loss and accuracy, never used for training
LONGEST = 1.0  # largest norm of the gradient
PROBE = 3  # seed of the sequence on which heads are shown


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """State of a training after some steps: loss (nats) and accuracy on test sequences.

    `scores (l h)`: metrics of each head, by name; `q k (l h n d)`: queries and keys of the probe after positions are applied,
    None if they were not kept. `sinks (l h)`: learned sinks; `gates (l h)`: mean gate of each head on the probe; None if the
    recipe has none.
    """

    step: int
    loss: float
    accuracy: float
    scores: dict[str, Float[Tensor, "l h"]]
    q: Float[Tensor, "l h n d"] | None = None
    k: Float[Tensor, "l h n d"] | None = None
    sinks: Float[Tensor, "l h"] | None = None
    gates: Float[Tensor, "l h"] | None = None

    @property
    def sound(self) -> bool:
        """Whether the loss is finite."""
        return math.isfinite(self.loss)


def draw_sequences(recipe: Recipe, count: int, stream: int) -> Drawn:
    """Draws sequences of a recipe's task from one of its seed's streams."""
    return recipe.what.draw(count, recipe.what.tokens, recipe.random(stream))


def probe(recipe: Recipe) -> Drawn:
    """Returns the sequence on which the heads are shown, the same for each seed."""
    return recipe.what.draw(1, recipe.what.tokens, Generator().manual_seed(PROBE))


def rate(recipe: Recipe, step: int) -> float:
    """Learning rate of a step, counted from 0: a linear rise, then half a cosine (Smith & Topin 2018, one cycle)."""
    warm = max(1, round(WARM * recipe.steps))
    if step < warm:
        return recipe.rate * (step + 1) / warm
    return recipe.rate * (1 + math.cos(math.pi * (step - warm) / max(1, recipe.steps - warm))) / 2


class Run:
    """A training in progress: `step` updates the weights once, `checkpoint` measures the current state."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.done = recipe, 0
        self.model = Model(recipe)
        self.optimizer = AdamW(self.model)
        self.random = recipe.random(FRESH)
        self.test, self.probe = draw_sequences(recipe, HELD_OUT, TEST), probe(recipe)

    def step(self) -> None:
        """Updates the weights once."""
        batch = self.recipe.what.draw(BATCH, self.recipe.what.tokens, self.random)
        self.optimizer.clear()
        loss(self.model(batch.ids[:, :-1]), batch).backward()
        self.optimizer.step(rate(self.recipe, self.done), LONGEST)
        self.done += 1

    def checkpoint(self) -> Checkpoint:
        """Returns loss, accuracy, metrics, queries and keys at the current step."""
        lost, accuracy = evaluate(self.model, self.test)
        with torch.inference_mode():
            _, heads = self.model.forward_with_scores(self.probe.ids[:, :-1])
        kept = stack_layers(heads)
        numbers = scores(self.recipe, self.probe, weights(self.recipe, kept.q, kept.k, kept.sinks))
        return Checkpoint(self.done, lost, accuracy, numbers, *kept)


class Stacked(NamedTuple):
    """Queries, keys, sinks and mean gates of all layers for one sequence."""

    q: Float[Tensor, "l h n d"]
    k: Float[Tensor, "l h n d"]
    sinks: Float[Tensor, "l h"] | None
    gates: Float[Tensor, "l h"] | None


def stack_layers(heads: Sequence[Heads]) -> Stacked:
    """Returns what is kept of the inputs of all layers, of their first sequence, without gradients and in new memory."""
    q, k = (torch.stack([getattr(each, part)[0].detach() for each in heads]) for part in "qk")
    sinks = [each.sinks.detach() for each in heads if each.sinks is not None]
    gates = [each.gate[0].detach().mean((-2, -1)) for each in heads if each.gate is not None]
    return Stacked(q, k, torch.stack(sinks) if sinks else None, torch.stack(gates) if gates else None)


def loss(logits: Float[Tensor, "b n v"], of: Drawn) -> Float[Tensor, ""]:
    """Mean cross entropy in nats over the positions that count."""
    return F.cross_entropy(logits[of.counted], of.ids[:, 1:][of.counted])


@torch.inference_mode()
def evaluate(model: Model, on: Drawn) -> tuple[float, float]:
    """Returns loss and accuracy on sequences."""
    logits, right = model(on.ids[:, :-1]), on.ids[:, 1:]
    hit = logits.argmax(-1) == right
    return float(loss(logits, on)), float(hit[on.counted].float().mean())


def train(recipe: Recipe) -> Iterator[tuple[Run, Checkpoint | None]]:
    """Yields the run before the first and after each step, with a checkpoint at the steps of `moments`, else None.

    It ends after the last step, or with the first checkpoint whose loss is not finite.
    """
    run, due = Run(recipe), set(moments(recipe))
    while True:
        seen = run.checkpoint() if run.done in due else None
        yield run, seen
        if run.done == recipe.steps or (seen is not None and not seen.sound):
            return
        run.step()

"""Stores the history of a training: metrics over the steps, queries and keys of some steps, and the final parameters.

Its file is an .npz of arrays without pickles: `points (m 3)`, the step, loss and accuracy of each checkpoint; `scores
(m s l h)`, the metrics of `recipe.NUMBERS`; `frames (f)`, the steps that have `q k (f l h n d)` and, if the model has them,
`sinks gates (f l h)`; `weights (p)`, the final parameters in the model's order. `about` is a JSON text with the `format`, the
`recipe` as in its link, how it was `made` and its `license`. Arrays of real numbers are float16, except for `points`.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attention.array_files import numpy_file
from attention.array_files.arrays import LARGEST
from attention.training.head_scores import scores, weights
from attention.training.model import Model
from attention.training.recipe import LAST, NUMBERS, RECIPES, Recipe
from attention.training.run import Checkpoint, probe, train

FORMAT = "attention training 1"
PARTS = "q", "k", "sinks", "gates"  # of a frame
FRAMES = 15  # steps of a file that have queries and keys, including the first and the last
LICENSE = "MIT, as this project"


@dataclass(frozen=True, eq=False)
class TrainingHistory:
    """A training: its checkpoints (`moments`) in order, and all final parameters in a row (None before the end)."""

    recipe: Recipe
    moments: tuple[Checkpoint, ...]
    parameters: Float[Tensor, " p"] | None

    @cached_property
    def frames(self) -> dict[int, Checkpoint]:
        """The checkpoints whose heads can be shown, by step: those with queries and keys whose loss is finite."""
        return {moment.step: moment for moment in self.moments if moment.q is not None and moment.sound}

    @property
    def last(self) -> Checkpoint:
        """The last checkpoint whose loss is finite."""
        return next(moment for moment in reversed(self.moments) if moment.sound)

    @property
    def sound(self) -> bool:
        """Whether the final loss is finite, so that the model can be used."""
        return self.moments[-1].sound

    def nearest_frame(self, step: int) -> Checkpoint:
        """Returns the frame nearest to a step; -1: the last one."""
        steps = list(self.frames)
        return self.frames[steps[-1] if step == LAST else min(steps, key=lambda each: abs(each - step))]

    def model(self) -> Model:
        """Returns the model after the training; raises ValueError if its parameters are not known."""
        if self.parameters is None:
            raise ValueError("The parameters of this course are not known yet.")
        return with_parameters(Model(self.recipe), self.parameters)


def parameters(model: Model) -> Float[Tensor, " p"]:
    """Returns all parameters of a model in a row, in the model's order."""
    return torch.cat([each.detach().flatten() for each in model.parameters()])


def with_parameters(model: Model, row: Float[Tensor, " p"]) -> Model:
    """Copies parameters from a row into the model and returns it; raises ValueError if their number is wrong."""
    every = list(model.parameters())
    sizes = [each.numel() for each in every]
    if sum(sizes) != len(row):
        raise ValueError(f"{len(row):,} parameters for a model of {sum(sizes):,}.")
    with torch.no_grad():
        for each, part in zip(every, row.split(sizes), strict=True):
            each.copy_(part.view_as(each))
    return model


def record_training(recipe: Recipe) -> TrainingHistory:
    """Runs a whole training, from its first step to its last."""
    every = list(train(recipe))
    run = every[-1][0]
    return TrainingHistory(recipe, tuple(seen for _, seen in every if seen), parameters(run.model))


def write_training(course: TrainingHistory, made: str) -> bytes:
    """Returns the file of a history, with the queries and keys of `FRAMES` of its checkpoints."""
    moments = course.moments
    kept = [moments[at] for at in film(course)]
    about = {"format": FORMAT, "recipe": RECIPES.to_query(course.recipe), "made": made, "license": LICENSE}
    half: dict[str, Any] = {
        "scores": torch.stack([torch.stack([each.scores[name] for name in NUMBERS]) for each in moments]),
        "weights": course.parameters,
    }
    parts = {name: [getattr(each, name) for each in kept] for name in PARTS}
    half |= {name: torch.stack(frames) for name, frames in parts.items() if frames[0] is not None}
    memory = io.BytesIO()
    np.savez_compressed(
        memory,
        about=np.array(json.dumps(about)),
        points=np.array([(each.step, each.loss, each.accuracy) for each in moments], np.float32),
        frames=np.array([each.step for each in kept], np.int32),
        **{name: part.to(torch.float16).numpy() for name, part in half.items()},
    )
    return memory.getvalue()


def film(course: TrainingHistory) -> list[int]:
    """Returns the indices of `FRAMES` checkpoints, chosen so that change and time between consecutive ones are similar."""
    every = torch.stack([frame_weights(course.recipe, each) for each in course.moments if each.q is not None])
    change = every.diff(dim=0).abs().mean((1, 2, 3, 4))
    come = F.pad((change / change.sum() + 1 / len(change)).cumsum(0) / 2, (1, 0))
    found = {int((come - i / (FRAMES - 1)).abs().argmin()) for i in range(FRAMES)}
    rest = (at for at in range(len(come)) if at not in found)
    return sorted([*found, *(next(rest) for _ in range(FRAMES - len(found)))])


def read_training(data: bytes) -> tuple[TrainingHistory, dict[str, Any]]:
    """Returns the history of a file and its `about`; the metrics of the frames are read from the file as well.

    Raises ValueError for another format.
    """
    found = numpy_file.read_many(data, "", LARGEST)
    about = json.loads("".join(found.texts["about"]))
    if about.get("format") != FORMAT:
        raise ValueError(f"format={about.get('format')!r} is not {FORMAT!r}.")
    points, frames = (found.arrays[name].tensor().tolist() for name in ("points", "frames"))
    every, row = (found.arrays[name].tensor().float() for name in ("scores", "weights"))
    parts = {name: found.arrays[name].tensor().float() for name in PARTS if name in found.arrays}
    recipe = RECIPES.from_query(about["recipe"])[0].alone
    moments = tuple(
        Checkpoint(int(step), loss, accuracy, dict(zip(NUMBERS, numbers, strict=True)))
        for (step, loss, accuracy), numbers in zip(points, every, strict=True)
    )
    at = {step: i for i, step in enumerate(frames)}
    seen = (
        replace(each, **{name: part[at[each.step]] for name, part in parts.items()}) if each.step in at else each
        for each in moments
    )
    return TrainingHistory(recipe, tuple(seen), row), about


def frame_weights(recipe: Recipe, frame: Checkpoint) -> Float[Tensor, "l h n n"]:
    """Returns the weights of all layers on the probe, for a checkpoint that has queries and keys."""
    assert frame.q is not None and frame.k is not None
    return weights(recipe, frame.q, frame.k, frame.sinks)


def recompute_scores(course: TrainingHistory, moment: Checkpoint) -> dict[str, Tensor]:
    """Computes the metrics of a frame from its queries and keys in the file."""
    return scores(course.recipe, probe(course.recipe), frame_weights(course.recipe, moment))

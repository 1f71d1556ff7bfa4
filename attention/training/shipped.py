"""The trainings that ship with the app, one per task: a name as in the link, and a file in `runs`.

`python -m attention.training.record` reproduces them. To ship another seed of a task, change its entry in `SEEDS`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from attention.recorded.file import OWN, Recording, RecordingError, Shape
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.training.head_scores import texts
from attention.training.history import TrainingHistory, read_training
from attention.training.recipe import PLACES, Recipe
from attention.training.run import probe
from attention.training.tasks import TASKS

SEEDS = dict.fromkeys(TASKS, 0)
HERE = Path(__file__).with_name("runs")
TITLES = {name: f"Trained here: {name}" for name in TASKS}
WHAT = "An attention-only transformer of {layers}, trained on “{task}” for {steps:,} steps; shown after step {at:,}."


@lru_cache(maxsize=len(TASKS))
def recipe(name: str) -> Recipe:
    """The recipe of a shipped training: the defaults, with the layers, steps and positions of the task."""
    task = TASKS[name]
    return Recipe(task=name, layers=task.layers, steps=task.steps, positions=task.positions, seed=SEEDS[name])


def shipped_name(of: Recipe) -> str:
    """The name under which the training of a recipe ships; empty if it does not ship."""
    return of.task if of == recipe(of.task) else ""


def path(name: str) -> Path:
    """The file of a task's training."""
    return HERE / f"{name}.npz"


@tensor_lru_cache(len(TASKS))
def course(name: str) -> TrainingHistory:
    """Returns the history of a task's training by its `recipe`; raises RecordingError if its file is not valid."""
    return _open_training(name)[0]


@lru_cache(maxsize=8)
def about(name: str) -> dict[str, str]:
    """Returns the `about` texts of a task's file; raises RecordingError as `course` does."""
    return _open_training(name)[1]


def _open_training(name: str) -> tuple[TrainingHistory, dict[str, Any]]:
    file = path(name)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise RecordingError(f"{file.name} can't be opened: {error.strerror}") from error
    try:
        return read_training(data)
    except (ValueError, KeyError, RuntimeError) as error:
        raise RecordingError(f"{file.name} is not a training recorded by this app: {error}") from error


def shape(name: str) -> Shape:
    """Returns what the training of a task offers as a source of attention."""
    return recording(name, -1).shape


def steps(name: str) -> tuple[int, ...]:
    """The steps of a task's training whose heads can be shown."""
    return tuple(course(name).frames)


@tensor_lru_cache(4 * len(TASKS))
def recording(name: str, step: int) -> Recording:
    """Returns the heads of the frame nearest to a step as a recording of the training's probe; -1: the last frame."""
    found, moment = course(name), course(name).nearest_frame(step)
    assert moment.q is not None and moment.k is not None
    said = f"{found.recipe.layers} layer{'s' * (found.recipe.layers > 1)}"
    return Recording(
        what=WHAT.format(layers=said, task=name, steps=found.recipe.steps, at=moment.step),
        weights="trained by this app.",
        license=about(name)["license"],
        made=about(name)["made"],
        tokens=texts(found.recipe, probe(found.recipe)),
        q=moment.q,
        k=moment.k,
        own=own(found.recipe),
    )


def own(recipe: Recipe) -> dict[str, Any]:
    """The values of the mask and score knobs for the heads that a recipe trains."""
    added = recipe.positions if PLACES[recipe.positions].to_scores else "none"
    names = "mask", "span", "scale", "softmax", "qk_norm"
    return OWN | {name: getattr(recipe, name) for name in names} | {"positions": added}

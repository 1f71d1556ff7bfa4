"""Jobs that train a small model in the background while pages show their progress (attention/training).

After a pause a training continues where it was, as its loop is a generator. It runs in a thread with a lower priority than
all others, and checks after every step whether it must stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from attention.operations.gate import ELEMENTWISE
from attention.runtime.executors import RankedExecutor
from attention.runtime.threads import set_nice
from attention.tables.rows import duration
from attention.training.history import TrainingHistory, parameters
from attention.training.pace import moments, seconds
from attention.training.recipe import BATCH, NARROWEST, RECIPES, Recipe, nearest
from attention.training.run import Checkpoint, Run, train
from attention.training.tasks import VOCABULARY
from attention.ui.budget import refusal_sentence, shrink
from attention.ui.jobs.job import Job
from attention.ui.jobs.job_queue import JOBS
from attention.ui.text import jobs as words

MODEST = 10  # niceness of the thread that trains
NUMBER = 4  # bytes per number
ROUND = 50  # a suggested number of steps is a multiple of this
LONGEST = Job.max_run_s / 2  # processor seconds that a training may take: next to other work it takes twice as long


@dataclass(eq=False)
class TrainingJob(Job):
    """The training of a recipe (pass its `alone`); `moments` (checkpoints) are added as it runs, and stay if it is stopped.

    `parameters`: those of the model as one vector, as of when it last came to rest (`rests`); None before its first run.
    """

    settings: Recipe
    moments: list[Checkpoint] = field(default_factory=list, init=False)
    parameters: Float[Tensor, " p"] | None = field(default=None, init=False)
    steps: int = field(default=0, init=False)

    kind: ClassVar[str] = "training"
    history: ClassVar[int] = 12  # of a few MB each
    keep_s: ClassVar[float] = 1800.0
    leave_after_s: ClassVar[float] = 120.0  # visitors may open other pages, and a hidden tab asks once per minute

    def __post_init__(self) -> None:
        self._loop: Iterator[tuple[Run, Checkpoint | None]] = train(self.settings)
        self._course = TrainingHistory(self.settings, (), None)
        self.rests = Event()
        self.rests.set()

    def run(self) -> None:
        """Trains until it is done or must stop, in a thread whose low priority no other job inherits."""
        self.rests.clear()
        try:
            LANE.submit(self._train).result()
        finally:
            self.rests.set()

    def _train(self) -> None:
        run = None
        for run, seen in self._loop:
            self.steps = run.done
            if seen is not None:
                self.moments.append(seen)
            self.progress(run.done / self.settings.steps)
            if self.should_stop():
                break
        if run is None:
            return
        if not self.open and self.moments[-1].step != run.done:  # it was stopped between two checkpoints
            self.moments.append(run.checkpoint())
        self.parameters = parameters(run.model)
        if self.moments and not self.moments[-1].sound:
            self.end("failed", words.DIVERGED.format(steps=self.moments[-1].step))

    @property
    def course(self) -> TrainingHistory:
        """The history so far; the same object until there is more."""
        last = self._course
        if len(last.moments) != len(self.moments) or last.parameters is not self.parameters:
            self._course = TrainingHistory(self.settings, tuple(self.moments), self.parameters)
        return self._course

    @property
    def guess(self) -> float:
        """Estimated seconds of the whole training on a processor that does nothing else."""
        return seconds(self.settings)

    @property
    def rate(self) -> float:
        """Steps per second; 0 before the first."""
        return self.steps / self.seconds_spent if self.seconds_spent else 0.0

    @property
    def doing(self) -> str:
        """What is done, as visitors who wait behind it read it."""
        return words.TRAINING

    @property
    def claim(self) -> int:
        """Bytes at the peak: activations that the gradient needs, weights with optimizer state, and checkpoints."""
        recipe, n = self.settings, self.settings.what.tokens
        squares = 4 * recipe.layers * BATCH * recipe.heads * n * n
        tokens = BATCH * n * (12 * recipe.layers * recipe.d_model + 3 * VOCABULARY)
        weights = 6 * (4 * recipe.layers * recipe.d_model**2 + 2 * VOCABULARY * recipe.d_model)
        if recipe.gate == ELEMENTWISE:
            tokens += BATCH * n * 3 * recipe.layers * recipe.d_model
            weights += 6 * recipe.layers * recipe.d_model**2
        seen = (len(moments(recipe)) + 1) * 2 * recipe.layers * n * recipe.d_model
        return NUMBER * ((squares + tokens + weights if self.open else 0) + seen)


def refusal(recipe: Recipe, visitor: str) -> tuple[str, Recipe] | None:
    """Why a visitor's training lacks memory next to what others need, or time, and the widest or longest recipe that fits.

    None if it fits, or is in the queue already.
    """
    there = JOBS.find(TrainingJob, recipe)
    if there is not None and there.open:
        return None
    needed, free = TrainingJob(recipe).claim, JOBS.free(TrainingJob, visitor)
    if needed <= free:
        return _too_long(recipe)
    smaller = shrink(
        recipe,
        lambda each: TrainingJob(each).claim <= free,
        lambda each: nearest(vars(each) | {"d_model": max(NARROWEST, each.d_model // 2)})[0],
    )
    return refusal_sentence(words.THIS_TRAINING, needed, free), smaller


def begin_training(recipe: Recipe, visitor: str) -> TrainingJob | None:
    """Starts the training of a recipe for a visitor, who leaves their previous one; None if there is no room for it."""
    there = JOBS.find(TrainingJob, recipe)
    if there is None or there.given_up:
        JOBS.leave_previous(TrainingJob, visitor)
        if not JOBS.room(TrainingJob(recipe).claim, visitor):
            return None
    return JOBS.request(TrainingJob, recipe, visitor)


def _too_long(recipe: Recipe) -> tuple[str, Recipe] | None:
    """The same as `refusal`, for time alone."""
    if (needed := seconds(recipe)) <= LONGEST:
        return None
    steps = max(RECIPES.knobs["steps"].low or 1, int(recipe.steps * LONGEST / needed) // ROUND * ROUND)
    return (
        words.LONG_TRAINING.format(needed=duration(needed), most=duration(LONGEST)),
        nearest(vars(recipe) | {"steps": int(steps)})[0],
    )


LANE = RankedExecutor("training", 0, 1, partial(set_nice, MODEST))

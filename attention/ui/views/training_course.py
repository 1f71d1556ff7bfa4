"""The training that the Training page shows for a recipe: the visitor's, a shipped one, another visitor's, or none."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import streamlit as st

from attention.number_format import format_mean, format_percent
from attention.recorded.file import RecordingError
from attention.tables.rows import duration
from attention.training import shipped
from attention.training.history import TrainingHistory
from attention.training.pace import seconds
from attention.training.recipe import LAST, OWN, RECIPES, TELLING, Recipe, nearest
from attention.training.run import Checkpoint
from attention.ui import results
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.training_jobs import TrainingJob, begin_training, refusal
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import training as text
from attention.ui.views import job_status

TENSORS = [name for name, knob in RECIPES.knobs.items() if knob.about == "tensors"]  # what determines a training
STRONG = 0.5  # of its weight: from this share on the page says what a head does
STEP = 0.25  # seconds, enough for one step of all but the largest models; a stop must be visible within half a second


class Shown(NamedTuple):
    """What can be shown of a recipe, and its origin: a `task`, a file that `ships`, or the model before its first step.

    `lost`: why a file that should ship cannot be shown.
    """

    course: TrainingHistory
    task: TrainingJob | None = None
    ships: bool = False
    lost: str = ""

    @property
    def live(self) -> bool:
        """Whether more is to come; after a cancel, until the current step is done: only then the model is known."""
        return self.task is not None and (self.task.open or not self.task.rests.is_set())

    @property
    def has_usable_model(self) -> bool:
        """Whether the model is known and finite, so that it can be used."""
        return self.course.parameters is not None and not self.live and self.course.sound


def current_training(recipe: Recipe) -> Shown:
    """What can be shown of a recipe; records that this visitor views a training that is running."""
    alone, mine = recipe.alone, page.visit_state().learning
    task = mine if mine is not None and mine.settings == alone else None
    ships = shipped.shipped_name(alone)
    if task is None and not ships:
        task = JOBS.find(TrainingJob, alone, lambda found: bool(found.moments) and not found.given_up)
    if task is not None:
        task.look(page.visitor())
        if task.moments:
            return Shown(task.course, task)
    lost = ""
    if ships and task is None:
        try:
            return Shown(shipped.course(ships), ships=True)
        except RecordingError as error:
            lost = str(error)
    return Shown(results.training.before_training(alone), task, lost=lost)


def shown_recipe(recipe: Recipe, found: Shown) -> Recipe:
    """The recipe whose training is shown: this one, or if it has none, the one of the same task that was shown before."""
    visit = page.visit_state()
    if found.task is not None or found.ships or found.lost:
        visit.trained = recipe.alone
    before = visit.trained
    if before is None or before == recipe.alone or before.task != recipe.task:
        return recipe
    there = current_training(before)
    if there.task is None and not there.ships:
        return recipe
    return nearest(vars(recipe) | {name: value for name, value in vars(before).items() if name in TENSORS})[0]


def focus(recipe: Recipe, found: Shown) -> int:
    """The selected head, counted through all layers; by default the one that ends with the largest own score of the task.

    While a training is running it is the first head until one is strong, because it is not known which one will be.
    """
    if recipe.head != TELLING:
        return recipe.head
    best, most = telling(found.course.last, OWN)
    return best if most >= STRONG or not found.live else 0


def telling(moment: Checkpoint, name: str) -> tuple[int, float]:
    """The head with the largest value of a score, counted through all layers, and that value."""
    numbers = moment.scores[name].flatten()
    best = int(numbers.argmax())
    return best, float(numbers[best])


def label(found: Shown) -> str:
    """The origin of the training in a few words, as a markdown badge."""
    if found.ships:
        return text.RECORDED_LABEL
    if found.task is None:
        return text.UNTRAINED_LABEL
    ended = found.task.state in ("done", "failed")
    return text.LABELS[found.task.state if ended else "live" if found.live else "stopped"]


def begin(recipe: Recipe) -> None:
    """Trains and shows a recipe, again if that failed or was stopped; ends the film and makes room for the training.

    If there is no room after all, the page says so when it is drawn again.
    """
    visit = page.visit_state()
    if visit.learning is not None and visit.learning.settings == recipe.alone and not visit.learning.open:
        JOBS.forget(visit.learning)
    visit.film, visit.learning = None, begin_training(recipe.alone, page.visitor()) or visit.learning
    now, wanted = vars(page.setting()), vars(recipe) | {"at": LAST}
    page.change(at=LAST, **{name: value for name, value in wanted.items() if name != "at" and value != now[name]})


def going(found: Shown) -> None:
    """Draws the progress of a training, and its buttons."""
    if (task := found.task) is not None:
        why = text.STOP_HELP.format(seconds=task.leave_after_s)
        job_status.show_progress(task, JOBS, _going(task, found.course), partial(_stop, task), why, text.STOP)


def _stop(task: TrainingJob) -> None:
    """This visitor leaves the training; if that ends it, waits for its last step, so that the result is complete."""
    task.leave(page.visitor())
    if not task.open:
        task.rests.wait(STEP)


def show_end(recipe: Recipe, found: Shown) -> None:
    """Says how a training ended, if that was before its last step; and which other one of the visitor is running."""
    task, mine = found.task, page.visit_state().learning
    if found.lost:
        said = escape(text.LOST.format(why=found.lost))
        st.warning(said, icon=":material/warning:")
    if not found.ships and task is None and (refused := refusal(recipe.alone, page.visitor())):
        why, smaller = refused
        st.warning(text.TOO_LARGE.format(why=why), icon=":material/memory:")
        change = {name: getattr(smaller, name) for name in ("d_model", "steps")}
        template = text.USE_STEPS if smaller.d_model == recipe.d_model else text.USE_CHANNELS
        label = template.format(steps=smaller.steps, channels=smaller.d_model)
        st.button(label, on_click=page.change, kwargs=change, key="smaller", type="primary")
    if task is not None and task.state == "failed":
        st.error(escape(task.said), icon=":material/error:")
    else:
        line = _line(recipe, found)
        if line:
            st.caption(line)
    if mine is not None and mine.open and mine.settings != recipe.alone:
        mine.look(page.visitor())
        _elsewhere(mine)


def _line(recipe: Recipe, found: Shown) -> str:
    """How long a training takes, that it runs on, or how it ended; "" for one that ships."""
    task = found.task
    if found.ships:
        return ""
    if task is None:
        return text.LASTS.format(time=duration(seconds(recipe.alone)))
    if task.state in ("cancelled", "left"):
        why = text.STOPPED_LEFT.format(seconds=task.leave_after_s) if task.state == "left" else ""
        return text.STOPPED.format(done=task.steps, steps=recipe.steps, why=why)
    if task.state == "done":
        return text.TRAINED.format(time=duration(task.seconds_spent))
    return text.GOES_ON


def _going(task: TrainingJob, course: TrainingHistory) -> str:
    last = course.last
    return text.GOING.format(
        done=task.steps,
        steps=task.settings.steps,
        speed=text.GOING_SPEED.format(rate=task.rate) if task.steps else "",
        step=last.step,
        loss=format_mean(last.loss),
        accuracy=format_percent(last.accuracy),
    )


def _elsewhere(mine: TrainingJob) -> None:
    """Draws this visitor's training whose settings are no longer those of the page."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(text.OTHER.format(task=mine.settings.task, share=mine.share))
        st.button(text.SHOW_OTHER, key="back", type="tertiary", on_click=page.change, kwargs=vars(mine.settings))
        st.button(text.STOP_OTHER, key="stop", type="tertiary", on_click=mine.leave, args=(page.visitor(),))

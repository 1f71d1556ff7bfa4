"""A training in curves: accuracy, loss, and a score of every head; and two trainings that fail, to try."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import streamlit as st

from attention.charts import training as charts
from attention.number_format import format_head, format_mean, format_percent
from attention.training.head_scores import formula
from attention.training.recipe import OWN, RECIPES, Recipe, nearest
from attention.training.run import Checkpoint
from attention.training.tasks import GUESS
from attention.ui.controls import knobs
from attention.ui.jobs.training_jobs import refusal
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import training as text
from attention.ui.views import training_course as courses
from attention.ui.views.training_course import Shown


class Lesson(NamedTuple):
    """A training that fails: the label of its button, the knobs that it sets, and what to watch."""

    label: str
    sets: dict[str, Any]
    watch: str


LESSONS = (
    Lesson(text.FAILURE_SCALE[0], {"heads": 1, "scale": "none"}, text.FAILURE_SCALE[1]),
    Lesson(text.FAILURE_RATE[0], {"rate": 1.0}, text.FAILURE_RATE[1]),
)


def draw(recipe: Recipe, found: Shown, moment: Checkpoint) -> None:
    """Draws the accuracy, the loss, and a score of every head, over the steps; a line marks the step that is shown."""
    now, went = Row(charts.NOW, moment.step, 0.0, 0), list(_went(found))
    _accuracy(recipe, moment, _table([now, *went]))
    chosen = recipe.number != RECIPES.defaults["number"]
    with st.expander(text.CURVES_FOLD, icon=":material/show_chart:", key="curves", expanded=chosen):
        most = charts.ceiling(max((row.value for row in went), default=0.0))
        chart = charts.loss(recipe.steps, most)
        st.vega_lite_chart(_table([now, *went]), chart, key="loss", width="stretch", alt=text.LOSS_ALT)
        _heads(recipe, found, moment)


def lessons(recipe: Recipe) -> None:
    """Draws a button for each training that fails."""
    fold = st.expander(text.FAILURES, icon=":material/school:")
    fold.caption(text.FAILURES_HELP)
    for column, lesson in zip(fold.columns(2), LESSONS, strict=True):
        changed = lesson_recipe(recipe, lesson)
        column.button(
            lesson.label,
            key=f"lesson {lesson.label}",
            icon=":material/school:",
            on_click=_begin_lesson,
            args=(changed,),
            disabled=changed.alone == recipe.alone or refusal(changed, page.visitor()) is not None,
            help=escape(lesson.watch),
        )


def _begin_lesson(recipe: Recipe) -> None:
    """Trains the recipe of a lesson; the browser then scrolls up to the picture."""
    page.visit_state().lessons += 1
    courses.begin(recipe)


def lesson_text(recipe: Recipe) -> str:
    """What to watch in a training that fails, as Markdown; "" for other trainings."""
    return next((escape(each.watch) for each in LESSONS if lesson_recipe(recipe, each).alone == recipe.alone), "")


def lesson_recipe(recipe: Recipe, lesson: Lesson) -> Recipe:
    """The recipe of a lesson, with the same view as the current one."""
    usual = {name: RECIPES.defaults[name] for name, knob in RECIPES.knobs.items() if knob.about in ("tensors", "focus")}
    return nearest(vars(recipe) | usual | lesson.sets)[0]


def _accuracy(recipe: Recipe, moment: Checkpoint, rows: pa.Table) -> None:
    chart = charts.accuracy(recipe.steps)
    st.vega_lite_chart(rows, chart, key="progress", width="stretch", alt=text.PROGRESS_ALT)
    st.caption(
        escape(text.PROGRESS.format(loss=format_mean(moment.loss))),
        help=text.PROGRESS_HELP.format(guess=format_mean(GUESS)),
    )


def _heads(recipe: Recipe, found: Shown, moment: Checkpoint) -> None:
    knobs.pills("number", recipe, format_func=text.PILLS.get, on_change=page.change, label=text.CURVES_OF)
    name, earlier = text.KEYS[recipe.number], _earlier(recipe)
    rows = [Row(charts.NOW, moment.step, 0.0, 0), *_does(recipe, found), *_before(recipe, found)]
    rows = _name_ends(rows, _short_names(recipe) | {charts.EARLIER: earlier})
    st.vega_lite_chart(
        _table(rows),
        charts.heads(recipe.layers, recipe.heads, recipe.steps, text.WEIGHT_ON.format(key=name), earlier, _ends(rows)),
        key="heads",
        width="stretch",
        alt=text.CURVES_ALT.format(statistic=name),
    )
    more = _lesson_text(recipe, earlier)
    help = text.CURVES_HELP.format(
        statistic=name, formula=formula(recipe, recipe.number), earlier=more, high=format_percent(charts.HIGH)
    )
    template = text.CURVES if recipe.layers > 1 else text.CURVES_ALONE
    grey = text.CURVES_GREY.format(statistic=text.KEYS[earlier]) if earlier else ""
    lines = ", ".join(text.LINES[: recipe.layers])
    st.caption(template.format(statistic=name, lines=lines) + grey, help=escape(help))


def _ends(rows: list[Row]) -> tuple[float, float]:
    """The ends of the axis of a metric: 0 and 1, or the next halves beyond them if weights are."""
    values = [row.value for row in rows]
    return math.floor(2 * min(0.0, *values)) / 2, math.ceil(2 * max(1.0, *values)) / 2


def _earlier(recipe: Recipe) -> str:
    """The score that has to grow in layer 0 before the task's own score can grow in the next layer."""
    return recipe.what.before if recipe.number == OWN and recipe.layers > 1 else ""


def _lesson_text(recipe: Recipe, earlier: str) -> str:
    """A description of that score."""
    if not earlier:
        return ""
    return text.CURVES_EARLIER.format(statistic=text.KEYS[earlier], formula=formula(recipe, earlier))


class Row(NamedTuple):
    """A point of a curve."""

    series: str
    step: int
    value: float
    layer: int
    name: str = ""
    place: float = 0.0


def _name_ends(rows: list[Row], names: dict[str, str]) -> list[Row]:
    """The rows with the names of high curves at their last points; curves that end beside each other share a line."""
    last = {row.series: at for at, row in enumerate(rows) if row.series in names}
    for line, place in charts.place_names({series: rows[at].value for series, at in last.items()}).items():
        at = last[line[0]]
        rows[at] = rows[at]._replace(name=", ".join(names[series] for series in line), place=place)
    return rows


def _short_names(recipe: Recipe) -> dict[str, str]:
    """The heads as they are named beside a curve, by their series."""
    cells = [(layer, head) for layer in range(recipe.layers) for head in range(recipe.heads)]
    several = recipe.layers > 1
    return {format_head(head, layer): f"L{layer}H{head}" if several else f"H{head}" for layer, head in cells}


def _went(found: Shown) -> Iterator[Row]:
    for each in filter(_sound, found.course.moments):
        yield Row(charts.ACCURACY, each.step, each.accuracy, 0)
        yield Row(charts.LOSS, each.step, each.loss, 0)


def _does(recipe: Recipe, found: Shown) -> Iterator[Row]:
    for each in filter(_sound, found.course.moments):
        for layer, row in enumerate(each.scores[recipe.number].tolist()):
            for head, value in enumerate(row):
                yield Row(format_head(head, layer), each.step, value, layer)


def _before(recipe: Recipe, found: Shown) -> Iterator[Row]:
    if name := _earlier(recipe):
        for each in filter(_sound, found.course.moments):
            yield Row(charts.EARLIER, each.step, float(each.scores[name][0].max()), 0)


def _sound(moment: Checkpoint) -> bool:
    return moment.sound


def _table(rows: list[Row]) -> pa.Table:
    return pa.table({name: [getattr(row, name) for row in rows] for name in Row._fields})

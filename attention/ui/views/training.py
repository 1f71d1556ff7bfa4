"""Training: a small model learns, and its heads form; a film of its steps, live or recorded."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import streamlit as st

from attention.components.heads_grid import training_grid
from attention.number_format import format_mean, format_percent
from attention.tables.rows import duration
from attention.training.pace import seconds
from attention.training.recipe import LAST, OWN, Recipe
from attention.training.run import Checkpoint
from attention.training.tasks import GUESS
from attention.ui import results
from attention.ui.heading import draw_finding, draw_title
from attention.ui.jobs.training_jobs import refusal
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, gestures, page, present
from attention.ui.text import terms
from attention.ui.text import training as text
from attention.ui.views import questions, training_curves, training_heads
from attention.ui.views import training_course as courses
from attention.ui.views.training_course import Shown

TICK, LOOK = 0.45, 0.7  # seconds of a tick of the film, and between two checks of a training
SLOW = 3  # ticks that the picture before the largest fall of the loss stays longer than others
SPEEDS = {0.5: "½×", 1.0: "1×", 2.0: "2×"}
STEP, SPEED = "moment", "speed"  # the keys of the slider over the steps and of the speed of the film
PLAY_WIDTH = 190  # pixels, whatever the button says
FEW = 3  # number of steps from which on earlier ones can be shown


def view(recipe: Recipe) -> None:
    """The page of a recipe."""
    if questions.question_closes(recipe):
        return
    found = courses.current_training(recipe)
    shown = courses.shown_recipe(recipe, found)
    label = courses.label(found) if shown is recipe else text.CHANGED_LABEL
    draw_title("training", label, f"{escape(recipe.what.says)} {text.HELP}")
    playing = not found.live and _film(recipe) is not None
    every = LOOK if found.live else TICK / page.visit_state().speed if playing else None
    if shown is recipe:
        st.fragment(_live, run_every=every)(recipe, found.live, playing)
    else:
        _draw_changed(recipe, found, shown)
    if not (questions.unsaid(recipe) or present.is_embedded()):
        failed = _has_failed(found, found.course.last)
        with st.expander(text.HEADS_FAILED if failed else text.HEADS, icon=":material/school:", key="heads learn"):
            st.markdown(escape(recipe.what.heads))
    browser_yield.yield_to_browser()


def _film(recipe: Recipe) -> int | None:
    """The next tick of the film of a recipe, None if none is playing."""
    film = page.visit_state().film
    return film[1] if film is not None and film[0] == recipe.alone else None


def _live(recipe: Recipe, live: bool, playing: bool) -> None:
    """Draws what changes during a training or a film; after the end it reruns the page without a timer."""
    found = courses.current_training(recipe)
    if live and not found.live:
        st.rerun()
    moment = _moment(recipe, found)
    draw_finding(_moment_text(recipe, found, moment))
    with st.container(key="course-live" if found.live else "course"):
        if not found.live:
            _controls(recipe, found, moment)
        elif recipe.at == LAST:
            _going(found, moment)
        else:
            _back(found, moment)
    courses.show_end(recipe, found)
    _pictures(recipe, found, moment)
    _failures(recipe)
    if playing and _film(recipe) is None:
        st.rerun()


def _draw_changed(recipe: Recipe, found: Shown, shown: Recipe) -> None:
    """Draws the button that trains changed settings, and below it, dimmed, the training that was `shown` before."""
    draw_finding(text.CHANGED)
    with st.container(key="course"):
        label = text.TRAIN_CHANGED.format(time=duration(seconds(recipe.alone)))
        if not present.is_embedded():
            _train_button(recipe, label, primary=True)
    courses.show_end(recipe, found)
    before = courses.current_training(shown)
    with st.container(key="dimmed"):
        _pictures(shown, before, before.course.nearest_frame(shown.at))
    _failures(recipe)


def _failures(recipe: Recipe) -> None:
    """Draws the trainings that fail; a page that is embedded has none."""
    if not present.is_embedded():
        training_curves.lessons(recipe)


def _pictures(recipe: Recipe, found: Shown, moment: Checkpoint) -> None:
    """Draws what the heads do at a step, the heads themselves, and the curves."""
    first = found.course.moments[0]
    seen = results.training.picture(recipe.alone, moment, first)
    learned = training_heads.sentences(recipe, moment, seen, _has_failed(found, moment))
    if not questions.unsaid(recipe):
        learned = training_curves.lesson_text(recipe) or learned
    with st.container(key="learned"):
        st.markdown(escape(_task_text(recipe, seen)))
        st.markdown(learned)
    training_grid(
        recipe,
        moment.step,
        courses.focus(recipe, found),
        seen.cells,
        seen.tokens,
        ("",) * len(seen.names) if questions.unsaid(recipe) else seen.names,
        on_pin=gestures.on_training_pin,
        over=seen.over,
        accuracy=(format_percent(first.accuracy), format_percent(moment.accuracy)),
        last=seen.last,
        copies=seen.several,
        lessons=page.visit_state().lessons,
    )
    if said := training_heads.selected(recipe, moment):
        st.markdown(said)
    if not present.is_embedded():
        terms.draw("training")
        training_curves.draw(recipe, found, moment)


def _task_text(recipe: Recipe, seen: results.training.Picture) -> str:
    """The task, and what of the tokens shown says which comes next, if an earlier copy does."""
    last = seen.tokens[-1]
    copies = recipe.task == "induction" and last in seen.tokens[:-1]
    return f"{recipe.what.says} {text.STRIP.format(last=last, next=seen.last)}" if copies else recipe.what.says


def _moment(recipe: Recipe, found: Shown) -> Checkpoint:
    """The checkpoint to show: that of the slider, or the next one of the film, which ends after the last."""
    frames, at = list(found.course.frames.values()), None if found.live else _film(recipe)
    if at is None:
        return found.course.nearest_frame(recipe.at)
    reel = film_reel(tuple(frame.loss for frame in frames))
    at = min(at, len(reel) - 1)
    page.visit_state().film = (recipe.alone, at + 1) if at + 1 < len(reel) else None
    return frames[reel[at]]


@cache
def film_reel(losses: tuple[float, ...]) -> list[int]:
    """The index of the picture that each tick of a film shows; it stays longer, the more the loss falls to the next."""
    falls = [max(0.0, before - after) for before, after in pairwise(losses)]
    most = max(falls, default=0.0) or 1.0
    return [at for at, fall in enumerate([*falls, 0.0]) for _ in range(1 + round(SLOW * fall / most))]


def _going(found: Shown, moment: Checkpoint) -> None:
    """Draws the progress of a training, and a button for going back to earlier steps."""
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container():
            courses.going(found)
        few = len(found.course.frames) < FEW
        st.button(
            text.EARLIER,
            key="back_to",
            on_click=page.change,
            kwargs={"at": moment.step},
            help=text.EARLIER_HELP,
            disabled=few,
        )


def _back(found: Shown, moment: Checkpoint) -> None:
    """Draws a slider over the steps so far during a training; the slider grows, but only the user moves it."""
    steps, task = list(found.course.frames), found.task
    done = text.TRAINING_AT.format(done=task.steps, steps=task.settings.steps) if task else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if page.widgets().get(STEP) != moment.step:
            page.widgets()[STEP] = moment.step
        st.select_slider(
            text.STEP_SHOWN.format(done=done),
            steps,
            key=STEP,
            format_func="{:,}".format,
            on_change=_on_slider_move,
            args=(steps[-1],),
        )
        st.button(text.LATEST, key="newest", icon=":material/fast_forward:", on_click=page.change, kwargs={"at": LAST})


def _controls(recipe: Recipe, found: Shown, moment: Checkpoint) -> None:
    """Draws play, the step that is shown, the speed, and the button that trains.

    There is a slider only while nothing moves: a browser would send the value that it received before the last picture.
    """
    steps = list(found.course.frames)
    playing = _film(recipe) is not None or moment.step != found.course.nearest_frame(recipe.at).step
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(steps) > 1:
            st.button(
                text.PAUSE if playing else text.PLAY_ALL if moment is found.course.nearest_frame(LAST) else text.PLAY,
                key="play",
                width=PLAY_WIDTH,
                icon=":material/pause:" if playing else ":material/play_arrow:",
                type="secondary" if playing else "primary",
                on_click=_play,
                args=(moment.step, playing),
            )
            if playing:
                st.progress(moment.step / recipe.steps, text.STEP_PLAYED.format(moment.step))
            else:
                page.widgets()[STEP] = moment.step
                st.select_slider(
                    text.STEP,
                    steps,
                    key=STEP,
                    format_func=text.STEP_PLAYED.format,
                    on_change=_on_slider_move,
                    args=(steps[-1],),
                    label_visibility="collapsed",
                )
            if not present.is_embedded():
                _speed()
        if not present.is_embedded() and (found.task is None or found.task.state != "done"):
            again = found.ships or found.task is not None
            given = {"steps": recipe.steps, "time": duration(seconds(recipe.alone))}
            label = (text.TRAIN_AGAIN if again else text.TRAIN).format(**given)
            _train_button(recipe, label, primary=not again)


def _speed() -> None:
    """Draws the speed of the film."""
    st.segmented_control(
        text.SPEED,
        list(SPEEDS),
        default=page.visit_state().speed,
        format_func=lambda speed: SPEEDS[speed],
        required=True,
        key=SPEED,
        on_change=_on_speed,
        width="content",
        label_visibility="collapsed",
    )


def _on_speed() -> None:
    """The speed was chosen: the view is drawn again, with another timer."""
    page.visit_state().speed = page.widgets()[SPEED] or 1.0
    page.change()


def _train_button(recipe: Recipe, label: str, primary: bool) -> None:
    """Draws the button that trains a recipe."""
    st.button(
        label,
        key="train",
        icon=":material/model_training:",
        type="primary" if primary else "secondary",
        on_click=courses.begin,
        args=(recipe,),
        disabled=refusal(recipe.alone, page.visitor()) is not None,
        help=text.TRAIN_HELP.format(time=duration(seconds(recipe.alone))),
    )


def _play(step: int, playing: bool) -> None:
    """Starts the film, from the beginning if it is at its end; or pauses it at a step."""
    recipe = page.setting()
    frames = courses.current_training(recipe).course.frames
    reel = film_reel(tuple(frame.loss for frame in frames.values()))
    last = [*frames][-1]
    first = 0 if step == last else reel.index([*frames].index(step))
    page.visit_state().film = None if playing else (recipe.alone, first)
    page.change(at=step if playing and step != last else LAST)


def _on_slider_move(last: int) -> None:
    """The slider was moved; the last step is stored as LAST."""
    step = page.widgets()[STEP]
    page.change(at=LAST if step == last else step)


def _has_failed(found: Shown, moment: Checkpoint) -> bool:
    """Whether a step is the end of a training that has not learned its task."""
    trained = found.ships or (found.task is not None and not found.live)
    return trained and moment is found.course.last and moment.step > 0 and moment.accuracy < courses.STRONG


def _moment_text(recipe: Recipe, found: Shown, moment: Checkpoint) -> str:
    """What the model achieves at a step and achieved before, or that it ended without learning its task."""
    template = text.FINDING if moment.step else text.UNTRAINED
    if (
        moment.step
        and recipe.task in text.FINDS
        and not questions.unsaid(recipe)
        and min(moment.accuracy, courses.telling(moment, OWN)[1]) >= courses.STRONG
    ):
        template = text.FOUND
    if _has_failed(found, moment):
        template = text.NOT_LEARNED
    finding = int((moment.scores[OWN] >= courses.STRONG).sum())
    return template.format(
        counts=recipe.what.counts,
        heads=text.FINDING_HEADS[finding == 1].format(count=finding),
        finds=text.FINDS.get(recipe.task, ""),
        before=format_percent(found.course.moments[0].accuracy),
        chance=format_percent(math.exp(-GUESS)),
        than=text.THAN[moment.loss > GUESS],
        step=f"{moment.step:,}",
        accuracy=format_percent(moment.accuracy),
        loss=format_mean(moment.loss),
        guess=format_mean(GUESS),
    )

"""Training: a small model learns, and its heads form; a film of its steps, live or recorded."""

from __future__ import annotations

import streamlit as st

from attention.components.heads_grid import training_grid
from attention.number_format import format_head, format_mean, format_percent
from attention.training.recipe import LAST, OWN, Recipe
from attention.training.run import Checkpoint
from attention.training.tasks import GUESS
from attention.ui import results
from attention.ui.heading import draw_finding, draw_title
from attention.ui.jobs.training_jobs import refusal
from attention.ui.markdown import escape
from attention.ui.results.training import Picture
from attention.ui.session import browser_yield, gestures, page
from attention.ui.text import terms
from attention.ui.text import training as text
from attention.ui.views import questions, training_curves
from attention.ui.views import training_course as courses
from attention.ui.views.training_course import Shown

TICK, LOOK = 0.45, 0.7  # seconds per picture of the film, and between two checks of a training
STEP = "moment"  # the key of the slider over the steps
FEW = 3  # number of steps from which on earlier ones can be shown
WAIT = 12  # maximum number of ticks of the first picture; the film continues as soon as a browser has it


def view(recipe: Recipe) -> None:
    """The page of a recipe."""
    if questions.question_closes(recipe):
        return
    found = courses.current_training(recipe)
    draw_title("training", courses.label(found), f"{escape(recipe.what.says)} {text.HELP}")
    if found.ships and recipe.at == LAST and recipe.alone not in page.visit_state().played:
        page.visit_state().film = recipe.alone, 0
    page.visit_state().played.add(recipe.alone)
    playing = not found.live and _film(recipe) is not None
    every = LOOK if found.live else TICK if playing else None
    st.fragment(_live, run_every=every)(recipe, found.live, playing)
    if not questions.unsaid(recipe):
        with st.expander("What the heads learn", icon=":material/school:"):
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
    waits = playing and (_film(recipe) or 0) < WAIT - 1
    moment = _moment(recipe, found)
    draw_finding(_moment_text(moment))
    with st.container(key="course-live" if found.live else "course"):
        if not found.live:
            _controls(recipe, found, moment)
        elif recipe.at == LAST:
            _going(found, moment)
        else:
            _back(found, moment)
    courses.show_end(recipe, found)
    seen = results.training.picture(recipe.alone, moment)
    training_grid(
        recipe,
        moment.step,
        courses.focus(recipe, found),
        seen.cells,
        seen.tokens,
        ("",) * len(seen.names) if questions.unsaid(recipe) else seen.names,
        on_pin=gestures.on_training_pin,
        on_seen=_on_first_frame if waits else None,
    )
    st.markdown(_heads_text(recipe, moment, seen))
    terms.draw("training")
    training_curves.draw(recipe, found, moment)
    training_curves.lessons(recipe)
    if playing and _film(recipe) is None:
        st.rerun()


def _moment(recipe: Recipe, found: Shown) -> Checkpoint:
    """The checkpoint to show: that of the slider, or the next one of the film, which ends after the last."""
    frames, at = list(found.course.frames.values()), None if found.live else _film(recipe)
    if at is None:
        return found.course.nearest_frame(recipe.at)
    reel = _reel(len(frames))
    at = min(at, len(reel) - 1)
    page.visit_state().film = (recipe.alone, at + 1) if at + 1 < len(reel) else None
    return frames[reel[at]]


def _on_first_frame() -> None:
    """The first picture of a film is on the screen: the next tick shows the second."""
    kept = page.visit_state()
    if kept.film is not None and kept.film[1] < WAIT:
        kept.film = kept.film[0], WAIT - 1


def _reel(pictures: int) -> list[int]:
    """The index of the picture that each tick of a film shows."""
    return [0] * WAIT + [*range(1, pictures)]


def _going(found: Shown, moment: Checkpoint) -> None:
    """Draws the progress of a training, and a button for going back to earlier steps."""
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container():
            courses.going(found)
        told = "Stays at this step and shows a slider over the earlier ones. Training continues."
        few = len(found.course.frames) < FEW
        st.button(
            "Show earlier steps",
            key="back_to",
            on_click=page.change,
            kwargs={"at": moment.step},
            help=told,
            disabled=few,
        )


def _back(found: Shown, moment: Checkpoint) -> None:
    """Draws a slider over the steps so far during a training; the slider grows, but only the user moves it."""
    steps, task = list(found.course.frames), found.task
    done = f" (training is at {task.steps:,} of {task.settings.steps:,})" if task else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if page.widgets().get(STEP) != moment.step:
            page.widgets()[STEP] = moment.step
        st.select_slider(
            f"Step shown{done}",
            steps,
            key=STEP,
            format_func="{:,}".format,
            on_change=_on_slider_move,
            args=(steps[-1],),
        )
        st.button(
            "Show latest step", key="newest", icon=":material/fast_forward:", on_click=page.change, kwargs={"at": LAST}
        )


def _controls(recipe: Recipe, found: Shown, moment: Checkpoint) -> None:
    """Draws play, the step that is shown, and the button that trains.

    There is a slider only while nothing moves: a browser would send the value that it received before the last picture.
    """
    steps = list(found.course.frames)
    playing = page.visit_state().film is not None or moment.step != found.course.nearest_frame(recipe.at).step
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(steps) > 1:
            icon = ":material/pause:" if playing else ":material/play_arrow:"
            st.button(
                "Pause" if playing else "Play", key="play", icon=icon, on_click=_play, args=(moment.step, playing)
            )
            if playing:
                st.progress(moment.step / recipe.steps, f"Step {moment.step:,}")
            else:
                page.widgets()[STEP] = moment.step
                st.select_slider(
                    "Step", steps, key=STEP, format_func="{:,}".format, on_change=_on_slider_move, args=(steps[-1],)
                )
        if found.task is None or found.task.state != "done":
            again = found.ships or found.task is not None
            st.button(
                "Train again" if again else f"Train: {recipe.steps:,} steps",
                key="train",
                icon=":material/model_training:",
                type="secondary" if again else "primary",
                on_click=courses.begin,
                args=(recipe,),
                disabled=refusal(recipe.alone, page.visitor()) is not None,
                help="Trains this model on the server. Visitors with the same settings share one training.",
            )


def _play(step: int, playing: bool) -> None:
    """Starts the film, from the beginning if it is at its end; or pauses it at a step."""
    recipe = page.setting()
    frames = list(courses.current_training(recipe).course.frames)
    first = WAIT - 1 + (0 if step == frames[-1] else frames.index(step))
    page.visit_state().film = None if playing else (recipe.alone, first)
    page.change(at=step if playing and step != frames[-1] else LAST)


def _on_slider_move(last: int) -> None:
    """The slider was moved; the last step is stored as LAST."""
    step = page.widgets()[STEP]
    page.change(at=LAST if step == last else step)


def _moment_text(moment: Checkpoint) -> str:
    """What the model achieves at a step."""
    return text.FINDING.format(
        step=f"{moment.step:,}",
        accuracy=format_percent(moment.accuracy),
        loss=format_mean(moment.loss),
        guess=format_mean(GUESS),
    )


def _heads_text(recipe: Recipe, moment: Checkpoint, seen: Picture) -> str:
    """Which heads attend to what, and what that achieves at one position."""
    (before, previous), (best, own) = (courses.telling(moment, name) for name in ("previous", OWN))
    told = [f"{_name(recipe, before)} puts a mean weight of {format_mean(previous)} on the previous token."] * (
        previous >= courses.STRONG
    )
    if own >= courses.STRONG:
        there = seen.most[best]
        told += [
            f"{_name(recipe, best)} puts {format_mean(own)} on {recipe.what.told} (uniform weights: {format_mean(seen.even)}).",
            f"At “{seen.tokens[seen.at]}” ({seen.at}) it attends most to “{seen.tokens[there]}” ({there}); "
            f"the next token is “{seen.next}”.",
        ]
        told += _rest(recipe, moment, best)
    heads = escape(" ".join(told) or "No head stands out yet." * (moment.accuracy < courses.STRONG))
    return questions.UNSAID if questions.unsaid(recipe) else heads


def _rest(recipe: Recipe, moment: Checkpoint, head: int) -> list[str]:
    """What the weights of a head do not show: its sink and its gate, a sentence each."""
    said = {
        "sinks": "Its sink has the logit {}: e to this power is in the denominator of every row.",
        "gates": "Its gate is {} on average: the share of what it finds that it hands on.",
    }
    found = ((text, getattr(moment, name)) for name, text in said.items())
    return [text.format(format_mean(float(part.flatten()[head]))) for text, part in found if part is not None]


def _name(recipe: Recipe, head: int) -> str:
    """A head by its index over all layers, in words."""
    return format_head(head % recipe.heads, head // recipe.heads)

"""Questions to a trained model: with some heads switched off, and about the user's own sequence; and its files."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import streamlit as st

from attention.array_files import safe_file
from attention.number_format import format_head, format_mean, format_percent, format_weight
from attention.steps import training_program
from attention.training.history import TrainingHistory
from attention.training.recipe import LEARNED, NUMBERS, RECIPES, REPLACED, Recipe, head_names
from attention.training.run import probe
from attention.training.tasks import VOCABULARY
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import training as words
from attention.ui.views import questions, training_costs, training_elsewhere, training_heads
from attention.ui.views import training_course as courses

TYPED = "typed"  # begins the key of the field
KNOBS = "off", "how"
LONGEST = 64  # maximum number of tokens, unless the positions are learned


def _ask_model(recipe: Recipe) -> None:
    """Draws the experiments with a trained model."""
    found = courses.current_training(recipe)
    course = found.course
    with st.expander(words.SWITCH_OFF, icon=":material/toggle_off:", key="switch off", expanded=True):
        st.markdown(training_heads.needed(recipe, found))
        _switches(recipe, course)
    with st.expander(words.TRY, icon=":material/edit:", key="try"):
        _words(recipe, course)


def _switches(recipe: Recipe, course: TrainingHistory) -> None:
    """Draws switches for all heads, and the resulting loss and accuracy."""
    st.caption(words.SWITCH_OFF_HELP)
    every = head_names(recipe.layers, recipe.heads)
    knobs.pills("off", recipe, every, format_func=_head_name, help=None, on_change=page.change)
    knobs.menu("how", recipe, help=words.REPLACED_HELP, width=260, on_change=page.change)
    whole, rest = results.training.without(course, ()), results.training.without(course, _off(recipe), recipe.how)
    left, right = st.columns(2)
    left.metric(
        words.ACCURACY_AFTER,
        format_percent(rest[1]),
        border=True,
        **_change(round(100 * rest[1], 1) - round(100 * whole[1], 1), 1, words.POINTS),  # of the numbers as shown
    )
    right.metric(words.LOSS_AFTER, format_mean(rest[0]), border=True, **_change(rest[0] - whole[0], 3, better=-1))
    if recipe.off:
        losses = {how: format_mean(results.training.without(course, _off(recipe), how)[0]) for how in REPLACED}
        st.caption(words.THREE_WAYS.format(**losses))
    training_costs.draw(recipe, course)


def _head_name(value: str) -> str:
    """A head as the charts name it, from the value of its switch, as in 1.3."""
    return "L{}H{}".format(*value.split("."))


def _change(by: float, places: int, told: str = "{change}", better: int = 1) -> dict[str, Any]:
    """The options of a metric that has changed; Streamlit reads the sign of a hyphen only, not of a minus."""
    if abs(by) < 0.5 / 10**places:
        return {}
    shown = told.format(change=f"{by:+.{places}f}".replace("-", "−"))
    arrow, color = "up" if by > 0 else "down", "green" if by * better > 0 else "red"
    return {"delta": shown, "delta_arrow": arrow, "delta_color": color}


def _off(recipe: Recipe) -> tuple[tuple[int, int], ...]:
    """The heads that are switched off, as (layer, head)."""
    pairs = (name.split(".") for name in recipe.off)
    return tuple(sorted((int(layer), int(head)) for layer, head in pairs))


def _words(recipe: Recipe, course: TrainingHistory) -> None:
    """Draws a field for a sequence, the predictions of the model for it, and what each head attends to from its end."""
    known = escape(" ".join(text for text in dict.fromkeys(recipe.what.texts) if text != "·"))
    usual = " ".join(recipe.what.texts[token] for token in probe(recipe).ids[0, :-1].tolist())
    typed = st.text_input(
        words.TOKENS,
        usual,
        max_chars=400,
        key=f"{TYPED} {recipe.task}",
        help=words.TOKENS_HELP.format(known=known),
    )
    ids, strange = _parse_tokens(recipe, typed)
    if len(typed.split()) > _longest(recipe):
        why = words.LEARNED if recipe.positions == LEARNED else words.SHORTER
        st.caption(words.TOO_LONG.format(most=_longest(recipe), why=why))
    if strange:
        told = words.UNKNOWN.format(unknown=escape(", ".join(strange)), known=known)
        st.warning(told, icon=":material/info:")
    if len(ids) < 2:
        st.caption(words.TOO_SHORT)
        return
    said = results.training.read_sequence(course, ids, _off(recipe), recipe.how)
    last, predicted = (escape(recipe.what.texts[token]) for token in (ids[-1], said.next[-1]))
    without = words.WITHOUT.format(heads=", ".join(map(_head_name, recipe.off))) if recipe.off else ""
    sure = format_percent(said.sure[-1])
    st.markdown(words.PREDICTS.format(last=last, next=predicted, probability=sure, without=without))
    left, right = st.columns(2)
    left.dataframe(_places(recipe, said), hide_index=True, height=260, key="places")
    right.dataframe(_looks(recipe, said), hide_index=True, height=260, key="looks")


def _parse_tokens(recipe: Recipe, typed: str) -> tuple[tuple[int, ...], list[str]]:
    """The tokens of a text, and words that the task does not know; `->` is the mark, and a text that is too long is cut."""
    known = {text: i for i, text in reversed(list(enumerate(recipe.what.texts))) if text != "·"}
    words = [("→" if word == "->" else word) for word in typed.split()][: _longest(recipe)]
    return tuple(known[word] for word in words if word in known), list(
        dict.fromkeys(w for w in words if w not in known)
    )


def _longest(recipe: Recipe) -> int:
    """The maximum number of tokens that are read from a text."""
    return recipe.what.tokens if recipe.positions == LEARNED else LONGEST


def _places(recipe: Recipe, said: results.training.Said) -> pa.Table:
    """A table with a line per position, last first: its token, the most likely next one, and whether that is correct."""
    told = recipe.what.texts
    came = [*said.ids[1:], None]
    rows = list(zip(range(len(said.ids)), said.ids, said.next, said.sure, came, strict=True))[::-1]
    columns = [
        [place for place, *_ in rows],
        [told[token] for _, token, *_ in rows],
        [told[token] for _, _, token, *_ in rows],
        [format_percent(sure) for *_, sure, _ in rows],
        ["✓" if guess == next_ else "" for _, _, guess, _, next_ in rows],
    ]
    return pa.table(columns, words.PREDICTIONS)


def _looks(recipe: Recipe, said: results.training.Said) -> pa.Table:
    """A table of the key that gets most of each head's weight from the last position."""
    told, last = recipe.what.texts, said.weights[:, :, -1]
    most, key = last.max(-1)
    rows = [(layer, head) for layer in range(recipe.layers) for head in range(recipe.heads)]
    names, off = [format_head(head, layer) for layer, head in rows], _off(recipe)
    columns = [
        [words.OFF.format(head=name) if at in off else name for name, at in zip(names, rows, strict=True)],
        [int(key[at]) for at in rows],
        [told[said.ids[int(key[at])]] for at in rows],
        [format_weight(float(most[at])) for at in rows],
    ]
    return pa.table(columns, words.ATTENDS)


def _files(recipe: Recipe) -> None:
    """Draws downloads of the weights, the run and the program; they are made on a click, outside of a run."""
    with st.expander(words.DOWNLOADS, icon=":material/download:"):
        training_elsewhere.draw(recipe)
        st.markdown(words.FILES)
        _draw_downloads(recipe)


def _draw_downloads(recipe: Recipe) -> None:
    found = courses.current_training(recipe)
    with st.container(horizontal=True):
        if found.has_usable_model:
            st.download_button(
                words.WEIGHTS,
                lambda: _weights(found.course),
                f"{recipe.task}.safetensors",
                key="weights",
                on_click="ignore",
            )
        st.download_button(
            words.RUN,
            lambda: _run(found.course),
            f"{recipe.task}.json",
            "application/json",
            key="run",
            on_click="ignore",
        )
        st.download_button(
            words.PROGRAM,
            lambda: training_program.source(recipe.alone),
            f"train_{recipe.task}.py",
            "text/x-python",
            key="program",
            on_click="ignore",
            help=words.PROGRAM_HELP,
        )


def _weights(course: TrainingHistory) -> bytes:
    return safe_file.write_safetensors(dict(course.model().named_parameters()), RECIPES.to_query(course.recipe))


def _run(course: TrainingHistory) -> str:
    """The settings and the recorded checkpoints as JSON; head scores are lists by layer and head."""
    moments: list[dict[str, Any]] = [
        {"step": each.step, "loss": _finite(each.loss), "accuracy": each.accuracy}
        | {name: each.scores[name].tolist() for name in NUMBERS if each.sound}
        for each in course.moments
    ]
    return json.dumps({"settings": vars(course.recipe), "vocabulary": VOCABULARY, "moments": moments}, indent=1)


def _finite(number: float) -> float | None:
    return number if abs(number) < float("inf") else None


def _look(recipe: Recipe) -> object:
    """The state that the part is drawn with; None while there is no model to ask, or a question hides it."""
    found = courses.current_training(recipe)
    return (
        (recipe.alone, recipe.off, recipe.how, id(found.course.parameters))
        if found.has_usable_model and not questions.is_hidden(recipe)
        else None
    )


def _look_files(recipe: Recipe) -> object:
    if questions.is_hidden(recipe):
        return None
    found = courses.current_training(recipe)
    shown = recipe.at, recipe.head, recipe.off, recipe.how
    return recipe.alone, shown, found.has_usable_model, found.task is None


ASKED = page.Part("asked", _ask_model, _look, frozenset(map(RECIPES.key, KNOBS)))
FILES = page.Part("files", _files, _look_files, blocks=3)

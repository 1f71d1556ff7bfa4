"""Links to the heads of a training on other pages: a shipped one by a link, the visitor's own within the visit."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException

from attention.array_files.limits import DataError
from attention.codec import to_query
from attention.config import Config
from attention.imported.stack import Stack
from attention.knobs import TRAINED
from attention.operations.gate import OFF
from attention.training.head_scores import texts
from attention.training.recipe import Recipe
from attention.training.run import Checkpoint, probe
from attention.training.shipped import own
from attention.ui import next_step
from attention.ui.markdown import escape
from attention.ui.session import page, uploads
from attention.ui.text import training as text
from attention.ui.views import training_course as courses

PAGES = "heads", "layers", "softmax", "masks", "steps"  # the pages that need only queries and keys
OPEN = 4  # steps of trainings per visit: the oldest is closed for a new one
ARROW = ":material/arrow_forward:"


def draw(recipe: Recipe) -> None:
    """Draws the links to other pages for the heads that are shown."""
    found = courses.current_training(recipe)
    if not found.ships and found.task is None:
        st.caption(text.OTHER_PAGES_LATER)
        return
    if recipe.halves > 1:
        st.caption(text.TWO_EACH)
        return
    st.markdown(text.OTHER_PAGES)
    with st.container(horizontal=True):
        for name in PAGES:
            label = text.OPEN_ON.format(page=name.capitalize())
            if found.ships:
                config = _of(f"{TRAINED}:{recipe.task}", recipe)
                step = found.course.nearest_frame(recipe.at).step
                next_step.page_link(name, label, to_query(replace(config, training_step=step)), ARROW)
            else:
                st.button(label, key=f"open {name}", icon=ARROW, on_click=_on_open_click, args=(name,))
    if name := page.visit_state().leads:
        page.visit_state().leads = ""
        _open(name, recipe)
    if not found.ships:
        st.caption(text.OTHER_PAGES_STEP)


def _on_open_click(name: str) -> None:
    """Records the click, because a run in progress may start again and would forget it."""
    page.visit_state().leads = name


def _of(source: str, recipe: Recipe) -> Config:
    """The config of the selected head, for a source that has all heads of a recipe."""
    layer, head = divmod(courses.focus(recipe, courses.current_training(recipe)), recipe.heads)
    return Config.of(source, layer=layer, head=head)


def _open(name: str, recipe: Recipe) -> None:
    """Keeps the step that is shown as a source, and opens a page with it."""
    moment = courses.current_training(recipe).course.nearest_frame(recipe.at)
    try:
        query = to_query(_of(register_step(recipe.alone, moment), recipe))
    except DataError as error:
        st.warning(escape(str(error)), icon=":material/info:")
        return
    try:
        st.switch_page(f"pages/{name}.py", query_params=query)
    except StreamlitAPIException:  # the page runs alone, without the menu that knows the others
        st.markdown(f"[{text.OPEN_ON.format(page=name.capitalize())}](/{name}?{urlencode(query)})")


def register_step(recipe: Recipe, moment: Checkpoint) -> str:
    """The source of a step of a training in this visit; raises DataError if there is no room for it."""
    kept, key = page.visit_state().steps, (recipe, moment.step)
    if kept.get(key) in uploads.sources():
        return kept[key]
    for old in [*kept][: max(0, len(kept) - OPEN + 1)]:
        uploads.close(kept.pop(old))
    title = text.SOURCE_STEP.format(task=recipe.task, step=moment.step)
    kept[key] = uploads.hold(_stack(recipe, moment), "training", title)
    return kept[key]


def _stack(recipe: Recipe, moment: Checkpoint) -> Stack:
    words, gated = texts(recipe, probe(recipe)), text.SOURCE_GATED if recipe.gate != OFF else ""
    what = text.SOURCE_WHAT.format(task=recipe.task, step=moment.step, steps=recipe.steps, gated=gated)
    own_values = {"own": own(recipe), "sinks": moment.sinks}
    return Stack(text.SOURCE.format(task=recipe.task), what, words, words, moment.q, moment.k, **own_values)

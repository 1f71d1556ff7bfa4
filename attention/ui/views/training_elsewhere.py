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
from attention.models.heads_off import HeadsOff
from attention.operations.gate import OFF
from attention.pinned import pin
from attention.training.head_scores import texts
from attention.training.recipe import LAST, Recipe
from attention.training.run import Checkpoint, probe
from attention.training.shipped import own
from attention.ui import next_step, results
from attention.ui.markdown import escape
from attention.ui.session import page, uploads
from attention.ui.text import training as text
from attention.ui.views import training_course as courses

PAGES = "heads", "layers", "softmax", "masks", "steps"  # the pages that need only queries and keys
OPEN = 4  # steps of trainings per visit: the oldest is closed for a new one
ARROW, COMPARES = ":material/arrow_forward:", ":material/compare_arrows:"
WITHOUT = "without"  # in place of a page: heads with and without those that are off


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
    after = min((layer for layer, _ in _off(recipe)), default=recipe.layers) + 1
    offers = found.has_usable_model and after < recipe.layers
    if offers:
        off = _off(recipe)
        named = f"L{off[0][0]}H{off[0][1]}" if len(off) == 1 else text.MANY_OFF.format(count=len(off))
        st.button(
            text.WITHOUT.format(heads=named),
            key="compare without",
            icon=COMPARES,
            on_click=_on_open_click,
            args=(WITHOUT,),
        )
    if name := page.visit_state().leads:
        page.visit_state().leads = ""
        if name != WITHOUT:
            _open(name, recipe)
        elif offers:
            _compare(recipe, found, after)
    if not found.ships:
        st.caption(text.OTHER_PAGES_STEP)


def _on_open_click(name: str) -> None:
    """Records the click, because a run in progress may start again and would forget it."""
    page.visit_state().leads = name


def _of(source: str, recipe: Recipe) -> Config:
    """The config of the selected head, for a source that has all heads of a recipe."""
    layer, head = divmod(courses.focus(recipe, courses.current_training(recipe)), recipe.heads)
    return Config.of(source, layer=layer, head=head)


def _off(recipe: Recipe) -> tuple[tuple[int, int], ...]:
    """The heads that are switched off, as (layer, head)."""
    pairs = (name.split(".") for name in recipe.off)
    return tuple(sorted((int(layer), int(head)) for layer, head in pairs))


def _compare(recipe: Recipe, found: courses.Shown, layer: int) -> None:
    """Keeps the heads of the trained model with and without those that are off as sources, and compares a layer of them."""
    course, alone = found.course, recipe.alone
    last, head = course.nearest_frame(LAST), courses.focus(recipe, found) % recipe.heads
    without = replace(alone, off=recipe.off, how=recipe.how)
    try:
        a, b = (
            Config.of(
                register_step(of, results.training.heads_without(course, last, _off(of), of.how)),
                layer=layer,
                head=head,
            )
            for of in (alone, without)
        )
    except DataError as error:
        st.warning(escape(str(error)), icon=":material/info:")
        return
    _switch("heads", to_query(replace(b, against=pin(a))))


def _open(name: str, recipe: Recipe) -> None:
    """Keeps the step that is shown as a source, and opens a page with it."""
    moment = courses.current_training(recipe).course.nearest_frame(recipe.at)
    try:
        query = to_query(_of(register_step(recipe.alone, moment), recipe))
    except DataError as error:
        st.warning(escape(str(error)), icon=":material/info:")
        return
    _switch(name, query)


def _switch(name: str, query: dict[str, str]) -> None:
    try:
        st.switch_page(f"pages/{name}.py", query_params=query)
    except StreamlitAPIException:  # the page runs alone, without the menu that knows the others
        st.markdown(f"[{text.OPEN_ON.format(page=name.capitalize())}](/{name}?{urlencode(query)})")


def register_step(recipe: Recipe, moment: Checkpoint) -> str:
    """The source of a step of a training in this visit, with its heads that are off; raises DataError if there is no room."""
    kept, key = page.visit_state().steps, (recipe, moment.step)
    if kept.get(key) in uploads.sources():
        kept[key] = kept.pop(key)  # the newest again
        return kept[key]
    for old in [*kept][: max(0, len(kept) - OPEN + 1)]:
        uploads.close(kept.pop(old))
    title = text.SOURCE_STEP.format(task=recipe.task, step=moment.step)
    if recipe.off:
        title = text.SOURCE_OFF.format(source=title, off=HeadsOff(_off(recipe), recipe.how, "").title)
    kept[key] = uploads.hold(_stack(recipe, moment), "training", title)
    return kept[key]


def _stack(recipe: Recipe, moment: Checkpoint) -> Stack:
    words, gated = texts(recipe, probe(recipe)), text.SOURCE_GATED if recipe.gate != OFF else ""
    what = text.SOURCE_WHAT.format(task=recipe.task, step=moment.step, steps=recipe.steps, gated=gated)
    own_values = {"own": own(recipe), "sinks": moment.sinks}
    return Stack(text.SOURCE.format(task=recipe.task), what, words, words, moment.q, moment.k, **own_values)

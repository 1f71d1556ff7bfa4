"""The next step of each page: a sentence that is true of the current settings, with a link that carries them.

To give a page its step, write a function of its settings and add it to `NEXT_STEPS`. `page_link` draws a link to a page,
`go_to` opens a page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.navigation.page import StreamlitPage

from attention.codec import NEWEST, to_query
from attention.config import Config
from attention.knobs import KINDS
from attention.published.bug_series import BugSeries
from attention.published.hunts import BUGS
from attention.recorded.shipped import SHIPPED
from attention.sources.providers import has_scores
from attention.steps.plan import made_here
from attention.story.settings import Story
from attention.streamlit_internals import drop_waiting_fragments
from attention.ui.markdown import escape
from attention.ui.menu import FIRST, page_title

ANOTHER_EXAMPLE = {"steps": "softmax step by step, on another example"}  # of pages that speak of the head they show
REAL = "recorded:smollm2-repeated"  # several layers of a real model


class Root(StreamlitPage):
    """The page at the root, with an address for links: browsers resolve a link to `?…` alone to the current page."""

    @property
    def url_path(self) -> str:
        """The folder of the page that contains the link."""
        return "."


@dataclass(frozen=True)
class NextStep:
    """The next page, what the user finds there, and the query that opens it; an empty query keeps the settings."""

    page: str
    says: str
    query: Mapping[str, str]

    @property
    def label(self) -> str:
        """The step as a line of text."""
        return f"Next: {self.says} → {page_title(self.page)}"


def page_link(page: str, label: str, query: Mapping[str, str], icon: str | None = None) -> None:
    """Draws a link to a page within the session, or to its address if the current page runs without the menu."""
    file = f"pages/{page}.py"
    try:
        to = Root(file, title=label, default=True) if page == FIRST else file  # as in app.py
        st.page_link(to, label=label, icon=icon, query_params=query)
    except StreamlitAPIException:
        path = "" if page == FIRST else page
        st.link_button(label, f"/{path}?{urlencode(query)}" if query else f"/{path}", type="tertiary")


def go_to(page: str, query: Mapping[str, str]) -> None:
    """Switches to another page within the session; does nothing if the current page runs without the menu."""
    drop_waiting_fragments()
    with suppress(StreamlitAPIException):
        st.switch_page(f"pages/{page}.py", query_params=query)


def layers_query(query: Mapping[str, str]) -> dict[str, str]:
    """The query that opens Layers on these heads, with its map of what each head does unless a statistic was chosen."""
    return {**NEWEST, "layer_map": KINDS, **query}


def next_step(page: str, setting: Any, leaves_example: bool = False) -> NextStep | None:
    """The step from a page under its settings; None if there is none yet, or if the page has none, as in tests.

    `leaves_example`: whether the page shows an example of its own, which the step leaves behind.
    """
    step = NEXT_STEPS[page](setting) if page in NEXT_STEPS else None
    return replace(step, says=ANOTHER_EXAMPLE[page]) if step and leaves_example and page in ANOTHER_EXAMPLE else step


def draw(page: str, setting: Any, leaves_example: bool = False) -> None:
    """Draws the step from a page as a line with a link."""
    if step := next_step(page, setting, leaves_example):
        page_link(step.page, escape(step.label), step.query)


@lru_cache(maxsize=256)  # asked several times per picture, and creating a config validates it
def _to(page: str, says: str, config: Config, **changed: Any) -> NextStep:
    """The step to a page with the same settings, except for some knobs."""
    query = to_query(replace(config, **changed))
    return NextStep(page, says, query or (NEWEST if changed else {}))


def _start(story: Story) -> NextStep:
    head = (Story() if story.is_own else story).config  # the visitor's own sentence has a link of its own there
    return NextStep("heads", f"this head beside the other {head.heads - 1} of its layer", to_query(head))


def _heads(config: Config) -> NextStep:
    if config.truncated is not config:
        return _to("masks", f"what each mask would save over {config.tokens:,} tokens", config)
    if not has_scores(config.source):
        return _to("masks", "which keys are visible to a query, mask by mask", config)
    if made_here(config):
        return _to("steps", "the whole pass from x to output, one matrix at a time", config)
    return _to("steps", f"how queries and keys of head {config.head} become its weights", config, step="scores")


def _steps(config: Config) -> NextStep:
    if (config.scale, config.temperature) != ("1/sqrt(d_head)", 1.0):
        return _to("softmax", "why scores are divided by the square root of d_head", config, topic="scaling")
    return _to("softmax", f"how head {config.head} computes its weights, step by step", config, topic="row")


def _softmax(config: Config) -> NextStep:
    return _to("masks", "which pairs are masked, and how masking a key changes the other weights", config)


def _masks(config: Config) -> NextStep:
    return NextStep("training", "watch heads form in training", {})


def _training(recipe: Any) -> NextStep:
    return NextStep("examples", "what such heads do in a real model, and other examples", {})


def _examples(tour: Any) -> NextStep:
    says = "heads of several layers of a real model, and which are similar"
    layer, head, _ = SHIPPED[REAL.removeprefix("recorded:")].opens or (0, 0, 0)
    return NextStep("layers", says, layers_query({"source": REAL, "layer": str(layer), "head": str(head)}))


def _layers(config: Config) -> NextStep:
    return NextStep("model", "every head of a model on one sentence, and whether others do the same", {})


def _model(reading: Any) -> NextStep:
    return NextStep("your_data", "attention of a model of your own, from a file", {})


def _your_data(how: Any) -> NextStep:
    return NextStep("timing", "how long attention takes, and from which length a GPU is faster", {})


def _timing(sweep: Any) -> NextStep:
    says = "the same pass in published code, and where that code goes wrong"
    return NextStep("implementations", says, {})


def _implementations(config: Config) -> NextStep:
    return NextStep("find_the_bug", "ten bugs to find yourself, by their maps and lines", {})


def _find_the_bug(series: BugSeries) -> NextStep | None:
    """The step from the last bug; the others have a button for the next one."""
    if series.bug != list(BUGS)[-1]:
        return None
    return NextStep(FIRST, "one head of a real model, in three steps", {})


NEXT_STEPS: dict[str, Callable[[Any], NextStep | None]] = {  # in the order of the menu
    "start": _start,
    "heads": _heads,
    "steps": _steps,
    "softmax": _softmax,
    "masks": _masks,
    "training": _training,
    "examples": _examples,
    "layers": _layers,
    "model": _model,
    "your_data": _your_data,
    "timing": _timing,
    "implementations": _implementations,
    "find_the_bug": _find_the_bug,
}

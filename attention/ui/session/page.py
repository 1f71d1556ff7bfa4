"""The frame of every page: its controls, the view and the parts around it.

The single source of truth is one frozen settings object, mirrored in the URL. Widgets only display it; their keys are the
knobs, and they are re-seeded when they differ. The view is a fragment, and so are the parts around it, including the
controls: fragment reruns coalesce to the newest value, while full reruns would pile up (one thread each). A widget that
was moved reruns the view by name. A part is rerun only if it looks different now; otherwise parts would cause most of the
messages of a change.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import streamlit as st

from attention.components.copy_link import copy_link
from attention.lessons.cards import Card
from attention.runtime.threads import one_thread
from attention.streamlit_internals import draw_instead, has_pages_directory, running_fragments
from attention.ui import next_step
from attention.ui.budget import UNDER_WAY
from attention.ui.controls.kind import CHOSEN_WIDTH, Kind
from attention.ui.controls.picture import PICTURE
from attention.ui.menu import page_title
from attention.ui.session import model_run, present, share, training_heartbeat, uploads
from attention.ui.session.address_bar import arrive, write_link
from attention.ui.session.card_in_link import current_card
from attention.ui.session.memory_gate import memory_gate
from attention.ui.session.notes import draw_notes
from attention.ui.session.part import Part
from attention.ui.session.visit_state import Session, VisitState, put, reconcile, session, taken_up, widgets
from attention.ui.session.widget_sync import WidgetSync

__all__ = ["Part", "change", "put", "show", "widgets"]

# Inlined: Material icons come from another host, and a browser fetches a file again whenever the address changes.
ICON = "data:image/png;base64," + b64encode(Path(__file__).with_name("icon.png").read_bytes()).decode()
HURRY = 0.5  # seconds between two changes while the user is still searching for a value
View = Callable[[Any], None]
STYLES = ("page.css", "card.css", "one_picture.css", "touch.css", "print.css")
LOOKS = "".join(f"<style>{Path(__file__).with_name(name).read_text('utf-8')}</style>" for name in STYLES)  # read once


def show(
    view: View,
    kind: Kind[Any] = PICTURE,
    ahead: Callable[[Any], object] | None = None,
    any_length: bool = False,
    title: Part | None = None,
    above: Sequence[Part] = (),
    below: Sequence[Part] = (),
    aside: Sequence[Part] = (),
) -> None:
    """Draws a page about settings of one kind: its controls in the sidebar, and the view, named after the view's module.

    The parts `above` and `below` are drawn above and below the view, and `aside` beside the title. Between a `title` and the
    parts `above` is the finding of the view; without one the view draws both. Every page keeps the visitor's training running.

    `ahead` starts what the view waits for, as soon as the settings are known. Unless the view draws `any_length`, a
    config that is too long for a trace is cut to its first tokens, and the page says so. The parts get the whole config.
    """
    state = _begin(view.__module__, kind)
    controls, below = _controls(kind), [*below, _onward(state.page, kind)]
    before = [*aside, *([title] if title else [])]
    aside, above, below = (present.beside_picture(parts) for parts in (before, above, below))
    state.ahead = ahead
    state.parts = {part.name: part for part in (controls, *aside, *above, *below)}
    state.looks, state.follow, state.leaves = {}, frozenset(), False
    reconcile()
    _start_computing(taken_up())
    with st.sidebar:
        _beside([controls])
    _beside(aside)
    state.below_title = st.empty() if title else None
    _beside(above)
    _view(view, any_length)
    _beside(below)
    training_heartbeat.keep_alive()


def change(**values: Any) -> None:
    """Sets knobs and shows the result. This is the callback of everything that changes a setting.

    Knobs that the current page does not have are ignored: they come from a page that the user has left.
    """
    state = session()
    if not values.keys() <= state.here.kind.settings.knobs.keys():
        return
    reconcile()
    put(**values)
    _start_computing(taken_up())
    if run := running_fragments():  # otherwise the whole page is about to run
        state.run, state.follow = run, state.stale_parts(state.current_looks())
        draw_instead(["view", *(name for name in state.parts if name in state.follow)])


def _reset(prefix: str, **usual: Any) -> None:
    """Sets knobs back; and switches and choices of several whose keys begin with `prefix`, if it has any letters.

    No button may have such a key, as the value of a button can't be set.
    """
    for key, value in list(widgets().items()):
        if prefix and str(key).startswith(prefix) and isinstance(value, bool | list):
            widgets()[key] = type(value)()  # deleted, it would come back from the browser
    change(**usual)


def note(notes: Sequence[str]) -> None:
    """Adds messages to those that the view shows; call it before `change`."""
    session().here.notes = [*notes]


def resend_menu(name: str, said: str) -> None:
    """Sends a menu's value again if the label of its choice, `said`, has changed. Call it before the menu is drawn."""
    here = session().here
    if here.labels.get(name, said) != said:
        session().told.set(widgets(), here.by_widget_key({name: getattr(here.setting, name)}))
    here.labels[name] = said


def is_hurried() -> bool:
    """Whether the view that is being drawn follows closely on the previous one."""
    return session().hurried


def arrives() -> bool:
    """Whether the view that is being drawn is the first of this session."""
    return session().arrives


def visitor() -> str:
    """A name for this session: work that visitors share has to know who waits for it."""
    return session().visitor


def visit_state() -> VisitState:
    """What single pages keep for their next run."""
    return session().kept


def take_opened() -> dict[str, str]:
    """The query of the link that was opened, on the first call after that; {} on others."""
    return session().here.take_opened()


def setting() -> Any:
    """The settings that the page shows, for a callback."""
    return session().here.setting


def card() -> Card | None:
    """The card that the page shows, None if there is none."""
    return current_card(session())


def open_query(query: Mapping[str, str]) -> Any:
    """The settings that a query of this page opens."""
    return session().here.kind.open(query)[0]


def current_setting() -> Any:
    """The settings as the widgets hold them now, for a callback that uses them before the page is drawn again."""
    reconcile()
    return taken_up()


def leave_for(page: str, query: Mapping[str, str], setting: Any = None) -> None:
    """Opens another page from the view, with a query. The settings of this page become `setting`, if one is given."""
    state = session()
    state.here.setting, state.leaves = setting or state.here.setting, True
    next_step.go_to(page, query)


def view_export() -> Callable[[], Any]:
    """Returns a function that returns what this session's view has drawn: files are made on a click, outside of a run."""
    state = session()
    return lambda: state.drawn


def _begin(module: str, kind: Kind[Any]) -> Session:
    """Does what every page does first: applies styles, names the page, and takes up its link."""
    name = module.rpartition(".")[2]
    title = page_title(name)
    # without settings, the sidebar has only the buttons that all pages have
    has_settings = not (present.is_embedded() or kind.closed) and kind.names and kind.applies()
    sidebar = "auto" if has_settings else "collapsed"
    st.set_page_config(f"{title} · Attention Lab", ICON, layout="wide", initial_sidebar_state=sidebar)
    _through_menu(name)
    one_thread()
    st.html(LOOKS + present.embedded_mark())
    st.html(f'<h1 class="heard-page">{title}</h1>')  # for screen readers, where the page draws no title
    # a fragment may only write where the page has written before
    st.sidebar.container(height=1, border=False, key="top")
    state = session()
    elsewhere = state.page != name
    if elsewhere:  # the previous page had other widgets, and their values are gone with them
        state.told = WidgetSync(state.told.turn)
        state.kept.here.clear()
        state.kept.source_here = ""
    state.page, state.about = name, kind.settings.called
    arrive(state, kind, elsewhere)
    return state


def _through_menu(name: str) -> None:
    """Runs the page through app.py, even if it is the first request of a fresh server.

    Until some session has named its pages, Streamlit takes the folder pages/ for a menu of its own and runs the page
    without app.py (seen in 1.67). Naming any page ends that.
    """
    if has_pages_directory():
        st.navigation([st.Page("app.py", default=True), st.Page(lambda: None, url_path=name, title=name)])
        st.rerun()


def _now(fragment: str) -> Any:
    """The settings of this run. The first fragment takes them up from the widgets, before any widget is drawn."""
    state, run = session(), running_fragments()
    state.begin(fragment)
    if run is not None and run is not state.run:
        state.run = run
        reconcile()
        taken_up()
    return state.here.setting


def _start_computing(setting: Any) -> None:
    """Starts computing what the view of these settings waits for."""
    state = session()
    if state.ahead and UNDER_WAY.is_little(state.here.kind.takes(setting)):
        state.ahead(setting)


def _takes(drawn: Any, any_length: bool) -> int:
    """Bytes that a view takes while it is drawn; 0 for a long sequence, which claims its own."""
    is_long = any_length and getattr(drawn, "truncated", drawn) is not drawn
    return 0 if is_long else session().here.kind.takes(drawn)


@st.fragment(key="view")
def _view(view: View, any_length: bool) -> None:
    one_thread()
    state, setting, now = session(), _now("view"), monotonic()
    state.arrives, state.hurried = state.viewed is None, now - (state.viewed or 0.0) < HURRY
    state.viewed = now
    if state.below_title and not running_fragments():  # a later run of the view may only write where this one has
        state.below_title.empty()
    state.drawn, cut = (setting, "") if any_length else state.here.kind.shown(setting)
    with st.container():  # always there: if an element appears or disappears, a browser redraws everything below it
        present.draw_mark(setting)
        uploads.tell()
        model_run.tell()
        draw_notes(state.here.notes)
        if cut:
            st.caption(cut)
    state.kept.closed = False
    try:
        with memory_gate(state.drawn, _takes(state.drawn, any_length)):
            present.draw(view, state.drawn, change)
    finally:
        if not state.leaves:  # otherwise the address bar belongs to the page that opens
            write_link()
    present.draw_way_out()
    looks = state.current_looks()
    elsewhere = (part.knobs for name, part in state.parts.items() if looks[name] is not None)
    _send_mark("view", state.told.waiting.difference(*elsewhere))
    if not state.stale_parts(looks) <= state.follow:  # a widget of the view has changed a part next to it
        st.rerun()


def _beside(parts: Sequence[Part]) -> None:
    for part in parts:
        st.fragment(_part, key=part.name)(part)


def _part(part: Part) -> None:
    one_thread()
    state, setting = session(), _now(part.name)
    look = part.look(setting)
    if look is None:
        for _ in range(part.blocks + bool(part.knobs)):  # a browser may keep an element that nothing replaces
            st.empty()
    else:
        part.draw(setting)
        if part.knobs:
            _send_mark(part.name, part.knobs)
    state.looks[part.name] = look
    state.follow -= {part.name}


def _send_mark(part: str, names: Collection[str]) -> None:
    """Sends the mark for the values of these widgets. Call it after the widgets with these keys are drawn."""
    mark = session().told.mark_sent(widgets(), part, names)
    st.color_picker(mark, widgets()[mark], mark, label_visibility="collapsed")


def _controls(kind: Kind[Any]) -> Part:
    """The sidebar of settings, with the buttons that every sidebar ends with."""

    def draw(setting: Any) -> None:
        if kind.applies():
            kind.draw(setting, {**session().here.stops, **_opened_names()}, change)
        with st.container(horizontal=True, vertical_alignment="center", key="share"):
            copy_link()
            share.offer()
            usual, what = vars(kind.open(kind.begins)[0]), "Resets every setting to what this page opens with."
            st.button("Reset", on_click=_reset, args=(kind.prefix,), kwargs=usual, key="reset", help=what)

    return Part("controls", draw, lambda setting: (kind.look(setting), kind.applies(), _opened_names()), kind.keys)


def _opened_names() -> dict[str, tuple[Any, ...]]:
    """What this visit has opened: uploads and recordings of timings; and the d_model that was chosen, if it had to move."""
    chosen = session().here.wishes.get("d_model", 0)
    return {"source": uploads.sources(), "recordings": tuple(session().kept.opened), CHOSEN_WIDTH: (chosen,)}


def _onward(page: str, kind: Kind[Any]) -> Part:
    """The next step, at the end of every page that no question hides; it leaves the example of a page behind."""

    def look(setting: Any) -> object:
        return None if session().kept.closed else next_step.next_step(page, *kind.leave_example(setting))

    return Part("onward", lambda setting: next_step.draw(page, *kind.leave_example(setting)), look)

"""How every page begins. Sole owner of st.query_params.

The truth is one frozen setting in the session and in the address bar; widgets are views of it, keyed as the knobs and seeded
again wherever they differ. The view is a fragment, and so are the parts around it, the controls one of them: fragment
reruns coalesce to the newest value, while full reruns would stack up (a thread each). A widget that was moved reruns the
view by name; a part follows only where it looks different now, as most of a change's messages would be theirs.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention.components.copy_link import copy_link
from attention.runtime.threads import one_thread
from attention.ui import next_step
from attention.ui.budget import UNDER_WAY
from attention.ui.controls.kind import Kind
from attention.ui.controls.picture import PICTURE
from attention.ui.markdown import escape
from attention.ui.session import question_in_link, training_heartbeat, uploads
from attention.ui.session.memory_gate import memory_gate
from attention.ui.session.part import Part
from attention.ui.session.settings_state import SettingsState
from attention.ui.session.visit_state import Session, VisitState, put, reconcile, session, taken_up, widgets
from attention.ui.session.widget_sync import WidgetSync

__all__ = ["Part", "change", "put", "show", "widgets"]

# In the page itself: Material icons come from elsewhere, and a browser fetches a file anew whenever the address changes.
ICON = "data:image/png;base64," + b64encode(Path(__file__).with_name("icon.png").read_bytes()).decode()
TOLD = 20  # notes that are shown at once
HURRY = 0.5  # seconds between two changes of somebody who is still looking for a value
View = Callable[[Any], None]
LOOKS = f"<style>{Path(__file__).with_name('page.css').read_text('utf-8')}</style>"  # not read anew for every page


def show(
    view: View,
    kind: Kind[Any] = PICTURE,
    ahead: Callable[[Any], object] | None = None,
    any_length: bool = False,
    above: Sequence[Part] = (),
    below: Sequence[Part] = (),
    aside: Sequence[Part] = (),
) -> None:
    """A whole page about settings of one kind: their controls in the sidebar and the view, named as the view's module.

    Parts stand above and below the view, and aside, below the controls. From every page one looks at the training that one has
    begun, as long as the page is there.

    `ahead` starts what the view waits for, as soon as the settings are known. Unless it draws `any_length`, a view of a config
    that is too long for a trace gets the first tokens, and the page says so. The parts get the whole config.
    """
    state = _begin(view.__module__, kind)
    controls, below = _controls(kind), [*below, _onward(state.page)]
    state.ahead = ahead
    state.parts, state.looks, state.follow = (
        {part.name: part for part in (controls, *aside, *above, *below)},
        {},
        frozenset(),
    )
    state.fresh = False
    reconcile()
    _start_computing(taken_up())
    with st.sidebar:
        _beside([controls, *aside])
    _beside(above)
    _view(view, any_length)
    _beside(below)
    training_heartbeat.keep_alive()


def leading_to(page: StreamlitPage) -> Callable[[], None]:
    """A page that is nothing but another name of this one: it leads there, with all that stands in the link."""
    return lambda: st.switch_page(page, query_params=st.query_params.to_dict())


def change(**values: Any) -> None:
    """Sets knobs and shows what they say now: the callback of whatever changes a setting.

    What a page that was left would set, which nobody sees any more, is nothing.
    """
    state = session()
    if not values.keys() <= state.here.kind.settings.knobs.keys():
        return
    reconcile()
    put(**values)
    _start_computing(taken_up())
    if _fragments():  # else the whole page is about to run
        state.fresh, state.follow = not state.told.waiting, state.stale_parts
        st.rerun(["view", *(name for name in state.parts if name in state.follow)])


def resend_menu(name: str, said: str) -> None:
    """To call before the menu of a knob is drawn whose choices' names change: a browser has to be told of the new one."""
    here = session().here
    if here.labels.get(name, said) != said:
        session().told.set(widgets(), here.by_widget_key({name: getattr(here.setting, name)}))
    here.labels[name] = said


def is_hurried() -> bool:
    """Did the view that is drawn now follow close upon the one before?"""
    return session().hurried


def arrives() -> bool:
    """Is the view that is drawn now the first of this session?"""
    return session().arrives


def visitor() -> str:
    """A name for this session, as work that visitors share must know who waits for it."""
    return session().visitor


def visit_state() -> VisitState:
    """What single pages find again in their next run."""
    return session().kept


def setting() -> Any:
    """What the page shows, as a callback finds it."""
    return session().here.setting


def current_setting() -> Any:
    """The settings as the widgets hold them now, for a callback that acts on them before the page is drawn again."""
    reconcile()
    return taken_up()


def view_export() -> Callable[[], Any]:
    """What this session's view has drawn, whenever it is asked for: files are made when somebody clicks, outside of a run."""
    state = session()
    return lambda: state.drawn


def link_names() -> frozenset[str]:
    """What the link has named that these settings began with."""
    return session().here.opened


def address() -> tuple[str, str]:
    """The query string that the address bar has, as far as we know, and the one of what is shown."""
    here = session().here
    return urlencode(here.link), here.kind.settings.link(here.setting)


def write_link() -> None:
    """Keeps the address bar at the link of what is on the screen. A browser draws all elements anew for it: pictures first."""
    here = session().here
    here.link = here.kind.settings.to_query(here.setting) | question_in_link.append(session(), here.kind)
    if here.link != st.query_params.to_dict():  # a change of page has emptied it
        st.query_params.from_dict(here.link)


def _begin(module: str, kind: Kind[Any]) -> Session:
    """What every page does first: its looks, and what it is about."""
    name = module.rpartition(".")[2]
    title = name.replace("_", " ").capitalize()
    st.set_page_config(layout="wide", page_title=f"{title} · Attention Lab", page_icon=ICON)
    _through_menu(name)
    one_thread()
    st.html(LOOKS)
    st.html(f'<h4 class="heard-page">{title}</h4>')  # for screen readers; no page has a heading above the fourth level
    st.sidebar.container(height=1, border=False, key="top")  # a fragment may write where the page has written before
    state = session()
    elsewhere = state.page not in ("", name)
    if state.page != name:  # the page before had other widgets, and what they said went with them
        state.told = WidgetSync(state.told.turn)
        state.kept.here.clear()
    state.page, state.about = name, kind.settings.called
    _arrive(state, kind, elsewhere)
    return state


def _through_menu(name: str) -> None:
    """Runs the page through app.py, also when it is a fresh server's first request.

    Streamlit takes the folder pages/ for a menu of its own until some session has named its pages (seen in 1.67), and
    runs the page without app.py till then; naming any ends that.
    """
    if PagesManager.uses_pages_directory:
        st.navigation([st.Page("app.py", default=True), st.Page(lambda: None, url_path=name, title=name)])
        st.rerun()


def _arrive(state: Session, kind: Kind[Any], from_elsewhere: bool) -> None:
    """Takes up the link, at the start of a session and when another one was opened since."""
    here, query = state.held.get(state.about), st.query_params.to_dict()
    if from_elsewhere:
        uploads.passed_by()
    if here is None or _is_new_link(query, here.link):
        own, notes = question_in_link.split(state, kind, uploads.allowed_query(kind, query))
        here = state.held[state.about] = SettingsState.of(kind, own, here.labels if here else {})
        here.link, here.notes, here.absent = query, here.notes + notes, state.kept.absent
        state.told.set_others(widgets(), here.widget_values)
    elif from_elsewhere:
        here.notes = []  # they were told where it happened
        widgets().update(here.widget_values)


def _is_new_link(query: dict[str, str], last: dict[str, str]) -> bool:
    """Is this another link than the last one?

    The menu opens a page with an empty link, which keeps what is set; going back to one leaves nothing set.
    """
    run = get_script_run_ctx()
    back = run is not None and run.is_history_navigation
    return query != last and (bool(query) or back)


def _fragments() -> list[str] | None:
    """The fragments that run now, a list of this run's own; None where the whole page runs."""
    run = get_script_run_ctx()
    return run.fragment_ids_this_run if run else None


def _now() -> Any:
    """The settings of this run. The fragment that comes first takes them up, as it could not once the other is drawn."""
    state, run = session(), _fragments()
    if run is not None and run is not state.run:
        state.run = run
        if not state.fresh:  # else the callback that asked for this run has done so, and set no widget
            reconcile()
            taken_up()
        state.fresh = False
    return state.here.setting


def _start_computing(setting: Any) -> None:
    """What the view of these settings waits for is computed from now on."""
    state = session()
    if state.ahead and UNDER_WAY.is_little(state.here.kind.takes(setting)):
        state.ahead(setting)


def _takes(drawn: Any, any_length: bool) -> int:
    """Bytes that a view takes while it is drawn; a long sequence claims its own."""
    long = any_length and getattr(drawn, "truncated", drawn) is not drawn
    return 0 if long else session().here.kind.takes(drawn)


@st.fragment(key="view")
def _view(view: View, any_length: bool) -> None:
    one_thread()
    state, setting, now = session(), _now(), monotonic()
    state.arrives, state.hurried = state.viewed is None, now - (state.viewed or 0.0) < HURRY
    state.viewed = now
    state.drawn, cut = (setting, "") if any_length else state.here.kind.shown(setting)
    with st.container():  # always there: where one comes or goes, a browser draws all that follows anew
        uploads.tell()
        _tell(state.here.notes)
        if cut:
            st.caption(cut)
    state.kept.closed = False
    try:
        with memory_gate(state.drawn, _takes(state.drawn, any_length)):
            view(state.drawn)
    finally:
        write_link()
    elsewhere = (part.knobs for part in state.parts.values() if part.look(setting) is not None)
    _send_mark("view", state.told.waiting.difference(*elsewhere))
    if not state.stale_parts <= state.follow:  # a widget of the view has changed what stands beside it
        st.rerun()


def _beside(parts: Sequence[Part]) -> None:
    for part in parts:
        st.fragment(_part, key=part.name)(part)


def _part(part: Part) -> None:
    one_thread()
    state, setting = session(), _now()
    look = part.look(setting)
    if look is None:
        for _ in range(part.blocks + bool(part.knobs)):  # what nothing replaces a browser may keep
            st.empty()
    else:
        part.draw(setting)
        if part.knobs:
            _send_mark(part.name, part.knobs)
    state.looks[part.name] = look
    state.follow -= {part.name}


def _send_mark(part: str, names: Collection[str]) -> None:
    """Sends, after the widgets of these keys, the mark of what they were told."""
    mark = session().told.mark_sent(widgets(), part, names)
    st.color_picker(mark, widgets()[mark], mark, label_visibility="collapsed")


def _controls(kind: Kind[Any]) -> Part:
    """The sidebar of settings, which ends with what every sidebar ends with."""

    def draw(setting: Any) -> None:
        kind.draw(setting, {**session().here.stops, "source": uploads.sources()}, change)
        with st.container(horizontal=True, vertical_alignment="center"):
            copy_link()
            usual, what = vars(kind.open({})[0]), "Every setting back to its default."
            st.button("Reset", on_click=change, kwargs=usual, key="reset", help=what)

    return Part("controls", draw, lambda setting: (kind.look(setting), uploads.sources()), kind.keys)


def _onward(page: str) -> Part:
    """The next step, at the end of every page that no question hides."""

    def look(setting: Any) -> object:
        return None if session().kept.closed else next_step.next_step(page, setting)

    return Part("onward", lambda setting: next_step.draw(page, setting), look)


def _tell(notes: list[str]) -> None:
    """What could not be used, in one box, whatever a link says."""
    if not notes:
        return
    told = [escape(note) for note in notes[:TOLD]]
    more = [f"… and {len(notes) - TOLD} more"] if len(notes) > TOLD else []
    st.warning("\n".join(f"- {note}" for note in told + more) if len(notes) > 1 else told[0], icon=":material/info:")

"""How every page begins. Sole owner of st.session_state and st.query_params.

The truth is one `Config` in the session and in the address bar; widgets are views of it, keyed as the knobs and seeded
again wherever they differ. Controls and picture rerun together as one fragment: fragment reruns coalesce to the newest
value, while full reruns would stack up (a thread each).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from attention import codec, sweep
from attention.components.copy_link import copy_link
from attention.config import DEFAULTS, KNOBS, LAST, Config, ConfigError, check
from attention.sweep import Sweep
from attention.ui import compute, controls, limits, sweep_controls
from attention.ui.words import plain

ICON = str(Path(__file__).with_name("icon.png"))  # Material icons would be fetched from elsewhere
TOLD = 20  # notes that are shown at once
View = Callable[[Config], None]
TIGHT = """
<style>
.stMainBlockContainer { padding: 3.6rem 2.2rem 2rem; }
.stSidebar [data-testid="stSidebarHeader"] { height: 2.4rem; margin-bottom: 0; }
.stSidebar .stVerticalBlock { gap: .55rem; }
@media (max-width: 640px) { .stMainBlockContainer { padding: 4rem .8rem 2rem; } }
</style>
"""


def show(view: View) -> None:
    """A whole page: the controls in the sidebar and the view, which draws a config; named as the view's module."""
    _arrive(_begin(view.__module__))
    _live(view)


def show_sweep(view: Callable[[Sweep], None]) -> None:
    """The same for a page about a sweep of timings, which has a link and controls of its own."""
    _begin(view.__module__)
    _arrive_sweep()
    _live_sweep(view)


def _begin(module: str) -> bool:
    """What every page does first; says whether another page was shown before."""
    name = module.rpartition(".")[2]
    st.set_page_config(layout="wide", page_title=f"{name.capitalize()} · Attention Lab", page_icon=ICON)
    _through_menu(name)
    compute.settle()
    st.html(TIGHT)
    st.sidebar.container(height=1, border=False, key="top")  # a fragment may write where the page has written before
    last, st.session_state.page = st.session_state.get("page", name), name
    return last != name


def put(**values: Any) -> None:
    """Sets knobs, from a callback: the next rerun takes them up as if a widget had been moved."""
    st.session_state.update(values)


def kept(name: str, otherwise: Any = None) -> Any:
    """What `put` has put there in this session."""
    return st.session_state.get(name, otherwise)


def pinned() -> None:
    """Takes up what was pinned in the grid of heads, whose key is "grid": the callback of a pin."""
    pin = (st.session_state.get("grid") or {}).get("pin") or {}
    if pin.get("query") == st.session_state.config.tokens - 1:
        pin = pin | {"query": LAST}  # the last one stays the last when the length changes
    put(**{name: pin[name] for name in ("head", "query") if name in pin})


def chosen() -> None:
    """Takes up what was chosen in the gallery of masks, whose key is "gallery": the callback of a choice."""
    choice = (st.session_state.get("gallery") or {}).get("choice") or {}
    put(**{name: choice[name] for name in ("mask", "combine", "second") if name in choice})


def stepped() -> None:
    """Takes up the step that was turned to in the matrices, whose key is "matrices": the callback of a turn."""
    turn = (st.session_state.get("matrices") or {}).get("turn") or {}
    put(**{name: turn[name] for name in ("step", "steps") if name in turn})


def picked() -> None:
    """Takes up the cell that was pinned in the matrices: its head, and its query where its rows are queries."""
    pin = (st.session_state.get("matrices") or {}).get("pin") or {}
    put(**{name: pin[name] for name in ("head", "query") if name in pin})


def _through_menu(name: str) -> None:
    """Runs the page through app.py, also when it is a fresh server's first request.

    Streamlit takes the folder pages/ for a menu of its own until some session has named its pages (seen in 1.67), and
    runs the page without app.py till then; naming any ends that.
    """
    if PagesManager.uses_pages_directory:
        st.navigation([st.Page("app.py", default=True), st.Page(lambda: None, url_path=name, title=name)])
        st.rerun()


def _arrive(from_elsewhere: bool) -> None:
    """Takes up the link, at the start of a session and when another one was opened since.

    A change of page comes with an empty query and keeps what there is.
    """
    state, query = st.session_state, st.query_params.to_dict()
    if "config" not in state or (query and query != state.link):
        state.config, state.notes = codec.from_query(query)
        state.update(vars(state.config))
        state.link = query
    elif from_elsewhere:
        state.update(vars(state.config))  # or the widgets, which are new here, start at their least values


@st.fragment
def _live(view: View) -> None:
    config = _taken_up()
    _write_link(config)
    with st.sidebar:
        _controls(config)  # before the view, which pauses: a change may come meanwhile, and must find them all
    _tell(st.session_state.notes)
    view(config)


def _controls(config: Config) -> None:
    controls.draw(config)
    _foot(DEFAULTS)


def _foot(defaults: dict[str, Any]) -> None:
    """What every sidebar ends with."""
    with st.container(horizontal=True, vertical_alignment="center"):
        copy_link()
        st.button("Reset", on_click=put, kwargs=defaults, key="reset", help="Every setting back to its default.")


def _tell(notes: list[str]) -> None:
    """What could not be used, in one box, whatever a link says."""
    if not notes:
        return
    told = [plain(note) for note in notes[:TOLD]]
    more = [f"… and {len(notes) - TOLD} more"] if len(notes) > TOLD else []
    st.warning("\n".join(f"- {note}" for note in told + more) if len(notes) > 1 else told[0], icon=":material/info:")


def _taken_up() -> Config:
    """The config of what the widgets say now, moved to the nearest that is valid; the widgets are moved along."""
    state = st.session_state
    last, values, notes = state.config, {}, []
    before = vars(last)
    for name in KNOBS:
        values[name] = state.get(name, before[name])
        try:
            check(name, values[name])
        except ConfigError as error:
            values[name] = before[name]
            notes.append(str(error))
    config, moved = codec.fit(values)
    if values != before or notes:
        state.notes = notes + moved
    state.config = config
    for name, value in vars(config).items():
        if name not in state or state[name] != value or controls.bounds(name, config) != controls.bounds(name, last):
            state[name] = value
    return config


def _write_link(config: Config) -> None:
    """Keeps the address bar at the link of what is on the screen."""
    query = codec.to_query(config)
    if query != st.query_params.to_dict():  # a change of page has emptied it
        st.query_params.from_dict(query)
    st.session_state.link = query


def _arrive_sweep() -> None:
    """Takes up the link of a sweep, as `_arrive` does for a config."""
    state, query = st.session_state, st.query_params.to_dict()
    if "sweep" not in state or (query and query != sweep.to_query(state.sweep)):
        found, notes = sweep.from_query(query)
        state.sweep, capped = limits.bounded(found)
        state.sweep_notes = [*notes, *(capped if "seconds" in query else [])]
        state.update(sweep_controls.widgets(state.sweep))


@st.fragment
def _live_sweep(view: Callable[[Sweep], None]) -> None:
    found = _sweep_taken_up()
    if st.query_params.to_dict() != sweep.to_query(found):
        st.query_params.from_dict(sweep.to_query(found))
    with st.sidebar:
        sweep_controls.draw(found)
        _foot(sweep_controls.widgets(limits.bounded(Sweep())[0]))
    _tell(st.session_state.sweep_notes)
    view(found)


def _sweep_taken_up() -> Sweep:
    """The sweep of what the widgets say now; where a knob can't have its widget's value, it keeps the last one."""
    state = st.session_state
    last, values, notes = vars(state.sweep), {}, []
    for name, before in last.items():
        key = sweep_controls.KEY.format(name)
        values[name] = sweep_controls.value(name, state.get(key, sweep_controls.seed(name, before)))
        try:
            sweep.check(name, values[name])
        except ConfigError as error:
            values[name] = before
            notes.append(str(error))
    try:
        found = Sweep(**values)
    except ConfigError as error:
        found = state.sweep
        notes.append(str(error))
    if notes or vars(found) != last:
        state.sweep_notes = notes
    state.sweep = found
    for name, given in vars(found).items():
        key = sweep_controls.KEY.format(name)
        if key not in state or sweep_controls.value(name, state[key]) != given:
            state[key] = sweep_controls.seed(name, given)
    return found

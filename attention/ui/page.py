"""How every page begins. Sole owner of st.session_state and st.query_params.

The truth is one `Config` in the session and in the address bar; widgets are views of it, keyed as the knobs and seeded
again wherever they differ. The view is a fragment, and so are the parts around it, the controls one of them: fragment
reruns coalesce to the newest value, while full reruns would stack up (a thread each). A widget that was moved reruns the
view by name; a part follows only where it looks different now, as most of a change's messages would be theirs.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention import codec
from attention.components.copy_link import copy_link
from attention.config import DEFAULTS, KNOBS, Config, ConfigError, check
from attention.machine.threads import one_thread
from attention.published import ROWS
from attention.timing import sweep
from attention.timing.sweep import Sweep
from attention.ui import controls, limits, sweep_controls
from attention.ui.words import plain

# In the page itself: Material icons come from elsewhere, and a browser fetches a file anew whenever the address changes.
ICON = "data:image/png;base64," + b64encode(Path(__file__).with_name("icon.png").read_bytes()).decode()
SWEPT = frozenset(sweep_controls.widgets(Sweep()))
WIDGETS = frozenset(KNOBS) | SWEPT  # of knobs, by their keys
TOLD = 20  # notes that are shown at once
LAST = "#ffffff"  # of all marks
HURRY = 0.5  # seconds between two changes of somebody who is still looking for a value
View = Callable[[Config], None]
LOOKS = f"<style>{Path(__file__).with_name('page.css').read_text('utf-8')}</style>"  # not read anew for every page


@dataclass(frozen=True)
class Part:
    """What stands beside the view and is drawn anew, after it, only where it looks different.

    `look` is whatever of a config it shows, beside the values that people set there in the widgets of the knobs `knobs`,
    and None where it is not there at all. The widgets call `change` when they are moved. It draws so many `blocks`.
    """

    name: str
    draw: View
    look: Callable[[Config], object]
    knobs: frozenset[str] = frozenset()
    blocks: int = 1


def show(
    view: View,
    ahead: Callable[[Config], object] | None = None,
    any_length: bool = False,
    above: Sequence[Part] = (),
    below: Sequence[Part] = (),
) -> None:
    """A whole page: the controls in the sidebar and the view, which draws a config; named as the view's module.

    `ahead` starts what the view waits for, as soon as a config is known. Unless it draws `any_length`, a view of a config
    that is too long for a trace gets the first tokens, and the page says so. The parts get the whole config.
    """
    _arrive(_begin(view.__module__))
    state = st.session_state
    state.ahead = ahead
    state.parts, state.looks, state.follow = {part.name: part for part in (CONTROLS, *above, *below)}, {}, frozenset()
    state.fresh = False
    _untold(vars(state.config))
    _started(_taken_up())
    with st.sidebar:
        _beside([CONTROLS])
    _beside(above)
    _view(view, any_length)
    _beside(below)


def show_sweep(view: Callable[[Sweep], None]) -> None:
    """The same for a page about a sweep of timings, which has a link and controls of its own."""
    _arrive_sweep(_begin(view.__module__))
    _live_sweep(view)


def leading_to(page: StreamlitPage) -> Callable[[], None]:
    """A page that is nothing but another name of this one: it leads there, with all that stands in the link."""
    return lambda: st.switch_page(page, query_params=st.query_params.to_dict())


def _begin(module: str) -> bool:
    """What every page does first; says whether another page was shown before."""
    name = module.rpartition(".")[2]
    st.set_page_config(layout="wide", page_title=f"{name.capitalize()} · Attention Lab", page_icon=ICON)
    _through_menu(name)
    one_thread()
    st.html(LOOKS)
    st.sidebar.container(height=1, border=False, key="top")  # a fragment may write where the page has written before
    state = st.session_state
    last, state.page = state.get("page", name), name
    if last != name or "turn" not in state:  # the page before had other widgets, and what they said went with them
        state.turn, state.moved, state.sent = state.get("turn", 0), {}, {}
    return last != name


def change(**values: Any) -> None:
    """Sets knobs and shows what they say now: the callback of whatever changes a config."""
    state = st.session_state
    _untold(vars(state.config))
    put(**values)
    _started(_taken_up())
    if _fragments():  # else the whole page is about to run
        state.fresh, state.follow = not state.moved, _behind()
        st.rerun(["view", *(name for name in state.parts if name in state.follow)])


def _fragments() -> list[str] | None:
    """The fragments that run now, a list of this run's own; None where the whole page runs."""
    run = get_script_run_ctx()
    return run.fragment_ids_this_run if run else None


def _untold(meant: Mapping[str, Any]) -> None:
    """Where the browser has yet to hear of widgets' new values, the ones `meant`, what it says of them is put right.

    It has yet to where a run made way before it drew them, and where the visitor was quicker than what was sent, as the
    marks tell. A value that is neither the old one nor the new one is then somebody's, who has moved the widget as it
    still was; the new one will take its place in the browser, so it is told again.
    """
    state = st.session_state
    late = {name: said for name, (said, mark, turn) in state.sent.items() if int(state.get(mark, LAST)[1:], 16) < turn}
    state.moved = late | state.moved
    for name, said in state.moved.items():
        value, new = state.get(name), meant[name]
        if value in (said, new):
            state[name] = new
        else:
            state.moved[name] = value


def _now() -> Config:
    """The config of this run. The fragment that comes first takes it up, as it could not once the other is drawn."""
    state, run = st.session_state, _fragments()
    if run is not None and run is not state.get("run"):
        state.run = run
        if not state.fresh:  # else the callback that asked for this run has done so, and set no widget
            _untold(vars(state.config))
            _taken_up()
        state.fresh = False
    return state.config


def _started(config: Config) -> None:
    """What the view of this config waits for is computed from now on."""
    if st.session_state.ahead:
        st.session_state.ahead(config)


def put(**values: Any) -> None:
    """Sets knobs: the next rerun takes them up as if a widget had been moved, and tells their widgets."""
    state = st.session_state
    _tell_widgets({name: value for name, value in values.items() if name in WIDGETS})
    state.update(values)
    state.wishes = {name: wish for name, wish in state.get("wishes", {}).items() if name not in values}


def _tell_widgets(values: Mapping[str, Any]) -> None:
    """Sets what widgets say; the next run that draws them tells the browser, which says what it said till then."""
    state = st.session_state
    state.moved = {name: state.get(name) for name in values} | state.moved
    state.update(values)


def _tell_others(values: Mapping[str, Any]) -> None:
    """The same for those that say something else; those that say nothing yet are told when they are drawn."""
    state = st.session_state
    _tell_widgets({name: value for name, value in values.items() if state.get(name, value) != value})
    state.update(values)


def renamed(name: str, said: str) -> None:
    """To call before the menu of a knob is drawn whose choices' names change: a browser has to be told of the new one."""
    state, key = st.session_state, f"{name} said"
    if state.get(key, said) != said:
        _tell_widgets({name: getattr(state.config, name)})
    state[key] = said


def hurried() -> bool:
    """Did the view that is drawn now follow close upon the one before?"""
    return st.session_state.get("hurried", False)


def arrives() -> bool:
    """Is the view that is drawn now the first of this session?"""
    return st.session_state.get("arrives", True)


def visitor() -> str:
    """A name for this session, as work that visitors share must know who waits for it."""
    return st.session_state.setdefault("visitor", uuid4().hex)


def kept(name: str, otherwise: Any = None) -> Any:
    """What `put` has put there in this session."""
    return st.session_state.get(name, otherwise)


def shown() -> Callable[[], Config]:
    """The config of this session's view, whenever it is asked for: files are made when somebody clicks, outside of a run."""
    held = st.session_state.held
    return lambda: held["config"]


def _through_menu(name: str) -> None:
    """Runs the page through app.py, also when it is a fresh server's first request.

    Streamlit takes the folder pages/ for a menu of its own until some session has named its pages (seen in 1.67), and
    runs the page without app.py till then; naming any ends that.
    """
    if PagesManager.uses_pages_directory:
        st.navigation([st.Page("app.py", default=True), st.Page(lambda: None, url_path=name, title=name)])
        st.rerun()


def _arrive(from_elsewhere: bool) -> None:
    """Takes up the link, at the start of a session and when another one was opened since."""
    state, query = st.session_state, st.query_params.to_dict()
    if "config" not in state or _opened(query, state.link):
        state.config, state.notes = _known(*codec.from_query(query))
        state.wishes, state.told = {}, []
        state.stops = controls.ends(state.config, state.config)
        _tell_others(vars(state.config))
        state.link = query
    elif from_elsewhere:
        state.update(vars(state.config))


def _opened(query: dict[str, str], last: dict[str, str]) -> bool:
    """Is this another link than the last one?

    The menu opens a page with an empty link, which keeps what is set; going back to one leaves nothing set.
    """
    run = get_script_run_ctx()
    back = run is not None and run.is_history_navigation
    return query != last and (bool(query) or back)


def _known(config: Config, notes: list[str]) -> tuple[Config, list[str]]:
    """The same with the default implementation where the link names none: the core doesn't know their names."""
    try:
        check("implementation", config.implementation, replace(KNOBS["implementation"], choices=tuple(ROWS)))
    except ConfigError as error:
        return replace(config, implementation=DEFAULTS["implementation"]), [*notes, str(error)]
    return config, notes


@st.fragment(key="view")
def _view(view: View, any_length: bool) -> None:
    one_thread()
    state, config, now = st.session_state, _now(), monotonic()
    state.arrives, state.hurried, state.viewed = "viewed" not in state, now - state.get("viewed", 0.0) < HURRY, now
    drawn = config if any_length else config.traceable
    state.setdefault("held", {})["config"] = drawn
    with st.container():  # always there: where one comes or goes, a browser draws all that follows anew
        _tell(state.notes)
        if drawn is not config:
            st.caption(
                f"Every weight of {config.heads} heads is computed here, so this page shows {drawn.tokens:,} of "
                f"{config.tokens:,} tokens. Heads shows them all."
            )
    try:
        view(drawn)
    finally:
        linked()
    here = frozenset(state.moved).difference(
        *(part.knobs for part in state.parts.values() if part.look(config) is not None)
    )
    _sent("view", here)
    if not _behind() <= state.follow:  # a widget of the view has changed what stands beside it
        st.rerun()


def _beside(parts: Sequence[Part]) -> None:
    for part in parts:
        st.fragment(_part, key=part.name)(part)


def _part(part: Part) -> None:
    one_thread()
    state, config = st.session_state, _now()
    look = part.look(config)
    if look is None:
        for _ in range(part.blocks + bool(part.knobs)):  # what nothing replaces a browser may keep
            st.empty()
    else:
        part.draw(config)
        if part.knobs:
            _sent(part.name, part.knobs)
    state.looks[part.name] = look
    state.follow -= {part.name}


def _controls(config: Config) -> None:
    controls.draw(config, st.session_state.stops, change)
    _foot(DEFAULTS, change)


CONTROLS = Part("controls", _controls, controls.look, controls.NAMES)


def _sent(part: str, names: Collection[str]) -> None:
    """Notes that the widgets of these knobs were drawn: what they were told is on its way, followed by a mark.

    The mark is the value of a widget that nobody sees. A browser sends it back with whatever it sends, and so says what
    it had heard by then. It is a colour, for which Streamlit (1.67) takes a fifth of the time that it takes for a number.
    """
    state, mark = st.session_state, f"heard {part}"
    told = {name: said for name, said in state.moved.items() if name in names}
    if told or mark not in state:
        state.turn += 1
        state[mark] = f"#{state.turn:06x}"
    state.sent |= {name: (said, mark, state.turn) for name, said in told.items()}
    state.moved = {name: said for name, said in state.moved.items() if name not in told}
    st.color_picker(mark, state[mark], mark, label_visibility="collapsed")


def _behind() -> frozenset[str]:
    """The parts on the screen that are not what they should be, other than by what was moved there."""
    state = st.session_state
    return frozenset(
        name
        for name, look in state.looks.items()
        if not state.parts[name].knobs.isdisjoint(state.moved) or look != state.parts[name].look(state.config)
    )


def _foot(defaults: dict[str, Any], change: Callable[..., None]) -> None:
    """What every sidebar ends with."""
    with st.container(horizontal=True, vertical_alignment="center"):
        copy_link()
        st.button("Reset", on_click=change, kwargs=defaults, key="reset", help="Every setting back to its default.")


def _tell(notes: list[str]) -> None:
    """What could not be used, in one box, whatever a link says."""
    if not notes:
        return
    told = [plain(note) for note in notes[:TOLD]]
    more = [f"… and {len(notes) - TOLD} more"] if len(notes) > TOLD else []
    st.warning("\n".join(f"- {note}" for note in told + more) if len(notes) > 1 else told[0], icon=":material/info:")


def _taken_up() -> Config:
    """The config of what the widgets say now, moved to the nearest that is valid; the widgets are moved along.

    What was moved is remembered, and comes back as soon as it fits again, unless somebody has moved it since. A widget that
    says None was drawn anew by the browser before it was told its value (seen under load), a menu whose choices were
    `renamed` may say a name that none has any more: they keep the last one.
    """
    state = st.session_state
    last, notes = state.config, []
    before, shown = vars(last), {name: state.get(name) for name in KNOBS}
    if shown == before and not (state.wishes or state.moved):
        return last
    values = {name: before[name] if _lost(name, value) else value for name, value in shown.items()}
    changed = values != before
    for name, value in values.items():
        if value == before[name]:
            values[name] = state.wishes.get(name, value)
            continue
        try:
            check(name, value)
        except ConfigError as error:
            values[name] = before[name]
            notes.append(str(error))
    config, moved = codec.fit(values)
    if changed or notes:
        state.notes = notes + [note for note in moved if note not in state.told]
    state.told = moved
    state.wishes = {name: value for name, value in values.items() if value != getattr(config, name)}
    state.config = config
    # These stay until their widgets are drawn, with what the browser says of them till then.
    stops = controls.ends(config, last, state.stops)
    untold = {name for name in stops if stops[name] != state.stops[name]}
    untold |= {name for name, value in vars(config).items() if shown[name] != value}
    state.stops = stops
    _tell_widgets({name: getattr(config, name) for name in untold.union(state.moved)})
    return config


def _lost(name: str, value: Any) -> bool:
    return value is None or (isinstance(value, str) and f"{name} said" in st.session_state)


def address() -> tuple[str, str]:
    """The query string that the address bar has, as far as we know, and the one of what is shown."""
    return urlencode(st.session_state.link), codec.link(st.session_state.config)


def linked() -> None:
    """Keeps the address bar at the link of what is on the screen. A browser draws all elements anew for it: pictures first."""
    query = codec.to_query(st.session_state.config)
    if query != st.query_params.to_dict():  # a change of page has emptied it
        st.query_params.from_dict(query)
    st.session_state.link = query


def _arrive_sweep(from_elsewhere: bool) -> None:
    """Takes up the link of a sweep, as `_arrive` does for a config."""
    state, query = st.session_state, st.query_params.to_dict()
    if "sweep" not in state or _opened(query, state.sweep_link):
        found, notes = sweep.from_query(query)
        state.sweep, capped = limits.bounded(found)
        state.sweep_notes = [*notes, *(capped if "seconds" in query else [])]
        state.sweep_link = query
        _tell_others(sweep_controls.widgets(state.sweep))
    elif from_elsewhere:
        state.update(sweep_controls.widgets(state.sweep))


@st.fragment
def _live_sweep(view: Callable[[Sweep], None]) -> None:
    one_thread()
    found = _change_sweep()
    st.session_state.sweep_link = query = sweep.to_query(found)
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)
    with st.sidebar:
        sweep_controls.draw(found)
        _foot(sweep_controls.widgets(limits.bounded(Sweep())[0]), _change_sweep)
        _sent("sweep", SWEPT)
    with st.container():
        _tell(st.session_state.sweep_notes)
    view(found)


def _change_sweep(**values: Any) -> Sweep:
    """Sets the widgets of a sweep, by their keys, and takes up what they all say now."""
    _untold(sweep_controls.widgets(st.session_state.sweep))
    put(**values)
    return _sweep_taken_up()


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
    given = sweep_controls.widgets(found)
    _tell_others({key: held for key, held in given.items() if key in state.moved or state.get(key) != held})
    return found

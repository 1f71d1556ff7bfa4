"""All use of Streamlit's private API (1.67), so that a new version is checked in one place.

Everything here reads or calls something that Streamlit does not document. If another version differs, functions raise
AttributeError unless they say otherwise, and callers fall back to what Streamlit does by itself.
tests/test_streamlit_internals.py names what is missing in the installed version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

__all__ = ["BackMsg", "ForwardMsg", "WidgetState"]  # the messages of the websocket

TOKEN = 16  # bytes of a browser's token
FILES = "file_uploader_state_value"  # the kind of value that a file uploader has


def find_session(session: str) -> Any:
    """The record of a session, also if its browser is gone; None if there is none."""
    return runtime.get_instance()._session_mgr.get_session_info(session)


def find_active_session(session: str) -> Any:
    """The record of a session whose browser is connected; None if there is none."""
    return runtime.get_instance()._session_mgr.get_active_session_info(session)


def session_state(found: Any) -> Any:
    """The state of a session, from its record."""
    return found.session.session_state


def stored_sessions() -> Any:
    """The cache of sessions whose browsers are gone; None if this version has none that can expire."""
    storage = getattr(runtime.get_instance()._session_mgr, "_session_storage", None)
    found = getattr(storage, "_cache", None)
    return found if hasattr(found, "expire") else None


def end_session(found: Any) -> None:
    """Ends a session and clears its state: an idle server would hold on to the last one.

    This also removes its files and the downloads that its buttons would create, which stay registered until the
    session ends. A session whose script still runs two minutes after its visitor has left keeps all of it.
    """
    ended = getattr(found, "session", None)
    if ended is not None and getattr(ended, "_scriptrunner", ended) is None:
        ended.shutdown()
        ended.session_state.clear()
        widgets = getattr(ended.session_state, "_new_widget_state", None)
        getattr(widgets, "widget_metadata", {}).clear()  # callbacks of buttons, with their arguments


def widget_lookup(session: str) -> Callable[[str], Any]:
    """A function that returns the metadata of a widget by id; None if unknown or replaced under its key."""
    found = find_session(session) if session else None
    if found is None:
        return lambda _: None
    state = session_state(found)
    known, ids = state._new_widget_state.widget_metadata, state._key_id_mapper
    keys = ids.id_key_mapping
    return lambda id: known.get(id) if id not in keys or ids.get_id_from_key(keys[id]) == id else None


def widget_value(state: WidgetState) -> Any:
    """The value that a browser sent for a widget, as a run would read it."""
    from streamlit.runtime.state.common import unpack_widget_state_value

    return unpack_widget_state_value(state)


def has_uploader(session: str) -> bool:
    """Whether the page of a session whose browser is connected has a file uploader."""
    state = session_state(find_active_session(session))
    known = [each.id for each in state._new_widget_state.widget_metadata.values() if each.value_type == FILES]
    return any(name in state._new_widget_state.states or name in state._old_state for name in known)


def uploading_sessions() -> list[str]:
    """The sessions that have uploaded files; RuntimeError without a server."""
    return list(runtime.get_instance().uploaded_file_mgr.file_storage)  # type: ignore[attr-defined]


def uploaded_bytes(session: str) -> int:
    """Bytes of the files that a session has uploaded."""
    files = runtime.get_instance().uploaded_file_mgr.file_storage.get(session, {})  # type: ignore[attr-defined]
    return sum(len(file.data) for file in list(files.values()))


def check_file_names(state: WidgetState, allowed: Sequence[str], session: str) -> None:
    """Raises if the name of a file that a session has uploaded is not allowed for the widget."""
    from streamlit.elements.lib.file_uploader_utils import enforce_filename_restriction

    files = [file.file_id for file in state.file_uploader_state_value.uploaded_file_info]
    for sent in runtime.get_instance().uploaded_file_mgr.get_files(session, files):
        enforce_filename_restriction(sent.name, allowed)


def is_deleted(file: object) -> bool:
    """Whether a file uploader returned a file that the server no longer has."""
    from streamlit.runtime.uploaded_file_manager import DeletedFile

    return isinstance(file, DeletedFile)


def run_context() -> Any:
    """The context of the script that runs in this thread; None outside of one."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    return get_script_run_ctx()


def running_fragments() -> list[str] | None:
    """Returns the fragments that run now, as the list object of this run; None if the whole page runs."""
    run = run_context()
    return run.fragment_ids_this_run if run else None


def draw_instead(keys: Sequence[str]) -> None:
    """Makes the run of a fragment draw the fragments with these keys instead. Call it from a callback of the run.

    `st.rerun(keys)` drops the run for another one. This takes three more messages before the first element, and a browser
    draws the whole page for each of them. `name_drawn_fragments` has to be called before.
    """
    run = run_context()
    run.fragment_ids_this_run[:] = run.fragment_storage.order_fragment_ids(run.fragment_storage.resolve_target(keys))


def name_drawn_fragments() -> None:
    """Makes the end of a run name the fragments that it has drawn, not those that it was to draw (see `draw_instead`).

    A browser removes the elements in them that were not drawn again. It dims those that the start of a run names until
    they are, and draws each of them twice for that; it names none.
    """
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.scriptrunner_utils.run_descriptor import RunDescriptor

    tell = AppSession._on_scriptrunner_event

    def tell_drawn(self: AppSession, *event: Any, **about: Any) -> None:
        if fragments := about.get("fragment_ids_this_run"):
            run = about["run_descriptor"]
            object.__setattr__(run, "fragment_ids", fragments)  # the list, which may change until the end
            about["run_descriptor"] = RunDescriptor(run.script_run_id, ("none",))
        tell(self, *event, **about)

    AppSession._on_scriptrunner_event = tell_drawn


def change_is_waiting() -> bool:
    """Whether a change by the user waits for the end of this run of a fragment.

    Always false in a full run, which Streamlit ends itself, and for the rerun of a timer, which would start the same
    picture again and again.
    """
    from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

    run = run_context()
    if not run or not run.fragment_ids_this_run or not run.script_requests:
        return False
    requests = run.script_requests
    return requests._state is ScriptRequestType.RERUN and not requests._rerun_data.is_auto_rerun


def drop_waiting_fragments() -> None:
    """Drops what waits for the end of this run if it only draws fragments. Call it before the run opens another page.

    Streamlit would run them there as parts of the page that was left, and the browser, whose page is empty by then, fails.
    """
    from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

    run = run_context()
    if not run or not (requests := run.script_requests):
        return
    with requests._lock:
        if requests._state is ScriptRequestType.RERUN and requests._rerun_data.fragment_id_queue:
            requests._state = ScriptRequestType.CONTINUE


def open_page(session: str) -> str:
    """The hash of the page that a session runs, from its menu on; "" if it is not known yet.

    The session itself has it only after the run: whatever is clicked while a page is first drawn would seem to be of another.
    """
    found = find_active_session(session) if session else None
    pages = getattr(getattr(found, "session", None), "_pages_manager", None)
    here = getattr(pages, "current_page_script_hash", "")
    return "" if here == getattr(pages, "main_script_hash", "") else here


def browser_token(cookies: Mapping[str, str]) -> str:
    """The random token that Streamlit gives each browser in a cookie, against forged requests; "" if there is none."""
    from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string

    token, _ = decode_xsrf_token_string(cookies.get("_streamlit_xsrf", ""))
    return token.hex() if token and len(token) >= TOKEN else ""


def has_pages_directory() -> bool:
    """Whether Streamlit lists the files in `pages/` itself, as no `st.navigation` has run yet."""
    from streamlit.runtime.pages_manager import PagesManager

    return bool(PagesManager.uses_pages_directory)


def ignore_pages_directory() -> None:
    """Makes every page run through `app.py` from the first session on; call it before there is one."""
    from streamlit.runtime.pages_manager import PagesManager

    PagesManager.uses_pages_directory = False


def register_components(distribution: str, names: Sequence[str], folder: str, package: Path) -> None:
    """Registers the components `<distribution>.<name>` whose files are in a folder of a package, unless they are known."""
    from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
    from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

    manager = get_bidi_component_manager()
    missing = [name for name in names if manager.get(f"{distribution}.{name}") is None]
    if missing:
        components = [ComponentConfig(name, folder) for name in missing]
        manager.register_from_manifest(ComponentManifest(distribution, "", components), package)


def remember_theme() -> None:
    """Makes Streamlit write the theme into a message once, and copy it from then on; does nothing if this version differs.

    Streamlit 1.67 walks through all of its options six times for each of the two runs of a change, which took a seventh of
    the time that the interpreter lock was held with 25 visitors. The theme is that of the config file, which does not change.
    """
    from streamlit.proto.NewSession_pb2 import CustomThemeConfig
    from streamlit.runtime import app_session

    populate = getattr(app_session, "_populate_theme_msg", None)
    if populate is None:
        return

    @cache
    def theme_config(section: str) -> CustomThemeConfig:
        found = CustomThemeConfig()
        populate(found, section)
        return found

    def copy_theme(msg: CustomThemeConfig, section: str = "theme") -> None:
        if theme_config(section).ByteSize():
            msg.MergeFrom(theme_config(section))

    app_session._populate_theme_msg = copy_theme

"""What attention/streamlit_internals.py relies on: a failure here names what the installed version of Streamlit lacks."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.navigation.page import StreamlitPage
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunContext
from streamlit.runtime.scriptrunner_utils.run_descriptor import RunDescriptor
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests
from streamlit.runtime.state.session_state import KeyIdMapper, SessionState, WStates
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.starlette import starlette_app_utils

from attention import streamlit_internals

ROOT = Path(__file__).parents[1]
HOME = ROOT / "attention" / "streamlit_internals.py"
PUBLIC = {
    "streamlit",
    "streamlit.components",
    "streamlit.delta_generator",
    "streamlit.errors",
    "streamlit.navigation.page",
}
PARTS: dict[str, tuple[object, tuple[str, ...]]] = {
    "sessions": (WebsocketSessionManager, ("get_session_info", "get_active_session_info")),
    "storage of sessions": (MemorySessionStorage(), ("_cache",)),
    "cache of sessions": (MemorySessionStorage()._cache, ("expire", "popitem", "__len__")),
    "session": (AppSession, ("shutdown", "session_state", "_on_scriptrunner_event")),
    "state": (SessionState(), ("_new_widget_state", "_old_state", "_key_id_mapper", "clear")),
    "widgets": (WStates(), ("widget_metadata", "states")),
    "keys": (KeyIdMapper(), ("id_key_mapping", "get_id_from_key")),
    "uploaded files": (MemoryUploadedFileManager("/"), ("file_storage", "get_files")),
    "run": (ScriptRunContext, ("fragment_ids_this_run", "script_requests", "fragment_storage")),
    "fragments": (MemoryFragmentStorage(), ("order_fragment_ids", "resolve_target")),
    "what a run names": (RunDescriptor, ("script_run_id", "fragment_ids")),
    "requests": (ScriptRequests(), ("_state", "_rerun_data")),
    "rerun": (RerunData(), ("is_auto_rerun",)),
    "pages": (PagesManager, ("uses_pages_directory", "current_page_script_hash", "main_script_hash")),
    "components": (BidiComponentManager, ("get", "register_from_manifest")),
    "theme": (app_session, ("_populate_theme_msg",)),
    "token of a browser": (starlette_app_utils, ("decode_xsrf_token_string",)),
    "page": (StreamlitPage, ("url_path",)),
    "message of a browser": (BackMsg().rerun_script, ("widget_states", "fragment_id", "is_auto_rerun")),
    "message to a browser": (ForwardMsg().new_session.initialize, ("session_id",)),
}


@pytest.mark.parametrize("part", PARTS)
def test_streamlit_has_what_is_used(part):
    owner, names = PARTS[part]
    known = {*dir(owner), *getattr(owner, "__annotations__", {})}
    missing = [name for name in names if name not in known]
    assert not missing, f"Streamlit {streamlit.__version__} has no {missing} of its {part}"


def test_a_runtime_and_a_session_keep_theirs_under_these_names():
    """They are set when an instance is made, which takes a server."""
    assert "self._session_mgr" in inspect.getsource(Runtime.__init__)
    assert "self._session_storage" in inspect.getsource(WebsocketSessionManager.__init__)
    assert "self._scriptrunner" in inspect.getsource(AppSession.__init__)
    assert "self._pages_manager" in inspect.getsource(AppSession.__init__)


def test_the_page_of_a_session_is_known_while_it_is_drawn_for_the_first_time(monkeypatch):
    """What is clicked then is of this page: it must not be dropped as if it were of one that was left."""
    pages = PagesManager(str(ROOT / "app.py"))
    found = SimpleNamespace(session=SimpleNamespace(_pages_manager=pages, page_script_hash=""))
    monkeypatch.setattr(streamlit_internals, "find_active_session", lambda session: found)
    assert streamlit_internals.open_page("one") == "" == streamlit_internals.open_page("")
    pages.set_current_page_script_hash(pages.main_script_hash)
    assert streamlit_internals.open_page("one") == "", "the menu has not chosen yet"
    pages.set_current_page_script_hash("heads")
    assert streamlit_internals.open_page("one") == "heads"


def test_no_other_file_uses_what_is_private():
    found = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in [*ROOT.glob("attention/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
        if file != HOME
        for node in ast.walk(ast.parse(file.read_text()))
        for name in imported(node)
        if name.partition(".")[0] == "streamlit" and name not in PUBLIC
    ]
    assert not found


def imported(node: ast.AST) -> list[str]:
    """The modules that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []

"""What a browser says, as far as it is heard: messages of pages, values that widgets can have; and that it has gone."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import KeyIdMapper

from attention import streamlit_internals
from attention.serving import leaving, messages
from attention.serving.messages import Messages, clean_message, is_stale, parse_frame
from attention.ui.jobs.job_queue import JobQueue
from attention.ui.session.visit_state import KEY, Session
from tests.test_job_queue import Count


def asks(**states) -> BackMsg:
    """A request for a run in which widgets say something, by their ids."""
    message = BackMsg()
    message.rerun_script.query_string = "seed=3"
    for name, value in states.items():
        ((field, said),) = value.items()
        setattr(message.rerun_script.widget_states.widgets.add(id=name), field, said)
    return message


def whole(said) -> int:
    """As a field for numbers takes what it is sent."""
    return int(said) if said is not None else 0


@pytest.fixture
def page(monkeypatch) -> SimpleNamespace:
    """A session whose page has two fields for numbers, and another one for a text than a page before."""
    known = {
        name: WidgetMetadata(name, take, str, kind)
        for name, take, kind in (
            ("number", whole, "int_value"),
            ("real", whole, "double_value"),
            ("text", str, "string_value"),
        )
    }
    ids = KeyIdMapper()
    ids["k"], ids["t"] = "number", "text"
    ids["t"] = "another"
    state = SimpleNamespace(_key_id_mapper=ids, _new_widget_state=SimpleNamespace(widget_metadata=known))
    info = SimpleNamespace(session=SimpleNamespace(session_state=state))
    manager = SimpleNamespace(get_session_info={"one": info}.get, get_active_session_info={}.get)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager))
    return info


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"number": {"int_value": 7}}, ["number"]),
        ({"number": {"string_value": "7"}}, []),
        ({"number": {"json_value": "{"}}, []),
        ({"real": {"double_value": 1.5}}, ["real"]),
        ({"real": {"int_value": 1}}, ["real"]),  # as browsers say it
        ({"real": {"double_value": float("nan")}}, []),
        ({"real": {"double_value": float("inf")}, "number": {"int_value": 1}}, ["number"]),
        ({"text": {"string_value": "of a page that was left"}}, []),
        ({"never": {"string_value": "drawn"}}, []),
    ],
)
def test_a_widget_is_heard_where_it_is_on_the_page_and_can_have_what_it_says(page, said, kept):
    message = asks(**said)
    found = clean_message(message, "one")
    assert [state.id for state in found.rerun_script.widget_states.widgets] == kept
    assert found.rerun_script.query_string == "seed=3" and (found is message) == (len(kept) == len(said))


def test_a_session_that_is_not_known_has_drawn_nothing(page):
    for session in ("", "two"):
        assert not clean_message(asks(number={"int_value": 7}), session).rerun_script.widget_states.widgets


def test_a_streamlit_that_cannot_be_asked_hears_everything(page):
    del page.session.session_state._new_widget_state
    message = asks(number={"string_value": "7"})
    assert clean_message(message, "one") is message


def test_a_part_of_a_page_that_was_left_is_not_drawn(monkeypatch):
    """Its browser shows the next page, and would have nowhere to put the part."""
    asked = BackMsg()
    asked.rerun_script.fragment_id, asked.rerun_script.page_script_hash = "controls", "left"
    for there, stale in (("next", True), ("left", False), ("", False)):
        monkeypatch.setattr(messages, "open_page", lambda session, there=there: there)
        assert is_stale(asked, "one") is stale
    asked.rerun_script.fragment_id = ""  # a whole page opens, whichever one was there
    monkeypatch.setattr(messages, "open_page", lambda session: "next")
    assert not is_stale(asked, "one")


@pytest.mark.parametrize(("waiting", "kept"), [(["controls"], False), ([], True)])
def test_parts_that_wait_are_dropped_before_another_page_opens_and_a_whole_page_is_not(monkeypatch, waiting, kept):
    requests = ScriptRequests()
    requests.request_rerun(RerunData(fragment_id_queue=waiting))
    monkeypatch.setattr(streamlit_internals, "run_context", lambda: SimpleNamespace(script_requests=requests))
    streamlit_internals.drop_waiting_fragments()
    assert (requests.on_scriptrunner_ready().type is ScriptRequestType.RERUN) is kept


def passed_messages(*frames: bytes | str, told: tuple[ForwardMsg, ...] = ()) -> tuple[list[dict], list[str]]:
    """What is heard of some frames by whoever stands behind, who says something first; and who is told to be away."""
    waiting = [
        {"type": "websocket.receive", "bytes" if isinstance(frame, bytes) else "text": frame} for frame in frames
    ]
    found, gone = [], []

    async def behind(scope, receive, send) -> None:
        for message in told:
            await send({"type": "websocket.send", "bytes": message.SerializeToString()})
        while waiting:
            found.append(await receive())

    async def receive() -> dict:
        return waiting.pop(0)

    async def send(message: dict) -> None:
        """To nobody."""

    scope = {"type": "websocket", "headers": [(b"sec-websocket-protocol", b"streamlit, token")]}
    asyncio.run(Messages(behind, gone.append)(scope, receive, send))
    return found, gone


def test_what_is_for_developers_goes_no_further():
    last = BackMsg(stop_script=True).SerializeToString()
    for kind in ("clear_cache", "load_git_info", "set_run_on_save", "debug_shutdown_runtime"):
        (only,), _ = passed_messages(BackMsg(**{kind: True}).SerializeToString(), last)
        assert only["bytes"] == last
    (only,), _ = passed_messages("text", last)
    assert only["bytes"] == last
    (only,), _ = passed_messages(b"\xff\xff")
    assert only["type"] == "websocket.disconnect", "Streamlit would write an error into the log"
    for frame in (b"", asks().SerializeToString()):
        (only,), _ = passed_messages(frame)
        assert frame in only.values(), "what it is, or that it is none, is Streamlit's to say"


def test_the_session_is_the_one_that_a_browser_was_told_of(page):
    new = ForwardMsg()
    new.new_session.initialize.session_id = "one"
    frame = asks(number={"int_value": 7}, never={"int_value": 7}).SerializeToString()
    (found,), gone = passed_messages(frame, told=(ForwardMsg(), new))
    said = parse_frame(found["bytes"])
    assert said is not None and [state.id for state in said.rerun_script.widget_states.widgets] == ["number"]
    assert gone == ["one"]


@pytest.mark.parametrize(("back", "state"), [(False, "cancelled"), (True, "waiting")])
def test_what_a_visitor_had_going_ends_soon_after_their_browser_has_gone(monkeypatch, back, state):
    line, session = JobQueue(1, lambda call: None, later=lambda *_: None), Session()
    mine, others = line.request(Count, 1, session.visitor), line.request(Count, 2, "somebody else")
    monkeypatch.setattr("attention.ui.jobs.job_queue.JOBS", line)
    info = SimpleNamespace(session=SimpleNamespace(session_state={KEY: session}))
    manager = SimpleNamespace(
        get_session_info={"one": info}.get, get_active_session_info={"one": info}.get if back else {}.get
    )
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager))

    async def leaves() -> None:
        for name in ("one", "never seen"):
            leaving.away(name, 0.0)
        await asyncio.sleep(0.01)
        await asyncio.get_running_loop().shutdown_default_executor()

    asyncio.run(leaves())
    assert (mine.state, others.state) == (state, "waiting")

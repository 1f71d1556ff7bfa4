"""What stands before Streamlit, piece by piece: who is turned away, what answers say of themselves, how files are sent."""

from __future__ import annotations

import asyncio
import errno
import gzip
import re
from functools import partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.requests import ClientDisconnect
from streamlit import runtime
from streamlit.runtime.caching.ttl_cache import TTLCache
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.state.session_state import SessionState

from attention import streamlit_internals
from attention.runtime.budget import Budget
from attention.serving import session_cleanup as left
from attention.serving import uploads
from attention.serving.files import BROWSER, Files
from attention.serving.headers import MARKUP, SaferHeaders, of_pages
from attention.serving.health import Health
from attention.serving.settings import Settings, settings
from attention.serving.startup import Door, Warmth
from attention.serving.uploads import MB, Sent, Uploads
from attention.serving.visitors import METHODS, Visitors
from attention.ui.budget import BUDGET
from tests.server import ROOT

SESSION = "/_stcore/upload_file/one/file"


def request(path: str = "/", method: str = "GET", kind: str = "http", **headers: str) -> dict:
    """What a server tells of a request; `_` in the name of a header stands for `-`."""
    told = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": kind, "path": path, "method": method, "headers": told}


def response_of(app, scope: dict, chunks: tuple[bytes, ...] = ()) -> tuple[int | str, dict[str, str], bytes]:
    """What a class answers: status, headers, body; "entered" where it lets somebody through to what is behind it."""
    sent, waiting = [], list(chunks)

    async def receive() -> dict:
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message: dict) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    if not sent or sent[0]["type"] == "websocket.close":
        return "closed" if sent else "entered", {}, b""
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])


async def inside(scope, receive, send) -> None:
    """What is behind a class: it answers nothing."""


def visit_status(settings: Settings, **given) -> int | str:
    return response_of(Visitors(inside, settings), request(**given))[0]


@pytest.mark.parametrize(
    ("origin", "host", "found"),
    [
        ("https://lab.example", "lab.example", "entered"),
        ("https://lab.example:443", "LAB.example", "entered"),
        ("http://127.0.0.1:8501", "127.0.0.1:8501", "entered"),
        ("http://127.0.0.1:9000", "127.0.0.1:8501", "closed"),
        ("https://evil.example", "lab.example", "closed"),
        ("https://lab.example.evil.example", "lab.example", "closed"),
        ("null", "lab.example", "closed"),
        ("", "", "closed"),
        ("https://[", "lab.example", "closed"),
        ("file://lab.example", "lab.example", "closed"),
        ("https://friend.example", "lab.example", "entered"),
    ],
)
def test_a_websocket_comes_from_a_page_of_this_server_or_of_a_friend(origin, host, found):
    friend = Settings(origins=("https://friend.example",))
    assert visit_status(friend, kind="websocket", path="/_stcore/stream", origin=origin, host=host) == found


def test_a_websocket_without_an_origin_is_a_program_and_an_owner_may_turn_it_away():
    assert visit_status(Settings(), kind="websocket", host="lab.example") == "entered"
    assert visit_status(Settings(originless=False), kind="websocket", host="lab.example") == "closed"


def test_what_changes_something_comes_from_a_page_of_this_server_too():
    assert (
        visit_status(Settings(), path=SESSION, method="PUT", origin="https://evil.example", host="lab.example") == 403
    )
    assert visit_status(Settings(), path="/", origin="https://evil.example", host="lab.example") == "entered"


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("lab.example", "entered"),
        ("lab.example:8501", "entered"),
        ("a.school.example", "entered"),
        ("school.example", 403),
        ("evil.example", 403),
        ("lab.example.evil.example", 403),
        ("", 403),
        ("[", 403),
    ],
)
def test_a_server_answers_to_the_names_that_its_owner_has_given_it(host, found):
    named = Settings(hosts=("lab.example", "*.school.example"))
    assert visit_status(named, host=host) == found
    assert visit_status(Settings(), host=host) == "entered"
    assert visit_status(named, host="10.0.0.7:8501", path="/healthz") == "entered"


def test_the_container_that_ships_answers_to_the_names_that_its_owner_sets_and_to_no_others():
    """A page whose name was pointed to this machine has an origin that equals its host; only the list of names refuses it."""
    line = re.search(r'ATTENTION_HOSTS: "\$\{ATTENTION_HOSTS:-(.*?)\}"', (ROOT / "compose.yaml").read_text())
    assert line is not None
    for settings_of_owner, host, found in (
        (settings({"ATTENTION_HOSTS": line[1]}), "evil.example", "closed"),
        (settings({"ATTENTION_HOSTS": line[1]}), "localhost:8080", "entered"),
        (settings({}), "evil.example", "entered"),
    ):
        origin = f"http://{host}"
        assert (
            visit_status(settings_of_owner, kind="websocket", path="/_stcore/stream", origin=origin, host=host) == found
        )


def test_metrics_are_for_those_who_switch_them_on():
    assert visit_status(Settings(), path="/_stcore/metrics") == 404
    assert visit_status(Settings(metrics=True), path="/_stcore/metrics") == "entered"


def test_what_may_hold_a_script_gets_the_policy_and_everything_says_what_it_is():
    async def typed(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": b""})

    for kind in (*MARKUP, b"application/json", b"text/javascript"):
        headers = response_of(SaferHeaders(typed, Settings()), request())[1]
        assert headers["x-content-type-options"] == "nosniff"
        assert ("content-security-policy" in headers) == (kind in MARKUP)


def test_an_owner_says_who_may_show_the_app_in_a_frame():
    def told(*frames: str) -> tuple[str, str | None]:
        found = of_pages(frames, ())
        return found["content-security-policy"].rpartition("frame-ancestors ")[2], found.get("x-frame-options")

    assert told() == ("'none'", "DENY")
    assert told("self") == ("'self'", "SAMEORIGIN")
    assert told("self", "https://school.example") == ("'self' https://school.example", None)


@pytest.fixture
def sessions(monkeypatch) -> dict[str, SimpleNamespace]:
    """Sessions by name, of which `one` has a place for files; what `kept` says lies there."""
    widgets = SimpleNamespace(
        widget_metadata={"u": SimpleNamespace(id="u", value_type="file_uploader_state_value")}, states={"u": None}
    )
    state = SimpleNamespace(_new_widget_state=widgets, _old_state={})
    found = {"one": SimpleNamespace(session=SimpleNamespace(session_state=state))}
    manager = SimpleNamespace(
        _session_mgr=SimpleNamespace(get_active_session_info=found.get),
        uploaded_file_mgr=SimpleNamespace(file_storage={"one": {"a": SimpleNamespace(data=b"x" * 2 * MB)}}),
    )
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: manager)
    return found


async def reading(scope, receive, send) -> None:
    """Takes a file and says how long it was."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message["body"]), message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def test_a_page_without_a_place_for_files_takes_none(sessions):
    app = Uploads(inside, Settings())
    assert response_of(app, request(SESSION, "PUT", content_length="9"))[0] == "entered"
    assert response_of(app, request(SESSION.replace("one", "two"), "PUT", content_length="9"))[0] == 403
    assert response_of(Uploads(inside, Settings(uploads=0)), request(SESSION, "PUT"))[0] == 403
    sessions["one"].session.session_state._new_widget_state.states.clear()  # its page was left
    for method in ("PUT", "POST"):
        assert response_of(app, request(SESSION, method, content_length="9"))[0] == 403
    sessions["one"].session.session_state = None  # a Streamlit that keeps it elsewhere
    assert response_of(app, request(SESSION, "PUT"))[0] == 403


def test_all_that_a_visitor_sends_together_is_bounded_whatever_its_length_is_said_to_be(sessions):
    app = Uploads(reading, Settings(uploads=5))
    assert response_of(app, request(SESSION, "PUT"), (b"x" * MB,) * 3)[2] == str(3 * MB).encode()
    assert response_of(app, request(SESSION, "PUT", content_length=str(4 * MB)))[0] == 413
    for said in ({}, {"content_length": "9"}, {"content_length": "²"}):
        found = response_of(app, request(SESSION, "PUT", **said), (b"x" * MB,) * 99)
        assert found[::2] == (413, uploads.TOO_MUCH.encode())
    assert app.sent.coming == {}


def test_files_of_all_sessions_count_as_memory_and_are_refused_where_there_is_no_room(sessions):
    manager: Any = runtime.get_instance().uploaded_file_mgr
    files = manager.file_storage
    files["two"] = {name: SimpleNamespace(data=b"x" * 30 * MB) for name in "ab"}
    budget = Budget(64 * MB)
    sent = budget.register(Sent().bounded_by(lambda: budget.room(0)))
    app = Uploads(reading, Settings(uploads=60), sent)
    assert (sent.used_bytes, budget.free_bytes) == (62 * MB, 2 * MB)
    assert response_of(app, request(SESSION, "PUT", content_length=str(MB)), (b"x" * MB,))[0] == 200
    for said in ({}, {"content_length": str(3 * MB)}):
        found = response_of(app, request(SESSION, "PUT", **said), (b"x" * MB,) * 3)
        assert found[::2] == (413, uploads.NO_ROOM.encode())
    del files["two"]
    assert response_of(app, request(SESSION, "PUT", content_length=str(3 * MB)), (b"x" * MB,) * 3)[0] == 200
    assert sent.used_bytes == 2 * MB and uploads.SENT in BUDGET.claims


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), FileNotFoundError("no place")])
def test_a_file_that_finds_no_place_on_the_disk_is_answered_with_a_sentence(sessions, caplog, fault):
    async def full(scope, receive, send) -> None:
        await receive()
        raise fault

    app = Uploads(full, Settings())
    assert response_of(app, request(SESSION, "PUT", content_length="1"), (b"x",))[::2] == (
        507,
        uploads.NO_DISK.encode(),
    )
    assert str(fault) in caplog.text and app.sent.coming == {}


def stalled_request(app: Uploads, clock: list[float], sent: list[dict], **headers: str):
    """A request whose sender sends five bytes and then nothing; each time it is waited for, the clock moves a second."""
    waiting = [b"hello"]

    async def receive() -> dict:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": True}
        clock[0] += 1
        await asyncio.Event().wait()
        return {}

    async def send(message: dict) -> None:
        sent.append(message)

    return app(request(SESSION, "PUT", **headers), receive, send)


def test_an_upload_claims_what_has_arrived_and_not_what_it_says(sessions):
    """Three senders announce 58 MB each and send five bytes: what is left for others stays."""
    budget = Budget(168 * MB)
    manager: Any = runtime.get_instance().uploaded_file_mgr
    manager.file_storage.clear()
    sent = budget.register(Sent().bounded_by(lambda: budget.room(0)))
    app = Uploads(reading, Settings(), sent, lambda: 0.0)

    async def three() -> int:
        requests = [stalled_request(app, [0.0], [], content_length=str(58 * MB)) for _ in range(3)]
        tasks = [asyncio.create_task(each) for each in requests]
        for _ in range(100):
            await asyncio.sleep(0)
        left = budget.free_bytes
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return left

    assert asyncio.run(three()) == 168 * MB - 3 * (5 + uploads.AHEAD)
    assert sent.coming == {}


def test_an_upload_without_progress_ends_after_a_while(sessions):
    clock, sent = [0.0], []
    app = Uploads(reading, Settings(), Sent(), lambda: clock[0], 0.001)
    asyncio.run(stalled_request(app, clock, sent, content_length=str(58 * MB)))
    assert sent[0]["status"] == 408 and (b"connection", b"close") in sent[0]["headers"]
    assert sent[1]["body"].decode() == uploads.STALLED and clock[0] == uploads.STALL
    assert app.sent.coming == {}


def test_an_upload_that_trickles_ends_too_and_a_slow_one_does_not(sessions):
    """Two senders of the same length, a packet every two seconds: one of a byte each, one of 32 kB."""
    clock = [0.0]
    app = Uploads(reading, Settings(), Sent(), lambda: clock[0])

    def sending(size: int) -> tuple[int | str, bytes]:
        packets = [b"x" * size] * 60

        async def receive() -> dict:
            clock[0] += 2
            return {"type": "http.request", "body": packets.pop(), "more_body": bool(packets)}

        sent: list[dict] = []

        async def send(message: dict) -> None:
            sent.append(message)

        asyncio.run(app(request(SESSION, "PUT", content_length=str(60 * size)), receive, send))
        return sent[0]["status"], sent[1]["body"]

    assert sending(1) == (408, uploads.STALLED.encode())
    assert sending(32 * 1024) == (200, str(60 * 32 * 1024).encode())


def test_an_upload_ends_with_the_session_that_sends_it(sessions):
    clock, sent = [0.0], []
    app = Uploads(reading, Settings(), Sent(), lambda: clock[0], 0.001)

    async def leaving() -> None:
        task = asyncio.create_task(stalled_request(app, [0.0], sent, content_length=str(58 * MB)))
        while not app.sent.coming["one"]:
            await asyncio.sleep(0.001)
        del sessions["one"]
        await asyncio.wait_for(task, 10)

    asyncio.run(leaving())
    assert (sent[0]["status"], sent[1]["body"]) == (403, uploads.CLOSED.encode()) and app.sent.coming == {}


@pytest.mark.parametrize(("name", "status"), [(200, 200), (5000, 400)])
def test_the_name_of_a_file_may_be_as_long_as_a_disk_allows(sessions, name, status):
    app = Uploads(reading, Settings())
    form = b'--x\r\nContent-Disposition: form-data; name="f"; filename="' + b"n" * name + b'"\r\n\r\n' + b"x" * 9000
    for parts in ((form,), (form[:3000], form[3000:])):
        found = response_of(app, request(SESSION, "PUT", content_type="multipart/form-data; boundary=x"), parts)
        assert found[0] == status and (status == 200 or found[2] == uploads.LONG_NAME.encode())
    assert app.sent.coming == {}


def test_a_sender_who_goes_away_leaves_nothing_behind(sessions, caplog):
    async def cut(scope, receive, send) -> None:
        await receive()
        raise ClientDisconnect

    app = Uploads(cut, Settings())
    assert response_of(app, request(SESSION, "PUT", content_length=str(MB)), (b"x" * 9, b""))[0] == "entered"
    assert app.sent.coming == {} and "Traceback" not in caplog.text


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "BREW"])
def test_a_method_that_nobody_uses_is_answered_with_a_sentence(method):
    for where in ("/healthz", "/", SESSION):
        status, headers, body = response_of(Visitors(inside, Settings()), request(where, method))
        assert (status, headers["allow"]) == (405, ", ".join(METHODS)) and method.encode() in body
    assert all(visit_status(Settings(), method=each) == "entered" for each in METHODS)


@pytest.mark.parametrize("below", ["", "/", "/openapi.json", "/interact", "/mcp"])
def test_nobody_drives_the_app_without_a_browser(below):
    assert visit_status(Settings(), path=f"/_stcore/agent{below}") == 404
    assert visit_status(Settings(), path=f"/_stcore/agents{below}") == "entered"


def test_files_of_two_requests_at_once_count_together(sessions):
    app = Uploads(reading, Settings(uploads=5))
    app.sent.coming["one"] = 2 * MB
    assert response_of(app, request(SESSION, "PUT", content_length=str(2 * MB)))[0] == 413
    assert response_of(app, request(SESSION, "PUT", content_length=str(MB)), (b"x" * MB,))[0] == 200


def test_a_probe_is_told_why_a_server_is_of_no_use():
    warmth = Warmth()
    app = Health(inside, warmth.trouble)
    assert response_of(app, request("/healthz"))[::2] == (503, b"starting")
    warmth.reached.set()
    assert response_of(app, request("/healthz"))[::2] == (200, b"ok")
    warmth.failed = "broken"
    assert response_of(app, request("/healthz"))[::2] == (503, b"broken")
    assert response_of(app, request("/health"))[0] == "entered"


def test_nobody_is_let_in_before_all_is_imported():
    async def tried() -> list[str]:
        entered, warmth = [], Warmth()

        async def within(scope, receive, send) -> None:
            entered.append(scope["type"])

        door = Door(within, warmth)
        waiting = asyncio.create_task(door({"type": "websocket"}, None, None))
        await door(request(), None, None)
        await asyncio.sleep(0)
        entered.append("warm")
        warmth.reached.set()
        await waiting
        return entered

    assert asyncio.run(tried()) == ["http", "warm", "websocket"]


def test_a_file_is_compressed_once_and_asked_for_again_with_its_hash(tmp_path):
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "a.js").write_text("let a = 1;" * 1000)
    (tmp_path / "a.woff2").write_bytes(b"\0")
    app = Files(inside, tmp_path)
    status, headers, body = response_of(app, request("/static/js/a.js", accept_encoding="br, gzip"))
    assert status == 200 and headers["content-encoding"] == "gzip" and len(body) < 200
    assert headers["cache-control"] == "public, immutable, max-age=31536000"
    assert headers["content-type"] == "text/javascript; charset=utf-8" and headers["vary"] == "accept-encoding"
    (tmp_path / "js" / "a.js").unlink()  # nobody reads it again
    status, other, plain = response_of(app, request("/static/js/a.js"))
    assert plain == gzip.decompress(body) and "content-encoding" not in other
    assert response_of(app, request("/static/js/a.js", if_none_match=headers["etag"]))[::2] == (304, b"")
    assert response_of(app, request("/static/js/a.js", "HEAD"))[1]["content-length"] == str(len(plain))
    assert response_of(app, request("/static/a.woff2"))[0] == "entered"


@pytest.mark.parametrize("name", ["", "js", "js/", "../config.toml", "js/../../x.js", "js/none.js", "/etc/passwd"])
def test_what_is_not_among_the_files_is_nowhere(name):
    assert response_of(Files(inside), request(f"/static/{name}"))[0] == 404


def test_a_component_has_the_files_of_the_folder_and_no_others():
    app = Files(inside)
    status, headers, body = response_of(app, request("/_stcore/bidi-components/attention-lab.heads_grid/cells.js"))
    assert (status, body) == (200, (BROWSER / "cells.js").read_bytes()) and headers["cache-control"] == "no-cache"
    for name in ("../../config.py", "", "none.js", "../browser/cells.js"):
        assert response_of(app, request(f"/_stcore/bidi-components/attention-lab.heads_grid/{name}"))[0] == 404
    assert (
        response_of(app, request("/_stcore/bidi-components/none/cells.js"))[0] == "entered"
    )  # Streamlit says that it is none


@pytest.mark.parametrize(
    ("where", "to"),
    [
        ("/softmax/x", "/softmax"),
        ("/a/b/c", "/a"),
        ("/softmax//x", "/softmax"),
        ("/%C3%A4/x", "/%C3%A4"),
        ("/softmax", ""),
        ("/", ""),
        ("/static/x/y.js", ""),
        ("/_stcore/health/x", ""),
        ("/~/+/softmax", ""),
    ],
)
def test_what_is_below_a_page_leads_to_it(where, to):
    async def entered(*_: object) -> None:
        pass

    app = Visitors(entered, Settings())
    page = request(unquote(where), accept="text/html,*/*") | {"query_string": b"tokens=20"}
    status, headers, _ = response_of(app, page)
    assert (status, headers.get("location")) == ((302, f"{to}?tokens=20") if to else ("entered", None))
    assert response_of(app, request(unquote(where), accept="*/*"))[0] == "entered", "a script or a picture"


def test_sessions_whose_time_is_up_are_let_go_of_though_nobody_else_leaves(monkeypatch):
    """Streamlit's own storage: what it has is gone once it is asked to look."""
    now = [0.0]
    kept = TTLCache(4, 120, timer=lambda: now[0])
    kept["somebody"] = object()
    done, busy = (SimpleNamespace(session_state=SessionState(), _scriptrunner=runner) for runner in (None, object()))
    ended = []
    for each in (done, busy):
        each.shutdown = partial(ended.append, each)
        each.session_state["map"] = each.session_state._new_widget_state.widget_metadata["cancel"] = object()
    kept["last"], kept["runs"] = (SimpleNamespace(session=each) for each in (done, busy))
    storage = SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=SimpleNamespace(_cache=kept)))
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: storage)
    left.forget()
    assert len(kept._data) == 3 and "map" in done.session_state
    now[0] = 121.0
    left.forget()
    assert not kept._data and ended == [done]
    assert "map" not in done.session_state and not done.session_state._new_widget_state.widget_metadata
    assert "map" in busy.session_state, "its script still runs"
    assert isinstance(MemorySessionStorage()._cache, TTLCache)


def test_a_host_with_little_memory_remembers_a_few_of_those_who_left(monkeypatch):
    kept, ended = TTLCache(128, 120), []
    monkeypatch.setattr(left, "_most", left._most)
    storage = SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=SimpleNamespace(_cache=kept)))
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: storage)
    for name in range(left.FEW + 2):
        session = SimpleNamespace(
            session_state=SessionState(), _scriptrunner=None, shutdown=partial(ended.append, name)
        )
        kept[name] = SimpleNamespace(session=session)
    left.forget()
    assert not ended
    left.only_few()
    left.forget()
    assert ended == [0, 1] and len(kept) == left.FEW

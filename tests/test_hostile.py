"""Whatever a visitor sends, a page says a sentence and goes on: no traceback, no markup, nobody else's data, no standstill.

One server for all cases of the table (tests/hostile.py). After each the same visitor changes something, as anybody may, and
the page does it. Another visitor is there all the while, whose text nobody else is ever sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qs, quote
from uuid import uuid4

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed

from tests.forger import Forger, open_link
from tests.hostile import BAIT, FILES, JSON, LINKS, LONG, NOTED, WIDGETS
from tests.samples import is_first, sample
from tests.server import Server, run_server
from tests.visitor import put

T = TypeVar("T")
SECRET = "quetzal"
GOOD: dict[
    str, tuple[str, dict[str, Any], tuple[str, str]]
] = {  # a change that every page takes, and what its link says then
    "/": ("story_temperature", {"string_array_value": ["2"]}, ("start", "temperature.2.0")),
    "timing": ("sweep_seed", {"int_value": 77}, ("seed", "77")),
    "training": ("train_seed", {"int_value": 77}, ("train_seed", "77")),
    "examples": ("about", {"string_value": "masks"}, ("about", "masks")),
    "find_the_bug": ("series_bug", {"string_array_value": ["2"]}, ("bug", "6bfeb4")),
}
USUAL = ("temperature", {"double_array_value": [2.0]}, ("temperature", "2.0"))

first_of_page = is_first(lambda page: page)
first_of_kind = is_first(lambda kind: kind)


def needs_page(page: str, link: str, says: str) -> bool:
    """A link of every page, one with markup and one with much text, and what is not said by settings but by the page.

    What is said of all others, and that it is no markup once it is escaped, is tested without a server in
    tests/test_hostile_knobs.py.
    """
    kind = "markup" if quote(BAIT) in link else "much" if LONG in link else ""
    return first_of_page(page) | first_of_kind(kind) or (page, link, says) not in NOTED


def needs_server(name: str, data: bytes, says: str) -> bool:
    """The first file, a good one, a large one, one that the page refuses, those with markup or a path."""
    kinds = name in ("empty.json", "none.json", "bait.json") or BAIT in name or "/" in name
    return kinds or not says or len(data) > 2**20


@dataclass
class Host:
    """A server with a visitor, and a loop in which all who come after them speak."""

    server: Server
    loop: asyncio.Runner
    other: Forger

    def does(self, what: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(what)


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with run_server() as server, asyncio.Runner() as loop:
        coming = open_link(server.url, f"text={SECRET}+one+two&tokens=3")
        other = loop.run(coming.__aenter__())
        yield Host(server, loop, other)
        loop.run(other.moves(*USUAL[:1], **USUAL[1]))
        assert f"text={SECRET}" in other.painted_link and "temperature=2.0" in other.painted_link
        loop.run(coming.__aexit__(None, None, None))
        assert "was shown as number" not in server.log.read_text()


async def goes_on(found: Forger, page: str) -> None:
    """Nothing on the page is what it must not be, and the next good change works."""
    assert found.errors == [] and found.foreign == [] and SECRET.encode() not in found.heard
    key, value, (name, text) = GOOD.get(page, USUAL)
    await found.moves(key, **value)
    assert parse_qs(found.query)[name] == [text]
    assert found.errors == [] and not any("This part of the page failed" in said for said in found.alerts)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("page", "link", "says"), sample(LINKS, needs_page), ids=lambda text: text[:40])
def test_a_link_says_what_it_cannot_have_and_opens_the_rest(host, page, link, says):
    async def opened() -> None:
        async with open_link(host.server.url, link, page) as found:
            said = "\n".join(found.alerts)
            assert says in said if says else not said
            await goes_on(found, page)

    host.does(opened())


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("page", "link", "key", "value", "says"),
    sample(WIDGETS, is_first(lambda page, link, key, value, says: (page, *value))),
    ids=lambda text: str(text)[:40],
)
def test_a_widget_says_what_it_cannot_have_and_keeps_what_it_had(host, page, link, key, value, says):
    async def forged() -> None:
        async with open_link(host.server.url, link, page) as found:
            await found.moves(found.full(key), **value)
            said = "\n".join(found.alerts)
            assert says in said if says else not said
            await goes_on(found, page)

    host.does(forged())


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "data", "says"), sample(FILES, needs_server), ids=lambda text: str(text)[:40])
def test_a_file_that_is_no_recording_is_named_with_what_is_wrong(host, name, data, says):
    async def sent() -> None:
        async with open_link(host.server.url, "", "timing") as found:
            number = str(uuid4())
            assert await asyncio.to_thread(put, host.server.url, found.session, number, data, "", name.encode()) == 204
            state = WidgetState(id=found.id("recordings_0"))
            told = state.file_uploader_state_value.uploaded_file_info.add(file_id=number, name=name, size=len(data))
            told.file_urls.file_id = number
            await found.ask(part=found.part("recordings_0"), said=state)
            await found.wait_for_end()
            said = "\n".join(found.alerts)
            assert says in said if says else not said
            await goes_on(found, "timing")

    host.does(sent())


@pytest.mark.parametrize("kind", ["clear_cache", "load_git_info", "set_run_on_save", "debug_shutdown_runtime"])
def test_what_is_for_developers_is_not_heard(host, kind):
    async def asked() -> None:
        async with open_link(host.server.url, "") as found:
            before = len(found.kinds)
            await found.socket.send(BackMsg(**{kind: True}).SerializeToString())
            await found.socket.send("a text, which no page sends")
            await found.moves("seed", int_value=3)
            assert "git_info_changed" not in found.kinds[before:] and "seed=3" in found.query
            await goes_on(found, "")

    host.does(asked())


LARGE = BackMsg()
LARGE.rerun_script.page_name = "a" * 3_000_000


@pytest.mark.parametrize("frame", [b"\xff\xff", b"\x0a", LARGE.SerializeToString()], ids=["garbage", "cut", "large"])
def test_what_is_no_message_ends_the_connection_of_whoever_sent_it(host, frame):
    async def sent() -> None:
        async with open_link(host.server.url, "") as found:
            await found.socket.send(frame)
            with pytest.raises(ConnectionClosed):
                await found.wait_for_end(20)

    host.does(sent())


def test_a_file_that_never_came_is_said_to_be_missing(host):
    async def named() -> None:
        async with open_link(host.server.url, "", "timing") as found:
            state = WidgetState(id=found.id("recordings_0"))
            state.file_uploader_state_value.uploaded_file_info.add(file_id="nowhere", name="a.json", size=9)
            await found.ask(part=found.part("recordings_0"), said=state)
            await found.wait_for_end()
            assert found.alerts == ["The upload of a file was interrupted. Open it again."]
            await goes_on(found, "timing")

    host.does(named())


def test_parts_and_pages_that_are_none_are_not_drawn_and_the_page_goes_on(host):
    async def asked() -> None:
        async with open_link(host.server.url, "") as found:
            await found.ask(part="no such part", said=found.state("seed", int_value=4))  # nothing comes of it
            found.page = "0" * 32
            await found.ask(said=found.state("seed", int_value=5))
            await found.wait_for_end()
            await goes_on(found, "/")
            await found.ask(name="../../etc/passwd")
            await found.wait_for_end()
            await goes_on(found, "/")

    host.does(asked())


@pytest.mark.extended
def test_what_a_page_that_was_left_has_had_is_no_longer_heard(host):
    async def turned() -> None:
        async with open_link(host.server.url, "", "training") as found:
            grid = found.id("grid")
            found.query = ""
            await found.ask(name="timing")
            await found.wait_for_end()
            await found.ask(said=WidgetState(id=grid, **{JSON: '{"pin": {"head": 1, "query": 2}}'}))
            await found.wait_for_end()
            await goes_on(found, "timing")

    host.does(turned())

"""A server with what stands before Streamlit: what it says over HTTP, whom it lets in, what files it takes."""

from __future__ import annotations

import asyncio
import http.client
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest

from tests.server import ROOT, Server, run_server
from tests.visitor import begin_upload, enter_page, send_file

MB = 2**20
TAKES = """
import streamlit as st
if __name__ == "__main__":
    st.text("here")
    if "take" in st.query_params:
        st.file_uploader("a file")
else:
    from attention.serving import stack
    app = st.App(__file__, lifespan=stack.WARMTH.lifespan, middleware=stack.middleware())
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """With an owner who has said something."""
    with run_server(ATTENTION_FRAMES="self https://school.example", ATTENTION_ORIGINLESS="off") as running:
        yield running


def send_request(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.request(method, path, headers=spelt(headers))
    found = connection.getresponse()
    return found.status, {name.lower(): value for name, value in found.getheaders()}, found.read()


@pytest.mark.parametrize("path", ["/", "/masks", "/nowhere", "/static/../index.html"])
def test_every_page_of_a_server_says_what_a_browser_shall_refuse(server, path):
    status, headers, body = send_request(server, path)
    assert status == (404 if ".." in path else 200)
    if status == 200:
        assert "'unsafe-eval'" not in headers["content-security-policy"] and b"<script>" in body
        assert headers["content-security-policy"].endswith("frame-ancestors 'self' https://school.example")
        assert headers["referrer-policy"] == "same-origin" and "camera=()" in headers["permissions-policy"]
    assert headers["x-content-type-options"] == "nosniff" and not re.search(r"\d", headers["server"])


def test_a_page_that_a_browser_has_is_sent_anew_as_its_headers_may_be_others_now(server):
    assert "etag" not in send_request(server, "/")[1], "its title and its preview differ by its link as well"
    status, headers, _ = send_request(server, "/", if_none_match="*")
    assert status == 200 and "content-security-policy" in headers


@pytest.mark.parametrize("path", ["/static/", "/static/js/", "/app/static/", "/_stcore/bidi-components/"])
def test_no_folder_is_listed(server, path):
    status, _, body = send_request(server, path)
    assert (status != 200 or b"<noscript>" in body) and b"PlotlyChart" not in body


def test_a_server_answers_its_owner_and_nobody_else_about_itself(server):
    assert send_request(server, "/_stcore/metrics")[0] == 404
    assert send_request(server, "/_stcore/health")[::2] == (200, b"ok")
    assert send_request(server, "/healthz")[2] in (b"ok", b"starting")


def test_streamlits_scripts_come_compressed_and_stay(server):
    page = send_request(server, "/")[2].decode()
    total = 0
    for name in re.findall(r'"\./(static/js/.+?\.js)"', page):
        status, headers, body = send_request(server, f"/{name}", accept_encoding="gzip")
        assert status == 200 and headers["content-encoding"] == "gzip" and "immutable" in headers["cache-control"]
        total += len(body)
    assert total < 1_500_000


@pytest.mark.parametrize(("origin", "status"), [(None, 403), ("http://127.0.0.1:1", 403), ("null", 403), ("own", 101)])
def test_who_may_connect(server, origin, status):
    named = {"origin": server.url if origin == "own" else origin} if origin else {}
    key = {"connection": "Upgrade", "upgrade": "websocket", "sec_websocket_version": "13"}
    found = asked_to_connect(server, **key, sec_websocket_key="dGhlIHNhbXBsZSBub25jZQ==", **named)
    assert found == status


def asked_to_connect(server: Server, **headers: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.request("GET", "/_stcore/stream", headers=spelt(headers))
    found = connection.getresponse().status
    connection.close()
    return found


def spelt(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.mark.extended
def test_files_are_taken_by_a_page_that_has_a_place_for_them_and_not_for_ever_more(tmp_path):
    """Streamlit takes six files of 60 MB from anybody who knows a session."""

    async def tried(server: Server) -> list[int]:
        found = []
        for query, count in (("", 1), ("take=1", 4)):
            async with enter_page(server.url, query) as visit:
                for number in range(count):
                    found.append(await asyncio.to_thread(send_file, server.url, visit.session, number, MB))
        return found

    (tmp_path / "app.py").write_text(TAKES)
    with run_server("app.py", tmp_path, ATTENTION_UPLOADS="3", PYTHONPATH=str(ROOT)) as server:
        assert asyncio.run(tried(server)) == [403, 204, 204, 204, 413]


@pytest.mark.extended
def test_files_of_all_visitors_together_stay_within_the_memory_that_a_server_has(tmp_path):
    """Those that were announced and do not arrive take none of it, and leave no traceback when their senders go away."""

    async def tried(server: Server) -> list[int]:
        found = []
        async with AsyncExitStack() as stack:
            for _ in range(3):
                stalls = await stack.enter_async_context(enter_page(server.url, "take=1"))
                connection = await asyncio.to_thread(begin_upload, server.url, stalls.session, 58 * MB)
                stack.callback(connection.close)
            for _ in range(3):
                visit = await stack.enter_async_context(enter_page(server.url, "take=1"))
                found.append(await asyncio.to_thread(send_file, server.url, visit.session, 0, 40 * MB))
        return found

    (tmp_path / "app.py").write_text(TAKES)
    with run_server("app.py", tmp_path, ATTENTION_MEMORY="600", PYTHONPATH=str(ROOT)) as server:
        assert asyncio.run(tried(server)) == [204, 204, 413]
        assert send_request(server, "/", "CONNECT")[0] == 405
        assert "Traceback" not in server.log.read_text()


@pytest.mark.extended
def test_the_way_of_streamlit_for_programs_is_closed(server):
    assert send_request(server, "/_stcore/agent/openapi.json")[0] == 404
    assert send_request(server, "/_stcore/agent/interact", "POST")[0] in (403, 404)

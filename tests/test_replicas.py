"""Replicas are disposable: whoever is at one that is lost goes on at another."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from urllib.parse import parse_qsl, urlsplit

import pytest
from websockets.exceptions import ConnectionClosed

from attention.codec import from_query
from tests import nginx
from tests.server import Server, run_server
from tests.visitor import Visit, enter_page, send_file

VISITORS = 16  # of two replicas: that one has them all is a matter of less than one in 30,000
FILES = 8  # visitors who send one
LINKS = [f"tokens={20 + number}&seed={number}" for number in range(VISITORS)]


def shows(visit: Visit, link: str) -> bool:
    return from_query(dict(parse_qsl(visit.painted))) == from_query(dict(parse_qsl(link))) and not visit.errors


@pytest.mark.extended
@pytest.mark.skipif(not nginx.find_nginx() and os.environ.get("CI") != "true", reason=nginx.ADVICE)
def test_the_visitors_of_a_lost_replica_go_on_at_the_other_from_their_links(tmp_path):
    """Two replicas behind the nginx that ships: files reach the one that a visitor's session is at.

    One is killed; its visitors, and nobody else, lose their connection.
    """
    assert nginx.find_nginx(), nginx.ADVICE

    async def there(url: str) -> list[int]:
        found = []
        for number in range(FILES):
            cookie = f"replica=visitor{number}"
            async with enter_page(url, "", "timing", cookie) as visit:
                found.append(await asyncio.to_thread(send_file, url, visit.session, number, 1000, cookie))
        return found

    async def tried(url: str, first: Server) -> tuple[list[Visit], list[bool], list[Visit]]:
        async with AsyncExitStack() as stack:
            visits = [
                await stack.enter_async_context(enter_page(url, link, cookie=f"replica=visitor{number}"))
                for number, link in enumerate(LINKS)
            ]
            first.kill()
            lost = await asyncio.gather(*map(is_disconnected, visits))
            again = [
                await stack.enter_async_context(enter_page(url, link, cookie=f"replica=visitor{number}"))
                for number, link in enumerate(LINKS)
                if lost[number]
            ]
            return visits, lost, again

    with run_server() as one, run_server() as two:
        with nginx.before([urlsplit(each.url).netloc for each in (one, two)], tmp_path) as url:
            assert asyncio.run(there(url)) == [204] * FILES
            visits, lost, again = asyncio.run(tried(url, one))
        assert "Traceback" not in two.log.read_text()
    assert all(map(shows, visits, LINKS))
    assert 0 < sum(lost) < VISITORS
    assert all(map(shows, again, [link for link, away in zip(LINKS, lost, strict=True) if away]))


async def is_disconnected(visit: Visit) -> bool:
    """Is a visitor's connection lost? What was sent before is read first."""
    try:
        async with asyncio.timeout(5):
            while True:
                await visit.socket.recv()
    except ConnectionClosed:
        return True
    except TimeoutError:
        return False

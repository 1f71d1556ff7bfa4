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
from tests.served import Server, served
from tests.visitor import Visit, entered, sent

VISITORS = 16  # of two replicas: that one has them all is a matter of less than one in 30,000
FILES = 8  # visitors who send one
LINKS = [f"tokens={20 + number}&seed={number}" for number in range(VISITORS)]


def shows(visit: Visit, link: str) -> bool:
    return from_query(dict(parse_qsl(visit.painted))) == from_query(dict(parse_qsl(link))) and not visit.errors


@pytest.mark.skipif(not nginx.found() and os.environ.get("CI") != "true", reason=nginx.ADVICE)
def test_the_visitors_of_a_lost_replica_go_on_at_the_other_from_their_links(tmp_path):
    """Two replicas behind the nginx that ships: files reach the one that a visitor's session is at.

    One is killed; its visitors, and nobody else, lose their connection.
    """
    assert nginx.found(), nginx.ADVICE

    async def there(url: str) -> list[int]:
        found = []
        for number in range(FILES):
            cookie = f"replica=visitor{number}"
            async with entered(url, "", "timing", cookie) as visit:
                found.append(await asyncio.to_thread(sent, url, visit.session, number, 1000, cookie))
        return found

    async def tried(url: str, first: Server) -> tuple[list[Visit], list[bool], list[Visit]]:
        async with AsyncExitStack() as stack:
            visits = [
                await stack.enter_async_context(entered(url, link, cookie=f"replica=visitor{number}"))
                for number, link in enumerate(LINKS)
            ]
            first.kill()
            lost = await asyncio.gather(*map(gone, visits))
            again = [
                await stack.enter_async_context(entered(url, link, cookie=f"replica=visitor{number}"))
                for number, link in enumerate(LINKS)
                if lost[number]
            ]
            return visits, lost, again

    with served() as one, served() as two:
        with nginx.before([urlsplit(each.url).netloc for each in (one, two)], tmp_path) as url:
            assert asyncio.run(there(url)) == [204] * FILES
            visits, lost, again = asyncio.run(tried(url, one))
        assert "Traceback" not in two.log.read_text()
    assert all(map(shows, visits, LINKS))
    assert 0 < sum(lost) < VISITORS
    assert all(map(shows, again, [link for link, away in zip(LINKS, lost, strict=True) if away]))


async def gone(visit: Visit) -> bool:
    """Is a visitor's connection lost? What was sent before is read first."""
    try:
        async with asyncio.timeout(5):
            while True:
                await visit.socket.recv()
    except ConnectionClosed:
        return True
    except TimeoutError:
        return False

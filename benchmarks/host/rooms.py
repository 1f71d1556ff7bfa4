"""A class of forty in a room: they join within two seconds, answer within two, and their teacher's bars have all of them."""

from __future__ import annotations

import asyncio
import random
import re
import tracemalloc
from collections.abc import Iterator
from contextlib import AsyncExitStack
from time import perf_counter
from urllib.parse import urlencode

from attention.ui import rooms
from attention.ui.question_codec import CustomQuestion, encode
from attention.ui.rooms import Asked, Rooms
from attention.ui.text import rooms as text
from benchmarks.host.bounds import figure_line, none, note_line
from benchmarks.host.outside import logged_errors
from tests.server import Server, warm_server
from tests.visitor import Visit, enter_page

CLASS, WITHIN = 40, 2.0  # students, and the seconds in which they join, and in which they answer
WAIT, TOLD = (
    2.0,
    2.0,
)  # seconds from an answer until its page says so; from the last one until the teacher's bars have it
LOOKS = 5  # times that each page looks again by itself afterwards
MEMORY = 20.0  # MB of all rooms, full
QUESTION = CustomQuestion("Which word does head 1 look at?", ("the river", "the one before", "itself"), "itself", "why")


def lines() -> Iterator[str]:
    """A class on a warm server; then the memory of rooms."""
    with warm_server(ATTENTION_CLASS="on") as server:
        joined, answered, told, share, errors = asyncio.run(_class(server))
        errors += logged_errors(server, 0)
    yield note_line(
        f"{CLASS} students joined within {WITHIN:g} s: the longest waited {max(joined):.2f} s for the question"
    )
    yield figure_line(
        max(answered), WAIT, f"s from an answer to its record: the longest of {CLASS} within {WITHIN:g} s"
    )
    yield figure_line(told, TOLD, "s from the last answer to the teacher's bars")
    yield note_line(f"{share:.0%} of a core while {CLASS} pages and the teacher's look again by themselves")
    yield none(errors, "errors")
    yield figure_line(_memory(), MEMORY, f"MB of {rooms.ROOMS} rooms with {rooms.SEATS} students each")


async def _class(server: Server) -> tuple[list[float], list[float], float, float, list[str]]:
    query = urlencode({"v": "3", "ask": encode(QUESTION)})
    async with AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(enter_page(server.url, query, cookie=_cookie(0)))
        await teacher.press("open room")
        code = next(found[1] for each in reversed(teacher.texts) if (found := re.search(r"code=([A-Z]+)", each)))
        students: list[Visit] = []

        async def join(number: int) -> float:
            await asyncio.sleep(random.uniform(0, WITHIN))
            start = perf_counter()
            page = enter_page(server.url, f"code={code}", "room", _cookie(number))
            students.append(await stack.enter_async_context(page))
            return perf_counter() - start

        async def answer(student: Visit) -> tuple[float, float]:
            await asyncio.sleep(random.uniform(0, WITHIN))
            start = perf_counter()
            await student.press(f"answer 1 {random.randrange(3)}")
            assert text.CHOSEN in student.texts
            return perf_counter() - start, perf_counter()

        async def watch() -> float:
            while text.JOINED.format(count=CLASS, students=CLASS) not in teacher.texts:
                await teacher.look()
            return perf_counter()

        async def stay(page: Visit) -> None:
            for _ in range(LOOKS):
                await page.look()

        joined = await asyncio.gather(*(join(number) for number in range(1, CLASS + 1)))
        seen = asyncio.create_task(watch())
        answers = await asyncio.gather(*map(answer, students))
        told = await seen - max(when for _, when in answers)
        cpu, start = server.cpu, perf_counter()
        await asyncio.gather(*map(stay, [teacher, *students]))
        share = (server.cpu - cpu) / (perf_counter() - start)
        errors = [error for page in [teacher, *students] for error in page.errors + page.alerts]
    return joined, [seconds for seconds, _ in answers], told, share, errors


def _cookie(number: int) -> str:
    """The cookie of a browser of its own."""
    return f"_streamlit_xsrf=2|00000000|{number:032x}|1700000000"


def _memory() -> float:
    """MB of all rooms in which everybody answers as many questions of the largest size as a room keeps."""
    clock = iter(range(10**9))
    tracemalloc.start()
    full = Rooms(lambda: next(clock) * 1e-6)
    for teacher in range(rooms.ROOMS):
        code = full.open(f"{teacher}")
        for number in range(rooms.QUESTIONS):
            full.ask(f"{teacher}", Asked(f"{teacher:06}{number:02}".ljust(rooms.TEXT - 2, "ж"), ("a", "b")))
        for student in range(rooms.SEATS):
            full.answer(code, f"{student}", rooms.QUESTIONS, student % 2)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / 1e6

"""Visitors with settings of their own: who change them, who open a link together, who come and go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from attention.codec import link as linked
from attention.config import Config
from tests.visitor import Took, Visit, enter_page, open_connection

AT_ONCE = 5  # who come together, so that a server has no class before it has visitors
EVEN = 0.3  # by how much of a pause it is longer or shorter at random
LONGEST = 512  # tokens that a visitor who tries everything chooses
# Knobs that such a one leaves alone: other sources have other controls, and the rest is text.
LEFT = {"source", "layer", "training_step", "text", "ask", "upload"}
TOKENS = 128  # with which a visitor begins
SEEDS = 1000  # from which on visitors have them; no default is one


@dataclass
class Notes:
    """What visitors saw: seconds till each picture and till each end, what went wrong, and pictures that were another's."""

    pictures: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    crossed: list[str] = field(default_factory=list)

    def add(self, took: Took, visit: Visit, seed: int, what: str) -> None:
        """A run of a visitor whose pictures have this seed."""
        self.ends.append(took.end)
        if took.picture is None:
            self.errors.append(f"no picture for {what}, the last was {visit.painted}")
        else:
            self.pictures.append(took.picture)
        if visit.shows.get("seed") != str(seed):
            self.crossed.append(f"{visit.painted} for the visitor of {seed}")

    @asynccontextmanager
    async def record_errors(self, visit: Visit | None = None) -> AsyncIterator[None]:
        """Notes what goes wrong in a block, on a page or with its connection."""
        try:
            yield
        except Exception as error:  # whatever it is, the other visitors go on
            self.errors.append(f"{type(error).__name__}: {error}")
        if visit is not None:
            self.errors += visit.errors
            visit.errors.clear()


def link(seed: int) -> str:
    """Where a visitor begins: 8 heads of 128 tokens, with a seed of their own."""
    return linked(Config(tokens=TOKENS, input="noise", seed=seed))


def plan(random: Random) -> Iterator[tuple[str, Any, str]]:
    """Endless changes around 8 x 128: a widget, what it is set to, and what a picture says then. None is a default."""
    last: dict[str, Any] = {"tokens": TOKENS}
    while True:
        name = random.choice(("temperature", "temperature", "heads", "tokens"))
        value = {
            "temperature": lambda: round(random.randrange(21, 400) * 0.05, 2),
            "heads": lambda: random.choice((4, 7, 9, 10)),
            "tokens": lambda: random.choice((112, 120, TOKENS, 136, 144)),
        }[name]()
        if value != last.get(name):
            last[name] = value
            yield name, [f"{value}" if name == "tokens" else float(value)], f"{value}"


async def changes(visit: Visit, seed: int, gap: float, until: float, notes: Notes) -> None:
    """One change after the other, one every `gap` seconds, until a time of the clock."""
    random = Random(seed)
    for name, value, text in plan(random):
        start = time.perf_counter()
        async with notes.record_errors(visit):
            notes.add(await visit.change(name, value, **{name: text}), visit, seed, f"{name}={text}")
        pause = gap * random.uniform(1 - EVEN, 1 + EVEN) - (time.perf_counter() - start)
        if time.perf_counter() + pause >= until:
            return
        await asyncio.sleep(max(0, pause))


async def crowd(url: str, visitors: int, gap: float, seconds: float, begun: Callable[[], object]) -> Notes:
    """So many visitors for so many seconds, a change every `gap` seconds each; `begun` is called once all are there."""
    notes, seeds = Notes(), range(SEEDS, SEEDS + visitors)
    async with AsyncExitStack() as stack:
        visits: list[Visit] = []
        for first in range(0, visitors, AT_ONCE):
            some = [enter_page(url, link(seed)) for seed in seeds[first : first + AT_ONCE]]
            visits += await asyncio.gather(*map(stack.enter_async_context, some))
        for visit in visits:  # a first change is slower: what it is drawn with is made
            await visit.change("temperature", [0.95])
        await asyncio.sleep(1)
        begun()
        until = time.perf_counter() + seconds

        async def one(visit: Visit, seed: int) -> None:
            await asyncio.sleep(Random(seed).uniform(0, gap))
            await changes(visit, seed, gap, until, notes)

        await asyncio.gather(*map(one, visits, seeds))
    return notes


async def together(url: str, links: Sequence[str], within: float) -> tuple[Notes, float]:
    """Visitors who come one after the other within so many seconds; and those until the last has its picture."""
    notes, start, last = Notes(), time.perf_counter(), 0.0

    async def one(place: int, query: str) -> None:
        nonlocal last
        await asyncio.sleep(within * place / len(links))
        came = time.perf_counter()
        async with notes.record_errors(), open_connection(url, query) as visit, notes.record_errors(visit):
            met = time.perf_counter() - came
            took = await visit.arrive()
            took = Took(None if took.picture is None else met + took.picture, met + took.end)
            notes.add(took, visit, int(query.rpartition("=")[2]), query)
            last = max(last, came - start + (took.picture or 0.0))

    await asyncio.gather(*(one(place, query) for place, query in enumerate(links)))
    return notes, last


async def coming_and_going(url: str, visitors: int, at_once: int, pages: Sequence[str], notes: Notes) -> None:
    """Each opens a page with a link of their own, changes two settings and leaves."""

    async def one(number: int) -> None:
        async with notes.record_errors(), enter_page(url, link(SEEDS + number), pages[number % len(pages)]) as visit:
            await trying(visit, 2, Random(number), notes)

    await _some(at_once, [lambda number=number: one(number) for number in range(visitors)])


async def settings(url: str, page: str, count: int, at_once: int, notes: Notes) -> None:
    """So many different settings of a page, by a few visitors."""

    async def one(number: int) -> None:
        async with notes.record_errors(), enter_page(url, link(SEEDS + number), page) as visit:
            await trying(visit, count // at_once, Random(number), notes)

    await asyncio.gather(*map(one, range(at_once)))


async def trying(visit: Visit, count: int, random: Random, notes: Notes) -> None:
    """Sets whatever the page offers, one widget after the other."""
    async with notes.record_errors(visit):
        for _ in range(count):
            offers = {name: _offers(name, widget.offers) for name, widget in visit.widgets.items() if name not in LEFT}
            offers = {name: found for name, found in offers.items() if len(found) > 1}
            if not offers:
                return
            name = random.choice(sorted(offers))
            took = await visit.change(name, random.choice(offers[name]))
            notes.ends.append(took.end)


def _offers(name: str, offers: Sequence[Any]) -> Sequence[Any]:
    """Those that a curious visitor may choose: no sequence that is long."""
    return [each for each in offers if int(each[0].replace(",", "")) <= LONGEST] if name == "tokens" else offers


async def _some(at_once: int, calls: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Calls all, so many at a time."""
    waiting = iter(calls)

    async def one() -> None:
        for call in waiting:
            await call()

    await asyncio.gather(*(one() for _ in range(at_once)))

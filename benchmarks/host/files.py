"""Files that are made to stop a server, one after the other: its memory, another visitor's slider, another visitor's file.

A visitor uploads each again and again, a second after it was answered, and it is read each time. Two figures describe the
slider: all changes meanwhile, and only those during which the file was sent or read. The first line has an ordinary file, to
compare the latter with: any run of another visitor takes its share of the processor. In the end three visitors begin uploads
that they never finish.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import torch

from attention.timing.recordings import files
from benchmarks.host.bounds import none
from benchmarks.host.crowd import SEEDS, link
from benchmarks.host.memory import GIVEN
from benchmarks.host.outside import MB, logged_errors
from benchmarks.paint import mark
from tests.bad_files import Q, W, entry, itself, names, npy, npz, pt, safe, texts, zip64, zip_bytes
from tests.peak_memory import peak_memory
from tests.server import Server, warm_server
from tests.visitor import Visit, begin_upload, delete, enter_page

TIMES, MORE = 2, 20  # of a file's own size, and MB, that the server may grow by
SLOWER, SMALL = 2.0, 1.0  # times a slider's usual time; seconds until another's small file is read
CHANGES, SMALLS = 25, 3  # of the slider, alone and beside a file; small files beside each
GAP, REST = 0.1, 1.0  # seconds between two changes, and from the answer to a file until it is sent again
UPLOADS, STALLED = 3, 58 * 2**20  # that are never finished, and bytes that each announces
TEMPERATURES = cycle(
    round(at * 0.05, 2) for at in range(21, 400)
)  # so many that none is still known when it comes again
YOURS, TIMING = "your_data", "timing"


def tokens(many: int) -> bytes:
    """Weights of four tokens, and a list of so many texts."""
    return zip_bytes(("weights.npy", npy(W)), ("tokens.npy", texts("|S2", many, 2)))


class File(NamedTuple):
    """What is uploaded on a page, by a name; `data` makes it."""

    page: str
    name: str
    data: Callable[[], bytes]


FILES: dict[str, File] = {
    "an ordinary file": File(YOURS, "x.npz", lambda: npz(weights=W)),
    "14,000,000 tokens": File(YOURS, "x.npz", lambda: tokens(14_000_000)),
    "60,000,000 tokens": File(YOURS, "x.npz", lambda: tokens(60_000_000)),
    "a recording of 30,000 names": File(TIMING, "x.json", lambda: names(30_000)),
    "a recording of 190,000 names": File(TIMING, "x.json", lambda: names(190_000)),
    "a recording as long as allowed": File(TIMING, "x.json", lambda: names(190_000).ljust(files.BYTES)),
    "a header of 60,000 names": File(YOURS, "x.safetensors", lambda: safe(names(60_000))),
    "NaN everywhere": File(YOURS, "x.npz", lambda: npz(weights=np.full((1, 13, 1024, 1024), np.nan, np.float16))),
    "608,695 files in a zip": File(YOURS, "x.npz", lambda: zip64(608_695)),
    "a .pt that contains itself": File(YOURS, "x.pt", lambda: pt({"weights": torch.from_numpy(W), "self": itself()})),
    "a title of half a character": File(
        YOURS, "x.safetensors", lambda: safe({"__metadata__": {"title": "\ud800"}, "weights": entry()}, bytes(16))
    ),
    "a scale of 400 zeros": File(
        YOURS,
        "x.safetensors",
        lambda: safe({"__metadata__": {"scale": "1" + "0" * 400}, "weights": entry()}, bytes(16)),
    ),
    "q, k, v of 3e38": File(YOURS, "x.npz", lambda: npz(q=Q * 0 + 3e38, k=Q * 0 + 3e38, v=Q * 0 + 3e38)),
    "a negated view": File(YOURS, "x.pt", lambda: pt({"weights": torch._neg_view(-torch.from_numpy(W))})),  # pyright: ignore[reportPrivateImportUsage]
    "a name of 5,000 characters": File(YOURS, "x" * 5000 + ".npz", lambda: npz(weights=W)),
}


class Found(NamedTuple):
    """Bytes of a file, and bytes that the server grew by; seconds of a slider alone, meanwhile, and of those changes alone during
    which something was sent; seconds until the slowest small file was read.
    """

    size: int
    grown: int
    alone: float
    beside: float
    during: float
    small: float


async def sliding(visit: Visit, sending: asyncio.Event) -> tuple[list[float], list[float]]:
    """Seconds from changes of a slider to their pictures; and of those alone during which something was sent."""
    took, during = [], []
    for temperature in islice(TEMPERATURES, CHANGES):
        began = sending.is_set()
        change = await visit.change("temperature", [temperature], temperature=f"{temperature}")
        assert change.picture is not None, visit.painted
        took.append(change.picture)
        if began or sending.is_set():
            during.append(change.picture)
        await asyncio.sleep(GAP)
    return took, during


async def small(url: str) -> float:
    """Seconds until a small file of a new visitor is read."""
    async with enter_page(url, "", YOURS) as visit:
        start = time.perf_counter()
        assert await visit.upload("small.npz", npz(weights=W)), "a small file was refused"
        took = time.perf_counter() - start
        assert any(key.startswith("close ") for key in visit.widgets), visit.alerts
        return took


async def send(visit: Visit, name: str, data: bytes) -> None:
    """Uploads a file and has it read, closes what it opened and deletes it."""
    file = await visit.upload(name, data)
    assert not visit.errors, visit.errors
    for key in [key for key in visit.widgets if key.startswith("close ")]:
        await visit.press(key)
    if file:
        await asyncio.to_thread(delete, visit.url, visit.session, file)


@asynccontextmanager
async def uploading(visit: Visit, name: str, data: bytes) -> AsyncIterator[asyncio.Event]:
    """Sends a file once, and again and again while the block runs; the event is set while it is sent and read."""
    over, sending = asyncio.Event(), asyncio.Event()

    async def again() -> None:
        while True:
            sending.set()
            await send(visit, name, data)
            sending.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), REST)
            if over.is_set():
                return

    task = asyncio.create_task(again())
    yield sending
    over.set()
    await task


@asynccontextmanager
async def stalling(visits: Sequence[Visit]) -> AsyncIterator[asyncio.Event]:
    """Each visitor has begun an upload that does not go on."""
    sending = asyncio.Event()
    sending.set()
    begun = [begin_upload(visit.url, visit.session, STALLED) for visit in visits]
    await asyncio.sleep(1)
    yield sending
    for each in begun:
        each.close()


Sending = Callable[[], AbstractAsyncContextManager[asyncio.Event]]


async def beside(server: Server, size: int, sending: Sending) -> Found:
    """What the server grows by while a file of this size is sent once; then a slider and small files while it is sent again."""
    async with enter_page(server.url, link(SEEDS)) as slider:
        await slider.change("temperature", [0.95])  # the first one is slower
        alone, _ = await sliding(slider, asyncio.Event())
        with peak_memory(Path(f"/proc/{server.process.pid}")) as grown:
            async with sending():
                pass
        async with sending() as now:
            meanwhile, during = await sliding(slider, now)
            late = max([await small(server.url) for _ in range(SMALLS)])
    return Found(size, grown[0], median(alone), median(meanwhile), median(during or meanwhile), late)


async def sent(server: Server, file: File) -> Found:
    """What a file does that a visitor sends."""
    data = file.data()
    async with enter_page(server.url, "", file.page) as visit:
        return await beside(server, len(data), lambda: uploading(visit, file.name, data))


async def stalled(server: Server) -> Found:
    """What uploads do that stall."""
    async with AsyncExitStack() as stack:
        visits = [await stack.enter_async_context(enter_page(server.url, "", YOURS)) for _ in range(UPLOADS)]
        return await beside(server, 0, lambda: stalling(visits))


def line(name: str, found: Found) -> str:
    """All that holds of a file, or doesn't."""
    grown, most = found.grown / MB, TIMES * found.size / MB + MORE
    slower = found.beside / found.alone
    holds = grown <= most and slower <= SLOWER and found.small <= SMALL
    return (
        f"{mark(holds)}  {name}, {found.size / MB:.2f} MB: +{grown:.1f} MB, at most {most:.1f}; a slider {slower:.2f} of its "
        f"usual {1000 * found.alone:.0f} ms, at most {SLOWER:g}, {found.during / found.alone:.2f} during the sending; a small "
        f"file {found.small:.2f} s, at most {SMALL:g}"
    )


def lines() -> Iterator[str]:
    """A line for each file, then uploads that stall, and the server's log."""
    with warm_server(ATTENTION_MEMORY=f"{GIVEN}") as server:
        asyncio.run(small(server.url))  # what the first file imports and makes is not counted as another one's
        for name, file in FILES.items():
            yield line(name, asyncio.run(sent(server, file)))
        yield line(f"{UPLOADS} uploads of {STALLED / MB:.0f} MB that stall", asyncio.run(stalled(server)))
        yield none(logged_errors(server), "errors in the log")

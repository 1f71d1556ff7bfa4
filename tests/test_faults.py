"""What breaks around the app: a sentence where it was needed, and the rest goes on."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import pytest
import torch

from attention.runtime.executors import RankedExecutor
from attention.runtime.threads import set_nice
from attention.serving.error_page import page_without_settings
from attention.timing import devices
from attention.timing.one_at_a_time import turn
from tests.server import ROOT, run_server
from tests.visitor import Visit, enter_page, send_file, visit_page

PARTS = (".streamlit", "attention", "pages", "app.py", "pyproject.toml")


@pytest.fixture
def copied(tmp_path) -> Path:
    """The app in a folder of its own, to break something in it."""
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.extended
def test_a_recording_that_is_damaged_or_gone_is_named_and_all_else_works(copied):
    files = copied / "attention" / "recorded"
    (files / "minilm_code.npz").write_bytes((files / "minilm_code.npz").read_bytes()[:5000])
    (files / "minilm_street.npz").unlink()

    async def come(url: str) -> list:
        sources = ("recorded:minilm-code", "recorded:minilm-street", "recorded:two-layers", "generated")
        return [await visit_page(url, f"source={source}") for source in sources]

    with run_server(folder=copied) as server:
        damaged, gone, whole, usual = asyncio.run(come(server.url))
        log = server.log.read_text()
    (said,), (other,) = damaged.alerts, gone.alerts
    said = said.replace("\\", "")  # so that a name is no markup
    assert "minilm_code.npz is not an .npz of arrays" in said and "[Start over" in said
    assert "minilm_street.npz can't be opened: No such file or directory." in other.replace("\\", "")
    assert str(copied) not in said + other
    number = said.partition("Number ")[2][:6]
    assert f"The error above was shown as number {number}." in log
    for visit in (whole, usual):
        assert visit.painted and not visit.alerts
    assert not [error for visit in (damaged, gone, whole, usual) for error in visit.errors]


@pytest.mark.extended
def test_files_that_every_page_leans_on_take_no_page_along(copied):
    """A recording that an example shows, the training that Training begins with, the timings that ship."""
    (copied / "attention" / "recorded" / "smollm2_repeated.npz").write_bytes(b"PK")
    run, timings = copied / "attention" / "training" / "runs" / "induction.npz", copied / "attention" / "timing"
    run.write_bytes(run.read_bytes()[:3000])
    for file in (timings / "recordings").glob("*.json"):
        file.write_text(file.read_text()[:999])

    async def come(url: str) -> list:
        pages = ("", "examples", "softmax", "training", "timing")
        shown = [await visit_page(url, "" if page else "tokens=9", page) for page in pages]
        return [*shown, await visit_page(url, "source=trained:induction")]

    with run_server(folder=copied) as server:
        heads, examples, softmax, training, timing, source = asyncio.run(come(server.url))
    visits = (heads, examples, softmax, training, timing, source)
    assert heads.painted and not [visit.alerts for visit in (heads, examples, softmax) if visit.alerts]
    for visit, says in (
        (training, "induction.npz is not a training recorded by this app"),
        (timing, "A recording that ships with the app can't be read. epyc-2-cores-2026-11.json: The file is not JSON"),
        (source, "This page can't be shown: induction.npz is not a training"),
    ):
        assert says in "".join(visit.alerts).replace("\\", ""), visit.alerts
    assert not [error for visit in visits for error in visit.errors]


ALONE = """
import builtins, errno, os, socket, sys
from pathlib import Path

def told(what):
    os.write(2, f"refused: {what}\\n".encode())

def connect(self, address, there=socket.socket.connect):
    if self.family == socket.AF_UNIX or str(address[0]).startswith("127."):
        return there(self, address)
    told(address)
    raise OSError(errno.ENETUNREACH, "Network is unreachable")

def opened(file, mode="r", *given, there=builtins.open, **named):
    if set(mode) & set("wxa+") and not str(file).startswith(("/proc", "/dev")):
        raise OSError(errno.ENOSPC, "No space left on device")
    return there(file, mode, *given, **named)

def made(file, flags, *given, there=os.open, **named):
    if flags & os.O_CREAT:
        raise OSError(errno.ENOSPC, "No space left on device")
    return there(file, flags, *given, **named)

socket.socket.connect, builtins.open, os.open = connect, opened, made
os.write(2, b"alone\\n")
"""


@pytest.mark.extended
def test_a_host_without_a_network_whose_disk_is_full_shows_every_page_and_asks_nobody(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(ALONE)
    pages = ("", *(path.stem for path in (ROOT / "pages").glob("*.py") if path.stem != "start"))

    async def come(url: str) -> list:
        return [await visit_page(url, "" if page else "tokens=9", page) for page in pages]

    with run_server(PYTHONPATH=str(tmp_path)) as server:
        visits = asyncio.run(come(server.url))
        log = server.log.read_text()
    alerts = [alert for page, visit in zip(pages, visits, strict=True) for alert in visit.alerts if page != "model"]
    assert visits[0].painted and not [error for visit in visits for error in visit.errors] + alerts
    assert "alone" in log and "refused" not in log and "Traceback" not in log


FULL = """
import errno, tempfile

def full(*given, **named):
    raise OSError(errno.ENOSPC, "No space left on device")

tempfile.SpooledTemporaryFile.rollover = full
"""


@pytest.mark.extended
def test_a_file_that_a_visitor_sends_to_a_host_whose_disk_is_full_is_refused_with_a_sentence(tmp_path):
    """What is larger than a megabyte lies on the disk on its way."""
    (tmp_path / "sitecustomize.py").write_text(FULL)

    async def come(url: str) -> tuple[int, int, Visit]:
        async with enter_page(url, "", "your_data") as visit:
            large, small = [
                await asyncio.to_thread(send_file, url, visit.session, size, size) for size in (2 * 2**20, 2**10)
            ]
            return large, small, await visit_page(url, "tokens=9")

    with run_server(PYTHONPATH=str(tmp_path)) as server:
        large, small, visit = asyncio.run(come(server.url))
        log = server.log.read_text()
    assert (large, small) == (507, 204) and visit.painted and not visit.errors
    assert "A file that was sent could not be stored." in log and "Exception in ASGI" not in log


def test_a_gpu_that_no_longer_answers_is_left_out(monkeypatch, caplog):
    def lost(*_: object) -> str:
        raise RuntimeError("CUDA error: device is lost")

    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    for fault in ("device_count", "current_accelerator", "is_available"):
        monkeypatch.setattr(torch.accelerator, fault, lost)
        assert [device.key for device in devices.devices()] == ["cpu"]
    assert "An accelerator gives no answer, and is left out: CUDA error: device is lost" in caplog.text


@pytest.mark.parametrize("fault", [SystemExit("gone"), MemoryError(), KeyboardInterrupt()], ids=repr)
def test_a_thread_of_a_lane_outlives_whatever_its_work_does(fault):
    def ends() -> None:
        raise fault

    lane = RankedExecutor("hardy", 0, 1)
    assert lane.submit(ends).exception(10) is fault
    assert lane.submit(int).result(10) == 0
    lane.shutdown()


def test_a_host_that_allows_nobody_to_be_modest_works_on(monkeypatch):
    def refused(*_: int) -> None:
        raise PermissionError("not on this host")

    monkeypatch.setattr(os, "setpriority", refused, raising=False)
    lane = RankedExecutor("blocks", 0, 1, lambda: set_nice(15))
    assert lane.submit(int).result(10) == 0
    lane.shutdown()


def waits() -> None:
    raise AssertionError("nobody else measures")


@pytest.mark.parametrize("kind", ["none", "a file", "a link"])
def test_measuring_goes_on_where_nothing_can_be_written(monkeypatch, tmp_path, kind):
    """A full disk, a folder that is none, and one where somebody has put a link to a file of ours."""
    mine = tmp_path / "mine"
    mine.write_text("precious")
    if kind == "a link":
        (tmp_path / f"attention-timing-{os.getuid()}.lock").symlink_to(mine)
    place = {"none": tmp_path / "none", "a file": mine, "a link": tmp_path}[kind]
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(place))
    with turn(waits, waits):
        pass
    assert mine.read_text() == "precious"


@pytest.mark.parametrize(
    ("address", "there"),
    [
        ("http://host/heads?tokens=9", "./heads"),
        ("https://host/lab/find_the_bug?bug=1&v=4", "./find_the_bug"),
        ("https://host/lab/?start=step.weigh", "./"),
        ("", "./"),
    ],
)
def test_to_start_over_opens_the_page_that_failed_with_its_defaults(address, there):
    assert page_without_settings(address) == there

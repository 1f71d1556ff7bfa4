"""What is found out about a processor: caches as the system has them, and the exponential that takes less time."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier, get_ident

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from attention.runtime import processor

LISTED = {"index0": ("Data", "1", "48K"), "index1": ("Instruction", "1", "32K"), "index2": ("Unified", "2", "2048K")}


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    for kept in (processor.caches, processor._fastest_exponential):
        kept.cache_clear()
    yield
    for kept in (processor.caches, processor._fastest_exponential):
        kept.cache_clear()


def read_caches() -> dict[int, int]:
    """The caches as they are read now: another thread of this process may have had them read before."""
    return processor.caches.__wrapped__()


def list_caches(folder: Path, caches: dict[str, tuple[str, str, str]]) -> Path:
    """Caches as Linux lists them, below a folder."""
    for name, lines in caches.items():
        (folder / name).mkdir()
        for part, line in zip(("type", "level", "size"), lines, strict=True):
            (folder / name / part).write_text(line + "\n")
    return folder


def test_caches_of_data_are_read_by_their_level(tmp_path, monkeypatch):
    monkeypatch.setattr(processor, "CACHES", list_caches(tmp_path, LISTED | {"index3": ("Unified", "3", "32M")}))
    assert read_caches() == {1: 48 * 2**10, 2: 2**21, 3: 2**25}


@pytest.mark.parametrize("odd", [("Data", "?", "48K"), ("Unified", "2", ""), ("Unified", "2", "many"), ("", "2", "1K")])
def test_what_can_not_be_read_is_left_out(tmp_path, monkeypatch, odd):
    monkeypatch.setattr(processor, "CACHES", list_caches(tmp_path, {"index0": ("Data", "1", "32K"), "index1": odd}))
    assert read_caches() == {1: 2**15}


def test_where_the_system_lists_none_the_library_is_asked(tmp_path, monkeypatch):
    def told(number: int) -> int:
        return {188: -1, 191: 2**20, 194: 0}[number] if number in (188, 191, 194) else unknown()

    def unknown() -> int:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(processor, "CACHES", tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "sysconf", told, raising=False)
    assert read_caches() == {2: 2**20}


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no glibc")
def test_glibc_tells_what_it_calls_by_these_numbers(tmp_path, monkeypatch):
    """Nothing of it is made up here: the same sizes as `getconf` has by name."""
    named = {level: f"LEVEL{level}_{'DCACHE' if level == 1 else 'CACHE'}_SIZE" for level in processor.SYSTEM}
    said = {level: subprocess.check_output(["getconf", name], text=True).strip() for level, name in named.items()}
    monkeypatch.setattr(processor, "CACHES", tmp_path)
    assert read_caches() == {level: int(size) for level, size in said.items() if size.isdigit() and int(size)}


@pytest.mark.parametrize("system", ["darwin", "linux"])
def test_nothing_is_said_where_nobody_knows(tmp_path, monkeypatch, system):
    def unknown(number: int) -> int:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(processor, "CACHES", tmp_path)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "sysconf", unknown, raising=False)
    monkeypatch.setattr(processor, "caches", processor.caches.__wrapped__)
    assert processor.caches() == {} and "caches unknown" in processor.describe_processor()


@pytest.mark.parametrize("within", [FakeTensorMode, lambda: torch.device("meta")], ids=["fake", "meta"])
def test_they_are_tried_on_real_numbers_whatever_the_callers_mode(monkeypatch, within):
    found, real = [], torch.exp
    monkeypatch.setattr(torch, "exp", lambda numbers, out: found.append(type(numbers)) or real(numbers, out=out))
    with within():
        processor.exponential(torch.float16)  # which no other thread of this process asks for
    assert set(found) == {Tensor}


def test_threads_that_ask_at_once_are_told_the_same(monkeypatch):
    """One tries, and the other waits for it. Other threads of this process may try a dtype of their own meanwhile."""
    both, clock, timing = Barrier(2), count(), set[int]()

    def ask() -> tuple[int, str]:
        both.wait(60)
        return get_ident(), processor.exponential(torch.float16)

    monkeypatch.setattr(processor, "perf_counter", lambda: (timing.add(get_ident()), time.sleep(1e-4), next(clock))[2])
    with ThreadPoolExecutor(2) as pool:
        (one, fastest), (other, same) = (work.result() for work in [pool.submit(ask) for _ in range(2)])
    assert fastest == same and len(timing & {one, other}) == 1


@pytest.mark.parametrize("slow", ["exp", "exp2"])
def test_the_exponential_that_takes_less_time_is_found(monkeypatch, slow):
    """A clock that only they move: one of them takes twice as long."""
    now = [0.0]

    def taking(seconds: float, call: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def found(*given: Tensor, **named: Tensor) -> Tensor:
            now[0] += seconds
            return call(*given, **named)

        return found

    for name in ("exp", "exp2"):
        monkeypatch.setattr(torch, name, taking(2.0 if name == slow else 1.0, getattr(torch, name)))
    monkeypatch.setattr(processor, "perf_counter", lambda: now[0])
    assert processor.exponential(torch.float32) == {"exp": "exp2", "exp2": "exp"}[slow]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("model name\t: AMD EPYC", "cpu family\t: 25", "model\t\t: 17"), "AMD EPYC, family 25 model 17"),
        (("cpu family\t: 25", "model\t\t: 1", "model name\t: AMD EPYC 7763", "model name\t: other"), "AMD EPYC 7763"),
        (("model name\t: Unknown", "model\t\t: 1"), "Unknown"),
    ],
)
def test_two_generations_that_a_virtual_machine_names_alike_are_told_apart(tmp_path, monkeypatch, lines, says):
    (tmp_path / "cpuinfo").write_text("\n".join(lines))
    monkeypatch.setattr(processor, "INFO", tmp_path / "cpuinfo")
    assert processor.name() == says


def test_it_is_told_in_a_line_and_found_out_once(monkeypatch):
    line = processor.describe_processor()
    assert processor.name() in line and any(f"{name} for float64" in line for name in ("exp", "exp2"))
    monkeypatch.setattr(processor, "perf_counter", lambda: pytest.fail("is tried again"))
    assert processor.describe_processor() == line


def test_trying_takes_next_to_no_time_of_a_processor():
    """Both dtypes: some milliseconds of the processor, where a tenth of a second would be too much."""
    start = time.thread_time()
    processor.describe_processor()
    assert time.thread_time() - start < 0.1

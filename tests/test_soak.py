"""All that visitors do, for most of a minute: nothing fails, nobody sees another's picture, nothing is left behind.

`python -m benchmarks.host soak` does the same for an hour.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from urllib.parse import parse_qs

import pytest

from attention.codec import from_query
from benchmarks.host import outside
from benchmarks.host.bounds import figure_line, none, percentile
from benchmarks.host.crowd import SEEDS, Notes, link
from benchmarks.host.load import LOADS, Found, verdicts
from benchmarks.host.memory import GIVEN, STEPS, different, large
from benchmarks.host.soak import soak
from tests.server import warm_server
from tests.visitor import Took, Visit, enter_page

pytestmark = pytest.mark.extended
SECONDS = 48.0
GROWTH = 30.0  # MB of the last third above the second
SOON = "2"  # seconds for which sessions of those who have left are kept
PATIENCE = 45.0  # seconds till nothing is left of these, which are looked after every 15 s
LEAKS = """
import subprocess, sys, threading, time
held, files = bytearray(60_000_000), [open(__file__) for _ in range(9)] if "__file__" in globals() else []
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
child = subprocess.Popen([sys.executable, "-c", "held = bytearray(30_000_000); input()"], stdin=subprocess.PIPE)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a process is looked at from outside as Linux shows it")
def test_nothing_is_left_of_what_visitors_do():
    """On a small host, where little is kept for later, and sessions of those who have left end within seconds."""
    with warm_server(ATTENTION_MEMORY=f"{GIVEN}", STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL=SOON) as server:
        lines = list(soak(server, SECONDS, GROWTH, PATIENCE))
        assert not [line for line in lines if line.startswith("FAIL")], (
            "\n".join(lines) + server.log.read_text()[-2000:]
        )
    assert len(lines) == 8


@pytest.mark.skipif(sys.platform != "linux", reason="a process is looked at from outside as Linux shows it")
def test_what_a_process_holds_is_seen_from_outside():
    with subprocess.Popen([sys.executable, "-c", LEAKS], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as leaks:
        assert leaks.stdout is not None and leaks.stdout.readline() == b"ready\n"
        found = outside.process_state(leaks.pid)
        while outside.own(next(outside.children(leaks.pid))) < 30:
            assert leaks.poll() is None
        whole = outside.process_state(leaks.pid)
        leaks.kill()
    assert (whole.threads, whole.children) == (2, 1)
    assert whole.memory > 90 and found.memory > 60


def test_a_picture_that_is_another_visitors_is_told():
    notes, visit = Notes(), Visit(None, painted="seed=7&heads=4")  # type: ignore[arg-type]  it says nothing
    notes.add(Took(0.1, 0.2), visit, 7, "heads=4")
    assert not notes.crossed and notes.pictures == [0.1]
    notes.add(Took(None, 0.2), visit, 8, "heads=5")
    assert notes.crossed == ["seed=7&heads=4 for the visitor of 8"]
    assert notes.errors == ["no picture for heads=5, the last was seed=7&heads=4"]


def test_bounds_are_told_with_what_was_found():
    assert figure_line(80.04, 80, "ms").startswith("FAIL") and figure_line(80, 80, "ms") == "pass  80, at most 80: ms"
    assert figure_line(float("nan"), 80, "ms").startswith("FAIL"), "where nobody saw a picture"
    assert none([], "errors") == "pass  0, at most 0: errors"
    assert none(["one"], "errors").startswith("FAIL  1") and "one" in none(["one"], "errors")
    assert [percentile([4, 2, 3, 1], share) for share in (0.5, 0.95, 1)] == [2, 4, 4]


def test_a_load_is_bounded_by_when_its_visitors_see_something():
    took = Found(Notes([0.07, 0.3], [0.2, 0.5]), 10, 1, 1, 400)
    for load, wrong in zip(LOADS, ([300, 500], [], [300]), strict=True):
        lines = list(verdicts(load, took))
        assert [float(line.split()[1].rstrip(",")) for line in lines if line.startswith("FAIL")] == wrong
        assert any("500 ms till the end of the run" in line for line in lines) or load is LOADS[0]


def test_links_that_a_small_host_is_measured_with_are_what_they_say():
    for number in (0, 20):
        config, notes = from_query({name: values[-1] for name, values in parse_qs(large(number)).items()})
        assert (config.tokens, config.heads, config.seed, notes) == (1000, 16, SEEDS + number, [])
        assert config.truncated is config
    assert len(set(different())) == 40
    assert {"40 visitors of one link of 1,000 tokens in 16 heads", "20 different ones of these"} <= STEPS.keys()


def test_visitors_change_what_they_say_and_keep_to_their_own():
    """On a server that draws for two: each sees what they have set, also of a widget that another one moves."""

    async def two(url: str) -> list[dict[str, str]]:
        async with enter_page(url, link(1)) as one, enter_page(url, link(2)) as other:
            for visit, heads in ((one, 4.0), (other, 9.0)):
                took = await visit.change("heads", [heads], heads=f"{heads:g}")
                assert took.picture is not None and took.picture <= took.end
            return [one.shows, other.shows]

    with warm_server() as server:
        one, other = asyncio.run(two(server.url))
    assert (one["seed"], other["seed"], other["heads"]) == ("1", "2", "9")

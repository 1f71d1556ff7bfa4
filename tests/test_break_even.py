"""From which length a GPU is faster: on made-up times with known crossings, and on the recordings that ship."""

from __future__ import annotations

import json

import pytest

from attention.charts import break_even as charts
from attention.timing.break_even import BreakEven, break_even
from attention.timing.cpu_gpu_settings import TIMED
from attention.timing.recordings import shipped_recordings
from tests.test_timing_page import page_text, run
from tests.timings import GPU, make_timing

LENGTHS = (64, 128, 256, 512)


def crossing(cpu: float = 1.0, gpu: float = 1.0, copy: float = 0.0) -> BreakEven:
    """A CPU whose time grows with the square of the length, and a GPU whose time and copy grow with the length."""
    sides = [make_timing(n, cpu * (n / 64) ** 2) for n in LENGTHS]
    sides += [make_timing(n, gpu * n / 64, to_device=copy * n / 64, from_device=0.0, **GPU) for n in LENGTHS]
    found = break_even(sides)
    assert found
    return found


def test_a_crossing_between_two_lengths_is_found_said_and_marked():
    found = crossing(gpu=2.0, copy=2.0)  # n / 64 is 2 without the copy and 4 with it
    assert (found.alone.length, found.moved.length) == (pytest.approx(128), pytest.approx(256))
    assert found.headline == (
        "A Test GPU is faster than this CPU from about 256 tokens on, copying the data to it and back included; "
        "without the copy, from about 128 tokens on."
    )
    drawn = json.loads(charts.figure(found).to_json())
    (ring,) = (trace for trace in drawn["data"] if trace["marker"]["symbol"] == "circle-open")
    assert ring["x"] == [pytest.approx(256)] and ring["y"] == [pytest.approx(16)]
    words = [each["text"] for each in drawn["layout"]["annotations"]]
    assert "2 times as fast,<br>copy included" in words and any("about 256 tokens" in each for each in words)


def test_a_gpu_that_is_always_or_never_faster_is_said_to_be_and_nothing_is_marked_where_lines_do_not_cross():
    assert crossing(gpu=0.1, copy=0.1).headline.endswith(
        "at every length timed, from 64 on, with and without the copy of the data."
    )
    never = crossing(gpu=100.0, copy=1.0)
    assert never.headline.endswith("at no length up to 512 tokens, with and without the copy of the data.")
    drawn = json.loads(charts.figure(never).to_json())
    assert not any(trace["marker"]["symbol"] == "circle-open" for trace in drawn["data"])


def test_times_of_other_sizes_or_of_one_device_are_no_break_even():
    both = [make_timing(n, 1.0, heads=4, **side) for n in LENGTHS for side in ({}, GPU | {"to_device": 1.0})]
    assert break_even(both) is None
    assert break_even([make_timing(n, 1.0) for n in LENGTHS]) is None


def test_the_page_opens_with_the_recorded_crossing_and_says_what_was_timed_and_where_the_copy_takes_its_time(
    monkeypatch,
):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    test = run()
    told = page_text(test)
    assert (
        "An NVIDIA H100, copying the data to it and back included, is about as fast as a 2-core CPU at 64 tokens, the shortest "
        "text timed, and 7.7 times as fast at 512; without the copy, 9.1 times as fast at 64."
    ) in told
    assert "8 heads of 64 channels, float32. Every time was measured, that of the copy too" in told
    assert "At 512 tokens the copy takes 397 µs, computing 55.7 µs" in told and "at 11 GB/s" in told
    test.segmented_control(key="sweep_picture").set_value("time").run()
    assert "At 4,096 tokens an NVIDIA H100 80GB HBM3 in float16 is 2,700 times as fast" in page_text(test)


def test_a_link_from_before_opens_the_times_at_published_sizes():
    assert TIMED.from_query({"d_head": "128"})[0].picture == TIMED.from_query({"v": "2"})[0].picture == "time"
    assert TIMED.from_query({})[0].picture == TIMED.from_query({"v": "3"})[0].picture == "break-even"

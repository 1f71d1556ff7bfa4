"""What the Timing page offers of what was timed, without a browser: nothing that has nothing to show, and how busy it was."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from attention.timing.line_choice import usual_lines
from attention.timing.recordings import Timing, read_recording, write_recording
from attention.timing.sweep import Sweep
from attention.ui import results
from attention.ui.jobs.timing_process import TimingJob
from tests.test_timing_page import LENGTHS, figure_text, finished_job, page_text, run, tables
from tests.timings import GPU, line, lowest


@pytest.fixture(autouse=True)
def _nothing_ships(monkeypatch):
    monkeypatch.setattr(results.timing, "shipped_timings", list)


def tabs(test: AppTest) -> list[str]:
    return [tab.label for tab in test.tabs]


def charts(test: AppTest) -> list[str]:
    (chart,) = [group for group in test.segmented_control if group.key == "timing_chart"]
    return list(chart.options)


def sweep(*timings: Timing) -> TimingJob:
    """A sweep of these that has ended."""
    return TimingJob(Sweep(), "done", 1.0, timings={timing.case: timing for timing in timings})


def test_nothing_is_offered_that_has_nothing_to_show():
    alone = run(sweep=finished_job())
    assert (tabs(alone), charts(alone)) == (["Growth", "Every case"], ["Time", "Memory", "Limits"])
    both = run(sweep=sweep(*line(LENGTHS, [1, 2, 3]), *line(LENGTHS, [2, 4, 6], implementation="SDPA math")))
    assert (tabs(both), charts(both)) == (["Growth", "Every case"], ["Time", "Memory", "Limits"])
    assert not [each for each in alone.toggle if each.label == "As a ratio"], "there is nothing to divide"
    (ratio,) = (each for each in both.toggle if each.label == "As a ratio")
    ratio.set_value(True).run()
    assert both.session_state["timing_chart"] == "speed-up" and "times as fast as" in figure_text(both)
    far = read_recording(write_recording(line(LENGTHS, [0.004] * 3, to_device=0.001, **GPU)), "gpu.json")
    device = run(sweep=finished_job(), opened={"gpu.json": far})
    assert tabs(device) == ["Break-even length", "Growth", "Every case"]
    assert charts(device) == ["Break-even", "Time", "Memory", "Copy", "Limits"]


def test_a_chart_that_has_nothing_to_show_any_more_makes_way():
    far = read_recording(write_recording(line(LENGTHS, [0.004] * 3, to_device=0.001, **GPU)), "gpu.json")
    test = run({"v": "3", "chart": "transfer"}, sweep=finished_job(), opened={"gpu.json": far})
    assert test.session_state["timing_chart"] == "transfer"
    test.button(key="remove_gpu.json").click().run()
    assert not test.exception
    assert test.session_state["timing_chart"] == "time"
    assert "time per call" in figure_text(test)


def test_without_a_gpu_implementations_are_compared_with_one_that_is_chosen():
    slow = line(LENGTHS, [0.01, 0.02, 0.03], implementation="matmul softmax matmul")
    other = line(LENGTHS, [0.02, 0.02, 0.02], implementation="loop over heads")
    test = run({"v": "3", "chart": "speed-up"}, sweep=sweep(*line(LENGTHS, [0.001] * 3), *slow, *other))
    assert not test.exception
    assert test.selectbox(key="timing_against").options == ["matmul softmax matmul", "loop over heads", "SDPA"]
    assert "times as fast as matmul softmax matmul" in figure_text(test)
    assert [each.label for each in test.toggle] == ["As a ratio"], "nothing was copied"
    test.selectbox(key="timing_against").set_value("SDPA").run()
    assert "times as fast as SDPA" in figure_text(test)
    far = read_recording(write_recording(line(LENGTHS, [0.004] * 3, to_device=0.001, **GPU)), "gpu.json")
    device = run(
        {"v": "3", "chart": "speed-up"}, sweep=sweep(*line(LENGTHS, [0.001] * 3), *slow), opened={"g.json": far}
    )
    assert device.selectbox(key="timing_against").options[0] == "the CPU"
    assert device.toggle(key="timing_transfer").label == "Count the copy"
    lone = "Not drawn, as there is no time to divide: matmul softmax matmul."
    assert lone in page_text(device) and "Not drawn" not in page_text(test)


def test_a_busy_host_is_said_with_a_way_out_and_growth_that_says_nothing_is_not_shown():
    loose = [lowest(n, n / 64, None, load=9.0, quiet=1, settled=False) for n in LENGTHS]
    test = run(sweep=sweep(*loose))
    assert "Other programs also ran on Test CPU, 2 cores, 2 threads during 83% of its measurements" in page_text(test)
    assert (
        "3 of its 3 cases at these settings are unstable: their times are upper bounds. Measure again at a quieter time"
        in page_text(test)
    )
    assert (
        "No exponent for SDPA: fewer than 3 lengths are stable; try a larger time budget or a quieter machine"
        in page_text(test)
    )
    assert [len(each.value) for each in tables(test)] == [3], "the table of every case alone"


def test_lines_that_are_drawn_first_differ_in_one_thing():
    settings = [("full", "float32"), ("causal", "bfloat16"), ("full", "bfloat16"), ("causal", "float32")]
    found = [
        timing for mask, dtype in settings for timing in line([64, 128], [0.001, 0.002], mask=mask, dtype=dtype, **GPU)
    ]
    drawn = usual_lines(found, "time", 3)
    kinds = list(dict.fromkeys((timing.mask, timing.dtype) for timing in drawn))
    assert kinds == [("full", "float32"), ("full", "bfloat16"), ("causal", "float32")]

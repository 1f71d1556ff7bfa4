"""The Timing page without a browser: its link, its widgets, its empty state, recordings and an owner's switch."""

from __future__ import annotations

import io
import itertools
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from attention.timing.__main__ import report
from attention.timing.cpu_gpu_settings import Timed
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.recordings import Timing, read_recording, shipped_recordings, write_recording
from attention.timing.recordings.timing import BROWSER, WEBGPU
from attention.timing.subject import subject
from attention.timing.sweep import Sweep
from attention.timing.units import seconds
from attention.ui import results
from attention.ui.jobs.timing_jobs import TIMING_JOBS
from attention.ui.jobs.timing_process import TimingJob
from attention.ui.markdown import escape
from attention.ui.session.visit_state import KEY, Session, VisitState
from attention.ui.text import timing as text
from attention.ui.views import timing_recordings
from tests.timings import GPU, failed_timing, line, make_timing

PAGE = Path(__file__).parents[1] / "pages" / "timing.py"
LENGTHS = [64, 256, 1024]
BEFORE = {
    "v": "4",
    "picture": "time",
    "lines": "all",
    "chart": "time",
    "heads": "8",
}  # what a link of the first edition opens


def run(query: dict[str, str] | None = None, **before) -> AppTest:
    """The page of a link; `before`: what the session has kept already, and what widgets hold."""
    test = AppTest.from_file(str(PAGE), default_timeout=60)
    test.query_params.update(query or {})
    kept = {field.name: before.pop(field.name) for field in fields(VisitState) if field.name in before}
    test.session_state[KEY] = Session(kept=VisitState(**kept))
    for name, value in before.items():
        test.session_state[name] = value
    return test.run()


def finished_job() -> TimingJob:
    """A sweep of made-up numbers that has ended."""
    return TimingJob(
        Sweep(), "done", 1.0, timings={timing.case: timing for timing in line(LENGTHS, [0.001, 0.016, 0.256])}
    )


def sizes_menu(test: AppTest) -> Selectbox:
    """The menu of sizes, whose key contains its value."""
    return next(each for each in test.selectbox if each.label == text.SIZES_LABEL)


def page_text(test: AppTest) -> str:
    parts = [*test.warning, *test.error, *test.info, *test.caption, *test.markdown]
    return "\n".join(part.value for part in parts).replace("\\", "")


@pytest.fixture(autouse=True)
def _nothing_ships(monkeypatch):
    monkeypatch.setattr(results.timing, "shipped_timings", list)


def figures(test: AppTest, versus: bool = False) -> list:
    """The figures of timings line by line, or that of CPU against GPU."""
    return [each for each in test.get("plotly_chart") if ("versus_chart" in each.proto.id) is versus]


def tables(test: AppTest) -> list:
    """The tables of timings line by line: growth, and every case."""
    return [each for each in test.dataframe if "precisions" not in each.value]


def figure_text(test: AppTest) -> str:
    """The one figure of timings, as text."""
    (figure,) = figures(test)
    return json.dumps(json.loads(figure.proto.spec), ensure_ascii=False)


def test_the_empty_page_says_that_there_is_no_gpu_and_what_to_run():
    test = run()
    assert not test.exception
    assert "This server has no GPU, and there is no recording of one" in page_text(test)
    assert "python -m attention.timing --heads 16 --out gpu.json" in page_text(test)
    assert "Runs SDPA at 6 lengths on " in page_text(test), "whose times become stable soon"
    for query in (
        {"picture": "lines", "chart": "time"},
        {"picture": "lines", "chart": "roofline"},
        {"masks": "causal"},
    ):
        assert "Runs SDPA at 6 lengths on " in page_text(run(query)), "the same kernel in each chart of these sizes"
    assert "up to 72 cases of sizes and implementations" in page_text(run({"d_heads": "128", "chart": "time"}))
    assert not figures(test)


def test_the_page_says_one_command_for_its_sweep_wherever_it_says_one():
    test = run({"lengths": "96", "implementations": "SDPA math", "devices": "cpu"})
    assert test.code[0].value == "python -m attention.timing --lengths 96 --implementations 'SDPA math' --out gpu.json"
    assert f"`{test.code[0].value}`" in page_text(test)


def test_a_link_carries_the_sweep():
    query = {
        "v": "4",
        "lengths": "96,4096",
        "masks": "full,causal",
        "dtypes": "bfloat16",
        "seconds": "20",
        "threads": "1",
    }
    test = run(query)
    assert not test.exception
    assert dict(test.query_params) == query
    assert test.multiselect(key="sweep_lengths").value == [96, 4096]
    assert test.code[0].value.startswith("python -m attention.timing --lengths 96,4096 --heads 16 --masks full")


def test_a_device_that_is_not_on_this_host_is_named_and_cannot_be_measured():
    test = run({"devices": "cuda:0,cpu"})
    assert not test.exception
    assert test.button(key="measure").disabled
    assert re.search(
        r"This server does not have these devices: cuda:0\. It has cpu \(.+\)\. Choose other devices, or none",
        page_text(test),
    )
    assert "Up to" not in page_text(test)
    assert not run({"devices": "cpu"}).button(key="measure").disabled


def test_one_case_is_one():
    assert "up to 1 case of" in page_text(run({"implementations": "SDPA", "lengths": "64", "devices": "cpu"}))


def test_what_a_link_cannot_mean_is_said_and_shown_as_text():
    test = run({"masks": "casual", "speed": "![x](http://host/p.png)", "lengths": "64"})
    assert not test.exception
    assert "masks='casual' is not one of: full, causal. Did you mean 'causal'?" in page_text(test)
    assert "'speed' is not a setting of the timings" in page_text(test)
    assert dict(test.query_params) == BEFORE | {"lengths": "64"}, "as a link from before meant"


def test_widgets_move_the_link():
    test = run()
    test.multiselect(key="sweep_lengths").set_value([512, 128]).run()
    test.slider(key="sweep_seconds").set_value(30.0).run()
    test.number_input(key="sweep_threads").set_value(1).run()
    assert dict(test.query_params) == {"v": "4", "lengths": "128,512", "seconds": "30", "threads": "1"}
    test.multiselect(key="sweep_lengths").set_value([]).run()
    assert "Lengths (tokens) has no value; it needs one." in page_text(test)
    assert test.multiselect(key="sweep_lengths").value == [128, 512]


def test_reset_takes_every_knob_back():
    test = run({"lengths": "96", "implementations": "SDPA", "seconds": "20"})
    test.button(key="reset").click().run()
    assert dict(test.query_params) == {}
    assert test.multiselect(key="sweep_implementations").value == []


def test_what_was_measured_is_drawn_with_where_and_when():
    test = run(sweep=finished_job())
    assert not test.exception
    assert len(figures(test)) == 1
    told = "Test CPU, 2 cores, 2 threads: torch 2.13.0 on Linux 1 x86_64, 2 CPU threads, float32 precision highest, 2026-01-31"
    assert f"{told}." in page_text(test)
    assert "Test CPU, 2 cores, measured here 2026-01-31," in figure_text(test)
    growth, table = tables(test)
    assert list(growth.value.iloc[0]) == ["SDPA", "4 times", "2.00 ± 0.00", "64 to 1,024 tokens"]
    assert list(table.value["tokens"]) == LENGTHS
    assert "this machine was busy" not in page_text(test)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("chart", ["time", "speed-up", "roofline", "memory", "transfer"])
def test_a_recording_stands_beside_and_says_so_in_every_chart(chart):
    far = read_recording(
        write_recording(line(LENGTHS, [0.004] * 3, to_device=0.001, peak_bytes=2**24, **GPU)), "gpu.json"
    )
    test = run({"v": "3", "chart": chart}, sweep=finished_job(), opened={"gpu.json": far})
    assert not test.exception
    assert "SDPA · Test GPU, recorded 2026-01-31 (gpu.json)" in re.sub(
        "<br>|\\\\u003cbr\\\\u003e", " ", figure_text(test)
    )
    assert "faster from about 128 tokens on" in page_text(test)
    assert "This server has no GPU" not in page_text(test)
    assert "Use *Lines* to choose" not in page_text(test), (
        "what a chart has nothing to say of is not left out by choice"
    )


def test_opened_recordings_stay_until_they_are_taken_away_one_by_one():
    opened = {
        name: read_recording(write_recording(line(LENGTHS, [0.004] * 3, **GPU)), name) for name in ("a.json", "b.json")
    }
    test = run(opened=opened)
    assert "a.json: 3 cases on Test GPU, 2026-01-31" in page_text(test)
    assert {"(a.json)", "(b.json)"} <= set(figure_text(test).replace('"', " ").split())
    test.button(key="remove_a.json").click().run()
    assert "(a.json)" not in figure_text(test)
    assert "(b.json)" in figure_text(test)
    test.button(key="remove_b.json").click().run()
    assert not figures(test)
    assert "This server has no GPU" in page_text(test)


def many() -> dict[str, list[Timing]]:
    """An opened recording of 80 lines, half of them of a CPU."""
    axes = itertools.product(
        ("SDPA", "SDPA math"), ("float32", "bfloat16"), range(1, 11), ({"device_name": "Far CPU"}, GPU)
    )
    moved = {"to_device": 1e-4, "peak_bytes": 2**24}
    timings = [
        timing
        for name, dtype, batch, device in axes
        for timing in line([64, 256], [0.01, 0.02], implementation=name, dtype=dtype, batch=batch, **(moved | device))
    ]
    return {"x.json": read_recording(write_recording(timings), "x.json")}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("chart", ["time", "speed-up", "roofline", "memory", "transfer"])
def test_of_many_lines_some_are_drawn_and_that_is_said(chart):
    test = run({"v": "3", "chart": chart}, opened=many())
    assert not test.exception
    every = 40 if chart == "speed-up" else 80  # two timed lines make one of a ratio
    assert (
        f"Showing {({'speed-up': 4, 'transfer': 4, 'memory': 8}).get(chart, 8)} of the {every} that were timed"
        in page_text(test)
    )
    test.toggle(key="timing_all_lines").set_value(True).run()
    some = {"transfer": 8, "speed-up": 12}.get(chart, 24)
    assert f"Showing {some} of the {every} that were timed" in page_text(test)
    assert test.toggle(key="timing_all_lines").label == f"Show up to {8 if chart == 'transfer' else 24}"
    assert json.loads(figures(test)[0].proto.spec)["layout"]["height"] < 2500
    assert len(re.findall(r"^- .* against .*CPU", page_text(test), re.MULTILINE)) == 12
    assert [len(each.value) for each in tables(test)] == [160]
    assert [len(each.value) for each in test.table] == [12] * (chart in ("time", "speed-up"))  # a row for both machines
    assert "No exponent for 80 lines: it needs 3 lengths with a time" in page_text(test)


def test_the_lines_that_are_drawn_are_chosen_by_what_they_differ_in():
    test = run({"v": "4", "chart": "time"}, opened=many())
    test.multiselect(key="timing_lines_dtype").set_value(["bfloat16"]).run()
    test.multiselect(key="timing_lines_Batch").set_value(["batch 3"]).run()
    assert "Showing 4 of the 80 that were timed" in page_text(test)
    names = {trace["name"].replace("<br>", " ") for trace in json.loads(figure_text(test))["data"]}
    assert len(names) == 4
    assert [len(each.value) for each in tables(test)] == [160]
    assert "No exponent for 80 lines: it needs 3 lengths with a time" in page_text(test)
    test.multiselect(key="timing_lines_Batch").set_value([]).run()
    assert "Showing 24 of the 80 that were timed" in page_text(test)
    test.multiselect(key="timing_lines_dtype").set_value([]).run()
    assert "Showing 8 of the 80 that were timed" in page_text(test)


def test_a_choice_outlives_a_recording_that_is_taken_away():
    opened = many() | {
        "y.json": read_recording(write_recording(line(LENGTHS, [1.0] * 3, dtype="float16", **GPU)), "y.json")
    }
    test = run({"v": "4", "chart": "time"}, opened=opened)
    test.multiselect(key="timing_lines_dtype").set_value(["float16"]).run()
    assert "Showing 1 of the 81 that were timed" in page_text(test)
    test.button(key="remove_y.json").click().run()
    assert not test.exception
    assert "Showing 8 of the 80 that were timed" in page_text(test)


def test_among_few_lines_nobody_has_to_choose():
    test = run(sweep=finished_job())
    assert not [box for box in test.multiselect if box.key.startswith("timing_lines")]
    assert "Use *Lines* to choose" not in page_text(test)


class File(io.BytesIO):
    """A file as the uploader gives it."""

    def __init__(self, name: str, data: str) -> None:
        super().__init__(data.encode())
        self.name = name


@pytest.fixture
def upload(monkeypatch):
    """Opens files, without a browser; gives the sources that are open then, and what was said."""
    kept, widgets = VisitState(), {}
    monkeypatch.setattr(timing_recordings.page, "visit_state", lambda: kept)
    monkeypatch.setattr(timing_recordings.page, "widgets", lambda: widgets)

    def take_in(*files: File) -> tuple[list[str], list[str]]:
        widgets["key"] = files
        timing_recordings._take_in("key")
        return list(kept.opened), kept.problems

    return take_in


def test_a_file_is_opened_beside_those_that_are_open(upload):
    one, other = (write_recording(line(LENGTHS, [median] * 3, **GPU)) for median in (0.004, 0.005))
    assert upload(File("gpu.json", one)) == (["gpu.json"], [])
    assert upload(File("gpu.json", other), File("x.json", "{")) == (
        ["gpu.json", "gpu.json #2"],
        [
            "x.json: The file is not JSON: 'Expecting property name enclosed in double quotes: line 1 column 2 (char 1)'."
        ],
    )
    labels = {timing.origin for timing in timing_recordings.opened_timings()}
    assert labels == {"Test GPU, recorded 2026-01-31 (gpu.json)", "Test GPU, recorded 2026-01-31 (gpu.json #2)"}


def test_the_same_file_twice_and_too_many_are_refused(upload):
    def file(i: int) -> File:
        return File(f"{i}.json", write_recording(line(LENGTHS, [i] * 3, **GPU)))

    upload(*(file(i) for i in range(1, 12)))
    opened, problems = upload(
        File("again.json", file(3).read().decode()), file(12), file(13), File("no.json", write_recording([]))
    )
    assert len(opened) == 12
    assert problems == [
        "again.json: The same recording is open as 3.json.",
        "13.json: At most 12 recordings can be open. Remove one first.",
        "no.json: The recording has no timings.",
    ]


def test_a_link_that_asks_for_more_than_the_host_allows_is_cut_and_says_so(monkeypatch):
    monkeypatch.setenv("ATTENTION_MEASURE_SECONDS", "10")
    test = run({"seconds": "600"})
    assert "seconds=600 exceeds the limit of this server: set to 10." in page_text(test)
    assert dict(test.query_params) == BEFORE | {"seconds": "10"}
    assert test.slider(key="sweep_seconds").max == test.slider(key="sweep_seconds").value == 10
    assert "exceeds the limit of this server" not in page_text(run()), "who asked for nothing is told nothing"


def test_a_peak_that_was_measured_at_a_busy_moment_is_said_to_be_too_low():
    fast = line(LENGTHS, [1e-4] * 3, operations=1e9)
    assert "measured while the machine was busy" in page_text(
        run(sweep=TimingJob(Sweep(), "done", 1.0, timings={t.case: t for t in fast}))
    )


def test_a_job_that_waits_says_how_many_are_before_it():
    test = run(sweep=TimingJob(Sweep()))
    assert test.button(key="cancel").label == "Cancel"
    assert "In the queue. This server runs one measurement or map at a time" in test.get("progress")[0].proto.text


def test_a_job_that_another_program_holds_up_says_so():
    test = run(sweep=TimingJob(Sweep(), "running", held=True))
    assert test.button(key="cancel").label == "Cancel"
    told = test.get("progress")[0].proto.text
    assert told == ("Waiting for a measurement of another program on this server. The time budget starts after that.")


def test_who_waits_behind_one_that_is_held_up_is_told(monkeypatch):
    monkeypatch.setattr(TIMING_JOBS.line, "busy", {TimingJob(Sweep(), "running", held=True)})
    told = run(sweep=TimingJob(Sweep())).get("progress")[0].proto.text
    assert told.endswith("The first waits for a measurement of another program on this server.")


def test_that_leaving_ends_a_sweep_is_said_before_and_after():
    said_before = page_text(run(sweep=TimingJob(Sweep(), "running")))
    assert "The measurement ends 120 seconds after its last viewer leaves this page." in said_before
    found = {timing.case: timing for timing in line(LENGTHS, [0.001, 0.016, 0.256])}
    told = run(sweep=TimingJob(Sweep(), "left", 0.5, timings=found)).get("progress")[0].proto.text
    assert told == "Ended 120 seconds after the last viewer left; 3 cases were measured and are kept."


@pytest.mark.parametrize(
    ("state", "cases", "told"),
    [
        ("running", 9, "Measuring: 1 case so far. 1 without a time: out of memory."),
        ("done", 2, "Measured 1 case. 1 without a time: out of memory."),
        (
            "done",
            9,
            "Measured 1 case. 1 without a time: out of memory. 7 were not started before the time was up.",
        ),
        (
            "cancelled",
            3,
            "Cancelled; 1 case was measured and is kept. 1 without a time: out of memory. 1 was not started.",
        ),
    ],
)
def test_what_became_of_every_case_is_said(state, cases, told):
    found = {timing.case: timing for timing in (make_timing(64), failed_timing(128))}
    assert run(sweep=TimingJob(Sweep(), state, 0.5, cases=cases, timings=found)).get("progress")[0].proto.text == told


def test_cases_that_torch_does_not_support_are_counted_and_named():
    usual = [name for name, how in IMPLEMENTATIONS.items() if not how.asked and name != "SDPA cuDNN"]
    found = {timing.case: timing for name in usual for timing in (make_timing(64, implementation=name),)}
    task = TimingJob(Sweep(lengths=(64,)), "done", 1.0, cases=len(found), timings=found)
    said = run(sweep=task).get("progress")[0].proto.text
    assert said == "Measured 11 cases. 1 was skipped, as torch does not support it here: SDPA cuDNN."


def test_the_bar_of_a_measurement_is_as_far_as_its_time_budget():
    task = TimingJob(Sweep(seconds=60), "running", 0.5, started=0.0, clock=lambda: 57.0)
    assert (task.shown_share, task.seconds_left) == (0.95, 3.0)


@pytest.mark.parametrize(("started", "told"), [(1.0, "Measuring failed"), (None, "Not measured")])
def test_a_job_that_failed_says_why_as_text(started, told):
    test = run(sweep=TimingJob(Sweep(), "failed", said="<b>[gone](http://host)", started=started))
    assert test.error[0].value == f"{told}. {escape('<b>[gone](http://host)')}"
    assert "http://host" not in test.error[0].value and "<b>" not in test.error[0].value


def test_an_owner_can_switch_measuring_off(monkeypatch):
    monkeypatch.setenv("ATTENTION_MEASURE", "off")
    test = run()
    assert test.button(key="measure").disabled
    assert "Measuring is switched off" in page_text(test)
    assert "This server has no GPU, and there is no recording of one with these settings. On a machine" in page_text(
        test
    ), "nothing is measured here"


def test_an_owner_can_bound_the_budget(monkeypatch):
    monkeypatch.setenv("ATTENTION_MEASURE_SECONDS", "10")
    assert "for 10 seconds at most" in page_text(run())


SERVED = {"v": "3", "heads": "16", "d_heads": "128", "dtypes": "bfloat16", "queries": "1", "lengths": "64,8192"}
ONE = {"heads": 16, "d_head": 128, "dtype": "bfloat16", "queries": 1}


def headline(test: AppTest) -> str:
    """The finding of the page, which stands after its title."""
    return test.markdown[1].value.replace("\\", "")


def served(seconds: float = 1e-3) -> list[Timing]:
    """A CPU measured here, for one token of 16 heads of 128."""
    return line([64, 8192], [seconds, 2 * seconds], **ONE)


def shipped_card() -> list[Timing]:
    return read_recording(write_recording(line([64, 8192], [1.5e-3, 1e-4], **(ONE | GPU))), "card.json")


def test_the_headline_and_the_first_chart_follow_the_sizes_that_are_set(monkeypatch):
    assert "No CPU timing yet" in headline(run()), "published sizes, where nothing ships in this test"
    said = headline(run(SERVED))
    assert said.startswith(
        "One token of 16 heads of 128 against 8,192 keys, bfloat16: not timed yet. By its data sheet"
    )
    monkeypatch.setattr(results.timing, "shipped_timings", shipped_card)
    job = TimingJob(Sweep(), "done", 1.0, timings={timing.case: timing for timing in served()})
    test = run(SERVED, sweep=job)
    faster = " Test GPU is faster than this server's CPU from about 114 keys on; at 8,192 keys it is 20 times as fast."
    assert headline(test) == f"A{faster}"
    charts = [each.proto.id for each in test.get("plotly_chart")]
    assert "timing_time" in charts[0] and "versus_chart" in charts[1]
    assert "CPU against GPU at the sizes of published figures" in [each.label for each in test.expander]
    assert sizes_menu(run(SERVED)).value == "Decoding, 16-core CPU", "whatever its lengths are"
    test = run(SERVED | {"heads": "3"})
    assert sizes_menu(test).value == "Your own"
    sizes_menu(test).set_value("Published sizes, 2-core CPU").run()
    assert dict(test.query_params) == {"v": "4", "picture": "time"} and "No CPU timing yet" in headline(test)
    assert "Your own" not in sizes_menu(test).options


def test_charts_end_where_the_lengths_of_the_sidebar_end_and_settings_that_were_not_timed_are_named(monkeypatch):
    found = [*line([64, 256, 8192], [1e-3, 2e-3, 1.0]), *line([64, 256, 8192], [1e-4] * 3, **GPU)]
    shipped = read_recording(write_recording(found), "x.json")
    monkeypatch.setattr(results.timing, "shipped_timings", lambda: shipped)
    test = run({"lengths": "64,256", "dtypes": "float32,float16"})
    assert "At 256 tokens a Test GPU takes 100 µs and a 2-core CPU 2 ms, 20 times as long." in headline(test)
    assert "8,192" not in json.loads(figure_text(test))["layout"]["xaxis"]["ticktext"]
    told = " ".join(each.value for each in test.caption).replace("\\", "")
    assert "Not timed: float16." in told and "The headline is for" not in told, "only one of them was timed"
    for settings in ({"dtypes": "float32,float16"}, {"heads": "3"}):  # of which no copy was timed
        test = run({"lengths": "64,256"} | settings)
        assert "Break-even" not in [each.content for each in test.button_group(key="timing_chart").proto.options]


def test_of_several_settings_the_headline_compares_them_and_reset_takes_switches_back(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr(results.timing, "shipped_timings", lambda: shipped)
    test = run({"masks": "full,causal", "dtypes": "float32,bfloat16", "picture": "lines"})
    assert headline(test) == (
        "At 2,048 tokens an H100 takes at most 23.3 µs with bfloat16, full mask, and roughly 13 times as long with float32."
    )
    assert "At 64 tokens it is 1.4 times as fast with float32 as with bfloat16." in page_text(test)
    assert "The headline is for" not in page_text(test) and "Showing 5 of" in page_text(test)
    assert "7.7 times as fast" in page_text(test), "the answers are below the chart"
    assert "At these sizes a CPU was timed only with float32, full mask." in page_text(test)
    assert "takes about as long with a causal mask as without it" in page_text(test)
    test.toggle(key="timing_all_lines").set_value(True).run()
    test.button(key="reset").click().run()
    assert not test.session_state["timing_all_lines"]


def test_a_link_has_the_chart_that_is_chosen_and_an_embedded_page_shows_it_with_its_finding(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr(results.timing, "shipped_timings", lambda: shipped)
    test = run({"v": "4", "picture": "lines"})
    test.segmented_control(key="timing_chart").set_value("transfer").run()
    query = dict(test.query_params)
    assert query == {"v": "4", "picture": "lines", "chart": "transfer"}
    again = run(query)
    assert "copying to an H100 and back takes 80.7% of the time" in headline(again) and headline(again) == headline(
        test
    )
    monkeypatch.setattr("attention.ui.session.present.is_embedded", lambda: True)
    alone = run(query)
    (figure,) = figures(alone)
    assert "timing_transfer" in figure.proto.id and "back takes 80.7% of the time" in page_text(alone)


def test_a_menu_sets_sizes_that_are_asked_for():
    test = run()
    sizes_menu(test).set_value("Decoding, 16-core CPU").run()
    assert sizes_menu(test).value == "Decoding, 16-core CPU"
    assert headline(test).startswith("One token of 16 heads of 128 against 8,192 keys, bfloat16")
    assert (test.query_params["queries"], test.query_params["d_heads"]) == ("1", "128")


def test_an_opened_file_of_a_cpu_is_compared_with_a_gpu_that_was_recorded_at_its_sizes():
    sizes = {"heads": 16, "d_head": 128, "dtype": "bfloat16"}
    opened = line([64, 256], [0.01, 0.1], source="mine.json", **sizes)
    ships = [*line([64, 256], [0.001, 0.001], source="h100.json", **GPU, **sizes), *line([64], [1e-4], **GPU)]
    found = subject(Timed(), opened, [], ships)
    assert {each.device_name for each in found.timings} == {"Test CPU, 2 cores", "Test GPU"}
    assert len(found.timings) == 4, "not the GPU at other sizes"
    assert "100 times as fast" in found.answers[0].headline


def test_sizes_that_are_set_go_before_what_was_opened_of_others():
    other = read_recording(write_recording(line(LENGTHS, [0.001] * 3, heads=4, **GPU)), "other.json")
    assert "For twice the text a Test GPU takes about as long" in headline(run(opened={"other.json": other}))
    test = run({"lengths": "96", "heads": "12"}, opened={"other.json": other})
    assert headline(test).startswith("96 tokens, 12 heads of 64, float32: not timed yet.")
    assert "4 heads of 64, float32: 1 ms on a Test GPU" in page_text(test)


def test_the_command_and_the_page_say_the_same_of_the_same_timings(monkeypatch):
    monkeypatch.setattr(results.timing, "shipped_timings", shipped_card)
    here = [*served(), *line([64, 8192], [2e-3, 0.5], **(ONE | {"queries": 0}))]
    query = SERVED | {"queries": "0,1"}
    printed = report(here, shipped_card())
    test = run(query, sweep=TimingJob(Sweep(), "done", 1.0, timings={timing.case: timing for timing in here}))
    first = " ".join([headline(test), test.caption[0].value, test.caption[0].help]).replace("\\", "")
    shown = [first, *page_text(test).splitlines()]
    said = [each for each in printed.splitlines() if each.startswith(("A Test GPU", "8,192 tokens"))]
    assert len(said) == 2 and set(said) <= set(shown)
    (cases,) = [table.value for table in tables(test) if "quickest, ms" in table.value or "median, ms" in table.value]
    for _, row in cases[cases["device"].str.startswith("Test CPU")].iterrows():
        assert re.search(rf"^ +{row['tokens']:,} .* {seconds(row['median, ms'] / 1e3)} ", printed, re.MULTILINE)


def test_the_visitors_gpu_is_compared_with_a_recorded_cpu_in_the_dtype_that_the_browser_times():
    plain = ONE | {"dtype": "float32"}
    cpu = read_recording(write_recording(line([64, 8192], [1e-3, 2e-3], **plain)), "cpu.json")
    gpu = {"device": WEBGPU, "device_name": "Acme 9", "source": BROWSER, "implementation": "WebGPU fused"}
    timed = Timed(heads=(16,), d_heads=(128,), dtypes=("bfloat16",), queries=(1,), lengths=(64, 8192))
    first, *_ = subject(timed, line([64, 8192], [4e-3, 1e-3], **(plain | gpu)), [], cpu).answers
    assert "Your GPU (Acme 9) is 2 times as fast as a 2-core CPU (1 ms instead of 2 ms)" in first.headline
    assert subject(timed, [], [], cpu).timings == (), "without a measurement only the dtype that is set"


def test_a_chart_without_the_copy_has_no_ratio_with_it_below_its_headline(monkeypatch):
    monkeypatch.setattr(results.timing, "shipped_timings", shipped_card)
    job = TimingJob(Sweep(), "done", 1.0, timings={timing.case: timing for timing in served()})
    time, ratio = (run(SERVED | {"chart": chart}, sweep=job).caption[0].value for chart in ("time", "speed-up"))
    assert time == "Lower is faster; the steeper a line, the faster its time grows."
    assert ratio == "Above 1, a line is faster than the same code on the CPU."

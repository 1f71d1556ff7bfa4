"""CPU against GPU on the Timing page, without a browser: what one sees first, its widgets, its link and its way out."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from attention.timing import recordings
from attention.timing.sweep import Sweep
from attention.ui import results
from attention.ui.jobs.timing_process import TimingJob
from tests.test_cpu_gpu import CARD, CPU, recorded_series, timed_series
from tests.test_timing_page import BEFORE, figures, page_text, run


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    """What ships, made up."""
    found = recorded_series(*CPU)
    monkeypatch.setattr(results.timing, "shipped_timings", lambda: found)
    return found


def spec(test: AppTest) -> str:
    (figure,) = figures(test, versus=True)
    return figure.proto.spec.replace("<br>", " ")


def test_the_page_answers_its_headline_at_once():
    test = run()
    assert not test.exception and not test.warning
    words = [text.value.replace("\\", "") for text in test.markdown if "](#" not in text.value]
    assert words[0] == "# :gray[Measure ·] Timing"
    assert words[1] == ("At 4,096 tokens an H100 in float16 is 12,000 times as fast as a 2-core CPU in float32.")
    assert test.caption[0].value.replace("\\", "") == (
        "Including the copy to the GPU and back (PCIe 4.0 x16, assumed: 25 GB/s), it is 702 times as fast at 4,096 tokens."
    )
    assert words[2].startswith(
        "At 4,096 tokens, causal, d_head 64, an H100 (float16, FlashAttention-3, published) is 12,000 times"
    )
    assert words[2].endswith("The GPU is faster at every common length: 512 to 4,096 tokens.")
    rests_on = next(
        text for text in page_text(test).splitlines() if text.startswith("At 4,096 tokens, causal, d_head 64,")
    )
    assert "recorded 2026-01-31" in rests_on and "(far.json)" not in rests_on
    assert "H100: FlashAttention-3, float16, published" in spec(test) and "A100" not in spec(test)
    assert "forward + backward of an A100 and an H100. Published at other sizes, as rates only" in page_text(test)
    assert "precisions" in test.dataframe[0].proto.column_order
    assert "recorded 2026-01-31 (far.json)" in spec(test)
    beside = ("Predict", "Class")  # buttons at the right of the title
    shown = [element for element in test.main if getattr(element, "label", "") not in beside]
    first = [element.type for element in shown if element.type in ("plotly_chart", "button", "dataframe")]
    assert dict(test.query_params) == {}
    assert first == [] or first[0] == "plotly_chart"


def test_widgets_move_the_picture_and_the_link():
    test = run()
    test.segmented_control(key="sweep_picture").set_value("rate").run()
    test.segmented_control(key="sweep_d_head").set_value("128").run()
    assert dict(test.query_params) == {"v": "4", "picture": "rate", "d_head": "128"}
    assert "H200" not in spec(test)
    test.segmented_control(key="sweep_lines").set_value("all").run()
    assert "H200: cuDNN, bfloat16, published" in spec(test) and "operations per second" in spec(test)
    test.selectbox(key="sweep_method").set_value("FlashAttention-2").run()
    assert "FlashAttention-2, float16, published" in spec(test) and "H200" not in spec(test)
    test.button(key="reset").click().run()
    assert dict(test.query_params) == {}
    assert "FlashAttention-3" in spec(test)


def test_the_fastest_is_shown_where_a_method_was_not_published_of_the_pass():
    test = run({"method": "cuDNN"})
    test.segmented_control(key="sweep_work").set_value("forward + backward").run()
    assert "There are no published figures of cuDNN for forward + backward; the fastest method is shown." in page_text(
        test
    )
    assert dict(test.query_params) == BEFORE | {"work": "forward + backward"}, "a link from before has all"
    assert "cuDNN" not in test.selectbox(key="sweep_method").options


def test_a_setting_that_no_cpu_was_timed_at_leads_to_a_sweep_of_it():
    test = run({"d_head": "128", "cpu_dtype": "bfloat16", "work": "forward + backward"})
    assert "No CPU timing yet for this setting (bfloat16, forward + backward, causal, d_head 128)." in page_text(test)
    assert "published" in spec(test), "what was published is drawn all the same"
    test.button(key="versus_sweep").click().run()
    assert test.multiselect(key="sweep_lengths").value == [512, 1024, 2048, 4096]
    sweep = {name: test.query_params[name] for name in ("tokens", "d_heads", "dtypes", "masks", "passes")}
    assert sweep == {
        "tokens": "16384",
        "d_heads": "128",
        "dtypes": "bfloat16",
        "masks": "causal",
        "passes": "forward + backward",
    }
    assert test.code[0].value.startswith("python -m attention.timing --lengths 512,1024,2048,4096")
    assert test.number_input(key="sweep_tokens").value == 16_384 and test.multiselect(key="sweep_batches").disabled


def test_where_there_is_nothing_to_divide_the_page_says_so():
    test = run({"picture": "times faster", "d_head": "128"})
    assert not test.exception and not figures(test, versus=True)
    assert "No ratio yet" in page_text(test)


def test_what_was_measured_here_takes_the_place_of_what_was_recorded():
    mine = {timing.case: timing for timing in timed_series(2.0)}
    test = run(sweep=TimingJob(Sweep(), "done", 1.0, timings=mine))
    assert (
        "is 24,000 times as fast as this CPU (Test CPU, 2 cores, 2 threads; float32, SDPA, measured here"
        in page_text(test)
    )
    assert "measured here" in spec(test) and "far.json" not in spec(test)


def test_a_gpu_recording_comes_first(monkeypatch):
    found = recorded_series(*CPU, *CARD)
    monkeypatch.setattr(results.timing, "shipped_timings", lambda: found)
    assert "a Test GPU (bfloat16, SDPA, recorded 2026-01-31) is 1,000 times as fast" in page_text(run())


def test_the_numbers_have_their_places_and_can_be_taken_away():
    test = run({"mask": "full", "d_head": "128"})
    table = test.dataframe[0].value
    assert set(table["origin"]) == {"published"}
    assert set(table["source"].str.partition(",")[0]) == {"Shah et al. 2024", "NVIDIA"}
    assert list(table["note"]).count("read through a legend") == 1
    assert recordings.sheet({name: list(table[name]) for name in table}).startswith(
        "device,method,precision,origin,tokens,ms,"
    )

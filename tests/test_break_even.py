"""From which length a GPU is faster: on made-up times with known crossings, and on the recordings that ship."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from attention.charts import break_even as charts
from attention.timing import comparison
from attention.timing.break_even import BreakEven, break_even, of_pair, pair
from attention.timing.cpu_gpu_settings import TIMED, Timed
from attention.timing.cpu_gpu_summary import times
from attention.timing.recordings import shipped_recordings
from attention.timing.recordings.timing import BROWSER, WEBGPU
from attention.timing.sweep import Sweep, is_like
from attention.ui.jobs.timing_process import TimingJob
from attention.ui.views.timing_sizes import OFFERED, settings_text
from tests.test_timing_page import page_text, run, sizes_menu
from tests.timings import GPU, make_timing

LENGTHS = (64, 128, 256, 512)
EIGHT = Sweep(heads=(8,))


def crossing(cpu: float = 1.0, gpu: float = 1.0, copy: float = 0.0) -> BreakEven:
    """A CPU whose time grows with the square of the length, and a GPU whose time and copy grow with the length."""
    sides = [make_timing(n, cpu * (n / 64) ** 2) for n in LENGTHS]
    sides += [make_timing(n, gpu * n / 64, to_device=copy * n / 64, from_device=0.0, **GPU) for n in LENGTHS]
    found = break_even(sides, EIGHT)
    assert found
    return found


def test_a_crossing_between_two_lengths_is_found_said_and_marked():
    found = crossing(gpu=2.0, copy=2.0)  # n / 64 is 2 without the copy and 4 with it
    assert (found.alone.length, found.moved.length) == (pytest.approx(128), pytest.approx(256))
    assert found.headline == (
        "In float32 a Test GPU is faster than this server's CPU from about 256 tokens on, copying included."
    )
    assert found.with_copy == (
        "Timed: one call of attention (PyTorch's SDPA). "
        "Without the copy the GPU is faster from about 128 tokens on, 4 times as fast at 512; counting the copy there and back, "
        "2 times as fast at 512."
    )
    drawn = json.loads(charts.figure(found).to_json())
    (ring,) = (trace for trace in drawn["data"] if trace["marker"]["symbol"] == "circle-open")
    assert ring["x"] == [pytest.approx(256)] and ring["y"] == [pytest.approx(16)]
    words = [each["text"] for each in drawn["layout"]["annotations"]]
    assert "GPU 4 times as fast<br>2 times with copy" in words and any("about 256 tokens" in each for each in words)


def test_a_gpu_that_is_always_or_never_faster_is_said_to_be_and_nothing_is_marked_where_lines_do_not_cross():
    always = crossing(gpu=0.1, copy=0.1)
    assert always.headline == (
        "In float32 a Test GPU is faster than this server's CPU at every length timed, copying included."
    )
    assert always.with_copy == (
        "Timed: one call of attention (PyTorch's SDPA). "
        "Without the copy the GPU is 10 times as fast at 64 tokens and 80 times as fast at 512; counting "
        "the copy there and back, 5 times as fast at 64 and 40 times as fast at 512."
    )
    never = crossing(gpu=100.0, copy=1.0)
    assert never.headline == (
        "In float32 a Test GPU is at no length up to 512 tokens faster than this server's CPU, even without the copy."
    )
    assert never.with_copy == "Timed: one call of attention (PyTorch's SDPA)."
    slowed = crossing(gpu=0.1, copy=100.0)
    assert slowed.headline.endswith("at every length timed; with the copy, at no length up to 512.")
    assert slowed.with_copy.endswith("; counting the copy there and back, it takes 13 times as long at 512.")
    drawn = json.loads(charts.figure(never).to_json())
    assert not any(trace["marker"]["symbol"] == "circle-open" for trace in drawn["data"])


def once(seconds: float) -> dict:
    """What makes a timing unstable, as one visit alone found its minimum."""
    return {"settled": False, "visits": 1, "quickest": seconds}


@pytest.mark.parametrize(
    ("cpu", "gpu", "said"),
    [
        ({}, once(0.4), "1.4 s with the copy (unstable, timed once), the CPU 8 s: the GPU is at least 5.7 times as fast."),
        (once(8.0), {}, "1.4 s with the copy, the CPU at most 8 s (unstable, timed once): the GPU is at most 5.8 times as fast."),
        (once(8.0), once(0.4), "at most 8 s (unstable, timed once): the GPU is roughly 5.7 times as fast."),
        ({"settled": False}, {}, "the CPU 8 s (unstable times): the GPU is roughly 5.7 times as fast."),
    ],
)  # fmt: skip
def test_an_unstable_minimum_is_an_upper_bound_and_bounds_a_ratio_if_the_other_time_is_stable(cpu, gpu, said):
    sides = [make_timing(n, n / 64, **(cpu if n == 512 else {})) for n in LENGTHS]
    sides += [make_timing(n, 0.4, to_device=1.0, **GPU, **(gpu if n == 512 else {})) for n in LENGTHS]
    found = break_even(sides, EIGHT)
    assert found and found.beyond.endswith(said)


def test_unstable_times_are_marked_by_a_band_between_two_lengths_and_stable_ones_by_a_ring():
    sides = [make_timing(n, (n / 64) ** 2, settled=n < 128) for n in LENGTHS]
    sides += [make_timing(n, n / 64, to_device=2 * n / 64, from_device=0.0, **GPU) for n in LENGTHS]
    found = of_pair(sides)  # which meet at 3 times 64
    assert found and found.is_rough and found.between(copied=True) == (128, 256)
    drawn = json.loads(charts.figure(found).to_json())
    (band,) = (shape for shape in drawn["layout"]["shapes"] if shape["type"] == "rect")
    assert (band["x0"], band["x1"]) == (128, 256)
    assert "between 128 and 256" in [each["text"] for each in drawn["layout"]["annotations"]]
    assert all(trace["marker"].get("size") != 20 for trace in drawn["data"]), "no ring"
    stable = crossing(gpu=2.0, copy=2.0)
    assert stable.between(copied=True) is None
    assert all(shape["type"] != "rect" for shape in json.loads(charts.figure(stable).to_json())["layout"]["shapes"])


def test_other_code_is_named_only_if_its_break_even_is_clearly_elsewhere():
    found = crossing(gpu=2.0, copy=2.0)
    for length, said in ((300.0, ""), (400.0, "eager is faster on the GPU from about 400"), (100.0, "from about 100")):
        assert (said in (code := replace(found, others=(("eager", length),)).other_code)) and bool(said) is bool(code)
    both = replace(found, others=(("eager", 400.0), ("einsum", 64.0))).other_code
    assert both.startswith(
        "It depends on the code: with the copy, einsum is faster on the GPU from about 64 tokens on, eager "
    )


def test_what_was_measured_now_is_a_line_of_its_own_beside_the_recorded_one():
    shipped = shipped_recordings()
    mine = [make_timing(n, 1e-6 * n) for n in (64, 128, 256, 512)]
    found = break_even([*mine, *shipped], EIGHT)
    assert found and [series.device for series in found.beside] == ["AMD EPYC, 2 cores, 2 threads"]
    drawn = {trace["meta"]: trace for trace in json.loads(charts.figure(found).to_json())["data"] if "meta" in trace}
    now = drawn["this server, measured"]
    assert now["y"] == [1e-6 * n for n in (64, 128, 256, 512)]
    assert (now["line"]["width"], drawn["2-core CPU, recorded"]["line"]["width"]) == (3, 1.5)
    assert {"H100 alone", "H100 + copy"} <= drawn.keys()
    assert found.headline.startswith("In float32 an H100 GPU is faster than this server's CPU from about ")
    assert found.headline.endswith(" tokens on, copying included.")
    browser = {"device": WEBGPU, "device_name": "Acme 9", "source": BROWSER, "implementation": "WebGPU fused"}
    card = [make_timing(n, 1e-4, to_device=1e-5, from_device=1e-5, **browser) for n in (64, 128, 256, 512)]
    own = break_even([*card, *shipped], EIGHT)
    assert own and [series.device for series in own.beside] == ["NVIDIA H100 80GB HBM3"]
    names = {trace["meta"] for trace in json.loads(charts.figure(own).to_json())["data"] if "meta" in trace}
    assert {"your GPU alone", "your GPU + copy", "2-core CPU", "H100 + copy"} <= names
    assert break_even(shipped, EIGHT) and not break_even(shipped, EIGHT).beside


def test_what_was_measured_now_is_drawn_also_if_none_of_its_times_is_stable_and_is_not_compared():
    loose = [make_timing(n, 1e-6 * n, settled=False) for n in (64, 128, 256, 512)]
    found = break_even([*loose, *shipped_recordings()], EIGHT)
    assert found and found.headline.startswith(
        "In float32 an H100 GPU is faster than a 2-core CPU beyond 64 tokens, copying included."
    )
    assert "drawn, but not compared" in found.not_compared
    assert found.open_marks == "open marks: unstable, timed once (GPU), unstable times (this server)"
    drawn = json.loads(charts.figure(found).to_json())["data"]
    now, joint = (trace for trace in drawn if trace.get("meta") == "this server, measured")
    assert now["y"] == joint["y"] == [1e-6 * n for n in (64, 128, 256, 512)] and "opacity" not in now
    assert not break_even(shipped_recordings(), EIGHT).not_compared  # pyright: ignore[reportOptionalMemberAccess]


def test_a_length_without_a_stable_time_is_not_called_untimed():
    cpu = [make_timing(n, 1e-6 * n, settled=n > 64) for n in (64, 128, 256, 512)]
    found = break_even([*cpu, *shipped_recordings()], EIGHT)
    assert found and " at 128 tokens, the shortest with stable times, and " in found.with_copy


def test_a_measurement_on_this_server_stays_on_the_break_even(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    mine = [make_timing(n, 1e-6 * n) for n in (64, 128, 256, 512)]
    job = TimingJob(EIGHT, "done", 1.0, timings={timing.case: timing for timing in mine})
    test = run({"v": "3"}, sweep=job)
    assert not test.exception
    assert "an H100 GPU is faster than this server's CPU from about " in page_text(test)
    (first,) = [each.proto.spec for each in test.get("plotly_chart") if "versus_chart" in each.proto.id]
    assert "this server, measured" in first and "2-core CPU, recorded" in first
    (beside,) = (each.value.replace("\\", "") for each in test.markdown if "See it in the chart" in each.value)
    assert beside.startswith("In float32 an H100 GPU is faster than this server's CPU from about ")
    assert beside.endswith("[See it in the chart ↑](#measure-timing)"), "the anchor of the title"
    assert len(test.get("plotly_chart")) == 1


@pytest.mark.parametrize(("chart", "is_said"), [("time", True), ("memory", False), ("transfer", False)])
def test_sizes_that_were_measured_keep_their_name_and_the_times_lead_to_the_result(monkeypatch, chart, is_said):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    mine = [make_timing(n, 1e-6 * n, heads=16) for n in (64, 128, 256, 512)]
    job = TimingJob(Sweep(heads=(16,)), "done", 1.0, timings={timing.case: timing for timing in mine})
    test = run({"v": "4", "picture": "lines", "chart": chart}, sweep=job)
    assert not test.exception and sizes_menu(test).value == "16 heads of 64, 16-core CPU"
    said = [each.value for each in test.markdown if "See it in the chart" in each.value]
    assert bool(said) is is_said and all("an H100 GPU is faster than this server's CPU" in each for each in said)


def test_a_measurement_of_the_break_even_has_no_second_chart_while_it_runs(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    job = TimingJob(EIGHT, "running", 0.5, timings={(timing := make_timing(64, 1e-4)).case: timing})
    test = run({"v": "3"}, sweep=job)
    assert not test.exception and "Measuring: 1 case so far." in test.get("progress")[0].proto.text
    assert len(test.get("plotly_chart")) == 1 and not any("See it in" in each.value for each in test.markdown)


def test_a_dotted_line_joins_the_open_marks_of_a_line_to_its_stable_times():
    sides = [make_timing(n, (n / 64) ** 2) for n in LENGTHS]
    sides += [make_timing(n, n / 64, to_device=1.0, from_device=0.0, settled=n < 256, **GPU) for n in LENGTHS]
    found = break_even(sides, EIGHT)
    assert found
    drawn = json.loads(charts.figure(found).to_json())["data"]
    firm, loose, joint = (trace for trace in drawn if "alone" in str(trace.get("meta")))
    assert (firm["x"], loose["x"], joint["x"]) == ([64, 128], [256, 512], [64, 128, 256, 512])
    assert (loose["mode"], joint["line"]["dash"], joint["marker"]["opacity"]) == ("markers", "dot", 0)


def test_no_line_is_drawn_through_an_unstable_time_between_two_stable_ones():
    sides = [make_timing(n, (n / 64) ** 2, settled=n != 128) for n in LENGTHS]
    sides += [make_timing(n, n / 64, to_device=1.0, from_device=0.0, **GPU) for n in LENGTHS]
    found = of_pair(sides)
    assert found and not found.is_rough
    drawn = json.loads(charts.figure(found).to_json())["data"]
    firm, loose, joint = (trace for trace in drawn if trace.get("meta") == "this server, measured")
    assert (firm["x"], firm["y"]) == ([64, 128, 256, 512], [1, None, 16, 64]), "a gap"
    assert (loose["x"], joint["y"]) == ([128], [1, 4, 16, 64])


def test_the_ratio_of_the_longest_stable_length_is_marked_and_said_first_also_where_unstable_times_are_compared():
    sides = [make_timing(n, (n / 64) ** 2, **(once((n / 64) ** 2) if n > 128 else {})) for n in LENGTHS]
    sides += [make_timing(n, n / 64, to_device=2 * n / 64, from_device=0.0, **GPU) for n in LENGTHS]
    found = of_pair(sides)
    assert found and found.is_rough and found.longest.length == 128
    assert found.with_copy.endswith(
        "Without the copy the GPU is 2 times as fast at 128 tokens and at most 8 times as fast at 512; counting the copy there "
        "and back, it takes 1.5 times as long at 128 and is at most 2.7 times as fast at 512."
    )
    words = [each["text"] for each in json.loads(charts.figure(found).to_json())["layout"]["annotations"]]
    assert "GPU 2 times as fast<br>with copy 1.5 times as long" in words


def test_times_of_other_sizes_or_of_one_device_are_no_break_even():
    both = [make_timing(n, 1.0, heads=4, **side) for n in LENGTHS for side in ({}, GPU | {"to_device": 1.0})]
    assert break_even(both, EIGHT) is None
    assert break_even([make_timing(n, 1.0) for n in LENGTHS], EIGHT) is None


def test_the_page_opens_with_the_recorded_crossing_and_says_what_was_timed_and_where_the_copy_takes_its_time(
    monkeypatch,
):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    told = page_text(test := run())
    assert "In float32 an H100 GPU is faster than a 16-core CPU from about 360 tokens on, copying included." in told
    assert (
        "Timed: one call of attention (PyTorch's SDPA). "
        "Without the copy the GPU is 3.2 times as fast at 64 tokens and 22 times as fast at 512; counting "
        "the copy there and back, 1.4 times as fast at 512." in told
    )
    assert dict(test.query_params) == {} and sizes_menu(test).value == "16 heads of 64, 16-core CPU"
    told = page_text(test := run({"v": "3"}))
    assert "In float32 an H100 GPU is faster than a 2-core CPU beyond 64 tokens, copying included." in told
    assert (
        "Timed: one call of attention (PyTorch's SDPA). "
        "Without the copy the GPU is 8.8 times as fast at 64 tokens and 62 times as fast at 512; counting the copy there and "
        "back, 7.7 times as fast at 512. It depends on the code: with the copy, matmul softmax matmul is faster on the GPU from "
        "about 150 tokens on." in told
    )
    assert (
        "At 2,048 tokens the GPU takes at most 1.61 ms with the copy (unstable, timed once), the CPU 48.1 ms: the GPU is at "
        "least 29 times as fast." in told
    )
    timed = "Timed: scaled_dot_product_attention on AMD EPYC, 2 cores, 2 threads (PyTorch 2.13.0), on NVIDIA H100"
    assert any(timed in each.help.replace("\\", "") for each in test.caption if each.help)
    (chart,) = (each.proto.spec for each in test.get("plotly_chart") if "versus_chart" in each.proto.id)
    assert "open marks: unstable, timed once" in chart
    (about,) = (each.help.replace("\\", "") for each in test.caption if "one layer" in (each.help or ""))
    assert "Timed: one layer on one text" in about and "8 heads of 64 channels, float32." in about
    assert (
        "At 512 tokens the copy takes 397 µs, computing 56.2 µs" in told
        and "at 11 GB/s (from ordinary memory, which is not pinned)" in told
    )
    sizes_menu(test).set_value("Published sizes, 2-core CPU").run()
    assert (
        "At 4,096 tokens an H100 in float16 is 27 times as fast as a 2-core CPU in float32, counting the copy."
        in page_text(test)
        and "Without the copy, 2,500 times as fast." in page_text(test)
    )
    (chart,) = (each.proto.spec for each in test.get("plotly_chart") if "versus_chart" in each.proto.id)
    assert "27 times with copy" in chart and "2,500 times" not in chart
    assert "(measured for 268 MB: 9.6 GB/s to the GPU, 1.6 GB/s back)" in page_text(test)
    assert dict(test.query_params) == {"v": "4", "picture": "time"}


def test_the_chart_of_the_same_text_line_by_line_and_the_break_even_lead_to_each_other(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    test = run()
    sizes, eight = "8 heads of 64, 2-core CPU", {"v": "4", "heads": "8"}
    for cores, query in (("16-core", {}), ("2-core", eight)):
        shown = sizes_menu(test).value
        test.segmented_control(key="timing_other_chart").set_value("memory").run()
        assert not test.exception
        assert dict(test.query_params) == {"v": "4", "picture": "lines", "chart": "memory"} | query
        assert sizes_menu(test).value == shown and test.segmented_control(key="timing_chart").value == "memory"
        test.segmented_control(key="timing_chart").set_value("break-even").run()
        assert dict(test.query_params) == query and not test.exception
        assert test.segmented_control(key="timing_other_chart").value == "break-even"
        assert f"an H100 GPU is faster than a {cores} CPU " in page_text(test)
        if cores == "16-core":
            sizes_menu(test).set_value(sizes).run()
            assert dict(test.query_params) == eight


def test_a_link_of_before_opens_the_break_even_of_8_heads_and_the_lines_of_16():
    assert TIMED.from_query({"v": "3"})[0] == Timed(heads=(8,), chart="time")
    assert TIMED.from_query({"v": "3"})[0].has_own_sizes is False
    assert TIMED.from_query({"v": "3", "heads": "16"})[0].has_own_sizes is True, "which had no break-even of its own"
    assert TIMED.from_query({"v": "3", "heads": "16", "picture": "time"})[0].has_own_sizes is True
    assert TIMED.from_query({"v": "4", "picture": "time"})[0].has_own_sizes is False, "published sizes"


def test_a_sweep_of_the_published_sizes_leaves_the_break_even_of_8_heads(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    test = run({"v": "3", "tokens": "16384", "heads": "32", "masks": "causal"})
    assert not test.exception and sizes_menu(test).value == "8 heads of 64, 2-core CPU"
    assert "an H100 GPU is faster than a 2-core CPU beyond 64 tokens" in page_text(test)
    test.segmented_control(key="timing_other_chart").set_value("memory").run()
    assert not test.exception and sizes_menu(test).value == "8 heads of 64, 2-core CPU"


def test_the_break_even_follows_a_mask_that_is_ticked_beside_it_and_other_sizes_have_one_of_their_own(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    test = run()
    test.button_group(key="sweep_masks").set_value(["full", "causal"]).run()
    assert test.button_group(key="sweep_masks").value == ["causal"], "one at a time, as it draws one"
    assert test.segmented_control(key="timing_chart").value == "break-even" and not test.exception
    assert "Settings: causal mask, float32, forward." in page_text(test)
    test.button_group(key="sweep_masks").set_value(["causal", "full"]).run()
    assert test.segmented_control(key="timing_other_chart").value == "break-even" and not dict(test.query_params)
    sizes_menu(test).set_value("16 heads of 128, 16-core CPU").run()
    assert test.segmented_control(key="timing_chart").value == "break-even"
    assert not test.exception and "chart" not in test.query_params
    told = page_text(test)
    assert (
        "open marks are unstable times. Without the copy the GPU is 4.6 times as fast at 64 tokens and at most 46 times as fast "
        "at 2,048; counting the copy there and back, it takes 5.1 times as long at 64 and is at most 5.4 times as fast at 2,048."
        in told
    )
    assert "Why the copy costs that much" in told
    assert (
        "In float32 an H100 GPU seems to overtake a 16-core CPU between 256 and 512 tokens, copying included." in told
    )
    (chart,) = (each.proto.spec for each in test.get("plotly_chart") if "timing_break-even" in each.proto.id)
    assert "256 and 512" in chart and "GPU 4.6 times as fast" in chart, "at the longest length with stable times"
    test.segmented_control(key="timing_chart").set_value("time").run()
    test.button_group(key="sweep_masks").set_value(["causal"]).run()
    sizes_menu(test).set_value("16 heads of 64, 16-core CPU").run()
    assert (test.query_params["masks"], test.query_params["chart"]) == ("causal", "time"), (
        "both were timed with each mask"
    )
    sizes_menu(test).set_value("8 heads of 64, 2-core CPU").run()
    assert test.segmented_control(key="timing_chart").value == "time", "the chart stays until another is chosen"


@pytest.mark.parametrize("query", [{"d_heads": "128", "chart": "time"}, {"heads": "3"}])
def test_several_values_can_be_ticked_beside_times_and_where_no_break_even_was_recorded(monkeypatch, query):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    test = run({"v": "4", **query})
    test.button_group(key="sweep_masks").set_value(["full", "causal"]).run()
    assert not test.exception and test.button_group(key="sweep_masks").value == ["full", "causal"]


@pytest.mark.parametrize(
    ("sizes", "query"),
    [
        ("Decoding, 16-core CPU", {"chart": "roofline"}),
        ("Published sizes, 2-core CPU", {"picture": "limits"}),
        ("8 heads of 64, 2-core CPU", {"picture": "lines", "chart": "roofline"}),
    ],
)
def test_other_sizes_keep_the_chart_that_is_shown(monkeypatch, sizes, query):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    test = run({"heads": "16", "d_heads": "128", "dtypes": "bfloat16", "masks": "causal", "chart": "roofline"})
    sizes_menu(test).set_value(sizes).run()
    assert query.items() <= test.query_params.items() and not test.exception
    sizes_menu(test).set_value("16 heads of 128, 16-core CPU").run()
    assert test.segmented_control(key="timing_chart").value == "roofline"


def test_other_sizes_keep_what_was_ticked_if_it_was_recorded_at_them(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    ticked = {"masks": "causal", "dtypes": "bfloat16", "lengths": "256,512,1024"}
    test = run({"v": "4", "d_heads": "128", **ticked})
    sizes_menu(test).set_value("16 heads of 64, 16-core CPU").run()
    assert ticked.items() <= dict(test.query_params).items() and not test.exception
    assert test.segmented_control(key="timing_chart").value == "break-even"
    sizes_menu(test).set_value("Decoding, 16-core CPU").run()
    assert "masks" not in test.query_params, "a single query has no mask"
    sizes_menu(test).set_value("16 heads of 64, 16-core CPU").run()
    assert "dtypes" not in test.query_params, "that of decoding was not ticked"


def test_the_copy_of_a_decoder_is_said_to_be_needless_beside_its_number(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    test = run()
    sizes_menu(test).set_value("Decoding, 16-core CPU").run()
    said = test.caption[0].value.replace("\\", "")
    assert re.fullmatch("Timed: .*; counting the copy there and back, it takes roughly 16 .* needs no such copy.", said)
    assert (
        "an H100 GPU is faster than a 16-core CPU beyond 64 keys; with the copy, at no length up to 8,192."
        in page_text(test)
    )
    assert "Why the copy costs" not in page_text(test), "whose keys and values stay on the GPU"


def test_the_break_even_comes_back_after_a_visit_to_the_published_sizes(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    test = run()
    sizes_menu(test).set_value("Published sizes, 2-core CPU").run()
    assert test.query_params["picture"] == "time"
    sizes_menu(test).set_value("16 heads of 64, 16-core CPU").run()
    assert dict(test.query_params) == {} and test.segmented_control(key="timing_other_chart").value == "break-even"


def test_of_several_ticked_values_the_break_even_draws_one_combination_and_says_which(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    told = page_text(run({"masks": "full,causal", "dtypes": "float32,bfloat16", "chart": "break-even"}))
    assert "Settings: full mask, float32, forward." in told
    assert "*Break-even* draws one combination of the selected values." in told
    assert "*Break-even* draws one mask and precision; the other charts compare several." in told


def test_beside_a_break_even_only_values_are_offered_of_which_one_was_recorded(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    hint, every = "*Break-even* draws one mask and precision", ["float32", "bfloat16", "float16"]
    test = run()
    assert test.button_group(key="sweep_dtypes").options == ["float32", "bfloat16"] and hint in page_text(test)
    test.segmented_control(key="timing_other_chart").set_value("time").run()
    assert test.button_group(key="sweep_dtypes").options == every and hint not in page_text(test)
    test = run({"v": "4", "dtypes": "float16"})
    assert test.button_group(key="sweep_dtypes").options == every and hint not in page_text(test), "none was recorded"
    test.button_group(key="sweep_dtypes").set_value(["float32", "float16"]).run()
    assert test.button_group(key="sweep_dtypes").value == ["float32"] and hint in page_text(test)
    assert test.segmented_control(key="timing_other_chart").value == "break-even" and not test.exception


def test_a_break_even_has_a_choice_of_lines_only_where_lines_were_selected(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    test = run({"d_heads": "128", "v": "4"})
    assert test.segmented_control(key="timing_chart").value == "break-even"
    assert not [each for each in test.multiselect if each.key == "timing_lines_Implementation"]
    test.segmented_control(key="timing_chart").set_value("time").run()
    test.multiselect(key="timing_lines_Implementation").set_value(["SDPA"]).run()
    test.segmented_control(key="timing_chart").set_value("break-even").run()
    assert test.multiselect(key="timing_lines_Implementation").value == ["SDPA"] and not test.exception


def test_the_terms_below_the_break_even_are_those_that_it_uses(monkeypatch):
    shipped = shipped_recordings()
    monkeypatch.setattr("attention.ui.results.timing.shipped_timings", lambda: shipped)
    times = {"v": "4", "masks": "causal", "chart": "time"}
    for query, is_crossing in (({}, True), ({"v": "4", "masks": "causal"}, True), (times, False)):
        (shown,) = (each.proto.body for each in run(query).get("html") if "Terms: " in each.proto.body)
        assert ">SDPA<" in shown and ">FLOP<" not in shown
        assert [f">{name}<" in shown for name in ("bus", "pinned memory", "fused kernel")] == [
            is_crossing, is_crossing, not is_crossing,
        ]  # fmt: skip


@pytest.mark.parametrize("sizes", [name for name in OFFERED if name not in ("Published sizes, 2-core CPU",)])
def test_each_size_with_a_cpu_and_a_gpu_has_a_break_even_of_its_own_times(sizes):
    sweep = Timed(**OFFERED[sizes]).sweep
    timings = [timing for timing in shipped_recordings() if is_like(timing, sweep)]
    drawn = pair(timings)
    found = of_pair(drawn)
    assert found and len({comparison.setting(timing) for timing in drawn}) == 1
    cpu, gpu = ({t.length: t for t in drawn if (t.device == "cpu") is of_cpu} for of_cpu in (True, False))
    assert cpu.keys() == gpu.keys() and all(timing.transfer for timing in gpu.values())
    ratios = {n: cpu[n].seconds / (gpu[n].seconds + gpu[n].transfer) for n in cpu}
    last, stable = found.longest.length, [n for n in cpu if cpu[n].settled and gpu[n].settled]
    assert last == max(stable, default=max(cpu))
    longer = 1 / ratios[last]
    taken = times(longer) if stable else f"roughly {times(float(f'{longer:.2g}'))}"
    assert found.times_as_long(last) == (taken if longer > 1 else "")
    crossed = min(ratios.values()) < 1 < max(ratios.values())
    assert found.meeting(True) is not None or not crossed or found.moved.length is None
    drawn_chart = json.loads(charts.figure(found).to_json())
    title = drawn_chart["layout"]["xaxis"]["title"]["text"]
    assert title == ("keys (length in tokens)" if found.longest.queries else "length of the text (tokens)")


def test_a_machine_that_was_measured_here_is_compared_before_recorded_ones():
    gpu = [make_timing(n, 1e-4, **GPU, to_device=1e-3, source="x.json") for n in LENGTHS]
    recorded = [make_timing(n, 1e-2, source="x.json") for n in LENGTHS]
    mine = [make_timing(n, 1e-2, device_name="Own CPU", settled=False) for n in LENGTHS]
    assert {timing.device_name for timing in pair([*recorded, *mine, *gpu]) if timing.device == "cpu"} == {"Own CPU"}


def test_sizes_without_a_gpu_or_with_one_common_length_have_no_break_even():
    assert pair([make_timing(n, 1.0) for n in LENGTHS]) == [] and of_pair([]) is None
    assert pair([make_timing(64, 1.0), *(make_timing(n, 1.0, **GPU, to_device=1.0) for n in LENGTHS)]) == []
    assert pair([make_timing(n, 1.0, **side) for n in LENGTHS for side in ({}, GPU)]) == [], "without a copy"


def test_a_link_from_before_opens_the_times_at_published_sizes():
    assert TIMED.from_query({"d_head": "128"})[0].picture == TIMED.from_query({"v": "2"})[0].picture == "time"
    assert TIMED.from_query({})[0].picture == TIMED.from_query({"v": "3"})[0].picture == "break-even"


def test_the_caption_names_the_settings_of_what_is_drawn():
    assert settings_text(Sweep().cases(["cpu"], ["SDPA"])) == "Settings: full mask, float32, forward."
    drawn = [make_timing(64, 1.0), make_timing(64, 1.0, mask="causal")]
    assert settings_text(drawn).startswith("Settings: full and causal mask, ")


@pytest.mark.parametrize(
    ("sizes", "cores"), [(n, re.sub(".*, |-core CPU", "", n)) for n in OFFERED if n != "Published sizes, 2-core CPU"]
)
def test_the_name_of_sizes_has_the_cores_of_their_recorded_cpu(sizes, cores):
    sweep = Timed(**OFFERED[sizes]).sweep
    cpus = {t.device_name for t in shipped_recordings() if is_like(t, sweep) and t.device == "cpu"}
    assert cpus and all(f", {cores} cores" in name for name in cpus)

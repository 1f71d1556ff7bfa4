"""CPU against GPU: its lines, its ratios, its words and its looks, on made-up timings and published figures."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import plotly.graph_objects as go
import pytest

from attention.charts import cpu_gpu as charts
from attention.charts import line_ends, series_look, timing_look
from attention.charts.open_marks import GROUP
from attention.settings import ConfigError
from attention.timing import cpu_gpu_series, cpu_gpu_summary, recordings
from attention.timing.cpu_gpu_series import MEASURED, PUBLISHED, RECORDED
from attention.timing.cpu_gpu_settings import TIMED, VERSUS, CpuGpuSettings, Timed
from attention.timing.recordings import read_recording, write_recording
from tests.samples import sample
from tests.test_house import contrast
from tests.timings import GPU, make_timing

SHIPPED = recordings.shipped_recordings()
LENGTHS = (512, 1024, 2048, 4096)
SIZES = {"heads": 32, "d_head": 64, "mask": "causal", "tokens": 16_384}


def timed_series(seconds: float = 1.0, **more) -> list[recordings.Timing]:
    """A line at the papers' setting, whose time is so many seconds at 512 tokens and grows with the length."""
    return [make_timing(n, seconds * n / 512, 0.01, batch=16_384 // n, **(SIZES | more)) for n in LENGTHS]


def recorded_series(*timings: recordings.Timing) -> list[recordings.Timing]:
    return read_recording(write_recording(timings), "far.json")


CPU = timed_series()
CARD = timed_series(0.001, dtype="bfloat16", to_device=0.01, from_device=0.005, **GPU)


def answer_text(versus: CpuGpuSettings, timings: list[recordings.Timing]) -> str:
    return cpu_gpu_summary.answer(cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings), versus)


def annotation_texts(versus: CpuGpuSettings, timings: list[recordings.Timing]) -> list[str]:
    """What is written into the picture, as words."""
    figure = charts.figure(versus, cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings))
    found = json.loads(figure.to_json())["layout"].get("annotations", ())
    return [each["text"].replace("<br>", " ") for each in found]


def traces(versus: CpuGpuSettings, timings: list[recordings.Timing]) -> list[dict]:
    figure = charts.figure(versus, cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings))
    found = [trace for trace in json.loads(figure.to_json())["data"] if trace.get("name")]
    return [trace | {"name": trace["name"].replace("<br>", " ")} for trace in found]


def test_the_answer_has_the_ratio_its_parts_and_the_numbers_of_both():
    # 8 s on the CPU; 2.749e11 operations at 420e12 a second; 4 · 16,384 · 2,048 · 2 bytes at 25 GB/s
    alone, moved = 8.0 / 6.5447e-4, 8.0 / (6.5447e-4 + 268_435_456 / 25e9)
    said = answer_text(CpuGpuSettings(), CPU)
    assert "At 4,096 tokens, causal, d_head 64, an H100 (float16, FlashAttention-3, published)" in said
    assert (
        round(alone, -3) == 12_000
        and "12,000 times as fast as this CPU (Test CPU, 2 cores, 2 threads; float32, SDPA, " in said
    )
    assert "measured here 2026-01-31): 0.654 ms against 8 s for a forward pass." in said
    assert "(PCIe 4.0 x16, assumed: 25 GB/s)" in said and f"it is {moved:.0f} times as fast" in said
    assert said.endswith("The GPU is faster at every common length: 512 to 4,096 tokens.")


CHOICES = product(
    ("time", "times faster"),
    ("causal", "full"),
    ("64", "128"),
    ("forward", "forward + backward"),
    ("float32", "bfloat16"),
)


def is_diagonal(_: str, mask: str, d_head: str, work: str, dtype: str) -> bool:
    """Both pictures of four choices in which each value of each knob is met twice."""
    return (mask == "causal") == (d_head == "64") and (work == "forward") == (dtype == "float32")


def test_a_ratio_has_two_digits_and_three_below_a_thousand():
    said = {0.123: "0.12", 9.96: "10", 43.2: "43", 99.7: "100", 999.4: "999", 1234: "1,200", 56789: "57,000"}
    assert {ratio: cpu_gpu_summary.times(ratio) for ratio in said} == said


def test_the_note_of_a_ratio_is_between_two_lines():
    figure = go.Figure()
    for height in (1e-4, 1e-2, 6e-2):
        figure.add_scatter(x=[512, 4096], y=[height, height])
    at = charts._widest_gap(figure, 4096, 1e-4, 1.0)
    assert at == pytest.approx(-3)  # the middle of 1e-4 and 1e-2


def test_the_rate_of_a_point_is_written_as_it_is_drawn():
    drawn = [trace for trace in traces(CpuGpuSettings(picture="limits"), [*CPU, *CARD]) if "customdata" in trace]
    pairs = [(rate, text) for trace in drawn for rate, (_, text) in zip(trace["y"], trace["customdata"], strict=True)]
    assert pairs
    for rate, text in pairs:
        written = re.search(r"([\d.,]+) TFLOP/s", text)
        assert written and float(written[1].replace(",", "")) * 1e12 == pytest.approx(rate, rel=1e-3)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("picture", "mask", "d_head", "work", "dtype"), sample(CHOICES, is_diagonal))
def test_every_ratio_names_the_numbers_of_both(picture, mask, d_head, work, dtype):
    versus = CpuGpuSettings(mask=mask, d_head=d_head, work=work, cpu_dtype=dtype, picture=picture)
    sizes = {"heads": 2048 // int(d_head), "d_head": int(d_head), "mask": mask, "passes": work, "dtype": dtype}
    timings = [*timed_series(**sizes), *timed_series(1e-3, **sizes, **GPU)]
    cpu, gpus = cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings)
    mine = rf"is .* CPU \(.*; {dtype}, SDPA, measured here"
    assert re.search(rf"\({dtype}, SDPA, measured here \S+\) {mine}", answer_text(versus, timings))
    assert re.search(rf"\(float16, Flash.*, published\) {mine}", answer_text(versus, timings[:4]))
    table = cpu_gpu_summary.columns(cpu, gpus)
    for ratio, numbers in zip(table["times as fast as the CPU"], table["precisions"], strict=True):
        assert (ratio is None) == (numbers == "")
        assert not numbers or re.fullmatch(rf"(float16|{dtype}) against {dtype}", numbers)
    for some in (timings, timings[:4]):
        written = [text for text in annotation_texts(versus, some) if "times" in text]
        assert len(written) == (picture == "time")
        assert all(re.fullmatch(rf"[\d,.]+ times (float16|{dtype}) against {dtype}", text) for text in written)
    for trace in traces(versus, timings) if picture == "times faster" else ():
        assert re.search(rf"(float16|{dtype}), .*, against {dtype} on the CPU", trace["name"])
        assert all(
            re.search(rf"(float16|bfloat16|{dtype}) against {dtype}", text.replace("<br>", " "))
            for _, text in trace["customdata"]
        )


def test_what_was_measured_goes_before_what_was_recorded_and_that_before_what_was_published():
    versus, far = CpuGpuSettings(), recorded_series(*timed_series(2.0, device_name="Far CPU"), *CARD)
    assert cpu_gpu_series.cpu(versus, [*far, *CPU]).kind == MEASURED
    assert cpu_gpu_series.cpu(versus, far).kind == RECORDED
    near = [replace(timing, device_name="Near GPU") for timing in CARD]
    every = replace(versus, lines="all")
    assert [gpu.kind for gpu in cpu_gpu_series.gpus(every, [*far, *near])] == [MEASURED, RECORDED, PUBLISHED]
    assert [gpu.kind for gpu in cpu_gpu_series.gpus(versus, [*far, *near])] == [MEASURED, RECORDED]
    assert "a Test GPU (bfloat16, SDPA, recorded 2026-01-31" in answer_text(versus, far)


def test_a_gpu_recording_that_ships_comes_before_what_was_published(tmp_path, monkeypatch):
    monkeypatch.setattr("attention.timing.recordings.files.HERE", tmp_path)
    (tmp_path / "card.json").write_text(write_recording([*CPU, *CARD]))
    shipped = recordings.shipped_recordings()
    first, *others = cpu_gpu_series.gpus(CpuGpuSettings(lines="all"), shipped)
    assert (first.kind, first.device) == (RECORDED, "Test GPU")
    assert {other.kind for other in others} == {PUBLISHED}
    assert "1,000 times as fast" in answer_text(CpuGpuSettings(), shipped)
    assert "the GPU and back (as measured), it is 348 times as fast" in answer_text(CpuGpuSettings(), shipped)


def test_only_what_has_the_papers_sizes_is_compared():
    for other in ({"heads": 8}, {"mask": "full"}, {"passes": "forward + backward"}, {"batch": 1}):
        wrong = [replace(timing, **other) for timing in CPU]
        assert (
            cpu_gpu_series.cpu(
                CpuGpuSettings(),
                [each for each in wrong if each.batch * each.length != 16_384 or other != {"batch": 1}],
            )
            is None
        )
    assert cpu_gpu_series.cpu(CpuGpuSettings(), timed_series(implementation="SDPA math")) is None
    assert cpu_gpu_series.cpu(CpuGpuSettings(cpu_dtype="bfloat16"), CPU) is None


def test_rates_of_every_line_are_by_the_papers_count():
    point = cpu_gpu_series.cpu(CpuGpuSettings(), CPU).at(512)
    assert point.rate == pytest.approx(4 * 512**2 * 64 * 32 * 32 / 2 / 1.0)
    gpu = cpu_gpu_series.gpus(CpuGpuSettings(), [])[0]
    assert gpu.at(512).rate == 197e12


def test_what_was_timed_with_other_sizes_has_rates_and_no_ratio():
    versus = CpuGpuSettings(d_head="128", picture="rate", lines="all")
    sizes = {"heads": 16, "d_head": 128}
    cpu, gpus = cpu_gpu_series.cpu(versus, timed_series(**sizes)), cpu_gpu_series.gpus(versus, timed_series(**sizes))
    (apart,) = (gpu for gpu in gpus if gpu.device == "H200")
    assert cpu_gpu_summary.ratios(cpu, apart) == [] and apart.at(4096) is None
    assert {point.rate for point in apart.points} == {484e12, 591e12, 644e12, 673e12, 688e12}
    assert any("H200" in trace["name"] for trace in traces(versus, timed_series(**sizes)))
    for picture in ("time", "times faster"):
        assert not any(
            "H200" in trace["name"] for trace in traces(replace(versus, picture=picture), timed_series(**sizes))
        )
    only = replace(versus, gpus=("H200",))
    assert "Select Rate" in answer_text(only, timed_series(**sizes))


def test_where_the_gpu_does_not_pay_is_said_by_length_and_of_no_others():
    slow = timed_series(5e-4)
    assert "slower" not in answer_text(CpuGpuSettings(), CPU)
    assert "; including the copy, not at 512, 1,024, 2,048 and 4,096 tokens" in answer_text(CpuGpuSettings(), slow)
    assert "The GPU is faster at every common length (512 to 4,096 tokens)" in answer_text(CpuGpuSettings(), slow)


@pytest.mark.parametrize(
    ("factor", "said"), [(1.02, "takes about as long"), (0.5, "is 2 times as fast"), (3, "takes 3 times as long")]
)
def test_beside_a_gpu_in_half_precision_a_float32_cpu_says_what_half_precision_would_do_to_it(factor, said):
    versus, timings = CpuGpuSettings(), [*CPU, *CARD, *timed_series(factor, dtype="bfloat16")]
    cpu, gpus = cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings)
    assert cpu_gpu_summary.other_precision(cpu, gpus, versus, timings) == f"In bfloat16 the CPU {said} as in float32."
    assert cpu_gpu_summary.other_precision(cpu, gpus, versus, [*CPU, *CARD]) == ""


def test_a_crossing_comes_from_timings_alone():
    assert "A recording of shorter lengths shows it" in cpu_gpu_summary.crossing(CpuGpuSettings(), CPU)
    flat = {"device": "cuda:0", "device_name": "Test GPU", "median": 2.0, "lower": 1.9, "upper": 2.1}
    cpu, gpu = timed_series(), [replace(timing, **flat) for timing in timed_series()]
    said = cpu_gpu_summary.crossing(CpuGpuSettings(), [*cpu, *gpu])
    assert "faster from about 1,000 tokens on" in said and "published" not in said and "Of other sizes" not in said
    small = [replace(timing, batch=1, heads=8, tokens=0) for timing in [*cpu, *gpu]]
    said = cpu_gpu_summary.crossing(CpuGpuSettings(), small)
    assert said.startswith("Of other sizes (batch 1, 8 heads, d_head 64): SDPA · Test GPU against Test CPU")
    assert "faster from about 1,000 tokens on" in said
    assert cpu_gpu_summary.crossing(CpuGpuSettings(mask="full"), small) == cpu_gpu_summary.NOT_KNOWN


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("H100", "an H100"),
        ("T4", "a T4"),
        ("NVIDIA A100", "an NVIDIA"),
        ("Apple M4", "an Apple"),
        ("Radeon 9", "a Radeon"),
        ("RTX 4090", "an RTX"),
    ],
)
def test_a_gpu_has_its_article(name, said):
    gpu = [replace(timing, device_name=name) for timing in CARD]
    assert f", {said}" in answer_text(CpuGpuSettings(), [*CPU, *gpu])


def test_without_a_cpu_the_page_says_what_to_do():
    said = answer_text(CpuGpuSettings(), [])
    assert said.startswith("No CPU timing yet for this setting (float32, forward, causal, d_head 64).")
    assert "Measure here" in said
    assert "There are no published figures of these GPUs" in answer_text(CpuGpuSettings(gpus=("T4",)), CPU)


@pytest.mark.parametrize("picture", ["time", "times faster", "rate", "limits"])
def test_a_device_has_its_colour_and_mark_and_what_was_published_looks_like_nothing_that_was_timed(picture):
    versus = CpuGpuSettings(picture=picture, d_head="64", lines="all")
    here, far = [*CPU, *CARD], recorded_series(*CPU, *CARD)
    for timings, kind, cpu_style in ((here, MEASURED, timing_look.THIS_CPU), (far, RECORDED, timing_look.CPU)):
        lines = [trace for trace in traces(versus, timings) if "limit" not in trace["name"]]
        thin = {f"{mark}-open" for mark in series_look.THIN}
        published = [trace for trace in lines if set(trace["marker"]["symbol"]) <= thin]
        others = [trace for trace in lines if trace not in published]
        assert published and others
        assert {trace["line"]["dash"] for trace in published} <= {"dot", series_look.COPIED}
        assert {trace["line"]["dash"] for trace in others} == {"solid"}
        assert all(kind in trace["name"] or "with copy" in trace["name"] for trace in others)
        styles = {(trace["line"]["color"], *set(trace["marker"]["symbol"])) for trace in others}
        cpu = {cpu_style} if picture != "times faster" else set()
        copied = {timing_look.COPY} if picture in ("time", "times faster") else set()
        assert styles == {timing_look.GPU, *cpu, *copied}
        symbols = {each for trace in published for each in trace["marker"]["symbol"]}
        assert not symbols & set(timing_look.SYMBOLS)


def test_colours_of_what_was_published_are_seen_on_both_grounds():
    for color in timing_look.SHEETS.values():
        assert contrast(color, "#ffffff") >= 3 and contrast(color, "#14171c") >= 3
        assert color not in {*timing_look.OTHERS, *(style for style, _ in timing_look.STYLES)}


def test_a_label_that_was_read_through_a_legend_says_so_beside_the_pointer_and_in_the_table():
    versus = CpuGpuSettings(mask="full", d_head="128", method="FlashAttention-3", gpus=("H100",), transfer="without")
    (line,) = (trace for trace in traces(versus, []) if "H100" in trace["name"])
    said = {length: "read through a legend *" in text.replace("<br>", " ") for length, text in line["customdata"]}
    assert said == {"512": False, "1,024": True, "2,048": False, "4,096": False, "8,192": False, "16,384": False}
    table = cpu_gpu_summary.columns(None, cpu_gpu_series.gpus(versus, []))
    assert table["note"] == ["", "read through a legend", "", "", "", ""]
    assert all("arXiv 2407.08608" in place for place in table["source"])


def test_what_ran_out_of_memory_stands_in_the_table():
    table = cpu_gpu_summary.columns(None, cpu_gpu_series.gpus(CpuGpuSettings(method="standard attention"), []))
    assert (table["tokens"][-1], table["note"][-1], table["ms"][-1]) == (16_384, "ran out of memory", None)


def test_the_way_there_and_back_is_as_long_as_its_bytes_take():
    for bus, speed in (("PCIe 3.0 x16", 12.5e9), ("PCIe 4.0 x16", 25e9), ("PCIe 5.0 x16", 50e9)):
        (gpu,) = cpu_gpu_series.gpus(CpuGpuSettings(bus=bus), [])
        assert {point.moved for point in gpu.points} == {4 * 16_384 * 2048 * 2 / speed}
    assert cpu_gpu_series.transferred_bytes("forward + backward") == 6 * 16_384 * 2048 * 2


def test_a_limit_is_called_one_of_a_data_sheet_and_stands_over_what_was_published():
    found = traces(CpuGpuSettings(picture="limits", gpus=("H100", "T4")), [])
    roofs = {trace["name"]: trace for trace in found if "limit" in trace["name"]}
    assert list(roofs) == [
        "H100 SXM5, limit by its data sheet (float16, dense)",
        "T4, limit by its data sheet (float16, dense, not bfloat16)",
    ]
    assert max(roofs["T4, limit by its data sheet (float16, dense, not bfloat16)"]["y"]) == 65e12
    (points,) = (trace for trace in found if "published" in trace["name"])
    # causal forward, 2 bytes: (4 n² w b / 2) / (4 n w b · 2) = n / 4 operations a byte
    assert points["x"] == [n / 4 for n in (512, 1024, 2048, 4096, 8192, 16_384)]
    for x, y in zip(points["x"], points["y"], strict=True):
        assert y < min(989.4e12, 3350e9 * x)


def test_what_did_not_settle_is_an_open_mark_that_no_line_joins_and_the_headline_says_so():
    loose = [replace(CPU[0], settled=False), *CPU[1:3], replace(CPU[3], settled=False)]
    found = traces(CpuGpuSettings(transfer="without"), loose)
    lines = [trace for trace in found if "SDPA" in trace["name"]]
    assert [(trace["mode"], trace["marker"]["symbol"], trace["x"]) for trace in lines] == [
        ("lines+markers", ["triangle-up"] * 2, [1024, 2048]),
        ("markers", ["triangle-up-open"] * 2, [512, 4096]),
    ]
    assert [trace["name"] for trace in found if trace.get("legendgroup") == GROUP] == ["open marks: unstable times"]
    said = [
        cpu_gpu_summary.between(cpu_gpu_series.cpu(CpuGpuSettings(), some), cpu_gpu_series.gpus(CpuGpuSettings(), some))
        for some in (loose, CPU)
    ]
    assert "CPU: Test CPU, 2 cores, 2 threads, SDPA, measured here." in said[0], (
        "a stable time is quoted if there is one"
    )
    assert "At 512 and 4,096 tokens, unstable: the quartiles are 2% of the median apart." in said[0]
    assert "unstable" not in said[1]
    few = [replace(CPU[0], settled=False), *CPU[1:3], replace(CPU[3], settled=False, repeats=2)]
    said = cpu_gpu_summary.between(
        cpu_gpu_series.cpu(CpuGpuSettings(), few), cpu_gpu_series.gpus(CpuGpuSettings(), few)
    )
    assert "At 512 tokens, unstable: the quartiles" in said and "At 4,096 tokens, unstable: timed 2 times," in said
    told = [
        trace["customdata"] for trace in traces(CpuGpuSettings(transfer="without"), few) if trace["x"] == [512, 4096]
    ]
    assert [each[1][1].endswith("<br>unstable: timed 2 times") for each in told] == [True]
    ratios = [
        each
        for each in traces(CpuGpuSettings(picture="times faster", transfer="without"), loose)
        if each["x"] == [512, 4096]
    ]
    assert ratios and all(each["marker"]["symbol"] == ["circle-open"] * 2 for each in ratios)
    unsettled = [replace(each, settled=False) for each in CPU]
    assert "0.654 ms against 8 s (unstable) for a forward pass" in answer_text(CpuGpuSettings(), unsettled)
    assert "512 to 4,096 tokens, with an unstable time at 512 and 4,096 tokens." in answer_text(CpuGpuSettings(), loose)


def test_a_picture_has_every_gpu_that_was_published_at_its_setting_and_the_caption_says_of_what_each_was():
    learns = CpuGpuSettings(work="forward + backward")
    assert [(gpu.device, gpu.method) for gpu in cpu_gpu_series.gpus(CpuGpuSettings(), [])] == [
        ("H100", "FlashAttention-3")
    ]
    assert [(gpu.device, gpu.method) for gpu in cpu_gpu_series.gpus(learns, [])] == [
        ("H100", "FlashAttention-2"),
        ("A100", "FlashAttention-2"),
    ]
    wide = CpuGpuSettings(d_head="128")
    assert [gpu.device for gpu in cpu_gpu_series.gpus(wide, [])] == ["H100"]
    assert {gpu.device for gpu in cpu_gpu_series.gpus(replace(wide, lines="all"), [])} == {"H100", "H200"}
    assert cpu_gpu_summary.published_sentence() == (
        "Published at these sizes: forward of an H100 and forward + backward of an A100 and an H100. Published at other sizes, "
        "as rates only: an H200."
    )


def test_a_method_that_was_not_published_of_the_pass_is_moved_and_said():
    found, notes = TIMED.from_query({"method": "FlashAttention-3", "work": "forward + backward", "lengths": "96"})
    assert (found.method, found.work, found.lengths) == ("fastest", "forward + backward", (96,))
    assert notes == [
        "There are no published figures of FlashAttention-3 for forward + backward; the fastest method is shown."
    ]


def test_a_link_carries_the_picture_beside_the_sweep():
    found = Timed(picture="limits", gpus=("H100", "L4"), bus="PCIe 5.0 x16", tokens=16_384, seconds=20.0)
    assert TIMED.from_query(TIMED.to_query(found)) == (found, [])
    assert TIMED.to_query(Timed()) == {}
    assert (found.sweep.tokens, found.versus.gpus) == (16_384, ("H100", "L4"))
    with pytest.raises(ConfigError, match="bus='ISA' is not one of"):
        Timed(bus="ISA")
    with pytest.raises(ConfigError, match="lengths="):
        Timed(lengths=(1,))


def test_every_knob_explains_itself():
    for name, knob in VERSUS.knobs.items():
        assert knob.label and knob.help.endswith("."), name


@pytest.mark.parametrize("picture", ["time", "times faster", "rate", "limits"])
def test_every_line_has_its_name_at_its_end_and_none_covers_another(picture):
    versus = CpuGpuSettings(picture=picture)
    cpu, gpus = cpu_gpu_series.cpu(versus, SHIPPED), cpu_gpu_series.gpus(versus, SHIPPED)
    figure = charts.figure(versus, cpu, gpus)
    low, high = figure.layout.yaxis.range
    traces: list[Any] = list(figure.data)
    pixels = (figure.layout.height - line_ends.AXIS) / (high - low)
    names = [each for each in figure.layout.annotations if "</span>" in each.text]
    assert {re.sub("<.*> ", "", each.text) for each in names} == {trace.meta for trace in traces if trace.meta}
    places = sorted(pixels * each.y + each.yshift for each in names)
    assert all(after - before >= line_ends.LINE - 2 for before, after in pairwise(places))
    entries = {trace.name for trace in traces if trace.name and trace.showlegend is not False}
    assert all(each.startswith("open marks: ") for each in entries), "a line with a name at its end needs none below"


def test_a_figure_says_at_its_foot_where_its_lines_are_from_and_why_two_copies_differ_is_said_where_both_are_drawn():
    versus = CpuGpuSettings(picture="time", lines="all")
    timings = recorded_series(*CPU, *CARD)
    cpu, gpus = cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings)
    foot = re.sub("<[^>]*>", " ", json.loads(charts.figure(versus, cpu, gpus).to_json())["layout"]["title"]["text"])
    assert (
        "Test GPU, recorded 2026-01-31, torch 2.13.0" in foot
        and "Test CPU, 2 cores, recorded 2026-01-31, torch" in foot
    )
    assert "H100, published: Shah et al. 2024" in " ".join(foot.split())
    assert cpu_gpu_summary.published_copy(gpus, versus) == (
        "Published lines assume a copy at 25 GB/s (PCIe 4.0 x16); that of the timed Test GPU is from and to ordinary memory, "
        "which is not pinned (measured for 268 MB: 20 GB/s to the GPU, 13 GB/s back)."
    )
    assert cpu_gpu_summary.published_copy(gpus[:1], versus) == "", "without published lines"
    assert cpu_gpu_summary.published_copy(gpus, replace(versus, transfer="without")) == ""


def test_more_lines_than_have_room_for_names_keep_their_legend():
    devices = [
        make_timing(n, 1e-3 * n, batch=16_384 // n, **(SIZES | GPU | {"device_name": f"GPU {at}"}))
        for at in range(9)
        for n in LENGTHS
    ]
    versus = CpuGpuSettings()
    figure = charts.figure(versus, cpu_gpu_series.cpu(versus, CPU), cpu_gpu_series.gpus(versus, [*CPU, *devices]))
    assert not any("</span>" in each.text for each in figure.layout.annotations)
    traces: list[Any] = list(figure.data)
    assert sum(trace.showlegend is not False for trace in traces if trace.meta) >= 9

"""Charts of timings: what is drawn, and that what was recorded says so."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from math import log10

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from attention.charts import timing_look
from attention.charts import timings as charts
from attention.charts.timing_marks import HEIGHT
from attention.timing import comparison, cpu_gpu_series, result_table
from attention.timing.convergence import disturbance_sentences
from attention.timing.growth import growth
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.line_choice import usual_lines
from attention.timing.recordings import lines, read_recording, write_recording
from attention.timing.recordings.timing import BROWSER, WEBGPU
from attention.timing.webgpu.results import MATERIALISED
from attention.ui.views import timing_notes
from tests.samples import examples
from tests.test_house import contrast
from tests.timings import GPU, failed_timing, line, lowest, make_timing

LENGTHS = [64, 128, 256, 512]
CPU = line(LENGTHS, [0.001, 0.004, 0.016, 0.064], 0.04, peak_bytes=2**24)
CARD = line(LENGTHS, [0.005, 0.005, 0.005, 0.005], 0.04, to_device=0.001, from_device=0.002, peak_bytes=2**22, **GPU)
FAR = read_recording(write_recording(CARD), "gpu.json")
RECORDED = "SDPA · Test GPU, recorded 2026-01-31 (gpu.json)"


def traces(figure) -> list[dict]:
    """The traces, their names in one line."""
    found = json.loads(figure.to_json())["data"]
    return [trace | {"name": trace["name"].replace("<br>", " ")} for trace in found]


def numbers(values: list) -> list:
    return [round(value, 9) for value in values]


def sources(figure) -> str:
    """What a figure says about where it was measured: at its foot, or above its legend."""
    layout = json.loads(figure.to_json())["layout"]
    said = layout.get("legend", {}).get("title", {}).get("text", "") + layout.get("title", {}).get("text", "")
    return " ".join(re.sub(r"<[^>]*>", " ", said).split()).replace(" :", ":")


def ends(figure) -> list[str]:
    """The names at the ends of the lines of a figure."""
    notes = json.loads(figure.to_json())["layout"].get("annotations", [])
    return [note["text"].partition("</span> ")[2] for note in notes if "</span>" in note["text"]]


@pytest.mark.parametrize("name", charts.CHARTS)
def test_no_recorded_line_is_drawn_without_its_device_and_the_figure_says_that_it_was_recorded(name):
    figure = charts.CHARTS[name]([*CPU, *FAR])
    far = {timing.median for timing in FAR}
    drawn = traces(figure)
    assert "Test GPU, recorded 2026-01-31" in sources(figure)
    assert any(RECORDED in json.dumps(trace, ensure_ascii=False).replace("<br>", " ") for trace in drawn)
    if name == "transfer":
        titles = [note["text"].replace("<br>", " ") for note in json.loads(figure.to_json())["layout"]["annotations"]]
        assert [title for title in titles if "copy" not in title] == ["SDPA, Test GPU"]
        assert all(RECORDED in trace["hovertemplate"].replace("<br>", " ") for trace in drawn)
    for trace in drawn:
        ys = trace["y"] if isinstance(trace["y"], list) else []
        if name == "time" and far & set(ys):
            assert trace["name"] == "SDPA, Test GPU"


def test_few_lines_are_named_at_their_ends_and_the_machine_is_said_once():
    other = [replace(timing, implementation="SDPA math") for timing in FAR]
    figure = charts.seconds([*FAR, *other])
    assert sorted(ends(figure)) == ["SDPA", "SDPA math"]
    assert not [trace for trace in traces(figure) if trace.get("showlegend") is not False]
    assert sources(figure).count("Test GPU, recorded 2026-01-31, torch 2.13.0") == 1


@pytest.mark.parametrize("name", ["time", "speed-up", "roofline", "memory"])
def test_of_many_lines_those_keep_their_look_with_which_a_chart_begins_and_the_others_are_pale(name):
    names = list(IMPLEMENTATIONS)[:9]
    slow = {implementation: 1 + at for at, implementation in enumerate(names)}
    many = [
        replace(timing, implementation=each, median=timing.median * slow[each], peak_bytes=2**24)
        for timing in (*CPU, *FAR)
        for each in names
    ]
    begun, every = usual_lines(many, name, 7), charts.CHARTS[name](many)
    few = charts.CHARTS[name](begun)

    def looks(figure) -> set[tuple]:
        drawn = [trace for trace in traces(figure) if "customdata" in trace and trace.get("meta")]
        return {(trace["meta"].split(",")[0], trace["line"]["color"], trace["marker"]["symbol"]) for trace in drawn}

    assert looks(few) <= looks(every)
    named = looks(every) - looks(few)
    if name == "time":  # the slowest of each machine is named as well
        assert [each for each, _, _ in named] == [names[-1]] * 2
    else:
        assert not named
    pale = [trace for trace in traces(every) if "customdata" in trace and not trace.get("meta")]
    assert pale and all(trace["zorder"] == -1 and trace["line"]["color"].startswith("rgba") for trace in pale)
    assert all(any(each in trace["hovertemplate"] for each in names) for trace in pale)
    assert not any(trace.get("showlegend") for trace in pale)  # not in a legend either


@pytest.mark.parametrize(("apart", "in_legend"), [(1.05, True), (10.0, False)])
def test_lines_too_close_for_their_names_have_a_legend(apart, in_legend):
    names = list(IMPLEMENTATIONS)[:4]
    close = [
        replace(timing, implementation=each, median=timing.median * apart**at)
        for at, each in enumerate(names)
        for timing in CPU
    ]
    drawn = [trace for trace in traces(charts.seconds(close)) if trace.get("meta")]
    assert {trace["meta"] for trace in drawn if trace.get("showlegend") is not False} == (
        set(names) if in_legend else set()
    )


def test_an_implementation_has_one_look_whatever_is_drawn_beside_it():
    names = ("SDPA", "core with weights", "matmul softmax matmul")
    every = [
        make_timing(n, 1.0, implementation=name, **side) for n in (64, 128) for name in names for side in ({}, GPU)
    ]
    look = timing_look.Look.of(every)
    few = [timing for timing in every if timing.device != "cpu" and timing.implementation in names[::2]]
    alone = timing_look.Look.of(few)
    assert [(look.color(t), look.shape(t)) for t in few] == [(alone.color(t), alone.shape(t)) for t in few]


def test_two_machines_of_one_name_are_told_apart():
    again = read_recording(write_recording(CARD), "other.json")
    figure = charts.seconds([*FAR, *again])
    assert not ends(figure), "the names are wider than a phone"
    assert len({trace["line"]["color"] for trace in traces(figure) if trace["line"].get("color")}) == 2
    assert "(gpu.json)" in sources(figure) and "(other.json)" in sources(figure)


def test_no_two_names_at_the_ends_of_lines_cover_each_other():
    timings = [t for name in list(IMPLEMENTATIONS)[:5] for t in line(LENGTHS, [0.001] * 4, implementation=name)]
    figure = charts.seconds(timings, lengths=[*LENGTHS, 2048])
    notes = [note for note in json.loads(figure.to_json())["layout"]["annotations"] if "</span>" in note["text"]]
    places = sorted((note["x"], note["yshift"] or -note["ay"]) for note in notes)
    assert len(notes) == 5 and all(b - a >= 13 for (x, a), (other, b) in itertools.pairwise(places) if x == other)


ALIKE = {"heads": [1, 128], "d_head": [1, 512], "batch": [1, 1024], "passes": ["forward", "forward + backward"]}
ENDS = {  # of what else a recording may say
    "median": [1e-12, 1e9], "to_device": [0.0, 1e30], "from_device": [0.0, 1e30], "peak_bytes": [0, 2**53, None],
    "operations": [0.0, 1e30], "traffic": [0.0, 1e30], "peak_operations": [1.0, 1e30, None],
    "peak_traffic": [1.0, 1e30, None], "first": [0.0, 1e30], "repeats": [1, 2**53], "threads": [1, 2**53],
    "quickest": [None, 1e-12], "repeated": [None], "visits": [2**53], "quiet": [0, 2**53],
}  # fmt: skip
POINTS = list(itertools.product(("cpu", "cuda:0"), (1, 2**20)))


def any_of(of: dict[str, list]) -> st.SearchStrategy:
    return st.fixed_dictionaries({name: st.sampled_from(values) for name, values in of.items()})


@settings(deadline=None, max_examples=examples(60))
@given(any_of(ALIKE), st.lists(any_of(ENDS), min_size=4, max_size=4))
def test_a_recording_at_the_ends_of_what_is_allowed_is_drawn_and_described(alike, points):
    cases = [
        make_timing(device=device, length=length, **alike, **point)
        for (device, length), point in zip(POINTS, points, strict=True)
    ]
    found = read_recording(write_recording(cases), "gpu.json")
    for chart in charts.CHARTS.values():
        chart(found).to_json()
    for describe in (
        comparison.crossovers,
        result_table.columns,
        comparison.busy,
        comparison.slowdowns,
        disturbance_sentences,
    ):
        describe(found)
    for line_ in lines(found).values():
        growth(line_)


@pytest.mark.parametrize("name", charts.CHARTS)
def test_what_was_measured_here_is_not_called_recorded(name):
    assert "recorded" not in charts.CHARTS[name]([*CPU, *CARD]).to_json()


@pytest.mark.parametrize("name", charts.CHARTS)
@pytest.mark.parametrize(
    "timings", [[], [failed_timing()], [make_timing(peak_operations=None, peak_traffic=None, peak_bytes=None)]]
)
def test_every_chart_is_a_figure_also_of_little_or_nothing(name, timings):
    assert json.loads(charts.CHARTS[name](timings).to_json())["layout"]["height"] >= HEIGHT


@pytest.mark.parametrize("name", charts.CHARTS)
@pytest.mark.parametrize("kind", [{}, GPU])
def test_a_length_without_a_time_on_one_device_leaves_the_others_drawn(name, kind):
    failed = failed_timing(1024, "over the time budget: about 2 s a call, 1 s were left", **kind)
    said = json.loads(charts.CHARTS[name]([*CPU, *CARD, failed]).to_json())["data"]
    assert len(said) >= len(json.loads(charts.CHARTS[name]([*CPU, *CARD]).to_json())["data"]) > 0


def test_time_is_the_quickest_in_a_band_up_to_the_upper_quartile():
    band, middle = traces(charts.seconds([lowest(64, 1.0, load=3.0), lowest(128, 2.0, load=9.0)]))
    assert (middle["x"], middle["y"]) == ([64, 128], [1.0, 2.0])
    assert (band["x"], band["y"]) == ([64, 128, 128, 64], [3.0, 18.0, 2.0, 1.0])
    assert band["name"] == middle["name"]
    assert middle["customdata"] == [["64", "1 s"], ["128", "2 s"]], "the table has the rest"


def test_of_a_recording_of_before_it_is_the_median_in_the_band_of_its_quartiles():
    band, middle = traces(charts.seconds(CPU))
    assert middle["y"] == [0.001, 0.004, 0.016, 0.064]
    assert middle["x"] == LENGTHS
    assert band["x"] == [*LENGTHS, *reversed(LENGTHS)]
    assert numbers(band["y"]) == numbers([timing.upper for timing in CPU] + [timing.lower for timing in reversed(CPU)])
    assert "quickest" not in middle["customdata"][0][1]


def test_axes_are_fixed_by_the_lengths_that_are_still_to_come():
    layout = json.loads(charts.seconds(CPU[:1], lengths=LENGTHS).to_json())["layout"]
    assert layout["xaxis"]["tickvals"] == LENGTHS
    assert layout["xaxis"]["range"] == pytest.approx([log10(64) - 0.1, log10(512) + 0.1])
    assert layout["yaxis"]["type"] == "log"


def notes_without_names(figure) -> list[dict]:
    return [note for note in json.loads(figure.to_json())["layout"]["annotations"] if "</span>" not in note["text"]]


def test_what_ran_out_of_memory_is_named_at_its_length():
    lacking = [failed_timing(1024), failed_timing(1024, implementation="SDPA math")]
    (note,) = notes_without_names(charts.seconds([*CPU, *lacking]))
    assert (note["text"], note["x"]) == ("2 out of memory", pytest.approx(log10(1024)))
    assert note["hovertext"].count("SDPA math") == 1


def test_where_the_materialised_kernel_of_a_browser_ends_is_named_once():
    browser = {"device": WEBGPU, "source": BROWSER, "implementation": MATERIALISED}
    materialised = [failed_timing(n, f"out of memory: {n} MiB", **browser) for n in (512, 1024)]
    (note,) = notes_without_names(charts.seconds([*CPU, *materialised]))
    assert (note["text"], note["x"]) == ("materialised ends", pytest.approx(log10(512)))
    assert note["hovertext"].endswith("out of memory: 512 MiB")


def test_speed_up_is_drawn_with_its_crossover():
    figure = charts.speed_up([*CPU, *CARD])
    band, middle, star = traces(figure)
    assert numbers(middle["y"]) == [0.2, 0.8, 3.2, 12.8]
    assert middle["name"] == "SDPA"
    assert middle["hovertemplate"].startswith("SDPA<br>")
    assert min(band["y"]) == pytest.approx(0.2 * 0.96 / 1.04)
    assert star["marker"]["symbol"] == "star"
    assert star["x"][0] == pytest.approx(128 * 2 ** (log10(1.25) / log10(4)))
    assert middle["customdata"][0][1].replace("<br>", " ") == ("0.2 times as fast as the CPU (0.185 to 0.217)")
    later = traces(charts.speed_up([*CPU, *CARD], transfer=True))[-1]
    assert later["x"][0] == pytest.approx(128 * 2 ** (log10(2) / log10(4)))


def test_implementations_are_drawn_against_one_of_them():
    slow = line(LENGTHS, [1.0] * 4, implementation="matmul softmax matmul")
    figure = charts.speed_up([*slow, *line(LENGTHS, [2.0, 0.5, 0.25, 0.1])], against="matmul softmax matmul")
    _, middle, star = traces(figure)
    assert (middle["name"], numbers(middle["y"])) == ("SDPA", [0.5, 2, 4, 10])
    assert star["x"][0] == pytest.approx(64 * 2**0.5)
    assert figure.layout.yaxis.title.text == "times as fast as matmul softmax matmul"
    assert (
        middle["customdata"][1][1].replace("<br>", " ").startswith("2 times as fast as matmul softmax matmul (2 to 2)")
    )


def test_a_recorded_cpu_as_base_says_so_too():
    cpu = read_recording(write_recording(CPU), "cpu.json")
    figure = charts.speed_up([*cpu, *CARD])
    assert "Test CPU, 2 cores, recorded 2026-01-31" in sources(figure)


def roof_label(trace) -> str:
    return trace["hovertemplate"].replace("<br>", " ").removeprefix("limit: ").partition(" matrix product")[0]


def test_the_roof_is_the_slope_and_the_ceiling():
    roof, points = traces(charts.roofline([make_timing(median=0.01)]))
    assert points["x"] == [100]
    assert points["y"] == [1e11]
    assert roof["x"] == [5, 10, 200]
    assert roof["y"] == [5e11, 1e12, 1e12]
    assert roof["name"] == "limit" and roof_label(roof) == "Test CPU, 2 cores, 2 threads · float32"


def test_memory_stands_beside_one_matrix_a_head():
    points, guide = traces(charts.memory([make_timing(64, peak_bytes=2**24), make_timing(128, peak_bytes=1000)]))
    assert points["y"] == [2**24], "what is under the resolution on a CPU is no measurement"
    assert guide["y"] == [8 * 64**2 * 4, 8 * 128**2 * 4]


def test_where_sizes_and_dtypes_are_mixed_each_has_its_own_matrix():
    half = {"dtype": "bfloat16", "peak_bytes": 2**24}
    here = [
        make_timing(64, peak_bytes=2**24),
        make_timing(64, **half),
        make_timing(64, **half, heads=2),
        make_timing(128, **half, heads=2),
    ]
    guides = {trace["name"]: trace for trace in traces(charts.memory(here)) if "customdata" not in trace}
    assert {name: guide["y"] for name, guide in guides.items()} == {
        "one n x n matrix per head, 8 heads, 4 bytes per number": [8 * 64**2 * 4],
        "one n x n matrix per head, 8 heads, 2 bytes per number": [8 * 64**2 * 2],
        "one n x n matrix per head, 2 heads, 2 bytes per number": [2 * 64**2 * 2, 2 * 128**2 * 2],
    }
    assert len({guide["line"]["dash"] for guide in guides.values()} - {"dash", "solid"}) == 3
    many = [*here, make_timing(64, peak_bytes=2**24, batch=2)]
    assert all("customdata" in trace for trace in traces(charts.memory(many))), "too many to tell apart"


def test_transfer_is_part_of_a_bar_in_its_order():
    figure = charts.transfer([*CPU, *CARD[:1], make_timing(64, 1.0, implementation="SDPA math", to_device=1.0, **GPU)])
    parts = traces(figure)
    expected = [("compute", [0.005]), ("copy to the GPU", [0.001]), ("copy back", [0.002])]
    assert [(part["name"], part["y"]) for part in parts[:3]] == expected
    assert [part["x"] for part in parts] == [["64"]] * 6
    layout = json.loads(figure.to_json())["layout"]
    assert (layout["barmode"], layout["barnorm"]) == ("stack", "percent")
    named = [
        "SDPA, Test GPU",
        "SDPA math, Test GPU",
        "copy<br>37.5% of<br>8 ms",
        "copy<br>50.0% of<br>2 s",
    ]  # of each bar, above it
    assert [note["text"] for note in layout["annotations"]] == named


def test_a_point_that_was_timed_once_has_no_band_and_says_so():
    points = [
        make_timing(64, spread=0.1),
        make_timing(128, 2.0, spread=0.1),
        make_timing(256, repeats=1, settled=False),
        make_timing(512, spread=0.1),
    ]
    band, _, trace, *_ = traces(charts.seconds(points))
    assert band["x"] == [64, 128, 128, 64, None, 512, 512]
    assert numbers([y for y in band["y"] if y]) == [1.1, 2.2, 1.8, 0.9, 1.1, 0.9]
    said = trace["customdata"][0][1].replace("<br>", " ")
    assert said == "1 s unstable: timed 1 time"
    once = [make_timing(n, 0.5, repeats=1, settled=False, **GPU) for n in LENGTHS]
    (points,) = [trace for trace in traces(charts.speed_up([*CPU, *once])) if trace.get("customdata")]
    assert points["customdata"][0][1].replace("<br>", " ") == (
        "0.002 times as fast as the CPU one of the two times is unstable"
    )


def test_every_implementation_has_a_dash_and_every_device_a_colour_and_a_mark():
    dashes = timing_look.dashes()
    assert len({dashes[name] for name in IMPLEMENTATIONS}) == len(IMPLEMENTATIONS)
    styles = (*timing_look.STYLES, timing_look.COPY)
    tones = [tone for tones in timing_look.TONES.values() for tone in tones]
    colors = {*(color for color, _ in styles), *tones, *timing_look.OTHERS, timing_look.RETURN_COLOR}
    assert len(colors) == len(styles) + len(tones) + len(timing_look.OTHERS) + 1
    assert len({mark for _, mark in styles}) == len(styles)
    for color in (*(color for color, _ in styles), *tones):
        assert contrast(color, "#ffffff") >= 3 and contrast(color, "#14171c") >= 3


AXES = [
    ("dtype", "bfloat16"),
    ("mask", "causal"),
    ("passes", "forward + backward"),
    ("batch", 4),
    ("heads", 2),
    ("d_head", 8),
]


@pytest.mark.parametrize(("axis", "value"), AXES)
@pytest.mark.parametrize("chart", [charts.seconds, charts.roofline, charts.memory])
def test_lines_that_differ_in_any_axis_look_different(chart, axis, value):
    here = [
        make_timing(64, spread=0.0 if settled else 0.3, peak_bytes=2**24, settled=settled, **{axis: other})
        for settled, other in ((True, value), (False, make_timing().__dict__[axis]))
    ]
    far = read_recording(write_recording(here), "x.json")
    drawn = [trace for trace in traces(chart([*here, *far])) if "customdata" in trace]
    looks = {(trace["marker"]["color"], trace["marker"]["symbol"].removesuffix("-open")) for trace in drawn}
    assert len(looks) == len(drawn) == 4


def test_a_recorded_cpu_is_a_circle_and_a_gpu_a_square_in_any_order_and_beside_what_is_measured_here():
    far = [replace(timing, source="x.json") for timing in line([64], [1.0])]
    card = [replace(timing, source="x.json") for timing in line([64], [1.0], **GPU)]
    for timings in ([*far, *card], [*card, *far], [*line([64], [2.0]), *far, *card]):
        look = timing_look.Look.of(timings)
        assert (look.color(far[0]), look.shape(far[0])) == timing_look.CPU
        assert (look.color(card[0]), look.shape(card[0])) == timing_look.GPU
    assert (look.color(timings[0]), look.shape(timings[0])) == timing_look.THIS_CPU
    copied = timing_look.Look.of(card, copied=True)
    assert (copied.color(card[0]), copied.shape(card[0])) == timing_look.COPY


def test_as_many_lines_as_are_drawn_at_once_have_a_symbol_each():
    assert len(set(timing_look.SYMBOLS)) == len(timing_look.SYMBOLS) == 24
    assert "star" not in timing_look.SYMBOLS, "a star is a crossover"


def test_each_roof_is_grey_without_marks_and_says_whose_it_is():
    half = {"dtype": "bfloat16", "peak_operations": 4e12}
    timings = [*line([64], [1.0]), *line([64], [1.0], **half), *line([64], [1.0], **half, **GPU)]
    drawn = traces(charts.roofline(timings))
    roofs = {roof_label(trace): trace for trace in drawn if trace["hovertemplate"].startswith("limit: ")}
    assert len({trace["name"] for trace in roofs.values()}) == len(roofs), "also in a legend"
    under = {trace["name"].replace("<br>", " "): trace["line"]["color"] for trace in drawn if "customdata" in trace}
    assert len(roofs) == len(under) == 3
    assert {(trace["mode"], trace["line"]["color"]) for trace in roofs.values()} == {("lines", "gray")}
    assert "gray" not in under.values()
    said = roofs["Test GPU · bfloat16"]["hovertemplate"].replace("<br>", " ")
    assert said.startswith("limit: Test GPU · bfloat16 matrix product 4,000.0 GFLOP/s, copying 100.0 GB/s")


def test_of_many_lines_each_limit_has_its_name_once_beside_it_and_no_length_is_written():
    each = [{"dtype": dtype, "mask": mask} for dtype in ("float32", "bfloat16") for mask in ("full", "causal")]
    figure = charts.roofline([timing for settings in each for timing in line(LENGTHS, [1, 2, 4, 8], **settings)])
    written = [note["text"] for note in json.loads(figure.to_json())["layout"]["annotations"]]
    assert sorted(text for text in written if "limit" in text) == ["limit of bfloat16", "limit of float32"]
    assert not any(text.replace(",", "").isdigit() for text in written)
    roofs = [trace for trace in traces(figure) if trace["hovertemplate"].startswith("limit: ")]
    assert len(roofs) == 2 and not any(roof["showlegend"] for roof in roofs)
    few = charts.roofline(line(LENGTHS, [1, 2, 4, 8], operations=1e9, traffic=1e6))
    assert not any("limit of" in note["text"] for note in json.loads(few.to_json())["layout"]["annotations"])


def test_bands_are_explained_at_the_foot_if_there_are_any():
    settled, loose = (charts.seconds(line(LENGTHS, [1, 2, 4, 8], settled=settled)) for settled in (True, False))
    assert "pale band" in str(settled.layout.title.text) and "pale band" not in str(loose.layout.title.text)


def test_rates_of_one_intensity_are_over_their_length_and_a_cache_explains_those_above_the_limit():
    of = {"traffic": 1e6, "peak_traffic": 1e9, "operations": 1e6, "peak_operations": 1e12, "queries": 1}
    timings = line(LENGTHS, [4e-3, 5e-4, 1e-3, 2e-3], **of)  # 1e9 operations per second is the limit of the memory
    roof, points, *_ = traces(charts.roofline(timings))
    assert list(roof["x"]) == list(points["x"]) == LENGTHS and set(roof["y"]) == {1e9}
    assert "200.0% of the measured limit of its memory" in points["customdata"][1][1].replace("<br>", " ")
    said, _ = timing_notes.notes("roofline", timings, timings)
    assert any(sentence.startswith("Above the grey line, a cache of") for sentence in said)


def test_no_mark_is_above_a_limit_that_was_measured_on_a_busy_machine():
    slow = line(LENGTHS, [0.001] * 4, operations=5e9, peak_operations=1e12)
    *_, roof = [trace for trace in traces(charts.roofline(slow)) if trace["hovertemplate"].startswith("limit: ")]
    assert max(roof["y"]) == 5e12 and "fastest timing 5,000.0 GFLOP/s" in roof["hovertemplate"].replace("<br>", " ")
    assert cpu_gpu_series.line(slow).peaks == (5e12, 1e11)


@pytest.mark.parametrize("name", charts.CHARTS)
def test_no_line_beside_the_pointer_is_wider_than_a_phone(name):
    card = [*line(LENGTHS, [0.005] * 4, 0.1, to_device=0.001, settled=False, **GPU)]
    card += [lowest(n, 0.5, 1.5, to_device=0.001, settled=False, heads=2, **GPU) for n in LENGTHS]
    far = read_recording(write_recording(card), "a-file-with-a-long-name-from-a-machine-far-away.json")
    for trace in traces(charts.CHARTS[name]([*CPU, *far])):
        said = [
            trace.get("hovertemplate", ""),
            *(row[1] for row in trace.get("customdata", []) if isinstance(row, list)),
        ]
        parts = [part for text in said for part in text.replace("<extra></extra>", "").split("<br>")]
        assert max(map(len, parts)) <= 50


def test_no_line_of_a_legend_is_wider_than_a_phone_and_none_is_cut():
    label = (
        "nn.MultiheadAttention with weights · A very long name of a GPU, recorded 2026-01-31 (from-a-far-machine.json)"
    )
    parts = charts.marks.wrap_label(label).split("<br>")
    assert " ".join(parts) == label
    assert max(map(len, parts)) <= 50


@pytest.mark.parametrize("name", charts.CHARTS)
def test_a_picture_says_by_itself_with_what_and_when_each_device_was_measured(name):
    title = sources(charts.CHARTS[name]([*CPU, *FAR]))
    assert "Test GPU, recorded 2026-01-31, torch 2.13.0" in title
    assert ("Test CPU, 2 cores, measured here 2026-01-31, torch 2.13.0" in title) is (name != "transfer")

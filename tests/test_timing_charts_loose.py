"""What did not settle looks so in every chart of timings, and nothing else does."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from attention.charts import open_marks
from attention.charts import timing_marks as marks
from attention.charts import timings as charts
from tests.test_timing_charts import CARD, CPU, LENGTHS, traces
from tests.timings import GPU, lowest

LOOSE = [lowest(n, n / 64, 1.5, settled=False, to_device=0.1, peak_bytes=2**24, **GPU) for n in LENGTHS]


def split_traces(drawn: list[dict]) -> tuple[list[dict], list[dict], list[dict]]:
    """The traces that are joined, those that are open, and what the legend says of these."""
    joined = [trace for trace in drawn if "lines" in trace.get("mode", "") and "customdata" in trace]
    loose = [trace for trace in drawn if trace.get("mode") == "markers" and "customdata" in trace]
    return joined, loose, [trace for trace in drawn if trace.get("legendgroup") == open_marks.GROUP]


@pytest.mark.parametrize("name", ["time", "speed-up", "roofline"])
def test_what_did_not_settle_is_open_and_on_a_dotted_line(name):
    cpu = [lowest(n, n / 64) for n in LENGTHS]
    card = [LOOSE[0], *(lowest(n, n / 64, to_device=0.1, **GPU) for n in LENGTHS[1:3]), LOOSE[3]]
    joined, loose, said = split_traces(traces(charts.CHARTS[name]([*cpu, *card])))
    assert [len(trace["x"]) for trace in joined] == ([2] if name == "speed-up" else [4, 2])
    (points,) = loose
    assert len(points["x"]) == 2
    assert points["marker"]["symbol"].endswith("-open")
    assert points["marker"]["line"]["width"] == open_marks.LINE, "a faint mark is not visible in the dark theme"
    assert points["legendgroup"] == joined[-1]["legendgroup"]
    assert not points["showlegend"], "one entry of the legend a line"
    assert all(not trace["marker"]["symbol"].endswith("-open") for trace in joined)
    dotted = [
        trace for trace in traces(charts.CHARTS[name]([*cpu, *card])) if trace.get("line", {}).get("dash") == "dot"
    ]
    assert [(each["legendgroup"], len(each["x"])) for each in dotted if "marker" in each] == [
        (points["legendgroup"], 4)
    ]
    assert [each["name"] for each in said] == ["open marks: unstable times"]
    assert all("unstable" in text.replace("<br>", " ") for _, text in points["customdata"])


@pytest.mark.parametrize("name", ["time", "speed-up", "roofline"])
def test_a_line_of_which_nothing_settled_is_points_alone_that_has_a_name(name):
    figure = charts.CHARTS[name]([lowest(n) for n in LENGTHS] + LOOSE)
    joined, (points,), (_,) = split_traces(traces(figure)[-4:])
    assert not [trace for trace in joined if trace["legendgroup"] == points["legendgroup"]]
    assert points["showlegend"] or any(points["meta"] in each.text for each in figure.layout.annotations)
    bands = [trace for trace in traces(charts.CHARTS[name](LOOSE)) if trace.get("fill") == "toself"]
    assert not bands, "no band around what is not known"


@pytest.mark.parametrize("name", charts.CHARTS)
def test_where_all_settled_the_legend_has_no_word_of_what_did_not(name):
    assert "unstable" not in charts.CHARTS[name]([*CPU, *CARD]).to_json()


def test_bytes_are_counted_and_stand_firm_where_a_time_did_not_settle():
    joined, loose, _ = split_traces(traces(charts.memory(LOOSE)))
    assert (len(joined), loose) == (1, [])


def test_a_bar_of_what_did_not_settle_is_pale_and_says_why():
    compute, *_ = traces(charts.transfer([*LOOSE[:1], *CARD[1:]]))
    assert compute["marker"]["opacity"] == [marks.PALE, 1, 1, 1]
    assert "fastest visits are 50% apart" in compute["customdata"][0].replace("<br>", " ")
    assert compute["customdata"][1] == "5 ms (62.5%)"


@pytest.mark.parametrize(
    ("visits", "said"),
    [
        ((1, 1), "unstable, timed once"),
        ((0, 1), "unstable, timed once"),
        ((1, 2), "unstable, timed once or twice"),
        ((1, 3), "unstable times"),
    ],
)
def test_the_legend_says_why_marks_are_open(visits, said):
    loose = [
        replace(each, visits=count, repeated=each.repeated if count == 3 else None)
        for each, count in zip(LOOSE, visits, strict=False)
    ]
    *_, entries = split_traces(traces(charts.seconds([*CPU, *loose])))
    assert [each["name"] for each in entries] == [f"open marks: {said}"]


def test_where_the_reasons_of_two_devices_differ_the_legend_names_them():
    once = [replace(each, visits=1, repeated=None) for each in LOOSE]
    busy = [lowest(n, n / 64, 1.5, settled=False) for n in LENGTHS]
    *_, (entry,) = split_traces(traces(charts.seconds([*busy, *once])))
    assert entry["name"] == "open marks: unstable times (this server's CPU), unstable, timed once (Test GPU)"


@pytest.mark.parametrize("name", charts.CHARTS)
def test_buttons_have_room_above_a_chart(name):
    layout = json.loads(charts.CHARTS[name]([*CPU, *LOOSE]).to_json())["layout"]
    assert layout["margin"]["t"] >= marks.TOOLBAR

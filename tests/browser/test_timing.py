"""The Timing page in a real browser: measure, see it drawn, add a recording, cancel."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from attention.timing.recordings import row, write_recording
from tests.timings import GPU, line

LINK = "timing?lengths=16,32&heads=2&d_heads=8&implementations=SDPA,SDPA+math&devices=cpu&threads=1"
PATIENCE = 60_000  # milliseconds: a process starts, imports torch and measures, on a busy machine


def time_chart(tab):
    return tab.page.locator(".st-key-timing_time .js-plotly-plot")


def test_the_break_even_is_the_first_picture_and_other_charts_are_one_click_away(visit):
    tab = visit("timing")
    first = tab.page.locator(".js-plotly-plot").first
    for name in ("CPU", "GPU + copy", "GPU alone", "360 tokens"):
        expect(first.locator(".annotation-text", has_text=name).first).to_be_visible()
    expect(tab.page.get_by_text("an H100 GPU is faster than a 16-core CPU from about 360 tokens on")).to_be_visible()
    plot = first.locator(".cartesianlayer").bounding_box()
    assert plot and plot["y"] > 0 and plot["y"] + plot["height"] <= 800
    assert tab.link == {}
    tab.page.locator("[class*=st-key-timing_sizes]").get_by_role("combobox").click()
    tab.page.get_by_role("option", name="Published sizes, 2-core CPU").click()
    tab.page.get_by_text("As a ratio").locator("visible=true").click()
    expect(tab.page.locator(".js-plotly-plot").first.get_by_text("times as fast as the CPU")).to_be_visible()
    assert tab.link == {"picture": "times faster"}
    tab.page.locator("[data-testid=stButtonGroup]").get_by_text("Time", exact=True).locator("visible=true").click()
    first = tab.page.locator(".js-plotly-plot").first
    for name in ("2-core CPU, float32, recorded", "H100, float16, recorded", "H100, float16, recorded, with copy"):
        expect(first.locator(".annotation-text", has_text=re.compile(f" {name}$"))).to_be_visible()
    expect(
        tab.page.get_by_text(re.compile(r"At 4,096 tokens an H100 in float16 is [\d,]+ times as fast"))
    ).to_be_visible()


FASTER = "faster from"  # where depends on how stable the times are


def test_a_sweep_is_measured_drawn_and_joined_by_a_recording(visit):
    tab = visit(f"{LINK}&seconds=3", theme="dark")
    tab.page.get_by_role("button", name="Measure here").click()
    expect(tab.page.get_by_text("Measured 4 cases.")).to_be_visible(timeout=PATIENCE)
    expect(tab.page.locator(".st-key-finding").last).to_be_in_viewport()
    lines = time_chart(tab).locator(".annotation-text", has_text="SDPA")
    expect(lines).to_have_count(2)
    expect(lines.filter(has_text="SDPA math")).to_have_count(1)
    expect(tab.page.get_by_role("button", name="Measure here")).to_be_enabled()
    assert tab.link["lengths"] == "16,32"

    tab.page.get_by_text("Recordings: timings from another machine").click()
    recording = write_recording(line([16, 32], [1e-9, 1e-9], heads=2, d_head=8, **GPU)).encode()
    files = tab.page.locator("input[type=file]")
    files.set_input_files([{"name": "gpu.json", "mimeType": "application/json", "buffer": recording}])
    expect(lines.filter(has_text="SDPA, Test GPU")).to_have_count(1)
    expect(time_chart(tab).get_by_text("Test GPU, recorded 2026-01-31, torch")).to_be_visible()
    tab.page.get_by_text("Numbers and sources").first.click()
    tab.page.get_by_role("tab", name="Break-even length").click()
    expect(tab.page.get_by_text(re.compile(f"against .*: {FASTER}"))).to_be_visible()

    other = write_recording(line([16, 32], [1e-8, 1e-8], heads=2, d_head=8, **GPU)).encode()
    expect(files).to_have_count(1)  # the field before the chart came may stand beside it for a moment
    files.set_input_files([{"name": "gpu.json", "mimeType": "application/json", "buffer": other}])
    names = [f"recorded 2026-01-31 (gpu.json{number})" for number in ("", " #2")]
    for name in names:  # two machines of one name have their full ones, which need a legend
        expect(time_chart(tab).locator(".gtitle", has_text=name)).to_be_visible()
    expect(lines).to_have_count(0)
    tab.page.get_by_role("button", name="Remove", exact=True).first.click()
    expect(lines.filter(has_text="SDPA, Test GPU")).to_have_count(1)
    expect(lines.filter(has_text="gpu.json")).to_have_count(0)


@pytest.mark.extended
def test_a_hostile_recording_is_refused_as_text_and_asks_nobody(visit):
    tab = visit("timing")
    row_ = row(line([16], [1.0])[0]) | {"device_name": "![x](http://192.0.2.1/p.png)"}
    file = json.dumps({"format": "attention timings 1", "timings": [row_]}).encode()
    tab.page.get_by_text("Recordings: timings from another machine").click()
    name = "![x](http://192.0.2.1/q.png).json"
    tab.page.locator("input[type=file]").set_input_files([{"name": name, "mimeType": "text/json", "buffer": file}])
    expect(tab.page.get_by_text("is not a name: letters, digits, spaces")).to_be_visible()
    assert tab.page.locator("img[src*='192.0.2.1']").count() == 0


@pytest.mark.extended
def test_what_was_measured_before_a_cancel_stays(visit):
    tab = visit(f"{LINK.replace('16,32', '16,4096')}&seconds=100")
    tab.page.get_by_role("button", name="Measure here").click()
    expect(tab.page.get_by_text(re.compile(r"Measuring: [1-9]"))).to_be_visible(timeout=PATIENCE)
    tab.page.get_by_role("button", name="Cancel").click()
    expect(
        tab.page.get_by_text(re.compile(r"Cancelled; [1-9] cases? (was|were) measured and (is|are) kept"))
    ).to_be_visible(timeout=PATIENCE)
    expect(time_chart(tab)).to_have_count(1)  # the chart before it may stand beside it for a moment
    expect(time_chart(tab)).to_be_visible()

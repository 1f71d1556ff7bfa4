"""The visitor's GPU on the Timing page: from one click to a chart and its sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from attention.charts.timing_look import BROWSER
from attention.timing.recordings import Timing, write_recording
from attention.ui import results
from tests.browser.conftest import Tab, open_tab
from tests.browser.test_webgpu import FAKE, SOFTWARE
from tests.chromium import QUIET, find_chromium
from tests.server import Server
from tests.timings import GPU, line

MEASURED = """
export async function measure(open, plan, watch, result) {
    watch.say(0.5, "half");
    await watch.rest();
    Object.assign(result, { rate: 9e12, tile: plan.parts[0].tiles[0].name, difference: 3e-7 });
    for (const one of plan.parts.flatMap(({ cases }) => cases)) {
        const seconds = one.length * one.batch * one.heads * one.length * one.d_head * 4 / 3e12;
        const row = { case: one, how: "fused", dtype: "float32", times: [seconds, seconds * 1.01, seconds * 1.02], error: "" };
        result.rows.push({ ...row, moves: [0.01, 0.005] });
        result.rows.push({ ...row, how: "materialised", times: [], error: "out of memory: 256 MiB", moves: [0, 0] });
    }
}
"""
NAMED = """if (window.GPUAdapter) {
    Object.defineProperty(GPUAdapter.prototype, "info", { get: () => ({ vendor: "acme", architecture: "nine" }) });
}"""
A_MINUTE = 150_000  # milliseconds that a measurement of a minute takes at most, on a busy machine
NAME = "svg text"  # of a line: at its end, or in a legend


def measured_quickly(page: Page) -> None:
    """Replaces the GPU and the measurement, not what is done with it."""
    page.add_init_script(FAKE + 'Object.defineProperty(navigator, "gpu", { value: makeGpu("good") });')
    script = {"content_type": "text/javascript", "body": MEASURED}
    page.route("**/webgpu/measure.js", lambda route: route.fulfill(**script))


def open_recording(page: Page, name: str, text: str | bytes) -> None:
    """Opens a recording in the fold of recordings."""
    field = page.locator("input[type=file]")
    if not field.is_visible():
        page.get_by_text("Recordings: timings from another machine").click()
    data = text.encode() if isinstance(text, str) else text
    field.set_input_files([{"name": name, "mimeType": "application/json", "buffer": data}])


def wait_for_line(tab: Tab, chart: str) -> None:
    """Waits until a chart has a line in the colour of a browser's: a chart that changes may be there twice."""
    tab.page.wait_for_function(
        """([chart, color]) => [...document.querySelectorAll(`.st-key-${chart} .js-plotly-plot`)].some((plot) =>
            plot.data?.some((trace) => trace.line?.color === color && trace.mode?.includes("lines")))
        """,
        arg=[chart, BROWSER[0]],
    )


def test_one_click_to_the_chart_and_its_sentence(visit, tmp_path: Path):
    tab = visit("timing?v=3&picture=time", before=measured_quickly)
    page, finding = tab.page, tab.page.locator(".st-key-finding").last
    page.get_by_label("Name of this GPU (optional)").fill("Tester's own")
    page.get_by_role("button", name="Measure my GPU").click()
    expect(finding).to_contain_text("your GPU (Testers own) in float32 is")
    tab.still()  # until then, what moves down stands in two places
    expect(
        page.get_by_text("Testers own, measured in your browser: fused, 4,096 tokens, 32 heads of 64")
    ).to_be_visible()
    expect(page.get_by_text("17% of its loop of fused multiply-adds (9 TFLOP/s)")).to_be_visible()
    chart = page.locator(".st-key-versus_chart")
    expect(chart.locator(NAME, has_text="Testers own").first).to_be_visible()
    wait_for_line(tab, "versus_chart")
    button = page.get_by_role("button", name="Show the answer at the top of the page")
    button.scroll_into_view_if_needed()
    expect(finding).not_to_be_in_viewport()
    button.click()
    expect(finding).to_be_in_viewport()
    expect(finding).to_be_focused()
    expect(page.get_by_text("are not part of a link")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a recording").click()
    saved = tmp_path / "mine.json"
    download.value.save_as(saved)
    assert {each["device_name"] for each in json.loads(saved.read_text())["timings"]} == {"Testers own"}
    page.locator(".st-key-browser_remove").get_by_role("button").click()
    expect(finding).to_contain_text(re.compile("^At 4,096 tokens an H100"))
    expect(button).to_be_hidden()
    tab.still()
    open_recording(page, "mine.json", saved.read_bytes())
    expect(finding).to_contain_text(re.compile("^At 4,096 tokens a Testers own"))
    expect(chart.locator(NAME, has_text="Testers own")).not_to_have_count(0)
    wait_for_line(tab, "versus_chart")  # like a browser's line, not like any recorded one


def test_an_opened_recording_shows_where_it_crosses(visit):
    cpu = [each for each in results.timing.shipped_timings() if is_small_cpu(each) and each.length in (256, 512, 1024)]
    times = [
        each.seconds * by for each, by in zip(sorted(cpu, key=lambda each: each.length), (2, 0.5, 0.25), strict=True)
    ]
    tab = visit("timing?v=3")
    open_recording(tab.page, "gpu.json", write_recording(line([256, 512, 1024], times, **GPU)))
    finding = tab.page.locator(".st-key-finding").last
    expect(finding).to_contain_text(
        "A Test GPU is faster than a 2-core CPU from about 360 tokens on; at 1,024 tokens it is 4 times as fast."
    )
    chart = tab.page.locator(".st-key-timing_time .js-plotly-plot").last
    expect(chart.locator(".annotation-text", has_text="Test GPU").first).to_be_visible()
    tab.still()
    tab.page.get_by_text("As a ratio").locator("visible=true").click()
    star = tab.page.locator(".st-key-timing_speed-up .js-plotly-plot").last
    expect(star.locator(".annotation-text", has_text="SDPA").first).to_be_visible()
    tab.page.wait_for_function(
        """() => [...document.querySelectorAll(".st-key-timing_speed-up .js-plotly-plot")].some((plot) =>
            plot.data?.some((trace) => trace.marker?.symbol === "star" && Math.abs(trace.x[0] - 363) < 4))"""
    )


def is_small_cpu(timing: Timing) -> bool:
    """Whether a shipped timing is one of the default sweep on the two cores."""
    setting = (timing.implementation, timing.dtype, timing.mask, timing.heads, timing.d_head, timing.tokens)
    return timing.device_name == "AMD EPYC, 2 cores" and setting == ("SDPA", "float32", "full", 8, 64, 0)


@pytest.fixture
def software(chromium: Browser, server: Server) -> Iterator[Tab]:
    """A tab of a browser that computes WebGPU on the processor, and whose adapter has the name of a GPU."""
    arguments = [*QUIET, *SOFTWARE]
    browser = chromium.browser_type.launch(executable_path=find_chromium(), headless=True, args=arguments)
    with open_tab(browser, [], server) as tab:
        tab.page.add_init_script(NAMED)
        yield tab
        tab.check()
    browser.close()


def test_a_processor_named_like_a_gpu_never_pays(software: Tab):
    page = software.page
    page.goto(f"{software.server.url}/timing?lengths=64")
    page.get_by_role("button", name="Measure my GPU").click()
    state = page.locator('.gpu-timing[data-state="done"]')
    expect(state).to_be_visible(timeout=A_MINUTE)
    expect(state.get_by_role("status")).to_contain_text("Measured on acme nine.")
    # a ratio of stable times, or both times if one of them is not stable
    slower = r"takes [\d,.]+ times as long as a( \d+-core)? CPU \(.*\)|took [\d,.]+ [mµ]?s and a( \d+-core)? CPU [\d,.]+ [mµ]?s"
    finding = re.compile(rf"^Your GPU \(acme nine\) ({slower}) for 64 tokens, 8 heads of 64, float32")
    expect(page.locator(".st-key-finding").last).to_contain_text(finding)
    copied = re.compile(r"Including the copy to the GPU and back, it takes (roughly )?[\d,.]+ times as long")
    expect(page.get_by_text(copied).first).to_be_visible()
    chart = page.locator(".st-key-timing_time").last
    expect(chart.locator(".annotation-text", has_text="acme nine").first).to_be_visible()
    expect(chart.locator(".cartesianlayer")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^acme nine, measured in your browser: fused, \d+ tokens"))).to_be_visible()

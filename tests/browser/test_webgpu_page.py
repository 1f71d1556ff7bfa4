"""The visitor's GPU on the Timing page: from one click to a chart and its sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from attention.charts.timing_look import BROWSER_COLOR, BROWSER_DASH, BROWSER_RECORDED_DASH
from tests.browser.conftest import Tab, open_tab
from tests.browser.test_webgpu import FAKE, SOFTWARE
from tests.chromium import QUIET, find_chromium
from tests.server import Server

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


def browser_dashes(chart: Locator) -> set[str]:
    """The dashes of the lines of a chart that have the colour of a browser's."""
    found = chart.evaluate(
        "(chart, color) => chart.querySelector('.js-plotly-plot').data"
        ".filter((trace) => trace.line?.color === color && trace.mode?.includes('lines')).map((trace) => trace.line.dash)",
        BROWSER_COLOR,
    )
    return set(found)


def test_one_click_to_the_chart_and_its_sentence(visit, tmp_path: Path):
    tab = visit("timing?lengths=64,128,256,512", before=measured_quickly)
    page = tab.page
    page.get_by_label("Name of this GPU (optional)").fill("Tester's own")
    page.get_by_role("button", name="Measure my GPU").click()
    expect(page.get_by_text("your GPU (Testers own) in float32 is").first).to_be_visible()
    expect(
        page.get_by_text("Testers own, measured in your browser: fused, 4,096 tokens, 32 heads of 64")
    ).to_be_visible()
    expect(page.get_by_text("17% of its loop of fused multiply-adds (9 TFLOP/s)")).to_be_visible()
    chart = page.locator(".st-key-versus_chart").last  # while it changes, the one before may still be there
    expect(chart.locator(".legendtext", has_text="WebGPU fused")).to_be_visible()
    assert BROWSER_DASH in browser_dashes(chart)
    expect(page.get_by_text("are not part of a link")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a recording").click()
    saved = tmp_path / "mine.json"
    download.value.save_as(saved)
    assert {each["device_name"] for each in json.loads(saved.read_text())["timings"]} == {"Testers own"}
    page.get_by_role("button", name="Remove").first.click()
    expect(page.get_by_text(re.compile("^At 4,096 tokens an NVIDIA H100")).first).to_be_visible()
    open_recording(page, "mine.json", saved.read_bytes())
    expect(page.get_by_text(re.compile("^At 4,096 tokens a Testers own")).first).to_be_visible()
    expect(chart.locator(".legendtext", has_text="Testers own")).not_to_have_count(0)
    assert BROWSER_RECORDED_DASH in browser_dashes(chart), "it looks like a browser's line, not like any recorded one"


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
    sentence = page.get_by_text(re.compile("^8 heads of 64, batch 1, full, float32, against AMD EPYC"))
    expect(sentence).to_contain_text("slower at all lengths up to 64 tokens")
    expect(page.get_by_text(re.compile(r"^acme nine, measured in your browser: fused, \d+ tokens"))).to_be_visible()

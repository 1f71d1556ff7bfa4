"""The kernels of the visitor's GPU against PyTorch, on SwiftShader, and the button that measures, in every state.

SwiftShader computes WebGPU on the processor, so that kernels can be tested without a GPU; it has no float16.
"""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from attention.timing.visible import Visible
from attention.timing.webgpu import proof, template
from attention.timing.webgpu.plan import exact_numbers
from attention.timing.webgpu.tiles import D_HEADS, SMALL, TILES, decode_values
from tests.chromium import QUIET, find_chromium

FOLDER = Path(__file__).parents[2] / "attention" / "components" / "browser"
SOFTWARE = (
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--enable-features=Vulkan",
    "--use-vulkan=swiftshader",
    "--enable-unsafe-swiftshader",
)
SHAPES = (("full", 2, 2, 70, 0), ("causal", 2, 1, 33, 0), ("window", 2, 1, 90, 20), ("local", 2, 2, 65, 12))
FEW = (
    ("full", 4, 2, 130, 0, 16),
    ("causal", 2, 1, 193, 0, 100),
    ("window", 2, 1, 300, 77, 16),
    ("local", 2, 2, 90, 12, 7),
)
DECODED = (
    ("full", 4, 2, 1, 0),
    ("full", 4, 4, 70, 0),
    ("full", 3, 1, 2085, 0),
    ("window", 2, 1, 700, 77),
    ("causal", 1, 1, 65, 0),
)
KERNEL = """async ([how, tile, shapes, pieces]) => {
    const load = (name) => import(`/webgpu/${name}.js`);
    const { findAdapter, openDevice } = await load("adapter"), { watchDevice, createBuffers } = await load("device");
    const { createPipeline, passesOf } = await load("kernels"), { differenceOf } = await load("proof");
    const { adapter } = await findAdapter(navigator.gpu, isSecureContext), open = watchDevice(await openDevice(adapter));
    const { PIPELINES } = await load("measure"), pipelines = {};
    for (const name of PIPELINES[how]) pipelines[name] = await createPipeline(open.device, name, tile.values);
    const found = await differenceOf(open, shapes, "float32", async (shape, buffers) => {
        const size = Math.max(4 * shape.length * shape.queries, 2 ** 20);  // of the scores of one head at a time, at least
        const [scores, partial] = await createBuffers(open, [size, size]);
        return passesOf(open.device, { how, tile, pipelines }, shape, buffers, { scores, partial }, pieces);
    });
    open.device.destroy();
    return found;
}"""
BUTTON = """async ([plan, gpu]) => {
    Object.defineProperty(navigator, "gpu", { value: gpu === "none" ? undefined : gpu && makeGpu(gpu), configurable: true });
    Object.defineProperty(window, "isSecureContext", { value: gpu !== "insecure", configurable: true });
    if (gpu === "insecure") Object.defineProperty(navigator, "gpu", { value: undefined, configurable: true });
    const { draw } = await import("/gpu_timing.js");
    document.body.innerHTML = "";
    window.sent = [];
    draw(document.body, { plan, lacking: "nothing to measure", answered: false }, { measured: (message) => sent.push(message) });
}"""
FAKE = """
window.makeGpu = (kind) => {
    const never = new Promise(() => {}), nothing = () => {};
    const buffer = ({ size }) =>
        ({ size, destroy: nothing, mapAsync: async () => {}, getMappedRange: () => new ArrayBuffer(size) });
    const device = {
        features: new Set(), limits: { maxComputeWorkgroupStorageSize: 32768, maxComputeInvocationsPerWorkgroup: 256,
            maxComputeWorkgroupSizeX: 256, maxStorageBufferBindingSize: 2 ** 27, maxBufferSize: 2 ** 28 },
        lost: kind === "lost" ? Promise.resolve({ message: "the driver was reset" }) : never,
        createShaderModule: nothing, createBuffer: buffer, createBindGroup: nothing, pushErrorScope: nothing, destroy: nothing,
        popErrorScope: async () => kind === "memory" ? { message: "no room" } : null,
        createComputePipelineAsync: async () => kind === "lost" || kind === "slow" ? never : { getBindGroupLayout: nothing },
        queue: { writeBuffer: nothing, submit: nothing, onSubmittedWorkDone: async () => {} },
        createCommandEncoder: () => ({ finish: nothing, copyBufferToBuffer: nothing, beginComputePass: () => ({
            setPipeline: nothing, setBindGroup: nothing, dispatchWorkgroups: nothing, end: nothing }) }),
    };
    const infos = {
        software: { vendor: "google", architecture: "swiftshader" }, fallback: { vendor: "acme", isFallbackAdapter: true },
        basic: { description: "Microsoft Basic Render Driver" }, mesa: { description: "llvmpipe (LLVM 15.0.6)" } };
    const adapter = { info: infos[kind] ?? { vendor: "acme", architecture: "nine" }, features: new Set(), limits: device.limits,
        requestDevice: async () => device };
    return { requestAdapter: async () => kind === "refused" ? null : adapter };
};
"""


class _Files(http.server.SimpleHTTPRequestHandler):
    """Serves the modules of the browser, and an empty page."""

    def do_GET(self) -> None:
        if self.path != "/":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Empty</title>")
        return None

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def files() -> Iterator[str]:
    """The address of a page that can import the modules."""
    handler = functools.partial(_Files, directory=FOLDER)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def page(files: str, chromium: Browser) -> Iterator[Page]:
    """A page of a browser whose only adapter computes in software."""
    path, arguments = find_chromium(), [*QUIET, *SOFTWARE]
    browser = chromium.browser_type.launch(executable_path=path, headless=True, args=arguments)
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(FAKE)
    page.goto(files)
    yield page
    browser.close()


def tile_data(tile, d_head: int) -> dict[str, Any]:
    """A tile as the browser gets it."""
    return {"name": tile.name, "memory": tile.memory(d_head), "values": tile.values(d_head, False)}


@pytest.mark.parametrize(
    ("how", "d_head", "pieces"),
    [*(("fused", d, 1) for d in D_HEADS), ("fused", 64, 5), ("materialised", 64, 1), ("materialised", 32, 7)],
)
def test_a_kernel_agrees_with_float64(page: Page, how: str, d_head: int, pieces: int):
    shapes = [exact_numbers(*shape, d_head) for shape in SHAPES]
    assert page.evaluate(KERNEL, [how, tile_data(SMALL, d_head), shapes, pieces]) < 2e-6


@pytest.mark.parametrize(("how", "pieces"), [("fused", 1), ("fused", 5), ("materialised", 3)])
def test_the_last_tokens_as_queries_agree_with_float64(page: Page, how: str, pieces: int):
    shapes = [exact_numbers(mask, heads, group, n, span, 32, queries=few) for mask, heads, group, n, span, few in FEW]
    assert page.evaluate(KERNEL, [how, tile_data(SMALL, 32), shapes, pieces]) < 2e-6


@pytest.mark.parametrize("subgroups", [False, True])
@pytest.mark.parametrize("how", ["decode", "materialised decode"])
@pytest.mark.parametrize(("d_head", "pieces"), [(32, 1), (64, 3), (96, 1), (128, 2)])
def test_one_query_agrees_with_float64(page: Page, how: str, d_head: int, pieces: int, subgroups: bool):
    shapes = [exact_numbers(*shape, d_head, queries=1) for shape in DECODED]
    tile = {"name": "", "memory": 0, "values": decode_values(d_head, False, subgroups)}
    assert page.evaluate(KERNEL, [how, tile, shapes, pieces]) < 2e-6


def test_kernels_of_one_query_have_subgroup_operations_where_the_device_has(page: Page):
    offered = """async (decode) => {
        const { decodingTiles } = await import("/webgpu/measure.js");
        return [[], ["subgroups"]].map((features) => decodingTiles({ device: { features: new Set(features) } }, { decode }));
    }"""
    plain = {"name": "64 threads", "memory": 0, "values": decode_values(64, False)}
    with_subgroups = {**plain, "name": "64 threads with subgroup operations", "values": decode_values(64, False, True)}
    assert page.evaluate(offered, plain) == [[plain], [with_subgroups, plain]]


def test_what_is_counted_are_the_visible_pairs(page: Page):
    count = """async (cases) => {
        const { operationsOf, shapeOf } = await import("/webgpu/plan.js");
        return cases.map(([one, how]) => operationsOf(shapeOf(one), how));
    }"""
    sizes = {"heads": 2, "d_head": 32, "batch": 3, "kv_heads": 1}
    cases = [
        {**sizes, "length": 20, "queries": queries, "mask": mask, "window": window}
        for mask in ("full", "causal")
        for queries in (0, 1, 7)
        for window in (0, 6, 40)
    ]
    fused = page.evaluate(count, [[one, "decode" if one["queries"] == 1 else "fused"] for one in cases])
    visible = [Visible(one["queries"] or 20, 20, one["mask"] == "causal", one["window"]).pairs for one in cases]
    assert fused == [4 * 6 * 32 * pairs for pairs in visible]
    whole = page.evaluate(count, [[one, "materialised"] for one in cases])
    assert whole == [4 * 6 * 32 * (one["queries"] or 20) * 20 for one in cases]


@pytest.mark.extended
@pytest.mark.parametrize("d_head", D_HEADS)
@pytest.mark.parametrize("at", range(len(TILES)))
def test_every_tile_agrees_with_float64(page: Page, at: int, d_head: int):
    shapes = [exact_numbers(*shape, d_head) for shape in SHAPES]
    assert page.evaluate(KERNEL, ["fused", tile_data(TILES[at], d_head), shapes, 1]) < 2e-6


def test_a_kernel_that_is_wrong_is_found(page: Page):
    shapes = [exact_numbers("causal", 2, 1, 33, 0, 32)]
    shapes[0]["exact"][7] += 1e-3
    assert page.evaluate(KERNEL, ["fused", tile_data(SMALL, 32), shapes, 1]) > 5e-4


def test_templates_expand_alike_in_both_languages(page: Page):
    cases = [(kernel, tile.values(d, half)) for kernel in ("fused", "scores", "softmax", "values") for tile in (TILES[0], SMALL)
             for d in (32, 128) for half in (False, True)]  # fmt: skip
    cases += [
        (name, decode_values(d, half, half))
        for name in ("decode", "combine", "query_scores", "query_values")
        for d in (32, 128)
        for half in (False, True)
    ]
    cases.append(("fma", {}))
    expand = """async (cases) => {
        const { expand, source } = await import("/webgpu/template.js");
        return Promise.all(cases.map(async ([name, values]) => expand(await source(name), values)));
    }"""
    assert page.evaluate(expand, cases) == [template.expand(template.source(name), values) for name, values in cases]


def test_the_input_has_the_same_bits_in_both_languages(page: Page):
    found = page.evaluate(
        """async () => {
            const { uniforms, toHalf, fromHalf } = await import("/webgpu/input.js");
            return [1, 2, 77].map((stream) => {
                const all = uniforms(2000, stream), half = toHalf(all);
                return [[...all], [...half], [...fromHalf(half)]];
            });
        }"""
    )
    for stream, (numbers, bits, back) in zip((1, 2, 77), found, strict=True):
        exact = proof.uniforms(2000, stream)
        assert torch.equal(torch.tensor(numbers, dtype=torch.float64), exact)
        assert bits == [x & 0xFFFF for x in exact.half().view(torch.int16).tolist()] and back == numbers


def test_a_call_is_divided_without_gaps(page: Page):
    parts = """async (cases) => {
        const { parts } = await import("/webgpu/kernels.js");
        return cases.map(([heads, length, pieces, step]) => parts({ heads, length }, pieces, step));
    }"""
    cases = [(32, 4096, 1, 64), (32, 4096, 5, 64), (3, 1000, 7, 64), (1, 130, 3, 64), (131_072, 64, 1, 64)]
    for (heads, length, pieces, step), found in zip(cases, page.evaluate(parts, cases), strict=True):
        covered = sum(part["heads"] * part["count"] for part in found)
        assert covered == heads * length and len(found) >= min(pieces, heads * -(-length // step))
        assert all(part["heads"] <= 65_535 and part["row"] % step == 0 for part in found)


def test_the_processors_pass_agrees_with_float64(page: Page):
    for shape in (exact_numbers(*how, 32) for how in SHAPES):
        far = """async (shape) => {
            const { attendOnCpu } = await import("/webgpu/cpu.js"), { uniforms } = await import("/webgpu/input.js");
            const count = (heads) => heads * shape.length * shape.d_head, kept = shape.heads / shape.group;
            const out = attendOnCpu(uniforms(count(shape.heads), 1), uniforms(count(kept), 2), uniforms(count(kept), 3), shape);
            return Math.max(...shape.at.map((at, i) => at < out.length ? Math.abs(out[at] - shape.exact[i]) : 0));
        }"""
        assert page.evaluate(far, shape) < 2e-6


def small_plan() -> dict[str, Any]:
    """A plan of one case, with one tile."""
    case = {
        "length": 64,
        "batch": 1,
        "heads": 2,
        "d_head": 32,
        "tokens": 0,
        "mask": "causal",
        "queries": 0,
        "kv_heads": 0,
        "window": 0,
    }
    proofs = [exact_numbers(*how, 32) for how in SHAPES]
    part = {"d_head": 32, "cases": [case], "tiles": [tile_data(SMALL, 32)], "proofs": proofs, "decode": {}}
    return {"mask": "causal", "d_head": 32, "seconds": 60, "parts": [part]}


MEASURE = """async (plan) => {
    const load = (name) => import(`/webgpu/${name}.js`);
    const { findAdapter, openDevice } = await load("adapter"), { watchDevice } = await load("device");
    const { measure } = await load("measure"), { emptyResult } = await load("plan");
    const { createWatch } = await import("/gpu_timing.js"), { adapter } = await findAdapter(navigator.gpu, isSecureContext);
    const device = await openDevice(adapter), result = emptyResult();
    const { watch, stop } = createWatch(() => {}, new AbortController().signal);
    await measure(watchDevice(device), plan, watch, result);
    stop();
    device.destroy();
    return [[...adapter.features], result];
}"""


@pytest.mark.extended
def test_each_number_of_queries_is_measured_by_both_ways(page: Page):
    plan = small_plan()
    plan["seconds"] = 500
    (part,) = plan["parts"]
    (case,) = part["cases"]
    part["cases"] = [case | {"mask": "full", "queries": queries} for queries in (0, 1, 16)]
    part["proofs"] += [exact_numbers(*how, 32, queries=1) for how in DECODED]
    part["decode"] = {"name": "64 threads for one query", "memory": 0, "values": decode_values(32, False)}
    features, found = page.evaluate(MEASURE, plan)
    assert "subgroups" in features
    assert (found["wrong"], found["unbegun"]) == ([], 0)
    timed = [(row["case"]["queries"], row["how"]) for row in found["rows"] if row["how"] != "JavaScript"]
    many = [(queries, how) for queries in (0, 16) for how in ("fused", "materialised")]
    assert sorted(timed) == sorted([*many, (1, "decode"), (1, "materialised decode")])
    assert all(len(row["times"]) >= 3 and not row["error"] for row in found["rows"])
    assert "64 threads for one query" in found["tile"] and found["difference"] < 2e-6


STATES = {
    "none": ("absent", "No WebGPU in this browser."),
    "insecure": ("insecure", "https pages and on localhost"),
    "refused": ("refused", "offers no GPU"),
    "software": ("software", "in software (google swiftshader)"),
    "fallback": ("software", "That is not a GPU, so it is not measured."),
    "basic": ("software", "Microsoft Basic Render Driver"),
    "mesa": ("software", "llvmpipe"),
    "lost": ("lost", "The browser lost the GPU (the driver was reset)"),
    "memory": ("memory", "ran out of memory (no room)"),
    "wrong": ("failed", "No kernel agreed with the exact result"),
}


@pytest.mark.parametrize("kind", STATES)
def test_the_button_says_why_nothing_was_measured(page: Page, kind: str):
    state, says = STATES[kind]
    page.evaluate(BUTTON, [small_plan(), kind])
    root, button = page.get_by_test_id("gpu-timing"), page.get_by_role("button", name="Measure my GPU")
    if known := kind in ("none", "insecure"):  # without a click
        expect(button).to_be_disabled()
    else:
        button.click()
    expect(page.locator(f'.gpu-timing[data-state="{state}"]')).to_be_visible()
    expect(root.get_by_role("status")).to_contain_text(says)
    expect(root.get_by_role("progressbar")).to_be_hidden()
    assert known or button.is_enabled()
    assert page.evaluate("sent") == []


def test_a_measurement_can_be_cancelled(page: Page):
    page.evaluate(BUTTON, [small_plan(), "slow"])
    page.get_by_role("button", name="Measure my GPU").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("button", name="Measure my GPU")).to_be_disabled()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator('.gpu-timing[data-state="cancelled"]')).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()


def test_a_hidden_tab_waits(page: Page):
    waits = """async () => {
        const { createWatch } = await import("/gpu_timing.js"), said = [], end = new AbortController();
        const { watch, stop } = createWatch((_, text) => said.push(text), end.signal);
        const hide = (value) => {
            Object.defineProperty(document, "hidden", { value, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        };
        hide(true);
        let rested = false;
        const rest = watch.rest().then(() => { rested = true; });
        await new Promise((then) => setTimeout(then, 250));
        const before = rested;
        hide(false);
        await rest;
        stop();
        return [said, before, rested, watch.pauses(), watch.waited() >= 0.2];
    }"""
    said, before, rested, pauses, waited = page.evaluate(waits)
    assert said == ["Waiting: this tab is hidden, and a hidden tab can't be timed"]
    assert (before, rested, pauses, waited) == (False, True, 1, True)


def test_there_is_nothing_to_measure_for_some_settings(page: Page):
    page.evaluate(BUTTON, [None, "wrong"])
    expect(page.get_by_role("button", name="Measure my GPU")).to_be_disabled()
    expect(page.get_by_role("status")).to_have_text("nothing to measure")

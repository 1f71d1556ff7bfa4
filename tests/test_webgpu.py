"""The visitor's GPU: templates of kernels, the input and its exact result, and what the server takes of a browser's message."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from attention.charts import timings as charts
from attention.charts.series_look import look as look_of
from attention.charts.timing_look import BROWSER as BROWSER_STYLE
from attention.charts.timing_look import Look
from attention.masks import MASKS
from attention.timing import answers, cpu_gpu_series, cpu_gpu_summary, recordings
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.timing.published import TOKENS, WIDTH
from attention.timing.recordings import RecordingError
from attention.timing.recordings.timing import BROWSER, JAVASCRIPT, WEBGPU
from attention.timing.sweep import Sweep
from attention.timing.webgpu import plan, proof, template
from attention.timing.webgpu.results import FUSED, MATERIALISED, read_message
from attention.timing.webgpu.summary import answer, details, left_out
from attention.timing.webgpu.tiles import D_HEADS, SMALL, TILES, decode_values
from attention.ui import results

KERNELS = ("fused", "scores", "softmax", "values")
DECODING = ("decode", "combine", "query_scores", "query_values")
ALL = {"queries": 0, "kv_heads": 0, "window": 0}
SMALL_CASE = {"length": 256, "batch": 1, "heads": 8, "d_head": 64, "tokens": 0, "mask": "full", **ALL}
CASE = {"length": 4096, "batch": 4, "heads": 32, "d_head": 64, "tokens": TOKENS, "mask": "causal", **ALL}


def row(how: str = "fused", case: dict = CASE, times: tuple = (0.5, 0.51, 0.52), error: str = "", **more) -> dict:
    """A row of a message."""
    found = {"case": case, "how": how, "dtype": "float32", "times": list(times), "error": error, "moves": [0.02, 0.01]}
    return found | more


def message(*rows: dict, **more) -> dict:
    """A message of a browser."""
    about = {"device": "Acme 9", "browser": "Chrome 150, Linux", "mask": "causal", "d_head": 64, "rate": 2e12}
    outcome = {"tile": "8 by 8", "wrong": [], "difference": 3e-7, "stamped": True, "unbegun": 0, "ended": ""}
    return about | outcome | {"rows": list(rows) or [row()]} | more


def test_a_template_repeats_chooses_and_substitutes():
    text = "//for i N\na${i} = ${V${i}};\n//if YES\nyes ${i}\n//else\nno\n//end\n//end\n//if NO\nnever\n//end\nlast"
    found = template.expand(text, {"N": 2, "V0": 7, "V1": 8, "YES": 1, "NO": 0})
    assert found == "a0 = 7;\nyes 0\na1 = 8;\nyes 1\nlast\n"


@pytest.mark.parametrize("text", ["//for i 2\nx", "${MISSING}", "//if MISSING\n//end"])
def test_a_template_with_a_mistake_is_refused(text):
    with pytest.raises((ValueError, KeyError)):
        template.expand(text, {})


@pytest.mark.parametrize("d_head", D_HEADS)
@pytest.mark.parametrize("half", [False, True])
def test_kernels_have_no_directive_left(d_head, half):
    for tile in (*TILES, SMALL):
        for kernel in KERNELS:
            code = template.expand(template.source(kernel), tile.values(d_head, half))
            assert "${" not in code and "//for" not in code and "//end" not in code
            assert ("enable f16;" in code) is half


@pytest.mark.parametrize("d_head", D_HEADS)
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("subgroups", [False, True])
def test_kernels_of_one_query_have_no_directive_left(d_head, half, subgroups):
    for kernel in DECODING:
        code = template.expand(template.source(kernel), decode_values(d_head, half, subgroups))
        assert ("subgroupShuffleXor" in code) is ("enable subgroups;" in code)
        assert ("enable subgroups;" in code) is (subgroups and kernel in ("decode", "query_scores"))
        assert "${" not in code and "//" not in code.replace("// ", "") and ("enable f16;" in code) is half


@pytest.mark.parametrize("d_head", D_HEADS)
def test_every_tile_fits_the_memory_of_every_adapter(d_head):
    for tile in TILES:
        assert tile.fits(d_head)
        assert tile.memory(d_head) <= 16_384
        assert tile.values(d_head, False)["THREADS"] <= 256


def test_the_input_is_a_hash_of_a_counter():
    def mixed(x: int) -> int:
        x ^= x >> 16
        x = x * 0x85EBCA6B % 2**32
        x ^= x >> 13
        x = x * 0xC2B2AE35 % 2**32
        return x ^ x >> 16

    found = proof.uniforms(1000, 3)
    assert found.tolist() == [((mixed((i + 3 * 0x9E3779B9) % 2**32) >> 21) - 1024) / 512 for i in range(1000)]
    assert torch.equal(found.half().double(), found)
    assert abs(found.mean()) < 0.15 and found.min() < -1.9 and found.max() > 1.9


@pytest.mark.parametrize(("mask", "span"), [("full", 0), ("causal", 0), ("window", 5), ("local", 5)])
def test_the_exact_result_is_that_of_torch(mask, span):
    q, k, v = proof.inputs(4, 2, 19, 32)
    found = proof.exact_outputs(q, k, v, *proof.reach(mask, 19, span))
    seen = MASKS[mask].square(19, 19, span)
    there = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=True)
    torch.testing.assert_close(found, there, rtol=0, atol=1e-13)
    some = plan.exact_numbers(mask, 4, 2, 19, span, 32)
    assert some["exact"] == [pytest.approx(float(there.flatten()[at])) for at in some["at"]]
    last = plan.exact_numbers(mask, 4, 2, 19, span, 32, queries=1)
    one = F.scaled_dot_product_attention(
        proof.inputs(4, 2, 19, 32, queries=1)[0], k, v, attn_mask=seen[-1:], enable_gqa=True
    )
    assert last["queries"] == 1 and last["exact"] == [pytest.approx(float(one.flatten()[at])) for at in last["at"]]
    assert some["at"][0] == 0 and some["at"][-1] == there.numel() - 1


def test_a_plan_has_the_sweep_and_then_the_picture():
    found = plan.plan(Sweep(lengths=(64, 128)), CpuGpuSettings(d_head="64", mask="causal"))
    (part,) = found["parts"]
    cases = part["cases"]
    assert [case["length"] for case in cases] == [64, 128, 512, 1024, 2048, 4096, 8192, 16_384]
    assert cases[0] == {"length": 64, "batch": 1, "heads": 8, "d_head": 64, "tokens": 0, "mask": "full", **ALL}
    assert all(case["length"] * case["batch"] == TOKENS and case["heads"] * 64 == WIDTH for case in cases[2:])
    assert {case["mask"] for case in cases[2:]} == {"causal"}
    assert part["tiles"] and {proof["d_head"] for proof in part["proofs"]} == {64}


def test_a_plan_has_the_widths_key_value_heads_and_windows_of_the_sweep():
    sweep = Sweep(lengths=(64, 128), heads=(16,), d_heads=(128,), kv_heads=(0, 4), windows=(0, 32), masks=("causal",))
    asked, picture = plan.plan(sweep, CpuGpuSettings(d_head="64"))["parts"]
    assert (asked["d_head"], picture["d_head"]) == (128, 64)
    sizes = [(case["length"], case["kv_heads"], case["window"]) for case in asked["cases"]]
    assert sorted(sizes) == [(n, kept, window) for n in (64, 128) for kept in (0, 4) for window in (0, 32)]
    assert {case["tokens"] for case in picture["cases"]} == {TOKENS}
    assert {proof["d_head"] for proof in asked["proofs"]} == {128}


@pytest.mark.parametrize(
    "knobs", [{"d_heads": (80,)}, {"passes": ("forward + backward",)}, {"kv_heads": (3,)}, {"queries": (4096,)}]
)
def test_a_plan_leaves_out_a_sweep_that_the_kernels_cannot_compute(knobs):
    found = plan.plan(Sweep(**knobs), CpuGpuSettings())
    assert {case["tokens"] for part in found["parts"] for case in part["cases"]} == {TOKENS}


def test_what_the_browser_leaves_out_of_a_sweep_is_said():
    assert plan.left_out(Sweep()) == ""
    assert plan.left_out(Sweep(queries=(1,), heads=(32,), d_heads=(128,), kv_heads=(8,), lengths=(8192,))) == ""
    said = plan.left_out(
        Sweep(queries=(0, 1, 128), d_heads=(64, 80), heads=(8,), kv_heads=(0, 3), lengths=(64, 1_048_576))
    )
    assert said == (
        "Of the sizes that are set, the browser leaves out: more queries than tokens; a d_head other than 32, 64, 96 and "
        "128; key-value heads that do not divide the heads; 1,048,576 tokens (over 33,554,432 numbers in the queries or the "
        "keys)."
    )
    many = Sweep(lengths=tuple(range(2, 36)))
    assert plan.left_out(many).endswith("leaves out: more than 32 cases.")
    assert plan.left_out(Sweep(passes=("forward + backward",))).endswith("leaves out: backward passes.")


def test_a_message_is_taken_as_timings_of_the_browser():
    found = read_message(message(row(), row("materialised", times=(), error="out of memory: 1"), row("JavaScript")))
    fused, materialised, script = found.timings
    assert (fused.implementation, fused.device, fused.device_name) == (FUSED, WEBGPU, "Acme 9")
    assert (fused.quickest, fused.repeated, fused.median, fused.visits) == (0.5, 0.52, 0.51, 3)
    assert fused.settled and fused.source == BROWSER and fused.peak_operations == 2e12
    assert fused.operations == 4 * 4 * 32 * 64 * 4096 * 4097 / 2
    assert (fused.to_device, fused.from_device) == (0.02, 0.01)
    assert materialised.implementation == MATERIALISED and materialised.error == "out of memory: 1"
    assert found.processor is script and script.implementation == JAVASCRIPT
    assert found.gpu == [fused, materialised]
    assert "measured in your browser" in fused.origin


def test_windows_and_key_value_heads_are_counted():
    case = CASE | {"length": 1024, "batch": 2, "kv_heads": 8, "window": 128, "tokens": 0}
    fused, materialised = read_message(message(row(case=case), row("materialised", case=case))).timings
    assert (fused.kv_heads, fused.window) == (8, 128)
    pairs = sum(min(query + 1, 128) for query in range(1024))
    assert fused.operations == 4 * 2 * 32 * 64 * pairs
    assert materialised.operations == 4 * 2 * 32 * 64 * 1024**2, "it computes the pairs that are masked as well"
    assert fused.traffic == 4 * 2 * 64 * 1024 * (2 * 32 + 2 * 8)


def test_a_plan_has_one_query_with_its_kernels_and_proofs():
    part, _ = plan.plan(Sweep(lengths=(64,), queries=(1,), d_heads=(128,)), CpuGpuSettings(d_head="64"))["parts"]
    assert [(case["queries"], case["mask"]) for case in part["cases"]] == [(1, "full")]
    assert part["decode"]["values"] == decode_values(128, False)
    assert {proof["queries"] for proof in part["proofs"] if proof["queries"] != proof["length"]} == {1, 16, 70}


def test_a_plan_has_the_last_tokens_as_queries():
    part = plan.plan(Sweep(lengths=(64, 128), queries=(16, 128)), CpuGpuSettings(d_head="64"))["parts"][0]
    sizes = [(case["length"], case["queries"]) for case in part["cases"] if not case["tokens"]]
    assert sizes == [(64, 16), (128, 16), (128, 128)]


def test_few_queries_are_counted():
    case = CASE | {"length": 1024, "queries": 16, "tokens": 0, "batch": 1}
    fused, materialised = read_message(message(row(case=case), row("materialised", case=case))).timings
    assert fused.operations == 4 * 32 * 64 * sum(range(1009, 1025))
    assert materialised.operations == 4 * 32 * 64 * 16 * 1024
    assert fused.traffic == materialised.traffic == 4 * 64 * (2 * 32 * 16 + 2 * 32 * 1024)


def test_one_query_is_counted():
    case = CASE | {"length": 1024, "batch": 2, "kv_heads": 8, "queries": 1, "mask": "full", "tokens": 0}
    whole, near = read_message(message(row("decode", case=case), row("decode", case=case | {"window": 100}))).timings
    assert whole.implementation == FUSED and whole.queries == 1
    assert whole.operations == 4 * 2 * 32 * 64 * 1024 and near.operations == 4 * 2 * 32 * 64 * 100
    assert whole.traffic == 4 * 2 * 64 * (2 * 32 + 2 * 8 * 1024)
    assert near.traffic == 4 * 2 * 64 * (2 * 32 + 2 * 8 * 100)
    (textbook,) = read_message(message(row("materialised decode", case=case | {"window": 100}))).timings
    assert (textbook.implementation, textbook.operations) == (MATERIALISED, whole.operations)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (None, "no list of rows"),
        ([], "no list of rows"),
        (message(rows=[]) | {"rows": []}, "0 entries"),
        (message(*[row()] * 201), "201 entries"),
        (message(row(how="cuda")), "not a timed case"),
        (message(row(case=None)), "not a timed case"),
        (message(row(times=[-1.0, 1.0, 1.0])), "above 0"),
        (message(row(times=["1"])), "above 0"),
        (message(row(times=[math.nan] * 3)), "above 0"),
        (message(row(times=[1e-300] * 3)), "not between"),
        (message(row(times=[1.0] * 51)), "50 times"),
        (message(row(case=CASE | {"length": 2**40})), "length"),
        (message(row(case=CASE | {"mask": "<b>"})), "mask"),
        (message(row(dtype="int4")), "dtype"),
        (message(row(moves=[1, -1])), "from_device"),
        (message(row(moves="12")), "not a list"),
        (message(row(case=CASE | {"d_head": 10**9})), "d_head"),
        (message(row(case=CASE | {"window": -1})), "window"),
        (message(row(case=CASE | {"kv_heads": "2"})), "kv_heads"),
        (message(d_head=-1), "d_head"),
        (message(rate=-1), "rate"),
        (message(rate=math.inf), "rate"),
        (message(device=5), "device"),
    ],
)  # fmt: skip
def test_a_message_is_never_trusted(wrong, says):
    with pytest.raises(RecordingError, match=says):
        read_message(wrong)


def test_a_name_has_no_markup():
    found = read_message(message(device="<img src=x> **GPU** [9](http://x)"))
    assert found.device == "img src=x GPU 9(http:x)"
    assert read_message(message(device="\u0000<>")).device == "a GPU without a name"


def test_a_measurement_is_saved_and_opened_again():
    found = read_message(message(row(), row("JavaScript")))
    text = recordings.write_recording(found.timings)
    opened = recordings.read_recording(text, "mine.json")
    assert [each.source for each in opened] == [f"mine.json, from {BROWSER}"] * 2
    assert [replace(each, source=BROWSER) for each in opened] == found.timings
    assert opened[0].origin.endswith(f"recorded in a browser {opened[0].day} (mine.json)")


def test_a_line_of_a_browser_looks_like_nothing_else_also_when_it_was_recorded():
    mine = read_message(message(row(), row("materialised"), row(dtype="float16"))).timings
    opened = recordings.read_recording(recordings.write_recording(mine), "mine.json")
    shipped = [each for each in results.timing.shipped_timings() if each.error is None][:1]
    found = Look.of([*mine, *opened, *shipped])  # as many as have names
    looks = {(found.color(each), found.dash(each), found.shape(each)) for each in (*mine, *opened)}
    assert len(looks) == 6
    assert {color for color, _, _ in looks} == {BROWSER_STYLE[0]}
    assert BROWSER_STYLE[0] not in map(found.color, shipped)


def test_an_opened_line_of_a_browser_keeps_its_look_beside_published_ones():
    mine = read_message(message(row())).timings
    opened = recordings.read_recording(recordings.write_recording(mine), "mine.json")
    gpus = cpu_gpu_series.gpus(CpuGpuSettings(), [*opened, *mine, *results.timing.shipped_timings()])
    assert [gpu.kind for gpu in gpus[:3]] == ["measured in your browser", "recorded in a browser", "recorded"]
    assert gpus[1].place == f"recorded in a browser {opened[0].day} (mine.json)"
    looks = [look_of(gpu, gpus) for gpu in gpus]
    assert [look["color"] == BROWSER_STYLE[0] for look in looks] == [True, True] + [False] * (len(gpus) - 2)
    assert len({(look["dash"], look["symbol"]) for look in looks[:2]}) == 2


def test_the_headline_is_about_the_visitors_gpu():
    versus = CpuGpuSettings(mask="causal", d_head="64")
    rows = [
        row(case=CASE | {"length": n, "batch": TOKENS // n}, times=[t] * 3) for n, t in ((1024, 0.01), (4096, 0.02))
    ]
    timings = [*read_message(message(*rows)).timings, *results.timing.shipped_timings()]
    cpu, gpus = cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings)
    assert gpus[0].kind == cpu_gpu_series.IN_BROWSER and cpu is not None
    assert cpu_gpu_summary.headline(cpu, gpus, versus).startswith("At 4,096 tokens your GPU (Acme 9) in float32")
    point = cpu.at(4096)
    assert point and f"Without the copy, {point.seconds / 0.02:.0f} times" in cpu_gpu_summary.headline(
        cpu, gpus, versus
    )


def test_the_visitors_processor_is_never_the_cpu_of_the_comparison():
    timings = read_message(message(row("JavaScript", case=CASE))).timings
    assert cpu_gpu_series.cpu(CpuGpuSettings(mask="causal", d_head="64"), timings) is None


def test_sentences_of_a_measurement():
    cases = [SMALL_CASE | {"length": n} for n in (256, 512, 1024)]
    shipped = {each.length: each.seconds for each in results.timing.shipped_timings() if _like_small(each)}
    rows = [
        row(case=case, times=[shipped[case["length"]] * by] * 3, moves=[0, 1e-9])
        for case, by in zip(cases, (2, 0.5, 0.25), strict=True)
    ]
    found = read_message(
        message(*rows, row("JavaScript", case=SMALL_CASE), unbegun=2, wrong=["fused, float16"], stamped=False)
    )
    said = " ".join(answer(found, results.timing.shipped_timings()))
    assert "fused, 1,024 tokens, 8 heads of 64, batch 1, full, float32" in said
    assert "of its loop of fused multiply-adds (2 TFLOP/s)" in said
    assert "against AMD EPYC, 2 cores, 2 threads" in said and ": faster from about 360 tokens on" in said
    more = " ".join(details(found))
    assert "in JavaScript on one thread" in more and "Not timed: fused, float16." in more
    assert "wall clock" in more and left_out(found).startswith("2 cases were not started, as more than a minute")
    late = row(case=SMALL_CASE | {"length": 2048}, times=(), error="not started: about 9 s a call, and 2 s were left")
    missing = read_message(message(*rows, late, unbegun=1))
    assert "One case was not started" in left_out(missing) and "(2,048 tokens)" in left_out(missing)
    assert left_out(replace(missing, unbegun=0)) == ""
    (told,) = answers.answers([*missing.gpu, *results.timing.shipped_timings()])[:1]
    assert told.basis.endswith("(Acme 9): 2,048 tokens (not started: about 9 s a call, and 2 s were left).")


def test_the_sentence_of_a_measurement_is_about_the_sizes_that_are_asked_for():
    found = read_message(message(row(), row(case=SMALL_CASE)))
    asked = [each for each in found.gpu if not each.tokens]
    assert "fused, 4,096 tokens, 32 heads of 64, 16,384 tokens in all" in answer(found, [])[0]
    assert "fused, 256 tokens, 8 heads of 64, batch 1, full, float32" in answer(found, [], asked)[0]
    assert answer(found, [], [each for each in asked if each.error]) == answer(found, [])


def _like_small(timing) -> bool:
    how = (timing.implementation, timing.dtype, timing.mask, timing.passes, timing.heads, timing.d_head, timing.batch)
    mine = timing.device_name == "AMD EPYC, 2 cores" and not timing.tokens
    return mine and how == ("SDPA", "float32", "full", "forward", 8, 64, 1)


@pytest.mark.parametrize("name", charts.CHARTS)
def test_every_chart_draws_timings_of_the_browser(name):
    found = read_message(
        message(row(), row("materialised"), row("materialised", case=SMALL_CASE, times=(), error="out of memory"))
    )
    loose = [row(how, case=CASE | {"length": 64}, times=(0.5, 0.7, 0.9)) for how in ("fused", "materialised")]
    found = replace(found, timings=[*found.timings, *read_message(message(*loose)).timings])
    timings = [each for each in found.gpu if each.error is None]
    more = {"against": FUSED} if name == "speed-up" else {}
    assert charts.CHARTS[name](timings, **more).data

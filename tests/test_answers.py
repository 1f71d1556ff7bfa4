"""The sentences about a setting, and the least time of a GPU by its data sheet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attention.timing import answers, comparison, recordings
from attention.timing.data_sheets import BUSES, DATA_SHEETS, LAUNCH, limit
from attention.timing.recordings.timing import BROWSER, WEBGPU
from attention.timing.sweep import Sweep, is_like
from tests.timings import GPU, failed_timing, make_timing

SIXTEEN = {"heads": 16, "d_head": 128, "dtype": "bfloat16"}
DECODE = SIXTEEN | {"queries": 1, "mask": "causal"}
H100 = DATA_SHEETS["H100"]


def test_a_gpu_and_a_cpu_are_compared_at_the_longest_length_that_both_have():
    cpu = [make_timing(n, n * 1e-6, **DECODE) for n in (4096, 8192, 16_384)]
    gpu = [make_timing(n, 4e-5, **GPU, **DECODE, to_device=6e-5, source="h100.json") for n in (4096, 8192)]
    slow = make_timing(8192, 1.0, **GPU, **DECODE, implementation="SDPA math", source="h100.json")
    others = [failed_timing(8192, **DECODE), make_timing(8192, 1e-9, **DECODE, implementation="core")]
    (said,) = answers.answers([*cpu, *gpu, slow, *others])
    assert said.headline == (
        "A Test GPU is 205 times as fast as this server's CPU (40 µs instead of 8.19 ms) for one token of 16 heads of 128 "
        "against 8,192 keys, bfloat16."
    )
    assert said.basis == (
        "Including a copy of all keys and values for this one token, which no decoder makes, the GPU is 82 times "
        "as fast as the CPU. The GPU is faster from the shortest length on "
        "(4,096 tokens), also including the copy. GPU: Test GPU, SDPA, "
        "bfloat16, recorded 2026-01-31. CPU: Test CPU, 2 cores, 2 threads, SDPA, bfloat16, measured here 2026-01-31."
    )
    (said,) = answers.answers([*cpu, slow])
    assert (
        "A Test GPU takes 122 times as long as this server's CPU (1 s instead of 8.19 ms) for one token"
        in said.headline
    )
    assert "which no decoder makes, the GPU takes 122 times as long as the CPU. " in said.basis
    assert "The GPU is slower at all lengths up to 8,192 tokens" in said.basis and "SDPA math" in said.basis


@pytest.mark.parametrize(
    ("cpu", "gpu", "said"),
    [
        (6.0, 1.0, "it is at most 6 times as fast as the CPU"),
        (1.0, 6.0, "it takes at least 6 times as long as the CPU"),
    ],
)
def test_an_unstable_minimum_of_the_cpu_bounds_the_ratio_with_the_copy(cpu: float, gpu: float, said: str):
    loose = {"settled": False, "visits": 1, "quickest": cpu}
    sides = [make_timing(64, cpu, **loose), make_timing(64, gpu / 2, to_device=gpu / 2, from_device=0.0, **GPU)]
    (found,) = answers.answers(sides)
    assert said in found.basis


@pytest.mark.parametrize("seconds", [8.1e-3, 8.3e-3])
def test_a_ratio_that_is_written_as_one_is_about_as_fast(seconds: float):
    cpu, gpu = make_timing(8192, 8.192e-3, **DECODE), make_timing(8192, seconds, **GPU, **DECODE)
    (said,) = answers.answers([cpu, gpu])
    assert (
        said.headline.startswith("A Test GPU is about as fast as this server's CPU (") and "1 times" not in said.basis
    )


def test_a_cpu_that_emulates_a_dtype_is_compared_in_float32():
    cpu = [make_timing(n, n * 1e-6, **(DECODE | {"dtype": "float32"})) for n in (4096, 8192)]
    emulated = [failed_timing(n, "emulated: bfloat16", **DECODE) for n in (4096, 8192)]
    far = [make_timing(n, 1e-3, **DECODE, device_name="Far CPU", source="far.json") for n in (4096, 8192)]
    gpu = [make_timing(n, 5e-3, **GPU, **DECODE, source="h100.json") for n in (4096, 8192)]
    (said,) = answers.answers([*cpu, *emulated, *far, *gpu])
    assert said.headline == (
        "A Test GPU in bfloat16 is 1.6 times as fast as this server's CPU in float32 (5 ms instead of 8.19 ms) for one token of "
        "16 heads of 128 against 8,192 keys."
    )
    assert (
        "the GPU is 1.6 times as fast as the CPU. The GPU is faster from about 5,000 tokens on, also including the copy."
        in said.basis
    )
    (alone,) = answers.answers([*cpu, *emulated])
    assert alone.headline.startswith(
        "One token of 16 heads of 128 against 8,192 keys, float32: 8.19 ms on this server's CPU."
    )


def test_lengths_that_were_left_out_are_named_with_the_reason():
    cpu = [make_timing(n, n * 1e-6, **DECODE) for n in (2048, 4096)]
    late = [failed_timing(n, f"over the time budget: {n}", **DECODE) for n in (8192, 16_384, 4096)]
    other = failed_timing(512, **DECODE, implementation="SDPA math")
    gpu = [make_timing(n, 4e-5, **GPU, **DECODE) for n in (2048, 4096, 8192)]
    (said,) = answers.answers([*cpu, *late, other, *gpu, failed_timing(65_536, **GPU, **DECODE)])
    assert " At 8,192 keys, where no CPU was timed, the GPU takes 40 µs. GPU: Test GPU" in said.basis
    assert "against 4,096 keys" in said.headline and said.basis.endswith(
        " Not timed on this server's CPU: 8,192 and 16,384 tokens (over the time budget: 8192)."
        " Not timed on a Test GPU: 65,536 tokens (out of memory: 9 GiB)."
    )
    (alone,) = answers.answers([*cpu, *late])
    assert "Not timed on this server's CPU: 8,192 and 16,384 tokens" in alone.basis
    (short,) = answers.answers([*cpu, failed_timing(8192, "emulated: bfloat16", **DECODE)])
    assert "Not timed" not in short.basis


def test_settings_are_not_mixed():
    cpu = make_timing(64, 1e-3, **SIXTEEN)
    for other in (
        {"queries": 1},
        {"kv_heads": 4},
        {"window": 8},
        {"dtype": "float32"},
        {"batch": 2},
        {"mask": "causal"},
    ):
        said = [each.text for each in answers.answers([cpu, make_timing(64, 1e-6, **(GPU | SIXTEEN | other))])]
        no_cpu = (
            "CPU times at these sizes are of other settings" if {"mask", "dtype"} & set(other) else "No CPU was timed"
        )
        assert len(said) == 2 and "No GPU was timed at these sizes" in said[0] and no_cpu in said[1], other


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "64 tokens, 16 heads of 128, bfloat16"),
        ({"mask": "causal"}, "64 tokens, 16 heads of 128, causal, bfloat16"),
        (
            {"queries": 1, "mask": "causal", "batch": 8},
            "8 sequences of one token of 16 heads of 128 against 64 keys, bfloat16",
        ),
        ({"queries": 5, "kv_heads": 2}, "5 tokens of 16 heads of 128 against 64 keys, 2 key-value heads, bfloat16"),
        (
            {"window": 32, "mask": "causal", "passes": "forward + backward"},
            "64 tokens, 16 heads of 128, window 32, causal, bfloat16, forward + backward",
        ),
    ],
)
def test_a_setting_in_words(more, words):
    assert answers.describe(make_timing(64, **(SIXTEEN | more))).lower() == words.lower()


def test_a_limit_is_the_larger_of_products_and_traffic_with_one_launch():
    long = limit(make_timing(8192, **SIXTEEN, mask="causal").case, H100, BUSES["PCIe 4.0 x16"])
    pairs = 8192 * 8193 / 2
    assert long.seconds == pytest.approx(4 * 16 * 128 * pairs / 989.4e12 + LAUNCH)
    assert long.transfer == pytest.approx(4 * 8192 * 16 * 128 * 2 / 25e9)
    assert long.reason == "its matrix products"
    one = limit(make_timing(8192, **DECODE).case, H100, BUSES["PCIe 4.0 x16"])
    assert one.seconds == pytest.approx(2 * 16 * 128 * 2 * (8192 + 1) / 3350e9 + LAUNCH)
    assert one.reason == "its memory's bandwidth"
    assert limit(make_timing(64, **DECODE).case, H100, 1e9).reason == "the launch"
    window = limit(make_timing(8192, **SIXTEEN, mask="causal", window=64).case, H100, 1e9)
    assert window.products < long.products / 50


def test_a_limit_knows_the_dtype():
    case = make_timing(8192, heads=16, d_head=128).case
    assert limit(case, H100, 1e9).products == pytest.approx(4 * 16 * 128 * 8192**2 / 66.9e12)
    assert limit(make_timing(64, **SIXTEEN).case, DATA_SHEETS["T4"], 1e9) is None
    assert limit(make_timing(64, **(SIXTEEN | {"dtype": "float16"})).case, DATA_SHEETS["T4"], 1e9) is not None


def test_no_time_that_was_recorded_of_a_gpu_is_below_its_limit():
    shipped = [timing for timing in recordings.shipped_recordings() if timing.device_name.startswith("NVIDIA H100")]
    ratios = {
        timing.case: timing.seconds / bound.seconds
        for timing in shipped
        if timing.error is None and (bound := limit(timing.case, H100, BUSES["PCIe 5.0 x16"]))
    }
    assert len(ratios) > 1000
    assert min(ratios.values()) > 1
    assert min(ratios.values()) < 1.2, "the limit is near what is reached"


def test_where_no_gpu_was_timed_the_limit_brackets_from_which_length_one_can_pay():
    cpu = [make_timing(n, seconds, **SIXTEEN) for n, seconds in ((64, 1e-6), (256, 1e-5), (1024, 1.0))]
    said = answers.answers(cpu)[0].text
    assert "By its data sheet an H100 SXM5 takes at least" in said
    assert (
        "A GPU can be faster from 256 tokens on, and not at 64; including the copy to the GPU and back, from 1,024 tokens on"
        in said
    )
    (none,) = answers.answers(cpu[:1])
    assert "A GPU can be faster at none of these lengths" in none.basis


def test_every_gpu_has_an_answer_the_visitors_first():
    cpu = [make_timing(64, 1e-3), make_timing(64, 1e-3, source="far.json", device_name="Far CPU")]
    mine = {"device": WEBGPU, "device_name": "Acme 9", "source": BROWSER, "implementation": "WebGPU fused"}
    gpus = [make_timing(64, 1e-5, **GPU, source="x.json"), make_timing(64, 4e-3, **mine)]
    first, second = answers.answers([*cpu, *gpus])
    assert first.headline.startswith(
        "Your GPU (Acme 9) takes 4 times as long as this server's CPU (4 ms instead of 1 ms) for 64 tokens, 8 heads of 64, "
        "float32"
    )
    assert "The GPU is slower at all lengths up to 64 tokens, also including the copy." in first.basis
    assert "A Test GPU is 100 times as fast as this server's CPU (10 µs instead of 1 ms)" in second.headline
    assert "The GPU is" not in second.basis, "one length says it all"


def test_sizes_without_timings_have_the_limit_of_a_data_sheet():
    said = answers.untimed(make_timing(8192, **DECODE).case)
    assert said.headline == (
        "One token of 16 heads of 128 against 8,192 keys, bfloat16: not timed yet. By its data sheet an H100 SXM5 takes at "
        "least 23 µs, limited by its memory's bandwidth."
    )
    assert "“Measure here”" in said.basis


def test_the_longest_length_with_stable_times_is_quoted_and_one_without_is_said_to_be_approximate():
    cpu = [make_timing(n, n * 1e-6, **DECODE) for n in (2048, 4096)]
    gpu = [make_timing(2048, 4e-5, **GPU, **DECODE), make_timing(4096, 4e-5, visits=1, settled=False, **GPU, **DECODE)]
    (said,) = answers.answers([*cpu, *gpu])
    assert "against 2,048 keys" in said.headline and not said.caution
    (said,) = answers.answers([*cpu, gpu[1]])
    assert "against 4,096 keys" in said.headline
    assert said.caution == "Approximate: unstable."
    assert " took 40 µs and " in said.headline and "times as fast" not in said.headline, "no ratio of unstable times"
    assert f"{said.first} {said.rest}" == said.basis


def test_a_gpu_without_a_cpu_says_which_settings_a_cpu_was_timed_with():
    cpu, gpu = make_timing(64, 1e-3), make_timing(64, 1e-6, mask="causal", **GPU)
    with_both = answers.answers([cpu, make_timing(64, 1e-6, **GPU), gpu])
    assert [each.setting for each in with_both] == ["full mask", "causal mask"]
    assert "CPU times at these sizes are of other settings (full mask)" in with_both[1].text
    assert answers.NO_CPU in answers.answers([gpu])[0].text
    assert answers.NO_CPU in answers.answers([replace(cpu, length=128), gpu])[1].text


def test_the_answer_of_the_shipped_timings_has_the_same_crossing_as_the_lines_that_charts_draw():
    like = [timing for timing in recordings.shipped_recordings() if is_like(timing, Sweep())]
    (drawn,) = comparison.crossovers(timing for timing in like if timing.implementation == "SDPA")
    assert drawn.partition(": ")[2] in answers.answers(like)[0].text

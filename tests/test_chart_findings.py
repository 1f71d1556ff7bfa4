"""The sentence of each chart of times: numbers that are reckoned by hand, and unstable times that do not count."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from attention.charts.line_ends import MOST
from attention.number_format import format_percent
from attention.timing import chart_findings, comparison, cpu_gpu_series
from attention.timing.chart_findings import (
    cpu_gpu_finding,
    flat_times,
    growth_finding,
    line_finding,
    missing_times,
    pair_finding,
    rising_lengths,
    time_finding,
)
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.timing.cpu_gpu_summary import times
from attention.timing.data_sheets import DATA_SHEETS
from attention.timing.line_choice import usual_lines
from attention.timing.line_names import machine_in_sentence
from attention.timing.recordings import lines, shipped_recordings
from attention.timing.setting_finding import alike_kernel, alike_masks
from attention.timing.units import size
from attention.ui.views import timing_chart, timing_lines
from tests.timings import GPU, failed_timing, line, lowest, make_timing

SIZES = {"heads": 32, "d_head": 64, "mask": "causal", "tokens": 16_384}
LENGTHS = (512, 1024, 2048, 4096)


def series(seconds: float, **more) -> list:
    """A line of the picture, whose time is so many seconds at 512 tokens and grows with the length."""
    return [make_timing(n, seconds * n / 512, 0.01, batch=16_384 // n, **(SIZES | more)) for n in LENGTHS]


CPU = series(1.0)
CARD = series(0.001, dtype="bfloat16", to_device=0.01, from_device=0.005, **GPU)


def finding_of(picture: str, timings: list, transfer: str = "without and with") -> str:
    versus = CpuGpuSettings(picture=picture, transfer=transfer)
    return cpu_gpu_finding(cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings), versus)


def test_each_picture_of_cpu_and_gpu_has_a_finding_of_its_own():
    timings = [*CPU, *CARD]
    said = "as this server's CPU in float32, counting the copy. Without the copy, 1,000 times as fast."
    assert finding_of("time", timings) == f"At 4,096 tokens a Test GPU in bfloat16 is 348 times as fast {said}"
    assert finding_of("time", timings, "without").startswith(
        "At 4,096 tokens a Test GPU in bfloat16 is 1,000 times as fast as"
    )
    assert finding_of("times faster", timings, "without").startswith(
        "From 512 to 4,096 tokens a Test GPU in bfloat16 is 1,000 times as fast as"
    )
    low, high = 1 / (0.001 + 0.015), 8 / (0.008 + 0.015)
    copied = finding_of("times faster", timings, "with")
    assert copied == finding_of("times faster", timings), "as both are shown and the copy was measured"
    assert (
        f"is {low:.0f} times as fast as" in copied
        and f", and {high:.0f} times at 4,096" in copied
        and copied.endswith(", counting the copy. Without the copy, 1,000 times as fast.")
    )
    versus = CpuGpuSettings(picture="rate")
    gpus, cpu = cpu_gpu_series.gpus(versus, timings), cpu_gpu_series.cpu(versus, timings)
    assert cpu is not None
    highest, base = (max(p.rate for each in some for p in each.points) / 1e12 for some in (gpus, [cpu]))
    assert f"reaches {highest:.3g} TFLOP/s at" in finding_of("rate", timings)
    assert f"reaches {base:.3g} TFLOP/s at" in finding_of("rate", timings)
    pictures = ("time", "times faster", "rate")
    assert len({finding_of(picture, timings) for picture in pictures} | {finding_of("limits", CPU)}) == 4


def test_float32_moves_twice_the_bytes_per_operation():
    half, whole = (cpu_gpu_series.intensity(1024, CpuGpuSettings(), dtype) for dtype in ("float32", "bfloat16"))
    assert whole == 2 * half


def test_the_share_of_a_limit_is_that_of_the_data_sheet():
    versus = CpuGpuSettings(picture="limits")
    points = [
        (g, p) for g in cpu_gpu_series.gpus(versus, []) if g.device in DATA_SHEETS and not g.setting for p in g.points
    ]
    shares = []
    for gpu, point in points:
        sheet, intensity = DATA_SHEETS[gpu.device], cpu_gpu_series.intensity(point.length, versus)
        shares.append(point.rate / min(sheet.teraflops * 1e12, sheet.gigabytes * 1e9 * intensity))
    assert shares and f"reaches at most {max(shares) * 100:.1f}% of the limit of its data sheet" in finding_of(
        "limits", []
    )


def test_an_unstable_time_is_in_no_range():
    loose = [make_timing(4096, 4000.0, 9000.0, settled=False, batch=4, **SIZES)]
    assert finding_of("times faster", [*CPU[:-1], *loose, *CARD], "without").startswith("From 512 to 2,048 tokens")


SLOW = line(LENGTHS, [0.1, 0.2, 0.4, 0.8], 0.01, peak_bytes=2**24)
FAST = line(LENGTHS, [0.1, 0.1, 0.1, 0.1], 0.01, peak_bytes=2**22, to_device=0.1, from_device=0.2, **GPU)


@pytest.mark.parametrize(
    ("chart", "said"),
    [
        (
            "time",
            "At 4,096 tokens SDPA on a Test GPU is the fastest of 2 lines (100 ms); SDPA on this server's CPU takes 8 times as "
            "long.",
        ),
        (
            "speed-up",
            "A Test GPU takes about as long as this server's CPU at 512 tokens; at 4,096 it is 8 times as fast.",
        ),
        (
            "memory",
            "At 4,096 tokens SDPA on a Test GPU needs 4 MiB beyond the inputs; SDPA on this server's CPU, 4 times as much.",
        ),
        (
            "transfer",
            "At 4,096 tokens, copying to a Test GPU and back takes 75.0% of the time, computing the rest. Data that stays there "
            "needs no copy.",
        ),
    ],
)
def test_each_chart_of_lines_has_a_finding_of_its_own(chart, said):
    assert line_finding(chart, [*SLOW, *FAST]) == said


def test_the_speed_up_counts_the_transfer_if_asked():
    assert line_finding("speed-up", [*SLOW, *FAST], transfer=True) == (
        "With the copy, a Test GPU is faster than this server's CPU from about 2,048 tokens on; at 4,096 tokens it "
        "is 2 times as fast."
    )


def test_implementations_are_compared_on_their_machine_and_memory_is_that_of_one_machine():
    textbook = line(
        LENGTHS, [0.2, 0.4, 0.8, 1.6], 0.01, implementation="matmul softmax matmul", peak_bytes=2**25, **GPU
    )
    found = line_finding("speed-up", [*FAST, *textbook], "matmul softmax matmul")
    assert found.startswith("On a Test GPU, SDPA is faster than matmul softmax matmul at every length timed")
    assert line_finding("memory", [*FAST, *SLOW, *textbook]) == (
        "At 4,096 tokens on a Test GPU, matmul softmax matmul needs 8 times as much memory as SDPA. SDPA needs 4 MiB beyond the "
        "inputs."
    )


def shipped_charts():
    """Every chart of every setting that was recorded, as it opens."""
    settings: dict[tuple, list] = {}
    for timing in shipped_recordings():
        settings.setdefault(comparison.setting(timing), []).append(timing)
    for timings in settings.values():
        for chart in timing_chart.available_charts(timings):
            yield chart, timings


def test_what_the_charts_of_the_recordings_say_is_true_of_what_they_draw():
    """Numbers are reckoned again from the timings; every sentence names a line that is drawn, and few lines are."""
    for chart, timings in shipped_charts():
        if chart == "break-even":  # whose sentence is that of ratios
            continue
        bases = comparison.bases(timings)
        more = {"against": timing_chart.first_base(bases)} if chart == "speed-up" else {}
        pairs = timing_lines.comparable_timings(timings, more["against"]) if more else timings
        drawn = usual_lines(pairs, chart, MOST)
        said = line_finding(chart, drawn, **more)
        assert len(lines(drawn)) <= (4 if chart == "speed-up" else 3)
        known = {(t.implementation, machine_in_sentence(t)) for t in drawn}
        for name, where in re.findall(
            r"(?:At [\d,]+ tokens|the time of|matmul of|;) (.+?) on (an? [^,;]+?)(?: is| takes| needs| reaches| [\d.]+%|,|;|\.)",
            said,
        ):
            assert (name, where) in known, said
        if chart == "speed-up" and (at := re.search(r"; at ([\d,]+)(?: tokens)? it is ([\d.,]+) times", said)):
            at_length = [t for t in drawn if t.settled and t.length == int(at[1].replace(",", ""))]
            ratios = [a.seconds / b.seconds for a in at_length for b in at_length]
            assert any(times(ratio) == at[2] for ratio in ratios), said
        if rough := re.search(r" is roughly ([\d.,]+) times as fast as .* at ([\d,]+) tokens", said):
            at_length = [t for t in drawn if t.length == int(rough[2].replace(",", ""))]
            assert not any(t.settled for t in drawn if t.device == "cpu") or not any(t.settled for t in at_length)
            assert any(times(a.seconds / b.seconds) == rough[1] for a in at_length for b in at_length), said
        if chart == "memory" and said:
            length = int(re.search(r"[Aa]t ([\d,]+)", said)[1].replace(",", ""))
            bytes_at = [t.peak_bytes for t in drawn if t.length == length and t.peak_bytes]
            assert any(size(each) in said for each in bytes_at)
            factors = [times(a / b) for a in bytes_at for b in bytes_at]
            assert any(f" {each} times as much" in said or (each == "1" and "about as" in said) for each in factors), (
                said
            )
        if chart == "transfer" and said:
            length = int(re.search(r"At ([\d,]+) tokens, copying", said)[1].replace(",", ""))
            shares = [t.transfer / (t.transfer + t.seconds) for t in drawn if t.length == length]
            assert any(format_percent(share) in said for share in shares), said


def test_the_roofline_compares_shares_of_the_limit_at_the_longest_length_of_all_devices():
    rates = {"operations": 3e9, "peak_operations": 4e9, "traffic": 1e6, "peak_traffic": 1e9}
    found = line((512,), [1.0], 0.01, **rates)
    assert (
        line_finding("roofline", found)
        == "At 512 tokens SDPA reaches 75.0% of the measured limit of this server's CPU."
    )
    slow_copy = [
        replace(each, peak_traffic=1e6) for each in found
    ]  # bound by memory: 3e3 operations per byte at 1e6 bytes/s
    assert (
        line_finding("roofline", slow_copy)
        == "At 512 tokens SDPA reaches all of the measured limit of this server's CPU."
    )
    longer, card = line((1024,), [0.8], 0.01, **rates), line((512, 1024), [2.0, 1.0], 0.01, **rates, **GPU)
    card = [card[0], replace(card[1], settled=False)]
    assert line_finding("roofline", [*found, *longer, *card]) == (
        "At 512 tokens SDPA reaches 75.0% of the measured limit of this server's CPU, and 37.5% of that of a Test GPU."
    ), "the longest length with stable times of both"
    assert line_finding("roofline", [*longer, *card]) == (
        "At 1,024 tokens SDPA reaches 93.8% of the measured limit of this server's CPU, and at 512 tokens 37.5% of that of a "
        "Test GPU."
    ), "each at its own stable length"
    half = [replace(each, dtype="bfloat16", median=each.median / 2) for each in card]
    assert line_finding("roofline", [*half, *found, *card]) == (
        "At 512 tokens SDPA (float32) reaches 75.0% of the measured limit of this server's CPU, and 37.5% of that of a Test GPU."
    ), "in one precision"


def test_a_line_without_a_time_at_a_length_of_another_is_named_with_the_reason():
    cpu, card = line((512, 1024), [1.0, 2.0]), line((512, 1024, 2048), [1.0, 2.0, 3.0], **GPU)
    assert missing_times([*cpu, *card[:2]]) == ""
    assert missing_times([*cpu, *card]) == "SDPA on this server's CPU has no time at 2,048 tokens."
    slow = failed_timing(2048, "over the time budget: 900 s")
    assert (
        missing_times([*cpu, slow, *card])
        == "SDPA on this server's CPU has no time at 2,048 tokens (over the time budget)."
    )


def test_the_growth_is_that_of_each_device_where_it_is_known():
    cpu, card = line(LENGTHS, [1, 4, 16, 64]), line(LENGTHS, [1, 2, 4, 8], **GPU)
    assert growth_finding([*cpu, *card]) == (
        "For twice the text this server's CPU takes 4 times as long on average from 512 to 4,096 tokens, a Test GPU 2 times."
    )
    longer = [*cpu, *line((8192,), [1024])]  # a length that only one of the two has, where the time grows faster
    later = "; from 4,096 to 8,192, this server's CPU 16 times."
    assert growth_finding([*longer, *card]) == f"{growth_finding([*cpu, *card])[:-1]}{later}"
    assert growth_finding([*longer, *card], brief=True) == growth_finding([*cpu, *card]).replace(
        "twice the text", "twice the text (4 times the operations)"
    )
    assert growth_finding([*cpu, *card[:2]]) == (
        "For twice the text this server's CPU takes 4 times as long on average from 512 to 4,096 tokens; for a Test GPU too few "
        "times are stable to tell."
    )
    assert growth_finding([]) == growth_finding(card[:2]) == ""
    flat = line(LENGTHS, [1, 1.01, 1.02, 4], **GPU)
    assert time_finding(flat).startswith("From 512 to 2,048 tokens SDPA on a Test GPU takes about as long")
    masked = line(LENGTHS, [1, 2, 4, 8], **GPU | {"mask": "causal"})
    assert growth_finding([*cpu, *card, *masked]) == "", "two lines of one device would have one name"


def test_the_kernel_that_sdpa_seems_to_run_is_named_where_all_times_are_alike():
    own, kernel = line(LENGTHS, [1, 2, 4, 8], **GPU), {"implementation": "SDPA cuDNN", **GPU}
    assert "SDPA and SDPA cuDNN take the same time" in alike_kernel([*own, *line(LENGTHS, [1.01, 2, 4.1, 8], **kernel)])
    assert alike_kernel([*own, *line(LENGTHS, [1.2, 2, 4, 8], **kernel)]) == "", "one length differs"
    assert alike_kernel([*own, *line(LENGTHS, [1, 2, 4, 8], **kernel, dtype="float16")]) == ""


def test_ratios_of_unstable_times_are_rough_and_say_why():
    once = {"settled": False, "visits": 1, "quiet": 1}
    cpu = [lowest(n, seconds, **once | {"repeated": None}) for n, seconds in ((64, 1.0), (256, 4.0))]
    card = [lowest(n, 2.0, **GPU, **once | {"repeated": None}) for n in (64, 256)]
    assert line_finding("speed-up", [*cpu, *card]) == (
        "A Test GPU seems faster than this server's CPU from somewhere between 64 and 256 tokens on; at 256 tokens it is "
        "roughly 2 times as fast, by unstable times (timed once)."
    )
    slow = [lowest(n, 1.0) for n in (64, 256)]
    fast = [lowest(n, 2.0, **GPU) for n in (64, 256)]
    assert line_finding("speed-up", [*slow, *fast]) == (
        "A Test GPU takes 2 times as long as this server's CPU at 256 tokens."
    )


def test_a_causal_mask_that_saves_no_time_is_said_to_unless_it_masks_less_than_half():
    both = [make_timing(512, 1.0, mask=mask) for mask in ("full", "causal")]
    assert alike_masks(both).endswith("about half of the pairs are masked, but that saves no time here.")
    assert alike_masks([replace(timing, queries=1) for timing in both]) == "", (
        "one query sees all keys with either mask"
    )
    longer = [make_timing(1024, seconds, mask=mask) for mask, seconds in (("full", 2.0), ("causal", 1.0))]
    assert alike_masks([*both, *longer]) == "", "a longer text does save time"
    half = [replace(timing, dtype="bfloat16") for timing in both]
    assert "in bfloat16 takes about as long" in alike_masks([*both, *longer, *half])


def test_memory_is_compared_between_lines_that_differ_in_one_thing():
    lines = [
        make_timing(512, peak_bytes=size, dtype=dtype, mask=mask, **GPU)
        for size, dtype, mask in ((2**23, "bfloat16", "full"), (2**24, "float32", "full"), (2**30, "float32", "causal"))
    ]
    assert line_finding("memory", lines) == (
        "At 512 tokens on a Test GPU, SDPA needs 2 times as much memory with float32 as with bfloat16. With bfloat16, it needs 8 "
        "MiB beyond the inputs."
    )
    assert line_finding("memory", [lines[0], lines[2]]).endswith("needs 8 MiB beyond the inputs.")


def test_a_ratio_of_one_of_several_settings_names_it():
    timings = [
        timing
        for dtype in ("float32", "bfloat16")
        for timing in (
            *line(LENGTHS, [1, 2, 4, 8], dtype=dtype),
            *line(LENGTHS, [0.1, 0.2, 0.4, 0.8], dtype=dtype, **GPU),
        )
    ]
    assert line_finding("speed-up", timings).startswith("With float32, a Test GPU is faster than this server's CPU")


def test_of_several_implementations_the_headline_names_its_own():
    timings = [*line(LENGTHS, [1, 2, 4, 8]), *line(LENGTHS, [0.1, 0.2, 0.4, 0.8], **GPU)]
    assert line_finding("speed-up", timings).startswith("A Test GPU is faster")
    assert line_finding("speed-up", timings, several=True).startswith("With SDPA, a Test GPU is faster")


def test_what_cannot_be_compared_has_no_finding():
    assert line_finding("time", []) == line_finding("speed-up", SLOW) == line_finding("transfer", SLOW) == ""
    assert line_finding("memory", line((512,), [1.0], 0.01, peak_bytes=None)) == ""
    assert line_finding("time", SLOW) == "At 4,096 tokens SDPA on this server's CPU takes 800 ms."


def test_marks_of_the_roofline_are_called_lengths_from_left_to_right_only_where_they_are():
    rising = [make_timing(64, traffic=1e7), make_timing(128, operations=4e9, traffic=2e7)]
    assert rising_lengths(rising) == (64, 128)
    assert rising_lengths([*rising, make_timing(256, operations=4e9, traffic=4e7)]) is None


def test_times_of_a_gpu_that_hardly_grow_with_the_length_are_said_to_be_a_fixed_cost():
    flat = line([64, 128, 256, 512], [1e-5, 1.1e-5, 1.2e-5, 4e-5], **GPU)
    assert flat_times(flat) == (
        "From 64 to 256 tokens SDPA on a Test GPU takes about as long (10 µs to 12 µs): nearly all of it is the "
        "fixed cost of a call."
    )
    assert not flat_times(flat[:2]) and not flat_times(line([64, 128, 256], [1e-5] * 3))


@pytest.mark.parametrize(("is_bound", "said"), [(True, "at least 55%"), (False, "roughly 56%")])
def test_an_unstable_minimum_bounds_a_share_of_a_limit(is_bound, said):
    unstable: Any = SimpleNamespace(settled=False, is_bound=is_bound)
    assert chart_findings._share(0.5587, unstable) == said


def test_memory_that_is_the_output_alone_is_said_to_be():
    fused = make_timing(512, peak_bytes=2**20, heads=8, d_head=64, **GPU)
    steps = make_timing(512, peak_bytes=2**24, heads=8, d_head=64, implementation="SDPA math", **GPU)
    assert line_finding("memory", [fused, steps]).endswith(" needs 1 MiB beyond the inputs, which is its output alone.")
    more = [make_timing(512, peak_bytes=2**21, heads=8, d_head=64, **GPU), steps]
    assert "output alone" not in line_finding("memory", more)


def test_two_machines_are_compared_by_times_and_by_a_length_where_their_lines_cross():
    cpu, card = line(LENGTHS, [1, 4, 16, 64]), line(LENGTHS, [2, 2, 2, 2], **GPU)
    assert "is faster than this server's CPU from about" in pair_finding([*cpu, *card])
    longer = line((8192,), [512], settled=False, quickest=512.0)
    cpu, card = line(LENGTHS, [2, 4, 16, 64]), line((*LENGTHS, 8192), [1, 2, 4, 8, 16], **GPU)
    assert pair_finding([*cpu, *longer, *card]) == (
        "At 4,096 tokens a Test GPU takes 8 s and this server's CPU 64 s, 8 times as long. At 8,192, at most 32 times as long, "
        "by unstable times."
    )
    assert time_finding([*cpu, *card]) == pair_finding([*card, *cpu]), "before the growth of each"
    unstable = line(LENGTHS[-1:], [8], **GPU | {"settled": False})
    assert pair_finding([*cpu, *card[:3], *unstable]).startswith("At 2,048 tokens a Test GPU takes 4 s and")
    assert pair_finding(cpu) == pair_finding([*cpu, *line(LENGTHS, [9] * 4, **GPU | {"dtype": "bfloat16"})]) == ""

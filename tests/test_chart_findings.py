"""The sentence of each chart of times: numbers that are reckoned by hand, and unstable times that do not count."""

from __future__ import annotations

import pytest

from attention.timing import cpu_gpu_series
from attention.timing.chart_findings import cpu_gpu_finding, line_finding
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.timing.data_sheets import DATA_SHEETS
from tests.timings import GPU, line, make_timing

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
    assert finding_of("time", timings).startswith("At 4,096 tokens a Test GPU in bfloat16 is 1,000 times as fast as")
    assert finding_of("times faster", timings).startswith(
        "From 512 to 4,096 tokens a Test GPU in bfloat16 is 1,000 times as fast as"
    )
    low, high = 1 / (0.001 + 0.015), 8 / (0.008 + 0.015)
    copied = finding_of("times faster", timings, "with")
    assert f"is {low:.0f} to {high:.0f} times as fast as" in copied and copied.endswith(", the copy included.")
    versus = CpuGpuSettings(picture="rate")
    gpus, cpu = cpu_gpu_series.gpus(versus, timings), cpu_gpu_series.cpu(versus, timings)
    assert cpu is not None
    highest, base = (max(p.rate for each in some for p in each.points) / 1e12 for some in (gpus, [cpu]))
    assert f"reaches {highest:.3g} TFLOP/s at" in finding_of("rate", timings)
    assert f"reaches at most {base:.3g} TFLOP/s." in finding_of("rate", timings)
    assert len({finding_of(picture, timings) for picture in ("time", "times faster", "rate", "limits")}) == 4


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
    assert finding_of("times faster", [*CPU[:-1], *loose, *CARD]).startswith("From 512 to 2,048 tokens")


SLOW = line(LENGTHS, [0.1, 0.2, 0.4, 0.8], 0.01, peak_bytes=2**24)
FAST = line(LENGTHS, [0.1, 0.1, 0.1, 0.1], 0.01, peak_bytes=2**22, to_device=0.1, from_device=0.2, **GPU)


@pytest.mark.parametrize(
    ("chart", "parts"),
    [
        ("time", ("At 4,096 tokens", "is the fastest of 2 lines (100 ms)", "takes 8 times as long.")),
        ("speed-up", ("At 4,096 tokens", "Test GPU", "is 8 times as fast as the CPU.")),
        ("memory", ("needs 4 MiB, the least of 2 lines", "needs 4 times as much.")),
        ("transfer", ("Copying takes 75.0% of a call of SDPA", "at 4,096 tokens.")),
    ],
)
def test_each_chart_of_lines_has_a_finding_of_its_own(chart, parts):
    found = line_finding(chart, [*SLOW, *FAST])
    assert all(part in found for part in parts), found


def test_the_speed_up_counts_the_transfer_if_asked():
    assert "is 2 times as fast as the CPU, with the copy." in line_finding("speed-up", [*SLOW, *FAST], transfer=True)


def test_the_roofline_names_the_line_that_is_nearest_to_its_peak():
    found = line((512,), [1.0], 0.01, operations=3e9, peak_operations=4e9, traffic=1e6, peak_traffic=1e9)
    assert "At 512 tokens SDPA reaches 75.0% of the peak" in line_finding("roofline", found)


def test_what_cannot_be_compared_has_no_finding():
    assert line_finding("time", []) == line_finding("speed-up", SLOW) == line_finding("transfer", SLOW) == ""
    assert line_finding("memory", line((512,), [1.0], 0.01, peak_bytes=None)) == ""
    assert line_finding("time", SLOW).endswith("takes 800 ms at 4,096 tokens.")

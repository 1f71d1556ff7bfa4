"""What others have published of GPUs: some of it transcribed once more, and the papers' conventions by hand."""

from __future__ import annotations

import pytest

from attention.timing.cpu_gpu_settings import METHODS
from attention.timing.data_sheets import DATA_SHEETS
from attention.timing.published import LENGTHS, PRINTED, Series, methods, operations, series, together

OOM = None
CELLS = [  # transcribed apart from the module: GPU, pass, mask, d_head, method, TFLOP/s of 512 to 16,384 tokens
    ("A100", "forward + backward", "full", 64, "PyTorch", [36, 40, 43, 45, 46, OOM]),
    ("A100", "forward + backward", "full", 128, "FlashAttention-2", [151, 173, 187, 196, 201, 203]),
    ("A100", "forward + backward", "causal", 64, "FlashAttention-2", [88, 119, 140, 156, 165, 171]),
    ("A100", "forward + backward", "causal", 128, "xformers", [58, 72, 82, 87, 91, 92]),
    ("H100", "forward + backward", "causal", 64, "FlashAttention-2", [141, 192, 232, 257, 273, 284]),
    ("H100", "forward + backward", "full", 128, "FlashAttention", [127, 127, 128, 131, 137, 139]),
    ("H100", "forward", "causal", 64, "FlashAttention-3", [197, 265, 371, 420, 460, 473]),
    ("H100", "forward", "causal", 128, "FlashAttention-3", [292, 423, 521, 579, 602, 616]),
    ("H100", "forward", "full", 64, "standard attention", [52, 63, 67, 72, 73, OOM]),
    ("H100", "forward", "full", 128, "cuDNN", [497, 574, 617, 609, 600, 595]),
    ("H100", "forward", "causal", 64, "Triton", [152, 291, 342, 363, 376, 363]),
]
H200 = [  # milliseconds and TFLOP/s as printed: pass, mask, tokens, ms, TFLOP/s
    ("forward", "causal", 2048, 0.142, 484),
    ("forward", "causal", 16_384, 6.531, 673),
    ("forward", "full", 8192, 3.182, 691),
    ("backward", "causal", 4096, 1.450, 474),
    ("backward", "full", 32_768, 153.841, 572),
]


def of(gpu: str, passes: str, mask: str, d_head: int, method: str) -> Series:
    (found,) = (
        each
        for each in series()
        if (each.printed.gpu, each.printed.passes, each.mask, each.d_head, each.method)
        == (gpu, passes, mask, d_head, method)
    )
    return found


@pytest.mark.parametrize(("gpu", "passes", "mask", "d_head", "method", "rates"), CELLS)
def test_a_line_is_as_it_was_printed(gpu, passes, mask, d_head, method, rates):
    assert of(gpu, passes, mask, d_head, method).rates == dict(zip(LENGTHS, rates, strict=True))


@pytest.mark.parametrize(("passes", "mask", "length", "ms", "rate"), H200)
def test_milliseconds_of_an_h200_give_the_printed_rate_by_the_convention_that_is_used(passes, mask, length, ms, rate):
    count = operations(length, 1, 64 * 128, mask == "causal", False) * (1 if passes == "forward" else 2.5)
    assert count / (ms * 1e-3) / 1e12 == pytest.approx(rate, rel=0.005)
    assert of("H200", passes, mask, 128, "cuDNN").rates[length] == rate


def test_what_was_read_through_a_legend_is_marked():
    assert of("A100", "forward + backward", "full", 64, "FlashAttention-2").unsure == {1024}
    assert of("A100", "forward + backward", "full", 128, "FlashAttention-2").unsure == {512, 1024}
    assert of("H100", "forward + backward", "full", 128, "FlashAttention-2").unsure == {1024}
    assert of("H100", "forward", "full", 128, "cuDNN").unsure == {512, 1024}
    assert of("H100", "forward", "full", 128, "FlashAttention-3").unsure == {1024}
    assert sum(len(each.unsure) for each in series()) == 7


@pytest.mark.parametrize(
    ("gpu", "passes", "mask", "method", "length", "seconds"),
    [
        # 4 · 4,096² · 64 · 32 heads · 4 sequences / 2 = 2.749e11 operations, at 420e12 a second
        ("H100", "forward", "causal", "FlashAttention-3", 4096, 2.748779e11 / 420e12),
        # 4 · 512² · 64 · 32 · 32 = 6.872e10, 3.5 times that with the backward pass, at 132e12 a second
        ("A100", "forward + backward", "full", "FlashAttention-2", 512, 3.5 * 6.871948e10 / 132e12),
        # 4 · 16,384² · 64 · 32 · 1 = 2.199e12, at 497e12 a second
        ("H100", "forward", "full", "FlashAttention-3", 16_384, 2.199023e12 / 497e12),
    ],
)
def test_seconds_are_operations_over_the_rate(gpu, passes, mask, method, length, seconds):
    assert of(gpu, passes, mask, 64, method).seconds(length) == pytest.approx(seconds, rel=1e-6)


def test_what_ran_out_of_memory_has_no_time():
    line = of("H100", "forward", "causal", 64, "standard attention")
    assert line.rates[16_384] is None and line.seconds(16_384) is None
    assert line.seconds(8192) is not None


def test_passes_that_were_timed_apart_are_added():
    forward, backward = (of("H200", passes, "causal", 128, "cuDNN") for passes in ("forward", "backward"))
    count = operations(4096, 1, 8192, True, True)
    assert together(forward, backward)[4096] == pytest.approx(count / ((0.465 + 1.450) * 1e-3) / 1e12, rel=0.005)


def test_every_table_names_its_place_and_every_method_can_be_chosen():
    assert len(series()) == 16 + 12 + 20 + 2 + 2
    for printed in PRINTED:
        assert printed.place and printed.address.startswith("https://") and printed.dtype in ("float16", "bfloat16")
        assert printed.gpu in DATA_SHEETS
    assert {each.method for each in series()} == set(METHODS) - {"fastest"}
    assert "FlashAttention-3" not in methods("forward + backward") and "FlashAttention-3" in methods("forward")


def test_nothing_that_was_published_is_over_its_data_sheet():
    sheets = {"A100": (312, 2039), "H100": (989.4, 3350), "H200": (989, 4800), "L4": (121, 300), "T4": (65, 320)}
    for name, (products, memory) in sheets.items():
        assert (DATA_SHEETS[name].operations, DATA_SHEETS[name].traffic) == (products * 1e12, memory * 1e9)
    for each in series():
        assert max(rate or 0 for rate in each.rates.values()) < DATA_SHEETS[each.printed.gpu].teraflops

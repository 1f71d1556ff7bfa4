"""How time grows with length, against powers that are known, and why it is not told where it can't be."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.timing.chart_findings import growth_finding
from attention.timing.growth import WIDEST, growth, of_lines, why_not
from attention.timing.recordings import lines
from tests.timings import GPU, failed_timing, line, make_timing

LENGTHS = [64, 128, 256, 512, 1024]


@settings(deadline=None)
@given(st.floats(-1, 3), st.floats(1e-6, 1e3))
def test_growth_finds_the_power_of_a_power_law(power, factor):
    found = growth(line(LENGTHS, [factor * n**power for n in LENGTHS]))
    assert found.exponent == pytest.approx(power, abs=1e-6)
    assert found.doubling == pytest.approx(2**power)
    assert found.error == pytest.approx(0, abs=1e-5)
    assert found.lengths == (128, 1024)


def test_growth_counts_the_last_points_and_their_scatter():
    assert growth(line([16, 64, 128, 256, 512], [100, 1, 2, 4, 8])).exponent == pytest.approx(1)
    # by hand: log2 of time 0, 1.5, 2 at 0, 1, 2: slope 1, residuals -1/6, 1/3, -1/6, error sqrt(1/6 / 1 / 2)
    scattered = line([1, 2, 4], [1, 2**1.5, 4])
    assert math.sqrt(1 / 12) > WIDEST
    assert growth(scattered) is None
    assert why_not(scattered).startswith("the times do not follow one power law (± 0.29); try a larger time budget")
    near = growth(line([1, 2, 4], [1, 2**1.25, 4]))
    assert (near.exponent, near.error) == (pytest.approx(1), pytest.approx(math.sqrt(1 / 12) / 2))


def test_growth_is_of_what_settled_alone():
    found = line(LENGTHS, [n**2 for n in LENGTHS])
    noise = make_timing(300, 5.0, settled=False), make_timing(4096, 1e-3, settled=False), failed_timing(8192)
    assert growth([*found, *noise]) == growth(found)
    assert growth(found).sentence == (
        "twice the length takes 4 times as long (exponent 2.00 ± 0.00, 128 to 1,024 tokens)"
    )


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([make_timing(64)], "it needs 3 lengths with a time; choose more lengths"),
        (
            [make_timing(64), make_timing(128), failed_timing(256)],
            "it needs 3 lengths with a time; choose more lengths",
        ),
        (
            [make_timing(64), make_timing(128, settled=False), make_timing(256)],
            "fewer than 3 lengths are stable; try a larger time budget or a quieter machine",
        ),
    ],
)
def test_growth_of_too_little_is_none_and_says_why(lines, reason):
    assert growth(lines) is None
    assert why_not(lines) == reason


def test_what_has_a_growth_has_no_reason_to_have_none():
    assert why_not(line(LENGTHS, [n**2 for n in LENGTHS])) == ""


def test_the_table_has_the_growth_of_the_headline_over_the_common_lengths_of_devices():
    cpu = line([64, 128, 256, 512, 1024], [1e-3 * (n / 64) ** 2 for n in (64, 128, 256, 512, 1024)])
    gpu = line([64, 128, 256], [1e-4, 2e-4, 4e-4], **GPU)
    found = of_lines(lines([*cpu, *gpu]))
    assert [rise and (rise.factor, rise.lengths) for rise in found.values()] == [("4", (64, 256)), ("2", (64, 256))]
    said = growth_finding([*cpu, *gpu])
    assert (
        "For twice the text this server's CPU takes 4 times as long on average from 64 to 256 tokens" in said
        and "2 times" in said
    )
    alone = of_lines(lines([*cpu, *gpu[:2]]))
    assert next(iter(alone.values())).lengths == (128, 1024), "its own lengths, where the other device has too few"

"""How numbers are written: the same in a sentence, a table, a tooltip and a chart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import attention
from attention.analysis.head_roles import roles
from attention.config import Config
from attention.heads import profile
from attention.number_format import format_head, format_mean, format_percent, format_share, format_token, format_weight
from attention.trace import trace
from tests.digits import three_digits

ROOT = Path(attention.__file__).parent
SCREEN = ("analysis", "charts", "models", "tables", "ui")
BY_HAND = re.compile(r"\.\d%\}|\} %[^{]|format=\"percent\"")  # a percentage that `format_percent` has not made
OTHERWISE = (
    "{share:.0%}",
    "{mine.share:.0%}",
    "{1 - PACKED / len(code):.0%}",
)  # names of sets, progress, a text's length


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        (0, "0"),
        (1, "1.00"),
        (0.43, "0.430"),
        (1 / 32, "0.0313"),
        (0.001, "0.00100"),
        (4.62e-4, "0.000462"),
        (1e-6, "0.00000100"),
        (4.62e-7, "4.62e-7"),
        (1.5e-10, "1.50e-10"),
    ],
)
def test_a_weight_has_three_significant_digits(weight: float, text: str):
    assert format_weight(weight) == text


def test_a_share_of_a_row_has_three_significant_digits_and_is_never_rounded_to_all_of_it():
    assert [format_share(weight) for weight in (0, 0.43, 4.62e-4, 0.9996, 1)] == [
        "0",
        "43.0%",
        "0.0462%",
        ">99.9%",
        "100%",
    ]


def test_weights_are_rounded_as_a_browser_rounds_them():
    for weight in [each / 1024 for each in range(1, 1024)] + torch.rand(200).tolist():
        assert float(format_weight(weight)) == float(three_digits(weight)), weight


@pytest.mark.parametrize(("part", "text"), [(0.43, "43.0%"), (0.28125, "28.1%"), (0.5625, "56.3%"), (0.9, "90.0%")])
def test_halves_of_a_percentage_are_rounded_up(part: float, text: str):
    assert format_percent(part) == text


def test_what_is_no_number_and_what_is_very_large_is_written_too():
    inf, nan = float("inf"), float("nan")
    assert [format_mean(inf), format_mean(nan), format_percent(inf), format_weight(nan)] == [
        "inf",
        "nan",
        "inf%",
        "nan",
    ]
    assert format_percent(1e300) == f"{int(100 * 1e300)}.0%" and format_weight(0.0) == "0"


def test_percentages_have_one_format():
    lines = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for wing in SCREEN
        for file in (ROOT / wing).rglob("*.py")
        for line in file.read_text().splitlines()
        if BY_HAND.search(line) and not any(other in line for other in OTHERWISE)
    ]
    assert not lines


def test_a_sentence_has_the_number_of_the_table():
    found = trace(Config())
    told = roles(found.weights, found.mask, found.texts, "word")
    same, previous = (getattr(profile(found.weights, found.mask, found.texts), name) for name in ("same", "previous"))
    assert told[0] and told[0].says.endswith(f": {format_percent(float(same[0]))} of its weight on average.")
    assert told[1] and told[1].says.endswith(f": {format_percent(float(previous[1]))} of its weight on average.")


def test_a_token_is_named_by_its_text_and_its_position():
    assert format_token("boat", 17) == "“boat” (17)" and format_token("boat", 1_700) == "“boat” (1,700)"
    assert format_token("", 17) == "query 17" and format_token("", 1_700, "Key") == "Key 1,700"


def test_a_head_is_named_one_way():
    assert (
        format_head(3) == "Head 3" and format_head(3, 5) == "Layer 5, head 3" and format_head(0, 0) == "Layer 0, head 0"
    )

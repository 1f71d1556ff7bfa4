"""The formulas of the Steps page, read as they stand there: each gives the cells that its picture shows."""

from __future__ import annotations

import itertools
import math
import re

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.config import Config
from attention.steps.plan import by_name
from attention.steps.step import Step
from attention.steps.values import values
from tests.test_row_stages import evaluate
from tests.test_steps import CASES, PRODUCTS

NAME = r"(?:\(\w+\)|\w'?)"
PRODUCT = re.compile(rf"_\{{(\w+)\}} = \\sum_\w {NAME}_\{{(\w+)\}}(?:\\,)? {NAME}_\{{(.*?)\}}(?:,\\quad r = (\d+))?$")
SHARED = r"\lfloor h / r \rfloor"  # the head of keys and values that belongs to a head of queries
COLUMN = re.compile(r"_\{i,\\,(\w) d_\w \+ j\}.*,\\quad d_\w = (\d+)$")  # in heads side by side
HALVES = re.compile(r"_\{i,\\,(\w) \\cdot 2 d_\w \+ (d_\w \+ )?j\}.*,\\quad d_\w = (\d+)$")  # and halves of them
ROTATED = re.compile(r"(.*) \\cos i\\theta_j (\\mp) .* \\sin i\\theta_j,.*10000\^\{(.*)\},\\ m = (.*)$")
CELLWISE = {  # what a clause of a formula is read as
    "scaled": {},
    "capped": {r"\,\tanh": r"\tanh"},
    "biased": {},
    "weights": {"l_{hij}": "l", r"\sum_{j'} e^{l_{hij'}}": "total", "1 + total": "total + 1"},
    "x": {r"\tilde x": "s", "p": "b"},
    "y": {r"\tilde y": "s", "p": "b"},
}


def computed_steps(config: Config) -> list[tuple[Step, Tensor, list[Tensor]]]:
    """Every step with its cells and those of its sources, in float64."""
    found = {name: value.double() for name, value in values(config).items()}
    return [(step, found[name], [found[s.name] for s in step.sources]) for name, step in by_name(config).items()]


every_case = pytest.mark.parametrize("config", CASES, ids=range(len(CASES)))


@every_case
def test_products_sum_over_the_letter_that_their_formula_names(config):
    checked = []
    for step, cells, sources in computed_steps(config):
        if step.name not in PRODUCTS:
            continue
        match = PRODUCT.search(step.formula)
        assert match, step.formula
        to, left, right, ratio = match.groups()
        first, second = sources
        if SHARED in right:
            second = second[torch.arange(config.heads) // int(ratio)]
        indices = f"{left},{right.replace(SHARED, 'h').replace(',', '')}->{to}"
        assert_close(torch.einsum(indices, first, second), cells, rtol=1e-4, atol=1e-4)
        checked.append(step.name)
    assert checked == list(PRODUCTS)


@every_case
def test_heads_stand_where_their_formula_says(config):
    for step, cells, sources in computed_steps(config):
        if step.name not in ("q", "k", "q 2", "k 2", "v", "joined"):
            continue
        if half := HALVES.search(step.formula):
            for h, i, j in itertools.product(*map(range, cells.shape)):
                assert cells[h, i, j] == sources[0][i, (2 * h + bool(half[2])) * int(half[3]) + j]
            continue
        match = COLUMN.search(step.formula)
        assert match, step.formula
        apart, joined = (sources[0], cells) if step.name == "joined" else (cells, sources[0])
        for h, i, j in itertools.product(*map(range, apart.shape)):
            assert apart[h, i, j] == joined[i, h * int(match[2]) + j]


@every_case
def test_what_is_done_cell_by_cell_is_the_formula(config):
    for step, cells, sources in computed_steps(config):
        if step.name not in CELLWISE or not sources or (config.softmax, step.name) == ("differential", "weights"):
            continue
        text, _, second = step.formula.partition(r":\quad ")
        clauses = [text.partition(r",\quad")[0], *([second] if second else [])]
        for at in itertools.product(*map(range, step.shape)):
            rows = [source[at[-source.ndim :]] for source in sources]
            given = {"s": float(rows[0]), "b": float(rows[-1]), "l": float(rows[0]), "c": config.softcap}
            given |= {"d": config.score_width, "T": config.temperature, "total": float(sources[0][at[:-1]].exp().sum())}
            for clause in clauses:
                side = clause.partition(" = ")[2] or clause
                for old, new in CELLWISE[step.name].items():
                    side = side.replace(old, new)
                if step.name == "weights" and not given["total"]:
                    continue  # zero by definition, as the page says
                wanted = evaluate(side, **given)
                assert float(cells[at]) == pytest.approx(wanted, rel=1e-3, abs=1e-5), (step.name, clause, at)


def test_pairs_of_channels_turn_as_their_formula_says():
    for step, cells, sources in computed_steps(CASES[1]):
        if not step.name.startswith("turned"):
            continue
        match = ROTATED.search(step.formula)
        assert match and match[3] == r"-(j \bmod m) / m" and match[4] == r"\lfloor d/2 \rfloor"
        (before,), half = sources, cells.shape[-1] // 2
        for h, i, j in itertools.product(*map(range, cells.shape)):
            if j >= 2 * half:
                continue  # the last of an odd number of channels stays as it is
            sign = -1 if j < half else 1  # the upper of the two signs for the first half
            turn = i * 10000 ** (-(j % half) / half)
            wanted = before[h, i, j] * math.cos(turn) + sign * before[h, i, j - sign * half] * math.sin(turn)
            assert float(cells[h, i, j]) == pytest.approx(float(wanted), abs=1e-5)


def test_the_bias_of_positions_is_its_formula():
    config = CASES[2]
    step, cells, _ = next(each for each in computed_steps(config) if each[0].name == "bias")
    assert step.formula == r"b_{hij} = -2^{-8 (h + 1) / H}\,\lvert i - j \rvert,\quad H = 4"
    for h, i, j in itertools.product(*map(range, cells.shape)):
        assert float(cells[h, i, j]) == pytest.approx(-(2 ** (-8 * (h + 1) / 4)) * abs(i - j), rel=1e-5)


def test_the_formula_of_a_step_that_is_shown_first_has_no_indices():
    steps = by_name(Config(tokens=4, heads=2, d_model=8, temperature=2.0))
    assert steps["scores"].plain == r"\mathrm{scores} = \text{q}\, \text{k}^\top"
    assert steps["scaled"].plain == r"\mathrm{scaled} = \text{scores} / (\sqrt{d_\mathrm{head}} \cdot 2)"
    assert steps["weights"].plain == r"\mathrm{weights} = \mathrm{softmax}(\text{logits})"
    assert [name for name, step in steps.items() if re.search(r"_\{?[hij]", step.plain)] == ["x"], "as it is given"
    assert (
        by_name(Config(softmax="plus one"))["weights"].plain == by_name(Config(softmax="plus one"))["weights"].formula
    )

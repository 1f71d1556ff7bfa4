"""One row, step by step: against float64, and the formulas as they stand on the page, evaluated."""

from __future__ import annotations

import math
import re

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attention import Config, trace
from attention.analysis.row_stages import (
    OPERAND,
    STAGES,
    mass,
    number,
    oddities,
    ranks,
    shown_stages,
    smallest,
    stages,
    variants,
    worked_formulas,
)
from attention.operations.scale import SCALES
from attention.operations.softmax import head_sinks, softmaxes_of_logits
from tests.samples import examples
from tests.softmax_oracle import weights_of
from tests.strategies import configs, normal, seeds

SYMBOLS = {
    r"d_\mathrm{head}": "d",
    r"\ell_j": "l",
    "s_j": "s",
    "z_j": "z",
    "b_j": "b",
    r"\lambda": "lam",
    "a_j": "a",
    "a'_j": "other",
    r"\sum_i e^{\ell_i}": "total",
} | {r"\sum_i e^{\ell_i - m}": "shifted", r"\mathrm{mask}_j": "mask"}


PLAIN = {r",\ ": ",", r"\max": "max", "^2": "**2"}


def evaluate(tex: str, **names: float) -> float:
    """The value of a formula in KaTeX, as far as this page uses it."""
    for symbol, name in sorted(SYMBOLS.items(), key=lambda pair: -len(pair[0])):
        tex = tex.replace(symbol, f" {name} ")
    for old, new in (
        {r"\!": "", r"\left": "", r"\right": "", r"\,": "*", r"\cdot": "*", r"\tanh": "*tanh"} | PLAIN
    ).items():
        tex = tex.replace(old, new)
    tex = re.sub(r"\\ln (\d+)", r"log(\1)", tex)
    inner = {
        r"10\^\{([^{}]*)\}": r"10.0**(\1)",
        r"\\sqrt\{([^{}]*)\}": r"sqrt(\1)",
        r"(?<![a-z0-9])e\^\{([^{}]*)\}": r"exp(\1)",
        r"\\frac\{([^{}]*)\}\{([^{}]*)\}": r"((\1)/(\2))",
    }
    while "{" in tex:
        before = tex
        for old, new in inner.items():
            tex = re.sub(old, new, tex)
        assert tex != before, f"cannot read {tex}"
    scope = {"max": max, "log": math.log, "sqrt": math.sqrt, "exp": math.exp, "tanh": math.tanh, "__builtins__": {}}
    return eval(tex.strip(), scope | names)


@given(configs())
@settings(deadline=None, max_examples=examples(60))
def test_each_step_is_the_float64_one(config):
    t = trace(config)
    row, head, query = stages(t), config.head, config.query_index
    halves = 2 if config.softmax == "differential" else 1
    q, k = t.q[head, query].double().chunk(halves)[0], t.k[head].double().chunk(halves, -1)[0]
    dots = (q * k).sum(-1)
    size = float((q.norm() * k.norm(dim=-1)).max()) + 1e-9
    torch.testing.assert_close(row.dots.double(), dots, rtol=0, atol=1e-6 * size)
    scale = SCALES[config.scale](config.d_head // halves) / config.temperature
    torch.testing.assert_close(row.scaled.double(), dots * scale, rtol=1e-6, atol=1e-6 * size * scale)
    torch.testing.assert_close(row.logits, t.logits[head, query], rtol=1e-5, atol=1e-5 * size * scale)
    assert row.visible.tolist() == t.mask[query].tolist()
    logits = row.logits.double()
    if row.first is not None and row.second is not None:
        one = weights_of(logits[None, None], "standard")[0, 0]
        torch.testing.assert_close(row.first.double(), one, rtol=1e-4, atol=1e-5 * max(1, size * scale))
        exact = one - config.diff_lambda * row.second.double()
    else:
        exact = weights_of(logits[None, None], config.softmax, config.sinks[head : head + 1])[0, 0]
    torch.testing.assert_close(row.weights.double(), exact, rtol=1e-4, atol=1e-5 * max(1, size * scale))


@given(configs())
@settings(deadline=None, max_examples=examples(60))
def test_the_formulas_give_the_numbers(config):
    """Formula, numbers in the formula, and tensors say the same, for the key that the page shows."""
    row = stages(trace(config))
    key = row.heaviest
    assume(key is not None)
    assert key is not None
    dot, scaled, bias, logit, weight = (
        float(x[key]) for x in (row.dots, row.scaled, row.bias, row.logits, row.weights)
    )
    assume(abs(logit) < 500)
    total = float(row.logits.double().exp().sum())
    top = float(row.logits.max())
    shifted = float((row.logits.double() - top).exp().sum())
    names = {"s": dot, "z": scaled, "l": logit, "b": bias, "T": config.temperature, "c": config.softcap}
    names |= {"m": top, "mask": 0, "total": total, "shifted": shifted, "d": config.d_head}
    names |= {"lam": math.log(int(row.visible.sum())), "a": float(row.operand[key])}
    found = {"scaled": scaled, "logits": logit, "weights": weight}
    found |= {OPERAND: names["a"]} if OPERAND in shown_stages(config) else {}
    if row.first is not None and row.second is not None:
        names |= {"a": float(row.first[key]), "other": float(row.second[key])}
        found |= {"first": names["a"]}
    lines = worked_formulas(row, key)
    for stage, value in found.items():
        near = {"rel": 2e-4, "abs": 1e-5 * (1 + abs(scaled) + abs(bias))}
        formula = STAGES[stage].formula(config).split(",\\quad")[0].replace(r"\tau", f"({row.statistic!r})")
        for side in formula.split(" = ")[1:]:
            assert evaluate(side, **names) == pytest.approx(value, **near), side
        for side in lines[stage].split(" = ")[1:]:
            assert evaluate(side) == pytest.approx(value, rel=2e-3, abs=1e-4 * (1 + abs(scaled) + abs(bias))), side
    assert evaluate(lines["dots"].split(" = ")[1]) == pytest.approx(dot, rel=1e-4)


def test_the_formula_in_numbers_can_be_read():
    row = stages(trace(Config(temperature=2.0, softcap=5.0, positions="alibi", query=3)))
    lines = worked_formulas(row, 3)
    assert lines["scaled"].startswith(r"z_{3} = \frac{")
    assert r"\sqrt{64} \cdot 2}" in lines["scaled"]
    assert lines["logits"].startswith(r"\ell_{3} = 5 \tanh")


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_number_is_itself_to_five_digits(value):
    assert evaluate(number(value)) == pytest.approx(value, rel=5.1e-5)


@given(seeds, st.integers(1, 12), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_smallest_set_is_the_smallest(seed, keys, spread):
    """No set of fewer keys holds the share: the heaviest ones are the best of their number."""
    weights = torch.softmax(normal(seed, keys) * spread, -1)
    held = weights.double() / weights.double().sum()
    for share, size in smallest(weights).items():
        best = [float(held.sort(descending=True).values[:n].sum()) for n in range(keys + 1)]
        assert best[size] >= share - 1e-12
        assert best[size - 1] < share + 1e-12
    assert sorted(ranks(weights).tolist()) == list(range(keys))
    assert weights[ranks(weights).argsort()].tolist() == sorted(weights.tolist(), reverse=True)


def test_sets_by_eye():
    weights = torch.tensor([0.05, 0.5, 0.0, 0.4, 0.05])
    assert ranks(weights).tolist() == [2, 0, 4, 1, 3]
    assert mass(weights).tolist() == pytest.approx([0.5, 0.9, 0.95, 1, 1])
    assert smallest(torch.tensor([0.25, 0.25, 0.25, 0.25])) == {0.5: 2, 0.9: 4, 0.99: 4}
    assert smallest(torch.zeros(3)) == {0.5: 0, 0.9: 0, 0.99: 0}


@given(configs())
@settings(deadline=None, max_examples=examples(40))
def test_variants_are_the_float64_ones(config):
    row = stages(trace(config))
    found = variants(row)
    cap = config.softcap or 50.0
    scaled, bias = row.scaled.double(), row.bias.double()
    hide = torch.where(row.visible, 0.0, -math.inf)
    far = scaled * (math.log(max(1, int(row.visible.sum()))) if config.query_scale == "log n" else 1)
    plain, squeezed = far + bias + hide, cap * torch.tanh(far / cap) + bias + hide
    given = config.sink_logit, config.sigmoid_length, config.seed, config.heads
    own = {name: [head_sinks(name, *given)[config.head]] for name in softmaxes_of_logits()}
    exact = [weights_of(plain[None, None], name, sinks)[0, 0] for name, sinks in own.items()]
    for weights, wanted in zip(found.values(), [*exact, torch.softmax(squeezed, -1)], strict=True):
        atol = 1e-5 * (1 + float(far.abs().max()))
        torch.testing.assert_close(weights.double(), wanted.nan_to_num(0), rtol=1e-4, atol=atol)
    assert list(found)[:-1] == ["softmax", *list(softmaxes_of_logits())[1:]]


def test_one_of_the_variants_is_on_the_screen():
    for settings_, name in [
        ({}, "softmax"),
        ({"softmax": "plus one"}, "plus one"),
        *(({"softmax": name}, name) for name in list(softmaxes_of_logits())[1:]),
        ({"softcap": 3.0}, "softcap 3"),
    ]:
        row = stages(trace(Config(**settings_)))
        torch.testing.assert_close(variants(row)[name], row.weights)


def test_what_is_odd_is_said():
    def said(**knobs):
        return " ".join(oddities(stages(trace(Config(**knobs)))))

    assert said() == ""
    assert "fully masked" in said(mask="padding", span=18)
    assert "its weight does not depend on the score" in said(query=0)
    assert "goes to the 1 in the denominator" in said(query=0, softmax="plus one")
    assert "goes to the sink" in said(query=0, softmax="sink")
    assert "weight from 0 to 1 by its score" in said(query=0, softmax="sigmoid")
    assert said(softmax="sparsemax") == said(softmax="sigmoid") == ""
    assert "one channel" in said(d_model=8)
    assert "e^0.2 = 1.22" in said(softcap=0.1)
    assert "weight of zero" in said(temperature=0.05, scale="none")
    assert "gradient through this row is zero" in said(temperature=0.05, scale="none", query=8)

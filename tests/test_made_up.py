"""A scale, a softmax and an operation that are only registered: every page, program, cost and check follows."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from attention import Config, trace
from attention.analysis.number_types import compare_number_types
from attention.analysis.parity import parity
from attention.analysis.row_stages import STAGES, stages, variants, worked_formulas
from attention.codec import CONFIGS
from attention.knobs import KNOBS
from attention.operations import table
from attention.operations.operation import Operation, Source
from attention.operations.scale import SCALES, Scale
from attention.operations.softmax import SOFTMAXES, Softmax
from attention.steps import plan, training_program
from attention.steps.parts import parts
from attention.steps.values import values
from attention.training.recipe import RECIPES, Recipe
from attention.training.run import Run
from attention.ui.results.shared import RESULTS
from tests.samples import sample
from tests.test_one_pass import by_map, by_program, by_table, near
from tests.test_pages import ROOT, page_text, run

LINK = {"scale": "half", "softmax": "plus two"}
HALVED = Operation(
    "halved",
    "values",
    "b h q e",
    "Half of what was found",
    "Every head hands on a half.",
    lambda spec, symbols: f"o'_{{hij}} = {symbols['context']}_{{hij}} / 2",
    "{name}[{at}] = {v0} / 2 = {value}",
    (Source("context", "same", "="),),
    lambda spec: spec.cells("b h q e"),
    lambda values, spec: values["context"] / 2,
    updates="context",
    symbol="o'",
    code="context = context / 2\n",
)


def half(d_head: int) -> float:
    """A half, whatever the size of a head."""
    return 0.5


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(SCALES, "half", Scale(half, "1 / 2", "2"))
    monkeypatch.setitem(SOFTMAXES, "plus two", Softmax("Two are added to the denominator.", math.log(2), "the two"))
    at = [operation.name for operation in table.TABLE].index("joined")
    monkeypatch.setattr(table, "TABLE", [*table.TABLE[:at], HALVED, *table.TABLE[at:]])
    for knobs in (KNOBS, CONFIGS.knobs, RECIPES.knobs):
        for name, rules in (("scale", SCALES), ("softmax", SOFTMAXES)):
            monkeypatch.setitem(knobs, name, replace(knobs[name], choices=tuple(rules)))
    for knobs in (KNOBS, CONFIGS.knobs):
        monkeypatch.setitem(knobs, "step", replace(knobs["step"], choices=table.step_names()))
    plan.steps.cache_clear()
    yield
    for entry in list(RESULTS.entries.values()):  # a page does not wait for everything that it has begun
        entry.work.exception()
    plan.steps.cache_clear()


@pytest.mark.usefixtures("registered")
def test_trace_steps_program_and_map_compute_them():
    config = Config(tokens=7, heads=2, d_model=8, kv_heads=1, projections="tied", **LINK)
    t = trace(config)
    q, k, v = (each.double() for each in (t.q, t.k, t.v))
    exps = (q @ k.mT / 2).masked_fill(~t.mask, -math.inf).exp()
    weights = exps / (2 + exps.sum(-1, keepdim=True))
    output = ((weights @ v) / 2).transpose(0, 1).flatten(1) @ t.projections.output.double()
    exact = {"weights": weights, "output": output}
    ways = {"trace": {"weights": t.weights, "output": t.output}, "table": by_table(config)}
    ways |= {"program": by_program(config), "map": by_map(t)}
    for way, found in ways.items():
        for name in exact.keys() & found.keys():
            near(found[name], exact[name], 1e-5, f"{name} of the {way}")
    assert torch.equal(values(config)["halved"], values(config)["context"] / 2)


@pytest.mark.usefixtures("registered")
def test_steps_softmax_number_types_and_checks_know_them():
    config = Config(tokens=7, heads=2, d_model=8, projections="tied", **LINK)
    steps, cells, t = plan.by_name(config), 2 * 7 * 7, trace(config)
    assert (steps["halved"].flops, steps["halved"].bytes, steps["weights"].flops) == (
        2 * 7 * 4,
        2 * 7 * 4 * 4,
        5 * cells + 14,
    )
    assert steps["joined"].sources[0].name == "halved" and "o'_{hij}" in steps["joined"].formula
    assert "2 + " in steps["weights"].formula and r"\frac{1}{2}" in steps["scaled"].formula
    assert {part.place: part.steps for part in parts(config)}["values"] == ("context", "halved")
    assert STAGES["scaled"].formula(config) == r"z_j = \frac{s_j}{2\, T}" and r"2\, e^{-m}" in STAGES[
        "weights"
    ].formula(config)
    assert r"{2 \cdot 1}" in worked_formulas(stages(t), 0)["scaled"]
    assert torch.allclose(variants(stages(t))["plus two"], t.weights[config.head, config.query_index])
    assert max(each.error for each in compare_number_types(t) if each.dtype == "float32") < 1e-6
    assert parity(t).close and parity(t).weights is not None
    assert not parity(replace(t, weights=t.weights * 1.001)).agrees


@pytest.mark.usefixtures("registered")
def test_training_has_the_scale_and_the_softmax():
    recipe = Recipe(d_model=16, heads=2, steps=20, **LINK)
    trained, names = Run(recipe), {}
    for _ in range(20):
        trained.step()
    exec(training_program.source(recipe), names)
    ids = trained.probe.ids[:, :-1]
    with torch.no_grad():
        torch.testing.assert_close(names["model"](ids), trained.model(ids), rtol=1e-3, atol=1e-3)


PAGES = [("steps", {"step": "halved"}), ("softmax", {}), ("heads", {}), ("masks", {}), ("implementations", {})]
PAGES += [("softmax", {"topic": topic}) for topic in ("all", "precision")] + [("steps", {"steps": "all"})]


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(("page", "query"), sample(PAGES, lambda page, query: query in ({}, {"step": "halved"})))
def test_every_page_shows_them(page, query):
    test = run(ROOT / f"pages/{page}.py", LINK | query, {"row variants": True, "selected row": True})
    assert not test.exception and not page_text(test)
    text = "\n".join(str(each.value) for each in [*test.markdown, *test.caption, *test.dataframe]).replace("\\", "")
    topics = {"": "plus two", "all": "may sum to less than one", "precision": "2\\, e^{-m}".replace("\\", "")}
    said = {
        "steps": "Every head hands on a half" if query.get("step") else "halved",
        "softmax": topics[query.get("topic", "")],
        "heads": "Two: under 0.1%",
    }
    assert said.get(page, "") in text

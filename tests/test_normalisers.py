"""Sigmoid, sparsemax and entmax-1.5: against closed forms in float64, the package entmax, and on every page."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from attention import Config, ConfigError, head_maps, trace
from attention.analysis.parity import map_parity, parity
from attention.attend import attend
from attention.codec import from_query
from attention.number_format import format_mean
from attention.operations.normalisers import standard
from attention.operations.softmax import SOFTMAXES, normaliser
from attention.operations.sparse import LONGEST, Threshold
from attention.operations.thresholds import find_threshold, threshold_by_bisection
from attention.ui import results
from attention.ui.views import head_statistics, masks
from tests.samples import sample
from tests.softmax_oracle import POWERS, weights_of
from tests.softmax_references import FILE, reference_inputs
from tests.strategies import normal, seeds
from tests.test_pages import ROOT, page_text, run

OTHERS = ("sigmoid", "sparsemax", "entmax-1.5")
SPARSE = tuple(POWERS)


@pytest.mark.parametrize("softmax", OTHERS)
@settings(deadline=None, max_examples=50)
@given(
    seed=seeds,
    h=st.integers(1, 4),
    n=st.integers(1, 20),
    m=st.integers(1, 60),
    size=st.sampled_from([0.1, 1.0, 30.0, 1e4]),
    seen=st.sampled_from([1.0, 0.6, 0.1]),
)
def test_weights_are_those_of_the_closed_form(softmax, seed, h, n, m, size, seen):
    """Of any shape, with masked keys and fully masked rows; in place, and with a gradient."""
    logits, sinks = normal(seed, h, n, m, dtype=torch.float64) * size, normal(seed + 1, h, dtype=torch.float64).tolist()
    logits = logits.masked_fill(normal(seed + 2, h, n, m).sigmoid() > seen, -math.inf)
    exact = weights_of(logits, softmax, sinks)
    blind = logits.isinf().all(-1, keepdim=True)
    found = normaliser(softmax, sinks)(logits.clone())
    torch.testing.assert_close(found.masked_fill(blind, 0), exact, rtol=0, atol=1e-9)
    learnt = normaliser(softmax, sinks)(logits.clone().requires_grad_())
    torch.testing.assert_close(learnt.detach().masked_fill(blind, 0), exact, rtol=0, atol=1e-9)
    checked = SOFTMAXES[softmax].of_heads(sinks) and torch.cat(
        [
            replace(SOFTMAXES[softmax], sink=sink).by_definition(each[None])
            for sink, each in zip(sinks, logits, strict=True)
        ]
    )
    torch.testing.assert_close(checked.masked_fill(blind, 0), exact, rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", json.loads(FILE.read_text()), ids=lambda case: f"{case['softmax']} {case['shape'][1]}")
def test_weights_and_gradients_are_those_of_the_package_entmax(case):
    logits, factors = reference_inputs(*case["shape"])
    weights = SOFTMAXES[case["softmax"]].normalise(logits.requires_grad_())
    (weights * factors).sum().backward()
    torch.testing.assert_close(weights, torch.tensor(case["weights"], dtype=torch.float64), rtol=0, atol=1e-9)
    torch.testing.assert_close(logits.grad, torch.tensor(case["gradient"], dtype=torch.float64), rtol=0, atol=1e-9)


def test_weights_of_three_logits_that_papers_print():
    logits = torch.tensor([[-2.0, 0.0, 0.5]], dtype=torch.float64)
    assert SOFTMAXES["sparsemax"].normalise(logits.clone()).tolist() == [[0, 0.25, 0.75]]
    found = SOFTMAXES["entmax-1.5"].normalise(logits.clone())
    assert [round(each, 3) for each in found[0].tolist()] == [0, 0.326, 0.674]


@pytest.mark.parametrize("softmax", [*OTHERS, "plus one"])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"mask": torch.ones(6, 6).bool().tril(-1)}], ids=str)
def test_gradients_flow_through_attention(softmax, options):
    """As the same function without a gradient computes it, and as numerical differentiation has it."""
    q, k, v = (normal(seed, 2, 6, 3, dtype=torch.float64).requires_grad_() for seed in range(3))
    weigh = normaliser(softmax, [0.3, -1.0])

    def output(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return attend(q, k, v, **options, normalise=weigh).output

    with torch.no_grad():
        plain = attend(q, k, v, **options, normalise=weigh)
    torch.testing.assert_close(output(q, k, v).detach(), plain.output)
    assert torch.autograd.gradcheck(output, (q, k, v))
    assert not torch.equal(plain.weights, attend(q.detach(), k.detach(), v.detach(), normalise=standard).weights)


@pytest.mark.parametrize("power", [1, 2])
def test_the_threshold_is_found_from_below_in_a_few_steps(power, monkeypatch):
    from attention.operations import thresholds

    steps, step = [], thresholds._newton_step
    monkeypatch.setattr(thresholds, "_newton_step", lambda *given: steps.append(given[0].shape) or step(*given))
    logits = normal(1, 200, 5000, dtype=torch.float64) * 3
    torch.testing.assert_close(find_threshold(logits, power), threshold_by_bisection(logits, power), rtol=0, atol=1e-10)
    assert steps.count(logits.shape) < 10


@pytest.mark.parametrize("softmax", OTHERS)
@pytest.mark.parametrize("n", [700, pytest.param(5000, marks=pytest.mark.extended)])
def test_maps_of_several_blocks_agree_with_the_definition(softmax, n):
    query, key = normal(1, 2, n, 8), normal(2, 1, n, 8)
    sinks = [math.log(16)] * 2 if softmax == "sigmoid" else []
    maps = head_maps(query, key, "window", span=n // 2, scale=1.0, softmax=softmax, sinks=sinks, side=64)
    found = map_parity(maps, query, key)
    assert found.agrees and found.weights < 1e-4
    off = map_parity(replace(maps, lse=maps.lse + 0.01), query, key)
    assert off.weights > 1e-3


@pytest.mark.parametrize("softmax", SPARSE)
def test_a_map_of_too_many_tokens_is_refused_by_name(softmax):
    vectors = torch.zeros(1, LONGEST + 1, 1)
    with pytest.raises(
        ValueError, match=rf"softmax='{softmax}' has maps of at most 16,384 tokens, and these are 16,385"
    ):
        head_maps(vectors, vectors, softmax=softmax)
    with pytest.raises(ConfigError, match=f"the softmax '{softmax}' has maps of at most 16,384 tokens"):
        Config(tokens=20_000, softmax=softmax)
    config, notes = from_query({"tokens": "65536", "softmax": softmax})
    assert config.tokens == LONGEST and "at most 16,384 tokens" in notes[0]
    assert Config(tokens=65_536, softmax="sigmoid").tokens == 65_536


@pytest.mark.parametrize("softmax", OTHERS)
def test_what_is_wrong_in_one_row_is_found(softmax):
    found = trace(Config(tokens=40, softmax=softmax, **({"sigmoid_length": 1} if softmax == "sigmoid" else {})))
    assert parity(found).agrees
    weights, context = found.weights.clone(), found.context.clone()
    weights[2, -1] *= 1.01
    context[3, 7, 0] += 0.1
    off = parity(replace(found, weights=weights, context=context))
    assert not off.agrees and off.weights > 1e-4 and off.row_sum > 1e-4 and off.output > 1e-3


def test_a_sigmoid_of_many_keys_agrees_although_its_rows_sum_to_hundreds():
    found = trace(Config(tokens=1000, heads=2, d_model=64, softmax="sigmoid", projections="independent", input="noise"))
    assert float(found.weights.sum(-1).max()) > 50 and parity(found).agrees


def test_sums_of_rows_are_sent_where_they_are_not_one():
    for softmax, summed in (("sigmoid", True), ("sink", True), ("sparsemax", False), ("standard", False)):
        t = trace(Config(softmax=softmax))
        found = results.heads.cells(t.config)
        assert (found.sums is not None) == summed
        if summed:
            torch.testing.assert_close(found.sums, t.weights.sum(-1))
    assert results.heads.cells(Config(softmax="sigmoid", tokens=600)).sums is None, "a cell is several tokens"


@pytest.mark.parametrize("softmax", [pytest.param("sigmoid", marks=pytest.mark.extended), "sparsemax"])
@pytest.mark.parametrize("page", ["heads", pytest.param("softmax", marks=pytest.mark.extended)])
def test_recorded_queries_and_keys_have_it(page, softmax):
    test = run(
        ROOT / f"pages/{page}.py",
        {"source": "recorded:smollm2-street", "v": "3", "softmax": softmax},
        {"row steps": True, head_statistics.STATISTICS: True, "selected row": True},
    )
    assert not test.exception
    text = "\n".join(each.value for each in [*test.markdown, *test.caption])
    assert ("Support" if softmax == "sparsemax" else "No entropy") in text


SUM = format_mean(float(trace(Config(softmax="sigmoid")).weights[0, -1].double().sum()))
SAID = {
    ("softmax", ""): {
        "sigmoid": f"Sum of weights: {SUM}",
        "sparsemax": "Support: 2 of them",
        "entmax-1.5": "Support: 2 of them",
    },
    ("softmax", "all"): {"sigmoid": "have no entropy", "sparsemax": "below the threshold of their row"},
    ("softmax", "precision"): {"sigmoid": "No maximum is subtracted", "sparsemax": "There are no exponentials"},
    ("heads", ""): {"sigmoid": f"Sum: {SUM}", "sparsemax": "Support: 2 of 18 visible keys"},
    ("steps", ""): {name: f"to {'any number' if name == 'sigmoid' else 1}" for name in ()},
    ("masks", ""): {"sigmoid": "No other key gets it", "sparsemax": "lowers its threshold"},
    ("layers", ""): {"sigmoid": "weighs every key by itself"},
    ("implementations", ""): {},
}
PAGES = [(page, topic, softmax) for page, topic in SAID for softmax in OTHERS]


@pytest.mark.parametrize(
    ("page", "topic", "softmax"), sample(PAGES, lambda page, topic, softmax: page in ("softmax", "heads"))
)
def test_every_page_shows_it(page, topic, softmax):
    test = run(
        ROOT / f"pages/{page}.py",
        {"softmax": softmax} | ({"topic": topic} if topic else {}),
        {"row steps": True, masks.FOLD: True, "selected row": True},
    )
    assert not test.exception and not page_text(test)
    text = "\n".join(each.value for each in [*test.markdown, *test.caption]).replace("\\", "")
    assert SAID[page, topic].get(softmax, "") in text
    if page in ("softmax", "heads", "layers"):
        assert isinstance(SOFTMAXES[softmax], Threshold) or "nats" not in text.replace("entropy in nats", "")

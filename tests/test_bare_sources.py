"""Sources that give less, or a square of their own: registered here, and driven through every page."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config, fitting, trace
from attention.analysis.parity import STORED, parity
from attention.codec import CONFIGS
from attention.knobs import KNOBS, SOURCES
from attention.masks import MASKS
from attention.recorded.file import OWN, Shape
from attention.sources import providers
from attention.sources.generated import LATER
from attention.sources.layer_inputs import LayerInputs, Source, Tokens
from attention.tables import rows as tables
from attention.ui import empty_states, results
from attention.ui.views import questions
from tests.samples import sample
from tests.strategies import normal
from tests.test_pages import PAGES, run

N, H, D = 6, 2, 4
WORDS = Tokens(N, ("a", "bare", "source", "of", "six", "words"))
SQUARE = torch.rand(N, N, generator=torch.Generator().manual_seed(3)) > 0.4
SQUARE[:, 0], SQUARE[2] = True, False  # query 2 sees nothing
WEIGHTS = torch.softmax(normal(1, H, N, N), -1)
Q, K, V = (normal(seed, H, N, D) for seed in (2, 3, 4))


class Bare:
    """An origin whose attention is so much of a layer."""

    idle: Mapping[str, str] = {}

    def __init__(self, idle: Mapping[str, str], **parts: object) -> None:
        self.idle, self.parts = idle, parts

    def tokens(self, source: Source, config: Config) -> Tokens:
        return WORDS

    def provenance(self, source: Source, config: Config) -> str:
        return "Made for a test."

    def label(self, source: Source, config: Config) -> str:
        return "made for a test"

    def layer_inputs(self, source: Source, config: Config) -> LayerInputs:
        return LayerInputs(
            **{"config": config, "queries": WORDS, "keys": WORDS, "rule": config.rule} | self.parts, provenance="A."
        )


@pytest.fixture
def registered(monkeypatch):
    """Puts an origin where all are, under a name."""

    def put(name: str, origin: Bare, has: str | tuple[str, ...]) -> Config:
        shape = Shape(1, H, H, N, D, frozenset(has), OWN)
        sources = (*SOURCES, name)
        monkeypatch.setitem(providers.PROVIDERS, name.partition(":")[0], origin)
        monkeypatch.setitem(fitting.SHAPES, name.partition(":")[0], lambda key: shape)
        for knobs in (KNOBS, CONFIGS.knobs):
            monkeypatch.setitem(knobs, "source", replace(KNOBS["source"], choices=sources))
        monkeypatch.setattr(empty_states, "SOURCES", sources)
        return Config.of(name)

    return put


@pytest.fixture
def alone(registered) -> Config:
    return registered("bare:weights", Bare({}, weights=WEIGHTS), ("weights",))


@pytest.fixture
def squared(registered) -> Config:
    idle = dict.fromkeys(("mask", "combine", "second", "span"), "The mask is the source's own.")
    return registered("square:own", Bare(idle, rule=SQUARE, q=Q, k=K, v=V), "qkv")


def test_a_square_of_the_source_stays_in_force_in_the_app_as_in_a_trace(squared):
    for changed in (squared, replace(squared, mask="window", span=1), replace(squared, temperature=3.0)):
        shown, plain = results.heads.trace(changed), trace(changed)
        assert torch.equal(shown.mask, SQUARE) and torch.equal(plain.mask, SQUARE)
        assert torch.equal(shown.weights, plain.weights)
    assert not torch.equal(trace(squared).weights, plain.weights), "the temperature acts"
    rule = results.heads._under(
        providers.layer_inputs(replace(squared, source="generated", positions="none")), squared
    ).rule
    assert rule is MASKS["full"]


def test_no_knob_acts_on_weights_alone_and_each_says_why(alone):
    for name, value in {
        "mask": "window",
        "span": 1,
        "scale": "1/d_head",
        "temperature": 3.0,
        "softcap": 2.0,
        "qk_norm": "on",
    }.items():
        changed = replace(alone, **{name: value})
        assert torch.equal(results.heads.trace(changed).weights, WEIGHTS)
        assert results.heads.trace(changed).mask.all()
        assert "without queries and keys to compute" in providers.idle(name, changed)
    assert all(providers.idle(name, alone) for name in LATER)
    assert not any(providers.idle(name, Config()) for name in LATER)


def test_of_weights_alone_the_sums_are_checked(alone):
    found = parity(trace(alone))
    assert found.weights is None and found.output is None and found.agrees
    assert found.row_sum < 1e-6 and (found.rows, found.blind) == (N, 0)
    off = WEIGHTS.clone()
    off[1, 4] *= 1.02
    off[0, 3] *= 0.99
    found = parity(replace(trace(alone), weights=off))
    assert not found.agrees and found.farthest == (1, 4)
    assert parity(replace(trace(alone), weights=WEIGHTS.bfloat16().float())).row_sum < STORED


def test_a_row_without_weights_sees_nothing(registered):
    weights = WEIGHTS.clone()
    weights[:, 2] = 0
    found = trace(registered("bare:gap", Bare({}, weights=weights), ("weights",)))
    assert found.mask.all(-1).tolist() == [True, True, False, True, True, True]
    assert parity(found).blind == 1 and parity(found).agrees
    weights[1, 5] *= 1.02  # after the one that sees nothing
    assert parity(replace(found, weights=weights)).farthest == (1, 5)


def page_text(test: AppTest) -> str:
    return "\n".join(part.value for part in [*test.caption, *test.markdown, *test.info]).replace("\\", "")


VIEWS = sample(  # every page; one with pictures and one with tables with every question, too
    ((page, {"predict": name}) for page in PAGES for name in KNOBS["predict"].choices),
    lambda page, more: more["predict"] == "none" or page.stem in ("heads", "softmax"),
)


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("page", "more"), VIEWS, ids=lambda part: getattr(part, "stem", None) or str(part))
@pytest.mark.parametrize("kind", ["alone", "squared"])
def test_every_page_shows_it_or_says_what_would_have_more(page, more, kind, request):
    test = run(page, {"source": request.getfixturevalue(kind).source, "grouping": "show"} | more)
    assert not test.exception
    assert not test.error
    if page.stem != "timing":
        assert test.selectbox(key="mask").disabled


@pytest.mark.parametrize(
    ("page", "more", "words"),
    [
        ("heads", {}, "Checked: every row of weights sums to 1 (off by"),
        ("softmax", {}, "This needs queries and keys. The source “Bare: weights” has weights."),
        ("softmax", {"topic": "precision"}, "**Number types**"),
        ("softmax", {"topic": "all"}, "## Weights by size"),
        ("masks", {}, "The weights of this source are fixed: no mask changes them."),
        ("masks", {"mask_detail": "code"}, "The mask as code"),
        ("masks", {}, "Selected, but not in use: **full**"),
        ("steps", {}, "This needs queries and keys. The source “Bare: weights” has weights."),
    ],
)
def test_weights_alone_are_shown_with_what_is_known_of_them(alone, page, more, words):
    test = run(next(path for path in PAGES if path.stem == page), {"source": "bare:weights"} | more)
    assert words in page_text(test)


def test_a_question_about_a_knob_that_does_nothing_is_not_asked(alone):
    asked = {name: questions.can_be_asked(name, alone) for name in questions.ASKS}
    assert asked == {"mask": False, "temperature": False, "row": True}
    assert all(questions.can_be_asked(name, Config()) for name in questions.ASKS)


def test_the_file_of_a_trace_has_what_its_source_has(alone, squared):
    def names(config: Config) -> set[str]:
        return set(np.load(io.BytesIO(tables.npz(trace(config)))).files)

    assert names(alone) == {"link", "weights", "mask"}
    assert names(squared) == {"link", "weights", "mask", "q", "k", "v", "context"}
    assert names(Config()) == {"link", "weights", "mask", "q", "k", "v", "context", "output", "x"}

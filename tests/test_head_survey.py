"""What heads do over many texts: against the weights that the model itself returns, and the surveys that ship."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from attention.analysis import head_survey, survey_files
from attention.analysis.head_survey import EACH, FARTHEST, KINDS, SCALE, SHIPPED, shipped_survey, survey_heads
from attention.models.catalogue import FOLDER, Offer
from attention.models.loading import Model, load
from tests.tiny_models import write_model

TEXTS = [
    f"the {noun} was {end}"
    for noun in ("animal", "street", "animal the street")
    for end in ("tired", "it", "too tired!", "was")
]
LAYER, HEAD = 1, 2


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Model:
    folder: Path = write_model("llama", tmp_path_factory.mktemp("surveyed") / "llama")
    return load(Offer("llama", str(folder), FOLDER), 10**9, lambda size: True, lambda said, share: None)


@torch.no_grad()
def test_a_survey_is_what_the_model_itself_attends_to(model):
    found, distances, previous, peaks = survey_heads(model, TEXTS), np.zeros(2 * FARTHEST + 1), [], []
    model.net.set_attn_implementation("eager")
    rows = []
    for text in TEXTS:
        ids = model.tokenizer(text, return_tensors="pt")["input_ids"]
        weights = model.net(input_ids=ids, output_attentions=True).attentions[LAYER][0, HEAD].double()
        many = len(weights)
        for query in range(many):
            for key in range(many):
                distances[min(query - key, FARTHEST) + FARTHEST] += float(weights[query, key]) / many / len(TEXTS)
        best = weights.argmax(-1)
        previous.append(np.mean([0 < query - 1 == int(best[query]) for query in range(1, many)]))
        others = [max([float(each) for each in weights[query, 1:query]], default=0.0) for query in range(many)]
        peaks.append(np.mean(others))
        rows.append(weights[int(np.argmax(others))].tolist())
    np.testing.assert_allclose(found.distances[LAYER, HEAD], distances, atol=1e-4)
    assert found.kinds[LAYER, HEAD, KINDS.index("previous")] == pytest.approx(np.mean(previous), abs=1e-4)
    np.testing.assert_allclose(found.kinds.sum(-1), 1, atol=1e-4)
    order = np.argsort(peaks)
    strongest, _, weakest = found.texts[LAYER, HEAD].reshape(-1, EACH)
    assert peaks[strongest[0]] == pytest.approx(peaks[order[-1]]) and peaks[weakest[-1]] == pytest.approx(
        peaks[order[0]]
    )
    first = found.examples(LAYER, HEAD)["strongest"][0]
    np.testing.assert_allclose(first.weights, rows[strongest[0]], atol=1 / SCALE)


def test_a_survey_is_read_as_it_was_written(model):
    found = survey_heads(model, TEXTS)
    again = head_survey.read_survey(head_survey.write_survey(found))
    assert (again.tokens, again.names) == (found.tokens, found.names)
    for name in ("counts", "texts", "queries", "rows"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    np.testing.assert_allclose(again.distances, found.distances, atol=1e-3)


@pytest.mark.parametrize(
    ("name", "layer", "head", "shape"),
    [("MiniLM (a BERT, 6 layers)", 0, 2, (6, 12)), ("SmolLM2-135M-Instruct (a Llama, 30 layers)", 16, 0, (30, 9))],
)
def test_the_surveys_that_ship_have_the_heads_that_are_known(name, layer, head, shape):
    """Heads that attend to the token before, as measured on other texts."""
    found = shipped_survey(name)
    assert found is not None and found.kinds.shape[:2] == shape and len(found.tokens) == len(head_survey.short_texts())
    assert found.role_counts(layer, head)[0][0] == "one back" and found.count(layer, head, "one back") > 150
    assert found.distances[layer, head].argmax() == FARTHEST + 1
    np.testing.assert_allclose(found.distances.sum(-1), 1, atol=0.01)
    for layer_rows in found.rows.reshape(-1, found.rows.shape[-1]):
        assert abs(int(layer_rows.sum()) - SCALE) <= len(layer_rows)
    assert head_survey.survey_path(name).stat().st_size < 400_000


def test_texts_differ_and_no_survey_is_made_up():
    assert len(set(head_survey.short_texts())) == 200
    assert shipped_survey("another model") is None and set(SHIPPED.values()) == {"minilm", "smollm2"}


def test_a_survey_is_kept_while_the_weights_are_the_same(model, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(survey_files, "MOST", 2)
    assert survey_files.find_survey(model.offer) is None
    found = survey_heads(model, TEXTS)
    survey_files.keep_survey(model.offer, found)
    again = survey_files.find_survey(model.offer)
    assert again is not None and again.tokens == found.tokens
    path = survey_files.survey_file(model.offer)
    weights = Path(model.offer.where) / "model.safetensors"
    for moment in (1, 2):
        os.utime(weights, (moment, moment))
        assert survey_files.find_survey(model.offer) is None, "the weights are others"
        survey_files.keep_survey(model.offer, found)
    assert len([*path.parent.iterdir()]) == 2 and not path.exists(), "the oldest made way"
    survey_files.survey_file(model.offer).write_bytes(b"no survey")
    assert survey_files.find_survey(model.offer) is None
    assert survey_files.find_survey(Offer("gone", str(tmp_path / "gone"), FOLDER)) is None

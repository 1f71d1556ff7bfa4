"""The Model page, driven: a model is chosen, reads, is summed up and opened on other pages; what can't be is told."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

from attention.analysis import head_survey
from attention.config import Config
from attention.imported.registry import UPLOADS
from attention.interventions.ablation import WAYS
from attention.interventions.disagreement import measures_disagree, ways_disagree
from attention.models import catalogue, pictures
from attention.models.labels import Labels
from attention.models.packages import ModelError, library
from attention.models.prompt import OWN, PROMPTS, Prompt
from attention.number_format import format_change, format_percent
from attention.pinned import unpack_link
from attention.recorded.shipped import recording
from attention.story.head import RIDDLE, riddle_config, riddle_shares
from attention.trace import trace
from attention.ui import results
from attention.ui.budget import BUDGET
from attention.ui.controls.prompt import PROMPT, refusal
from attention.ui.jobs import model_jobs
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import LOADED_MODELS, LoadedModelJob
from attention.ui.session import gestures
from attention.ui.session.visit_state import KEY, VisitState
from attention.ui.text import interventions as text
from attention.ui.text import leaks
from attention.ui.text import model as model_text
from attention.ui.views import model_finding, token_rows
from attention.ui.views.model_result import first_query
from tests import example_uploads
from tests.test_layers_page import tables
from tests.test_pages import ROOT, SECONDS
from tests.tiny_models import write_model

PAGE = ROOT / "pages" / "model.py"
PATIENCE = 60.0  # seconds


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    base = tmp_path_factory.mktemp("shown")
    for kind in ("bert", "t5", "vit", "gpt2", "llama"):
        write_model(kind, base / kind)
    return base


@pytest.fixture(autouse=True)
def _alone(folder, monkeypatch) -> Iterator[None]:
    """Three models are offered, and nothing of one test is seen by another."""
    listed = "; ".join(f"{kind} = {folder / kind}" for kind in ("bert", "t5", "vit"))
    monkeypatch.setenv("ATTENTION_MODELS", listed)
    yield
    for task in [task for task in JOBS.tasks if isinstance(task, LoadedModelJob)]:
        for visitor in [*task.looks]:
            task.leave(visitor)
        JOBS.forget(task)


def opened(**query: str) -> AppTest:
    test = AppTest.from_file(str(PAGE), default_timeout=SECONDS)
    test.query_params.update(query)
    return test.run()


def run_model(test: AppTest) -> AppTest:
    """Presses the button and waits until there is a result, or none."""
    return wait_for_run(test.button(key="read").click().run())


def wait_for_run(test: AppTest) -> AppTest:
    end = time.monotonic() + PATIENCE
    while (task := test.session_state[KEY].kept.reading).open and time.monotonic() < end:
        time.sleep(0.05)
    assert not task.open
    return test.run()


def page_text(test: AppTest) -> str:
    texts = [*test.markdown, *test.caption, *test.warning, *test.error, *test.info]
    return "\n".join(each.value for each in texts).replace("\\", "")


def link(test: AppTest) -> dict[str, str]:
    found = dict(test.query_params)
    return {name: value if isinstance(value, str) else value[-1] for name, value in found.items()}


def leads(test: AppTest) -> dict[str, dict[str, str]]:
    """Where links lead, by their labels: a page that runs alone has them as buttons with addresses."""
    found = {each.proto.label.replace("\\", ""): each.proto.url for each in test.get("link_button")}
    return {label: dict(parse_qsl(url.partition("?")[2])) for label, url in found.items()}


def test_a_model_reads_and_its_heads_are_a_source_of_other_pages():
    test = opened()
    test.selectbox(key="model_model").set_value("bert").run()
    assert "## Layer 3, head 1 :green-badge[Recorded from a real model · MiniLM: a tired animal]" in page_text(test), (
        "until a model has run"
    )
    test = run_model(test)
    assert not test.exception and not test.error and not test.warning
    assert "3 layers of 4 heads over 17 tokens" in page_text(test)
    assert LOADED_MODELS.used_bytes > 0 and UPLOADS.used_bytes > 0
    told = re.search(r"\*\*Layer (\d+), head (\d+)\*\*: “it” puts [\d.]+% on “", page_text(test))
    assert told and re.search(r"[Oo]f the 12 heads.* puts? over half of “it” on “", page_text(test))
    (label,) = [each for each in leads(test) if each.startswith(f"Open layer {told[1]}, head {told[2]}")]
    source = leads(test)[label]["source"]
    assert leads(test)[label]["query"] == "10", "“it”, whose meaning is asked of the sample sentence"
    assert source.startswith("model:") and source.endswith(":bert") and source in test.session_state[KEY].kept.uploaded


def test_the_map_shows_the_weight_of_it_on_animal_in_every_head_until_a_statistic_is_chosen(monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", "")
    test = opened()
    (cells,) = tables(test)
    config, tokens = riddle_config("tired"), recording(RIDDLE["tired"]).tokens
    each = [trace(config.of_layer(layer)).weights[:, config.query, tokens.index("animal")] for layer in range(6)]
    assert cells["value"] == pytest.approx(torch.cat(each).tolist())
    assert [value for value, on in zip(cells["value"], cells["focus"], strict=True) if on] == [max(cells["value"])]
    assert sum(value > 0.5 for value in cells["value"]) == 2
    one, two = (trace(config.of_layer(at)).weights[head, :, tokens.index("animal")] for at, head in ((3, 1), (5, 11)))
    said = (
        "2 of MiniLM’s 72 heads put over half of “it” on “animal”: layer 3, head 1 and layer 5, head 11. The first does "
        f"this for {int((one > 0.5).sum())} of the 16 tokens, the second for {int((two > 0.5).sum())}."
    )
    assert said in page_text(test) and page_text(test).count("put over half") == 1, "once"
    assert "of the app’s 200 short texts. Where “it” attends in those texts was not tested." in page_text(test)
    assert (
        "**Layer 3, head 1**: “it” puts 67.7% on “animal”. With “wide” in place of “tired”, where “it” means the street, "
        "“animal” gets 28.1%, “street” 12.1%, and [CLS], which the model adds, 32.6%." in page_text(test)
    )
    assert (
        "Over all tokens, this head attends to the first token (attention sink): 51.7% "
        "of its weight on average." in page_text(test)
    )
    test.button(key="other head").click().run()
    assert "**Layer 5, head 11**: “it” puts 67.3% on “animal”." in page_text(test)
    test.button(key="other head").click().run()
    assert link(test) == {"layer": "3", "head": "1", "query": "10", "key": "2"}, "the pair stays"
    menu = test.selectbox(key="model_layer_map")
    assert menu.options[0] == model_text.SAME_KEY
    menu.set_value("previous").run()
    assert "**Previous token.** Layer 3, head 1 (selected): 4.8%." in page_text(test) and not test.exception


def test_a_chosen_token_or_pair_of_tokens_is_what_the_map_and_the_title_show(monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", "")
    config, names = riddle_config("tired"), [*recording(RIDDLE["tired"]).tokens]
    cross, street, tired = (names.index(each) for each in ("cross", "street", "tired"))
    words = [at for at, name in enumerate(names) if name.isalnum() and at not in (0, tired)]
    largest = max(words, key=trace(config).weights[1, tired].tolist().__getitem__)  # no [CLS], no point, not itself
    for query, key, shown in ((tired, -1, largest), (tired, street, street), (cross, 99, street)):
        test = opened(query=str(query), key=str(key), layer="3", head="1")
        each = torch.cat([trace(config.of_layer(layer)).weights[:, query, shown] for layer in range(6)])
        assert tables(test)[0]["value"] == pytest.approx(each.tolist()) and not test.exception
        best = divmod(int(each.argmax()), 12)
        count, pair = int((each > 0.5).sum()), f"“{names[query]}” on “{re.escape(names[shown])}”"
        said = re.search(rf"(\d+|None|Of) (?:of )?MiniLM’s 72 heads.* {pair}", page_text(test))
        assert said and said[1] == {0: "None", 1: "Of"}.get(count, str(count))
        assert f"layer {best[0]}, head {best[1]}" in page_text(test)
        assert f"“{names[query]}” puts {100 * each[37]:.1f}% on “{names[shown]}”" in page_text(test)


def test_a_click_selects_a_pair_and_a_head_keeps_it(monkeypatch):
    sent: dict[str, object] = {"model map": {"pin": {"query": 6, "key": 8, "count": 1}}}
    changed: list[dict[str, object]] = []
    monkeypatch.setattr(gestures, "widgets", lambda: sent)
    monkeypatch.setattr(gestures, "visit_state", VisitState)
    monkeypatch.setattr(gestures, "change", lambda **values: changed.append(values))
    gestures.on_pair_pin("model map")
    sent["model chips"] = {"pin": {"query": 3, "key": None, "count": 2}}
    gestures.on_pair_pin("model chips")
    sent["layers"] = {"selection": {"cell": [{"layer": 5, "head": 3, "turn": 0}]}}
    gestures.on_layer_click(more={"query": 3, "key": 0})
    gestures.on_pair_pin("none")
    assert changed == [{"query": 6, "key": 8}, {"query": 3, "key": -1}, {"layer": 5, "head": 3, "query": 3, "key": 0}]


def test_a_leak_test_names_a_model_that_reads_both_directions():
    test = run_model(opened(model="bert"))
    assert leaks.TITLE in [each.label for each in test.expander]
    test.button(key="test_leaks").click().run()
    end = time.monotonic() + PATIENCE
    while (job := test.session_state[KEY].kept.leak_test).open and time.monotonic() < end:
        time.sleep(0.05)
    test.run()
    tokens = len(job.found.tokens)
    assert f"it does for {tokens * (tokens - 1) // 2} of {tokens * (tokens - 1) // 2} pairs" in page_text(test)
    assert "is not causal, by design" in page_text(test) and not test.warning and not test.exception
    assert [each.key for each in test.button if each.key == "test_leaks"] == []


def wait_for_study(test: AppTest, name: str) -> AppTest:
    """Waits until a study of heads has ended."""
    end = time.monotonic() + PATIENCE
    while (job := test.session_state[KEY].kept.studies[name]).open and time.monotonic() < end:
        time.sleep(0.05)
    assert job.state == "done", job.said
    return test.run()


def test_a_token_without_a_look_of_its_own_has_a_name():
    assert [token_rows.token_name(each) for each in (" a", "\n\n", "\u200b", "")] == ["␣a", "↵↵", "[U+200B]", "∅"]


@pytest.mark.parametrize("model", ["gpt2", pytest.param("llama", marks=pytest.mark.extended)])
def test_a_decoder_says_its_next_words_and_appends_one(model, monkeypatch, folder):
    monkeypatch.setenv("ATTENTION_MODELS", f"{model} = {folder / model}")
    test = run_model(opened(model=model, text="the street was"))
    before = test.session_state[KEY].kept.reading.found.words
    assert f"after “{token_rows.token_name(before.labels[-1])}”" in page_text(test)
    assert before.predictions.ids.shape == (len(before.ids), 10)
    test.selectbox(key="model_at").set_value(1).run()
    assert f"after “{token_rows.token_name(before.labels[1])}” (1)" in page_text(test) and link(test)["at"] == "1"
    token = next(each for each in range(60, 90) if before.decode(each).isalpha())
    monkeypatch.setattr("attention.ui.views.model_words.choose_token", lambda logits, temperature, seed: token)
    passes: list[int] = []
    hook = LOADED_MODELS.models[
        test.session_state[KEY].kept.reading.settings.offer
    ].language_model.register_forward_hook(
        lambda module, given, named, output: passes.append(named["input_ids"].shape[1]), with_kwargs=True
    )
    test.button(key="append").click().run()
    end = time.monotonic() + PATIENCE
    while test.session_state[KEY].kept.reading.open and time.monotonic() < end:
        time.sleep(0.05)
    hook.remove()
    test.run()
    after = test.session_state[KEY].kept.reading.found.words
    assert passes == [1 if after.ids == (*before.ids, token) else len(after.ids)], "keys and values are used again"
    assert link(test)["text"] == "the street was" + before.decode(token) and not test.exception
    split = after.ids != (*before.ids, token)
    assert ("splits the longer text" in page_text(test)) == split
    test.text_area(key="model_text").set_value("the animal").run()
    assert "splits the longer text" not in page_text(run_model(test)), "it was said of another text"


def test_heads_are_switched_off_and_each_in_turn(monkeypatch, folder):
    monkeypatch.setenv("ATTENTION_MODELS", f"gpt2 = {folder / 'gpt2'}")
    test = run_model(opened(model="gpt2", text="the street was", off="0.1 2.3", answer="was"))
    test = wait_for_study(test, "off")
    assert "Without layer 0, head 1, layer 2, head 3:" in page_text(test) and not test.exception
    effect = test.session_state[KEY].kept.studies["off"].found
    assert effect.found.heads == ((0, 1), (2, 3)) and effect.tokens.names[0].strip() == "was"
    test.run()
    assert "Off: layer 0, head 1, layer 2, head 3. The logit of" in page_text(test), "beside the map, which says so"
    assert effect.found.before.loss == pytest.approx(test.session_state[KEY].kept.reading.found.words.predictions.loss)
    there = leads(test)[text.MAPS_HEADS.format(layer=1)]
    assert (there["run_off"], there["layer"]) == ("0.1 2.3", "1") and unpack_link(there["against"])["run"] == "gpt2"
    test.button(key="every head").click().run()
    test = wait_for_study(test, "every zero")
    assert "matters most for" in page_text(test) and not test.exception
    costs = test.session_state[KEY].kept.studies["every zero"].found
    test.segmented_control(key="model_cost").set_value("loss").run()
    layer, head = divmod(int(costs.loss.abs().argmax()), costs.loss.shape[1])
    changes = f"Layer {layer}, head {head} matters most for the whole text:** without it, the mean loss changes by"
    assert f"{changes} {format_change(float(costs.loss[layer, head]))} nats" in page_text(test)
    layer, head = measures_disagree(costs.by_measure()) or (-1, -1)
    assert (
        f"measures disagree most about layer {layer}, head {head}" in page_text(test) and link(test)["cost"] == "loss"
    )
    test.button(key="other ways").click().run()
    for way in ("mean", "resample"):
        test = wait_for_study(test, f"every {way}")
    layer, head = ways_disagree({way: test.session_state[KEY].kept.studies[f"every {way}"].found.loss for way in WAYS})
    assert f"three ways disagree most about layer {layer}, head {head}" in page_text(test) and not test.exception
    _ways_of_the_selected_head_are_those_of_the_function(test)
    test.selectbox(key="model_how").set_value("resample").run()
    test = wait_for_study(test, "off")
    assert test.session_state[KEY].kept.studies["off"].found.found.how == "resample"
    assert text.WAY_TELLS["resample"] in page_text(test)
    test.button(key="all on").click().run()
    assert "off" not in link(test) and "No head is off" in page_text(test) and "Off: layer" not in page_text(test)


def _ways_of_the_selected_head_are_those_of_the_function(test: AppTest) -> None:
    """The table of zero, mean and another text, for the head that is selected."""
    kept = test.session_state[KEY].kept
    job, (layer, head) = kept.studies["ways"], kept.selected
    assert job.settings.heads == ((layer, head),) and list(job.found) == list(WAYS)
    for way, found in job.found.items():
        costs = kept.studies[f"every {way}"].found.by_measure()
        assert found == pytest.approx([float(each[layer, head]) for each in costs.values()], abs=1e-5)
    assert [len(each.value) for each in test.dataframe if "Way" in each.value.columns] == [3]


def test_a_logit_is_split_and_a_second_text_is_patched(monkeypatch, folder):
    monkeypatch.setenv("ATTENTION_MODELS", f"llama = {folder / 'llama'}")
    test = run_model(opened(model="llama", text="the street was", answer="was", corrupted="the animal was"))
    layer, head = test.session_state[KEY].kept.selected
    test.button(key="parts").click().run()
    test = wait_for_study(test, "parts")
    parts = test.session_state[KEY].kept.studies["parts"].found
    assert abs(parts.found.error) < 1e-3 and len(parts.lens_texts) == 4
    assert sum(parts.sources) == pytest.approx(float(parts.found.heads[layer, head]), abs=1e-4)
    assert "The sum differs from the model" in page_text(test) and not test.exception
    test.button(key="patches").click().run()
    test = wait_for_study(test, "patch")
    assert "Most returns at layer" in page_text(test) and not test.exception
    test.selectbox(key="model_patched").set_value("residual").run()
    test.button(key="patches").click().run()
    test = wait_for_study(test, "patch")
    found = test.session_state[KEY].kept.studies["patch"].found
    assert found.what == "residual" and float(found.returns[-1, -1]) == pytest.approx(1, abs=1e-3)
    test.selectbox(key="model_pair").set_value("A name").run()
    assert "John gave a drink to" in page_text(test) and not test.exception


def test_patching_opens_on_a_pair_that_ships_unless_a_link_has_a_corrupted_text(monkeypatch, folder):
    monkeypatch.setenv("ATTENTION_MODELS", f"gpt2 = {folder / 'gpt2'}")
    test = run_model(opened(model="gpt2", text="the street was"))
    assert "the store, Mary gave a drink to" in page_text(test) and test.button(key="patches").label == text.PATCH_RUN
    for query, pair in [
        ({}, "A name"),
        ({"corrupted": "x"}, OWN),
        ({"pair": OWN}, OWN),
        ({"pair": "A number"}, "A number"),
    ]:
        prompt, notes = PROMPTS.from_query(query)
        assert (prompt.pair, notes, PROMPTS.to_query(prompt)) == (pair, [], query)


def test_a_model_whose_answer_is_no_next_word_has_no_switches():
    test = run_model(opened(model="bert", text="the street", second="the animal"))
    assert "Switch heads off" not in [each.label for each in test.expander]
    assert "Similarity of the two texts" in page_text(test)


def test_what_is_asked_is_in_the_link_and_what_was_read_is_not():
    test = opened(model="bert")
    test.text_area(key="model_text").set_value("The street was too tired!").run()
    assert link(test) == {"model": "bert", "text": "The street was too tired!"}
    again = opened(model="bert", text="The street was too tired!")
    assert again.text_area(key="model_text").value == "The street was too tired!"


def test_a_link_runs_its_model_by_itself_and_downloads_nothing(monkeypatch, folder):
    """With the heads that are off; what was selected stays, and a change of the text runs nothing."""
    monkeypatch.setenv("ATTENTION_MODELS", f"gpt2 = {folder / 'gpt2'}; Far = some/model")
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: pytest.fail("the network was used"))
    query = {"text": "the street was", "layer": "1", "head": "2", "off": "1.2", "against": "it", "model": "gpt2"}
    test = wait_for_run(opened(**query))
    asked = test.session_state[KEY].kept.reading.settings
    assert (asked.text, asked.download) == ("the street was", False) and link(test) == query
    test = wait_for_study(test, "off")
    assert test.session_state[KEY].kept.studies["off"].settings.heads == ((1, 2),)
    assert re.search("Without layer 1, head 2:.* minus that of “␣?it”", page_text(test)), page_text(test)
    test.text_area(key="model_text").set_value("the animal was").run()
    assert test.session_state[KEY].kept.reading.settings == asked and "previous input" in page_text(test)
    for still in (opened(), opened(model="Far", text="the street")):
        assert still.session_state[KEY].kept.reading is None and not still.exception


def test_a_run_names_its_model_in_the_link():
    test = opened()
    assert link(test) == {}
    assert link(run_model(test)) == {"model": "bert"}


def test_the_button_reads_what_the_field_holds_however_quick_the_click_is():
    """A browser sends a text as its field is left, which may be by the click itself."""
    test = run_model(opened(model="bert"))
    assert not test.button(key="read").disabled
    test.text_area(key="model_text").set_value("the street")
    assert "over 4 tokens" in page_text(run_model(test))
    assert test.session_state[KEY].kept.reading.settings.text == "the street"


def test_a_model_that_nobody_chose_is_not_in_the_link():
    test, names = opened().run(), ["bert", "t5", "vit", *catalogue.offers()]  # and those of packages that are installed
    shown = [catalogue.SHORT.get(name, name) for name in names]
    assert link(test) == {} and test.selectbox(key="model_model").options == shown
    test.text_area(key="model_text").set_value("the street").run()
    assert link(test) == {"text": "the street"}
    test.selectbox(key="model_model").set_value("t5").run()
    test.selectbox(key="model_model").set_value("bert").run()
    assert link(test) == {"text": "the street", "model": "bert"} and "Bert" not in page_text(test)
    assert test.selectbox(key="model_model").options == shown


def test_a_second_text_is_read_beside_the_first():
    test = run_model(opened(model="bert", text="the animal was tired", second="because it was the street"))
    assert "over 13 tokens" in page_text(test)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("summary", "told"),
    [
        ("mean of heads", "3 layers of 1 head"),
        ("mean of layers", "1 layer of 4 heads"),
        ("rollout", "3 layers of 1 head"),
    ],
)
def test_it_is_summed_up(summary, told):
    test = run_model(opened(model="bert", summary=summary))
    assert told in page_text(test) and not test.exception and not test.warning


@pytest.mark.parametrize(("tokens", "many"), [("without marks", 15), ("words", 14)])
def test_tokens_are_left_out_or_joined(tokens, many):
    test = run_model(opened(model="bert"))
    test.selectbox(key="model_tokens").set_value(tokens).run()
    assert f"over {many} tokens" in page_text(test) and not test.exception


def test_a_model_that_writes_has_three_parts():
    test = run_model(opened(model="t5", second="It was too tired."))
    menu = test.selectbox(key="model_part")
    assert menu.options == ["Encoder", "Decoder", "Decoder to encoder"]
    menu.set_value("Decoder to encoder").run()
    assert "tokens that attend to" in page_text(test) and not test.exception
    test.selectbox(key="model_summary").set_value("rollout").run()
    assert "Rollout needs self-attention" in page_text(test) and not test.exception


def test_what_a_patch_looks_at_lies_over_the_picture():
    test = run_model(opened(model="vit"))
    assert "[CLS] attends to the bright patches" in page_text(
        test
    ) and "3 layers of 4 heads over 25 tokens" in page_text(test)
    test.selectbox(key="model_patch").set_value(9).run()
    assert "The patch at row 2, column 3 attends to the bright patches" in page_text(test) and not test.exception
    test.selectbox(key="model_head").set_value(2).run()
    test.selectbox(key="model_layer").set_value(1).run()
    assert "Layer 1, head 2" in page_text(test)
    assert link(test) == {"model": "vit", "patch": "9", "head": "2", "layer": "1"}


@pytest.mark.parametrize("kept", ["on", "off"])
def test_heads_of_another_model_are_surveyed_once(kept, monkeypatch, folder, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", f"gpt2 = {folder / 'gpt2'}")
    monkeypatch.setenv("ATTENTION_SURVEYS", kept)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    few = head_survey.short_texts()[:10]
    monkeypatch.setattr(head_survey, "short_texts", lambda: few)
    test = run_model(opened(model="gpt2", text="the street was"))
    assert [each.label for each in test.expander if each.label.endswith("over 10 texts")]
    test.button(key="survey texts").click().run()
    test = wait_for_study(test, "survey")
    assert "Strongest tenth" in page_text(test) and not test.exception
    assert len([*tmp_path.rglob("heads-*.npz")]) == (kept == "on")
    JOBS.forget(test.session_state[KEY].kept.studies["survey"])
    after = page_text(test.run())
    assert ("Strongest tenth" in after) == (kept == "on"), "of the file"


@pytest.fixture
def offline(monkeypatch, tmp_path) -> Path:
    """Where models of the hub lie that were fetched; nobody answers who would be asked for another."""

    def nobody(*_, **__):
        raise library("huggingface_hub.errors").HTTPError("no route")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", nobody)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("ATTENTION_MODELS", "Seer = someone/sees; Reader = someone/reads")
    return tmp_path


def fake_cached_model(cache: Path, name: str, files: Path) -> None:
    """Has a model of the hub lie where one does that was fetched before."""
    base = cache / f"models--{name.replace('/', '--')}"
    (base / "refs").mkdir(parents=True)
    (base / "refs" / "main").write_text("0" * 40)
    shutil.copytree(files, base / "snapshots" / ("0" * 40))


def test_a_model_of_the_hub_that_sees_is_given_a_picture(offline, folder):
    fake_cached_model(offline, "someone/sees", folder / "vit")
    fake_cached_model(offline, "someone/reads", folder / "bert")
    test = opened(model="Seer")
    assert len(test.get("file_uploader")) == 1 and not test.text_area and test.button(key="read").label == "Run model"
    assert "[CLS] attends to the bright patches" in page_text(run_model(test)) and not test.error
    assert not opened(model="Reader").get("file_uploader")


def test_a_model_that_turns_out_to_see_has_a_place_for_a_picture_from_then_on(offline, folder, monkeypatch):
    test = opened(model="Seer")
    assert not test.get(
        "file_uploader"
    ) and "Whether it takes a text or a picture is known once it is loaded" in page_text(test)
    monkeypatch.setattr("attention.models.hub.download_model", lambda name, most, hear: folder / "vit")
    test = run_model(test)
    assert (
        "[CLS] attends to the bright patches" in page_text(test)
        and len(test.get("file_uploader")) == 1
        and not test.text_area
    )
    assert "from the previous input" not in page_text(test)  # what it was given to read is nothing that it has seen


def test_of_patches_nothing_is_said_that_needs_a_line():
    test = run_model(opened(model="vit"))
    assert "**Entropy.**" in page_text(test) and "Induction" not in page_text(test)
    options = test.selectbox(key="model_layer_map").options
    assert not [each for each in options if each.startswith(("Previous", "Distance", "Induction"))]
    (held,) = test.session_state[KEY].kept.uploaded.values()
    config = Config.of(held.source)
    for numbers in results.layers.layers(config).values():
        assert not [
            role for role in numbers.roles if role and any(word in role.says for word in ("within", "back", "next"))
        ]
    layers = example_uploads.open_page(ROOT / "pages" / "layers.py", held, {"upwards": "duplicate"})
    shown = page_text(layers)
    assert not layers.exception and "Previous" not in shown and "Induction" not in shown
    assert "no role that this text shows" not in shown
    menus = [layers.selectbox(key=name) for name in ("across", "upwards")]
    assert [each.format_func(each.value) for each in menus] == ["First token", "Entropy"]
    without = run_model(opened(model="vit", tokens="without marks", summary="mean of heads"))
    assert "Auto" in without.selectbox(key="model_layer_map").options and not without.exception


def test_a_model_of_another_is_read_anew_and_at_most_four_stacks_stay():
    test = run_model(opened(model="bert"))
    for summary in ("mean of heads", "mean of layers", "rollout", "weights times norms", "heads"):
        test.selectbox(key="model_summary").set_value(summary).run()
        assert not test.exception and not test.warning
    assert len(test.session_state[KEY].kept.uploaded) == 4


def test_a_model_that_this_host_has_not_is_told():
    test = opened(model="/etc/passwd")
    assert "“/etc/passwd” is not one of the models of this server" in page_text(test)
    assert not test.exception and test.selectbox(key="model_model").value == ""


def test_an_empty_field_keeps_what_is_shown_and_says_so():
    test = opened(model="bert", text="")
    test.button(key="read").click().run()
    assert test.session_state[KEY].kept.reading is None and model_text.EMPTY in page_text(test) and not test.error
    test.text_area(key="model_text").set_value("the street").run()
    shown = run_model(test).session_state[KEY].kept.reading
    test.text_area(key="model_text").set_value(" ").run()
    test.button(key="read").click().run()
    assert test.session_state[KEY].kept.reading is shown and shown.found is not None
    assert model_text.EMPTY in page_text(test) and not test.error


def test_a_model_over_the_limit_is_refused_before_it_is_loaded(monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS_SIZE", "1")
    monkeypatch.setattr(model_jobs, "LOADED_MODELS", type(LOADED_MODELS)())
    monkeypatch.setattr("attention.models.loading.in_memory", lambda files: 10**9)
    test = run_model(opened(model="t5"))
    assert "takes 1.0 GB of memory; this server allows up to 1 MB" in page_text(test)


def test_a_model_that_does_not_fit_is_refused_with_a_sentence(monkeypatch):
    monkeypatch.setattr(model_jobs, "LOADED_MODELS", type(LOADED_MODELS)())
    monkeypatch.setattr(BUDGET, "room", lambda needed: False)
    test = run_model(opened(model="t5"))
    assert "which is not free right now" in page_text(test) and not test.exception


def test_models_that_are_switched_off_or_missing_are_told(monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", "off")
    assert "switched off on this server" in page_text(opened())
    monkeypatch.setenv("ATTENTION_MODELS", "installed")
    monkeypatch.setattr("attention.models.catalogue.folder", lambda module: None)
    test = opened()
    assert any("No model on this server" in each.label for each in test.expander)
    assert not test.sidebar.selectbox, "a choice of none"
    monkeypatch.setattr("attention.models.packages.find_spec", lambda name: None)
    test = opened(model="anything")
    assert "No model can run on this server yet" in page_text(test) and not test.exception
    assert "docs/HOSTING.md, Settings" in page_text(test) and "requirements-models.txt" in page_text(test)
    assert "attention-lab get-models" in [each.value for each in test.code]


def test_a_listed_model_whose_library_is_missing_says_how_to_install_it(monkeypatch):
    def absent(name):
        raise ModelError(f"The library {name} can't be used here. Try: pip install -r requirements-models.txt")

    monkeypatch.setattr(model_jobs, "LOADED_MODELS", type(LOADED_MODELS)())
    monkeypatch.setattr("attention.models.loading.library", absent)
    assert "pip install -r requirements-models.txt" in page_text(run_model(opened(model="bert")))


def test_without_a_model_heads_of_a_recorded_one_are_there_to_look_at(monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", "off")
    test = opened()
    assert "MiniLM: a tired animal" in page_text(test) and "6 layers of 12 heads over 16 tokens" in page_text(test)
    there = leads(test)["Open layer 3, head 1 → Heads"]
    assert (there["source"], there["head"], there["query"]) == ("recorded:minilm-street", "1", "10"), "“it”"
    test = opened(layer="2", head="6")
    assert "**Layer 2, head 6**" in page_text(test) and "Open layer 2, head 6 → Heads" in leads(test)


def test_the_sentence_that_was_read_is_above_the_map_unless_it_is_long(monkeypatch):
    """As chips of the tokens, in a component; a longer one has a picture of the map alone."""
    monkeypatch.setenv("ATTENTION_MODELS", "off")
    pictures = lambda test: [each for each in test.get("html") if "<img" in each.proto.body]  # noqa: E731
    assert not pictures(opened())
    monkeypatch.setattr("attention.ui.views.model_map.CHIPS", 10)
    assert len(pictures(opened())) == 1


def test_free_names_are_for_this_machine_alone(monkeypatch):
    assert "or type the name" not in (opened().selectbox(key="model_model").help or "")
    assert "ATTENTION_MODELS_FREE=on" in opened().selectbox(key="model_model").help
    monkeypatch.setenv("ATTENTION_MODELS_FREE", "on")
    test = opened(model="nobody/nothing")
    assert "From the model hub, as nobody/nothing" in page_text(test)


def test_a_name_that_is_no_model_is_said_to_be_none(monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS_FREE", "on")
    assert refusal(Prompt(model="not a model!!")).startswith("“not a model!!” is not a model name like google-bert/")
    assert refusal(Prompt(model="nobody/nothing")) == refusal(Prompt()) == ""


@pytest.mark.parametrize(
    "path", ["/srv/models/ours", "~/models/ours", "./ours", "models/ours/new", r"C:\models\ours", r"\\nas\ours"]
)
def test_a_path_that_is_typed_is_told_how_folders_come_in(path, monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS_FREE", "on")
    told = refusal(Prompt(model=path))
    assert (
        told.startswith(f"“{path}” is a path, not a name.") and 'ATTENTION_MODELS="My model = /path/to/folder"' in told
    )


def test_a_name_that_is_refused_is_said_over_what_was_read_before(monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS_FREE", "on")
    test = run_model(opened(model="bert"))
    menu = test.selectbox(key="model_model")
    menu.options.append("/srv/models/ours")  # as a browser does with what is typed
    menu.set_value("/srv/models/ours").run()
    assert [each for each in test.error if "is a path, not a name" in each.value] and not test.exception


def test_every_control_of_the_sidebar_is_there():
    test = opened()
    assert PROMPT.keys == {each.key for each in test.sidebar.selectbox}


BAD = {
    "empty": b"",
    "text": b"<svg onload=alert(1)>",
    "gif": b"GIF89a\x01\x00\x01\x00",
    "cut": pictures.png(pictures.sample_picture())[:300],
}


@pytest.mark.parametrize("name", BAD)
def test_a_picture_that_is_none_is_told(name):
    with pytest.raises(ModelError, match="no picture that can be opened here: PNG, JPEG, WEBP are"):
        pictures.open_picture(BAD[name])


def test_a_picture_that_unpacks_to_too_much_is_not_unpacked():
    memory = BytesIO()
    Image.new("1", (20_000, 20_000)).save(memory, "PNG")
    assert len(memory.getvalue()) < 100_000
    with pytest.raises(ModelError, match="more than 40,000,000 pixels"):
        pictures.open_picture(memory.getvalue())
    assert max(pictures.open_picture(pictures.png(Image.new("RGB", (3000, 10)))).size) == pictures.LARGEST


def test_a_pronoun_or_the_last_word_is_selected_at_first():
    def at_first(*texts: str) -> int:
        return first_query(
            Labels(texts, tuple(each.startswith("[") for each in texts), tuple(range(len(texts))), texts)
        )

    assert at_first("[CLS]", "her", "brother", "sold", "it", ".", "[SEP]") == 4
    assert at_first("[CLS]", "the", "cats", "saw", "her", ".", "[SEP]") == 4
    assert at_first("[CLS]", "it", "rained", ".", "[SEP]") == 2, "there is no word before it that it could mean"
    assert at_first("[CLS]", "cats", "slept", ".", "[SEP]") == 2
    assert at_first("[CLS]", "?", "[SEP]") == -1


def test_the_two_sentences_are_a_click_apart_and_the_title_compares_them(monkeypatch):
    """Of the selected pair and head; the riddle is named only where the head does not solve it."""
    monkeypatch.setenv("ATTENTION_MODELS", "")
    test, shares = opened(), {name: f"{100 * share:.1f}%" for name, share in riddle_shares().items()}
    assert shares["wide_animal"] > shares["wide_street"]
    still = f"“animal” gets {shares['wide_animal']}, “street” {shares['wide_street']}, and [CLS], which the model adds, 32.6%."
    assert (
        "“it” puts more weight on “animal” than on “street” in layer 3, head 1, even where “it” means the street."
        in page_text(test)
    )
    assert f"“it” puts {shares['tired_animal']} on “animal”. With “wide” in place of “tired”" in page_text(test)
    assert still in page_text(test)
    test.segmented_control(key=model_finding.SWITCH).set_value("wide").run()
    assert (
        "“it” means the street here, but puts more weight on “animal” than on “street” in layer 3, head 1."
        in page_text(test)
    )
    assert f"“street” gets {shares['wide_street']}, and [CLS], which the model adds, 32.6%." in page_text(test)
    assert "MiniLM: a wide street" in page_text(test) and test.session_state[KEY].kept.reading is None
    assert (link(test)["text"], link(test)["key"]) == (model_finding.TEXTS["wide"], "2"), "the pair stays"
    for layer, head, query, key in ((3, 1, 2, 0), (0, 6, 10, 2), (2, 5, 10, 8)):
        test = opened(layer=str(layer), head=str(head), query=str(query), key=str(key))
        names = recording(RIDDLE["tired"]).tokens
        tired, wide = (
            float(trace(riddle_config(name).of_layer(layer)).weights[head, query, key]) for name in ("tired", "wide")
        )
        said = f"In layer {layer}, head {head}, “{names[query]}” puts {format_percent(tired)} on “{names[key]}”"
        assert said in page_text(test)
        assert f"with “wide” in place of “tired”, {format_percent(wide)}." in page_text(test)
    test = opened(layer="3", head="1", query="13", key="2")
    assert "“tired” puts" in page_text(test) and "in place of" not in page_text(test), "the other one has no such token"


def test_a_special_token_in_the_title_has_the_largest_other_token_beside_it():
    query = {"model": "bert", "text": "the animal was tired", "layer": "1", "head": "2", "query": "2", "key": "0"}
    test = wait_for_run(opened(**query))
    assert not [each for each in test.segmented_control if each.key == model_finding.SWITCH], "another text was read"
    ((source, part),) = test.session_state[KEY].kept.shown.values()
    said = re.search(
        r"“animal” puts .*% on “\[CLS\]”, which the model adds; of the words, “(.+?)”.* gets", page_text(test)
    )
    row = trace(Config.of(source, layer=1, head=2)).weights[2, 2].tolist()
    others = [at for at in range(len(row)) if not part.keys.special[at] and at != 2]
    assert said and part.keys.special[0] and said[1] == part.keys.texts[max(others, key=row.__getitem__)]


def test_the_page_says_that_it_selected_the_pair_until_one_is_chosen():
    query = {"model": "bert", "text": "the animal was tired"}
    assert model_text.STRONGEST in page_text(wait_for_run(opened(**query)))
    chosen = {"layer": "1", "head": "2", "query": "2", "key": "4"}
    assert model_text.STRONGEST not in page_text(wait_for_run(opened(**query, **chosen)))
    assert model_text.STRONGEST not in page_text(opened()), "the recorded pair was chosen for the riddle"


def test_the_title_says_of_one_head_that_no_other_puts_as_much_on_the_pair():
    query = {"model": "bert", "text": "the animal was tired", "query": "2", "key": "4"}
    most, test = model_text.PUTS_MOST.partition("{key}")[2], wait_for_run(opened(**query))
    ((source, _),) = test.session_state[KEY].kept.shown.values()
    each = torch.stack([trace(Config.of(source, layer=layer)).weights[:, 2, 4] for layer in range(3)]).flatten()
    for at, says in ((int(each.argmax()), True), (int(each.argmin()), False)):
        layer, head = divmod(at, 4)
        assert (most in page_text(wait_for_run(opened(**query, layer=str(layer), head=str(head))))) == says


def test_after_a_run_of_another_text_a_click_shows_what_the_page_opens_with():
    test = wait_for_run(opened(model="bert", text="the animal was tired", layer="1", head="2", query="2", key="4"))
    test.button(key="examples").click().run()
    assert "Recorded from a real model" in page_text(test) and not test.exception
    assert test.segmented_control(key=model_finding.SWITCH).value == "tired"
    assert "even where “it” means the street." in page_text(test)


def test_the_mark_of_a_token_that_continues_a_word_is_explained_where_there_is_one():
    said = model_text.GOES_ON.format(mark="·")
    assert said not in page_text(opened()), "of the recording no token has the mark"
    test = wait_for_run(opened(model="bert", text="the animal was tired"))
    ((_, part),) = test.session_state[KEY].kept.shown.values()
    assert any(text.startswith("·") for text in part.keys.texts) and said in page_text(test)


def test_the_selected_head_is_the_first_of_those_that_a_sentence_names():
    for layer, head in ((3, 1), (5, 11)):
        assert f"“animal”: layer {layer}, head {head} and " in page_text(opened(layer=str(layer), head=str(head)))


def test_after_a_run_that_was_stopped_a_click_shows_the_recording_again():
    test = run_model(opened(model="bert", text="the animal was tired"))
    task = test.session_state[KEY].kept.reading
    task.found, task.state = None, "cancelled"
    test.run()
    assert model_text.STOPPED in page_text(test) and "Recorded from a real model" not in page_text(test)
    test.button(key="recorded").click().run()
    assert "Recorded from a real model" in page_text(test) and not test.exception

"""What is typed while a real model is shown is read by that model, and links carry a model's run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention.config import Config
from attention.imported.stack import Stack
from attention.knobs import DEFAULTS, GENERATED
from attention.models.labels import Labels
from attention.models.prompt import PROMPTS, Prompt
from attention.number_format import format_percent
from attention.pinned import sides_of, unpack_link
from attention.recorded.models import GOES_ON
from attention.recorded.shipped import MINILM, RIVER, SHIPPED, SMOLLM2, STREET
from attention.story.head import LAYER
from attention.story.settings import STORIES, Story
from attention.trace import Trace, trace
from attention.ui import results
from attention.ui.budget import BUDGET
from attention.ui.jobs import model_jobs
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import LOADED_MODELS, LoadedModelJob
from attention.ui.session import model_run, run_links
from attention.ui.session.role_note import texts_with_roles
from attention.ui.session.visit_state import KEY, Session
from attention.ui.text import interventions as interventions_text
from attention.ui.text import model_run as text
from attention.ui.text import start as text_start
from attention.ui.views import heads_layers, heads_parts, layers_compared, layers_table
from tests.test_pages import ROOT, SECONDS
from tests.tiny_models import transformers, write_model

RIVERS = {"v": "4", "source": "recorded:minilm-river", "layer": "1", "head": "2"}
OWN = "the animal was too tired"
LAST_HEAD = 3  # of the stand-in, in place of the head of the story
PATIENCE = 60.0  # seconds
REAL_PAGES = ("heads", "layers", "softmax", "masks", "steps")


@pytest.fixture(autouse=True)
def _stand_in(tmp_path_factory, monkeypatch) -> Iterator[None]:
    """A tiny BERT is on the owner's list under the name of MiniLM; SmolLM2 is not installed."""
    folder = tmp_path_factory.getbasetemp() / "stand-in"
    if not folder.exists():
        write_model("bert", folder)
    monkeypatch.setenv("ATTENTION_MODELS", f"{MINILM} = {folder}")
    monkeypatch.setattr("attention.models.catalogue.folder", lambda module: None)
    yield
    for task in [task for task in JOBS.tasks if isinstance(task, LoadedModelJob)]:
        for visitor in [*task.looks]:
            task.leave(visitor)
        JOBS.forget(task)


def open_page(page: str, **query: str) -> AppTest:
    test = AppTest.from_file(str(ROOT / f"pages/{page}.py"), default_timeout=SECONDS)
    test.query_params.update(query)
    return test.run()


def state(test: AppTest) -> Session:
    return test.session_state[KEY]


def wait(test: AppTest) -> AppTest:
    """Waits until the requested run has ended, and runs the page again as its fragment would."""
    end = time.monotonic() + PATIENCE
    while (wanted := state(test).kept.requested) and wanted.job and wanted.job.open and time.monotonic() < end:
        time.sleep(0.02)
    return test.run()


def type_text(test: AppTest, typed: str) -> AppTest:
    (field,) = [each for each in test.text_input if each.key.startswith("read by")]
    return field.set_value(typed).run()


def link(test: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[-1] for name, value in dict(test.query_params).items()}


def page_text(test: AppTest) -> str:
    return "\n".join(each.value for each in (*test.markdown, *test.caption, *test.warning)).replace("\\", "")


def highest_head(config: Config) -> tuple[int, int]:
    """The layer and the head that the headline of Layers names."""
    found = results.layers.layers(config)
    held = heads_layers.cells(heads_layers.number(config, found), found)
    return max(held, key=held.__getitem__)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("page", REAL_PAGES)
def test_what_is_typed_while_a_real_model_is_shown_is_read_by_that_model(page):
    test = open_page(page, **RIVERS)
    (field,) = [each for each in test.text_input if each.key.startswith("read by")]
    assert (field.label, field.value) == ("Text", RIVER)
    assert not [each for each in test.text_input if each.key == "text"], "one field only"
    test = wait(type_text(test, OWN))
    shown = state(test).here.setting
    assert not test.exception and shown.source.endswith(f":{MINILM}")
    layer, head = (1, 2) if page != "layers" else highest_head(shown)
    assert (shown.layer, shown.head) == (layer, head)
    query = {} if page == "layers" else {"query": "2"}  # the word with the largest weight on another
    assert link(test) == {"run": MINILM, "run_text": OWN, "v": "4", "layer": f"{layer}", "head": f"{head}"} | query
    assert (f"Run here · {MINILM}" if page == "heads" else f"Read by {MINILM}.") in page_text(test)
    assert [each.value for each in test.text_input if each.key.startswith("read by")] == [OWN]
    empty = type_text(test, " ")
    assert [each.value for each in empty.text_input if each.key.startswith("read by")] == [OWN]
    assert text.EMPTY in page_text(empty) and link(empty)["run_text"] == OWN
    again = wait(type_text(test, "it was the street"))
    assert link(again)["run_text"] == "it was the street" and state(again).here.setting.source != shown.source


def test_a_typed_text_keeps_the_selected_word_and_selects_no_mark_of_the_model():
    texts = ("[CLS]", "the", "bank", "was", "shut", ".", "[SEP]")
    names = Labels(texts, tuple(each[0] == "[" for each in texts), tuple(range(len(texts))), texts)
    weights = torch.zeros(7, 7)
    for word, query in (("bank", 2), ("[SEP]", -1), ("", 2), ("river", 2)):
        weights[2, 4], weights[4, 0] = 0.5, 0.9
        assert model_run.query_of(names, word, weights) == query
    assert model_run.query_of(names, "", torch.zeros(1, 7)) == 4, "the last word where there is no square"


def test_a_role_of_a_real_model_says_how_often_it_holds():
    """The stand-in has the name of a model that was surveyed, so its heads get the numbers of that survey."""
    shown = open_page("heads", **RIVERS)
    said = "This head has the same role, “one back”, on 199 of the app’s 200 short texts"
    assert any(said in each.help for each in open_page("heads", **RIVERS | {"layer": "0"}).markdown)
    assert any("short texts" in each.help for each in shown.markdown) and "short texts" not in page_text(shown)
    assert not any("short texts" in each.help for each in open_page("heads").markdown)
    test = open_page("model", model=MINILM, text=OWN)
    end = time.monotonic() + PATIENCE
    while state(test).kept.reading.open and time.monotonic() < end:
        time.sleep(0.02)
    test.run()
    assert any("over 200 texts" in each.label for each in test.expander) and not test.exception
    assert "Let this model read 200 short texts" in page_text(test), "a folder by this name may hold another model"


def test_a_link_runs_the_model_again_on_any_page_and_its_address_stays():
    query = {"run": MINILM, "run_text": OWN, "v": "4", "layer": "2", "head": "3", "mask": "causal"}
    test = open_page("heads", **query)
    assert link(test) == query or state(test).kept.requested is not None, "running or done"
    test = wait(test)
    shown = state(test).here.setting
    assert (shown.source[:6], shown.layer, shown.head, shown.mask) == ("model:", 2, 3, "causal") and link(test) == query
    assert ", but mask causal: not as the model computes it" in page_text(test), "it is a model without mask"
    assert state(test).kept.reading.settings.text == OWN and not state(test).kept.reading.settings.download
    assert state(test).kept.prompts[shown.source] == Prompt(model=MINILM, text=OWN)
    words = [*open_page("heads", **query | {"run_tokens": "words"}).run().query_params]
    assert "run" in words


def test_a_pair_and_a_summary_are_in_the_link_too():
    query = {
        "run": MINILM,
        "run_text": OWN,
        "run_second": "the street",
        "run_tokens": "without marks",
        "v": "4",
        "layer": "0",
    }
    test = wait(open_page("heads", **query))
    found = link(test)
    assert {name: found[name] for name in ("run", "run_text", "run_second", "run_tokens")} == {
        name: query[name] for name in ("run", "run_text", "run_second", "run_tokens")
    }
    (holding,) = state(test).kept.uploaded.values()
    assert "[SEP]" not in holding.stack.queries and "street" in holding.stack.queries


def test_a_visit_has_one_run_and_a_new_link_takes_its_place():
    test = open_page("heads", run=MINILM, run_text=OWN)
    first = state(test).kept.requested
    test.query_params.clear()
    test.query_params.update({"run": MINILM, "run_text": "another street"})
    test.run()
    second = state(test).kept.requested
    visitor = state(test).visitor
    mine = [task for task in JOBS.tasks if isinstance(task, LoadedModelJob) and visitor in task.looks]
    assert len(mine) <= 1 and (first is None or first.job is None or visitor not in first.job.looks)
    assert second is None or second.prompt.text == "another street"


@pytest.mark.parametrize(
    ("query", "why", "below"),
    [
        ({"run": SMOLLM2, "run_text": STREET}, "not installed on this server", "recorded:smollm2-street"),
        ({"run": SMOLLM2, "run_text": OWN, "layer": "18"}, "`attention-lab get-models`", "recorded:smollm2-repeated"),
        ({"run": "nobody/nothing", "run_text": OWN}, "is not one of the models of this server", GENERATED),
        ({"run": "/etc/passwd", "run_text": OWN}, "is not one of the models of this server", GENERATED),
        ({"run": "", "run_text": "", "run_part": "x" * 99}, "is not one of the models", GENERATED),
    ],
)
def test_a_link_that_can_not_run_says_why_above_a_recording_of_the_same_model(query, why, below):
    test = open_page("heads", **query)
    assert why in page_text(test) and "This link shows" in page_text(test) and not test.exception
    shown = state(test).here.setting
    assert shown.source == below and state(test).kept.requested.job is None
    assert shown.layer == (18 if "layer" in query else shown.layer)


def test_nothing_of_the_hub_is_downloaded_for_a_link(monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", "Far = some/model")
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: pytest.fail("the network was used"))
    test = wait(open_page("heads", run="Far", run_text=OWN))
    assert "some/model was not downloaded to this server before" in page_text(test) and not test.exception


def test_a_model_without_room_is_refused_with_its_reason(monkeypatch):
    monkeypatch.setattr(model_jobs, "LOADED_MODELS", type(LOADED_MODELS)())
    monkeypatch.setattr(BUDGET, "room", lambda needed: False)
    test = wait(type_text(open_page("heads", **RIVERS), OWN))
    assert f"{MINILM} can't read “{OWN}” here" in page_text(test) and "not free right now" in page_text(test)
    assert state(test).here.setting.source == RIVERS["source"], "and the recording stays"
    assert "Show the text with hand-built heads" in [each.proto.label for each in test.get("link_button")]


def test_hand_built_heads_never_take_a_text_in_silence():
    test = open_page("heads", **RIVERS | {"source": "recorded:two-layers"})
    next(each for each in test.text_input if each.label == "Text").set_value(OWN).run()
    assert state(test).here.setting.source == GENERATED
    assert text.HAND_BUILT_NOW.format(source="By hand: two layers") in page_text(test)


def type_on_start(test: AppTest, typed: str) -> AppTest:
    (field,) = [each for each in test.text_input if each.key.startswith("own sentence")]
    return wait(field.set_value(typed).run())


def segments(test: AppTest, key: str) -> list[str]:
    return test.button_group(key=key).options


def test_on_start_a_typed_sentence_is_read_by_the_model_and_stays_there():
    shipped = open_page("start", start="step.take over")
    test = type_on_start(shipped, OWN)
    shown = state(test).here.setting
    assert not test.exception and (shown.sentence, shown.own, shown.step) == ("own", OWN, "look")
    assert link(test) == {"start": f"sentence.own~own.{OWN}"}
    test = test.segmented_control(key="story_step").set_value("take over").run()
    assert text_start.OWN_NO_VECTORS.partition("{query}")[2] in page_text(test), "the stand-in is no MiniLM"
    test = test.segmented_control(key="story_step").set_value("look").run()
    said = page_text(test)
    assert text_start.OWN_LOOK in said and "“bank” puts" not in said
    assert (
        segments(test, "story_step") == ["1 · Look", "2 · Weigh", "3 · Combine"]
        and len(segments(test, "story_sentence")) == 3
    )
    source, words = own_sentence_source(test), OWN.split()[:-1]  # the stand-in reads the last as two parts
    weights = trace(Config.of(source, layer=LAYER)).weights[LAST_HEAD, 1:5, 1:5].clone().fill_diagonal_(0)
    first, key = divmod(int(weights.argmax()), len(words))
    assert f"“{words[first]}” puts" in said
    assert text_start.OWN_FIRST.format(query=f"“{words[first]}”", key=f"“{words[key]}”").strip() in said
    expected = trace(Config.of(source, layer=LAYER, temperature=4.0)).weights[LAST_HEAD, first + 1]
    warm = page_text(open_step(test, "weigh", temperature=4.0))
    assert f"and so its largest weight, **{format_percent(float(expected.max()))}** at temperature 4." in warm
    assert "not as trained: temperature 4" in warm
    combined = page_text(open_step(test, "take over", temperature=4.0))
    assert (
        text_start.OWN_NO_VECTORS.format(query=f"“{words[first]}”") in combined
        and "each times its weight; a learned matrix" in combined
    )
    back = type_on_start(test, "")
    assert (state(back).here.setting.sentence, state(back).here.setting.own) == ("river", "")
    assert "this head hardly moves “bank” towards" in page_text(back) and segments(back, "story_sentence")[
        -1
    ].startswith("She opened")


def own_sentence_source(test: AppTest) -> str:
    (source,) = [name for name, prompt in state(test).kept.prompts.items() if prompt.text == OWN]
    return source


def open_step(test: AppTest, step: str, temperature: float) -> AppTest:
    test.button(key=f"next {step}").click().run()
    return test.select_slider(key="story_temperature").set_value(temperature).run()


def test_a_link_to_a_sentence_on_start_opens_it_again_and_leads_to_all_its_heads():
    query = {"start": f"sentence.own~own.{OWN}~query.3~mask.causal"}
    test = wait(open_page("start", **query))
    shown = state(test).here.setting
    assert (shown.own, shown.query, shown.mask) == (OWN, 3, "causal") and link(test) == query
    (there,) = [each for each in test.get("link_button") if each.proto.label == text_start.OWN_MODEL]
    found = dict(parse_qsl(urlsplit(there.proto.url).query))
    assert urlsplit(there.proto.url).path == "/model" and found == {"model": MINILM, "text": OWN}
    assert text_start.OWN_PARTS.format(mark=GOES_ON) in page_text(test), "the stand-in reads the last word as two parts"
    typed = "100% ~ sure. Really"
    assert link(type_on_start(test, typed)) == {"start": "sentence.own~own.100%25 %7E sure. Really~mask.causal"}
    packed = STORIES.to_query(replace(Story(), sentence="own", own=typed))
    assert STORIES.from_query(packed)[0].own == typed


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (" ", text_start.OWN_BLANK),
        ("a " * 200, text_start.OWN_LONG.format(most=32, shown="He sat on the bank of the river.")),
        ("x " * 40, "This sentence has 40 tokens; Start has room for 32. Shorten it,"),
    ],
)
def test_what_start_can_not_show_is_said(typed, said):
    test = type_on_start(open_page("start"), typed)
    assert said in page_text(test) and not test.exception
    headline = test.markdown[1].value
    assert ("puts **" in headline or "of its weight, **" in headline) == ("40" not in said), "only with its picture"


def test_a_text_that_start_could_not_read_leaves_the_field_with_the_next_sentence():
    test = type_on_start(open_page("start"), "a " * 200)
    assert test.text_input[0].value == "a " * 200
    test.button_group(key="story_sentence").set_value("account").run()
    assert test.text_input[0].value == "" and "“account”" in page_text(test) and not test.exception


def test_start_says_why_no_sentence_can_be_read(monkeypatch):
    monkeypatch.delenv("ATTENTION_MODELS")
    test = open_page("start")
    assert not test.text_input, "a field that can't be used"
    assert any(text.OWN_WHY.format(why=text.NOT_INSTALLED) in each.proto.help for each in test.caption)
    opened = open_page("start", start=f"sentence.own~own.{OWN}")
    assert "This link shows" in page_text(opened) and "“bank” puts" in page_text(opened) and not opened.exception
    assert "“MiniLM: a river bank”" in page_text(opened), "which is what Start shows below"
    assert state(opened).here.setting == Story(), "and its pill is the selected one"


def test_every_recording_of_a_model_has_its_text_and_a_name_in_the_catalogue():
    from attention.models.catalogue import PACKAGES

    for entry in SHIPPED.values():
        assert bool(entry.model) == entry.learned == bool(entry.text)
        assert not entry.learned or entry.model in PACKAGES


def test_links_name_every_part_of_a_prompt_that_gives_the_source():
    carried = {"model", *run_links.CARRIED}
    assert carried == {name for name, knob in PROMPTS.knobs.items() if knob.about == "tensors"} | {
        "part",
        "summary",
        "tokens",
        "off",
        "how",
        "other",
    }
    assert isinstance(Stack, type) and replace(Prompt(), text=DEFAULTS["text"]).alone.text == DEFAULTS["text"]


def weights_without(layer: int, head: int) -> list[torch.Tensor]:
    """The weights of the stand-in with a head's part of the output projection set to zero, by transformers; (h n n) per layer."""
    folder = os.environ["ATTENTION_MODELS"].partition(" = ")[2]
    net = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    wide = net.config.hidden_size // net.config.num_attention_heads
    with torch.no_grad():
        net.encoder.layer[layer].attention.output.dense.weight[:, head * wide : (head + 1) * wide] = 0
        given = transformers.AutoTokenizer.from_pretrained(folder)(OWN, return_tensors="pt")
        return [each[0] for each in net(**given, output_attentions=True).attentions]


def compared(test: AppTest, layer: int) -> tuple[Trace, Trace]:
    """Both sides of a comparison in a layer."""
    sides = sides_of(state(test).here.setting)
    assert sides is not None
    return trace(sides.a.of_layer(layer)), trace(sides.b.of_layer(layer))


def test_a_model_with_a_head_off_is_a_side_whose_later_layers_differ_and_the_link_has_both_sides():
    test = wait(open_page("heads", run=MINILM, run_text=OWN, v="3", layer="0", head="2"))
    test.button(key="compare").click().run()
    test = wait(test.button(key="switch head").click().run())
    said = page_text(test)
    assert f"source: {MINILM} · **B** source: {MINILM}, layer 0 head 2 off" in said and not test.exception
    assert text.EQUAL_LAYERS.format(layer=0) in said and "Every weight of A and B is equal" in said
    without = weights_without(0, 2)
    for layer, expected in enumerate(without):
        a, b = compared(test, layer)
        torch.testing.assert_close(b.weights, expected, atol=2e-6, rtol=0)
        assert torch.equal(a.weights, b.weights) == (layer == 0)
    shown = link(test)
    assert (shown["run_off"], shown["run_text"]) == ("0.2", OWN)
    assert unpack_link(shown["against"]) == {"run": MINILM, "run_text": OWN, "v": "4"}
    later = test.selectbox(key="layer").set_value(1).run()
    shown = link(later)
    assert unpack_link(shown["against"])["layer"] == "1", "A follows to the layer of another source"

    fresh = wait(wait(open_page("heads", **shown)))
    assert link(fresh) == shown
    moved = (without[1] - trace(sides_of(state(fresh).here.setting).a).weights).abs().sum(-1).mean(-1) / 2
    said, most = page_text(fresh), int(moved.argmax())
    assert f"Head {most} changed most: on average, {format_percent(float(moved[most]))} of a row's weight moved" in said
    back = fresh.button(key="swap").click().run()
    assert unpack_link(link(back)["against"])["run_off"] == "0.2" and "run_off" not in link(back)
    reset = back.button(key="reset").click().run()
    assert "against" not in link(reset) and not reset.exception


def test_a_head_that_is_off_is_said_to_be_off_below_its_map_and_beside_its_output():
    test = wait(open_page("heads", run=MINILM, run_text=OWN, v="3", layer="0", head="2"))
    said = interventions_text.IS_OFF.format(layer=0, head=2)
    assert said not in page_text(test)
    test = wait(test.button(key="switch head").click().run())
    assert page_text(test).count(said) == 1
    test.session_state["selected row"] = True
    test = test.run().segmented_control(key="row_as").set_value("output").run()
    assert page_text(test).count(said) == 2 and not test.exception


def test_heads_that_can_not_be_switched_off_are_named_and_the_picture_stays(monkeypatch):
    test = wait(open_page("heads", run=MINILM, run_text=OWN, v="3"))
    before = state(test).here.setting.source
    monkeypatch.setattr("attention.interventions.projections.FAMILIES", {})
    test = wait(test.button(key="switch head").click().run())
    assert "can't run with heads off here" in page_text(test) and "bert model" in page_text(test)
    assert state(test).here.setting.source == before and not test.exception


def test_a_role_has_beside_its_name_how_often_it_holds_where_that_was_surveyed(monkeypatch):
    visit = Session()
    monkeypatch.setattr(model_run, "session", lambda: visit)
    config = Config.of(RIVERS["source"], layer=0, head=2)
    roles, found = results.heads.roles(config), results.layers.layers(config)
    role, holds = roles[2], texts_with_roles(config, found)
    assert role is not None and heads_parts.names(config, roles)[2] == f"{role.name}\non 199 of 200 short texts"
    assert layers_compared.does(config, found, (0, 2)) == f"{role.name}, on 199 of 200 short texts"
    table = layers_table.columns(found, [], holds)
    assert table["holds"][2] == 199 and len(table["holds"]) == len(table["does"]) == 72
    assert [many is None for many in holds] == [not each for layer in found.values() for each in layer.roles]
    built = Config()
    role, found = results.heads.roles(built)[0], results.layers.layers(built)
    assert role is not None and heads_parts.names(built, [role]) == [role.name]
    assert layers_compared.does(built, found, (0, 0)) == role.name
    assert "holds" not in layers_table.columns(found, [], texts_with_roles(built, found))

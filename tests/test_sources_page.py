"""Pages of a source that was recorded: what acts, what doesn't and says so, and what stands where something is missing."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.fitting import fixed_by_source
from attention.recorded.constructed import NAME
from attention.recorded.shipped import SHIPPED, recording
from attention.ui.controls import opening_head, picture
from attention.ui.views import heads
from tests.strategies import query_without_edition
from tests.test_pages import PAGES, ROOT, run

TWO = f"recorded:{NAME}"
QUERY = {"source": TWO, "layer": "1"}
OPENS = {
    name: dict(zip(("layer", "head", "query"), map(str, shipped.opens or ()), strict=False))
    for name, shipped in SHIPPED.items()
}
HEADS, IMPLEMENTATIONS = (ROOT / "pages" / f"{name}.py" for name in ("heads", "implementations"))


def link(test: AppTest) -> dict[str, str]:
    """What the address bar says; a link's own values are texts, written ones lists."""
    return {
        name: value if isinstance(value, str) else value[-1]
        for name, value in query_without_edition(test.query_params).items()
    }


@pytest.mark.sampled(6)
@pytest.mark.parametrize("query", [QUERY, {"source": "recorded:smollm2-code", "layer": "18"}], ids=["values", "none"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_shows_a_recording_or_says_what_would_have_it(page, query):
    test = run(page, query)
    assert not test.exception
    assert not test.warning
    assert link(test) == query
    made = [button for button in test.button if button.label == "Built from these settings"]
    assert bool(made) == (page.stem == "implementations")


def knob(test: AppTest, name: str):
    kinds = (test.select_slider, test.slider, test.selectbox, test.number_input, test.text_input)
    return next(widget for kind in kinds for widget in kind if widget.key == name)


def test_knobs_that_do_nothing_are_disabled_and_say_why():
    test = run(HEADS, QUERY)
    drawn = {each.key for kind in (test.select_slider, test.slider) for each in kind}
    assert not {"tokens", "heads", "d_model"} & drawn, "one line names the sizes"
    assert any("14 tokens, 2 heads, d_model 32" in caption.value for caption in test.caption)
    for name in ("kv_heads", "input", "projections", "seed", "sharing"):
        widget = knob(test, name)
        assert widget.disabled, name
        assert name in fixed_by_source(TWO)
        reasons = ("Fixed by the recording.", "No effect: this source is a recording")
        assert any(reason in widget.help for reason in reasons), name
    for name in ("source", "layer", "mask", "scale", "temperature", "softcap", "softmax", "positions"):
        assert not knob(test, name).disabled, name
    assert any(recording(NAME).what in caption.value.replace("\\", "") for caption in test.caption)


def test_what_one_sets_acts_on_a_recording_and_one_button_takes_it_back():
    test = run(HEADS, QUERY)
    assert test.button(key="as recorded").disabled
    knob(test, "temperature").set_value(4.0)
    test.run()
    assert link(test) == QUERY | {"temperature": "4.0"}
    test.button(key="as recorded").click().run()
    assert link(test) == QUERY


def test_a_recording_is_chosen_from_the_menu_and_what_was_set_comes_back_after_it():
    test = run(HEADS, {"tokens": "30", "heads": "4", "seed": "3", "temperature": "2.0"})
    assert not [widget for widget in test.selectbox if widget.key == "layer"]
    knob(test, "source").set_value(TWO)
    test.run()
    assert not test.exception and not test.warning
    assert link(test) == {"source": TWO, "temperature": "2.0"}
    assert any("14 tokens, " in caption.value for caption in test.caption)
    knob(test, "layer").set_value(1)
    test.run()
    assert link(test)["layer"] == "1"
    test.button(key="as recorded").click().run()
    assert link(test) == QUERY
    knob(test, "source").set_value("generated")
    test.run()
    assert link(test) == {"tokens": "30", "heads": "4", "seed": "3"}
    assert knob(test, "tokens").value == 30


def test_another_source_brings_its_own_mask_unless_somebody_has_set_one():
    test = run(HEADS, {})
    for source, mask in (("minilm-street", "full"), ("smollm2-street", "causal"), (NAME, "causal")):
        knob(test, "source").set_value(f"recorded:{source}")
        test.run()
        assert link(test) == {"source": f"recorded:{source}"} | OPENS[source]
        assert knob(test, "mask").value == mask
    knob(test, "mask").set_value("window")
    test.run()
    knob(test, "source").set_value("recorded:minilm-street")
    test.run()
    assert link(test) == {"source": "recorded:minilm-street", "mask": "window"} | OPENS["minilm-street"]
    knob(test, "source").set_value("generated")
    test.run()
    assert link(test) == {"mask": "window"}


def test_a_head_that_was_chosen_stays_when_another_source_is_chosen():
    test = run(HEADS, {"head": "2"})
    knob(test, "source").set_value("recorded:minilm-street")
    test.run()
    assert link(test) == {"source": "recorded:minilm-street", "head": "2"}


def test_a_training_opens_on_the_head_with_most_weight_on_the_keys_of_its_task():
    for task, (layer, head) in (("induction", ("1", "2")), ("brackets", ("1", "1"))):
        test = run(HEADS, {})
        knob(test, "source").set_value(f"trained:{task}")
        test.run()
        assert link(test) == {"source": f"trained:{task}", "layer": layer, "head": head} and not test.exception
    assert any("**Task:** Brackets of four kinds open and close." in each.value for each in test.caption)


def test_another_text_that_a_model_reads_keeps_the_head():
    before = vars(Config.of("recorded:minilm-river", head=4, query=5))
    assert opening_head.implied_changes(before, before | {"source": "run:another"}) == {}
    assert opening_head.implied_changes(before, before | {"source": "generated"}) == {
        "layer": 0,
        "head": 0,
        "query": -1,
    }
    assert opening_head.implied_changes(before, before | {"source": "generated", "head": 2}) == {}


@pytest.mark.parametrize(
    ("name", "opens"), [(name, shipped.opens) for name, shipped in SHIPPED.items() if shipped.opens]
)
def test_a_real_model_opens_on_a_row_with_most_of_its_weight_on_one_other_token(name, opens):
    layer, head, query = opens
    row = trace(Config.of(f"recorded:{name}", layer=layer)).weights[head, query]
    words, most = recording(name).tokens, int(row.argmax())
    assert row[most] > 0.6 and most != query and words[most].strip("[]").lower() not in ("cls", "sep", "start")


def test_the_empty_state_leads_to_a_source_that_has_what_is_missing():
    test = run(IMPLEMENTATIONS, QUERY)
    said = [text.value.replace("\\", "") for text in test.markdown]
    assert "**Implementations: published ways to write attention**" in said
    assert any(
        "needs input vectors (x) and projections (W_q, W_k, W_v, W_o). "
        "The source “By hand: two layers” has queries, keys and values. Sources that have it:" in each
        for each in said
    )
    next(button for button in test.button if button.label == "Built from these settings").click().run()
    assert not test.exception
    assert "source" not in test.query_params
    assert not [button for button in test.button if button.label == "Built from these settings"]


def test_what_stands_beside_the_view_follows_the_source(monkeypatch):
    """A part is drawn anew only where its look is another one."""
    monkeypatch.setattr(heads.parts, "code_open", lambda what: False)
    monkeypatch.setattr(heads.questions, "is_hidden", lambda config: False)
    made, recorded = Config(), Config.of(TWO)
    assert heads.CODE.look(made) != heads.CODE.look(recorded)
    assert picture.look(made) != picture.look(recorded) != picture.look(Config.of(TWO, temperature=2.0))

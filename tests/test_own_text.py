"""A text of one's own: the number of tokens follows it, it takes the place of other inputs, and nothing of it goes in silence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attention.config import Config
from attention.fitting import coerce
from attention.inputs import BEFORE, SPLIT
from attention.knobs import DEFAULTS, GENERATED, KNOBS, PASSAGE
from attention.sources.providers import tokens
from attention.ui.controls import own_text
from tests.samples import examples
from tests.strategies import LETTERS, query_without_edition
from tests.test_pages import PAGES, ROOT, page_text, run

HEADS = ROOT / "pages/heads.py"
REAL = "recorded:smollm2-repeated"
SEVEN = "all that glitters may well be gold"


def type_text(text: str, before: Config | None = None, **also: object) -> tuple[Config, list[str]]:
    """The config of somebody who types a text, and moves other knobs in the same moment."""
    values = vars(before or Config())
    found, notes = own_text.implied_changes(values, values | {"text": text} | also)
    return Config(**coerce({**values, "text": text, **also, **found})), notes


def captions(test: AppTest) -> list[str]:
    return [each.value.replace("\\", "") for each in test.caption]


def test_the_sample_cut_to_the_words_that_steps_opens_with_makes_way_for_a_text():
    """There the number of tokens is the page's, not the user's; of a text of the user's it is not."""
    opened = Config(tokens=4, heads=2, d_model=8)
    assert type_text("six words are all used here", opened)[0].tokens == 6
    assert type_text("now seven words are used in full", Config(tokens=4, text=SEVEN))[0].tokens == 4


@pytest.mark.parametrize(
    ("text", "many"),
    [
        (SEVEN, 7),
        ("Hello", 2),
        ("", 2),
        ("שלום עולם טוב", 3),
        ("🙂 👩‍👩‍👧 ok", 3),
        ("<b>hi</b>", 8),
        ("word " * 30, 30),
    ],
)
def test_there_are_as_many_tokens_as_words(text, many):
    config, notes = type_text(text)
    assert (config.tokens, config.text, notes) == (many, text, [])
    assert own_text.text_notice(config) == "" or len(SPLIT["words"](text)) < 2
    assert type_text(SEVEN, config)[0].tokens == 7, "and it goes on following"


def test_who_has_moved_the_number_of_tokens_keeps_it():
    config, _ = type_text(SEVEN, Config(tokens=21))
    assert config.tokens == 21
    assert own_text.text_notice(config) == "Repeated to fill 21 tokens."
    assert own_text.offer_length(config) == ("Show it once", {"tokens": 7})
    assert type_text(SEVEN, tokens=5)[0].tokens == 5, "also where both move in one moment"
    config, _ = type_text("word " * 31, Config(tokens=5))
    assert own_text.text_notice(config) == "Shown: the first 5 of 31 words."
    assert own_text.offer_length(config) == ("Show all 31", {"tokens": 31})


def test_a_sample_that_would_come_again_many_times_has_a_longer_one_that_begins_with_it():
    config = Config(tokens=1024)
    label, values = own_text.offer_length(config)
    assert label == "Use a longer text" and values == {"text": PASSAGE}
    longer = replace(config, **values)
    assert tokens(longer).texts[: Config().tokens] == tokens(Config()).texts and own_text.fit_text(PASSAGE) == (
        PASSAGE,
        [],
    )
    assert own_text.offer_length(longer) == ("Show it once", {"tokens": len(SPLIT["words"](PASSAGE))})
    assert own_text.offer_length(Config(tokens=40))[0] == "Show it once"


def test_characters_are_counted_as_such():
    config, _ = type_text("banana", Config(input="characters", tokens=len(Config().text)))
    assert (config.input, config.tokens, own_text.text_notice(config)) == ("characters", 6, "")


@pytest.mark.parametrize("before", [Config(input="noise"), Config(input="refrain", tokens=40), Config.of(REAL)])
def test_typing_takes_the_place_of_what_the_tokens_came_from(before):
    assert not own_text.uses_text(before) and own_text.text_notice(before)
    config, _ = type_text(SEVEN, before)
    assert (config.source, config.input) == (GENERATED, "words")
    assert list(tokens(config).labels)[:7] == SEVEN.split()
    assert config.tokens == (40 if before.tokens == 40 else 7)


def test_another_input_that_reads_the_text_stays():
    assert type_text(SEVEN, Config(input=BEFORE))[0].input == BEFORE
    assert type_text(SEVEN, input="noise")[0].input == "noise", "and one that was chosen in the same moment"


def test_what_is_too_long_for_a_link_is_cut_between_words_and_said_to_be():
    config, notes = type_text("glitter " * 10_000)
    assert config.text.split() == ["glitter"] * (KNOBS["text"].high // len("glitter "))
    assert notes == ["Your text has 80,000 characters. It is part of the link, so only the first 1,999 are kept."]
    config, notes = type_text("x" * 2001)
    assert config.text == "x" * 2000 and "2,001 characters" in notes[0]
    assert type_text("ab " * 666 + "ab")[1] == []


def test_what_cannot_be_seen_is_left_out_and_the_rest_stays():
    config, notes = type_text("a\u202eb \x07c\n d")
    assert config.text == "ab c\n d" and len(notes) == 1 and "control characters were removed" in notes[0]


@settings(deadline=None, max_examples=examples(60))
@given(text=st.text(max_size=60), letters=st.text(LETTERS, max_size=60), input=st.sampled_from([*SPLIT, "noise"]))
def test_whatever_is_typed_is_a_config_whose_sentence_is_true(text, letters, input):
    for each in (text, letters):
        config, _ = type_text(each, Config(input=input))
        assert KNOBS["text"].allows(config.text)
        many, sentence = len(SPLIT[config.input](config.text)), own_text.text_notice(config)
        assert ("The first" in sentence) == (many > config.tokens)
        assert ("Repeated" in sentence) == (0 < many < config.tokens)


WITHOUT = ("masks", "layers", "implementations")  # Masks has positions, Layers has heads, Implementations compares code
SHOWING = [page for page in PAGES if page.stem not in WITHOUT]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.stem)
def test_every_page_that_shows_tokens_has_the_field_and_follows_it(page):
    test = run(page, {})
    field = test.text_input(key="text")
    assert (field.label, field.value) == ("Text", DEFAULTS["text"])
    field.set_value(SEVEN).run()
    assert not test.exception and not test.warning
    assert query_without_edition(test.query_params) == {"text": SEVEN, "tokens": "7"}
    assert test.select_slider(key="tokens").value == 7


def test_on_the_page_the_slider_is_said_and_one_button_shows_all_words():
    test = run(HEADS, {"tokens": "14", "text": SEVEN})
    assert any("Repeated to fill 14 tokens." in each for each in captions(test))
    test.button(key="fit text").click().run()
    assert query_without_edition(test.query_params) == {"text": SEVEN, "tokens": "7"}
    test.select_slider(key="tokens").set_value(5).run()
    assert any("Shown: the first 5 of 7 words." in each for each in captions(test))
    test.text_input(key="text").set_value("one two three").run()
    assert query_without_edition(test.query_params) == {"text": "one two three", "tokens": "5"}


def test_on_the_page_bad_input_is_said_and_nothing_else_is_lost():
    test = run(HEADS, {"temperature": "2.0"})
    test.text_input(key="text").set_value("glitter " * 10_000).run()
    assert "80,000 characters" in page_text(test).replace("\\", "")
    assert (
        len(test.text_input(key="text").value) == 1999
        and query_without_edition(test.query_params)["temperature"] == "2.0"
    )
    test.text_input(key="text").set_value("").run()
    assert not test.exception and not test.warning
    assert any("The text has no words" in each for each in captions(test))
    test.button(key="fit text").click().run()
    assert query_without_edition(test.query_params) == {"temperature": "2.0"}


def test_on_the_page_a_hand_built_recording_makes_way_for_words_that_are_typed():
    test = run(HEADS, {"source": "recorded:two-layers", "layer": "1", "temperature": "2.0"})
    (field,) = [each for each in test.text_input if each.label == "Text"]
    assert field.value == "" and not field.disabled, "the text of the setting is not shown"
    field.set_value(SEVEN).run()
    assert not test.exception and test.text_input(key="text").value == SEVEN
    assert query_without_edition(test.query_params) == {"text": SEVEN, "tokens": "7", "temperature": "2.0"}


def test_a_link_with_a_text_and_no_number_of_tokens_opens_what_it_opened():
    test = run(HEADS, {"text": SEVEN})
    assert test.select_slider(key="tokens").value == 18 and query_without_edition(test.query_params) == {"text": SEVEN}
    assert any("Repeated to fill 18 tokens." in each for each in captions(test))


@pytest.mark.parametrize(("text", "query"), [("The cat sat.", 2), ("The cat sat", -1), ("?!", -1), ("Really?!", 0)])
def test_a_typed_text_selects_its_last_word_rather_than_the_punctuation_behind_it(text, query):
    assert own_text.last_word(text, "words") == query
    config, notes = type_text(text)
    assert (config.query, notes) == (query, []), "the number of tokens follows the text"
    assert type_text("My dog ran home!", config)[0].query == 3, "and a query that was selected so goes on following"
    assert type_text(text, Config(query=1))[0].query == 1, "a query that was chosen stays"
    assert type_text(text, Config(tokens=5))[0].query == -1, "a text that is repeated has another last token"


def test_a_switch_beside_the_text_leads_to_heads_of_real_models_and_back():
    test = run(HEADS, {})
    switch = lambda: next(each for each in test.button_group if (each.key or "").startswith("whose heads"))  # noqa: E731
    assert switch().value == GENERATED
    switch().set_value("recorded:minilm-river").run()
    assert query_without_edition(test.query_params) == {"source": "recorded:minilm-river", "head": "4", "query": "5"}
    assert not test.exception and switch().value == "recorded:minilm-river"
    switch().set_value(REAL).run()
    assert test.query_params["layer"] == "18" and test.query_params["head"] == "6" and not test.exception
    switch().set_value(GENERATED).run()
    assert query_without_edition(test.query_params) == {} and switch().value == GENERATED
    other = run(HEADS, {"source": "recorded:minilm-street"})
    assert next(each for each in other.button_group if "whose" in (each.key or "")).value == "recorded:minilm-river"
    trained = run(HEADS, {"source": "trained:induction"})
    assert all("whose" not in (each.key or "") or each.value is None for each in trained.button_group)

"""A link carries any config there and back, and nothing that stands in a link raises."""

from __future__ import annotations

from urllib.parse import parse_qs

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from attention import Config
from attention.codec import EDITIONS, fit_values, from_query, link, to_query
from attention.knobs import DEFAULTS, KNOBS
from attention.settings import UNDATED
from tests.samples import examples
from tests.strategies import configs, newest, unversioned_config, values
from tests.unchecked import without_checks

laws = settings(deadline=None, max_examples=examples(150))
strange = st.text(st.characters(), max_size=12)  # surrogates and control characters included
numbers = st.integers().map(str) | st.floats().map(str) | st.from_regex(r"[+-]?[0-9]{0,4}\.?[0-9]{0,3}(e[0-9]{1,4})?")
choices = st.sampled_from([choice for knob in KNOBS.values() for choice in knob.choices])


@laws
@given(config=configs())
def test_a_config_comes_back_as_it_went(config):
    assert from_query(to_query(config)) == (config, [])


@laws
@given(config=configs())
def test_a_config_survives_an_address_bar(config):
    query = link(config)
    query.encode("ascii")
    assert from_query(parse_qs(query, keep_blank_values=True)) == (config, [])


@laws
@given(name=st.sampled_from(list(KNOBS)), data=st.data())
def test_any_value_of_a_knob_is_read_as_it_was_written(name, data):
    value = data.draw(values(name))
    config, _ = fit_values(DEFAULTS | {name: value})
    assert from_query(to_query(config)) == (config, [])


@settings(deadline=None, max_examples=examples(300))
@given(
    query=st.dictionaries(
        st.sampled_from(list(KNOBS)) | strange,
        strange | numbers | choices | st.lists(strange | numbers, max_size=2),
        max_size=6,
    )
)
def test_nothing_in_a_link_raises(query):
    config, notes = from_query(query)
    assert from_query(to_query(config)) == (config, [])
    assert all(config_value == DEFAULTS[name] for name, config_value in vars(config).items() if not query)
    for name in query.keys() - KNOBS.keys():
        assert any(note.endswith("is not a setting of this app; it was ignored.") for note in notes), name


@settings(deadline=None, max_examples=examples(100))
@given(
    query=st.dictionaries(
        st.sampled_from(list(KNOBS)),
        st.none() | st.booleans() | st.integers() | st.floats() | st.binary() | st.lists(st.integers()) | st.just({}),
        min_size=1,
    )
)
def test_what_is_not_text_is_named_and_ignored(query):
    with without_checks():
        config, notes = from_query(query)
    assert config == (Config() if query.keys() <= UNDATED else unversioned_config())
    assert [note.split("=")[0] for note in notes] == list(query)
    assert all(note.endswith("is not text, as values in a link are.") for note in notes)


@pytest.mark.parametrize(
    ("query", "notes"),
    [
        ({"zoom": "1"}, ["'zoom' is not a setting of this app; it was ignored."]),
        ({"heads": "eight"}, ["heads='eight' is not a whole number between 1 and 32. The default is 8."]),
        ({"heads": "2.5"}, ["heads='2.5' is not a whole number between 1 and 32. The default is 8."]),
        ({"heads": "99"}, ["heads=99 is not a whole number between 1 and 32. The default is 8."]),
        ({"heads": "٨"}, ["heads='٨' is not a whole number between 1 and 32. The default is 8."]),
        ({"temperature": "nan"}, ["temperature='nan' is not a number between 0.05 and 20.0. The default is 1.0."]),
        ({"temperature": "0"}, ["temperature=0.0 is not a number between 0.05 and 20.0. The default is 1.0."]),
        ({"temperature": "1e999"}, ["temperature='1e999' is not a number between 0.05 and 20.0. The default is 1.0."]),
        (
            {"projections": "ties"},
            ["projections='ties' is not one of: constructed, independent, tied, identity. Did you mean 'tied'?"],
        ),
        ({"d_model": "64", "heads": "3"}, ["3 heads don't divide a d_model of 64: d_model moved to 63."]),
        ({"rows": "0-17"}, []),
        ({"rows": "9-3"}, ["9-3 names the last before the first: rows moved to 3-9."]),
        ({"cols": "20-40"}, ["20-40 reaches beyond 18 tokens (counted from 0): cols moved to 16-17."]),
        ({"cols": "0-40"}, ["0-40 reaches beyond 18 tokens (counted from 0): cols moved to all."]),
        ({"cols": "5-5"}, ["5-5 is less than two tokens: cols moved to 4-5."]),
        ({"softcap": "1e-31"}, ["a softcap is 0 (off) or at least 0.001: softcap moved to 0.001."]),
        ({"head": "8"}, ["there is no head 8 among 8 (counted from 0): head moved to 7."]),
        ({"query": "18"}, ["there is no query 18 among 18 tokens (counted from 0): query moved to 17."]),
        ({"kv_heads": "3"}, ["3 kv_heads don't divide 8 heads: kv_heads moved to 4."]),
        (
            {"d_model": "1024", "tokens": "65536"},
            ["65,536 tokens of 1,024 channels are over the limit of 33,554,432 channels: tokens moved to 32768."],
        ),
    ],
)
def test_a_note_names_what_could_not_be_used_and_why(query, notes):
    assert from_query(query)[1] == notes


@pytest.mark.parametrize("text", ["a\0b", "\x7f", "\ud800", "\u202e", "x" * 2001, "x" * 10_000_000])
def test_text_that_cannot_be_drawn_is_named_briefly(text):
    config, (note,) = from_query({"text": text, "heads": "4"})
    assert config == unversioned_config(heads=4)
    assert note.startswith("text='")
    assert "is not printable text of at most 2,000 characters." in note
    assert len(note) < 300
    note.encode()


def test_the_last_of_several_counts():
    assert from_query({"tokens": ["4", "5"]}) == (unversioned_config(tokens=5), [])


def test_choices_may_be_written_in_capitals():
    assert from_query({"mask": "FULL", "scale": "None"}) == (unversioned_config(mask="full", scale="none"), [])


def test_only_what_differs_from_the_defaults_is_in_a_link():
    assert to_query(Config()) == {}
    assert link(Config()) == ""
    assert to_query(Config(heads=4, text="a b")) == newest({"heads": "4", "text": "a b"})
    assert link(Config(scale="1/d_head", text="a&b=ü")) == f"v={len(EDITIONS)}&scale=1%2Fd_head&text=a%26b%3D%C3%BC"


def test_a_link_with_everything_wrong_is_the_default_with_a_note_each():
    config, notes = from_query(dict.fromkeys(KNOBS, "\0"))
    assert config == unversioned_config()
    assert [note.split("=")[0] for note in notes] == list(KNOBS)

"""What every input promises, and what each of them looks like."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import assume, given, settings

from attention.inputs import CLUSTER, INPUTS, SPLIT, make_generator, tokens
from tests.samples import examples
from tests.strategies import LETTERS

laws = settings(deadline=None, max_examples=examples(40))
names = st.sampled_from(list(INPUTS))
JOINED = "ab '\n👩👧🏽🇩🇪☁\ufe0f\u200d\u0301\u1112\u1161\u11abहिन्द"  # what joins others, and what is joined
TEXT = "The river bank was steep so the boat left the bank"


def draw_input(name: str, n: int, c: int = 64, seed: int = 0, text: str = TEXT) -> torch.Tensor:
    return INPUTS[name](n, c, make_generator(seed), text)


@laws
@given(name=names, n=st.integers(1, 20), c=st.integers(1, 9), seed=st.integers(0, 9999), text=st.text(LETTERS))
def test_an_input_has_its_shape_and_is_the_same_again(name, n, c, seed, text):
    x = draw_input(name, n, c, seed, text)
    assert x.shape == (n, c)
    assert x.dtype == torch.float32
    assert x.isfinite().all()
    assert torch.equal(x, draw_input(name, n, c, seed, text))


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_has_unit_variance(name):
    many = torch.cat([draw_input(name, 200, 64, seed) for seed in range(10)])
    assert many.std().item() == pytest.approx(1, abs=0.05)
    assert many.mean().item() == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("name", INPUTS)
def test_another_seed_is_another_input(name):
    assert not torch.equal(draw_input(name, 8, seed=1), draw_input(name, 8, seed=2))


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_explains_itself(name):
    assert (INPUTS[name].__doc__ or "").endswith(".")


@laws
@given(n=st.integers(1, 20))
def test_repeat_repeats(n):
    x, half = draw_input("repeat", n), (n + 1) // 2
    assert torch.equal(x[half:], x[: n - half])
    assert len(x[:half].unique(dim=0)) == half


def test_clusters_are_four_kinds():
    """Two tokens of one kind have a likeness of 0.81, two of different kinds none."""
    x = draw_input("clusters", 200, 4096)
    likeness = x @ x.T / 4096
    kinds = likeness > 0.5
    assert len(kinds.unique(dim=0)) == 4
    alike = kinds & ~torch.eye(200, dtype=torch.bool)
    assert likeness[alike].mean().item() == pytest.approx(0.81, abs=0.02)
    assert likeness[~kinds].mean().item() == pytest.approx(0, abs=0.05)


def test_a_walk_forgets_step_by_step():
    """Tokens at distance r have a likeness of 0.95 ** r."""
    x = draw_input("walk", 300, 4096)
    for distance in (1, 5, 20):
        likeness = (x[:-distance] * x[distance:]).mean().item()
        assert likeness == pytest.approx(0.95**distance, abs=0.03)


def test_a_walk_goes_on_from_stretch_to_stretch():
    """Where a stretch ends, the next token is as near as any other."""
    x = draw_input("walk", 600, 4096)
    apart = (x[1:] - x[:-1]).square().mean(1)
    assert apart[127].item() == pytest.approx(apart.median().item(), rel=0.15)
    assert apart[511].item() == pytest.approx(apart.median().item(), rel=0.15)


@laws
@given(n=st.integers(1, 100))
def test_a_refrain_comes_eight_times(n):
    x, period = draw_input("refrain", n), -(-n // 8)
    assert torch.equal(x[period:], x[: n - period])
    assert len(x[:period].unique(dim=0)) == period


def test_topics_are_stretches_of_tokens_that_are_alike():
    """Two tokens of one document have a likeness of 0.36, two of different documents none; about a dozen documents."""
    x = draw_input("topics", 300, 4096)
    alike = (x @ x.T / 4096) > 0.18
    changes = [at for at in range(1, 300) if not alike[at, at - 1]]
    edges = [0, *changes, 300]
    document = torch.repeat_interleave(torch.tensor(edges).diff())
    assert torch.equal(alike, document[:, None] == document)
    assert 4 < len(changes) < 25


def test_a_sink_draws_every_query():
    """The first token is likest to every token, itself apart."""
    x = draw_input("sink", 200, 512)
    likeness = (x @ x.T / 512).fill_diagonal_(0)
    assert (likeness[1:].argmax(1) == 0).all()
    assert likeness[1:, 0].mean().item() == pytest.approx(1.5, abs=0.2)


def test_noise_knows_nothing_of_its_neighbours():
    x = draw_input("noise", 300, 4096)
    assert (x[:-1] * x[1:]).mean().item() == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("name", "text", "n", "expected"),
    [
        ("words", "to be or", 5, ["to", "be", "or", "to", "be"]),
        ("words", "Don't stop, now!", 5, ["Don't", "stop", ",", "now", "!"]),
        ("words", "a 👩 b", 3, ["a", "👩", "b"]),
        ("words", "one", 2, ["one", "one"]),
        ("words", "", 2, ["·", "·"]),
        ("words", "   ", 1, ["·"]),
        ("characters", "ab ", 4, ["a", "b", " ", "a"]),
        ("characters", "é🙂", 2, ["é", "🙂"]),
        ("characters", "", 1, ["·"]),
        ("noise", "text", 3, []),
        ("characters", "👩‍👩‍👧👍🏽", 2, ["👩‍👩‍👧", "👍🏽"]),
        ("characters", "🇩🇪🇫🇷🇪", 3, ["🇩🇪", "🇫🇷", "🇪"]),
        ("characters", "e\u0301\u0323a", 2, ["e\u0301\u0323", "a"]),
        ("characters", "\u1112\u1161\u11ab한", 2, ["\u1112\u1161\u11ab", "한"]),
        ("characters", "हिन्दी", 2, ["हि", "न्दी"]),
        ("characters", "a\r\nb\n", 4, ["a", "\r\n", "b", "\n"]),
        ("characters", "☁️1️⃣", 2, ["☁️", "1️⃣"]),
        ("characters", "\u200da\u200d", 2, ["\u200d", "a\u200d"]),
        ("words", "a 👩‍👩‍👧👍🏽 b", 4, ["a", "👩‍👩‍👧", "👍🏽", "b"]),
        ("words", "die 🇩🇪🇫🇷.", 4, ["die", "🇩🇪", "🇫🇷", "."]),
        ("words", "cafe\u0301 d'e\u0301te\u0301", 2, ["cafe\u0301", "d'e\u0301te\u0301"]),
        ("words", "हिन्दी में", 2, ["हिन्दी", "में"]),
        ("words", "می\u200cخواهم من", 2, ["می\u200cخواهم", "من"]),
        ("words", "\u1112\u1161\u11ab\u1100\u1173\u11af 한글", 2, ["\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"]),
        ("words", "1️⃣ one ☁️", 3, ["1️⃣", "one", "☁️"]),
        ("words", "one\r\ntwo \u200d three", 4, ["one", "two", "\u200d", "three"]),
    ],
)
def test_text_becomes_tokens(name, text, n, expected):
    assert tokens(n, text, name) == expected


@laws
@given(text=st.text(st.characters(max_codepoint=0x24F) | st.sampled_from(LETTERS + "中あק🙂²½")))
def test_a_plain_text_is_split_as_it_ever_was(text):
    """Where every character is a code point of its own, links go on opening the same picture."""
    assume(len(CLUSTER.findall(text)) == len(text))
    assert SPLIT["characters"](text) == list(text)
    assert SPLIT["words"](text) == re.findall(r"\w+(?:['’]\w+)*|[^\w\s]", text)


@laws
@given(name=st.sampled_from(["words", "characters"]), text=st.text(JOINED))
def test_splitting_loses_nothing_but_the_spaces_between_words(name, text):
    tokens = SPLIT[name](text)
    assert all(tokens)
    joined, spaces = "".join(tokens), str.maketrans("", "", " \n")
    assert joined == text if name == "characters" else joined.translate(spaces) == text.translate(spaces)


@laws
@given(name=st.sampled_from(["words", "characters"]), text=st.text(LETTERS + "aabb  "), seed=st.integers(0, 9999))
def test_equal_tokens_get_equal_vectors_and_others_get_others(name, text, seed):
    labels = [token.casefold() for token in tokens(16, text, name)]
    x = draw_input(name, 16, 8, seed, text)
    same = torch.tensor([[a == b for b in labels] for a in labels])
    assert torch.equal((x[:, None] == x[None]).all(-1), same)


def test_a_word_keeps_its_vector_in_another_sentence():
    first, second = draw_input("words", 3, text="the boat left"), draw_input("words", 3, text="a BOAT sank")
    assert torch.equal(first[1], second[1])
    assert not torch.equal(first[2], second[2])

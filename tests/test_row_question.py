"""The question about a row: what it calls right is right, what one needs to know stands there, and no weight does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from attention import Config, trace
from attention.analysis.head_roles import roles
from attention.inputs import BEFORE
from attention.number_format import format_token
from attention.tables.rows import labels
from attention.ui.text.questions import EVEN, PART
from attention.ui.views.row_question import ALIKE, LISTED, ROUNDING, fair_head, question
from tests.samples import examples
from tests.strategies import configs

TIED = {"projections": "tied"}
BOATS = ("“boat” (7)", "“boat” (17)")


def position(guess: str) -> int:
    """The position that a guess names: “boat” (17), or key 17 without a text."""
    return int(re.findall(r"\d+", guess)[-1])


@settings(deadline=None, max_examples=examples(150))
@given(config=configs())
def test_what_is_called_right_is_and_what_is_not_is_not(config):
    """At every config and query the key with the greatest weight is among the choices, and every other has less."""
    found = trace(config)
    weights, seen = found.weights[config.head, config.query_index], found.mask[config.query_index]
    asked = question(found)
    right = (asked.answer, *asked.also)
    assert len(set(asked.guesses)) == len(asked.guesses) and {*right} < {*asked.guesses}
    if int(seen.sum()) < 2:
        assert asked.guesses == (PART if seen.any() else ("zeros", "all equal", "NaN"))
        return
    most, keys = weights[seen].max(), {guess: position(guess) for guess in asked.guesses if guess != EVEN}
    assert all(seen[key] for key in keys.values()) and asked.guesses[-1] == EVEN
    assert max(weights[key] for key in keys.values()) >= (1 - ROUNDING) * most
    if asked.answer == EVEN:
        assert (weights[seen] >= (1 - ALIKE) * most).all()
        return
    assert weights[keys[asked.answer]] >= (1 - ROUNDING) * most
    for guess, key in keys.items():
        assert (weights[key] >= (1 - ALIKE) * most) == (guess in right), guess


@settings(deadline=None, max_examples=examples(50))
@given(config=configs())
def test_one_sees_what_one_needs_and_no_weight(config):
    """No weight, no rule of a head, and at most five guesses; the map below has the tokens of a short sequence."""
    found = trace(config)
    asked, names = question(found), labels(config)
    if int(found.mask[config.query_index].sum()) < 2:
        return
    assert "attends" not in asked.text and not re.search(r"0\.\d\d", asked.text.replace("\\", ""))
    assert len(asked.guesses) <= 5
    sentence = asked.text.split("\n\n")[2:]
    assert names or sentence == [f"The tokens have no texts, only positions from 0 to {config.tokens - 1}."]
    assert bool(sentence) == (not names or config.tokens > LISTED)


def test_of_a_long_sequence_one_sees_what_matters():
    config = Config(tokens=500, head=1, query=300)
    asked = question(trace(config))
    sentence = asked.text.split("\n\n")[2].split(" · ")
    names = labels(config)
    for at in (0, 1, 295, 300, 301, *map(position, asked.guesses[:-1])):
        assert format_token(names[at], at) in [said.strip("*") for said in sentence], at
    assert len(sentence) < 60 and sentence.count("…") >= 2 and sentence[-1] == "…"


@pytest.mark.parametrize(
    ("config", "guesses", "also", "answer", "why"),
    [
        # the query's own word stands at two places, and gets as much at both
        (Config(**TIED), {BOATS[0], BOATS[1]}, BOATS[:1], BOATS[1], "It gets 40.0% (nearly as much: “boat” (7)); the"),
        (Config(text="a a a", tokens=3), {"“a” (0)", "“a” (1)", "“a” (2)"}, (), EVEN, "Each of the 3 keys gets 33.3%."),
        (Config(text="a a a", tokens=3, query=0), {*PART}, (), PART[0], "It gets 100%: with a single visible key"),
        (Config(query=0, softmax="plus one"), {*PART}, (), PART[1], "It gets "),
        (Config(head=6), set(), (), EVEN, "Each of the 18 keys gets between 5.5% and 5.6%."),
    ],
)  # fmt: skip
def test_equal_tokens_are_as_right_and_a_key_alone_is_a_question_of_its_own(config, guesses, also, answer, why):
    asked = question(trace(config))
    assert (asked.answer, asked.also) == (answer, also) and asked.why.startswith(why)
    assert guesses <= {*asked.guesses}


@pytest.mark.parametrize("head", range(7))
def test_the_question_about_a_hand_built_head_does_not_tell_its_rule(head):
    """The rule would be the answer."""
    asked = question(trace(Config(head=head))).text
    assert "This head was built by a rule. A word's vector describes the word and its position." in asked.replace(
        "\\", ""
    )
    assert not re.search(r"same|first|back|nearby|built to|weak|equally", asked.replace("first.", ""))


def test_hand_built_heads_are_said_to_know_positions_and_the_role_says_why():
    found = trace(Config(head=1))
    role = roles(found.weights, found.mask, found.queries.texts, "word")
    asked = question(found, role)
    assert "have equal vectors" not in asked.text
    assert asked.why.replace("\\", "").endswith(
        " **Head 1** attends one word back, where there is one: 91.4% of its weight on average."
    )


def test_of_a_random_head_among_hand_built_ones_the_question_says_so_and_another_is_asked_about():
    for config, is_built in ((Config(head=6), True), (Config(head=7), False), (Config(head=7, input=BEFORE), True)):
        asked = question(trace(config)).text
        assert ("built by a rule" in asked, "random" in asked) == (is_built, not is_built)
    assert [fair_head(Config(head=head)) for head in range(8)] == [0, 1, 2, 3, 4, 5, 6, 0]
    assert fair_head(Config(head=7, input=BEFORE)) == fair_head(Config(head=7, projections="tied")) == 7


@pytest.mark.parametrize("head", range(6))
def test_what_a_hand_built_head_reads_is_true_of_its_queries_and_keys(head):
    """Equal words at two positions differ where the position is read; other words change nothing where only that is."""
    names = {"word": "uses the words themselves", "position": "uses positions", "both": "uses both"}
    asked = question(trace(Config(head=head))).text.replace("\\", "")
    reads = next(name for name, said in names.items() if said in asked)
    one, other = (trace(Config(head=head, text=text, tokens=4)) for text in ("a b c a", "d b c d"))
    for tensors in ("q", "k"):
        here, there = getattr(one, tensors)[head], getattr(other, tensors)[head]
        assert here[0].allclose(here[3], atol=1e-5) == (reads == "word") or (head == 2 and tensors == "q")
        assert here.allclose(there, atol=1e-5) == (reads == "position")


@pytest.mark.parametrize("changed", [{"head": 6}, {"kv_heads": 2}, {"positions": "rotary"}, {"d_model": 16}], ids=str)
def test_nothing_is_said_of_what_is_read_where_it_is_not_one_of_both(changed):
    assert "uses positions" not in question(trace(Config(**{"head": 1} | changed))).text

"""The words for a head are true of heads that were made for them, and there are none where nothing stands out."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings

from attention import Config, trace
from attention.analysis import head_roles
from attention.analysis.head_kinds import Role
from attention.analysis.head_roles import roles, roles_of_maps
from attention.analysis.parity import evenly
from attention.inputs import BEFORE
from attention.knobs import GENERATED
from attention.maps.exact import head_maps
from attention.masks import MASKS
from attention.number_format import format_percent
from attention.sources.chunks import queries_and_keys
from attention.ui import results
from tests.samples import examples
from tests.strategies import configs
from tests.test_constructed import alike

BUILT = ["same word", "one back", "first word", "three back", "nearby", "itself, one back", "uniform"]
CAUSAL = MASKS["causal"].square(18, 18, 4)


def of(config: Config) -> list[Role | None]:
    t = trace(config)
    return roles(t.weights, t.mask, t.queries.texts, "word")


def names(config: Config) -> list[str]:
    return [role.name if role else "" for role in of(config)]


@pytest.mark.parametrize("tokens", [18, 100, 1024])
def test_constructed_heads_are_called_what_they_were_made_for(tokens):
    found = names(Config(tokens=tokens))
    assert found == ["same word", "one back", "first word", "three back", "nearby", "itself, one back", "uniform", ""]
    assert names(Config(tokens=tokens, input=BEFORE))[7] == "induction"


@pytest.mark.parametrize("text", ["my dog saw your dog and ran", "no word occurs twice here"])
def test_a_hand_built_head_shows_its_rule_in_a_short_text(text):
    config = Config(text=text, tokens=len(text.split()))
    found = results.heads.roles(config)
    assert [role.name for role in found[:4] if role and role.shows] == BUILT[:4]
    assert names(config)[0] == "itself"
    same = trace(config).weights[0] * alike(config)
    assert found[0] is not None and format_percent(float(same.sum(-1).mean())) in found[0].says


@settings(deadline=None, max_examples=examples(60))
@given(config=configs())
def test_a_hand_built_head_is_called_by_its_rule_whatever_its_weights_show(config):
    """And no other role is claimed: what it was built for is said where the weights do not show it."""
    built = replace(config, source=GENERATED, projections="constructed", input="words", softmax="standard")
    if built.is_cross:
        return
    found = results.heads.roles(built)
    short, long = (["one", "two", "four", "five"], ["three", "six", "eight", "ten"])
    for head, role in enumerate(found):
        near, far = (f"{part[head // 8 % 4]} back" for part in (short, long))
        assert role is not None and role.name == [*BUILT, "random"][head % 8].replace("one back", near).replace(
            "three back", far
        )
        assert role.shows != ("was built to attend" in role.says)


@pytest.mark.parametrize(
    ("changes", "head", "says"),
    [
        ({"mask": "strided"}, 2, "was built to attend to the first word; this mask hides it in 10 of 18 rows."),
        (
            {"mask": "dilated"}, 3,
            "was built to attend three words back, where there is one"
            "; this mask hides that word in every row.",
        ),
        (
            {"mask": "window", "span": 10},
            2,
            "attends to the first word (attention sink): 95.7% of its weight on average over the 10 of 18 rows that see it.",
        ),
        (
            {"mask": "window"},
            4,
            "was built to attend to nearby words, within five positions; here its weights cannot show it, as uniform weights "
            "would put 100% there, too.",
        ),
        ({"tokens": 3}, 3, "was built to attend three words back, where there is one; this text has no such word."),
        (
            {"d_model": 8},
            4,
            "was built to attend to nearby words, within five positions; here it puts 68.2% of its weight there on "
            "average, no more than uniform weights would: 68.2%.",
        ),
        (
            {"heads": 16},
            12,
            "was built to attend to nearby words, within five positions; here it puts 82.0% of its weight there on "
            "average, not much more than uniform weights would: 68.2%.",
        ),
        (
            {"heads": 32},
            21,
            "was built to attend from each word to itself and four words back, where there is one"
            "; here it puts 5.8% and 46.6% of its weight there "
            "on average; uniform weights would put 19.4% and 10.1%.",
        ),
        (
            {"heads": 16},
            13,
            "attends from each word to itself (23.4%) and two words back, where there is one (73.0%) on average.",
        ),
        (
            {"heads": 16, "d_model": 128},
            13,
            "was built to attend from each word to itself and two words back, where there is one"
            "; here it puts 11.3% and 59.9% of its weight there "
            "on average; uniform weights would put 19.4% and 12.5%.",
        ),
        (
            {"scale": "none", "temperature": 0.05},
            6,
            "was built to attend to all visible keys about equally; under these settings it does not.",
        ),
        ({"mask": "window", "scale": "none", "heads": 13, "d_model": 520}, 7, "is random: it has no built-in role."),
    ],
)  # fmt: skip
def test_a_hand_built_head_whose_weights_do_not_show_its_rule_says_so(changes, head, says):
    role = results.heads.roles(Config(**changes))[head]
    assert role is not None and role.says == says


def test_the_rows_that_the_mask_leaves_are_counted():
    t = trace(Config(mask="strided"))
    assert int((~t.mask[:, 0]).sum()) == 10
    t = trace(Config(mask="window", span=10))
    assert format_percent(float(t.weights[2, :10, 0].mean())) == "95.7%" and int(t.mask[:, 0].sum()) == 10


def test_the_second_eight_are_called_by_their_own_offsets():
    found = names(Config(tokens=40, heads=32, d_model=2048))
    assert [found[turn * 8 + 1] for turn in range(4)] == ["one back", "two back", "four back", "five back"]
    assert [found[turn * 8 + 3] for turn in range(4)] == ["three back", "six back", "eight back", "ten back"]


def test_the_sentence_says_the_share_that_the_weights_have():
    weights = trace(Config()).weights
    assert (
        f"attends one word back, where there is one"
        f": {format_percent(float(weights[1].diagonal(-1).mean()))} of its weight on average." == of(Config())[1].says
    )  # pyright: ignore[reportOptionalMemberAccess]
    assert (
        f"(attention sink): {format_percent(float(weights[2, :, 0].mean()))} of its weight on average."
        in of(Config())[2].says
    )  # pyright: ignore[reportOptionalMemberAccess]
    near = format_percent(float(weights[4].tril(5).triu(-5).sum(-1).mean()))
    assert f"within five positions: {near} of its weight on average." in of(Config())[4].says  # pyright: ignore[reportOptionalMemberAccess]
    itself, back = (format_percent(float(weights[5].diagonal(-by).mean())) for by in (0, 1))
    assert (
        of(Config())[5].says
        == f"attends from each word to itself ({itself}) and one word back, where there is one ({back}) on average."
    )  # pyright: ignore[reportOptionalMemberAccess]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("mask", ["causal", "full"])
def test_random_heads_have_no_role(seed, mask):
    assert names(Config(tokens=60, projections="independent", input="noise", seed=seed, mask=mask)) == [""] * 8


def test_in_a_short_text_a_role_has_more_weight_than_uniform_rows_give_it():
    """Of seven tokens with two copies, uniform rows have 43% on the same token and 37% on the first one."""
    seen = MASKS["causal"].square(7, 7, 4)
    words = ["a", "b", "c", "a", "d", "e", "b"]
    weights = torch.where(seen, 1 / seen.sum(-1, keepdim=True), 0.0)
    tilted = 0.75 * weights + 0.25 * torch.eye(7)[[0, 0, 2, 0, 4, 2, 1]]
    sink = 0.25 * weights + 0.75 * torch.eye(7)[[0] * 7]
    found = roles(torch.stack([tilted, sink]), seen, words)
    assert found[0] is None and found[1] is not None and found[1].name == "first token"
    generator = torch.Generator().manual_seed(0)
    scores = (torch.randn(400, 7, 16, generator=generator) @ torch.randn(400, 16, 7, generator=generator)) / 4
    random = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    assert sum(role is not None for role in roles(random, seen, words)) < 0.1 * len(random)


def test_a_head_that_is_flattened_loses_its_role():
    assert names(Config(temperature=8.0))[1:5] == [""] * 4


def test_a_head_that_only_looks_at_itself_is_not_said_to_look_for_the_same_word():
    words = ["a", "b"] * 9
    assert [role.name for role in roles(torch.eye(18)[None], CAUSAL, words) if role] == ["itself"]


@pytest.mark.parametrize(("by", "name"), [(-1, "next"), (0, "itself"), (2, "two back"), (12, "twelve back")])
def test_heads_of_one_offset(by, name):
    weights = torch.zeros(1, 26, 26)
    weights[0].diagonal(-by).fill_(1)
    assert [role.name for role in roles(weights, torch.ones(26, 26, dtype=torch.bool)) if role] == [name]


def test_what_one_or_two_queries_do_is_not_what_the_head_does():
    """Of 14 tokens two have one twelve back, which is at the sink; and of one copy nobody knows whether it was looked for."""
    seen = MASKS["causal"].square(14, 14, 4)
    sink = torch.where(seen, 0.1 / seen.sum(-1, keepdim=True), 0.0)
    sink[:, 0] += 0.9
    sink[12:] = 0.0
    sink[[12, 13], [0, 1]] = 1.0
    assert [role.name for role in roles(sink[None], seen) if role] == ["first token"]
    words = [*"abcdefghijklm", "c"]
    follows = torch.where(seen, 1.0 / seen.sum(-1, keepdim=True), 0.0)
    follows[13] = torch.eye(14)[3]
    assert roles(follows[None], seen, words) == [None]
    follows[12] = follows[13]
    assert [role.name for role in roles(follows[None], seen, [*"abcdefghijkl", "c", "c"]) if role] == ["induction"]


def test_a_row_that_rests_on_the_first_token_is_no_evidence_of_a_distance():
    """Of nine tokens three have one six back, one of them the sink; of twelve, five have one that is another token."""
    for tokens, found in ((9, []), (12, ["six back"])):
        weights = torch.eye(tokens)[[0] * tokens]
        weights[6:] = torch.eye(tokens)[: tokens - 6]
        mask = MASKS["causal"].square(tokens, tokens, 4)
        assert [role.name for role in roles(weights[None], mask) if role and "back" in role.name] == found


@pytest.mark.parametrize(
    ("mask", "head", "name"),
    [
        ("window", 2, "first word"),
        ("local", 2, "first word"),
        ("documents", 2, "first word"),
        ("documents", 3, "three back"),
    ],
)
def test_a_head_is_not_called_after_keys_that_most_queries_cannot_see(mask, head, name):
    def role(mask: str) -> str:
        return names(Config(mask=mask))[head]

    assert role("causal") == name != role(mask)


def test_a_share_of_a_single_query_is_no_role():
    """Of four tokens only two have a choice and themselves, and of three only the last has a choice."""
    seen = MASKS["causal"].square(4, 4, 4)
    weights = torch.diag(torch.tensor([1.0, 0.6, 0.6, 0.5]))
    weights[[1, 2, 3], [0, 0, 0]] = torch.tensor([0.4, 0.4, 0.5])
    assert roles(weights[None], seen) == [None]
    for last in (torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 1.0])):
        three = torch.cat([torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]), last[None]])
        assert roles(three[None], seen[:3, :3]) == [None]


def test_of_many_queries_some_are_looked_at(monkeypatch):
    whole = of(Config(tokens=300))
    monkeypatch.setattr(head_roles, "QUERIES", 90)
    assert [role.name if role else "" for role in of(Config(tokens=300))] == [
        role.name if role else "" for role in whole
    ]


@settings(deadline=None, max_examples=examples(60))
@given(config=configs())
def test_any_heads_have_words_or_none_and_no_shares_above_one(config):
    for role in of(config):
        assert role is None or (role.name and role.says.endswith("."))
        assert (
            role is None or sum(float(share) for share in re.findall(r"([\d.]+)%", role.says)) < 100.2
        )  # two roundings


def test_two_means_that_are_more_than_the_whole_are_not_given():
    """Of seven words twice, 0.62 of each row is on the first one, of the first two rows all, and the rest on what followed."""
    words, seen = [*"abcdefg", *"badcfeg"], MASKS["causal"].square(14, 14, 4)
    weights = 0.62 * torch.eye(14)[[0] * 14] + 0.38 * torch.eye(14)[[0, 0, *range(2, 7), 2, 1, 4, 3, 6, 5, 7]]
    assert [role.name for role in roles(weights[None], seen, words) if role] == ["first token, induction"]
    assert [role.says for role in roles(weights[None], seen, words) if role] == [
        "attends to the first token (attention sink) and to what followed an earlier copy of the token, where there is one "
        "(induction), with most of its weight."
    ]


@pytest.mark.parametrize("mask", ["causal", "window", "full"])
def test_roles_of_maps_are_those_of_the_weights(mask):
    config = Config(tokens=300, mask=mask, span=40)
    query, key = queries_and_keys(config)
    maps = head_maps(query, key, config.rule, span=config.span, side=64)
    some, t = evenly(300, head_roles.ROWS), trace(config)
    want = roles(t.weights[:, some], t.mask[some], t.queries.texts, "word", some)
    assert roles_of_maps(maps, query, key, t.queries.texts, "word") == want
    assert [want[head] and want[head].name for head in (0, 1, 3)] == ["same word", "one back", "three back"]  # pyright: ignore[reportOptionalMemberAccess]  just seen


def test_of_tokens_that_stand_in_no_line_nothing_is_said_of_one():
    """Of patches the one before is the one beside, and from a row to the next none at all."""
    t = trace(Config(tokens=18))
    there = [role.name if role else "" for role in roles(t.weights, t.mask, t.queries.texts, "token", line=False)]
    assert [names(Config(tokens=18))[at] for at in (1, 2, 3, 4)] == ["one back", "first word", "three back", "nearby"]
    assert there == ["itself", "", "first token", "", "", "itself", "uniform", ""]


def test_heads_whose_rows_sum_to_more_than_one_have_no_role():
    """A mean cell of 0.68 is no share of 68% where rows sum to three."""
    seen = torch.ones(6, 6, dtype=torch.bool)
    cells = torch.full((1, 6, 6), 0.5)
    cells[0].diagonal(1).fill_(0.9)
    assert roles(cells, seen) == [None]
    shifted = torch.zeros(1, 6, 6)
    shifted[0].diagonal(1).fill_(1)
    assert [role.name for role in roles(shifted, seen) if role] == ["next"]


def test_a_head_that_attends_one_token_back_is_no_induction_head_of_a_text_that_alternates():
    texts = ["the", "cat"] * 8
    mask = torch.ones(16, 16, dtype=torch.bool).tril()
    weights = 0.88 * torch.eye(16).roll(-1, 1) + 0.02 * torch.eye(16).roll(-3, 1) + 0.1 * torch.eye(16)
    weights[:3] = torch.eye(16)[:3]
    assert [role and role.name for role in roles(weights[None], mask, texts)] == ["one back"]

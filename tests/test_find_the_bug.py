"""Find the bug: each bug shows, nothing names it before it is found, the first guess counts, and old links lead there."""

from __future__ import annotations

import asyncio
import json
import math
import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention.published import ROWS, hunt_name
from attention.published.bug_series import SERIES, BugSeries
from attention.published.case import case
from attention.published.common import COMMON
from attention.published.compare import judge
from attention.published.diff_lines import difference, plain
from attention.published.hunts import BUGS, CODE, HUNTS, hunt_maps
from attention.serving.asgi import Message, Receive, Scope, Send, send_response
from attention.serving.moved_links import MovedLinks, moved_to
from attention.ui.text import find_the_bug as text
from tests.test_pages import ROOT, SECONDS
from tests.test_published_page import code, page_text

CALLED = {"single-unscaled": "6f03aa", "position-weights": "bfbff3"}  # in links that were shared
FIRST = next(iter(BUGS))


def open_page(page: str = "pages/find_the_bug.py", **query: str) -> AppTest:
    test = AppTest.from_file(str(ROOT / page), default_timeout=SECONDS)
    test.query_params.update(query)
    return test.run()


def guess(test: AppTest, said: str) -> AppTest:
    return test.radio[0].set_value(said).run()


def code_fold(test: AppTest) -> Any:
    """The fold with the code."""
    return next(each for each in test.expander if each.label == text.CODE)


def all_text(test: AppTest) -> str:
    return "\n".join([page_text(test), *(each.value for each in test.success)])


@pytest.mark.parametrize("hunt", HUNTS, ids=lambda hunt: hunt.name)
def test_a_bug_shows_at_its_settings_and_has_one_right_answer(hunt):
    given = case(hunt.config, crosses=hunt.row.crosses)
    assert judge(hunt.row, given, printed=True).verdict == "disagrees"
    assert judge(hunt.row, given, printed=False).verdict == "agrees"
    assert len(set(hunt.guesses)) == 4 and [hunt.against(guess) for guess in hunt.guesses].count("") == 1
    found = hunt_maps(hunt)
    assert found.correct.shape == found.wrong.shape == (len(hunt.heads), hunt.config.tokens, hunt.config.tokens)
    hatched = (found.correct_visible != found.wrong_visible).any()
    assert hatched or (found.correct - found.wrong).abs().max() > 0.5, "to be seen by eye"


def head_weights(name: str, causal: bool, swapped: bool = False, off: int = 0, queries_of: int = 0, head: int = 0):
    """The weights that the first sequence of a bug would have with another mistake, by definition."""
    hunt = next(hunt for hunt in HUNTS if hunt.name == name)
    given = case(hunt.config, crosses=hunt.row.crosses)
    x, w = given.query[0], given.weights
    scores = x @ w.query[queries_of] @ (x @ w.key[head]).T / math.sqrt(w.query.shape[-1])
    scores = scores.T if swapped else scores
    return (scores.masked_fill(torch.ones_like(scores).tril(off) == 0, -torch.inf) if causal else scores).softmax(-1)


def test_the_evidence_against_an_answer_is_true():
    """What each mistake would do to the map, computed; the rest of the evidence names a line or what both versions share."""
    maps = {hunt.name: hunt_maps(hunt) for hunt in HUNTS}
    for name in ("mask-off-by-one", "boolean-mask"):
        swapped, right = head_weights(name, True, swapped=True), maps[name].correct[0]
        assert ((swapped > 0) == maps[name].correct_visible[0]).all() and (swapped - right).abs().max() > 0.1
    inverted = maps["boolean-mask"]
    assert (inverted.correct_visible != inverted.wrong_visible).all()
    differs = (head_weights("boolean-mask", True, off=1) > 0) != inverted.correct_visible[0]
    assert differs.diagonal(1).all() and differs.sum() == 11, "one diagonal"
    sums, seeing = inverted.wrong[0].sum(-1), inverted.wrong_visible[0].any(-1)
    assert torch.allclose(sums, seeing.float()) and not seeing.all()
    assert head_weights("position-weights", False, swapped=True).std(0).max() > 0.1
    assert (maps["position-weights"].wrong[0] == maps["position-weights"].wrong[0, 0]).all()
    assert maps["two-heads"].wrong.amax(-1).mean() < maps["two-heads"].correct.amax(-1).mean()
    padded = maps["functional"]
    assert torch.equal(padded.wrong[0], padded.correct[0]), "head 0 is right in all rows"
    borrowed = head_weights("functional", True, queries_of=0, head=3)
    assert ((borrowed > 0) == padded.wrong_visible[0]).all() and (
        padded.wrong_visible[1] != padded.wrong_visible[0]
    ).any()
    lone = maps["head-matrices"].wrong[0]
    assert lone.diagonal().min() > 0.5 and lone.fill_diagonal_(0).max() < 0.15


def test_what_is_said_of_each_map_is_true():
    maps = {hunt.name: hunt_maps(hunt) for hunt in HUNTS}
    wrong, visible = ({name: getattr(each, part) for name, each in maps.items()} for part in ("wrong", "wrong_visible"))
    before = {name: each.correct_visible for name, each in maps.items()}
    more = visible["mask-off-by-one"][0] & ~before["mask-off-by-one"][0]
    assert more.diagonal(1).all() and more.sum() == len(more) - 1
    assert torch.allclose(wrong["softmax-over-queries"][0].sum(0), torch.ones(12))
    assert wrong["softmax-over-queries"][0, -1, -1] == 1 and visible["softmax-over-queries"][0, :, -1].sum() == 1
    assert (visible["boolean-mask"] != before["boolean-mask"]).all() and not visible["boolean-mask"][0, -1].any()
    assert (visible["window-of-four"][0, 4:].sum(-1) == 5).all() and (
        before["window-of-four"][0, 4:].sum(-1) == 4
    ).all()
    assert (wrong["two-heads"][0] == wrong["two-heads"][1]).all() and wrong["two-heads"][0, -1].max() < 0.14
    assert visible["fused"][0].triu(1).any() and not before["fused"][0].triu(1).any()
    blocks = torch.arange(12) // 3
    assert (visible["split-by-view"][0] == (blocks[:, None] == blocks)).all()
    assert not visible["functional"][1, :, 9:].any() and visible["functional"][0, -1].all()
    assert set(maps) == {hunt.name for hunt in HUNTS if hunt.seen}, "the other two are in the test above"


def test_the_series_has_every_published_mistake_under_names_that_stay():
    assert len(BUGS) == 10 and {hunt.name for hunt in HUNTS} == {name for name, row in CODE.items() if row.as_printed}
    assert ROWS.keys() & COMMON.keys() == set()
    assert {name: hunt_name(name) for name in CALLED} == CALLED


@pytest.mark.sampled(2)
@pytest.mark.parametrize("hunt", HUNTS, ids=lambda hunt: hunt.name)
def test_nothing_names_the_bug_before_it_is_guessed(hunt):
    test = open_page(bug=hunt_name(hunt.name))
    hidden = [hunt.row.name, hunt.row.mistake, hunt.row.lesson, hunt.row.document.title_in_words]
    hidden += [plain(line.code) for line in difference(hunt.row) if line.sign == "+"] + [hunt.seen]
    before = page_text(test) + unescape("".join(code(test)))
    assert not test.exception and not [told for told in hidden if told in before]
    assert all(plain(line.code) in before for line in difference(hunt.row) if line.sign == "-")
    assert "def attention(x, w" in before or "def attention(query, key, value, w" in before, "without annotations"
    assert "  # b" not in before and not code_fold(test).proto.expanded
    assert "def attention(" in before and f"{hunt.row.version(True).__name__}(" not in before
    wrong = next(each for each in hunt.guesses if each != hunt.answer)
    guess(test, wrong)
    assert test.error[0].value == text.AGAINST.format(why=hunt.against(wrong))
    assert test.button(key="next bug").label.startswith("Next: bug"), "after a wrong guess too"
    assert not [told for told in hidden if told in page_text(test)] and code_fold(test).proto.expanded, "a hint"
    guess(test, hunt.answer)
    assert test.success[0].value == text.RIGHT.format(mistake=hunt.row.mistake)
    assert hunt.row.lesson in page_text(test) and not test.exception
    assert all(told in unescape(code(test)[0]) for told in hidden[4:-1]) and hunt.seen in page_text(test)
    assert test.toggle[0].value, "what differs is marked"


def test_the_first_guess_counts_and_an_answer_that_was_shown_does_not():
    test = open_page()
    assert "**Score:" not in all_text(test)
    guess(test, HUNTS[0].answer)
    assert "**Score: 1 of 1** right" in all_text(test)
    test.button(key="next bug").click().run()
    assert dict(test.query_params) == {"bug": list(BUGS)[1], "tried": "r"}
    guess(test, HUNTS[1].guesses[0])
    guess(test, HUNTS[1].answer)
    assert "**Score: 1 of 2** right" in all_text(test), "it was the second guess"
    test.button(key="next bug").click().run()
    assert text.REVEAL_COUNTS in page_text(test)
    test.toggle[1].set_value(True).run()
    assert text.REVEAL_COUNTS not in page_text(test), "it has counted"
    assert test.info[0].value == text.ANSWER.format(answer=HUNTS[2].answer, mistake=HUNTS[2].row.mistake)
    test.toggle[1].set_value(False).run()
    guess(test, HUNTS[2].answer)
    assert "**Score: 1 of 3** right" in all_text(test), "it was shown before"
    assert test.button_group[0].proto.options[0].content == ":green[✓ 1]"
    assert [each.content for each in test.button_group[0].proto.options[1:4]] == [":gray[○ 2]", ":gray[○ 3]", "4"]


def test_a_link_keeps_the_first_guesses_and_the_copied_one_does_not():
    test = open_page(tried="r0w")
    assert "**Score: 1 of 2** right" in all_text(test)
    shown = [each.content for each in test.button_group[0].proto.options[:4]]
    assert shown == [":green[✓ 1]", "2", ":gray[○ 3]", "4"]
    guess(test, next(each for each in HUNTS[0].guesses if each != HUNTS[0].answer))
    assert "**Score: 1 of 2** right" in all_text(test), "the first guess counts, before a reload as well"
    links = [each.proto.json for each in test.get("bidi_component") if each.proto.component_name.endswith("copy_link")]
    (copied,) = (json.loads(each) for each in links if text.COPY in each)
    assert copied["drops"] == ["tried"]
    assert BugSeries(bug=list(BUGS)[2], tried="r").tried_with(True) == "r0r"
    assert BugSeries(tried="w").tried_with(True) == "w"
    wrong = open_page(tried="rx")
    assert "tried='rx'" in page_text(wrong).replace("\\", "") and "**No score yet.**" in all_text(wrong)


def test_the_next_bug_is_one_that_was_not_tried_and_the_last_one_has_none():
    last = guess(open_page(bug=list(BUGS)[-1], tried=9 * "r"), HUNTS[-1].answer)
    assert "next bug" not in {button.key for button in last.button}
    assert "**You have tried all 10.** **Score: 10 of 10** right at the first guess" in page_text(last)
    assert (
        guess(open_page(bug=list(BUGS)[-1], tried="r0r"), HUNTS[-1].answer).button(key="next bug").label
        == "Next: bug 2"
    )


def test_a_common_mistake_has_no_document():
    common = guess(open_page(), HUNTS[0].answer)
    assert text.COMMON in page_text(common) and not common.exception


def test_a_map_has_words_at_its_rows_and_columns_and_says_its_cells():
    drawn = "".join(each.proto.body for each in open_page().get("html") if "word-maps" in each.proto.body)
    correct, wrong = re.findall(r"<figure.*?</figure>", drawn)
    words = re.findall(r'class="down">(.*?)<', correct)
    assert words == re.findall(r'class="across">(.*?)<', correct) and words[:3] == ["The", "river", "bank"]
    assert correct.count("<i ") == 144 and correct.count('class="masked"') == 66
    assert wrong.count('class="masked"') == 55, "the wrong mask shows eleven more pairs"
    assert "“The” puts 100% on “The”" in unescape(correct) and "“river” is masked for “The”" in unescape(correct)


def test_a_document_with_an_address_is_a_link(monkeypatch):
    hunt = next(hunt for hunt in HUNTS if hunt.name in ROWS)
    there = replace(hunt.row.document, address="https://example.org/a")
    monkeypatch.setitem(CODE, hunt.name, replace(hunt.row, document=there))
    test = guess(open_page(bug=hunt_name(hunt.name)), hunt.answer)
    assert f"[{there.title_in_words}](https://example.org/a)" in page_text(test)


@pytest.mark.parametrize("name", ROWS)
def test_a_bug_of_an_old_link_may_have_the_name_of_its_row(name):
    """A link that asked about a row without a mistake showed the first row that has one."""
    asked = hunt_name(name if ROWS[name].as_printed else "head-matrices")
    for given in (name, hunt_name(name)):
        assert SERIES.from_query({"bug": given}) == (BugSeries(bug=asked), [])


def test_an_unknown_bug_is_named_and_the_first_one_shown():
    test = open_page(bug="7f7f7f")
    assert "bug='7f7f7f' is not one of:" in page_text(test)
    assert dict(test.query_params) == {} and test.button_group[0].value == FIRST


@pytest.mark.parametrize(
    ("query", "there"),
    [
        ("bug=question", "find_the_bug?bug=fused"),
        ("bug=question&implementation=bfbff3&tokens=6&v=3", "find_the_bug?bug=bfbff3"),
        ("v=2&bug=Question&implementation=two-heads&embed=true", "find_the_bug?bug=two-heads&embed=true"),
        ("bug=answer&implementation=two-heads", ""),
        ("implementation=two-heads", ""),
        ("bug=off", ""),
        ("", ""),
    ],
)
def test_the_server_sends_an_old_link_that_asks_for_a_bug_on(query, there):
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await send_response(scope, send, 200, b"page")

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {}

    sent: list[Message] = []
    scope = {"type": "http", "method": "GET", "path": "/lab/implementations", "root_path": "/lab"}
    asyncio.run(MovedLinks(serve)(scope | {"query_string": query.encode()}, receive, send))
    location = dict(sent[0]["headers"]).get(b"location", b"").decode()
    assert (sent[0]["status"], location) == (307 if there else 200, there)


def test_an_old_link_within_a_visit_opens_its_bug_and_one_with_the_answer_the_comparison():
    test = open_page("app.py")
    test.query_params.update({"bug": "question", "implementation": "two-heads", "v": "3"})
    test.switch_page("pages/implementations.py").run()
    assert not test.exception and dict(test.query_params) == {"bug": hunt_name("two-heads")}
    assert ROWS["two-heads"].mistake not in page_text(test)
    assert moved_to("heads", {"bug": "question"}) is None
    shown = open_page("pages/implementations.py", bug="answer", implementation=hunt_name("two-heads"), v="3")
    assert ROWS["two-heads"].mistake in page_text(shown)
    assert dict(shown.query_params).get("implementation") == "two-heads" and "bug" not in shown.query_params


def test_cells_that_differ_are_marked_on_demand_and_counted():
    test = open_page()
    drawn = lambda: "".join(each.proto.body for each in test.get("html") if "<figure" in each.proto.body)  # noqa: E731
    assert "marked" not in drawn() and "**No score yet.**" in all_text(test)
    test.toggle(key=f"mark differences {FIRST} False").set_value(True).run()
    assert len(re.findall(r'class="(?:masked )?marked"', drawn())) == 2 * 11, "the next token of each row"
    assert "Framed: 11 of 144 cells, those that are masked in one map alone." in all_text(test)


def test_the_words_below_a_map_are_about_what_it_shows():
    """Bug 7 has no mask, and bug 8 no cell without weight."""
    view = open_page(bug=hunt_name("split-by-view"))
    assert "Stronger colour: more influence; hatched: no influence." in all_text(view)
    view.toggle(key=f"mark differences {hunt_name('split-by-view')} False").set_value(True).run()
    assert "cells have no influence in one map alone" in all_text(view) and "masked" not in all_text(view)
    assert "Stronger colour: larger weight. Point" in all_text(open_page(bug=hunt_name("position-weights")))


def test_where_most_cells_are_masked_in_one_map_alone_the_last_row_is_framed_and_that_is_said():
    """An inverted mask differs everywhere."""
    for hunt in HUNTS:
        found = hunt_maps(hunt)
        masked, marked = int(found.masked_apart.sum()), int(found.marked_cells.sum())
        assert marked <= found.differs.numel() / 2
        if hunt.answer == "The mask is inverted":
            assert masked > found.differs.numel() / 2 and marked == found.masked_apart[:, -1].sum() > 0
            test = guess(open_page(bug=hunt_name(hunt.name)), hunt.answer)
            assert f"{masked} of {found.differs.numel()} cells are masked in one map alone" in all_text(test)


def test_where_no_mask_differs_the_ten_largest_differences_are_marked():
    for hunt in HUNTS:
        found = hunt_maps(hunt)
        if (found.correct_visible != found.wrong_visible).any():
            continue
        apart = (found.correct - found.wrong).abs()
        assert found.marked_cells.sum() == 10 and apart[found.marked_cells].min() >= apart[~found.marked_cells].max()

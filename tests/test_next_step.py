"""From each page a next step: it leads to a page that there is, with the settings kept, and says what is true there."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from hypothesis import given, settings
from streamlit.testing.v1 import AppTest

from attention.codec import from_query, to_query
from attention.config import Config
from attention.examples import Tour
from attention.imported.reading import Reading
from attention.knobs import SOURCES
from attention.lessons.cards import find_card
from attention.models.prompt import Prompt
from attention.published.bug_series import BugSeries
from attention.published.hunts import BUGS
from attention.settings import CARD
from attention.sources.providers import has
from attention.story.settings import Story
from attention.timing.sweep import Sweep
from attention.training.recipe import Recipe
from attention.ui.controls.picture import LAYERED, SMALL
from attention.ui.next_step import NEXT_STEPS, NextStep, next_step
from tests.samples import examples
from tests.strategies import configs, newest
from tests.test_pages import ROOT, SECONDS, reveal, run

FILES = [path.stem for path in sorted((ROOT / "pages").glob("*.py"))]
OTHERS = {
    "start": Story(),
    "examples": Tour(),
    "timing": Sweep(),
    "training": Recipe(),
    "model": Prompt(),
    "your_data": Reading(),
    "find_the_bug": BugSeries(bug=list(BUGS)[-1]),
}
OF_CONFIGS = [page for page in FILES if page not in OTHERS]
NEEDS = {"steps": {"q", "k"}, "implementations": {"x", "projections"}}


def step_of(page: str, setting: object) -> NextStep:
    step = next_step(page, setting)
    assert step, page
    return step


def test_every_page_has_a_next_step_to_a_page_that_there_is():
    assert NEXT_STEPS.keys() == {*FILES}
    for page in FILES:
        step = step_of(page, OTHERS.get(page, Config()))
        assert (
            step.page in {*FILES} - {page}
            and step.label.startswith("Next: ")
            and step.label.endswith(step.page.replace("_", " ").capitalize())
        )


def test_the_step_leaves_the_series_at_its_last_bug():
    """The series has a button of its own for its next bug."""
    *before, last = (next_step("find_the_bug", BugSeries(bug=bug)) for bug in BUGS)
    assert before == [None] * 9 and last and last.page == "start"


def test_a_step_with_a_source_opens_it_with_the_defaults_of_today():
    """A link without an edition is read with those of the first one."""
    step = step_of("examples", OTHERS["examples"])
    opened, notes = from_query(step.query)
    assert (opened, notes) == (
        Config.of(step.query["source"], layer=opened.layer, head=opened.head, layer_map="kinds"),
        [],
    )
    assert step.query.items() >= {key: LAYERED.begins[key] for key in ("source", "layer", "head")}.items(), (
        "its strongest head"
    )


def test_the_steps_lead_through_every_page():
    """Whoever follows them from the first page sees all."""
    seen, at, config = ["start"], "start", Config()
    for _ in range(12):
        step = step_of(at, OTHERS.get(at, config))
        at, config = step.page, from_query(step.query)[0] if step.query else config
        seen.append(at)
    assert {*seen} == {*FILES}


def test_one_head_leads_from_start_through_learn():
    """From the word of Start to its row on Softmax, and to what masks it."""
    story = Story(sentence="account", query=3)
    at, config = "start", story.config
    for page in ("heads", "steps", "softmax", "masks"):
        step = step_of(at, story if at == "start" else config)
        at, config = step.page, from_query(step.query)[0] if step.query else config
        assert (at, config.source, config.head, config.query) == (page, "recorded:minilm-account", 4, 3)
    assert config.step == "scores" and config.topic == "row"
    assert "this head beside the other 11" in step_of("start", Story(sentence="own", own="An own sentence")).says


def test_a_step_that_leaves_an_example_does_not_promise_its_head():
    shown = SMALL.open(SMALL.begins)[0]
    own, leaves = SMALL.leave_example(shown)
    assert leaves and own == Config() and "head 0" in step_of("steps", shown).says
    step = next_step("steps", own, leaves)
    assert step and step.says == "softmax step by step, on another example" and step.page == "softmax"
    assert SMALL.leave_example(Config(head=3)) == (Config(head=3), False)


@settings(deadline=None, max_examples=examples(60))
@given(config=configs())
def test_a_step_keeps_every_setting_but_the_one_that_it_is_about(config):
    for page in OF_CONFIGS:
        step = step_of(page, config)
        if step.page in OTHERS:
            assert step.query == {}, "other settings: an empty link keeps what is set"
            continue
        found, notes = from_query(step.query) if step.query else (Config(), [])
        assert notes == []
        changed = {name for name, value in vars(found).items() if value != getattr(config, name)}
        assert changed <= {"topic", "step"}


def test_a_step_that_sets_something_back_to_its_default_says_so_in_its_link():
    step = step_of("steps", Config(topic="scaling"))
    assert step.query and from_query(step.query) == (Config(), [])


@pytest.mark.sampled(18)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("page", OF_CONFIGS)
def test_a_step_leads_nowhere_where_the_source_has_nothing_to_show(page, source):
    step = step_of(page, Config.of(source))
    assert has(source) >= NEEDS.get(step.page, set())


def test_a_step_is_about_what_is_set():
    assert "square root" in step_of("steps", Config(scale="none")).says
    assert "head 3" in step_of("steps", Config(head=3)).says
    assert "over 65,536 tokens" in step_of("heads", Config(tokens=65_536, heads=4, d_model=256)).says


@pytest.mark.sampled(4)
@pytest.mark.parametrize("page", FILES)
def test_every_page_ends_with_its_step_and_its_links_are_right_in_a_new_tab(page):
    """A browser joins what a link says with the address of the page that has it; this app may be below another one's."""
    menu = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    config = {"tokens": "9", "mask": "window"} if page in OF_CONFIGS else {}
    menu.query_params.update(newest(config))
    menu.run()
    if page == "find_the_bug":
        menu.query_params.update({"bug": OTHERS[page].bug})
    test = menu.switch_page(str(Path("pages") / f"{page}.py")).run()
    assert not test.exception
    last = test.get("page_link")[-1].proto
    assert last.label.replace("\\", "").startswith("Next: ")
    step = step_of(page, OTHERS.get(page, Config(tokens=9, mask="window")))
    assert dict(parse_qsl(last.query_string)) == step.query
    for link in test.get("page_link"):
        address = urlsplit(urljoin(f"http://host/lab/{page}?tokens=9", f"{link.proto.page}?{link.proto.query_string}"))
        named = [other for other in FILES if link.proto.label.lower().endswith(other.replace("_", " "))]
        named = [page] if link.proto.page == page else named  # one to another view of the page itself needs no name
        if card := find_card(dict(parse_qsl(address.query)).get(CARD, "")):
            named = [card.example.page]
        assert [address.path] == [f"/lab/{other if other != 'start' else ''}" for other in named], link.proto
        assert parse_qsl(address.query) == parse_qsl(link.proto.query_string)
    texts = [each.value for each in (*test.markdown, *test.caption)]
    for address in re.findall(r"\]\(([^)]+)\)", " ".join(texts)):
        assert address.startswith(("https://", "#")) or address.partition("?")[0].strip("/") in {*FILES} - {"start"} | {
            ""
        }


def test_a_page_of_other_settings_gets_no_link_of_heads_from_the_menu():
    """The browser gives a page that the menu opens the link that was last left on a page of its kind."""
    script = (ROOT / "attention/components/browser/streamlit/carry_link.js").read_text()
    apart = re.search(r"const APART = /\\/\(([a-z_|]+)\)\$/;", script)
    assert apart is not None and {"start", *apart[1].split("|")} == OTHERS.keys()
    kinds = {
        name: re.search(
            r"page\.show\(\s*\w+\.view(?:,\s+(?:replace\()?((?:\w+\.)?[A-Z]+\b))?",
            (ROOT / f"pages/{name}.py").read_text(),
        )
        for name in FILES
    }
    of_configs = {None, "SCORES", "SMALL", "LAYERED", "PUBLISHED"}  # with another sidebar or another beginning
    assert {name for name, found in kinds.items() if found and found[1] not in of_configs} == OTHERS.keys()


def test_no_step_leads_away_from_a_question_that_hides_the_page():
    test = run(ROOT / "pages/masks.py", {"predict": "mask"})
    assert not [each for each in test.get("link_button") if each.proto.label.startswith("Next")]
    reveal(test)
    assert [each for each in test.get("link_button") if each.proto.label.startswith("Next")]


def test_a_step_follows_what_is_moved():
    test = run(ROOT / "pages/steps.py", {})
    assert to_query(Config()) == {}
    test.slider(key="temperature").set_value(2.0).run()
    labels = [each.proto.label for each in test.get("link_button")]
    assert any("square root" in label for label in labels)

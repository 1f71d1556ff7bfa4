"""Every page by itself and through the menu, over settings at the edge of what is allowed; widgets are driven.

Streamlit's AppTest runs a page without a browser: links arrive as query parameters, a widget's move is a full run.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Toggle

from attention.codec import NEWEST, from_query, to_query
from attention.config import Config
from attention.ui.controls.picture import LAYERED, MIXED, SCORES, SMALL
from attention.ui.controls.published import PUBLISHED
from attention.ui.session.visit_state import KEY
from attention.ui.text import find_the_bug, questions
from tests.samples import sample
from tests.strategies import newest, query_without_edition

ROOT = Path(__file__).parents[1]
# What pages open with, if that is not the default.
BEGINS = {
    "steps": SMALL.begins,
    "layers": LAYERED.begins,
    "softmax": SCORES.begins,
    "implementations": PUBLISHED.begins,
}
OTHERS = (
    "sweep.SWEEP",
    "tour.TOUR",
    "recipe.RECIPE",
    "prompt.PROMPT",
    "reading.READING",
    "story import STORY",
    "bug_series.BUGS",
)  # kinds of settings of pages that are about no config
PAGES = [path for path in sorted((ROOT / "pages").glob("*.py")) if not any(kind in path.read_text() for kind in OTHERS)]
SECONDS = 60  # on a busy machine
EDGES = [
    {},
    {"tokens": "2", "heads": "1", "d_model": "1"},
    {"tokens": "2", "heads": "32", "d_model": "32", "kv_heads": "1", "mask": "documents", "span": "1"},
    {"tokens": "300", "heads": "2", "mask": "sinks", "span": "300", "positions": "alibi", "colors": "log"},
    {"mask": "padding", "span": "18", "softmax": "plus one", "head": "7", "query": "0"},  # nobody sees anything
    {"input": "characters", "text": "", "scale": "none", "temperature": "0.05", "projections": "identity"},
    {"input": "noise", "positions": "rotary", "d_model": "8", "softcap": "0.05", "temperature": "20.0"},
]


def run(page: Path, query: dict[str, str], state: dict[str, bool] | None = None) -> AppTest:
    """A page opened by a link. The menu opens a page that stands in it by that page's own path; `state`: open expanders."""
    test = AppTest.from_file(str(page), default_timeout=SECONDS)
    for key, is_open in (state or {}).items():
        test.session_state[key] = is_open
    test.query_params.update(newest(query) or NEWEST)  # an empty link opens the page as it begins
    return test.run()


def reveal(test: AppTest) -> AppTest:
    """Reveals the answer of the question, without a guess if there is none."""
    skips = [button for button in test.button if button.label == questions.REVEAL]
    return skips[0].click().run() if skips else answer_toggle(test).set_value(True).run()


def answer_toggle(test: AppTest) -> Toggle:
    """The switch that reveals the answer of a bug."""
    return next(each for each in test.toggle if each.label == find_the_bug.REVEAL)


def is_answer_shown(test: AppTest) -> bool:
    """Whether the answer of a question is shown, which a button hides again."""
    return questions.HIDE in [each.label for each in test.button]


def page_text(test: AppTest) -> str:
    return "\n".join(alert.value for alert in [*test.warning, *test.error, *test.info])


@pytest.mark.sampled(10)
@pytest.mark.parametrize("query", EDGES, ids=lambda query: " ".join(f"{k}={v}" for k, v in query.items()) or "defaults")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_alone_shows_any_setting(page, query):
    test = run(page, query)
    assert not test.exception
    assert not test.warning
    for name, value in query.items():
        if name in ("tokens", "heads", "d_model", "temperature"):
            slider = test.select_slider if name == "tokens" else test.slider
            assert slider(key=name).value == float(value), name
    assert query_without_edition(test.query_params) == query


@pytest.mark.sampled(2)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_through_the_menu_is_the_page_alone(page):
    menu = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS).run()
    through = menu.switch_page(str(page.relative_to(ROOT))).run()
    alone = AppTest.from_file(str(page), default_timeout=SECONDS).run()
    assert not through.exception
    assert [text.value for text in through.markdown] == [text.value for text in alone.markdown]


def test_what_a_link_cannot_mean_is_said():
    test = run(
        ROOT / "pages/heads.py", {"heads": "0", "mask": "casual", "speed": "9", "tokens": "1024", "d_model": "100"}
    )
    assert not test.exception
    assert "heads=0 is not a whole number between 1 and 32" in page_text(test).replace("\\", "")
    for words in ("Did you mean 'causal'?", "'speed' is not a setting", "8 heads don't divide a d_model of 100"):
        assert words in page_text(test).replace("\\", ""), words
    assert query_without_edition(test.query_params) == {"tokens": "1024", "d_model": "96"}


@pytest.mark.parametrize(
    "page", sample(PAGES, lambda page: page.stem in ("heads", "steps")), ids=lambda page: page.stem
)
def test_widgets_move_the_link(page):
    test = run(page, {})
    test.select_slider(key="tokens").set_value(40).run()
    test.selectbox(key="mask").set_value("window").run()
    test.slider(key="span").set_value(9).run()
    test.slider(key="heads").set_value(12).run()
    assert not test.exception
    assert test.slider(key="d_model").value == 516
    assert not test.warning, "its slider says where it moved"
    assert any("516 / 12 = 43 (512 is not a multiple of 12)" in each.value for each in test.caption)
    assert query_without_edition(test.query_params) == {
        "tokens": "40",
        "mask": "window",
        "span": "9",
        "heads": "12",
        "d_model": "516",
    }
    test.button(key="reset").click().run()
    begins = query_without_edition(BEGINS.get(page.stem, {}))
    assert query_without_edition(test.query_params) == begins, "what the page opens with"
    tokens = f"{from_query(BEGINS.get(page.stem, {}))[0].tokens}"
    length = [str(each.value) for each in test.select_slider if each.key == "tokens"]
    assert tokens in length or any(f" {tokens} tokens, " in each.value for each in test.caption), (
        "a slider, or a fixed size"
    )


def test_what_had_to_move_comes_back_when_it_fits_again():
    test = run(ROOT / "pages/heads.py", {"kv_heads": "4", "head": "6"})
    test.slider(key="heads").set_value(3).run()
    moved = {"kv_heads": "3", "head": "2", "d_model": "513", "heads": "3"}
    assert query_without_edition(test.query_params) == moved
    assert all(name in page_text(test) for name in ("kv", "head 6", "d"))
    test.slider(key="temperature").set_value(2.0).run()
    assert query_without_edition(test.query_params) == moved | {"temperature": "2.0"}
    assert not test.warning  # said once
    test.slider(key="heads").set_value(8).run()
    assert not any("not a multiple" in each.value for each in test.caption)
    assert query_without_edition(test.query_params) == {"kv_heads": "4", "head": "6", "temperature": "2.0"}


def test_what_had_to_move_is_said_where_it_happened_and_on_no_page_after():
    test = run(ROOT / "pages/heads.py", {"head": "6"})
    test.slider(key="heads").set_value(4).run()
    assert "no head 6" in page_text(test) and "4 heads" not in page_text(test)
    other = AppTest.from_file(str(ROOT / "pages/layers.py"), default_timeout=SECONDS)
    other.session_state[KEY] = test.session_state[KEY]
    other.run()
    assert "no head 6" not in page_text(other) and other.slider(key="heads").value == 4


@pytest.mark.parametrize(("page", "kind"), [("layers", LAYERED), ("steps", SMALL), ("softmax", SCORES)])
def test_a_visit_that_begins_on_a_page_opens_its_own_picture_and_another_visit_keeps_what_is_set(page, kind):
    first = AppTest.from_file(str(ROOT / f"pages/{page}.py"), default_timeout=SECONDS).run()
    assert not first.exception and not first.query_params, "an empty link opens it"
    assert to_query(first.session_state[KEY].here.setting) == kind.begins != {}
    for query in ({}, {"head": "3"}):
        later = AppTest.from_file(str(ROOT / f"pages/{page}.py"), default_timeout=SECONDS)
        later.session_state[KEY] = run(ROOT / "pages/heads.py", query).session_state[KEY]
        kept = NEWEST | query
        if kind.is_example and not query:
            kept = {}  # the visitor has set nothing yet
        assert not later.run().exception and dict(later.query_params) == kept, "which opens the same elsewhere"


def _opened_next(page: str, last: AppTest) -> Config:
    """The settings of a page that the menu opens after another one."""
    test = AppTest.from_file(str(ROOT / f"pages/{page}.py"), default_timeout=SECONDS)
    test.session_state[KEY] = last.session_state[KEY]
    assert not test.run().exception
    return test.session_state[KEY].here.setting


def test_the_example_of_steps_stays_there_and_what_the_visitor_sets_does_not():
    def visit() -> AppTest:
        return AppTest.from_file(str(ROOT / "pages/steps.py"), default_timeout=SECONDS).run()

    assert _opened_next("masks", visit()) == Config()
    assert to_query(_opened_next("layers", visit())) == LAYERED.begins, "as if the visit began there"
    test = visit()
    test.selectbox(key="mask").set_value("window").run()
    assert _opened_next("masks", test) == Config(mask="window"), "the visitor chose it"
    test = visit()
    test.session_state[KEY].here.setting = replace(MIXED, step="weights")
    assert _opened_next("masks", test) == Config(), "another step is still the example"
    test = visit()
    test.select_slider(key="tokens").set_value(6).run()
    assert _opened_next("masks", test) == replace(MIXED, tokens=6), "no longer the example"


def test_the_row_that_softmax_opens_with_stays_there_and_one_that_the_visitor_selects_does_not():
    def visit() -> AppTest:
        return AppTest.from_file(str(ROOT / "pages/softmax.py"), default_timeout=SECONDS).run()

    assert _opened_next("heads", visit()) == Config()
    test = visit()
    test.slider(key="temperature").set_value(2.0).run()
    assert _opened_next("heads", test) == Config(temperature=2.0), "the visitor chose it"
    test = visit()
    test.selectbox(key="query").set_value(9).run()
    assert _opened_next("heads", test) == Config(head=7, query=9), "no longer the example"


def test_the_browser_leaves_the_examples_of_pages_behind_as_well():
    script = (ROOT / "attention/components/browser/streamlit/carry_link.js").read_text()
    there = {"steps": query_without_edition(SMALL.begins), "softmax": query_without_edition(SCORES.begins)}
    assert SMALL.example_views == {"step"} and 'const STEP = "step";' in script
    found = {
        page: dict(re.findall(r'(\w+): "(\w+)"', knobs)) for page, knobs in re.findall(r"  (\w+): \{(.*)\},", script)
    }
    assert found == there
    test = AppTest.from_file(str(ROOT / "pages/steps.py"), default_timeout=SECONDS).run()
    (onward,) = (each.proto.url for each in test.get("link_button") if each.proto.label.startswith("Next"))
    assert onward == f"/softmax?{urlencode(NEWEST)}"


def test_what_was_moved_by_hand_or_reset_since_stays():
    test = run(ROOT / "pages/heads.py", {"head": "6"})
    test.slider(key="heads").set_value(1).run()
    test.slider(key="d_model").set_value(100).run()
    test.slider(key="heads").set_value(4).run()
    assert query_without_edition(test.query_params) == {"head": "3", "d_model": "100", "heads": "4"}
    test.button(key="reset").click().run()
    assert query_without_edition(test.query_params) == {}


def test_a_widget_that_the_browser_has_lost_keeps_its_value():
    """Under load a browser may send None for a row of buttons that it draws before it is told its value."""
    test = run(ROOT / "pages/heads.py", {"colors": "log", "pool": "mean"})
    test.session_state["colors"] = test.session_state["pool"] = None
    test.run()
    assert not test.warning and not test.exception
    assert query_without_edition(test.query_params) == {"colors": "log", "pool": "mean"}
    assert test.session_state["colors"] == "log"

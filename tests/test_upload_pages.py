"""What a visitor has brought, on every page: shown, or with what would show more; and nobody else's."""

from __future__ import annotations

import gc
import weakref

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attention.array_files.limits import DataError
from attention.imported.registry import register
from attention.knobs import KNOBS
from attention.ui.controls.picture import PICTURE
from attention.ui.session import uploads as visit
from attention.ui.session.settings_state import SettingsState
from attention.ui.session.visit_state import KEY, Session, VisitState, taken_up
from tests import example_uploads
from tests.samples import sample
from tests.strategies import query_without_edition
from tests.test_pages import PAGES, ROOT, run

HEADS = ROOT / "pages/heads.py"
TOPICS = [{"topic": name} for name in KNOBS["topic"].choices]
DETAILS = [{"mask_detail": name} for name in KNOBS["mask_detail"].choices]
ROWS = [{"row_as": name} for name in KNOBS["row_as"].choices]
VIEWS = [
    (page, more) for page in PAGES for more in {"softmax": TOPICS, "masks": DETAILS, "heads": ROWS}.get(page.stem, [{}])
]
KINDS = ("weights", "named", "squared", "crossing", "wide")  # one stack of each kind
IDS = [f"{page.stem} {' '.join(more.values())}".strip() for page, more in VIEWS]


def page_text(test: AppTest) -> str:
    texts = [*test.markdown, *test.caption, *test.info, *test.warning]
    return "\n".join(part.value for part in texts).replace("\\", "").replace("\u2060", "")


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("page", "more"), VIEWS, ids=IDS)
@pytest.mark.parametrize("name", sample(example_uploads.STACKS, lambda name: name in KINDS))
def test_every_page_shows_it_or_says_what_would_have_more(page, more, name):
    found = example_uploads.holding(name)
    test = example_uploads.open_page(page, found, more)
    assert not test.exception and not test.error and not test.warning
    assert test.selectbox(key="source").value == found.source
    assert query_without_edition(test.query_params)["source"] == found.source


def test_the_menu_offers_what_this_visit_has_and_nothing_else():
    one, other = example_uploads.holding("named"), example_uploads.holding("weights")
    test = example_uploads.open_page(HEADS, one)
    options = test.selectbox(key="source").options
    assert options[0] == "model.safetensors" and "weights.npz" not in options
    test.selectbox(key="source").set_value("generated").run()
    assert query_without_edition(test.query_params) == {} and not test.exception
    test.selectbox(key="source").set_value(one.source).run()
    assert query_without_edition(test.query_params) == {"source": one.source}
    assert "From your file · model.safetensors" in page_text(test)
    assert "of layer 0 of model.safetensors.** In **head 0**" in page_text(test)
    assert other.source not in str(test)


def test_a_link_to_what_somebody_else_has_names_it_and_offers_to_open_ones_own():
    theirs = register(example_uploads.weights(), name="Ann's <b>heads</b>.npz")
    test = run(HEADS, {"source": theirs.source, "layer": "2", "head": "3"})
    assert not test.exception and not test.warning
    assert "This link shows “Ann's <b>heads</b>.npz”**, a file that was opened in another visit." in page_text(test)
    assert "weights of" not in page_text(test) and test.selectbox(key="source").value == "generated"
    assert query_without_edition(test.query_params) == {}
    assert "Open a file" in [link.proto.label for link in test.get("link_button")]


def test_a_browser_that_names_what_somebody_else_has_gets_nothing_of_it(monkeypatch):
    theirs = example_uploads.holding("weights")
    state = Session(about="this app", held={"this app": SettingsState.of(PICTURE, {}, {})})
    said = {KEY: state, **state.here.widget_values, "source": theirs.source}
    monkeypatch.setattr(st, "session_state", said)
    assert taken_up().source == "generated" == state.here.setting.source
    assert {name: said[name] for name in state.here.widget_values} == state.here.widget_values
    state.kept.uploaded[theirs.source] = theirs
    said["source"] = theirs.source
    assert taken_up().source == theirs.source


def test_a_menu_that_still_says_what_only_the_last_visit_had_is_told_without_a_second_box(monkeypatch):
    """After a restart a browser says of its widgets what it said before: the source, or its name in the menu."""
    theirs = register(example_uploads.weights(), name="Ann.npz")
    test = run(HEADS, {"source": theirs.source})
    state = test.session_state[KEY]
    monkeypatch.setattr(st, "session_state", says := {KEY: state, **state.here.widget_values})
    for name in ("Ann.npz", theirs.source):
        says["source"] = name
        assert taken_up().source == "generated" == says["source"] and not state.here.notes
    says["source"] = "Bob.npz"
    taken_up()
    assert "'Bob.npz' is not one of" in state.here.notes[0]


def test_a_line_names_the_sizes_of_a_large_model():
    test = example_uploads.open_page(HEADS, example_uploads.holding("wide"))
    assert any("64 heads, d_model 8,192" in caption.value for caption in test.caption)
    assert not {"heads", "d_model"} & {each.key for each in test.slider}
    test.number_input(key="head").set_value(63).run()
    assert not test.exception and query_without_edition(test.query_params)["head"] == "63"
    test.selectbox(key="source").set_value("generated").run()
    assert not test.exception and test.slider(key="heads").value == 8


@pytest.mark.extended
def test_a_long_one_is_drawn_as_maps_and_cut_where_a_page_needs_every_weight():
    found = register(example_uploads.long())
    test = example_uploads.open_page(ROOT / "pages/softmax.py", found)
    assert not test.exception and "so it shows 1,024 of 2,000 tokens" in page_text(test)
    test = example_uploads.open_page(HEADS, found)
    assert not test.exception and not test.error
    assert test.select_slider(key="tokens").value == 2000 and not test.select_slider(key="tokens").disabled
    test.select_slider(key="tokens").set_value(64).run()
    assert not test.exception and query_without_edition(test.query_params)["tokens"] == "64"


def test_what_is_brought_is_gone_with_its_visit():
    session = Session()
    session.kept.uploaded = {found.source: found for found in [example_uploads.holding("named")]}
    (holding,) = map(weakref.ref, session.kept.uploaded.values())
    del session
    gc.collect()
    assert holding() is None


class Visit:
    """A session without a browser."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.session = Session(kept=VisitState())
        monkeypatch.setattr(visit, "session", lambda: self.session)


def test_one_visit_has_so_many_at_a_time_and_so_much_memory(monkeypatch):
    here = Visit(monkeypatch)
    for _ in range(visit.MOST):
        visit.hold(example_uploads.weights())
    assert len(visit.sources()) == visit.MOST == len(here.session.kept.uploaded)
    with pytest.raises(DataError, match="8 files are open already"):
        visit.hold(example_uploads.weights())
    visit.close(visit.sources()[0])
    size = example_uploads.weights().bytes
    monkeypatch.setattr(visit, "SHARE", 7.5 * size / visit.BUDGET.most)
    with pytest.raises(
        DataError, match=r"This takes 1\.73 kB of memory, and 12\.1 kB are open; the limit per visit is 13"
    ):
        visit.hold(example_uploads.weights())


def test_what_is_brought_counts_in_the_memory_that_all_share(monkeypatch):
    Visit(monkeypatch)
    before = visit.BUDGET.free_bytes
    source = visit.hold(example_uploads.named_upload())
    assert before - visit.BUDGET.free_bytes == visit.holdings()[0].stack.bytes
    monkeypatch.setattr(visit.BUDGET, "room", lambda size: False)
    with pytest.raises(DataError, match=r"[\d.]+ .?B are free right now"):
        visit.hold(example_uploads.named_upload())
    visit.close(source)
    gc.collect()


def test_what_is_closed_is_no_longer_shown():
    found = example_uploads.holding("named")
    test = example_uploads.open_page(HEADS, found)
    state = test.session_state[KEY]
    assert state.here.setting.source == found.source
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visit, "session", lambda: state)
        visit.close(found.source)
    test.query_params.clear()
    test.run()
    assert not test.exception and test.session_state[KEY].here.setting.source == "generated"

"""What holds for every kind of settings: those of a picture, of a sweep, and of any other that is written like them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attention.codec import CONFIGS
from attention.config import Config
from attention.settings import ConfigError, Settings
from attention.timing.cpu_gpu_settings import TIMED
from attention.timing.sweep import SWEEPS
from attention.ui.controls import knobs, reasons
from attention.ui.controls.picture import PICTURE
from attention.ui.controls.sweep import SWEEP
from attention.ui.session.settings_state import SettingsState
from attention.ui.session.widget_sync import WidgetSync
from tests.samples import examples
from tests.trainings import TRAINING, TRAININGS, Training

KINDS = {"configs": PICTURE, "sweeps": SWEEP, "trainings": TRAINING}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
every_settings = pytest.mark.parametrize("found", [CONFIGS, SWEEPS, TRAININGS, TIMED], ids=[*KINDS, "timings"])
wild = st.text(max_size=12) | st.integers() | st.none() | st.lists(st.text(max_size=5) | st.integers(), max_size=2)
odd = wild | st.floats() | st.sampled_from(["8", "8,16", "1e9", "copy", "full", "0-5", "cpu,cpu", " 9 "])


def names(found: Settings[Any]) -> st.SearchStrategy[str]:
    return st.sampled_from([*found.knobs, "v"]) | st.text(max_size=5)


@every_settings
@settings(deadline=None, max_examples=examples(150))
@given(data=st.data())
def test_any_query_opens_settings_whose_link_opens_the_same(found, data):
    query = data.draw(st.dictionaries(names(found), odd, max_size=6))
    setting, notes = found.from_query(query)
    assert found.from_query(found.to_query(setting)) == (setting, [])
    assert all(isinstance(note, str) and note for note in notes)
    assert type(setting) is found.make and (query or setting == found.make())


@every_kind
@settings(deadline=None, max_examples=examples(150))
@given(data=st.data())
def test_whatever_widgets_say_is_taken_up_as_valid_settings_that_they_then_say(kind, data):
    """A browser may say anything; what can't be is said, once, and the widget goes back."""
    held, told, found = SettingsState.of(kind, {}, {}), WidgetSync(), kind.settings
    widgets = dict(held.widget_values)
    for _ in range(3):
        said = data.draw(st.dictionaries(st.sampled_from(list(found.knobs)), odd, max_size=3))
        widgets |= {found.key(name): value for name, value in said.items() if plausible(found, name, value)}
        told.reconcile(widgets, held.widget_values)
        setting = held.take_up(widgets, told)
        assert type(setting) is found.make
        assert widgets == held.widget_values
        told.mark_sent(widgets, "controls", kind.keys)
        widgets = {key: widgets[key] for key in held.widget_values}
        assert held.take_up(widgets, told) == setting


def plausible(found: Settings[Any], name: str, value: Any) -> bool:
    """Streamlit gives the widget of an axis a list, whatever a browser sends."""
    return name not in found.axes or (isinstance(value, list) and len({type(each) for each in value}) < 2)


def test_a_width_that_follows_the_heads_is_not_said_to_have_moved():
    """Also if the browser still has the width of an earlier number of heads when it sends the next one."""
    held, told = SettingsState.of(PICTURE, {"v": "4", "heads": "31"}, {}), WidgetSync()
    for width in (held.setting.d_model, 510):
        now = held.take_up(held.widget_values | {"heads": 32, "d_model": width}, told)
        assert (now.heads, now.d_model, held.notes) == (32, 512, [])
        held.take_up(held.widget_values | {"heads": 31}, told)
    held.take_up(held.widget_values | {"d_model": 520}, told)
    assert held.notes == ["31 heads don't divide a d_model of 520: d_model moved to 527."]


def test_settings_that_do_not_fit_keep_the_last_ones_and_say_why():
    held, told = SettingsState.of(TRAINING, {"steps": "500", "widths": "64"}, {}), WidgetSync()
    assert held.setting == Training(steps=500, widths=(64,)) and not held.notes
    widgets = held.widget_values | {"train_steps": 1000}
    assert held.take_up(widgets, told) == Training(steps=500, widths=(64,))
    assert held.notes == ["That would take all day."] and widgets == held.widget_values
    assert TRAININGS.from_query({"steps": "1000", "widths": "64"}) == (Training(), ["That would take all day."])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("steps", "0", "steps=0 is not a whole number between 1 and 1,000. The default is 100."),
        ("task", "cope", "task='cope' is not one of: copy, sort. Did you mean 'copy'?"),
        ("widths", "", "Widths has no value; it needs one. The default is 8."),
        ("speed", "1", "'speed' is not a setting of a training; it was ignored."),
    ],
)
def test_what_a_knob_cannot_be_is_refused_by_name(name, text, message):
    with pytest.raises(ConfigError) as refused:
        TRAININGS.parse(name, text)
    assert str(refused.value) == message


PAGE = """
from attention.ui.controls import knobs
from attention.ui.session import page
from tests.samples import examples
from tests.trainings import TRAINING, TRAININGS, Training, view
from tests.samples import examples
knobs.SETTINGS[Training] = TRAININGS
page.show(view, TRAINING)
"""


@pytest.fixture
def known(monkeypatch):
    """The third kind has widgets, for the time of a test."""
    monkeypatch.setattr(knobs, "SETTINGS", dict(knobs.SETTINGS))


def test_a_page_about_a_third_kind_of_settings_is_a_line(known):
    test = AppTest.from_string(PAGE, default_timeout=60)
    test.query_params["steps"] = "7"
    test.run()
    assert not test.exception
    assert test.number_input(key="train_steps").value == 7
    test.multiselect(key="train_widths").set_value([32, 16]).run()
    test.selectbox(key="train_task").set_value("sort").run()
    assert dict(test.query_params) == {"steps": "7", "task": "sort", "widths": "16,32"}
    assert [text.value for text in test.markdown] == ["7 steps of sort over (16, 32)"]
    test.number_input(key="train_steps").set_value(1000).run()
    test.multiselect(key="train_widths").set_value([64]).run()
    assert [alert.value.replace("\\", "") for alert in test.warning] == ["That would take all day."]
    test.button(key="reset").click().run()
    assert dict(test.query_params) == {} and test.number_input(key="train_steps").value == 100


def test_a_knob_that_does_nothing_is_disabled_and_its_help_says_why(known, monkeypatch):
    monkeypatch.setitem(reasons.REASONS, (Training, "rate"), lambda training: "Nothing is trained by copying.")
    test = AppTest.from_string(PAGE, default_timeout=60).run()
    rate, steps = test.slider(key="train_rate"), test.number_input(key="train_steps")
    assert (rate.disabled, rate.help) == (True, "How far a step goes. Nothing is trained by copying.")
    assert (steps.disabled, steps.help) == (False, "How many batches.")


def test_a_span_that_its_mask_has_not_is_a_knob_that_does_nothing():
    assert reasons.why("span", Config(mask="full")) == "The mask full has none."
    assert reasons.why("span", Config(mask="window")) == ""
    assert reasons.why("heads", Config()) == ""

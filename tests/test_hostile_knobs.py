"""Every knob of every kind of settings, in a link that says anything: never raised, said in few words, and never as markup."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from attention.timing.recordings import read_recording
from attention.ui.controls.picture import PICTURE
from attention.ui.controls.recipe import RECIPE
from attention.ui.controls.sweep import SWEEP
from attention.ui.controls.tour import TOUR
from attention.ui.markdown import escape
from tests.forger import WRITTEN
from tests.hostile import BAIT, FILES, LONG, NOTED

KINDS = (PICTURE, SWEEP, RECIPE, TOUR)
KNOBS = [(kind, name) for kind in KINDS for name in kind.settings.knobs]
READ = [file for file in FILES if file[0] != "none.json"]  # the page says it of that one
NUMBERS = [
    "nan",
    "-nan",
    "inf",
    "-Infinity",
    "1e400",
    "-1",
    "-0",
    "0",
    "9" * 5000,
    "1e-400",
    "0x10",
    "1_0",
    "1,5",
    "٣",
    "１２",
    "½",
]
TEXTS = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "\n",
    "\u202eevil",
    "\ud800",
    "\ufeff",
    "🏴\u200d☠️",
    LONG,
    BAIT,
    "__class__",
    "None",
    "true",
]
MARKS = [
    "$x$",
    ":material/home:",
    "[x](javascript:alert(1))",
    "http://evil.example",
    "{}",
    "%00",
    "../../etc/passwd",
    "a,a,a",
    ",",
    "-",
]


@pytest.mark.sampled(24)
@pytest.mark.parametrize(
    ("kind", "name"), KNOBS, ids=lambda each: each if isinstance(each, str) else each.settings.called
)
def test_a_knob_takes_any_text_and_says_what_it_cannot_have(kind, name):
    settings = kind.settings
    for text in (*NUMBERS, *TEXTS, *MARKS):
        found, notes = kind.open({name: text})
        assert not WRITTEN.search("\n".join(map(escape, notes))), text[:99]
        assert all(len(note) < 700 and "\x00" not in note and "\u202e" not in note for note in notes), text[:99]
        again, more = settings.from_query(settings.to_query(found))
        assert again == found and not more, text[:99]
        assert notes or text.strip() or not settings.knobs[name].low, "what a number can't be is said"


@pytest.mark.parametrize(("page", "link", "says"), NOTED, ids=lambda text: text[:40])
def test_a_link_opens_what_it_can_have_and_says_the_rest(page, link, says):
    kind = {"timing": SWEEP, "training": RECIPE, "examples": TOUR}.get(page, PICTURE)
    asked = {name: values[-1] for name, values in parse_qs(link, keep_blank_values=True).items()}
    found, notes = kind.open(asked)
    said = "\n".join(notes)
    assert says in said if says else not said
    assert kind.settings.from_query(kind.settings.to_query(found)) == (found, [])


@pytest.mark.parametrize(("name", "data", "says"), READ, ids=lambda text: str(text)[:40])
def test_a_file_is_a_recording_or_what_is_wrong_is_said(name, data, says):
    if not says:
        assert read_recording(data, name)
        return
    with pytest.raises(ValueError) as refused:
        read_recording(data, name)
    assert says in str(refused.value)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.settings.called)
def test_all_knobs_at_once_may_be_wrong(kind):
    for text in (*NUMBERS, *TEXTS, *MARKS):
        found, notes = kind.open(dict.fromkeys(kind.settings.knobs, text))
        assert kind.settings.from_query(kind.settings.to_query(found)) == (found, []), text[:99]
        assert notes or type(found)() != found or not text.strip(), text[:99]

"""Links that were shared go on opening the same picture, whatever becomes of the defaults and of the names of knobs.

`links.json` is kept for good: links as they could be shared in November 2026, and what each of them opened then.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from attention import codec
from attention.codec import EDITIONS, from_query, link, to_query
from attention.config import Config
from attention.knobs import DEFAULTS
from attention.models.prompt import PROMPTS, Prompt
from attention.timing import cpu_gpu_settings
from attention.timing.cpu_gpu_settings import TIMED, Timed
from attention.timing.sweep import SWEEPS, Sweep
from attention.training import recipe as recipes
from attention.training.recipe import RECIPES, Recipe
from tests.strategies import unversioned_config

SHARED = json.loads(Path(__file__).with_name("links.json").read_text("utf-8"))


def query(link: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(link, keep_blank_values=True).items()}


@pytest.mark.sampled(30)
@pytest.mark.parametrize("shared", SHARED["configs"], ids=lambda shared: f"{shared['page']}?{shared['link']}")
def test_a_shared_link_opens_what_it_opened(shared):
    if not shared["link"]:  # means the newest defaults
        assert from_query({}) == (Config(), [])
        return
    config, notes = from_query(query(shared["link"]))
    known = {name: value for name, value in vars(config).items() if name in SHARED["defaults"]}
    assert known == SHARED["defaults"] | shared["config"]
    assert len(notes) == shared["notes"]
    assert from_query(query(link(config))) == (config, [])


@pytest.mark.parametrize("shared", SHARED["sweeps"], ids=lambda shared: f"timing?{shared['link']}")
def test_a_shared_sweep_opens_what_it_opened(shared):
    found, notes = SWEEPS.from_query(query(shared["link"]))
    usual = vars(Sweep())
    assert {name: list(value) if isinstance(value, tuple) else value for name, value in vars(found).items()} == {
        name: shared["sweep"].get(name, list(value) if isinstance(value, tuple) else value)
        for name, value in usual.items()
    }
    assert len(notes) == shared["notes"]


@pytest.mark.parametrize("shared", SHARED["timings"], ids=lambda shared: f"timing?{shared['link']}")
def test_a_shared_picture_of_timings_opens_what_it_opened(shared):
    found, notes = TIMED.from_query(query(shared["link"]))
    usual = vars(Timed()) | cpu_gpu_settings.EDITIONS[0]
    differs = {name: value for name, value in vars(found).items() if value != usual[name]}
    assert {name: list(value) if isinstance(value, tuple) else value for name, value in differs.items()} == shared[
        "differs"
    ]
    assert len(notes) == shared["notes"]


@pytest.mark.parametrize("shared", SHARED["sweeps"], ids=lambda shared: f"timing?{shared['link']}")
def test_a_sweep_that_was_shared_before_the_picture_is_still_that_sweep(shared):
    then = SWEEPS.from_query(query(shared["link"]))[0]
    if not shared["link"]:  # the page alone opens with what it opens with now
        then = replace(then, heads=Timed().heads)
    assert TIMED.from_query(query(shared["link"]))[0].sweep == then


@pytest.mark.parametrize("shared", SHARED["trainings"], ids=lambda shared: f"training?{shared['link']}")
def test_a_shared_training_opens_what_it_opened(shared):
    found, notes = RECIPES.from_query(query(shared["link"]))
    edition = recipes.EDITIONS[int(query(shared["link"]).get("v", 1)) - 1]
    assert vars(found) == vars(Recipe()) | edition | shared["recipe"]
    assert len(notes) == shared["notes"]


@pytest.fixture
def second(monkeypatch):
    """A second edition, in which the default number of heads was another in the first."""
    editions = (*EDITIONS[:0], {**EDITIONS[0], "heads": 4}, {})
    monkeypatch.setattr(codec, "CONFIGS", replace(codec.CONFIGS, editions=editions))


def test_another_edition_of_the_defaults_changes_no_link_that_is_out_there(second):
    assert from_query({}) == (Config(), []) and to_query(Config()) == {}
    assert from_query({"seed": "3"}) == (unversioned_config(heads=4, seed=3), [])
    assert from_query({"seed": "3", "v": "1"}) == (unversioned_config(heads=4, seed=3), [])
    assert from_query({"seed": "3", "v": "2"}) == (Config(seed=3), [])
    assert from_query({"v": "1"}) == (unversioned_config(heads=4), [])
    for config in (Config(heads=4), Config(seed=3), Config(heads=4, seed=3), Config(tokens=7, d_model=8)):
        assert to_query(config)["v"] == "2" and from_query(to_query(config)) == (config, [])


def test_a_link_that_says_only_how_it_is_shown_opens_the_newest_defaults():
    assert from_query({"view": "present"}) == (Config(view="present"), [])


@pytest.mark.parametrize("edition", ["0", "99", "two", "", "1.0", "-1"])
def test_an_edition_that_is_none_is_said_to_be_so(edition):
    config, notes = from_query({"v": edition, "seed": "3"})
    assert config == Config(seed=3)
    assert notes == [f"v={edition!r} is not an edition of the defaults; there are {len(EDITIONS)}. The newest is used."]


def test_a_default_that_has_changed_is_known_to_every_edition_before():
    """Whoever changes a default without an edition changes what links open that are out there."""
    first = {name: SHARED["defaults"][name] for name in SHARED["defaults"]}
    assert {name: (DEFAULTS | EDITIONS[0])[name] for name in first} == first
    assert EDITIONS[-1] == {} and all(edition.keys() <= DEFAULTS.keys() for edition in EDITIONS)


def test_a_knob_keeps_its_old_name_in_links():
    assert from_query({"layers": "7"}) == (unversioned_config(depth=7), [])
    assert to_query(Config(depth=7))["depth"] == "7"
    assert from_query({"layers": "999"})[1][0].startswith("depth=999 is not")


@pytest.mark.parametrize("shared", SHARED["prompts"], ids=lambda shared: f"model?{shared['link']}")
def test_a_shared_prompt_opens_what_it_opened(shared):
    assert PROMPTS.from_query(query(shared["link"])) == (Prompt(**shared["prompt"]), [])

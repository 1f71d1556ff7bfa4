"""What the small model is to learn: sequences whose answers can be known, and keys that do tell them; recipes and their links."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.settings import ConfigError
from attention.training import tasks
from attention.training.recipe import NUMBERS, RECIPES, Recipe, nearest
from attention.training.tasks import BRACKETS, KINDS, LEAST, MARK, TASKS, VOCABULARY
from tests.samples import examples
from tests.strategies import seeds

every_task = pytest.mark.parametrize("name", TASKS)


@every_task
@settings(deadline=None, max_examples=examples(20))
@given(seed=seeds)
def test_the_keys_that_tell_the_answer_are_there_and_tell_it(name, seed):
    task = TASKS[name]
    ids, counted, told = task.draw(16, task.tokens, torch.Generator().manual_seed(seed))
    assert ids.shape == (16, task.tokens + 1) and int(ids.min()) >= 0 and int(ids.max()) < VOCABULARY
    assert counted.any(1).all()
    assert not told[~counted].any() or name == "induction"
    assert told[counted].any(-1).all()
    assert not told.triu(1).any(), "nothing is told by what is yet to come"
    at, query, key = (told & counted[:, :, None]).nonzero(as_tuple=True)
    there, answer = ids[at, key], ids[at, query + 1]
    assert (answer == (there + KINDS if name == "brackets" else there)).all()


def test_a_hidden_period_is_of_any_allowed_length():
    ids = tasks.induction(400, 40, torch.Generator().manual_seed(0)).ids
    periods = [next(p for p in range(1, 41) if torch.equal(row[p:], row[:-p])) for row in ids]
    assert min(periods) == LEAST and max(periods) == 20 and len(set(periods)) == 13


def test_sorting_is_of_different_numbers():
    ids, counted, _ = tasks.sort(50, 24, torch.Generator().manual_seed(0))
    for row in ids.tolist():
        assert len(set(row[:12])) == 12 and row[12] == MARK and row[13:] == sorted(row[:12])
    assert counted.sum(1).tolist() == [12] * 50


def test_brackets_close_what_is_open():
    ids, counted, _ = tasks.brackets(50, 32, torch.Generator().manual_seed(0))
    for row, asked in zip(ids.tolist(), counted.tolist(), strict=True):
        opened = []
        for at, token in enumerate(row):
            assert at == 0 or asked[at - 1] == (token >= KINDS)
            if token < KINDS:
                opened.append(token)
            else:
                assert BRACKETS[opened.pop()] + BRACKETS[token] in ("()", "[]", "{}", "<>")


def test_a_majority_has_no_tie():
    ids = tasks.majority(400, 32, torch.Generator().manual_seed(0)).ids
    counts = torch.stack([(ids[:, :31] == kind).sum(1) for kind in range(KINDS)], 1).sort(1, descending=True).values
    assert (counts[:, 0] > counts[:, 1]).all()
    assert torch.equal(ids[:, 32], torch.stack([(ids[:, :31] == kind).sum(1) for kind in range(KINDS)], 1).argmax(1))


def value(name: str) -> st.SearchStrategy:
    """Anything that one knob allows."""
    knob = RECIPES.knobs[name]
    if name in RECIPES.axes:
        return st.lists(st.sampled_from(knob.choices or ()), max_size=3, unique=True).map(tuple)
    if knob.choices:
        return st.sampled_from(knob.choices)
    if knob.form:
        return st.text("aZ09-_", max_size=9)
    low, high = knob.low or 0, knob.high or 0
    return st.integers(int(low), int(high)) if knob.whole else st.floats(low, high)


@settings(deadline=None)
@given(st.fixed_dictionaries({name: value(name) for name in RECIPES.knobs}))
def test_a_link_carries_the_recipe(values):
    recipe, notes = nearest(values)
    assert RECIPES.from_query(RECIPES.to_query(recipe)) == (recipe, [])
    assert bool(notes) == (recipe != _bare(values))
    assert recipe.d_model % recipe.heads == 0


def _bare(values: dict) -> Recipe | None:
    try:
        return Recipe(**values)
    except ConfigError:
        return None


WILD = st.text(max_size=30) | st.lists(st.text(max_size=9) | st.integers(), max_size=3) | st.integers() | st.none()


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(RECIPES.knobs)) | st.text(max_size=9), WILD, max_size=5))
def test_any_link_gives_a_recipe_and_says_what_it_ignored(query):
    recipe, notes = RECIPES.from_query(query)
    assert isinstance(recipe, Recipe)
    assert all(isinstance(note, str) and note for note in notes)


def test_a_task_brings_what_suffices_for_it():
    assert RECIPES.from_query({"v": "2", "task": "sort"})[0] == Recipe(task="sort", layers=1, steps=1500)
    assert RECIPES.from_query({"task": "sort", "layers": "2"})[0].layers == 2
    assert RECIPES.to_query(Recipe(task="sort", layers=1, steps=1500)) == {"v": "2", "train_task": "sort"}


def test_what_does_not_fit_is_named():
    with pytest.raises(
        ConfigError, match=r"d_model=64: it is a multiple of heads=5, at most 256. The nearest that fits is 65"
    ):
        Recipe(heads=5)
    with pytest.raises(ConfigError, match=r"head=9: there are 8 heads, counted from 0. The nearest that fits is 7"):
        Recipe(head=9)


def test_what_is_trained_does_not_depend_on_what_is_looked_at():
    looked = Recipe(seed=4, at=300, head=3, query=5, number=NUMBERS[1])
    assert looked.alone == Recipe(seed=4)

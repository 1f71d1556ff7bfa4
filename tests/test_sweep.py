"""A sweep and its link."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.settings import EDITION, ConfigError
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.sweep import CASES, SWEEPS, Sweep


def value(name: str) -> st.SearchStrategy:
    """Anything that one knob allows."""
    knob = SWEEPS.knobs[name]
    if knob.choices:
        return st.sampled_from(knob.choices)
    if name == "devices":
        return st.sampled_from(["cpu", "cuda:0", "cuda:1", "mps", "xpu:0"])
    return st.integers(int(knob.low), int(knob.high)) if knob.whole else st.floats(1, 7200)


def values(name: str) -> st.SearchStrategy:
    least = 0 if SWEEPS.defaults[name] == () else 1
    return (
        st.lists(value(name), min_size=least, max_size=2, unique=True).map(tuple)
        if name in SWEEPS.axes
        else value(name)
    )


def fits(values: dict[str, object]) -> bool:
    """Whether a sweep has no more cases than are allowed; without implementations it has all of them."""
    counts = {name: len(values[name]) for name in SWEEPS.axes} | ({"batches": 1} if values["tokens"] else {})
    return (
        math.prod(count or (len(IMPLEMENTATIONS) if name == "implementations" else 1) for name, count in counts.items())
        <= CASES
    )


knobs = st.fixed_dictionaries({name: values(name) for name in SWEEPS.knobs}).filter(fits)


@settings(deadline=None)
@given(knobs)
def test_a_link_carries_the_sweep(values):
    sweep = Sweep(**values)
    assert SWEEPS.from_query(SWEEPS.to_query(sweep)) == (sweep, [])
    assert SWEEPS.to_query(Sweep()) == {}


WILD = st.text(max_size=30) | st.lists(st.text(max_size=9) | st.integers(), max_size=3) | st.integers() | st.none()


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(SWEEPS.knobs)) | st.text(max_size=9), WILD, max_size=5))
def test_any_link_gives_a_sweep_and_says_what_it_ignored(query):
    sweep, notes = SWEEPS.from_query(query)
    assert isinstance(sweep, Sweep)
    assert all(isinstance(note, str) and note for note in notes)
    assert len(notes) >= len([name for name in query if name not in (*SWEEPS.knobs, EDITION)])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("masks", ("casual",), "masks='casual' is not one of: full, causal. Did you mean 'causal'?"),
        (
            "lengths",
            (1,),
            "lengths=1 is not a whole number between 2 and 1,048,576. The default is (64, 128, 256, 512, 1024, 2048).",
        ),
        ("lengths", (64.0,), "lengths=64.0 is not a whole number between 2"),
        ("lengths", (True,), "lengths=True is not a whole number between 2"),
        ("lengths", (), "Lengths (tokens) has no value; it needs one. The default is 64, 128,"),
        ("heads", 8, "heads=8 is not a tuple of values. The default is (8,)."),
        ("heads", (8, 8), "heads=(8, 8) names a value twice. Name each once."),
        ("devices", ("rm -rf",), "devices='rm -rf' is not a device of torch, like cpu or cuda:0."),
        ("seconds", math.nan, "seconds=nan is not a number between 1.0 and 7,200.0."),
    ],
)
def test_a_wrong_value_is_refused_by_name(name, value, message):
    with pytest.raises(ConfigError) as refused:
        SWEEPS.check(name, value)
    assert str(refused.value).startswith(message)


def test_a_sweep_has_a_bounded_number_of_cases():
    count = 1998 * sum(not how.asked for how in IMPLEMENTATIONS.values())
    with pytest.raises(ConfigError, match=f"^The sweep has {count:,} cases; 5,000 are allowed"):
        Sweep(lengths=tuple(range(2, 2000)))


def test_cases_are_all_combinations_shortest_first():
    sweep = Sweep(lengths=(64, 16), heads=(2, 1), masks=("full", "causal"))
    cases = sweep.cases(["cpu", "cuda:0"], ["SDPA"])
    assert len(set(cases)) == len(cases) == 2 * 2 * 2 * 2
    assert [(case.length, case.heads) for case in cases[::4]] == [(16, 1), (16, 2), (64, 1), (64, 2)]


def test_a_batch_follows_the_length_where_the_tokens_in_all_are_given():
    sweep = Sweep(lengths=(512, 3000, 16_384, 32_768), tokens=16_384, batches=(2, 4), heads=(1, 2))
    cases = sweep.cases(["cpu"], ["SDPA"])
    assert [(case.length, case.batch) for case in cases[::2]] == [(512, 32), (3000, 5), (16_384, 1), (32_768, 1)]
    assert len(cases) == 8 and sweep.combinations == 8 * sum(not how.asked for how in IMPLEMENTATIONS.values())
    assert {case.tokens for case in cases} == {16_384}
    assert {case.batch for case in Sweep(lengths=(2,), tokens=10**6).cases(["cpu"], ["SDPA"])} == {1024}


def test_one_query_is_one_case_under_every_mask_as_none_hides_a_key_from_it():
    sweep = Sweep(lengths=(64,), masks=("full", "causal"), queries=(0, 1, 2), kv_heads=(0, 4), windows=(0, 8))
    cases = sweep.cases(["cpu"], ["SDPA"])
    assert len(cases) == len(set(cases)) == 2 * 3 * 2 * 2 - 2
    assert {case.mask for case in cases if case.queries == 1 and not case.window} == {"full"}


def test_every_knob_explains_itself():
    for name, knob in SWEEPS.knobs.items():
        assert knob.label, name
        assert knob.help.endswith("."), name
        assert (name in SWEEPS.axes) is isinstance(SWEEPS.defaults[name], tuple)

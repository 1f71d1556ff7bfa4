"""A config is valid or it is not there; its errors say what would be."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from attention import Config, ConfigError
from attention.fitting import check, coerce, fixed_by_source
from attention.knobs import DEFAULTS, KNOBS, MAX_CHANNELS, MAX_WEIGHTS
from tests.samples import examples
from tests.strategies import configs, values
from tests.unchecked import without_checks

laws = settings(deadline=None, max_examples=examples(150))
any_values = st.fixed_dictionaries({name: values(name) for name in KNOBS})


@laws
@given(wanted=any_values)
def test_values_that_are_allowed_move_once_to_values_that_fit(wanted):
    nearest = coerce(wanted)
    assert coerce(nearest) == nearest
    assert vars(Config(**nearest)) == nearest
    assert nearest.keys() == wanted.keys()
    assert nearest["source"] == wanted["source"]
    assert nearest["heads"] == fixed_by_source(wanted["source"]).get("heads", wanted["heads"])


@laws
@given(wanted=any_values)
def test_a_config_of_values_that_do_not_fit_is_refused_with_the_nearest(wanted):
    nearest = coerce(wanted)
    moved = [name for name in wanted if wanted[name] != nearest[name]]
    if not moved:
        assert vars(Config(**wanted)) == wanted
        return
    with pytest.raises(ConfigError) as refusal:
        Config(**wanted)
    assert any(str(refusal.value).startswith(f"{name}={wanted[name]!r}: ") for name in moved)
    assert any(str(refusal.value).endswith(f"The nearest that fits is {nearest[name]!r}.") for name in moved)


@laws
@given(config=configs())
def test_what_a_config_derives(config):
    assert config.d_head * config.heads == config.d_model
    assert config.heads % config.n_kv_heads == 0
    assert 0 <= config.query_index < config.tokens
    assert 0 <= config.head < config.heads
    assert config.d_model * config.tokens <= MAX_CHANNELS
    assert config.truncated.truncated is config.truncated
    assert config.heads * config.truncated.tokens**2 <= MAX_WEIGHTS
    assert hash(config) == hash(Config(**vars(config)))
    assert config.for_page().for_page() == config.for_page()


@laws
@given(heads=st.integers(1, 32), d_model=st.integers(1, 2048))
def test_the_width_moves_to_the_nearest_multiple(heads, d_model):
    found = coerce(DEFAULTS | {"heads": heads, "d_model": d_model})["d_model"]
    multiples = range(heads, 2049, heads)
    assert found in multiples
    assert abs(found - d_model) == min(abs(multiple - d_model) for multiple in multiples)


@laws
@given(heads=st.integers(1, 32), kv_heads=st.integers(0, 32))
def test_shared_heads_move_to_the_nearest_divisor(heads, kv_heads):
    found = coerce(DEFAULTS | {"heads": heads, "kv_heads": kv_heads})["kv_heads"]
    divisors = [n for n in range(1, heads + 1) if heads % n == 0]
    if kv_heads == 0:
        assert found == 0
    else:
        assert found in divisors
        assert abs(found - kv_heads) == min(abs(n - kv_heads) for n in divisors)


@pytest.mark.parametrize("name", KNOBS)
def test_a_knob_says_what_it_is(name):
    knob = KNOBS[name]
    assert knob.label[0].isupper()
    assert len(knob.help.split()) >= 4
    assert knob.help.endswith(".")
    assert not knob.help.endswith("..")
    assert knob.about in ("tensors", "focus", "view")
    assert knob.allows(DEFAULTS[name])
    check(name, DEFAULTS[name])


def test_labels_are_told_apart_and_names_need_no_escapes():
    assert len({knob.label for knob in KNOBS.values()}) == len(KNOBS)
    assert all(name.replace("_", "").isalpha() and name.islower() for name in KNOBS)
    assert list(KNOBS) == [field.name for field in fields(Config)]


NO_NUMBERS = [None, "8", b"8", True, [8], {}, float("nan"), float("inf"), 10**400, -(10**400), 8j]
NO_CHOICES = [None, 3, True, b"causal", ["causal"], "", "\0", "casual "]
NO_TEXTS = [None, 3, b"text", ["a"], "a\x07b", "\ud800", "x" * 3001]


@pytest.mark.parametrize("name", KNOBS)
def test_what_a_knob_cannot_be_is_refused(name):
    knob = KNOBS[name]
    for value in NO_CHOICES if knob.choices else NO_TEXTS if knob.low is None else NO_NUMBERS:
        assert_refused(name, value)


def assert_refused(name: str, value: object) -> None:
    """The config is refused with a message of one line that begins with the knob and says what is allowed."""
    with without_checks(), pytest.raises(ConfigError) as refusal:
        Config(**{name: value})
    message = str(refusal.value)
    assert message.startswith(f"{name}=")
    assert f" is not {KNOBS[name].allowed_values}. " in message
    assert message.endswith((f"The default is {DEFAULTS[name]!r}.", "?"))
    assert "\n" not in message
    assert len(message) < 500


@pytest.mark.parametrize("name", [name for name, knob in KNOBS.items() if knob.low is not None])
def test_bounds_belong_to_the_range(name):
    knob = KNOBS[name]
    step = 1 if knob.whole else 1e-9
    for bound, outside in ((knob.low, knob.low - step), (knob.high, knob.high + step)):
        check(name, bound)
        with pytest.raises(ConfigError):
            check(name, outside)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tokens": 1}, "tokens=1 is not a whole number between 2 and 65,536. The default is 18."),
        ({"tokens": 2.5}, "tokens=2.5 is not a whole number between 2 and 65,536. The default is 18."),
        ({"softcap": -1}, "softcap=-1 is not a number between 0.0 and 100.0. The default is 0.0."),
        (
            {"projections": "tie"},
            "projections='tie' is not one of: constructed, independent, tied, identity. Did you mean 'tied'?",
        ),
        ({"heads": 3}, "d_model=512: 3 heads don't divide a d_model of 512. The nearest that fits is 513."),
        ({"kv_heads": 3}, "kv_heads=3: 3 kv_heads don't divide 8 heads. The nearest that fits is 4."),
        (
            {"softcap": 1e-40},
            "softcap=1e-40: a softcap is 0 (off) or at least 0.001. The nearest that fits is 0.001.",
        ),
        ({"head": 8}, "head=8: there is no head 8 among 8 (counted from 0). The nearest that fits is 7."),
        (
            {"query": 18},
            "query=18: there is no query 18 among 18 tokens (counted from 0). The nearest that fits is 17.",
        ),
        (
            {"tokens": 65536, "d_model": 1024},
            "tokens=65536: 65,536 tokens of 1,024 channels are over the limit of 33,554,432 channels. "
            "The nearest that fits is 32768.",
        ),
    ],
    ids=str,
)
def test_an_error_names_the_knob_its_value_what_is_allowed_and_a_way_out(values, message):
    with without_checks(), pytest.raises(ConfigError) as refusal:
        Config(**values)
    assert str(refusal.value) == message


def test_a_config_error_is_a_value_error():
    assert issubclass(ConfigError, ValueError)


def test_a_config_is_frozen_and_takes_names_only():
    with pytest.raises(FrozenInstanceError):
        Config().tokens = 4  # type: ignore[misc]  the mistake that is tested
    with pytest.raises(TypeError):
        Config(8)  # type: ignore[misc]  the mistake that is tested

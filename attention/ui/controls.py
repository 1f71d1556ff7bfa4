"""The sidebar: one widget a knob, made from the knob's own line in `config.py`.

The widgets' keys are the knobs' names; their values are seeded and read by `page`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import streamlit as st

from attention.config import DEFAULTS, KNOBS, LONGEST, Config
from attention.inputs import INPUTS, SPLIT
from attention.masks import COMBINATIONS, MASKS
from attention.scores import POSITIONS, SCALES, SOFTMAXES

FIRST = ("tokens", "heads", "d_model", "mask", "span", "combine", "scale", "temperature")
RULES = {
    "mask": MASKS,
    "second": MASKS,
    "combine": COMBINATIONS,
    "scale": SCALES,
    "positions": POSITIONS,
    "softmax": SOFTMAXES,
    "input": INPUTS,
}
EVERY, STOPS = 128, 16  # up to which length every one is a stop of its slider, and how many an octave beyond
SOURCE = ("input", "text", "projections", "seed")


def draw(config: Config) -> None:
    """Every control; the five that matter most stand first."""
    for name in FIRST:
        widget(name, config)
    with st.expander("Input and projections", icon=":material/input:"):
        for name in SOURCE:
            widget(name, config)
    with st.expander("Advanced", icon=":material/tune:"):
        for name, knob in KNOBS.items():
            if knob.advanced:
                widget(name, config)


def widget(name: str, config: Config) -> None:
    """The control of one knob."""
    if name in SPECIAL:
        SPECIAL[name](config)
        return
    knob, default = KNOBS[name], DEFAULTS[name]
    if knob.choices:
        st.selectbox(knob.label, knob.choices, key=name, help=_help(name))
    elif isinstance(default, float):
        st.slider(knob.label, float(knob.low), float(knob.high), key=name, help=knob.help, step=0.05)
    else:
        st.slider(knob.label, int(knob.low), int(knob.high), key=name, help=knob.help)


BOUNDS = ("tokens", "d_model", "span")  # sliders whose stops change


def bounds(name: str, config: Config) -> tuple[int, ...]:
    """Least, greatest and step, or all stops, of one of BOUNDS; Streamlit starts it anew whenever one of them changes."""
    h = config.heads
    if name == "tokens":
        return lengths(config.tokens)
    if name == "d_model":
        return h, int(KNOBS[name].high) // h * h, h
    return 1, max(config.tokens, config.span), 1


@lru_cache(maxsize=64)
def lengths(tokens: int) -> tuple[int, ...]:
    """The stops of the sequence length: every one up to 128, then sixteen an octave, and the one that is there."""
    octaves = range(int(math.log2(EVERY)), int(math.log2(LONGEST)))
    coarse = {2**octave + step * 2**octave // STOPS for octave in octaves for step in range(STOPS)}
    return tuple(sorted({*range(2, EVERY), *coarse, LONGEST, tokens}))


def _help(name: str) -> str:
    """The knob's help and, where its choices explain themselves, a line each."""
    lines = [f"- **{choice}**: {first_line(rule)}" for choice, rule in RULES.get(name, {}).items()]
    return "\n".join([KNOBS[name].help, "", *lines])


def first_line(rule: object) -> str:
    """The first sentence of a rule's docstring."""
    if help := getattr(rule, "help", None):
        return help
    return (getattr(rule, "doc", rule).__doc__ or "").strip().splitlines()[0]


def _tokens(config: Config) -> None:
    knob = KNOBS["tokens"]
    st.select_slider(knob.label, lengths(config.tokens), key="tokens", help=knob.help, format_func="{:,}".format)


def _d_model(config: Config) -> None:
    knob = KNOBS["d_model"]
    low, high, step = bounds("d_model", config)
    st.slider(knob.label, low, high, step=step, key="d_model", help=knob.help)
    st.caption(f"d_head = d_model / heads = {config.d_head}")


def _span(config: Config) -> None:
    knob, meaning = KNOBS["span"], config.rule.span
    low, high, _ = bounds("span", config)
    help = f"{knob.help} For this mask: {meaning}." if meaning else f"{knob.help} The mask {config.rule_name} has none."
    st.slider(knob.label, low, high, key="span", help=help, disabled=not meaning)
    if meaning and config.span > config.tokens >= config.keys:
        st.caption(f"Longer than the sequence: acts as {config.tokens:,}.")


def _combine(config: Config) -> None:
    """Folded away, but a second mask that counts is named on the fold."""
    joined = config.combine != "none"
    with st.expander(f"{config.combine} {config.second}" if joined else "Second mask", icon=":material/join_inner:"):
        for name in ("combine", "second") if joined else ("combine",):
            st.selectbox(KNOBS[name].label, KNOBS[name].choices, key=name, help=_help(name))


def _text(config: Config) -> None:
    if config.input not in SPLIT:
        return
    knob = KNOBS["text"]
    st.text_area(knob.label, key="text", help=knob.help, max_chars=int(knob.high), height=90)


def _seed(config: Config) -> None:
    knob = KNOBS["seed"]
    st.number_input(knob.label, int(knob.low), int(knob.high), key="seed", help=knob.help)


def _kv_heads(config: Config) -> None:
    knob, h = KNOBS["kv_heads"], config.heads
    sizes = [0, *(n for n in range(1, h + 1) if h % n == 0)]
    names = {0: "0: one for each head", 1: "1: multi-query"}  # as fixed as the option: Streamlit compares them
    st.selectbox(knob.label, sizes, key="kv_heads", help=knob.help, format_func=lambda n: names.get(n, str(n)))


SPECIAL = {
    "tokens": _tokens,
    "d_model": _d_model,
    "combine": _combine,
    "span": _span,
    "text": _text,
    "seed": _seed,
    "kv_heads": _kv_heads,
}

"""The sidebar of a config: one widget per knob, made from the knob's definition in `knobs.py`.

The keys of the widgets are the names of the knobs; the session seeds and reads their values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attention.codec import CONFIGS, to_query
from attention.config import Config
from attention.examples import EXAMPLES
from attention.fitting import defaults, layers, position_rules, softmax_rules, training_steps
from attention.inputs import INPUTS
from attention.knobs import DEFAULTS, GENERATED, KNOBS
from attention.masks import COMBINATIONS, MASKS
from attention.models.catalogue import SHORT
from attention.operations.positions import POSITIONS
from attention.operations.rotary import ROTARY_KNOBS, SCALINGS, UNSCALED
from attention.operations.scale import SCALES
from attention.operations.softmax import SOFTMAXES
from attention.pinned import follow_layer, shown_side, sides_of
from attention.sources.providers import has_scores, idle, own_mask_label, source_title, unit
from attention.trace import bytes_of
from attention.ui import provenance
from attention.ui.controls import knobs, opening_head, own_text
from attention.ui.controls.kind import CHOSEN_WIDTH, Change, Kind, Stops
from attention.ui.controls.known_values import with_known_values
from attention.ui.controls.lengths import ends
from attention.ui.controls.reasons import why
from attention.ui.markdown import escape
from attention.ui.text import controls as text

LEADING = ("tokens", "heads", "d_model", "mask", "span", "scale")
SIZES = ("tokens", "heads", "d_model")
STEP = "training_step"
ORIGIN = ("source", "layer", STEP)
FIRST = (*LEADING, *ORIGIN)  # at first sight; the span, the layer and the training step only where there are any
RULES = {
    "mask": MASKS,
    "second": MASKS,
    "combine": COMBINATIONS,
    "scale": SCALES,
    "positions": POSITIONS,
    "rotary_scaling": SCALINGS,
    "softmax": SOFTMAXES,
    "input": INPUTS,
}
MADE = ("input", "projections", "seed")
BEFORE = (*ORIGIN, *MADE)  # the input, before mask and scale act on it
ROUND = {  # stops of sliders whose ranges are wide
    "rotary_base": (100.0, 1_000.0, 10_000.0, 100_000.0, 500_000.0, 1_000_000.0, 10_000_000.0),
    "rotary_factor": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0),
    "sigmoid_length": tuple(2**power for power in range(17)),
    "rotary_length": tuple(2**power for power in range(3, 21)),
}
ADVANCED = tuple(name for name, knob in KNOBS.items() if knob.advanced)
MORE = ("temperature", "combine", *MADE)
Ignored = Callable[[Config], Mapping[str, tuple[str, str]]]  # the value and the reason of knobs that have no effect
GENERATED_DEFAULTS = {name: DEFAULTS[name] for name, knob in KNOBS.items() if knob.about == "tensors"} | {
    name: DEFAULTS[name] for name in ("head", "query", "rows", "cols")
}
NAMES = frozenset((*FIRST, *MORE, "second", *ADVANCED))  # every knob with a widget here


def draw(
    config: Config,
    stops: Stops,
    change: Change,
    first: Sequence[str] = FIRST,
    ignored: Ignored = lambda config: {},
    on_page: Collection[str] = (),
) -> None:
    """Draws every control with its callback for changes: the `first` ones, the others in an expander, `ignored` ones disabled.

    Those `on_page` are left out: the view of the page draws them.
    """
    off, rest = ignored(config), [name for name in (*FIRST, *MORE) if name not in {*first, *on_page}]
    if config.source != GENERATED:
        st.caption(_fixed_sizes(config))
        st.button(
            text.ANY_SIZE,
            key="any size",
            icon=":material/undo:",
            help=text.ANY_SIZE_HELP,
            on_click=change,
            kwargs=GENERATED_DEFAULTS,
        )
    for name in filter(partial(shows, config), first):
        widget(name, config, stops, change, off.get(name))
    with st.expander(text.MORE, icon=":material/tune:", key="more settings"):
        _recorded_note(config, change)
        for name in (name for name in rest if name not in SIZES or shows(config, name)):
            widget(name, config, stops, change, off.get(name))
        with st.expander(text.ADVANCED, icon=":material/tune:", key="advanced settings"):
            for name in filter(partial(shows, config), ADVANCED):
                widget(name, config, stops, change)


def shows(config: Config, name: str) -> bool:
    """Whether a control is shown: the span and those of rotary positions, only where what they belong to is chosen.

    Sizes that a source fixes have no control; a line names them.
    """
    if name in SIZES:
        return not idle(name, config)
    if name == "span":
        return bool(config.rule.span)
    scaling = SCALINGS[config.rotary_scaling]
    needs = {"rotary_factor": config.rotary_scaling != UNSCALED, "rotary_length": scaling.needs_length}
    return name not in ROTARY_KNOBS or (config.positions == "rotary" and needs.get(name, True))


def _fixed_sizes(config: Config) -> str:
    """The sizes that the source fixes, in a line."""
    known = [name for name in SIZES if idle(name, config) and (name != "d_model" or has_scores(config.source))]
    sizes = ", ".join(text.SIZES[name].format(size=getattr(config, name), unit=unit(config)) for name in known)
    return text.FIXED_SIZES.format(source=escape(source_title(config.source)), sizes=sizes)


def look(config: Config) -> tuple[Any, ...]:
    """Everything that the controls show of a config, except the values of the widgets themselves."""
    off = tuple(shows(config, name) and why(name, config) for name in sorted(NAMES))
    source, sizes = (config.source, _as_recorded(config)), (config.heads, config.d_head)
    own = own_mask_label(config)
    said = provenance.full_text(config)  # of a training, with the step
    return *source, *sizes, own, said, _span_help(config), _beyond(config), _joined_masks(config), off


def widget(name: str, config: Config, stops: Stops, change: Change, off: tuple[str, str] | None = None) -> None:
    """Draws the control of one knob, or the value that is used in its place and why (`off`)."""
    if off:
        st.text_input(KNOBS[name].label, off[0], key=f"ignored {name}: {off[0]}", disabled=True, help=off[1])
    elif name in SLIDERS:
        SLIDERS[name](config, stops.get(name, ()), change)
        if name == "d_model" and has_scores(config.source):
            st.caption(_per_head(config, *stops.get(CHOSEN_WIDTH, ())))
    elif name in SPECIAL:
        SPECIAL[name](config, change)
    elif KNOBS[name].choices:
        knobs.menu(name, config, help=_help(name), on_change=change)
    else:
        knobs.slider(name, config, on_change=change)


def _help(name: str) -> str:
    """The help of the knob, with one line per choice if the choices have descriptions."""
    return help_with_rules(KNOBS[name].help, RULES.get(name, {}))


def help_with_rules(help: str, rules: Mapping[str, object]) -> str:
    """The help of a knob, with one line per choice: the description of its rule."""
    return "\n".join([help, "", *(f"- **{choice}**: {first_line(rule)}" for choice, rule in rules.items())])


def first_line(rule: object) -> str:
    """The help of a rule, or the first line of its docstring."""
    if help := getattr(rule, "help", None):
        return help
    return (getattr(rule, "doc", rule).__doc__ or "").strip().splitlines()[0]


def _tokens(config: Config, stops: tuple[int, ...], change: Change) -> None:
    knobs.stops("tokens", config, stops, format_func="{:,}".format, on_change=change)


def _d_model(config: Config, stops: tuple[int, ...], change: Change) -> None:
    if not has_scores(config.source):  # unknown if there are only weights
        return
    knobs.slider("d_model", config, stops, on_change=change)


def _per_head(config: Config, chosen: int = 0) -> str:
    """The width of a head, and why d_model is not the chosen one."""
    said, unit = vars(config) | {"d_head": config.d_head}, config.heads * config.head_softmax.halves
    return text.D_HEAD.format(**said) + (text.NO_MULTIPLE.format(chosen=chosen, unit=unit) if chosen % unit else "")


def _span(config: Config, stops: tuple[int, ...], change: Change) -> None:
    knobs.slider("span", config, stops, help=_span_help(config), on_change=change)
    if beyond := _beyond(config):
        st.caption(beyond)


def _span_help(config: Config) -> str:
    meaning = config.rule.span
    return KNOBS["span"].help + (text.OF_THIS_MASK.format(meaning=meaning) if meaning else "")


def _beyond(config: Config) -> str:
    over = config.rule.span and config.span > config.tokens >= config.keys
    return text.LONG_SPAN.format(tokens=config.tokens) if over else ""


def _mask(config: Config, change: Change) -> None:
    """Draws the menu of masks and, if two are combined, a caption with both; or the name of the mask of the source."""
    if own := own_mask_label(config):
        st.text_input(KNOBS["mask"].label, own, key=f"mask: {own}", disabled=True, help=why("mask", config))
        return
    knobs.menu("mask", config, help=_help("mask"), on_change=change)
    if joined := _joined_masks(config):
        st.caption(text.JOINED_MASKS.format(masks=joined))


def _combine(config: Config, change: Change) -> None:
    """Draws how a second mask is combined; if it is, also that mask."""
    for name in ("combine", "second") if _joined_masks(config) else ("combine",):
        knobs.menu(name, config, help=_help(name), on_change=change)


def _joined_masks(config: Config) -> str:
    return "" if config.combine == "none" else f"{config.mask} {config.combine} {config.second}"


def _source(config: Config, uploaded: tuple[str, ...], change: Change) -> None:
    offered = (*uploaded, *KNOBS["source"].choices)
    label = lambda source: SHORT.get(title := source_title(source), title)  # noqa: E731
    knobs.menu("source", config, offered, format_func=label, on_change=change)


def _recorded_note(config: Config, change: Change) -> None:
    """Says where a source that is not generated comes from, with a button that restores its recorded settings."""
    if config.source == GENERATED:
        return
    st.caption(provenance.full_text(config))
    st.button(
        text.RESTORE,
        key="as recorded",
        disabled=_as_recorded(config),
        on_click=change,
        kwargs=_own(config),
        help=text.RESTORE_HELP,
    )


def _own(config: Config) -> dict[str, Any]:
    """The knobs that act on the tensors of a source, with their recorded values."""
    acts = [name for name, knob in KNOBS.items() if knob.about == "tensors" and not idle(name, config)]
    return {
        name: value
        for name, value in defaults(config.source, config.layer).items()
        if name in acts and name not in BEFORE
    }


def _as_recorded(config: Config) -> bool:
    return config.source != GENERATED and all(getattr(config, name) == value for name, value in _own(config).items())


def _layer(config: Config, change: Change) -> None:
    if len(numbers := layers(config.source)) > 1:
        knobs.menu("layer", config, numbers, on_change=change)


def _training_step(config: Config, change: Change) -> None:
    if len(steps := training_steps(config.source)) > 1:
        knobs.stops(STEP, config, steps, format_func="{:,}".format, on_change=change)


def _seed(config: Config, change: Change) -> None:
    knobs.number("seed", config, on_change=change)


def _kv_heads(config: Config, change: Change) -> None:
    sizes = [0, *(n for n in range(1, config.heads + 1) if config.heads % n == 0)]
    knobs.menu("kv_heads", config, sizes, format_func=lambda n: text.KV_HEADS.get(n, str(n)), on_change=change)


def _positions(config: Config, change: Change) -> None:
    knobs.menu("positions", config, position_rules(config.source), help=_help("positions"), on_change=change)


def _softmax(config: Config, change: Change) -> None:
    knobs.menu("softmax", config, softmax_rules(config.source), help=_help("softmax"), on_change=change)


def _stops_with_value(name: str, stops: tuple[Any, ...], config: Config, change: Change) -> None:
    """Draws a slider over round numbers, and the value itself if it is none of them."""
    ends = sorted({*stops, getattr(config, name)})
    knobs.stops(name, config, ends, format_func="{:,.12g}".format, on_change=change)


SLIDERS = {"source": _source, "tokens": _tokens, "d_model": _d_model, "span": _span}  # knobs whose stops change
SPECIAL = {
    "mask": _mask,
    "combine": _combine,
    "layer": _layer,
    STEP: _training_step,
    "seed": _seed,
    "kv_heads": _kv_heads,
    "positions": _positions,
    "softmax": _softmax,
    **{name: partial(_stops_with_value, name, stops) for name, stops in ROUND.items()},
}


def _traceable(config: Config) -> tuple[Config, str]:
    """The shown side with as many of its tokens as are shown weight by weight, and a message if they are not all."""
    config = shown_side(config)
    shown = config.truncated
    return shown, "" if shown is config else text.CUT.format(shown=shown.tokens, tokens=config.tokens)


def _bytes(config: Config) -> int:
    """Bytes that the picture of a config takes, of both sides if it compares."""
    sides = sides_of(config)
    return bytes_of(config) + (bytes_of(sides.a) if sides else 0)


def _implied_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The other knobs that a change implies, and a message for each thing that is not possible."""
    implied, notes = own_text.implied_changes(before, now)
    return opening_head.implied_changes(before, now) | implied | follow_layer(before, now), notes


PICTURE = Kind(
    CONFIGS,
    draw,
    look,
    NAMES,
    opened=with_known_values,
    shown=_traceable,
    takes=_bytes,
    stops=ends,
    implied=_implied_changes,
    quiet=frozenset({"d_model"}),
)
SPREAD = Config(head=7, query=12)  # its row has one key with the most weight, a second one, and many with little
SCORES = replace(
    PICTURE,
    draw=partial(draw, first=("tokens", "d_model", "mask", "span", "scale", "temperature", *ORIGIN)),
    begins=to_query(SPREAD),
    is_example=True,
)
MIXED = Config(tokens=4, heads=2, d_model=4, projections="independent", seed=6)  # weights that are no zeros and ones
SMALL = replace(PICTURE, begins=to_query(MIXED), is_example=True, example_views=frozenset({"step"}))
_REAL = EXAMPLES["division"].query if "division" in EXAMPLES else {}
_FIRST_HEAD = {
    **_REAL,
    "layer": "18",
    "head": "6",
    "layer_map": "kinds",
}  # the strongest induction head of its text, which repeats
LAYERED = replace(
    PICTURE,
    draw=partial(draw, first=[name for name in FIRST if name != STEP], on_page={STEP}),
    names=NAMES - {STEP},
    begins=_FIRST_HEAD if _REAL else {},
)

"""What two sides of a comparison differ in, its buttons, and the choice of the side that a page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from attention.codec import to_query
from attention.config import Config
from attention.fitting import layers
from attention.knobs import KNOBS
from attention.pinned import Sides, differing_knobs, exchange, sides_of
from attention.settings import ConfigError
from attention.sources.providers import idle, source_title
from attention.summary import short
from attention.tables import rows as tables
from attention.ui import next_step
from attention.ui.markdown import escape
from attention.ui.session import model_run, page
from attention.ui.text import comparing as text
from attention.ui.text import model_run as run_text

NAMED = 3  # settings that differ and are named
FIRST = ("head", "source")  # named before all others: sizes follow from a source
MASKS = frozenset({"mask", "combine", "second"})  # of which one name is made
LENGTH = 40  # characters of a value that is named
LABELS = KNOBS["side"].names
TRIES = {"temperature": 4.0, "scale": "none", "mask": "full"}  # changes that are offered while both sides are equal


def tries(config: Config) -> dict[str, Any]:
    """The values of `TRIES` that differ from those of a config and have an effect."""
    return {name: value for name, value in TRIES.items() if not idle(name, config) and getattr(config, name) != value}


def draw_buttons() -> None:
    """Draws the buttons that exchange both sides and that end the comparison with one of them."""
    st.button(text.SWAP, on_click=_exchange, key="swap", icon=":material/swap_horiz:", help=text.SWAP_HELP)
    ends, icon = {"against": "", "side": "difference"}, ":material/close:"
    about_a, about_b = (text.KEEP_HELP.format(side=side) for side in "AB")
    st.button(text.KEEP_A, key="keep a", icon=icon, help=about_a, on_click=_exchange, kwargs=ends)
    st.button(text.KEEP_B, key="unpin", icon=icon, help=about_b, on_click=page.change, kwargs=ends)


def _exchange(**ends: str) -> None:
    """Makes A the current settings, and pins the others unless `ends` say that nothing is pinned."""
    try:
        page.change(**exchange(page.setting()) | ends)
    except ConfigError as error:
        page.note([str(error)])
        page.change()


def are_equal(sides: Sides) -> bool:
    """Whether both sides have the same settings and the same selected head."""
    return not differing_knobs(sides) and not (sides.heads and sides.a.head != sides.b.head)


def differences_text(sides: Sides, comparable: bool) -> str:
    """Which settings differ, with their values on both sides, as Markdown, and what that means for what is compared."""
    found = differing_knobs(sides)
    heads = {"head": sides.heads[0]} if sides.heads and sides.a.head != sides.b.head else {}
    said = _value_names(sides, heads | found)
    if not said:
        return text.SAME
    named = sorted(said.items(), key=lambda item: item[0] not in FIRST)
    a, b = (", ".join(f"{KNOBS[name].label.lower()}: {values[at]}" for name, values in named[:NAMED]) for at in (0, 1))
    more = text.MORE.format(count=len(named) - NAMED) if len(named) > NAMED else ""
    notes = []
    if (layer := model_run.equal_layers(sides.a.source, sides.b.source)) is not None:
        notes.append(run_text.EQUAL_LAYERS.format(layer=layer))
    if comparable and sides.a.heads != sides.b.heads:
        notes.append(text.ONE_HEAD.format(a=sides.a.heads, b=sides.b.heads))
    if comparable and tables.labels(sides.a) != tables.labels(sides.b):
        notes.append(text.POSITIONS)
    return " ".join([f"{text.DIFFERS.format(a=a, b=b)}{more}{'.' if notes else ''}", *notes])


def _value_names(sides: Sides, found: Mapping[str, tuple[Any, Any]]) -> dict[str, tuple[str, str]]:
    """The values of settings in words, both as Markdown; a mask that is combined with a second one is one setting."""
    said = {name: (_value(name, a), _value(name, b)) for name, (a, b) in found.items() if name not in MASKS}
    masks = sides.a.rule_name, sides.b.rule_name
    if masks[0] != masks[1] and MASKS & found.keys():
        said |= {"mask": masks}
    if "source" in said and said["source"][0] == said["source"][1]:
        said["source"] = _with_text(sides.a.source), _with_text(sides.b.source)
    return {name: (escape(a), escape(b)) for name, (a, b) in said.items()}


def _value(name: str, value: Any) -> str:
    if name == "source":
        return source_title(value)
    words = KNOBS[name].names.get(value, f"{value:,}" if isinstance(value, int) else f"{value}")
    return short(words, LENGTH) if name == "text" else words


def _with_text(source: str) -> str:
    """A run of a model with the text that it read, as two runs have one name; any other source by its title."""
    prompt, title = page.visit_state().prompts.get(source), source_title(source)
    return text.ON_TEXT.format(source=title, text=model_run.shorten(prompt.text)) if prompt else title


def choice(
    offers: Callable[[Sides], bool], otherwise: str, beside: Callable[[Sides], bool] = lambda sides: False
) -> page.Part:
    """The choice of a side as a part of a page; `offers`: whether the page has the difference of these sides.

    `otherwise`: what it says if it has none. `beside`: whether it shows both sides beside each other.
    """

    def draw(config: Config) -> None:
        if (sides := sides_of(config)) is None:
            return
        difference = offers(sides)
        with st.container(key="sides"):
            st.caption(f"{differences_text(sides, False)}{'' if difference else f' · {otherwise}'}")
        options = ["a", "b", *["difference"] * difference, *["both"] * beside(sides)]
        now = config.side if config.side in options else "b"
        key = f"side of this page: {' '.join(options)} {now}"

        def change() -> None:
            page.change(side=page.widgets().get(key) or now)

        with st.container(horizontal=True, vertical_alignment="center"):
            st.segmented_control(
                KNOBS["side"].label,
                options,
                default=now,
                format_func=LABELS.__getitem__,
                key=key,
                on_change=change,
                label_visibility="collapsed",
            )
            draw_buttons()
            next_step.page_link("heads", text.ON_HEADS, to_query(config))

    def look(config: Config) -> object:
        return (config.for_page(), config.against, config.side, config.topic) if config.against else None

    return page.Part("side", draw, look, blocks=2)


def has_layer_difference(sides: Sides) -> bool:
    """Whether both sides have the same layers with the same number of heads, so that each head has a difference."""
    return (layers(sides.a.source), sides.a.heads) == (layers(sides.b.source), sides.b.heads)

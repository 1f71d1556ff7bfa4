"""Any two statistics of all heads against each other, and heads as points for every chart that has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
import streamlit as st

from attention.analysis.head_numbers import EVERY
from attention.charts import head_points as points
from attention.charts.head_points import Axis, Point
from attention.charts.layers import CELL
from attention.charts.theme import HEADS
from attention.codec import CONFIGS
from attention.config import Config
from attention.fitting import layers
from attention.knobs import DEFAULTS
from attention.pinned import shown_side, sides_shown
from attention.sources.providers import distributes, tokens
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.markdown import escape
from attention.ui.results.layers import Layer
from attention.ui.session import gestures, page
from attention.ui.session.role_note import role_name
from attention.ui.text import comparing
from attention.ui.text import layers as text
from attention.ui.text.head_survey import NAMED_LONG
from attention.ui.views import heads_layers as maps
from attention.ui.views import questions
from attention.ui.views.head_names import head_label, head_title, heads_phrase, place_text
from attention.ui.views.known_metrics import is_rare
from attention.ui.views.pinned_sides import has_layer_difference

BOTH = {
    "across": "first",
    "upwards": "entropy",
}  # the knobs, and their values if the chosen statistic does not apply, as to a picture's patches
EARLIER = {"across": "previous", "upwards": "induction"}  # in a link that names one axis, the other is what it then was
SPREADS = (
    "previous",
    "entropy",
    "first",
)  # the x axis at first: the first of these unless the y axis has or resembles it
FOLD = "two statistics"  # the key of the expander
FEW = 150  # heads up to which all points have names if there is room
Found = Mapping[int, Layer]
Cell = tuple[int, int]  # layer, and head within it


def _draw(config: Config) -> None:
    """Draws an expander; if it is open, two menus and one point per head. It opens for a link with other statistics."""
    asked = any(getattr(config, name) != DEFAULTS[name] for name in BOTH)
    fold = st.expander(text.TWO_FOLD, asked, icon=":material/scatter_plot:", key=FOLD, on_change="rerun")
    if fold.open:
        with fold:
            _draw_points(config)


def _draw_points(config: Config) -> None:
    chosen = shown_side(config).truncated
    found = results.layers.layers(chosen)
    config = _with_known_metrics(chosen, found)
    st.markdown(
        f"{dots_sentence(config, text.LAYER)} {text.DOTS_CLICK}",
        help="\n\n".join(maps.formula(name) for name in dict.fromkeys((config.across, config.upwards))),
    )
    for name, column in zip(BOTH, st.columns(2), strict=True):
        with column:
            _axis_menu(name, config, chosen)
    x, y = (maps.cells(getattr(config, name), found) for name in BOTH)
    if x and y:
        if said := _high_sentence(config, x, y) or _highest_sentence(config, found, x, y):
            st.markdown(said)
        _points(config, found, x, y, _cells_before(config))
    else:
        st.caption(text.TWO_NONE)


def _axis_menu(name: str, config: Config, chosen: Config) -> None:
    """Draws the menu of an axis; "auto" has the name of what it shows. A choice sets the other axis to what it shows, too."""
    shown, other = getattr(config, name), next(each for each in BOTH if each != name)
    is_auto = getattr(chosen, name) == DEFAULTS[name]
    options = [DEFAULTS[name] if is_auto and each == shown else each for each in _metric_options(config)]
    label = lambda each: EVERY[shown if each == DEFAULTS[name] else each].label  # noqa: E731
    page.resend_menu(name, EVERY[shown].label)
    on_change = partial(page.change, **{other: getattr(config, other)})
    setting = chosen if is_auto else config
    knobs.menu(name, setting, options, format_func=label, on_change=on_change)


def dots_sentence(config: Config, color: str) -> str:
    """What a dot of a chart of heads is, its colour, the ring, and why some dots have no name, as Markdown."""
    focus = config.layer, config.head
    label, head = head_label(config, focus), head_title(config, focus)
    return text.DOTS.format(color=escape(color), label=label, head=head)


def _high_sentence(config: Config, x: maps.Cells, y: maps.Cells) -> str:
    """How many heads put most of their weight where each statistic says, and where both say; "" for any others.

    Statistics that are means over too few queries of the text are not counted.
    """
    known = {
        name for name in (config.across, config.upwards) if not is_rare(name, tokens(config).texts)
    } & text.KEYS.keys()
    if len(known) < 2 or not distributes(config) or questions.unsaid(config):
        return ""
    across, upwards = ({cell for cell, value in held.items() if value > maps.HIGH} for held in (x, y))
    counts = {"across": across, "upwards": upwards, "both": across & upwards}
    return text.TWO_HIGH.format(
        heads=heads_phrase(config, len(x)),
        x=text.KEYS[config.across],
        y=text.KEYS[config.upwards],
        **{name: len(cells) or text.NO_HEADS for name, cells in counts.items()},
    )


def _highest_sentence(config: Config, found: Found, x: maps.Cells, y: maps.Cells) -> str:
    """Which head has the highest value upwards, and its place across; "" if a question hides it, or if all are equal."""
    best, most = max(y.items(), key=lambda cell: cell[1])
    if questions.unsaid(config) or best not in x or most == min(y.values()):
        return ""
    labels = {axis: escape(EVERY[name].label.lower()) for axis, name in (("x", config.across), ("y", config.upwards))}
    return text.TWO_HIGHEST.format(
        best=head_title(config, best).capitalize(),
        heads=heads_phrase(config, len(y)),
        most=escape(maps.value_text(replace(config, layer_map=config.upwards), found, most)),
        place=place_text(1 + sum(value > x[best] for value in x.values()), len(x)),
        **labels,
    )


def _metric_options(config: Config) -> tuple[str, ...]:
    """The statistics that can be compared."""
    every = tokens(config).line and distributes(config)
    return tuple(EVERY) if every else tuple(maps.known_metrics(config))


def _with_axes(config: Config, found: Found) -> Config:
    """The same config with a statistic on both axes: if none is chosen, that of the map over one that spreads the heads."""
    given = {name: getattr(config, name) for name in BOTH if getattr(config, name) != DEFAULTS[name]}
    if given:
        return replace(config, **(EARLIER | given))
    shown, there = maps.number(config, found), _metric_options(config)
    alike = text.GROUPS["Spread"] if shown in text.GROUPS["Spread"] else ()
    spreads = [name for name in SPREADS if name not in alike]
    across = next(name for name in (*spreads, *there) if name in there and name != shown)
    return replace(config, across=across, upwards=shown)


def _with_known_metrics(chosen: Config, found: Found) -> Config:
    """The same config with two statistics that apply; the menus of chosen ones that don't are set to them as well."""
    config = _with_axes(chosen, found)
    there = _metric_options(config)
    other = {name: instead for name, instead in BOTH.items() if getattr(config, name) not in there}
    other = {name: instead if instead in there else "greatest" for name, instead in other.items()}
    for name, instead in other.items():
        if getattr(chosen, name) != DEFAULTS[name]:
            page.widgets()[CONFIGS.key(name)] = instead
    return replace(config, **other)


def _cells_before(config: Config) -> dict[Cell, Point]:
    """Where the points of side A are, by head, if the difference to it is shown; {} if not."""
    if (sides := sides_shown(config, "difference", has_layer_difference)) is None:
        return {}
    found = results.layers.layers(sides.a.truncated)
    x, y = (maps.cells(getattr(config, name), found) for name in BOTH)
    return {cell: (x[cell], y[cell]) for cell in x.keys() & y.keys()}


def _points(config: Config, found: Found, x: maps.Cells, y: maps.Cells, before: Mapping[Cell, Point]) -> None:
    """Draws the points of all heads, with lines from where those of side A are."""
    across, upwards = (
        points.data_axis(
            maps.metric_title(EVERY[name]),
            [*held.values(), *(point[at] for point in before.values())],
            margin,
            maps.is_share(name, config),
        )
        for at, (name, held, margin) in enumerate(((config.across, x, points.NAME), (config.upwards, y, points.MARGIN)))
    )
    color = _layer_axis(layers(config.source))
    most = {max(one, key=lambda cell: one[cell]) for one in (x, y)}
    counted = maps.cells(maps.number(config, found), found) if maps.is_weight(config, found) else {}
    most |= {cell for cell, value in counted.items() if value > maps.HIGH}
    high = {cell for one in (x, y) for cell in maps.outstanding(one)}
    drawn = table(
        config,
        found,
        {cell: (x[cell], y[cell]) for cell in x},
        lambda width, x, y: (width * across.place(x), points.HEIGHT * (1 - upwards.place(y))),
        most,
        high,
        {cell: float(cell[0]) for cell in x},
    )
    if before:
        for at, name in enumerate(("x_before", "y_before")):
            drawn = drawn.append_column(name, pa.array([before.get(cell, (x[cell], y[cell]))[at] for cell in x]))
        st.caption(comparing.ARROWS)
    st.vega_lite_chart(
        drawn,
        points.numbers(across, upwards, color, len(x), bool(before)),
        key="numbers compared",
        width="stretch",
        on_select=partial(gestures.on_layer_click, "numbers compared"),
        selection_mode=CELL,
        alt=text.TWO_ALT.format(upwards=upwards.title.lower(), across=across.title.lower()),
    )


def _layer_axis(numbers: tuple[int, ...]) -> Axis:
    """The scale of the colours of layers: one of its own for each of a few; otherwise three are in the key."""
    if len(numbers) <= len(HEADS):
        return Axis(text.LAYER, numbers[-1], numbers[0], key=tuple(map(float, numbers)), apart=True)
    key = dict.fromkeys(map(float, (numbers[0], numbers[len(numbers) // 2], numbers[-1])))
    return Axis(text.LAYER, numbers[-1], numbers[0], key=tuple(key))


def axis(config: Config, name: str, found: Found) -> Axis:
    """The scale of the colours of a statistic, with the ends that it has on the map of layers."""
    low, top = maps.ends(name, config, maps.cells(name, found))
    return Axis(EVERY[name].label, top, low, maps.is_share(name, config))


def table(
    config: Config,
    found: Found,
    places: Mapping[Cell, Point],
    at: Callable[[int, float, float], Point],
    named: Collection[Cell] = (),
    others: Collection[Cell] = (),
    colors: Mapping[Cell, float] | None = None,
) -> pa.Table:
    """The points of heads. If there is room, the selected one has a name, then those in `named`, in `others`, and all others,
    unless there are many heads.

    `at(width, x, y)`: the position of a point in pixels, in a chart of this width. `colors`: if none, those of the map of layers.
    """
    focus = config.layer, config.head
    colors = maps.cells(maps.number(config, found), found) if colors is None else colors
    order = {cell: at for at, cell in enumerate(places)}
    first = [cell for cell in dict.fromkeys((focus, *sorted(named), *sorted(others))) if cell in order]
    names = [head_label(config, cell) if len(places) <= FEW or cell in first else "" for cell in places]
    beside = points.beside(
        names,
        [order[cell] for cell in first],
        lambda width: [at(width, x, y) for x, y in places.values()],
    )
    unsaid = questions.unsaid(config)
    columns: dict[str, list[Any]] = {
        "layer": [layer for layer, _ in places],
        "head": [head for _, head in places],
        "x": [x for x, _ in places.values()],
        "y": [y for _, y in places.values()],
        "value": [colors.get(cell, 0.0) for cell in places],
        "does": ["" if unsaid else does(config, found, cell) for cell in places],
        "named": names,
        "room": [each.room for each in beside],
        "left": [each.left for each in beside],
        "focus": [cell == focus for cell in places],
        "turn": [page.visit_state().turns] * len(places),
    }
    return pa.table(columns)


def does(config: Config, found: Found, cell: Cell) -> str:
    """What a head does, in one or two words, and for a real model how often."""
    role = found[cell[0]].roles[cell[1]]
    return role_name(config, *cell, role, NAMED_LONG) if role else text.NO_ROLE_NAME


def view_inputs(config: Config) -> object:
    """The inputs of every part of the page; None while a question hides the heads."""
    shown = shown_side(config).truncated
    return (
        None if questions.is_hidden(shown) else (shown.for_page(), shown.head, shown.layer_map, questions.unsaid(shown))
    )


def look_of_several(config: Config) -> object:
    """The inputs of a part that compares heads; None for one layer, whose heads stand side by side on Heads."""
    return view_inputs(config) if len(layers(config.source)) > 1 else None


def _look(config: Config) -> object:
    looks = look_of_several(config)
    return looks and (looks, config.across, config.upwards, config.against, config.side)


COMPARED = page.Part("numbers compared", _draw, _look, frozenset(BOTH))

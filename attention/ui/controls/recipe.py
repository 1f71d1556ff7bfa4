"""The sidebar of the Training page: one widget per knob, made from its definition in `training/recipe.py`."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attention.masks import MASKS
from attention.operations.scale import SCALES
from attention.operations.softmax import TRAINABLE
from attention.training.recipe import PLACES, RECIPES, WIDEST, Recipe
from attention.training.tasks import TASKS
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops
from attention.ui.controls.picture import help_with_rules
from attention.ui.text import controls as text

OFFERED: dict[str, tuple[Any, ...]] = {
    "steps": (100, 200, 400, 600, 800, 1000, 1500, 2000, 3000),
    "rate": (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
}
WIDTHS = (1, 2, 4, 8, 16, 24, 32, 64)  # channels per head
RULES = {"positions": PLACES, "mask": MASKS, "scale": SCALES, "softmax": TRAINABLE}
FIRST = ("task", "layers", "heads", "d_model", "steps", "rate")
MORE = ("positions", "scale", "seed", "mask", "span", "softmax", "qk_norm", "gate")
NAMES = frozenset((*FIRST, *MORE))


def draw(recipe: Recipe, stops: Stops, change: Change) -> None:
    """Draws every control with its callback for changes; the most important ones come first."""
    for name in FIRST:
        _widget(name, recipe, change)
    with st.expander(text.MORE, icon=":material/tune:", key="more settings"):
        for name in MORE:
            _widget(name, recipe, change)


def look(recipe: Recipe) -> tuple[Any, ...]:
    """Everything that the controls show of a recipe, except the values of the widgets themselves."""
    return *(_slider_stops(name, recipe) for name in ("steps", "rate", "d_model")), bool(recipe.rule.span)


def _widget(name: str, recipe: Recipe, change: Change) -> None:
    if name in ("steps", "rate", "d_model"):
        knobs.stops(name, recipe, _slider_stops(name, recipe), format_func="{:,}".format, on_change=change)
    elif name == "task":
        lines = [RECIPES.knobs[name].help, "", *(f"- **{each}**: {task.says}" for each, task in TASKS.items())]
        knobs.menu(name, recipe, format_func=str.capitalize, help="\n".join(lines), on_change=change)
    elif RECIPES.knobs[name].choices:
        help = help_with_rules(RECIPES.knobs[name].help, RULES.get(name, {}))
        knobs.menu(name, recipe, help=help, on_change=change)
    elif name == "seed":
        knobs.number(name, recipe, on_change=change)
    else:
        knobs.slider(name, recipe, on_change=change)


def _slider_stops(name: str, recipe: Recipe) -> tuple[Any, ...]:
    """The stops of a slider, including the value of the recipe."""
    usual = OFFERED.get(name) or tuple(width * recipe.heads for width in WIDTHS if 8 <= width * recipe.heads <= WIDEST)
    return tuple(sorted({*usual, getattr(recipe, name)}))


RECIPE = Kind(RECIPES, draw, look, NAMES)

"""The map of all layers and heads on Heads, in an expander."""

from __future__ import annotations

import streamlit as st

from attention.analysis.head_numbers import EVERY
from attention.codec import to_query
from attention.config import Config
from attention.fitting import layers
from attention.ui import next_step, provenance, results
from attention.ui.session import page
from attention.ui.text import heads
from attention.ui.views import heads_layers as maps
from attention.ui.views import heads_parts as parts
from attention.ui.views import questions

SHOWN = frozenset({"layer_map"})
FOLD = "heads of all layers"  # key of the expander


def _draw(config: Config) -> None:
    """Draws the map next to its menu, a sentence about it, and where the heads come from, if the expander is open."""
    fold = parts.fold(heads.MAP_FOLD, "layers", FOLD, config.layer_map in EVERY)
    if fold.open:
        with fold:
            _draw_open(config)


def _draw_open(config: Config) -> None:
    found = results.layers.layers(config)
    st.markdown(heads.MAP.format(formula=maps.formula(maps.number(config, found))))
    left, right = parts.beside()
    with left:
        maps.draw_map(config, found)
    with right:
        maps.menu(config, config)
        if not questions.unsaid(config):
            st.caption(maps.metric_sentence(config, found))
        st.caption(provenance.full_text(config))
        next_step.page_link("layers", heads.TO_LAYERS, next_step.layers_query(to_query(config)))


def _look(config: Config) -> object:
    """The inputs of the map; None for one layer, a sequence too long for a trace, or heads that a question hides."""
    if len(layers(config.source)) < 2 or config.truncated is not config or questions.is_hidden(config):
        return None
    return config.for_page(), config.head, config.layer_map, questions.unsaid(config)


MAP = page.Part("layers of heads", _draw, _look, SHOWN, blocks=3)

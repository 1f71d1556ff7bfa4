"""Softmax: how one row is computed, all rows, why scores are divided, the effect of number types, and positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention.analysis.row_stages import LOGIT, symbols
from attention.components.score_bars import form
from attention.config import Config
from attention.number_format import format_mean, format_percent, format_token, format_weight
from attention.operations.mask import ADDED
from attention.operations.query_scale import SYMBOL
from attention.operations.scale import scale_term
from attention.operations.softmax import normaliser_name, row_sums
from attention.operations.table import score_term
from attention.pinned import sides_shown
from attention.sources.providers import distributes, has_scores
from attention.sources.spec import spec_of
from attention.tables import rows as tables
from attention.ui import proof, provenance, results
from attention.ui.controls import knobs
from attention.ui.empty_states import missing_parts
from attention.ui.heading import reserve_finding, title_part
from attention.ui.markdown import escape
from attention.ui.session import page, present
from attention.ui.text import softmax as text
from attention.ui.text import terms
from attention.ui.views import (
    focus,
    heads_parts,
    questions,
    softmax_all,
    softmax_changed,
    softmax_positions,
    softmax_precision,
    softmax_questions,
    softmax_row,
    softmax_scaling,
)

TOPICS = {
    "row": softmax_row.draw,
    "all": softmax_all.draw,
    "scaling": softmax_scaling.draw,
    "precision": softmax_precision.draw,
    "positions": softmax_positions.draw,
}
PROVED = ("row", "all")  # the others show noise, rounded numbers or formulas, which PyTorch's weights say nothing about
FOR_ENGINEERS = ("precision", "positions")  # behind one button
FOCUSED = {
    "row": (),  # below its bars
    "all": (),  # below its charts
    "scaling": (),
    "precision": ("head", "dtype", "exponent"),
    "positions": (),
}


def view(config: Config) -> None:
    """The page of a config; while a question is asked, everything else is hidden until it is opened."""
    place = reserve_finding()  # filled after the pictures, which the user waits for
    own = {"row": softmax_questions.share_opened} if has_scores(config.source) else {}
    if questions.question_closes(config, **own):
        place.markdown(_finding(config, "all"))
        return
    sides = sides_shown(config, "difference", softmax_changed.has_difference)
    with st.container(key="topic-and-picture"):  # a phone has the bars of a row first
        if not present.is_embedded():
            _topics(config)
        if sides:
            softmax_changed.draw(sides)
        elif config.topic == "all" or not missing_parts(config, text.TOPICS[config.topic], "q", "k"):
            if not present.is_embedded():
                _choices(config)
            TOPICS[config.topic](results.heads.trace(config))
    _foot(config)
    if questions.unsaid(config):
        place.markdown(_finding(config, "all"))
        return
    changed = softmax_changed.finding(sides) if sides else softmax_all.finding(config) if config.topic == "all" else ""
    place.markdown(changed or _finding(config, config.topic))


def _topics(config: Config) -> None:
    """Draws the choice of what is shown; what is for engineers is one choice, with a second line for its topics."""
    chosen = config.topic if config.topic in FOR_ENGINEERS else FOR_ENGINEERS[0]
    labels = text.TOPICS | {chosen: text.FOR_ENGINEERS}
    offered = (*(name for name in TOPICS if name not in FOR_ENGINEERS), chosen)
    knobs.segments("topic", config, options=offered, format_func=labels.get, label_visibility="collapsed")
    if config.topic not in FOR_ENGINEERS:
        return
    with st.container(horizontal=True, key="engineers"):
        for name in FOR_ENGINEERS:
            kind = "primary" if name == config.topic else "secondary"
            st.button(text.TOPICS[name], key=f"topic {name}", type=kind, on_click=page.change, kwargs={"topic": name})


def _logits(config: Config, half: str = "") -> str:
    """The formula of the logits, as set; `half`: the index of queries and keys of one of two softmaxes."""
    spec, (q, k) = replace(spec_of(config), masks=True), symbols(config)
    words = {
        SYMBOL: r"\ln(\mathrm{visible\ keys})",
        "b_j": r"\mathrm{bias}",
        ADDED: r"\mathrm{mask}",
        "c": f"{config.softcap:g}",
    }
    return score_term(
        spec,
        scale_term(spec, rf"{q}{half} {k}{half}^\top", inline=True),
        lambda symbol: words.get(symbol, symbol),
    )


def _weights(config: Config) -> str:
    """The formula of the weights."""
    softmax = config.head_softmax
    if softmax.halves > 1:
        first, second = (_logits(config, at) for at in ("_1", "_2"))
        factor = rf"{config.diff_lambda:g}\, \mathrm{{softmax}}"
        return rf"\mathrm{{weights}} = \mathrm{{softmax}}({first}) - {factor}({second})"
    if softmax.sums_to_one and not softmax.operand:
        return rf"\mathrm{{weights}} = \mathrm{{softmax}}({_logits(config)})"
    return rf"\mathrm{{weights}} = {softmax.formula(LOGIT, 'i')},\ \ell = {_logits(config)}"


def _help(config: Config) -> str:
    """The formula of the weights with its numbers, and where these come from."""
    if not has_scores(config.source):
        return provenance.full_text(config)
    here = text.HELP.format(
        name=normaliser_name(config.softmax).capitalize(),
        formula=_weights(config),
        scale=escape(config.scale),
        temperature=f"{config.temperature:g}",
        d_head=config.d_head,
    )
    return f"{here} {provenance.full_text(config)}"


def _finding(config: Config, topic: str) -> str:
    """What a topic shows, or that nothing before the weights is known."""
    if not has_scores(config.source):
        return text.NO_SCORES
    sums = row_sums(config.softmax, results.heads.fully_masked(config), config.tokens)
    return (
        _row_finding(config)
        if topic == "row"
        else text.FINDINGS[topic].format(
            sums=sums,
            name=normaliser_name(config.softmax).capitalize(),
            signs=text.SIGNS[config.head_softmax.signed],
        )
    )


def _row_finding(config: Config) -> str:
    """What holds of the selected row whichever of its scores is dragged; where none can be, which key has most of it."""
    found = tables.row(results.heads.trace(config))
    query = escape(format_token(found.label, found.query, "Query"))
    if not found.seeing:
        return text.BLIND.format(query=query)
    softmax = config.head_softmax
    if softmax.halves == 1:
        how, name = form(softmax), normaliser_name(config.softmax).capitalize()
        rule = text.RULES["sink" if how["kind"] == "softmax" and how["sink"] is not None else how["kind"]]
        return text.ROW.format(name=name, query=escape(format_token(found.label, found.query, "query")), rule=rule)
    at, names = found.keys["weight"].index(max(found.keys["weight"])), tables.key_labels(config)
    key = escape(format_token(names[at] if names else "", at, "key"))
    who = {"query": query, "key": key, "head": found.head}
    if not distributes(config):
        sums = format_mean(math.fsum(found.keys["weight"]))
        return text.ROW_ALONE.format(**who, weight=format_weight(found.greatest), sums=sums)
    return text.ROW_FIXED.format(**who, weight=format_percent(found.greatest))


def _foot(config: Config) -> None:
    """Draws the proof of the picture if it shows the weights that are compared, and the terms of the page."""
    if config.topic in PROVED:
        proof.badge(config)
    if not present.is_embedded() and has_scores(config.source):
        terms.draw("softmax")


def _choices(config: Config) -> None:
    names = FOCUSED[config.topic]
    if not names:
        return
    for name, column in zip(names, st.columns([1, 1.3, 1.7]), strict=False):
        with column:
            CHOICES[name](config)


def _segmented_control(name: str) -> Callable[[Config], None]:
    """Returns a function that draws every choice of a knob in a segmented control."""
    return lambda config: knobs.segments(name, config)


CHOICES = {"head": focus.head, "query": focus.query} | {
    name: _segmented_control(name) for name in ("order", "dtype", "exponent")
}


def _beside(config: Config) -> str:
    """The badge beside the title: the curves of scaling are of noise; a head is named only if it alone is shown."""
    if config.topic == "scaling":
        return f":orange-badge[{text.NOISE}]"
    return provenance.beside(config) if config.topic == "all" else heads_parts.badge(config)


TITLE = title_part("softmax", _help, _beside)

"""The steps of Start: look at the weights, weigh the scores, and combine the values, which is in `start_combine`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st
import torch

from attention.codec import to_query
from attention.config import Config
from attention.number_format import format_change, format_percent
from attention.recorded.models import GOES_ON
from attention.story.head import (
    LAYER,
    SENTENCES,
    heads_that_find,
    strongest_pair,
)
from attention.story.settings import STORIES, WORD, Story
from attention.trace import Trace
from attention.ui import next_step, results
from attention.ui.controls import knobs
from attention.ui.markdown import join_words
from attention.ui.session import model_run, page
from attention.ui.text import heads
from attention.ui.text import start as text
from attention.ui.views import card_bar, start_combine, unscaled
from attention.ui.views.start_combine import draw_strips
from attention.ui.views.start_scores import (
    as_recorded,
    is_of_the_story,
    largest_score,
    scores_table,
    selected_row,
    token_label,
    token_name,
    visible_keys,
)

HALF = 0.5
SATURATED = 0.99  # largest weight from which on a softmax is called saturated


def draw_choice(story: Story, config: Config) -> None:
    """Draws the choice of a step, with the way to the next one beside it, or after the last to all heads; a card has its own."""
    with st.container(horizontal=True, vertical_alignment="center", key="story-steps"):
        knobs.segments(
            "step",
            story,
            format_func=_step_label,
            on_change=page.change,
            label_visibility="collapsed",
        )
        following = {"look": "weigh", "weigh": "take over"}.get(story.step)
        if card_bar.has_next():  # whose button is the one to press
            return
        if following:
            _next_button(following)
        else:
            with st.container(key="story-onward", width="content"):
                next_step.page_link("heads", text.ONWARD, model_run.carry(to_query(config)), ":material/arrow_forward:")


def _step_label(name: str) -> str:
    """The name of a step, with its number unless a card of the path has its own."""
    step = text.STEPS[name]
    return step if card_bar.has_next() else text.NUMBERED.format(number=[*text.STEPS].index(name) + 1, step=step)


def draw(story: Story, trace: Trace) -> None:
    """Draws the selected step; a narrow window shows its first parts above the picture, the others below it."""
    for key, parts in zip(("story-first", "story-why"), STEPS[story.step], strict=True):
        if parts:
            with st.container(key=key, gap="small" if story.step == "look" else "xsmall"):
                for part in parts:
                    part(story, trace)


def finding(story: Story, trace: Trace) -> str:
    """What the selected row shows, in a sentence that follows the step."""
    row, query = selected_row(trace), trace.config.query_index
    name = token_name(trace, query)
    if not float(row.sum()):
        return text.NOTHING.format(query=name)
    step = "look" if card_bar.is_waiting() else story.step
    if step == "take over" and (said := start_combine.finding(story, trace)):
        return said
    most = int(row.argmax())
    said = text.FINDING if most != query else text.ITSELF
    if float(row[most]) < HALF:
        said = text.MOST if most != query else text.MOST_ITSELF
    changed = text.AT_TEMPERATURE.format(temperature=f"{story.temperature:g}") if story.changes("temperature") else ""
    score = ""
    if step == "weigh":
        said = text.WEIGHED if most != query else text.WEIGHED_ITSELF
        score = "" if changed else text.SCORED.format(score=format_change(largest_score(trace), plus=False, places=2))
    if step == "take over":
        said = text.TAKES if most != query else text.TAKES_ITSELF
    weight = format_percent(float(row[most]))
    visible = "" if bool(visible_keys(trace).all()) else text.VISIBLE
    return said.format(
        query=name, key=token_name(trace, most), weight=weight, score=score, temperature=changed, visible=visible
    )


def _look(story: Story, trace: Trace) -> None:
    st.markdown(text.LOOK.format(tokens=_mixed_tokens(trace)))


def _mixed_tokens(trace: Trace) -> str:
    return text.ALL_TOKENS if bool(trace.mask.all()) else text.VISIBLE_TOKENS


def _compare(story: Story, trace: Trace) -> None:
    """Draws what a row is, what to try, how the model was trained, and that other heads do not do the same."""
    parts = any(token.startswith(GOES_ON) for token in trace.queries.texts)
    st.markdown(
        text.TOKENS
        + (text.OWN_PARTS.format(mark=GOES_ON) if parts else "")
        + (text.ROWS.format(tokens=_mixed_tokens(trace)) if float(selected_row(trace).sum()) else "")
    )
    if story.is_own:
        if story.changes("mask"):
            st.markdown(_mask_text(story, trace.config))
        if why := _why_first(story, trace):
            st.markdown(why)
        st.markdown(text.OWN_LOOK)
        st.caption(text.OWN_IN_LINK)
        return
    if card_bar.is_waiting():  # whose question it would be
        st.caption(text.TRAINED)
        return
    asked = text.COMPARE if is_of_the_story(story, trace.config.query_index) else text.BACK_TO
    st.markdown(_altered_text(story, trace) if story.altered else asked.format(word=story.shipped.about))
    st.caption(f"{text.TRAINED} {_expected_sentence(story)}")


def _altered_text(story: Story, trace: Trace) -> str:
    """What a changed mask does, and what the selected row shows with the model's own settings."""
    own = {name: STORIES.defaults[name] for name in ("mask", "span", "scale", "temperature")}
    row = selected_row(results.heads.trace(replace(story, **own).config))
    most = int(row.argmax())
    mask = _mask_text(story, trace.config) if story.changes("mask") else ""
    named = {"query": token_name(trace, trace.config.query_index), "key": token_name(trace, most)}
    return mask + text.AS_TRAINED.format(weight=format_percent(float(row[most])), **named)


def _mask_text(story: Story, config: Config) -> str:
    """What a query attends to under the mask, and what that means for a sentence without padding or further documents."""
    as_if = text.AS_IF.get(story.mask, "").format(span=config.span)
    return heads.MASK.format(mask=story.mask, help=config.rule.help) + as_if


def first_pair(config: Config) -> tuple[int, int] | None:
    """The largest weight of one word on a different one, with the model's own settings; None if no two words differ.

    Its query is the token that is selected at first in the visitor's own sentence.
    """
    found = results.heads.trace(Config.of(config.source, layer=LAYER, head=config.head))
    return strongest_pair(found.weights[config.head], found.queries.texts)


def _why_first(story: Story, trace: Trace) -> str:
    """Why a token of the visitor's own sentence is selected at first; "" once another one is."""
    pair = first_pair(trace.config) if story.query == WORD else None
    if not pair:
        return ""
    query, key = (token_name(trace, at) for at in pair)
    return as_recorded(story, text.OWN_FIRST.format(query=query, key=key))


def _expected_sentence(story: Story) -> str:
    """That no other head does the same in both sentences."""
    here = story.shipped
    other = next(sentence for sentence in SENTENCES.values() if sentence != here)
    named = {"word": here.about, "expected": here.expected, "other": other.expected}
    return as_recorded(story, text.EXPECTED.format(**named, heads=heads_that_find().heads))


def _define(story: Story, trace: Trace) -> None:
    """Draws what a query and a key are, with the products of the pair that has the largest weight."""
    config, row = trace.config, selected_row(trace)
    st.markdown(text.WEIGH.format(d_head=config.d_head), help=text.STRIPS_HELP)
    if float(row.sum()) and not card_bar.is_waiting():
        _draw_products(trace, int(row.argmax()))


def _draw_products(trace: Trace, key: int) -> None:
    """Draws the selected query, a key and their products, channel by channel."""
    head, at = trace.config.head, trace.config.query_index
    query, other = trace.q[head, at], trace.k[head, key]
    most, products = float(torch.cat((query, other)).abs().max()), query * other
    vectors = {
        text.QUERY_ROW.format(token=token_label(trace, at)): (query, most),
        text.KEY_ROW.format(token=token_label(trace, key)): (other, most),
        text.PRODUCTS_ROW: (products, float(products.abs().max())),
    }
    alt = text.PRODUCTS_ALT.format(sum=format_change(float(products.sum()), plus=False, places=2))
    draw_strips("products", vectors, alt)


def _score(story: Story, trace: Trace) -> None:
    """Draws how a score and a weight follow, with the numbers of the largest weights of the row."""
    scaling = text.SCALING[trace.config.scale].format(d_head=trace.config.d_head)
    masked = "" if bool(visible_keys(trace).all()) else text.MASKED
    st.markdown(text.SCORED_BY.format(scaling=scaling, softmax=text.SOFTMAX) + masked)
    _draw_table(story, trace)


def _draw_scales(story: Story, trace: Trace) -> None:
    """Draws the choice of a scale with the largest weight of the row at each, and why scores are divided by √d_head."""
    d_head, visible = trace.config.d_head, int(visible_keys(trace).sum())
    names = {scale: name.format(d_head=d_head) for scale, name in text.SCALES.items()}
    weights = {scale: _largest_weight(replace(trace.config, scale=scale)) for scale in names}
    hides, uniform = card_bar.is_waiting() or not visible, format_percent(1 / max(visible, 1))
    if visible:
        st.markdown((text.ROW if hides else text.LARGEST).format(visible=visible, uniform=uniform))
    with st.container(horizontal=True, gap="small", key="scales"):
        for scale, name in names.items():
            label = name if hides else text.SCALE_EFFECT.format(scale=name, weight=format_percent(weights[scale]))
            st.button(
                label,
                on_click=page.change,
                kwargs={"scale": scale},
                key=f"scale {scale}",
                type="primary" if scale == story.scale else "secondary",
            )
    with st.expander(text.WHY.format(d_head=d_head)):
        effects = "" if hides else _saturation(names, weights, visible)
        st.markdown(
            text.WHY_ROOT.format(d_head=d_head, root=d_head**0.5) + effects, help=text.DERIVATIVE if effects else None
        )
        unscaled.link(trace.config)


def _draw_table(story: Story, trace: Trace) -> None:
    """Draws the numbers of the largest weights of the row."""
    if bool(visible_keys(trace).any()) and not card_bar.is_waiting():
        with st.container(key="scores"):
            st.markdown(scores_table(story, trace))


def _sharpen(story: Story, trace: Trace) -> None:
    """Draws the choice of a temperature."""
    st.markdown(text.SHARPEN)
    with st.container(horizontal=True, key="temperatures"):
        effects = text.TEMPERATURES | (text.UNCHANGED if story.changes("mask", "scale") else {})
        for temperature, effect in effects.items():
            st.button(
                f"{temperature:g}{'' if card_bar.is_waiting() else effect}",
                on_click=page.change,
                kwargs={"temperature": temperature},
                key=f"temperature {temperature:g}",
                type="primary" if temperature == story.temperature else "secondary",
            )


def _largest_weight(config: Config) -> float:
    return float(selected_row(results.heads.trace(config)).max())


def _saturation(names: dict[str, str], weights: dict[str, float], visible: int) -> str:
    """At which scales the row is saturated; "" if at none, or if a single key has all of the weight anyway."""
    saturated = join_words([names[scale] for scale, weight in weights.items() if weight >= SATURATED])
    return text.SATURATED.format(scales=saturated) if saturated and visible > 1 else ""


def _next_button(step: str) -> None:
    st.button(
        text.NEXT[step],
        on_click=page.change,
        kwargs={"step": step},
        key=f"next {step}",
        type="primary",
        icon=":material/arrow_forward:",
    )


Part = Callable[[Story, Trace], None]
STEPS: dict[str, tuple[tuple[Part, ...], tuple[Part, ...]]] = {
    "look": ((_look,), (_compare,)),
    "weigh": ((_define,), (_score, _draw_scales, _sharpen)),
    "take over": ((start_combine.draw_mix,), (start_combine.draw_moves,)),
}

"""The three steps of Start: look at the weights, weigh the scores, and combine the values into what the word becomes.

The third compares vectors: those recorded for the sentences that ship, or those that MiniLM computed for the visitor's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from math import ceil, floor
from typing import Any

import pyarrow as pa
import streamlit as st

from attention.charts import moves as charts
from attention.codec import to_query
from attention.config import Config
from attention.number_format import format_change, format_percent
from attention.recorded.models import GOES_ON
from attention.story.head import (
    LAYER,
    SENTENCES,
    Move,
    heads_that_find_both,
    moves,
    moves_within,
    strongest_pair,
    vectors,
)
from attention.story.settings import STORIES, WORD, Story
from attention.trace import Trace
from attention.ui import next_step, results
from attention.ui.controls import knobs
from attention.ui.markdown import join_words
from attention.ui.session import model_run, own_sentence, page
from attention.ui.text import heads, terms
from attention.ui.text import start as text
from attention.ui.views import card_bar
from attention.ui.views.start_scores import is_readable, scores_table, selected_row, token_name, visible_keys

LEAST_SHARE = 0.04  # of the weight of a row: smaller ones are one part of the bar
HALF = 0.5
LEAST = 0.005  # change of a cosine that says something; below it are changes that any head makes


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
            with st.container(key=key, gap="xsmall" if story.step == "take over" else "small"):
                for part in parts:
                    part(story, trace)


def finding(story: Story, trace: Trace) -> str:
    """What the selected row shows, in a sentence that follows the step."""
    row, query = selected_row(trace), trace.config.query_index
    name = token_name(trace, query)
    if not float(row.sum()):
        return text.NOTHING.format(query=name)
    step = "look" if card_bar.is_waiting() else story.step
    if step == "take over" and _is_of_the_story(story, query):
        return _move_finding(_moves(story, trace), name, bool(story.altered))
    most = int(row.argmax())
    said = text.FINDING if most != query else text.ITSELF
    if float(row[most]) < HALF:
        said = text.MOST if most != query else text.MOST_ITSELF
    if step == "weigh":
        said = text.WEIGHED if most != query else text.WEIGHED_ITSELF
    if step == "take over":
        said = text.TAKES if most != query else text.TAKES_ITSELF
    changed = text.AT_TEMPERATURE.format(temperature=f"{story.temperature:g}") if story.changes("temperature") else ""
    weight = format_percent(float(row[most]))
    visible = "" if bool(visible_keys(trace).all()) else text.VISIBLE
    return said.format(query=name, key=token_name(trace, most), weight=weight, temperature=changed, visible=visible)


def _move_finding(found: list[Move], query: str, is_altered: bool) -> str:
    """How this head moves the selected token, by default or with other settings than the model's own."""
    closer, change = _most_towards(found)
    template = text.MOVES if change >= LEAST else text.MOVES_AWAY if change < 0 else text.MOVES_LITTLE
    said = template.format(query=query, closer=closer, change=format_change(change, plus=False, places=3))
    return text.WITH_SETTINGS.format(said=said) if is_altered else f"{said[0].upper()}{said[1:]}"


def _most_towards(found: list[Move]) -> tuple[str, float]:
    """The word that the head moves the token towards most, and the change of the cosine, rounded as the bars are labelled."""
    closer = max(found, key=lambda move: move.change)
    return closer.word, round(closer.change, 3)


def _as_recorded(story: Story, said: str) -> str:
    """A sentence that is true of the model's own settings, which it names once these are changed."""
    return text.AS_RECORDED.format(said=said) if story.altered else said


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
        if why := _why_first(story, trace):
            st.markdown(why)
        st.markdown(text.OWN_LOOK)
        st.caption(text.OWN_IN_LINK)
        return
    if card_bar.is_waiting():  # whose question it would be
        st.caption(text.TRAINED)
        return
    asked = text.COMPARE if _is_of_the_story(story, trace.config.query_index) else text.BACK_TO
    st.markdown(_altered_text(story, trace) if story.altered else asked.format(word=story.shipped.about))
    st.caption(f"{text.TRAINED} {_expected_sentence(story)}")


def _altered_text(story: Story, trace: Trace) -> str:
    """What a changed mask does, and what the selected row shows with the model's own settings."""
    own = {name: STORIES.defaults[name] for name in ("mask", "span", "scale", "temperature")}
    row = selected_row(results.heads.trace(replace(story, **own).config))
    most = int(row.argmax())
    mask = heads.MASK.format(mask=story.mask, help=trace.config.rule.help) if story.changes("mask") else ""
    named = {"query": token_name(trace, trace.config.query_index), "key": token_name(trace, most)}
    return mask + text.AS_TRAINED.format(weight=format_percent(float(row[most])), **named)


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
    return _as_recorded(story, text.OWN_FIRST.format(query=query, key=key))


def _expected_sentence(story: Story) -> str:
    """How many heads do the same in both sentences."""
    here = story.shipped
    other = next(sentence for sentence in SENTENCES.values() if sentence != here)
    named = {"word": here.about, "expected": here.expected, "other": other.expected}
    return _as_recorded(story, text.EXPECTED.format(**named, **head_counts()))


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


def _weigh(story: Story, trace: Trace) -> None:
    """Draws how weights come about, with the largest ones of the row."""
    visible = int(visible_keys(trace).sum())
    scaling = text.SCALING[trace.config.scale].format(d_head=trace.config.d_head)
    softmax = text.SOFTMAX if visible and is_readable(trace) else text.SOFTMAX_LARGE
    masked = "" if bool(visible_keys(trace).all()) else text.MASKED
    st.markdown(text.WEIGH.format(scaling=scaling, softmax=softmax) + masked)
    if visible:
        if not card_bar.is_waiting():
            with st.container(key="scores"):
                st.markdown(scores_table(story, trace))
        st.caption(text.ROW.format(visible=visible, uniform=format_percent(1 / visible)))


def _moves(story: Story, trace: Trace) -> list[Move]:
    """How the selected token moves towards other words; empty if the visitor's own sentence has none."""
    row, query = selected_row(trace), trace.config.query_index
    if _is_of_the_story(story, query):
        return moves(story.sentence, query, row)
    found = own_sentence.vectors_of(story) if story.is_own else vectors(story.sentence)
    return [] if found is None else moves_within(found, query, row, trace.queries.texts)


def _is_of_the_story(story: Story, query: int) -> bool:
    """Whether a token is the word that both sentences have, which is compared with words of both."""
    return not story.is_own and query == story.shipped.word


def _combine(story: Story, trace: Trace) -> None:
    """Draws how the selected token moves towards others, if it is compared with any."""
    if found := _moves(story, trace):
        _take_over(story, trace, found)
        _after_layers(story, found)
    else:
        _not_compared(story, trace)


def _take_over(story: Story, trace: Trace, found: list[Move]) -> None:
    """Draws how this head moves the selected token."""
    query, is_story = token_name(trace, trace.config.query_index), _is_of_the_story(story, trace.config.query_index)
    here = join_words([f"“{move.word}”" for move in found if move.sentence == story.sentence])
    asked = text.COMBINED.format(query=query, here=here) if is_story else text.WITHIN.format(query=query)
    st.markdown(asked + text.COSINE, help=text.AS_READ if is_story else text.WITHIN_AS_READ)
    _draw_step(found, "" if is_story else _move_sentence(found) + _not_towards(trace, found))


def _not_towards(trace: Trace, found: list[Move]) -> str:
    """That the word with the largest weight is not the one that the token moves towards; "" if it is, or is no word."""
    key = trace.queries.texts[int(selected_row(trace).argmax())]
    closer, change = _most_towards(found)
    away = {move.word for move in found if move.word != closer}
    return text.NOT_TOWARDS.format(key=key) if key in away and change >= LEAST else ""


def _draw_step(found: list[Move], said: str) -> None:
    """Draws the small step of this head, on an axis of its own, below what is said of it unless the headline has that."""
    most = max(charts.LEAST, ceil(50 * max(abs(move.change) for move in found)) / 50)
    rows = [{"word": move.word, "change": round(move.change, 3), "label": _change_text(move)} for move in found]
    chart = charts.by_head(tuple(move.word for move in found), most)
    if said:
        st.markdown(said)
    _draw_chart("head-step", rows, chart, text.STEP_ALT)


def _after_layers(story: Story, found: list[Move]) -> None:
    """Draws how far all layers bring the selected token."""
    last = charts.RECORDED if story.altered else charts.LAYERS
    rows = [
        {
            "word": move.word,
            "stage": stage,
            "cosine": cosine,
            "label": _cosine_text(cosine),
            "least": min(ends),
            "most": max(ends),
        }
        for move in found
        for ends in [(move.before, move.layers)]
        for stage, cosine in zip((charts.BEFORE, last), ends, strict=True)
    ]
    low, high = floor(10 * min(row["least"] for row in rows)) / 10, ceil(10 * max(row["most"] for row in rows)) / 10
    chart = charts.by_layers(tuple(move.word for move in found), low, high, last)
    first, after = _closest(found)
    template = text.STILL_CLOSEST if first.word == after.word else text.AFTER_ALL
    most = max(found, key=lambda move: move.layers - move.before)
    said = template.format(
        first=first.word,
        before=_cosine_text(first.before),
        last=after.word,
        cosine=_cosine_text(after.layers),
        gain=text.GAINS_MOST.format(most=most.word) if most.word != after.word else "",
    )
    with st.expander(_as_recorded(story, said)):
        _draw_chart("all-layers", rows, chart, text.LAYERS_ALT)
        meant = terms.explanation("layer", "feed-forward layer")
        st.caption(f"{text.WITH_ALL} {_rise_sentence(found)}".strip(), help=meant)


def _closest(found: list[Move]) -> tuple[Move, Move]:
    """The word that the selected token is closest to before the head, and the one after all layers."""
    return max(found, key=lambda move: move.before), max(found, key=lambda move: move.layers)


def _draw_chart(key: str, rows: list[dict[str, Any]], chart: dict[str, Any], alt: str) -> None:
    st.vega_lite_chart(pa.Table.from_pylist(rows), chart, key=key, width="stretch", theme=None, alt=alt)


def _pass_on(story: Story, trace: Trace) -> None:
    """Draws what the selected token takes from the others: their weights as parts of one bar, the largest first."""
    row = selected_row(trace)
    st.markdown(text.TAKE_OVER.format(query=token_name(trace, trace.config.query_index)))
    if float(row.sum()):
        _draw_chart("mix", _shares(row.tolist(), trace.queries.texts), charts.mix(), text.MIX_ALT)


def _shares(row: list[float], tokens: Sequence[str]) -> list[dict[str, Any]]:
    """The parts of the bar, which add up to 1: tokens from `LEAST_SHARE` on, and the others together."""
    order = sorted(range(len(row)), key=lambda at: -row[at])
    named = [(tokens[at], row[at]) for at in order if row[at] >= LEAST_SHARE]
    others = [weight for weight in row if 0 < weight < LEAST_SHARE]
    parts = named + [(text.OTHERS.format(count=len(others)), sum(others))] * bool(others)
    ends = [0.0, *accumulate(weight for _, weight in parts)]
    return [
        {"token": token, "start": start, "end": end, "label": format_percent(weight)}
        for (token, weight), start, end in zip(parts, ends, ends[1:], strict=False)
    ]


def _not_compared(story: Story, trace: Trace) -> None:
    """Draws why the selected token is compared with no word, and a way out."""
    lacks = text.OWN_NOT_COMPARED if own_sentence.vectors_of(story) else text.OWN_NO_VECTORS
    st.markdown(lacks.format(query=token_name(trace, trace.config.query_index)))
    name, shipped = next(iter(SENTENCES.items()))
    changes = {"sentence": name, "query": WORD}
    st.button(text.OWN_COMPARED.format(word=shipped.about), on_click=page.change, kwargs=changes, key="compared word")


def _cosine_text(cosine: float) -> str:
    return format_change(cosine, plus=False, places=3)


def _change_text(move: Move) -> str:
    return format_change(move.change, places=3)


def _move_sentence(found: list[Move]) -> str:
    if max(abs(round(move.change, 3)) for move in found) < LEAST:  # as the bars are labelled
        return text.MOVED_TOO_LITTLE.format(least=LEAST)
    closer, change = _most_towards(found)
    return (
        text.MOVED.format(closer=closer, change=format_change(change, places=3))
        if change >= LEAST
        else text.MOVED_TO_NONE.format(least=LEAST)
    )


def _rise_sentence(found: list[Move]) -> str:
    """How much nearer the token is to each word after all layers; "" unless it is to all."""
    rises = sorted((move.layers - move.before, move.word) for move in found)
    (least_by, least), (most_by, most) = rises[0], rises[-1]
    if least_by <= 0 or least == most:
        return ""
    return text.ALL_RISE.format(
        most=most, most_by=format_change(most_by), least=least, least_by=format_change(least_by)
    )


def _next_button(step: str) -> None:
    st.button(
        text.NEXT[step],
        on_click=page.change,
        kwargs={"step": step},
        key=f"next {step}",
        type="primary",
        icon=":material/arrow_forward:",
    )


def head_counts() -> dict[str, int]:
    """How many heads of the model do the same, and how many do not."""
    found, heads = heads_that_find_both()
    return {"found": found, "others": heads - found, "heads": heads}


Part = Callable[[Story, Trace], None]
STEPS: dict[str, tuple[tuple[Part, ...], tuple[Part, ...]]] = {
    "look": ((_look,), (_compare,)),
    "weigh": ((_sharpen,), (_weigh,)),
    "take over": ((_pass_on,), (_combine,)),
}

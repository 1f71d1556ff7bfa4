"""The third step of Start: what the selected token takes from the others, and which words that moves it towards.

It compares vectors: those recorded for the sentences that ship, or those that MiniLM computed for the visitor's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, floor
from typing import Any

import pyarrow as pa
import streamlit as st
from jaxtyping import Float
from torch import Tensor

from attention.charts import channels
from attention.charts import moves as charts
from attention.number_format import format_change, format_percent
from attention.story.head import SENTENCES, Move, Vectors, moves, moves_within, vectors
from attention.story.settings import WORD, Story
from attention.trace import Trace
from attention.ui.markdown import join_words
from attention.ui.session import own_sentence, page
from attention.ui.text import start as text
from attention.ui.text import terms
from attention.ui.views.start_scores import as_recorded, is_of_the_story, selected_row, token_label, token_name

LEAST_SHARE, MOST_PARTS = (
    0.1,
    3,
)  # of the weight of a row, from which on a value has a strip of its own, and how many have
SMALL = 0.05  # change of a cosine up to which a move is little: all layers change it by several times as much
LEAST = 0.005  # change of a cosine that says something; below it are changes that any head makes


def finding(story: Story, trace: Trace) -> str:
    """How this head moves the word that both sentences have, in one sentence; "" if another token is selected."""
    if not is_of_the_story(story, trace.config.query_index):
        return ""
    return _move_finding(_moves_of(story, trace), token_name(trace, trace.config.query_index), bool(story.altered))


def _move_finding(found: list[Move], query: str, is_altered: bool) -> str:
    """How this head moves the selected token, by default or with other settings than the model's own."""
    closer, change = _most_towards(found)
    template = text.MOVES if change >= LEAST else text.MOVES_AWAY if change <= -LEAST else text.MOVES_LITTLE
    last = _closest(found)[1]
    after = (text.AFTER_TOO if last == closer else text.AFTER_OTHER).format(last=last.name)
    said = template.format(
        query=query,
        closer=closer.name,
        little=text.LITTLE if change <= SMALL else "",
        after="" if is_altered else after,
    )
    return text.WITH_SETTINGS.format(said=said) if is_altered else f"{said[0].upper()}{said[1:]}"


def _most_towards(found: list[Move]) -> tuple[Move, float]:
    """The word that the head moves the token towards most, and the change of the cosine, rounded as the bars are labelled."""
    closer = max(found, key=lambda move: move.change)
    return closer, round(closer.change, 3)


def _moves_of(story: Story, trace: Trace) -> list[Move]:
    """How the selected token moves towards other words; empty if the visitor's own sentence has none."""
    row, query = selected_row(trace), trace.config.query_index
    if is_of_the_story(story, query):
        return moves(story.sentence, query, row)
    found = _vectors_of(story)
    return [] if found is None else moves_within(found, query, row, trace.queries.texts)


def _vectors_of(story: Story) -> Vectors | None:
    """The vectors of the sentence; None if this server's MiniLM gives none of the visitor's own."""
    return own_sentence.vectors_of(story) if story.is_own else vectors(story.sentence)


def draw_moves(story: Story, trace: Trace) -> None:
    """Draws how the selected token moves towards others, if it is compared with any."""
    if found := _moves_of(story, trace):
        _take_over(story, trace, found)
        _after_layers(story, found)
    else:
        _not_compared(story, trace)


def _take_over(story: Story, trace: Trace, found: list[Move]) -> None:
    """Draws how this head moves the selected token."""
    query, is_story = token_name(trace, trace.config.query_index), is_of_the_story(story, trace.config.query_index)
    here = join_words([move.name for move in found if move.sentence == story.sentence])
    asked = text.COMBINED.format(query=query, here=here) if is_story else text.WITHIN.format(query=query)
    if len(found) == 1:
        asked = text.WITHIN_ONE.format(query=query, word=here)
    st.markdown(asked, help=text.COSINE + text.AS_READ)
    _draw_step(found, "" if is_story else _move_sentence(found) + _not_towards(trace, found))


def _not_towards(trace: Trace, found: list[Move]) -> str:
    """That the word with the largest weight is not the one that the token moves towards; "" if it is, or is no word."""
    key = trace.queries.texts[int(selected_row(trace).argmax())]
    closer, change = _most_towards(found)
    away = {move.word: move.name for move in found if move != closer}
    return text.NOT_TOWARDS.format(key=away[key]) if key in away and change >= LEAST else ""


def _draw_step(found: list[Move], said: str) -> None:
    """Draws the small step of this head, on an axis of its own, below what is said of it unless the headline has that."""
    most = max(charts.LEAST, ceil(50 * max(abs(move.change) for move in found)) / 50)
    rows = [{"word": move.label, "change": round(move.change, 3), "label": _change_text(move)} for move in found]
    chart = charts.by_head(tuple(move.label for move in found), most)
    if said:
        st.markdown(said)
    _draw_chart("head-step", rows, chart, text.STEP_ALT)


def _after_layers(story: Story, found: list[Move]) -> None:
    """Draws how far all layers bring the selected token."""
    last = charts.RECORDED if story.altered else charts.LAYERS
    rows = [
        {
            "word": move.label,
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
    chart = charts.by_layers(tuple(move.label for move in found), low, high, last)
    first, after = _closest(found)
    still = text.STILL_CLOSEST if len(found) > 1 else text.AFTER_ALL_ONE
    template = still if first == after else text.AFTER_ALL
    most = max(found, key=lambda move: move.layers - move.before)
    said = template.format(
        first=first.name,
        before=_cosine_text(first.before),
        last=after.name,
        cosine=_cosine_text(after.layers),
        gain=text.GAINS_MOST.format(most=most.name) if most != after else "",
    )
    with st.expander(as_recorded(story, said), expanded=True):
        _draw_chart("all-layers", rows, chart, text.LAYERS_ALT)
        meant = terms.explanation("layer", "feed-forward layer")
        st.caption(text.WITH_ALL, help=f"{_rise_sentence(found)} {meant}".strip())


def _closest(found: list[Move]) -> tuple[Move, Move]:
    """The word that the selected token is closest to before the head, and the one after all layers."""
    return max(found, key=lambda move: move.before), max(found, key=lambda move: move.layers)


def _draw_chart(key: str, rows: list[dict[str, Any]], chart: dict[str, Any], alt: str) -> None:
    st.vega_lite_chart(pa.Table.from_pylist(rows), chart, key=key, width="stretch", theme=None, alt=alt)


def draw_mix(story: Story, trace: Trace) -> None:
    """Draws what the selected token takes from the others: their values, each times its weight, and the sum."""
    row, here = selected_row(trace), _vectors_of(story)
    st.markdown(text.TAKE_OVER.format(query=token_name(trace, trace.config.query_index)), help=text.STRIPS_HELP)
    if float(row.sum()) and here is not None:
        mix = _mix(row, here.values, [token_label(trace, at) for at in range(len(row))])
        most = max(float(vector.abs().max()) for vector in mix.values())
        draw_strips("mix", {name: (vector, most) for name, vector in mix.items()}, text.MIX_ALT)


def _mix(
    row: Float[Tensor, " n"], values: Float[Tensor, "n d"], tokens: Sequence[str]
) -> dict[str, Float[Tensor, " d"]]:
    """The values with the largest weights, each times its weight, those of all others together, and the sum, by name."""
    weighted = row[:, None] * values
    top = [at for at in row.argsort(descending=True, stable=True).tolist()[:MOST_PARTS] if row[at] >= LEAST_SHARE]
    top = top or [int(row.argmax())]
    rest = [at for at in range(len(row)) if at not in top and row[at] > 0]
    parts = {text.PART.format(token=tokens[at], share=format_percent(float(row[at]))): weighted[at] for at in top}
    if rest:
        share = format_percent(float(row[rest].sum()))
        parts[text.PART.format(token=text.OTHERS.format(count=len(rest)), share=share)] = weighted[rest].sum(0)
    return parts | {text.SUM_ROW: weighted.sum(0)}


def draw_strips(key: str, vectors: Mapping[str, tuple[Float[Tensor, " d"], float]], alt: str) -> None:
    """Draws vectors by name as strips of cells; each comes with the number at which its cells are full."""
    rows = channels.cells({name: (vector.tolist(), most) for name, (vector, most) in vectors.items()})
    _draw_chart(key, rows, channels.strips(tuple(vectors)), alt)


def _not_compared(story: Story, trace: Trace) -> None:
    """Draws why the selected token is compared with no word, and a way out."""
    lacks = text.OWN_NOT_COMPARED if own_sentence.vectors_of(story) else text.OWN_NO_VECTORS
    st.markdown(lacks.format(query=token_name(trace, trace.config.query_index)))
    name, shipped = next(iter(SENTENCES.items()))
    changes = {"sentence": name, "query": WORD} | replace(story, sentence=name).sizes
    st.button(text.OWN_COMPARED.format(word=shipped.about), on_click=page.change, kwargs=changes, key="compared word")


def _cosine_text(cosine: float) -> str:
    return format_change(cosine, plus=False, places=3)


def _change_text(move: Move) -> str:
    return format_change(move.change, places=3)


def _move_sentence(found: list[Move]) -> str:
    if len(found) == 1:
        return text.MOVED_ONE.format(change=_change_text(found[0]))
    if max(abs(round(move.change, 3)) for move in found) < LEAST:  # as the bars are labelled
        return text.MOVED_TOO_LITTLE.format(least=LEAST)
    closer, change = _most_towards(found)
    if change >= LEAST:
        return text.MOVED.format(closer=closer.name, change=_change_text(closer))
    farther = min(found, key=lambda move: move.change)
    away = text.MOVED_AWAY if change <= -LEAST else text.MOVED_TO_NONE
    return away.format(farther=farther.name, change=_change_text(farther))


def _rise_sentence(found: list[Move]) -> str:
    """How much nearer the token is to each word after all layers; "" unless it is to all."""
    rises = sorted((move.layers - move.before, move.name) for move in found)
    (least_by, least), (most_by, most) = rises[0], rises[-1]
    if least_by <= 0 or least == most:
        return ""
    return text.ALL_RISE.format(
        most=most, most_by=format_change(most_by), least=least, least_by=format_change(least_by)
    )

"""Start: one word in two sentences, and a head of a real model that reads it, in three steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, floor

import pyarrow as pa
import streamlit as st
from jaxtyping import Bool, Float
from torch import Tensor

from attention.charts import moves as charts
from attention.codec import CONFIGS, to_query
from attention.components.sentence_head import sentence_head
from attention.config import Config
from attention.number_format import format_mean, format_percent
from attention.recorded.shipped import recording
from attention.sources.providers import tokens
from attention.story.head import HEAD, LAYER, SENTENCES, Move, heads_that_find_both, moves, riddle_config, riddle_shares
from attention.story.settings import SIZES, STORIES, WORD, Story
from attention.trace import Trace
from attention.ui import heading, next_step, proof, results
from attention.ui.controls import knobs
from attention.ui.markdown import escape
from attention.ui.session import gestures, model_run, page, present
from attention.ui.text import model_run as run_text
from attention.ui.text import start as text
from attention.ui.views import card_bar

OWN = "own sentence"  # the key of the field
TOP = 4  # tokens whose scores are shown
DOORS = (
    ("examples", {"about": "learn"}, text.LEARN, ":material/school:"),
    ("model", {}, text.EXPLORE, ":material/travel_explore:"),
    ("masks", {}, text.CHECK, ":material/fact_check:"),
)


def begin(story: Story) -> None:
    """Starts the pass that the page waits for."""
    results.heads.begin(story.config)


def view(story: Story) -> None:
    """Draws the story, or opens Heads once a size was changed."""
    if story.resized:
        _open_heads(story)
        return
    if found := model_run.take_result():
        page.leave_for("heads", found | _longest_word(found["source"]))
        return
    config = story.config
    trace = results.heads.trace(config)
    help = text.PROVENANCE + ("" if card_bar.is_waiting() else text.OTHER_HEADS.format(**_head_counts()))
    heading.draw_heading("start", _finding(story, trace), _badge(story), help, text.TITLE)
    knobs.pills(
        "sentence",
        story,
        format_func=lambda name: SENTENCES[name].text,
        on_change=page.change,
        label_visibility="collapsed",
    )
    if not present.is_embedded():
        _draw_field()
    picture, told = st.columns([3, 2], gap="medium")
    with picture:
        whole = (0, config.tokens), (0, config.tokens)
        sentence_head(config, results.heads.lines(config, config.head, whole), on_pin=gestures.on_sentence_pin)
        st.caption(_sizes(story))
        proof.badge(config)
    with told:
        knobs.segments(
            "step", story, format_func=text.STEPS.__getitem__, on_change=page.change, label_visibility="collapsed"
        )
        STEPS[story.step](story, trace)


def _draw_field() -> None:
    """Draws the field for a sentence that MiniLM reads."""
    absent = model_run.refusal(SENTENCES["river"].source)
    with st.container(key="own-text"):
        st.text_input(
            run_text.OWN_SENTENCE,
            key=OWN,
            placeholder=run_text.OWN_ABSENT if absent else run_text.OWN_PLACEHOLDER,
            help=absent or run_text.OWN_HELP,
            disabled=bool(absent),
            autocomplete="off",
            on_change=_read_own_sentence,
        )


def _read_own_sentence() -> None:
    """Lets MiniLM read the typed sentence; Heads opens with the head of the story on it."""
    shown = SENTENCES["river"].source
    prompt = model_run.reader(shown)
    if prompt is not None:
        page.note(model_run.read_typed(Config.of(shown, layer=LAYER, head=HEAD), prompt, str(page.widgets()[OWN])))
    page.change()


def _longest_word(source: str) -> dict[str, str]:
    """The entry of a link that selects the longest word of a sentence, so that no [CLS] or [SEP] is selected."""
    texts = tokens(Config.of(source)).texts
    words = [at for at, token in enumerate(texts) if token.isalpha()]
    return {"query": str(max(words, key=lambda at: len(texts[at])))} if words else {}


def _badge(story: Story) -> str:
    """Where the head comes from, and which settings are not those that MiniLM computes it with."""
    values = {name: f"{value:g}" if name == "temperature" else value for name, value in story.altered.items()}
    settings = ", ".join(f"{name} {value}" for name, value in values.items())
    return text.CHANGED.format(badge=text.BADGE, settings=escape(settings)) if settings else text.BADGE


def _sizes(story: Story) -> str:
    """The sizes of the head that is shown, which no slider changes."""
    shape = recording(SENTENCES[story.sentence].recorded).shape
    return text.SIZES.format(
        tokens=shape.tokens, heads=shape.heads, d_head=shape.d_head, d_model=shape.heads * shape.d_head
    )


def _as_recorded(story: Story, said: str) -> str:
    """A sentence that is true of the model's own settings, which it names once these are changed."""
    return text.AS_RECORDED.format(said=said) if story.altered else said


def _open_heads(story: Story) -> None:
    """Opens Heads with the sizes, the mask, the scale and the temperature that were set, and puts the sizes back here."""
    changes = story.changes(*SIZES, "mask", "span", "scale", "temperature")
    found, _ = CONFIGS.coerce(CONFIGS.defaults | changes)
    page.leave_for("heads", to_query(found), replace(story, **{name: STORIES.defaults[name] for name in SIZES}))


def _finding(story: Story, trace: Trace) -> str:
    """What the selected row shows, in a sentence."""
    row, tokens = _row(trace), SENTENCES[story.sentence].tokens
    query = trace.config.query_index
    if not float(row.sum()):
        return text.NOTHING.format(query=escape(tokens[query]))
    most = int(row.argmax())
    said = text.FINDING if most != query else text.ITSELF
    return said.format(query=escape(tokens[query]), key=escape(tokens[most]), weight=format_percent(float(row[most])))


def _row(trace: Trace) -> Float[Tensor, " n"]:
    return trace.weights[trace.config.head, trace.config.query_index]


def _look(story: Story, trace: Trace) -> None:
    st.markdown(text.LOOK)
    here = SENTENCES[story.sentence]
    other = next(name for name in SENTENCES if name != story.sentence)
    st.button(
        text.SWITCH,
        on_click=page.change,
        kwargs={"sentence": other, "query": WORD},
        key="other sentence",
        icon=":material/swap_horiz:",
    )
    if not card_bar.is_waiting():
        named = {"word": here.about, "expected": here.expected, "other": SENTENCES[other].expected}
        st.caption(_as_recorded(story, text.EXPECTED.format(**named, **_head_counts())))
    _next_button("weigh")


def _weigh(story: Story, trace: Trace) -> None:
    scaled = text.OTHERWISE_SCALED.format(scale=escape(story.scale)) if story.changes("scale") else text.SCALED
    st.markdown(text.WEIGH.format(scaled=scaled))
    with st.container(horizontal=True):
        effects = text.TEMPERATURES | (text.UNCHANGED if story.changes("mask", "scale") else {})
        for temperature, effect in effects.items():
            st.button(
                f"{temperature:g}{'' if card_bar.is_waiting() else effect}",
                on_click=page.change,
                kwargs={"temperature": temperature},
                key=f"temperature {temperature:g}",
                type="primary" if temperature == story.temperature else "secondary",
            )
    row, visible = _row(trace), int(_visible(trace).sum())
    if visible:
        if not card_bar.is_waiting():
            with st.container(key="scores"):
                st.markdown(_scores_table(story, trace))
        st.caption(
            text.ROW.format(
                query=escape(SENTENCES[story.sentence].tokens[trace.config.query_index]),
                largest=format_percent(float(row.max())),
                visible=visible,
                uniform=format_percent(1 / visible),
                temperature=f"{story.temperature:g}",
            )
        )
    _next_button("take over")


def _visible(trace: Trace) -> Bool[Tensor, " n"]:
    """Which keys the selected token sees."""
    return trace.mask[trace.config.query_index]


def _scores_table(story: Story, trace: Trace) -> str:
    """The tokens with the largest weights of the row, with their scores before the temperature, as a table in Markdown."""
    config, row, tokens = trace.config, _row(trace), SENTENCES[story.sentence].tokens
    scores = trace.scores[config.head, config.query_index] * story.temperature
    top = [at for at in row.argsort(descending=True, stable=True).tolist() if _visible(trace)[at]][:TOP]
    return text.SCORES.format(
        query=escape(tokens[config.query_index]),
        tokens=" | ".join(escape(tokens[at]) for at in top),
        rule=" | ".join("---" for _ in top),
        scores=" | ".join(format_mean(float(scores[at])) for at in top),
        weights=" | ".join(format_percent(float(row[at])) for at in top),
    )


def _take_over(story: Story, trace: Trace) -> None:
    query = trace.config.query_index
    found = moves(story.sentence, query, _row(trace))
    st.markdown(text.TAKE_OVER.format(query=escape(SENTENCES[story.sentence].tokens[query])))
    cosines = [cosine for move in found for cosine in move[2:]]
    low, high = floor(10 * min(cosines)) / 10, ceil(10 * max(cosines)) / 10
    last = charts.RECORDED if story.altered else charts.LAYERS
    st.vega_lite_chart(
        _table(found, last),
        charts.by_word(tuple(move.word for move in found), low, high, last),
        key="moves",
        width="stretch",
        theme=None,
        alt="Points per word: its cosine similarity to the selected token before the head, after it and after all layers",
    )
    after = max(found, key=lambda move: move.layers)
    said = text.AFTER_ALL.format(last=after.word, cosine=format_mean(after.layers))
    st.caption(f"{_move_sentence(found)} {_as_recorded(story, said)}")


def _table(found: list[Move], last: str) -> pa.Table:
    lines = [
        {
            "word": move.word,
            "stage": stage,
            "cosine": cosine,
            "change": move.head - move.before,
            "least": min(move[2:]),
            "most": max(move[2:]),
        }
        for move in found
        for stage, cosine in zip((charts.BEFORE, charts.HEAD, last), move[2:], strict=True)
    ]
    return pa.Table.from_pylist(lines)


def _move_sentence(found: list[Move]) -> str:
    closer = max(found, key=lambda move: move.head - move.before)
    change = closer.head - closer.before
    return text.MOVED.format(closer=closer.word, change=f"{change:+.3f}") if change > 0 else text.MOVED_TO_NONE


def _next_button(step: str) -> None:
    st.button(
        text.NEXT[step],
        on_click=page.change,
        kwargs={"step": step},
        key=f"next {step}",
        type="primary",
        icon=":material/arrow_forward:",
    )


def _below(story: Story) -> None:
    """Draws what heads do not do, three ways into the app, and where code and checks are."""
    with st.expander(text.LIMITS, icon=":material/psychology_alt:"):
        shares = {name: format_percent(share) for name, share in riddle_shares().items()}
        st.markdown(text.RIDDLE.format(**shares, tired_first=shares["tired_[CLS]"], wide_first=shares["wide_[CLS]"]))
        with st.container(horizontal=True):
            for name, label in text.RIDDLES.items():
                next_step.page_link("heads", label, to_query(riddle_config(name)), ":material/grid_view:")
    for column, (name, query, (label, where, says), icon) in zip(st.columns(len(DOORS)), DOORS, strict=True):
        with column.container(border=True, height="stretch"):
            next_step.page_link(name, f"**{label}** → {where}", query, icon)
            st.caption(says)
    st.caption(text.CODE)


def _head_counts() -> dict[str, int]:
    """How many heads of the model do the same, and how many do not."""
    found, heads = heads_that_find_both()
    return {"found": found, "others": heads - found, "heads": heads}


STEPS: dict[str, Callable[[Story, Trace], None]] = {"look": _look, "weigh": _weigh, "take over": _take_over}
BELOW = page.Part("doors", _below, lambda story: True, blocks=3)

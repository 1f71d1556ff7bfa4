"""Start: one word in two sentences, or the visitor's own sentence, and a head of a real model that reads it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from attention.codec import CONFIGS, to_query
from attention.components.sentence_head import PARTS, sentence_head
from attention.config import Config
from attention.models.prompt import PROMPTS, Prompt
from attention.number_format import format_percent
from attention.recorded.shipped import MINILM
from attention.sources.providers import tokens
from attention.story.head import SENTENCES, heads_that_find, riddle_config, riddle_shares
from attention.story.settings import MOST, OWN, SIZES, STORIES, WORD, Story
from attention.ui import heading, next_step, proof, results
from attention.ui.controls import knobs
from attention.ui.markdown import escape
from attention.ui.session import gestures, model_run, own_sentence, page, present
from attention.ui.text import model_run as run_text
from attention.ui.text import start as text
from attention.ui.text import terms
from attention.ui.views import card_bar, start_steps

DOORS = (
    ("examples", {"about": "learn"}, text.LEARN, ":material/school:"),
    ("model", {}, text.EXPLORE, ":material/travel_explore:"),
    ("implementations", {}, text.CHECK, ":material/fact_check:"),
)
FEW = 2  # changed settings that the badge has room for


def begin(story: Story) -> None:
    """Starts the pass that the page waits for."""
    results.heads.begin(_config(story))


def view(story: Story) -> None:
    """Draws the story, or opens Heads once a size was changed."""
    if story.resized:
        _open_heads(story)
        return
    if story.is_own and not own_sentence.source_of(story):
        _read_again(story)
        story = replace(story, sentence=STORIES.defaults["sentence"]).at_own_sizes
    config = _config(story)
    trace = results.heads.trace(config)
    too_many = config.tokens > MOST
    finding = text.OWN_MANY.format(tokens=config.tokens, most=MOST) if too_many else start_steps.finding(story, trace)
    told = ("", "") if too_many else (_badge(story, config), _help(story, config))
    heading.draw_heading("start", finding, *told, text.TITLE)
    _draw_sentences(story)
    if too_many:
        _link_to_heads(config)
        return
    start_steps.draw_choice(story, config)
    with st.container(key="story", gap="xxsmall"):
        if not present.is_embedded():  # there, tokens and map are one component
            _draw_sentence_head(config, "chips")
        picture, told = st.columns([9, 7], gap="medium")
    with picture:
        _draw_sentence_head(config, *PARTS if present.is_embedded() else ("map",))
    with told:
        start_steps.draw(story, trace)
        if story.is_own:
            _link_to_model(story)
    proof.badge(config)
    if not present.is_embedded():
        terms.draw("start", without=text.OTHER_TERMS[story.step])


def _draw_sentence_head(config: Config, *parts: str) -> None:
    """Draws some parts of the head over the sentence."""
    key, whole = f"story {parts[0]}", ((0, config.tokens), (0, config.tokens))
    cells = results.heads.lines(config, config.head, whole)
    sentence_head(config, cells, key=key, on_pin=partial(gestures.on_sentence_pin, key), parts=parts)


def _config(story: Story) -> Config:
    """The head of the story on the sentence that is shown; of the visitor's own, `start_steps.first_pair` selects a word."""
    source = own_sentence.source_of(story)
    if not source:
        return story.config
    texts = tokens(Config.of(source)).texts
    pair = start_steps.first_pair(story.config_of(source, texts, 0))
    words = [at for at, token in enumerate(texts) if token.isalpha()]  # no [CLS] or [SEP]
    return story.config_of(source, texts, pair[0] if pair else next(iter(words), 0))


def _read_again(story: Story) -> None:
    """Requests the visitor's own sentence once more, after the visit has given up its heads for newer ones."""
    if page.visit_state().requested is None:
        own_sentence.request(story, typed=False)
        st.rerun()


def _draw_sentences(story: Story) -> None:
    """Draws the choice of a sentence, with the field for the visitor's own beside it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="story-sentences"):
        knobs.pills(
            "sentence",
            story,
            [*SENTENCES, *[OWN] * bool(story.own)],
            format_func=lambda name: (
                run_text.OWN_SENTENCE if name == OWN else text.SHORT.get(name, SENTENCES[name].text)
            ),
            on_change=_choose_sentence,
            args=(story.own,),
            label_visibility="collapsed",
        )
        _draw_own_sentence(story)


def _choose_sentence(own: str) -> None:
    """Shows another sentence, and in the field what was read last, not a text that could not be read."""
    if (key := _own_key(own)) in page.widgets():
        page.widgets()[key] = own
    page.change(query=WORD)


def _own_key(own: str) -> str:
    return f"own sentence {own}".strip()


def _draw_own_sentence(story: Story) -> None:
    """Draws the field for a sentence that MiniLM reads."""
    if present.is_embedded() or page.card() or model_run.refusal(SENTENCES["river"].source):
        return  # the end of the page says why there is no field
    key = _own_key(story.own)
    st.text_input(
        run_text.OWN_SENTENCE,
        story.own,
        key=key,
        placeholder=run_text.OWN_PLACEHOLDER.format(most=MOST),
        icon=":material/edit:",
        label_visibility="collapsed",
        autocomplete="off",
        on_change=_read_sentence,
        args=(key,),
    )


def _read_sentence(key: str) -> None:
    """Lets MiniLM read the typed sentence, and shows it once that is done."""
    story = page.current_setting()
    if not isinstance(story, Story):  # another page was opened meanwhile, without the field
        return
    found = own_sentence.read_typed(story, str(page.widgets()[key]))
    if isinstance(found, str):
        page.note([found])
        found = story
    page.change(**{name: value for name, value in vars(found).items() if value != getattr(story, name)})


def _link_to_heads(config: Config) -> None:
    """Draws the link that shows a sentence with too many tokens for Start; it names the run."""
    next_step.page_link("heads", text.OWN_HEADS, model_run.carry(to_query(config)), ":material/grid_view:")


def _link_to_model(story: Story) -> None:
    """Draws the link to all heads of the model on the visitor's own sentence."""
    query = PROMPTS.to_query(Prompt(model=MINILM, text=story.own))
    next_step.page_link("model", text.OWN_MODEL, query, ":material/grid_view:")


def _badge(story: Story, config: Config) -> str:
    """Where the head comes from, and which settings are not those that MiniLM computes it with."""
    if len(story.altered) > FEW:
        return text.MANY_CHANGED.format(head=config.head, count=len(story.altered))
    if story.altered:  # in place of the other badge, in the same line
        return text.CHANGED.format(head=config.head, settings=_altered_names(story))
    return text.OWN_BADGE.format(head=config.head) if story.is_own else text.BADGE


def _altered_names(story: Story) -> str:
    """The settings that are not the model's own, as Markdown."""
    values = {name: f"{value:g}" if name == "temperature" else value for name, value in story.altered.items()}
    return escape(", ".join(f"{name} {value}" for name, value in values.items()))


def _help(story: Story, config: Config) -> str:
    """Where the head comes from, its sizes, which no slider changes, and how many do the same."""
    sizes = text.SIZES.format(tokens=config.tokens, heads=config.heads, d_head=config.d_head, d_model=config.d_model)
    if len(story.altered) > FEW:
        sizes = text.SETTINGS.format(settings=_altered_names(story)) + sizes
    if story.is_own:
        return text.OWN_PROVENANCE.format(head=config.head) + sizes
    counts = heads_that_find()
    named = {"found": counts.found, "heads": counts.heads, "others": counts.heads - counts.found, **counts.here}
    others = "" if card_bar.is_waiting() else text.OTHER_HEADS.format(**named)
    return text.PROVENANCE + others + sizes


def _open_heads(story: Story) -> None:
    """Opens Heads with the sizes, the mask, the scale and the temperature that were set, and puts the sizes back here.

    Its heads are hand-built, as the sidebar says; they show the words of the visitor's own sentence.
    """
    changes = {name: getattr(story, name) for name in SIZES} | story.changes("mask", "span", "scale", "temperature")
    if story.is_own:
        changes |= {"text": story.own}
    found, _ = CONFIGS.coerce(CONFIGS.defaults | changes)
    page.leave_for("heads", to_query(found), story.at_own_sizes)


def _below(story: Story) -> None:
    """Draws what heads do not do, three ways into the app, and where checks are."""
    with st.expander(text.LIMITS, icon=":material/psychology_alt:"):
        st.markdown(text.UNDERSTOOD)
        shares = {name: format_percent(share) for name, share in riddle_shares().items()}
        st.markdown(text.RIDDLE.format(**shares, tired_first=shares["tired_[CLS]"], wide_first=shares["wide_[CLS]"]))
        with st.container(horizontal=True):
            for name, label in text.RIDDLES.items():
                next_step.page_link("heads", label, to_query(riddle_config(name)), ":material/grid_view:")
    for column, (name, query, (label, where, says), icon) in zip(st.columns(len(DOORS)), DOORS, strict=True):
        with column.container(border=True, height="stretch"):
            next_step.page_link(name, f"**{label}** → {where}", query, icon)
            st.caption(says)
    absent = model_run.refusal(SENTENCES["river"].source)
    st.caption(text.CODE, help=f"{run_text.OWN_ABSENT}: {run_text.OWN_WHY.format(why=absent)}" if absent else None)


BELOW = page.Part("doors", _below, lambda story: True, blocks=3)

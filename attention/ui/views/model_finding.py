"""The finding of the Model page: what the selected head does with two tokens; and the choice of the sample sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention.config import Config
from attention.models.prompt import ALL, PROMPTS, Prompt
from attention.models.summaries import WAYS
from attention.number_format import format_percent
from attention.recorded.shipped import MINILM, SHIPPED, recording
from attention.sources.providers import readable
from attention.story.head import RIDDLE, riddle_source
from attention.tables import rows
from attention.ui import results
from attention.ui.controls.prompt import find_offer
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import model as text
from attention.ui.views import heads_layers as maps
from attention.ui.views import model_input, model_map
from attention.ui.views.head_names import head_title

SECOND = 0.05  # minimum weight of a second word that a sentence names
SWITCH = "sample"  # the key of the choice of the sentence
PRONOUN, ANIMAL, STREET = "it", "animal", "street"
TEXTS = {name: SHIPPED[recorded].text for name, recorded in RIDDLE.items()}


def sample(prompt: Prompt) -> str | None:
    """Which of the two recorded sentences is shown, or None: the text that was run, and without a run the one in the field."""
    task = page.visit_state().reading
    read = prompt.text if task is None else task.settings.text
    found = next((name for name, known in TEXTS.items() if read.strip() == known), None)
    return found or (None if task is not None else next(iter(RIDDLE)))


def draw_switch(prompt: Prompt, pair: model_map.Pair | None, label: str) -> None:
    """Draws the choice between the two sentences with its `label`; if another text is shown, a button that shows them again.

    A recording is shown at once; after a run, the model runs again.
    """
    shown = sample(prompt)
    if shown is None:
        st.button(text.EXAMPLES, key="examples", icon=":material/undo:", on_click=show_recording)
        return
    st.caption(label, width="content")
    page.widgets()[SWITCH] = shown
    st.segmented_control(
        text.SAMPLES,
        list(RIDDLE),
        key=SWITCH,
        format_func=text.SAMPLE.__getitem__,
        label_visibility="collapsed",
        on_change=_choose,
        kwargs=model_map.knobs_of(pair) if pair else _first_pair(prompt),
    )


def _first_pair(prompt: Prompt) -> dict[str, int]:
    """The knobs of “it” and “animal” for MiniLM: the pair of another sentence has other tokens."""
    offer, name = find_offer(prompt), next(iter(RIDDLE))
    if offer is None or offer.name != MINILM or not readable(riddle_source(name)):
        return {}
    tokens = recording(RIDDLE[name]).tokens
    return {"query": tokens.index(PRONOUN), "key": tokens.index(ANIMAL)}


def show_recording() -> None:
    """Shows what the page opens with, in place of the result of a run."""
    page.visit_state().reading = None
    shown = {name: PROMPTS.defaults[name] for name in ("text", "second", "part", "layer", "head", "query", "key")}
    page.change(**shown)


def _choose(**pair: int) -> None:
    """Reads the other sentence. The pair of tokens stays."""
    chosen = page.widgets()[SWITCH]
    if chosen not in TEXTS:  # a click on the choice that is shown
        return
    values = {"text": TEXTS[chosen], "second": ""}
    if page.visit_state().reading is None:
        page.change(**values, **pair)
    else:
        page.put(**values)
        model_input.begin(**pair)


def finding(prompt: Prompt, config: Config, special: Sequence[bool] = ()) -> str:
    """What the selected head does with the selected pair of tokens, as Markdown; "" if tokens have no words.

    `special`: which keys the model adds. The sentence also names the largest weight on another word, if the key is one of them
    or that weight is large.
    For MiniLM on one of the two recorded sentences, also what the head does with the other one.
    """
    pair = model_map.selected_pair(config, prompt.key)
    if pair is None:
        return ""
    here, named = sample(prompt), head_title(config, (config.layer, config.head))
    told = {"head": named, "query": escape(pair.query), "key": escape(pair.key), "weight": format_percent(pair.weight)}
    said = text.PUTS.format(**told)
    other = next(each for each in RIDDLE if each != here)
    if here is None or not _is_minilm(prompt) or not readable(riddle_source(other)):
        return _rest(config, pair, special, told) or said
    tokens, others = (recording(RIDDLE[each]).tokens for each in (here, other))
    if _riddle(prompt, config, pair):
        return (text.RIDDLE_WIDE if here == "wide" else text.RIDDLE_TIRED).format(**told)
    there = _row(other, config, pair.at[0])
    word = next(one for one, two in zip(tokens, others, strict=True) if one != two)
    if {tokens[at] for at in pair.at} & {word}:  # the pair differs in the other sentence
        return said
    return text.PUTS_OTHER.format(
        **told, word=word, other=others[tokens.index(word)], share=format_percent(there[pair.at[1]])
    )


def sentences(prompt: Prompt, config: Config) -> list[Config]:
    """The selected head on both recorded sentences, if the config is on one of them and MiniLM read it; else the config alone."""
    here = sample(prompt)
    if here is None or not _is_minilm(prompt) or not all(readable(riddle_source(name)) for name in RIDDLE):
        return [config]
    return [config if name == here else _config(name, config, config.query_index) for name in RIDDLE]


def riddle_sentence(prompt: Prompt, config: Config, pair: model_map.Pair) -> str:
    """The weights that the finding on the riddle stands on; "" if there is no such finding."""
    wide = _riddle(prompt, config, pair)
    if not wide:
        return ""
    shares = {name: format_percent(value) for name, value in wide.items()}
    return (text.SHARES_WIDE if sample(prompt) == "wide" else text.SHARES_TIRED).format(
        query=escape(pair.query), **shares
    )


def _riddle(prompt: Prompt, config: Config, pair: model_map.Pair) -> dict[str, float]:
    """The weights of “it” on both nouns and [CLS] where it means the street; {} unless the animal gets more than the street.

    It must get over half of the weight in the other sentence.
    """
    here = sample(prompt)
    if here is None or not _is_minilm(prompt) or not all(readable(riddle_source(name)) for name in RIDDLE):
        return {}
    tokens = recording(RIDDLE[here]).tokens
    if (tokens[pair.at[0]], tokens[pair.at[1]]) != (PRONOUN, ANIMAL):
        return {}
    found = {
        name: {
            noun: _row(name, config, pair.at[0])[recording(RIDDLE[name]).tokens.index(token)]
            for noun, token in ((ANIMAL, ANIMAL), (STREET, STREET), ("start", "[CLS]"))
        }
        for name in RIDDLE
    }
    more = found["tired"][ANIMAL] > maps.HIGH and found["wide"][ANIMAL] > found["wide"][STREET]
    return found["wide"] if more else {}


def _rest(config: Config, pair: model_map.Pair, special: Sequence[bool], told: dict[str, str]) -> str:
    """The sentence with what stands out of the weight: that no other head has more, or the largest on another word.

    "" if neither is worth a mention.
    """
    added = bool(special) and special[pair.at[1]]
    others = [weight for head, weight in pair.cells.items() if head != (config.layer, config.head)]
    if not added and others and pair.weight > max(others) and format_percent(max(others)) != told["weight"]:
        return text.PUTS_MOST.format(**told)
    row = results.heads.trace(config).weights[config.head, pair.at[0]].tolist()
    names = rows.labels(config)
    words = [
        (weight, at)
        for at, weight in enumerate(row)
        if at not in pair.at and not (special and special[at]) and any(map(str.isalnum, names[at]))
    ]
    share, at = max(words, default=(0.0, 0))
    if not share or not (added or share >= SECOND):
        return ""
    template = text.PUTS_SPECIAL if added else text.PUTS_SECOND
    return template.format(**told, other=escape(model_map.token_name(names, at)), share=format_percent(share))


def _is_minilm(prompt: Prompt) -> bool:
    """Whether the weights shown are those of MiniLM on one text, as it computes them."""
    task = page.visit_state().reading
    if task is None:
        return True
    as_they_are = (prompt.summary, prompt.tokens) == (next(iter(WAYS)), ALL)
    return as_they_are and task.settings.offer.name == MINILM and not task.settings.second.strip()


def _config(name: str, config: Config, query: int) -> Config:
    """The selected head on a recorded sentence."""
    return replace(Config.of(riddle_source(name), layer=config.layer, head=config.head), query=query)


def _row(name: str, config: Config, query: int) -> list[float]:
    """The weights of a query in the recording of a sentence, in the selected head."""
    return results.heads.trace(_config(name, config, query)).weights[config.head, query].tolist()

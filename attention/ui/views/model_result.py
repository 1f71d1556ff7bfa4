"""The result of a model's run: the choice of part and summary, the map of layers and heads, and links to any head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.analysis.head_kinds import Role
from attention.array_files.limits import DataError
from attention.charts.layers import Room
from attention.codec import to_query
from attention.components.sentence_head import sentence_head
from attention.config import Config
from attention.fitting import layers
from attention.models.labels import Labels
from attention.models.packages import ModelError
from attention.models.parts import Part
from attention.models.prompt import PROMPTS, SWITCH, Prompt
from attention.models.run import Run
from attention.models.summaries import WAYS
from attention.number_format import format_percent
from attention.recorded.models import GOES_ON
from attention.recorded.shipped import MINILM
from attention.story.head import riddle_config
from attention.tables.rows import labels
from attention.ui import next_step, provenance, results
from attention.ui.controls import knobs
from attention.ui.controls.picture import first_line
from attention.ui.jobs.model_jobs import ModelJob as Task
from attention.ui.markdown import escape
from attention.ui.results.layers import Layer
from attention.ui.session import gestures, model_run, page, present
from attention.ui.session.role_note import role_note
from attention.ui.text import heads
from attention.ui.text import model as text
from attention.ui.views import head_picture, model_finding, model_map, model_picture
from attention.ui.views import heads_layers as maps
from attention.ui.views import heads_parts as parts
from attention.ui.views import model_switches as switches
from attention.ui.views.head_names import head_title
from attention.ui.views.layers import named_role

SIDE = 320  # pixels of the picture of a head without words
MAP = 368  # maximum side in pixels of the map of a head with words: it ends above the fold, as the map beside it does
MAP_OF_TWO, ROOM_OF_TWO = 256, Room(38, 440)  # the same below two sentences, and the room of the map of heads beside it

NOBODY = PROMPTS.defaults["layer"], PROMPTS.defaults["head"]  # the values while no head is selected
PRONOUNS = (
    "it",
    "they",
    "them",
    "he",
    "him",
    "she",
    "her",
)  # one may ask what they mean: the first of these that is there
ANY_PAIR = {
    name: PROMPTS.defaults[name] for name in ("query", "key")
}  # none is selected: others may be at its positions


def draw(prompt: Prompt, task: Task) -> None:
    """Draws the whole result."""
    run = task.found
    assert run is not None
    name = prompt.part if prompt.part in run.parts else next(iter(run.parts))
    choices = partial(_choices, prompt, run, name)
    if run.patches is not None and not present.is_embedded():
        choices()
    for note in run.notes:
        st.caption(escape(note))
    try:
        source, part = model_run.register_part(task, prompt)
    except (ModelError, DataError) as error:
        st.warning(escape(str(error)), icon=":material/info:")
        return
    config = _config(prompt, task, source, part)
    page.visit_state().selected = (config.layer, config.head) if prompt.summary == next(iter(WAYS)) else None
    if run.patches is not None:
        model_picture.draw(prompt, run, part, config)
    if run.patches is None or not present.is_embedded():
        layers_map(prompt, config, choices=choices if run.patches is None else None)


def shown_config(prompt: Prompt, task: Task) -> tuple[Config, Sequence[bool]] | None:
    """What is selected of a result with words, and which keys are special; None if it has none, or can't be shown."""
    run = task.found
    if run is None or run.patches is not None:
        return None
    try:
        source, part = model_run.register_part(task, prompt)
        return _config(prompt, task, source, part), part.keys.special
    except (ModelError, DataError):
        return None


def _config(prompt: Prompt, task: Task, source: str, part: Part) -> Config:
    """The config of a part of a result, with the selected head, and the selected query for a text."""
    sees = task.found is not None and task.found.patches is not None
    config = with_selected_head(prompt, source, sees, _first_head(prompt, task))
    if sees:
        return config
    config = with_selected_query(prompt, config, first_query(part.queries))
    any_head = (prompt.layer, prompt.head) == NOBODY and _first_head(prompt, task) is None
    any_query = not 0 <= prompt.query < config.tokens and not _pronoun(part.queries)
    return model_map.with_strongest_pair(config, any_head, any_query) if any_head or any_query else config


def _first_head(prompt: Prompt, task: Task) -> tuple[int, int] | None:
    """The head of the recording, for its model on one of the two sentences; None for others."""
    known = task.settings.text.strip() in model_finding.TEXTS.values()
    if not known or task.settings.offer.name != MINILM or prompt.summary != next(iter(WAYS)):
        return None
    recorded = riddle_config("tired")
    return recorded.layer, recorded.head


def _is_strongest(prompt: Prompt, config: Config, pair: model_map.Pair) -> bool:
    """Whether a pair of words was selected for its weight, as the visitor selected neither head nor tokens of a text."""
    task, chosen = page.visit_state().reading, any(getattr(prompt, name) != ANY_PAIR[name] for name in ANY_PAIR)
    nobody = (prompt.layer, prompt.head) == NOBODY and not chosen
    unread = task is None or _first_head(prompt, task) is not None
    return nobody and not unread and bool(model_map.other_words(config)[pair.at])


def first_query(queries: Labels) -> int:
    """The token that is selected at first if no other has more weight on a word: a pronoun, or else the last word.

    A word has a letter or a digit and is not special ([SEP], end). -1, the last token, if there is none.
    """
    words = _lower(queries)
    if pronoun := _pronoun(queries):
        return words.index(pronoun, 2)
    known = zip(words, queries.special, strict=True)
    return max((at for at, (word, mark) in enumerate(known) if not mark and any(map(str.isalnum, word))), default=-1)


def _lower(labels: Labels) -> list[str]:
    return [text.strip().lower() for text in labels.texts]


def _pronoun(labels: Labels) -> str:
    """The pronoun after the first two tokens, of which one may ask what it means; "" if there is none."""
    words = _lower(labels)
    return next((pronoun for pronoun in PRONOUNS if pronoun in words[2:]), "")


def _choices(prompt: Prompt, run: Run, name: str) -> None:
    """Draws the choices of part, summary and tokens."""
    with st.container(horizontal=run.patches is not None, vertical_alignment="bottom"):
        if len(run.parts) > 1:
            first, *others = run.parts
            model_picture.option_menu(
                "part", prompt, ("", *others), "" if name == first else name, lambda each: each or first, ANY_PAIR
            )
        lines = [
            PROMPTS.knobs["summary"].help,
            "",
            *(f"- **{each}**: {first_line(way)}" for each, way in WAYS.items()),
        ]
        knobs.menu("summary", prompt, format_func=str.capitalize, help="\n".join(lines), on_change=page.change)
        knobs.menu("tokens", prompt, format_func=str.capitalize, on_change=page.change, kwargs=ANY_PAIR)


def with_selected_head(prompt: Prompt, source: str, sees: bool = False, first: tuple[int, int] | None = None) -> Config:
    """The config of a source with the selected layer and head, as far as they exist.

    If none was selected, it has the layer and head `first`, by default the one with the largest statistic in the map; over a
    picture (`sees`), which then shows the mean of all heads, it has head 0.
    """
    usual = Config.of(source)
    layer = min(layers(source), key=lambda number: abs(number - prompt.layer))
    head = max(0, min(prompt.head, usual.heads - 1))
    config = Config.of(source, layer=layer, head=head, layer_map=prompt.layer_map)
    if sees or (prompt.layer, prompt.head) != NOBODY:
        return config
    found = results.layers.layers(config)
    held = maps.cells(maps.number(config, found), found)
    layer, head = first or max(held, key=held.__getitem__, default=(layer, head))
    return replace(config.of_layer(layer), head=head)


def with_selected_query(prompt: Prompt, config: Config, first: int) -> Config:
    """The config with the selected query if it exists, by default the `first` one."""
    return replace(config, query=prompt.query if 0 <= prompt.query < config.tokens else first)


def layers_map(prompt: Prompt, config: Config, choices: Callable[[], None] | None = None) -> None:
    """Draws the map of layers and heads, and what the selected head does; this head alone if the page is embedded.

    The source of the weights is named beside the head. `choices`: draws those that a button beside it opens.
    """
    found, here = results.layers.layers(config), (config.layer, config.head)
    pair = model_map.selected_pair(config, prompt.key)
    if present.is_embedded():
        _selected_head(prompt, config, pair, found[config.layer].roles[config.head])
        return
    sentences = model_finding.sentences(prompt, config) if pair else [config]
    two = len(sentences) > 1
    beside, told = provenance.beside(config), provenance.full_text(config)
    title = f"## {head_title(config, here).capitalize()} {beside}".rstrip()
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="model-head"
    ):
        st.markdown(title, help=told, width="content")
        if model_map.has_words(config):
            with st.container(horizontal=True, vertical_alignment="center", width="content", gap="small"):
                model_finding.draw_switch(prompt, pair, text.SHOWN if two else text.SAMPLES)
        if choices:
            with st.popover(text.CHOICES, help=text.CHOICES_HELP):
                choices()
    _tokens(sentences, pair)
    left, right = parts.beside()
    with left, st.container(gap="xsmall"):
        _selected_head(prompt, config, pair, found[config.layer].roles[config.head], MAP_OF_TWO if two else MAP)
    with right, st.container(gap="small", key="map-of-heads"):
        _draw_map(prompt, config, found, pair, ROOM_OF_TWO if two else model_map.ROOM)
        model_map.draw_sentence(prompt, config, found, pair)
        with st.container(key="map-choice"):
            auto = text.SAME_KEY if model_map.has_words(config) else heads.AUTO
            maps.menu(prompt, config, auto, model_map.LEFT_OUT)
        st.caption(_sizes(config, found))
        next_step.page_link("heads", text.OPEN.format(head=head_title(config, here)), to_query(config))
        next_step.page_link("layers", text.COMPARE, next_step.layers_query(to_query(config)))


def _sizes(config: Config, found: dict[int, Layer]) -> str:
    """How many layers, heads and tokens there are."""
    layers = text.LAYERS.format(
        count=len(found),
        layers=text.LAYER_WORDS[len(found) > 1],
        heads=config.heads,
        kind=text.HEAD_WORDS[config.heads > 1],
    )
    tokens = (text.CROSS if config.is_cross else text.TOKENS).format(count=config.tokens, keys=config.n_keys)
    return (text.MAP if model_map.has_words(config) else text.MAP_ALONE).format(layers=layers, tokens=tokens)


def _draw_map(prompt: Prompt, config: Config, found: dict[int, Layer], pair: model_map.Pair | None, room: Room) -> None:
    """Draws the map, for a decoder also the choice whether a click switches heads, and those that are off."""
    task, words = page.visit_state().reading, switches.next_words()
    if page.visit_state().selected is None or task is None or words is None:
        model_map.draw(prompt, config, found, pair, room)
        return
    on_click = switches.on_map_click if prompt.click == SWITCH else gestures.on_layer_click
    model_map.draw(prompt, config, found, pair, room, prompt.heads_off, on_click)
    knobs.segments("click", prompt, format_func=str.capitalize, on_change=page.change)
    switches.draw_heads_off(prompt, task, words)


def _tokens(sentences: Sequence[Config], pair: model_map.Pair | None) -> None:
    """Draws the tokens of one or two sentences, shaded by the weights of the selected one in the same head."""
    with st.container(gap="xsmall"):
        for at, config in enumerate(sentences):
            if model_map.has_words(config):
                _sentence_head(config, pair, "chips", key=f"model chips {at}" if at else "model chips")


def _sentence_head(
    config: Config, pair: model_map.Pair | None, part: str, side: int = MAP, key: str | None = None
) -> None:
    """Draws the tokens of the selected head or its map; a click selects a token, or a pair of tokens."""
    whole = (0, config.tokens), (0, config.tokens)
    key = key or f"model {part}"
    sentence_head(
        config,
        results.heads.lines(config, config.head, whole),
        key=key,
        on_pin=partial(gestures.on_pair_pin, key),
        parts=(part,),
        side=side,
        pair_key=pair and pair.at[1],
    )


def _selected_head(
    prompt: Prompt, config: Config, pair: model_map.Pair | None, role: Role | None, side: int = MAP
) -> None:
    """Draws the map of the selected head, and its role."""
    title = head_title(config, (config.layer, config.head))
    if not model_map.has_words(config):
        head_picture.thumbnail(config, SIDE, text.AXES, text.PICTURE_ALT.format(head=title))
    else:
        _sentence_head(config, pair, "map", side)
    if pair is None:
        st.caption(named_role(config, role))
        return
    note = role_note(config, role)
    if role and note:
        note = f"{note} {text.UNTESTED.format(query=escape(pair.query))}"
    average = text.AVERAGE.format(role=escape(role.says), note=note) if role else text.AVERAGE_NONE.format(note=note)
    said = text.ROW.format(
        head=title.capitalize(),
        query=escape(pair.query),
        weight=format_percent(pair.weight),
        key=escape(pair.key),
        riddle=model_finding.riddle_sentence(prompt, config, pair)
        or text.STRONGEST * _is_strongest(prompt, config, pair),
    )
    marked = any(name.startswith(GOES_ON) and name != GOES_ON for name in labels(config))
    st.caption(f"{said.rstrip()} {text.GOES_ON.format(mark=GOES_ON) * marked}".rstrip())
    if present.is_embedded():
        return
    with st.expander(text.OVER_ALL, icon=":material/table_rows:"):
        st.caption(average.rstrip())

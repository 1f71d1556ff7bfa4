"""Layers: every head of every layer as one statistic each, and the selected head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa
import streamlit as st

from attention.analysis.head_kinds import Role
from attention.analysis.head_numbers import EVERY
from attention.analysis.repeats import Copy, Largest
from attention.charts import heatmap
from attention.charts import training as curves
from attention.charts.layers import Room
from attention.codec import to_query
from attention.components.large_head import Marks, large_head
from attention.config import Config
from attention.fitting import layers, training_steps
from attention.knobs import GENERATED, KINDS, LAST_QUERY
from attention.number_format import format_mean, format_percent
from attention.pinned import sides_shown
from attention.sources.providers import distributes, readable, source_title, unit
from attention.ui import next_step, provenance, results
from attention.ui.controls import knobs, picture
from attention.ui.heading import draw_finding, title_part
from attention.ui.markdown import escape
from attention.ui.results.layers import Layer
from attention.ui.session import browser_yield, gestures, model_run, page, present
from attention.ui.session.role_note import needs_copies, role_note
from attention.ui.text import comparing, terms
from attention.ui.text import layers as text
from attention.ui.text.questions import UNSAID
from attention.ui.views import (
    heads_large,
    layers_changed,
    layers_circuit,
    layers_kinds,
    layers_sentences,
    own_text,
    questions,
)
from attention.ui.views import heads_layers as maps
from attention.ui.views import layers_copies as copies
from attention.ui.views.head_names import head_title, place_text
from attention.ui.views.pinned_sides import has_layer_difference

MODELS = next_step.REAL, "recorded:minilm-street"  # recordings of several layers
COLUMNS = [2, 3]
HEIGHT = 416  # pixels of the selected head with its axes: its square has 332, or as many as its column has room for
ROOM = Room(100, 270, key=True, stretch=400)  # of the map of all heads beside it, above the key to its colours
MAP = "selected-head"  # the anchor and the key of its map
SHARES = "first", "previous", "induction"  # statistics that are shares of the weight


def begin(config: Config) -> None:
    """Starts the computations that the page waits for."""
    results.heads.begin(config)
    results.layers.begin(config)


def view(config: Config) -> None:
    """Draws the map, and what the selected head does."""
    if questions.question_closes(config):
        heads_large.draw_asked_row(config.truncated)
        return
    found = results.layers.layers(config)
    _select_highest(config, found)
    sides = sides_shown(config, "difference", has_layer_difference)
    before = results.layers.layers(sides.a.truncated) if sides else None
    alone, unsaid = present.is_embedded(), questions.unsaid(config)
    kinds = layers_kinds.is_shown(config) and not (before or unsaid)
    focus = layers_kinds.focus(config, found) if kinds else config
    order = None if before or alone or unsaid else layers_circuit.order_of_kinds(config, found)
    if sides and before:
        said, changed = layers_changed.changed_maps(sides)
        finding = f"{layers_changed.finding(config, before, found)} {said}"
        draw_finding(questions.unsaid_finding(comparing.UNSAID) if unsaid else finding)
        if not (alone or unsaid):
            layers_changed.link_to_largest(sides, changed)
    else:
        finding = layers_circuit.finding(found, order) if kinds and order else layers_sentences.finding(config, found)
        draw_finding(questions.unsaid_finding() if unsaid else finding)
    if not (alone or own_text.look_read(config)) and (said := copies.text_sentence(config)):
        st.caption(said)
    pair, counted_by = None, ""
    if not (before or unsaid):
        pair, counted_by = copies.example_or_largest(focus.truncated, maps.number(focus, found))
    if not alone:
        _training_step(config, found)
    left, right = (st.container(), None) if alone else st.columns(COLUMNS, gap="medium")
    with left:
        if not alone:
            _statistic(config, found)
        if before:
            if not alone:
                st.caption(text.CELLS)
            layers_changed.draw_map(config, before, found, ROOM)
            _say_values(config, found, layers_changed.selected_sentence(config, before, found))
        else:
            if not (alone or unsaid):
                _see_map(focus, found)
            title = "" if alone else text.CELLS
            if kinds:
                layers_kinds.draw_map(config, found, ROOM, title)
            else:
                _values_map(config, found, title)
        if order:
            layers_circuit.say_order(config, found, order, maps.number(focus, found))
        if not alone:
            if not kinds:
                _offer_higher(config, found)
            if len(layers(config.source)) == 1:
                _several(config.heads)
            st.html(f'<div id="{MAP}" style="scroll-margin-top: 4rem"></div>')
    if right:
        with right:
            if before:
                st.caption(comparing.SIDE_B)
            _focus(config, focus, found, pair, counted_by)
        if order:
            layers_circuit.draw(config, found)
        terms.draw("layers", without=() if maps.number(config, found) in text.GROUPS["Spread"] else ("entropy", "nat"))
    browser_yield.yield_to_browser()


def _values_map(config: Config, found: Mapping[int, Layer], title: str) -> None:
    """Draws the map of a statistic, and what its colours and the numbers in its cells are."""
    alone, unsaid = present.is_embedded(), questions.unsaid(config)
    if not (alone or unsaid) and (why := layers_sentences.fallback(config, found)):
        st.caption(escape(why))
    if alone or not maps.absent(config, found):
        maps.draw_map(config, found, maps.Behaviour(room=ROOM), title)
    if said := layers_sentences.statistic_caption(config, found):
        bold = [] if unsaid else [layers_sentences.bold_sentence(config, found, ROOM)]
        blank = layers_sentences.blank_sentences(config, found, ROOM)
        _say_values(
            config, found, f"{layers_sentences.cells_sentence(config, found, ROOM)} {said}".lstrip(), bold + blank
        )


def _say_values(config: Config, found: Mapping[int, Layer], said: str, more: Sequence[str] = ()) -> None:
    """Draws a caption of the map with the formula of its statistic, after `more` in its help."""
    if said:
        st.caption(said, help=layers_sentences.caption_help(config, found, more))


def _training_step(config: Config, found: Mapping[int, Layer]) -> None:
    """Draws the training step of the shown heads, if they have several, and between which two of them some become high."""
    setting = page.setting()
    if len(training_steps(setting.source)) == 1:
        return
    left, right = st.columns(COLUMNS, gap="medium", vertical_alignment="center")
    with left:
        picture.widget(picture.STEP, setting, {}, page.change)
        if config.source == layers_circuit.EMERGES:
            back = {"source": next_step.REAL}
            st.button(
                text.BACK, key="back", help=text.BACK_HELP, icon=":material/undo:", on_click=page.change, kwargs=back
            )
    highest = {} if questions.unsaid(config) else maps.highest_by_step(config)
    if steps := maps.steps_of_appearance(highest):
        name = maps.number(config, found)
        acts = name == "induction" and maps.tells_of_copies(name, *results.layers.last_step(config, found))
        what = text.INDUCTION_APPEARS if acts else text.HIGH_APPEARS
        with right:
            st.markdown(text.MOVE_STEP.format(what=what, before=steps[0], after=steps[1]))
            _steps_chart(highest, setting.training_step)


def _steps_chart(highest: Mapping[int, float], now: int) -> None:
    """Draws the highest share of a head at each training step."""
    rows = [{"series": curves.HIGHEST, "step": step, "value": value} for step, value in highest.items()]
    rows.append({"series": curves.NOW, "step": min(now, max(highest)) if now >= 0 else max(highest), "value": 0.0})
    chart = curves.highest(max(highest))
    st.vega_lite_chart(pa.Table.from_pylist(rows), chart, key="by-step", width="stretch", alt=text.BY_STEP_ALT)


def _statistic(config: Config, found: Mapping[int, Layer]) -> None:
    """Draws the menu of what the map is coloured by; "auto", or one that these heads lack, has the name of what it shows."""
    metric_labels = layers_sentences.grouped_labels()
    shown = config.layer_map if layers_kinds.is_shown(config) else maps.number(config, found)
    zero = {name for name in maps.PATTERNS if name != shown and not any(maps.cells(name, found).values())}
    usable = {KINDS, *maps.known_metrics(config), shown}
    known = [name for name in metric_labels if name in usable and name not in zero]
    names = [config.layer_map if name == shown else name for name in known]
    label = lambda name: metric_labels[shown if name == config.layer_map else name]  # noqa: E731
    page.resend_menu("layer_map", metric_labels[shown])
    with st.container(key="map-choice"):
        chosen = partial(_on_statistic, config, found)
        about = layers_sentences.menu_help(known)
        knobs.menu("layer_map", config, names, label=text.COLOUR, format_func=label, on_change=chosen, help=about)


def _on_statistic(config: Config, found: Mapping[int, Layer]) -> None:
    """Another statistic was chosen: the head with its largest value is selected."""
    page.change(**layers_circuit.highest(replace(config, layer_map=page.widgets()["layer_map"]), found))


def _select_highest(config: Config, found: Mapping[int, Layer]) -> None:
    """Selects the head with the largest value once, after a model has read a new text, or another source was chosen here.

    No query stays selected: it was one of other tokens, and the map shows that of its example instead.
    """
    is_new = [model_run.take_new_text(config), _take_new_source(config)]
    if any(is_new) and (highest := layers_circuit.highest(config, found)):
        model_run.show_next(to_query(replace(config, query=LAST_QUERY, **highest)))


def _take_new_source(config: Config) -> bool:
    """Whether another source was chosen since this page was drawn: true once."""
    kept = page.visit_state()
    before, kept.source_here = kept.source_here, config.source
    return before not in ("", config.source)


def _stepper(config: Config, found: Mapping[int, Layer], in_order: bool) -> None:
    """Draws the selected head, its place by the statistic of the config, and buttons for the heads before and after it.

    `in_order`: whether these are the heads as on the map, not by that statistic.
    """
    here, held = (config.layer, config.head), maps.cells(maps.number(config, found), found)
    order = sorted(held, key=held.__getitem__, reverse=True)
    title = head_title(config, here).capitalize()
    about = None if questions.unsaid(config) else _means(found[config.layer], config)
    with st.container(key="head-stepper", horizontal=True, vertical_alignment="center", gap="small"):
        if here not in order or maps.absent(config, found) or questions.unsaid(config):
            st.markdown(f"**{title}**", help=about)
            return
        place = place_text(order.index(here) + 1, len(order))
        steps = sorted(order) if in_order else order
        at = steps.index(here)
        said = layers_sentences.metric_text(config, found, held[here])
        st.markdown(text.PLACE.format(head=title, statistic=said, place=place), help=about)
        with st.container(horizontal=True, width="content", gap="small"):
            for label, to, shortcut, help in (
                (text.PREVIOUS, at - 1, "P", text.BEFORE_HELP if in_order else text.PREVIOUS_HELP),
                (text.NEXT, at + 1, "N", text.AFTER_HELP if in_order else text.NEXT_HELP),
            ):
                there = 0 <= to < len(steps)
                layer, head = steps[to] if there else here
                st.button(
                    label,
                    key=f"{label} head",
                    help=help,
                    shortcut=shortcut,
                    disabled=not there,
                    on_click=page.change,
                    kwargs={"layer": layer, "head": head},
                )


def _see_map(config: Config, found: Mapping[int, Layer]) -> None:
    """Draws a link to the map of the selected head, for a phone, where it is a screen further down."""
    here, held = (config.layer, config.head), maps.cells(maps.number(config, found), found)
    said = layers_sentences.metric_text(config, found, held[here]) if here in held else ""
    template = text.SEE if said else text.SEE_MAP
    st.markdown(template.format(head=head_title(config, here).capitalize(), statistic=said, anchor=MAP))


def _offer_higher(config: Config, found: Mapping[int, Layer]) -> None:
    """Draws a button that shows a statistic on which some head is high, if none is on the one that is shown.

    A statistic that is zero for all heads has a button for another one in any case, and no map.
    """
    absent = maps.absent(config, found)
    higher = maps.higher_statistic(config, found)
    name = higher or (maps.usual_metric(config) if absent else _auto_statistic(config, found))
    if name:
        label = (text.HIGHER if higher and not absent else text.INSTEAD).format(statistic=EVERY[name].label.lower())
        knobs = {"layer_map": name} | layers_circuit.highest(replace(config, layer_map=name), found)
        st.button(label, key="higher", on_click=page.change, kwargs=knobs)


def _auto_statistic(config: Config, found: Mapping[int, Layer]) -> str:
    """What auto shows, if a pattern was chosen that no head follows, and some head is high on what auto shows; else ""."""
    shown, auto = maps.number(config, found), maps.number(replace(config, layer_map="auto"), found)
    if shown == auto or shown not in maps.PATTERNS or max(maps.cells(shown, found).values(), default=1.0) > maps.HIGH:
        return ""
    return (
        auto if maps.is_share(auto, config) and max(maps.cells(auto, found).values(), default=0.0) > maps.HIGH else ""
    )


def _several(heads: int) -> None:
    """Says what the single row of one layer shows, and draws buttons that open sources with several layers."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(text.ONE_LAYER.format(heads=heads))
        for source in filter(readable, MODELS):
            st.button(source_title(source), key=f"see {source}", on_click=page.change, kwargs={"source": source})


def _heads_text(config: Config) -> str:
    """Which heads the map shows."""
    numbers = layers(config.source)
    many = len(numbers)
    which = "" if numbers == tuple(range(many)) else text.SOME_LAYERS.format(layers=", ".join(map(str, numbers)))
    heads = text.HEADS.format(heads=config.heads)
    if many > 1:
        heads = text.HEADS_OF_LAYERS.format(count=many * config.heads, heads=config.heads, layers=many, which=which)
    source = text.OF_SOURCE.format(source=escape(source_title(config.source)))
    return text.MAP.format(
        heads=heads,
        source=source if config.source != GENERATED else "",
        tokens=config.tokens,
        unit=unit(config),
        other=text.CROSS.format(keys=config.n_keys) if config.is_cross else "",
        help=text.HELP,
    )


def named_role(config: Config, role: Role | None) -> str:
    """The selected head and what it does, as Markdown."""
    return text.DOES.format(
        head=head_title(config, (config.layer, config.head)).capitalize(), role=role_text(config, role)
    )


def role_text(config: Config, role: Role | None, puts: str = "", rests: str = "", is_counted: bool = False) -> str:
    """What the selected head does, without its name, and how often it does so on other texts, as Markdown.

    First what it `puts` somewhere, and whether it `rests` on the first token otherwise. `is_counted`: whether the statistic
    of the map, which is said already, is that of the role.
    """
    none = puts or (text.CROSS_ROLE if config.is_cross else layers_sentences.no_role(config))
    none = none if puts or distributes(config) else results.heads.no_role(config).says
    says = role.says if role else none
    if role and is_counted and says.endswith(text.MEAN_WEIGHT):
        says = f"{says.rpartition(':')[0]}."
    says = escape(says) if role else says
    says = rests or (text.OVERALL.format(puts=puts, role=says) if role and puts else says)
    use = text.USE if needs_copies(role) else ""
    return " ".join(filter(None, (says, use, role_note(config, role, bool(rests)))))


def _focus(
    config: Config, focus: Config, found: Mapping[int, Layer], pair: Copy | Largest | None, counted_by: str
) -> None:
    """Draws the selected head: its place, what it does, its picture, some statistics, and a link to all of it.

    `focus`: the settings with the statistic of which that is told. `counted_by`: the statistic that counts the pair.
    """
    _stepper(focus, found, in_order=focus is not config)
    layer, unsaid = found[config.layer], questions.unsaid(config)
    role = layer.roles[config.head]
    name = maps.number(focus, found)
    is_counted = maps.has_role(name, found, (config.layer, config.head))
    does = role_text(config, role, *layers_sentences.puts_sentences(focus, found), is_counted)
    shown, whole = config.truncated, ((0, config.truncated.tokens), (0, config.truncated.n_keys))
    if pair:
        shown = replace(shown, query=pair.query)
    shown = copies.with_plain_colors(shown)
    cells = results.heads.part(shown, shown.head, whole, heatmap.PIXELS)
    marks = copies.marks(shown, pair, counted_by) or Marks([])  # room for words, so that the map never moves
    on_pin = None if unsaid else partial(gestures.on_row_pin, MAP)
    large_head(shown, cells, (0, 0), key=MAP, zooms=False, height=HEIGHT, marks=marks, on_pin=on_pin)
    if shown.color_scale == "times even":
        st.caption(text.EVEN_SCALE)
    st.markdown(UNSAID if unsaid else text.IT_DOES.format(role=does))
    seen = copies.shape_sentence(config.truncated, pair) if pair else ""
    if said := " ".join(filter(None, (seen, copies.lines_sentence(config)))):
        st.caption(said)
    if not unsaid and (isinstance(pair, Copy) or needs_copies(role)) and (said := copies.copies_sentence(config)):
        st.caption(f"{said} {copies.sink_sentence(config)}".rstrip())
    several = len(layers(config.source)) > 1
    next_step.page_link(
        "heads", text.OPEN_LAYER.format(layer=config.layer) if several else text.OPEN_HEADS, to_query(config)
    )


def _means(layer: Layer, config: Config) -> str:
    """Some statistics of the selected head, each with the queries that it is a mean over, as Markdown."""
    known = maps.known_metrics(config)
    told = [_metric_text(name, layer, config) for name in text.STATISTICS if name in layer.numbers and name in known]
    told = [said for said in told if said]
    return text.MEANS.format(statistics="\n".join(text.MEAN.format(statistic=each) for each in told))


def _metric_text(name: str, layer: Layer, config: Config) -> str:
    """A statistic of the selected head in words; "" of a mean weight on keys that no query sees."""
    value = layer.numbers[name][config.head]
    queries = layers_sentences.queries_phrase(name, config.truncated) if name in SHARES else ""
    if name in SHARES and not queries:
        return ""
    if value is None:
        return escape(text.NO_VALUE.format(statistic=EVERY[name].label))
    as_share = name in SHARES and distributes(config)
    said = format_percent(value) if as_share else format_mean(value)
    return escape(text.STATISTICS[name].format(value=said, queries=queries))


TEXT_FIELD = own_text.read_field(copies.text_sentence)
TITLE = title_part("layers", lambda config: f"{_heads_text(config)} {provenance.full_text(config)}")

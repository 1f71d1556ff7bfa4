"""Maps with words of a published row beside the correct ones, weights or influence, and what to see in them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st
import torch
from torch import Tensor

from attention.charts import theme
from attention.charts.word_map import word_map
from attention.config import Config
from attention.published import ROWS
from attention.published.compare import ROUNDING, Comparison, rows_apart
from attention.tables import rows as tables
from attention.ui import results
from attention.ui.text import implementations as text
from attention.ui.views import implementations_overview, word_sentences

IN_WORDS = 24  # the most tokens of a map with words at its rows and columns
LEGEND = '<p class="map-legend">{}</p>'
SWATCH = '<span><i style="background: linear-gradient(to right, {colors})"></i>{text}</span>'
HATCHED = '<span><i class="masked"></i>{text}</span>'


def words(config: Config, found: Comparison) -> list[str]:
    """The tokens at rows and columns of a map that is small enough for words; [] for any other."""
    queries, keys = found.mask.shape
    tokens = tables.labels(config)[:queries]
    return tokens if queries == keys == len(tokens) <= IN_WORDS else []


def weights(config: Config, found: Comparison, tokens: Sequence[str], printed: bool) -> None:
    """Draws the weights of a head beside the correct ones, and says in how many rows they differ."""
    assert found.weights is not None
    head = shown_head(config, found)
    own, correct = found.weights[head].nan_to_num(0), found.reference[head]
    sides = [
        (_own_title(config, printed), own, found.unmasked[head], _masked(found, head)),
        (text.CORRECT, correct, found.mask, None),
    ]
    maps = [
        word_map(
            cells,
            visible,
            tokens,
            theme.WEIGHTS,
            title,
            text.MAP_ALT.format(title=title),
            word_sentences.weight_sentence,
            framed,
            is_contour=True,
        )
        for title, cells, visible, framed in sides
    ]
    st.markdown(_weights_seen(found, head))
    _show(maps, "weights", any(bool((~visible).any()) for _, _, visible, _ in sides))
    st.caption(text.WEIGHTS_NOTE.format(head=head, first=first(config)))


def _masked(found: Comparison, head: int) -> Tensor:
    """The masked pairs that have a weight."""
    assert found.weights is not None
    return (found.weights[head].nan_to_num(0) > ROUNDING) & ~found.mask


def _weights_seen(found: Comparison, head: int) -> str:
    """What to look for in two maps of weights."""
    if found.judgement.square and found.judgement.square.agrees:
        return text.SEE_EQUAL
    assert found.weights is not None
    own = found.weights[head].nan_to_num(0)
    if len(own) > 1 and bool((own - own[0]).abs().max() < ROUNDING):
        return text.SEE_SAME
    if found.difference is None:
        return text.SEE_SHAPES
    if masked := int((framed := _masked(found, head)).sum()):
        later = "" if framed.tril().any() else text.LATER
        return text.SEE_MASKED.format(masked=masked, count=framed.numel(), later=later)
    wrong = rows_apart(found.difference[head])
    said = text.SEE_WEIGHTS if wrong else text.SEE_OTHER_HEAD
    return said.format(wrong=wrong, rows=len(found.mask), head=head)


def influence(
    config: Config,
    name: str,
    printed: bool,
    reach: Tensor,
    tokens: Sequence[str],
    leaking: tuple[Tensor, Tensor] | None,
) -> None:
    """Draws the influence of tokens, before that of the corrected version if this is another; leaks are orange."""
    marked = leaking[0] if leaking else None
    sides = [(_own_title(config, printed), reach, marked)]
    has_pair = ROWS[name].as_printed is not None
    correct = results.published.influences(config.for_page(results.published.PAGE), name, False) if has_pair else None
    if correct is not None and correct.shape == reach.shape:
        sides.append((text.CORRECT, correct, None))
    maps, largest = [], max(float(moved.max()) for _, moved, _ in sides) or 1.0  # of both maps, which have one scale
    for title, moved, orange in sides:
        cells, alt = moved.float() / largest, text.MAP_ALT.format(title=title)
        says = word_sentences.change_sentence
        maps.append(word_map(cells, cells != 0, tokens, theme.INFLUENCE, title, alt, says, orange, theme.LEAKS))
    leaks = marked is not None and bool(marked.any())
    equal = len(sides) > 1 and torch.equal(sides[0][1], reach)
    seen = text.SEE_EQUAL_CHANGES if equal else text.SEE_CHANGES
    if leaking is not None:
        seen = text.SEE_LEAKS.format(leaks=int(leaking[0].sum()), masked=int(leaking[1].sum()))
    st.markdown(seen)
    _show(maps, "influence", any(bool((moved == 0).any()) for _, moved, _ in sides), leaks)
    notes = [text.INFLUENCE_NOTE.format(first=first(config)), *[text.ONE_SCALE] * (len(sides) > 1)]
    st.caption(" ".join(notes))


def _show(maps: list[str], kind: str, is_hatched: bool, leaks: bool = False) -> None:
    """Draws what the colours mean, then maps beside each other; on a phone, where words would overlap, below each other."""
    colors = {"weights": theme.WEIGHTS, "influence": theme.INFLUENCE, "leaks": theme.LEAKS}
    shown = [kind, *["leaks"] * leaks]
    stops = {
        each: [f"light-dark({light}, {dark})" for light, dark in zip(*colors[each].values(), strict=True)]
        for each in shown
    }
    items = [SWATCH.format(colors=", ".join(stops[each]), text=escape(text.LEGEND[each])) for each in shown]
    items += [HATCHED.format(text=escape(text.LEGEND_NONE[kind]))] * is_hatched
    size = "many-words" if len(maps) > 1 else "alone"
    st.html(f'{LEGEND.format("".join(items))}<div class="word-maps maps-{size}">{"".join(maps)}</div>')


def _own_title(config: Config, printed: bool) -> str:
    """Which version a map is of."""
    return text.VERSION_TITLES[implementations_overview.version(config.implementation, printed)]


def shown_head(config: Config, found: Comparison) -> int:
    """The selected head, or the last one if the document uses fewer."""
    return min(config.head, len(found.reference) - 1)


def where(config: Config, found: Comparison) -> str:
    """A suffix that names the head that is shown, and the sequence if there are several."""
    return text.HEAD.format(head=shown_head(config, found), first=first(config))


def first(config: Config) -> str:
    """A suffix that says which sequence is shown, if there are several."""
    return text.FIRST.format(batch=config.batch) if config.batch > 1 else ""

"""The first picture of Masks: the selected row before and with the mask, and the map of the selected head with it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st
import torch

from attention.analysis.mask_effect import difference
from attention.charts import heatmap
from attention.components.large_head import large_head
from attention.components.sentence_head import sentence_head
from attention.config import Config
from attention.knobs import GENERATED, LAST_QUERY
from attention.number_format import format_token
from attention.sources.providers import has, has_own_mask, idle
from attention.tables.rows import labels
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.session import gestures, page
from attention.ui.text import masks as text
from attention.ui.views import focus
from attention.ui.views.mask_effect import Effect, amount, effect_of, hit_most
from attention.wire.cells import Cells, cells

LEAST = 0.001  # of the weight of a row: what must move for the mask to have an effect on it
CHIPS = 64  # maximum number of tokens that are shown as chips, above a map of one cell per pair
ROW, MAP = "mask row", "mask map"  # keys of the parts of the picture


def found_of(config: Config) -> Effect | None:
    """The effect of the mask, with the row that the page shows selected; None if the source has no queries and keys."""
    if not has(config.source).issuperset(("q", "k")):
        return None
    found = effect_of(config.truncated)
    return _with_usual_row(found) if config.query == LAST_QUERY and _has_chips(found.config) else found


def _with_usual_row(found: Effect) -> Effect:
    """Selects the token in the middle under every mask, or the one most affected if weight moves, but none from this."""
    gain = difference(found.before, found.after, found.config.head).clamp(min=0).fill_diagonal_(0).sum(-1)
    gain = gain * found.after.mask.any(-1)
    usual = usual_row(found.config)
    shown = (
        usual if float(found.lost[found.config.head, usual]) >= LEAST or not float(gain.max()) else int(gain.argmax())
    )
    return replace(found, config=replace(found.config, query=shown))


def usual_row(config: Config) -> int:
    """The token that is selected while none is chosen."""
    return config.tokens // 2


def _has_chips(config: Config) -> bool:
    return not config.is_cross and config.tokens <= CHIPS and bool(labels(config)) and not config.head_softmax.signed


def draw_row(found: Effect) -> None:
    """Draws the selected row as the sentence, shaded before and with the mask, or a way to a mask that changes it."""
    config = found.config
    if not found.hides and not found.adds and config.rule_name == "full" and not idle("mask", config):
        st.button(text.TRY_CAUSAL, on_click=page.change, kwargs={"mask": "causal"}, key="try causal", type="primary")
    if _has_chips(found.config):
        _sentence(found, ROW, "chips")


def draw_alone(found: Effect) -> None:
    """Draws row and map as one picture, without controls."""
    _map(found, "chips", "map")


def _map(found: Effect, *parts: str) -> None:
    """Draws the selected head with the mask."""
    config = found.config
    if _has_chips(config):
        _sentence(found, MAP, *parts)
    else:
        shown = results.heads.part(config, config.head, config.window, heatmap.PIXELS)
        first = config.window[0][0], config.window[1][0]
        large_head(config, shown, first, key=f"{MAP} large", zooms=False)


def draw_map(found: Effect) -> None:
    """Draws the selected head with the mask, and the choice of head."""
    config = found.config
    _map(found, "map")
    with st.container(horizontal=True, vertical_alignment="bottom", key="mask-focus"):
        focus.head(config)
        if not _has_chips(config):
            focus.query(config)
        if (most := hit_most(found)) is not None:
            said = text.SELECT.format(query=_name(config, most))
            st.button(said, on_click=page.change, kwargs={"query": most}, key="hit most", type="primary")


def _sentence(found: Effect, key: str, *parts: str) -> None:
    config, pin = found.config, partial(gestures.on_sentence_pin, key)
    base, mask = found.names
    moves = found.hides or found.adds
    sentence_head(config, _both(found), key=key, on_pin=pin, parts=parts, masks=(base, mask) if moves else None)


def _both(found: Effect) -> Cells:
    """The cells of the selected head with the mask, then of the same under the baseline."""
    head, sides = found.config.head, (found.after, found.before)
    return cells(
        torch.stack([side.weights[head] for side in sides]),
        torch.stack([side.mask for side in sides]),
        found.config.tokens,
    )


def finding(found: Effect) -> str:
    """What the mask does to the selected row of this head."""
    (base, mask), config, row = found.names, found.config, found.config.query_index
    named = {
        "mask": text.OWN if has_own_mask(config.source) else text.THE_MASK.format(mask=mask),
        "query": _selected_name(config, row),
    }
    if not found.hides and not found.adds:
        return _nothing_moves(found)
    if not found.after.mask[row].any():
        return text.SEES_NONE.format(**named)
    if found.hides_in_row:
        lost = float(found.lost[config.head, row])
        said = text.MOVES_NOTHING if not lost else text.MOVES if config.softmax == "standard" else text.LOSES
        sees, rest = _sees(found)
        if said is text.MOVES and rest == text.TO_THEM:
            return text.LOSES_SOME.format(**named, **_lost_words(found), share=amount(lost, config))
        if said is text.MOVES and rest in dict(text.SEES.values()).values():
            said = text.GOES
        return said.format(**named, sees=sees, share=amount(lost, config), rest=rest)
    added = int((found.after.mask & ~found.before.mask)[row].sum())
    if added:
        share = amount(float(found.gained[config.head, row]), config)
        return text.SEES_MORE.format(**named, count=added, words=_words(added), base=base, share=share)
    most = hit_most(found)
    if most is None:
        return text.NO_WEIGHT_THERE.format(**named, head=config.head)
    share = amount(float(found.lost[config.head, most]), config)
    return text.LOSES_NONE.format(**named, most=_name(config, most), share=share)


def _nothing_moves(found: Effect) -> str:
    (base, mask), config = found.names, found.config
    if mask != "full":
        return text.SAME_PAIRS.format(mask=mask, baseline=base)
    return text.FULL_MOVES_NOTHING + ("" if config.source == GENERATED else text.OWN_FULL)


def _sees(found: Effect) -> tuple[str, str]:
    """What the mask leaves of the selected row, and the words to which weight moves."""
    config, row = found.config, found.config.query_index
    visible = int(found.after.mask[row].sum())
    if config.combine == "none" and not has_own_mask(config.source) and config.mask in text.SEES:
        sees, rest = text.SEES[config.mask]
        last = text.LAST if config.span == 1 else text.LAST_MORE.format(span=min(config.span, config.n_keys))
        return sees.format(last=last), text.TO_ITSELF if visible == 1 and found.after.mask[row, row] else rest
    if visible == 1 and not config.is_cross and found.after.mask[row, row]:
        return text.SEES_ITSELF, text.TO_ITSELF
    return text.SEES_SOME.format(visible=visible, whole=config.n_keys), text.TO_IT if visible == 1 else text.TO_THEM


def _lost_words(found: Effect) -> dict[str, str]:
    """How many words the mask hides from the selected row, of how many, and how many are left."""
    before, after = (side.mask[found.config.query_index] for side in (found.before, found.after))
    numbers = {"hidden": before & ~after, "whole": before, "visible": after}
    return {name: f"{int(mask.sum()):,}" for name, mask in numbers.items()}


def another_row(config: Config, found: Effect) -> str:
    """Says why another token than usual is selected; "" if it is the usual one, or chosen."""
    usual = usual_row(found.config)
    if config.query != LAST_QUERY or not _has_chips(found.config) or found.config.query == usual:
        return ""
    return text.ANOTHER_ROW.format(usual=_name(found.config, usual))


def _words(count: int) -> str:
    return text.WORDS[count > 1]


def _name(config: Config, at: int) -> str:
    """A token, with its position if the sequence has it twice, otherwise in quotes; a position where there are no words."""
    names = labels(config)
    if not names:
        return text.QUERY.format(query=at)
    return escape(format_token(names[at], at) if names.count(names[at]) > 1 else f"“{names[at]}”")


def _selected_name(config: Config, at: int) -> str:
    """The selected token, which the chips frame; in quotes alone if the sequence has it once."""
    names = labels(config)
    several = _has_chips(config) and names.count(names[at]) > 1
    return escape(text.FRAMED.format(token=names[at])) if several else _name(config, at)


def draw_before(config: Config) -> None:
    """Draws the selected head without a mask, while a question about the mask and the selected query hides what it does."""
    found = found_of(replace(config, mask="full", combine="none", query=config.query_index))
    if found and _has_chips(found.config):
        st.caption(text.BEFORE_MASK)
        _map(found, "chips", "map")


def draw_baseline_note(found: Effect) -> None:
    """Says of a model that it was made under another mask."""
    config = found.config
    if config.source != GENERATED and (found.hides or found.adds) and idle("baseline", config):
        st.caption(text.MADE_UNDER.format(baseline=found.names[0]))

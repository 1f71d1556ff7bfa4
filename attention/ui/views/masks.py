"""Masks: every rule in a gallery, and the effect of the one in use."""

from __future__ import annotations

import math
from dataclasses import replace

import streamlit as st

from attention.analysis.mask_gallery import BLOCK, Exhibit, flops
from attention.analysis.mask_reach import dependency_chain
from attention.codec import CONFIGS
from attention.components.mask_gallery import mask_gallery
from attention.config import Config
from attention.number_format import format_percent, format_token
from attention.pinned import shown_side, sides_shown
from attention.sources.providers import has_own_mask, mask_in_use, mask_name, square
from attention.tables import rows
from attention.tables.rows import ranges
from attention.ui import proof, provenance, results
from attention.ui.controls import knobs
from attention.ui.empty_states import disabled_knob
from attention.ui.heading import reserve_finding, title_part
from attention.ui.markdown import escape
from attention.ui.session import gestures, page, present
from attention.ui.text import comparing, terms
from attention.ui.text import masks as text
from attention.ui.views import heads_parts, mask_audit, mask_code, mask_effect, mask_picture, masks_changed, questions
from attention.ui.views.mask_effect import Effect

RANGES = 12  # ranges of fully masked rows that are listed
LABELLED = 20  # maximum number of tokens whose chain is named
FOLD = "mask details"  # key of the expander
ARROWS = 6  # tokens of a chain that are named
DETAILS = {"effect": mask_effect.section, "empty rows": mask_audit.section, "code": mask_code.section}


def view(config: Config) -> None:
    """The page of a config; parts that need every weight show the first tokens of a long sequence, and say so."""
    sides, config = sides_shown(config, "difference", masks_changed.has_mask_difference), shown_side(config)
    short = config.truncated
    if questions.ours(config) and short is not config:
        st.caption(text.QUESTION_SHORT.format(shown=short.tokens, tokens=config.tokens))
    if questions.question_closes(short):
        if questions.ours(short) == "mask" and mask_in_use(config.source):
            mask_picture.draw_before(short)
        return
    place = reserve_finding()  # filled after the pictures, which the user waits for
    alone = present.shows_one_picture(config)
    found = None if sides or not mask_in_use(config.source) else mask_picture.found_of(config)
    if sides:
        masks_changed.draw_map(sides)
    if found:
        _first_picture(config, found)
    elif not (sides and alone):
        _gallery(config)
    if not alone:
        _below(config, comparing.IN_B if sides else "", found)
    place.markdown(masks_changed.finding(sides) if sides else _finding(config, found))


def _first_picture(config: Config, found: Effect) -> None:
    """Draws the selected row before and with the mask, and the map of its head, with the cards of all masks beside it."""
    if present.shows_one_picture(config):
        mask_picture.draw_alone(found)
        return
    with st.container(key="mask-picture"):
        mask_picture.draw_row(found)
        if _reason(config) and not questions.unsaid(config):
            st.caption(mask_picture.finding(found))
        picture, cards = st.columns(2, gap="small")
        with picture:
            mask_picture.draw_map(found)
            if note := mask_picture.another_row(config, found):
                st.caption(note)
            _about_used(config, "")
        with cards:
            _gallery(config)


def _below(config: Config, side: str, found: Effect | None) -> None:
    """Draws what follows the pictures: the mask in words, the proof, and parts in folds."""
    if not found:
        _about_used(config, side)
    else:
        mask_picture.draw_baseline_note(found)
    _foot(config)
    if not config.is_cross:
        with st.expander(text.REACH_FOLD, icon=":material/layers:"):
            knobs.slider("depth", config)
            st.markdown(f"{_chain(config)}\n\n{_reach_table(config)}")
    if page.widgets().get(FOLD) is None:  # a link may select a part in it
        page.widgets()[FOLD] = config.mask_detail != CONFIGS.defaults["mask_detail"]
    fold = st.expander(text.MORE, icon=":material/functions:", key=FOLD, on_change="rerun")
    if fold.open:
        with fold:
            knobs.segments("mask_detail", config)
            if mask_in_use(config.source) or not disabled_knob(config, text.TITLES[config.mask_detail], "mask"):
                DETAILS[config.mask_detail](replace(config, query=found.config.query) if found else config)


def _finding(config: Config, found: Effect | None) -> str:
    """What the mask is for; what it does to the selected row, if it has no reason or is alone; or the pairs that it keeps."""
    if not mask_in_use(config.source):
        return text.FIXED
    reason = _reason(config)
    if found and not questions.unsaid(config) and (present.shows_one_picture(config) or not reason):
        return mask_picture.finding(found)
    return reason or _pairs_sentence(config)


def _reason(config: Config) -> str:
    """What the mask in use is for, or what a combination of two keeps; "" for a source's own, and another sequence."""
    if has_own_mask(config.source) or config.is_cross:
        return ""
    if config.combine != "none":
        return text.COMBINED[config.combine].format(name=mask_name(config))
    before = text.NEARBY if questions.unsaid(config) else f"{config.span - 1:,} word{'s' * (config.span != 2)}"
    return text.WHYS.get(config.mask, "").format(before=before)


def _pairs_sentence(config: Config, template: str = text.FINDING) -> str:
    """How many pairs the mask in use keeps, and their share."""
    used = results.masks.exhibit(config, config.depth)
    share = format_percent(used.share)
    return template.format(
        name=used.name, span=_span(config), pairs=f"{used.pairs:,}", whole=f"{used.whole:,}", share=share
    )


def _help(config: Config) -> str:
    return f"{text.HELP} {provenance.full_text(config)}"


def _foot(config: Config) -> None:
    """Draws the proof of the picture, and the terms of the page."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if config.truncated is config:  # otherwise it is shown with the weights that it is about
            proof.badge(config)
        terms.draw("masks")


def _gallery(config: Config) -> None:
    """Draws the cards of all masks."""
    own = (
        [results.masks.exhibit(config, config.depth)] if config.combine != "none" or has_own_mask(config.source) else []
    )
    every = results.masks.gallery(config.tokens, config.span, config.depth, results.masks.other(config))
    mask_gallery(config, [*every, *own], on_choice=gestures.on_mask_choice)


def _about_used(config: Config, side: str) -> None:
    """Says what the mask in use is for, who uses it and what it keeps; `side`: of which side it is, if both are compared."""
    used = results.masks.exhibit(config, config.depth)
    reason = _reason(config) if mask_in_use(config.source) and not side else ""  # which is the headline
    template = "{tiles}{users}" if reason else text.IN_USE if mask_in_use(config.source) else text.NOT_IN_USE
    said = template.format(
        side=side, name=used.name, about=_about(config, used), tiles=_tiles(used), users=_users(used)
    )
    if reason:
        longer = config.rule.span and config.span > config.tokens  # which the sentence with the span says
        said = f"{_pairs_sentence(config, text.FINDING if longer else text.PAIRS)} {said}"
    elif mask_in_use(config.source):
        said = f"{said.rstrip()} {_pairs_sentence(config)}"
    st.caption(
        said.rstrip(),
        help=text.OPERATIONS.format(
            kept=_count(config, used, used.share),
            whole=_count(config, used),
            keys="m" if config.is_cross else "n",
            blocks=_blocks(used),
            reach=_reach(config),
            source=escape(used.rule.source),
        ),
    )


def _reach_table(config: Config) -> str:
    """How far each mask reaches, as a table in Markdown."""
    every = results.masks.gallery(config.tokens, config.span, config.depth, results.masks.other(config))
    lines = [text.REACH_LINE.format(name=each.name, back=each.back, ahead=each.ahead) for each in every]
    return "\n".join([text.REACH_HEAD.format(layers=config.depth), *lines])


def _about(config: Config, used: Exhibit) -> str:
    """What the mask in use does; for a source's own mask, the nearest rule and the fully masked rows."""
    if not has_own_mask(config.source):
        return used.rule.help
    told = f"{used.rule.help} {escape(results.masks.nearest(config).sentence)}"
    if not used.blind:
        return told
    masked = text.FULLY_MASKED.get(used.blind, text.FULLY_MASKED_MORE)
    return f"{told} {masked.format(count=used.blind, queries=ranges(used.empty.tolist(), RANGES))}"


def _reach(config: Config) -> str:
    """The definition of reach, if the outputs of a layer are the inputs of the next one."""
    if config.is_cross:
        return text.NO_REACH.format(keys=config.n_keys)
    return text.REACH.format(layers=config.depth)


def _chain(config: Config) -> str:
    """The words through which the last one depends on the earliest that it reaches; "" for long and for other sequences."""
    words = rows.labels(config)
    if config.is_cross or not 0 < len(words) <= LABELLED or len(words) != config.tokens:
        return ""
    steps = dependency_chain(square(config, config.tokens, config.n_keys), config.depth)
    if len(steps) == 1:
        return ""
    said = [escape(format_token(words[at], at)) for at in steps]
    if len(said) > ARROWS:
        said[ARROWS - 2 : -1] = ["…"]
    template = text.CHAIN if len(steps) > 2 else text.ONE_ARROW
    return template.format(chain=" ← ".join(said), layers=len(steps) - 1)


def _users(used: Exhibit) -> str:
    """The models that use the rule, if any are named."""
    return text.USERS.format(users=escape(used.rule.users)) if used.rule.users else ""


def _tiles(used: Exhibit) -> str:
    """What a pixel is if it covers more than one pair."""
    return "" if used.tile == 1 else text.TILES.format(tile=used.tile)


def _span(config: Config) -> str:
    """The span, if the rule has one."""
    if has_own_mask(config.source) or not config.rule.span:
        return ""
    most = max(config.tokens, config.n_keys)
    same = text.SAME_SPAN.format(tokens=most) if config.span > most else ""
    return text.SPAN.format(span=config.span, same=same)


def _blocks(used: Exhibit) -> str:
    """What a kernel that works in blocks saves."""
    if max(used.tokens, used.keys) > BLOCK:
        return text.BLOCKS.format(block=BLOCK, share=format_percent(1 - used.blocks))
    return text.ONE_BLOCK.format(block=BLOCK, kept=text.KEPT if used.blocks else text.NOT_KEPT)


def _count(config: Config, used: Exhibit, kept: float = 1.0) -> str:
    """The operations of the two products, with three digits and a unit."""
    number = flops(used.whole, config.d_model, kept)
    power = min(4, max(0, int(math.log10(max(number, 1)) // 3)))
    return f"{number / 1000**power:.3g} {' kMGT'[power].strip()}".strip()


TITLE = title_part("masks", _help, heads_parts.badge)

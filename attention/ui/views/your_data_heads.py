"""The files that are open, and the first heads of one as maps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product

import streamlit as st

from attention.analysis.head_kinds import Role
from attention.codec import to_query
from attention.config import Config
from attention.fitting import layers
from attention.imported.registry import Upload, entry_name
from attention.number_format import format_head
from attention.recorded.file import RecordingError, Shape
from attention.tables.rows import labels, quantity
from attention.trace import bytes_of
from attention.ui import next_step, results
from attention.ui.budget import UNDER_WAY
from attention.ui.heading import draw_section
from attention.ui.markdown import escape
from attention.ui.session import uploads
from attention.ui.text import your_data as text
from attention.ui.views import head_picture, your_data_files

SIDE = 280  # maximum number of pixels of a map: page.css fits them into their rows
MAPS = 8  # maps that are drawn at most
COMMON = {"first token", "itself", "uniform"}  # roles that say little of a head
TELLING = "induction"  # a role that says most
Heads = Sequence[tuple[Config, Role | None]]


def draw_maps(config: Config, heads: Heads, linked: bool = False) -> None:
    """Draws the first heads of a source with their roles, `linked`: each with a link that opens it on Heads."""
    shown = config.truncated
    names = [] if config.is_cross else labels(shown) or [str(at) for at in range(shown.tokens)]
    with st.container(key="head-maps"):
        for each, role in heads:
            name = format_head(each.head, each.layer)
            label = text.WITH_ROLE.format(head=name, role=role.name) if role and role.name else name
            with st.container(key=f"map {each.layer} {each.head}", gap="xxsmall"):
                caption, alt = "" if linked else label, text.MAP.format(head=name)
                if linked:
                    next_step.page_link("heads", escape(label), to_query(each))
                if names:
                    head_picture.labelled_thumbnail(each, SIDE, caption, alt, names)
                else:
                    head_picture.thumbnail(each, SIDE, caption, alt)
    if linked and heads:
        st.caption(_caption(config, heads))


def draw_example(config: Config) -> None:
    """Draws the most telling head of the example, and what it does."""
    heads = telling(first_heads(config))
    draw_maps(config, heads)
    if heads:
        st.caption(text.OF_EXAMPLE.format(does=finding(heads)))


def _caption(config: Config, heads: Heads) -> str:
    """What the maps show, and how many of all heads these are."""
    count = len(layers(config.source)) * config.heads
    masked = not bool(results.heads.trace(heads[0][0]).mask.all())
    some = text.SOME.format(shown=len(heads), all=count) if count > len(heads) else ""
    return f"{text.MAPS}{text.HATCHED * masked}. {some}{text.NUMBERS}"


def first_heads(config: Config) -> Heads:
    """The first heads of a source, up to four of each of two layers; none if there is no memory for a pass now.

    With their roles, unless the file is longer than what is computed here: the role of its first tokens may be another.
    """
    whole, config = config, config.truncated
    size = bytes_of(config)
    shown = layers(config.source)[:2]
    heads = range(min(config.heads, MAPS // len(shown)))
    if not UNDER_WAY.would_fit(config, size):
        return []
    with UNDER_WAY.reserve(config, size), suppress(RecordingError):  # without the recording there is no picture
        roles = {layer: results.heads.roles(config.of_layer(layer)) for layer in shown} if whole == config else {}
        return [
            (replace(config.of_layer(layer), head=head), roles[layer][head] if roles else None)
            for layer, head in product(shown, heads)
        ]
    return []


def telling(heads: Heads) -> Heads:
    """The most telling head as a list of one: if possible, not one whose role any text gives; [] if none has a role."""
    named = [(each, role) for each, role in heads if role and role.name]
    return sorted(named, key=lambda one: (one[1].name in COMMON, one[1].name != TELLING))[:1]


def finding(heads: Heads) -> str:
    """What the most telling head does; "" if none has a role."""
    for each, role in telling(heads):
        return text.HEAD_DOES.format(head=format_head(each.head, each.layer), does=escape(role.says if role else ""))
    return ""


def draw_files() -> None:
    """Draws the uploads that are open in this visit, with their sizes and a button that closes each."""
    holdings = uploads.holdings()
    if not holdings:
        return
    draw_section(text.OPEN_FILES)
    for holding in holdings:
        with st.container(horizontal=True, vertical_alignment="center", key=f"row {holding.source}"):
            st.markdown(_summary_text(holding), width="stretch")
            next_step.page_link("heads", text.TO_HEADS, to_query(Config.of(holding.source)), ":material/grid_view:")
            st.button(text.CLOSE, key=f"close {holding.source}", on_click=_close_source, args=(holding.source,))


def _close_source(source: str) -> None:
    uploads.close(source)
    your_data_files.forget_file(source)


def _summary_text(holding: Upload) -> str:
    sizes = holding.shape
    return text.SUMMARY.format(
        name=escape(entry_name(holding.source)),  # two recordings of one model have one title
        parts=text.SUMMARY_VECTORS if {"q", "k"} <= sizes.has else text.SUMMARY_WEIGHTS,
        **sizes_text(sizes),
        size=quantity(holding.stack.bytes, "B"),
    )


def sizes_text(sizes: Shape) -> dict[str, str]:
    """Layers, heads and tokens of a file in words."""
    tokens = text.SUMMARY_CROSS if sizes.keys else text.SUMMARY_TOKENS
    return {
        "layers": text.SUMMARY_LAYERS[sizes.layers > 1].format(count=sizes.layers),
        "heads": text.SUMMARY_HEADS[sizes.heads > 1].format(count=sizes.heads),
        "tokens": tokens.format(tokens=sizes.tokens, keys=sizes.keys),
    }

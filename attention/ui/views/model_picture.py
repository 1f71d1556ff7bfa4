"""The weights of a patch of a picture, or of a special token of the model, drawn over the picture."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

import pyarrow as pa
import streamlit as st
from PIL import Image

from attention.charts import patches as chart
from attention.config import Config
from attention.fitting import layers
from attention.models.parts import Part
from attention.models.prompt import PROMPTS, Prompt
from attention.models.run import Run
from attention.number_format import format_percent, format_weight
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import model as text
from attention.ui.views import heads_parts as parts

MEAN = -1  # the mean of all heads


def draw(prompt: Prompt, run: Run, part: Part, config: Config) -> None:
    """Draws the picture, the menus for the query, and the patch with the largest weight."""
    assert run.patches is not None and run.picture is not None
    (rows, cols), first = run.patches, part.keys.special.index(False)
    query, head = min(prompt.patch, len(part.queries) - 1), min(prompt.head, config.heads - 1)
    found = results.models.row(part, _layer(part, config), head, query)
    left, right = parts.beside()
    with left:
        st.vega_lite_chart(
            _table(found[first : first + rows * cols], cols, query - first),
            chart.spotlight(_png(run.picture), rows, cols, *run.picture.shape[:2]),
            key="patches",
            width="content",
            on_select=lambda: _on_patch_click(first, cols),
            selection_mode=chart.CELL,
            alt=text.PATCHES_ALT.format(query=part.queries.texts[query]),
        )
    with right:
        st.markdown(text.ATTENDS.format(query=_who(part, query)))
        _menus(prompt, part, config, head, query)
        st.caption(escape(_patch_sentence(found, part, slice(first, first + rows * cols))))


def _layer(part: Part, config: Config) -> int:
    """The index of the selected layer in the stack."""
    return part.stack.numbers.index(config.layer) if part.stack.numbers else config.layer


def _png(picture: Any) -> bytes:
    memory = BytesIO()
    Image.fromarray(picture).save(memory, "PNG")
    return memory.getvalue()


def _table(weights: list[float], cols: int, focus: int) -> pa.Table:
    """One row per patch, counted from 1; special tokens of the model have no position."""
    top = max([*weights, 1e-12])
    return pa.table(
        {
            "row": [at // cols + 1 for at in range(len(weights))],
            "col": [at % cols + 1 for at in range(len(weights))],
            "weight": weights,
            "share": [weight / top for weight in weights],
            "focus": [at == focus for at in range(len(weights))],
            "most": [weight == top for weight in weights],
            "turn": [page.visit_state().turns] * len(weights),
        }
    )


def _who(part: Part, query: int) -> str:
    name = escape(part.queries.texts[query])
    return name if part.queries.special[query] else text.PATCH.format(place=name.replace(", ", text.COLUMN))


def _menus(prompt: Prompt, part: Part, config: Config, head: int, query: int) -> None:
    """Draws the menus for layer, head and query."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        option_menu("layer", prompt, layers(config.source), config.layer)
        heads = (MEAN, *range(config.heads))
        option_menu("head", prompt, heads, head, lambda each: text.MEAN if each == MEAN else str(each))
        option_menu("patch", prompt, tuple(range(len(part.queries))), query, lambda each: part.queries.texts[each])


def option_menu(
    name: str, prompt: Prompt, options: tuple[Any, ...], value: Any, said: Any = str, more: dict[str, int] | None = None
) -> None:
    """A menu of the options that exist here; a value that was set for another model is replaced by `value`.

    `more`: knobs that are set with it.
    """
    if getattr(prompt, name) != value:
        page.widgets()[PROMPTS.key(name)] = value
    knobs.menu(
        name, replace(prompt, **{name: value}), options, format_func=said, on_change=page.change, kwargs=more, width=140
    )


def _patch_sentence(found: list[float], part: Part, patches: slice) -> str:
    """The largest weight on a patch, how many times uniform it is, and the weight on special tokens."""
    weights = found[patches]
    at = max(range(len(weights)), key=weights.__getitem__)
    most, even, where = weights[at], 1 / len(found), part.keys.texts[patches.start + at]
    share = format_percent(sum(found) - sum(weights))
    special = text.SPECIAL.format(share=share) if len(weights) < len(found) else ""
    return text.LARGEST.format(weight=format_weight(most), times=most / even, place=where, special=special)


def _on_patch_click(first: int, cols: int) -> None:
    """A patch was clicked. Each click increments `turns`: a browser sends nothing if the same patch is selected again."""
    cells = (page.widgets().get("patches") or {}).get("selection", {}).get(chart.CELL, [])
    if cells:
        page.visit_state().turns += 1
        page.change(patch=first + (cells[-1]["row"] - 1) * cols + cells[-1]["col"] - 1)

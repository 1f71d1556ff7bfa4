"""The effect of the mask on the weights, relative to a baseline: the weight it moves per head, and one head in full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import streamlit as st
from jaxtyping import Float
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention.analysis.mask_effect import baseline, difference, tile_extremes
from attention.charts import heatmap, shares, theme
from attention.config import Config
from attention.knobs import GENERATED
from attention.number_format import format_mean, format_percent, format_token
from attention.operations.query_scale import LOG
from attention.operations.softmax import SOFTMAXES
from attention.sources.providers import has_own_mask, idle, mask_name
from attention.tables import rows as tables
from attention.trace import Trace
from attention.ui import proof, results
from attention.ui.controls import knobs
from attention.ui.empty_states import missing_parts
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, page
from attention.ui.views import focus

PROPORTION = ", in proportion to their weights", "; over fewer keys, the query scale draws their scores less apart"
ABOUT = "Effect of the mask on the weights"


@dataclass(frozen=True, eq=False)
class Effect:
    """The passes under the baseline and under the mask, and the weight that leaves hidden keys and goes to added ones.

    `lost (h q)`: weight under the baseline on keys that the mask hides; `gained (h q)`: weight under the mask on keys
    that the baseline hides.
    """

    config: Config
    before: Trace
    after: Trace
    lost: Float[Tensor, "h q"]
    gained: Float[Tensor, "h q"]

    @property
    def hides(self) -> bool:
        """Whether the mask hides any key that is visible under the baseline."""
        return bool((self.before.mask & ~self.after.mask).any())

    @property
    def adds(self) -> bool:
        """Whether any key is visible under the mask that the baseline hides."""
        return bool((self.after.mask & ~self.before.mask).any())

    @property
    def hides_in_row(self) -> bool:
        """Whether the mask hides such a key from the selected query."""
        return bool((self.before.mask & ~self.after.mask)[self.config.query_index].any())

    @property
    def names(self) -> tuple[str, str]:
        """Short names of the baseline and of the mask."""
        return self.before.config.rule_name, mask_name(self.config)


def section(config: Config) -> None:
    """Draws the formula, bars of all heads, and the selected head under the baseline and the mask, and the difference."""
    if missing_parts(config, ABOUT, "q", "k"):
        return
    with st.container():
        _first(config)
    config = config.truncated
    words, bars = st.columns([2, 3], gap="medium")
    found = _effect(config)
    _squares(found)
    with words:
        _words(found)
    with bars:
        only_adds = found.adds and not found.hides
        moved, title = (found.gained, "weight on added keys") if only_adds else (found.lost, "weight on masked keys")
        spec = shares.by_head(config.heads, config.head, title)
        data = pa.table({"head": range(config.heads), "share": moved.mean(-1).tolist()})
        st.vega_lite_chart(data, spec, key="moved", width="stretch", alt=f"Bars by head: {title}, mean of all queries")


def _effect(config: Config) -> Effect:
    after = results.heads.trace(config)
    base = baseline(config, after.mask)
    before = results.heads.trace_by_rule(base)
    pair = config.for_page(), base.for_page()
    return Effect(config, before, after, results.masks.lost_weight(*pair), results.masks.gained_weight(*pair))


def _first(config: Config) -> None:
    """Says which part of a long sequence is shown here, with its proof."""
    short = config.truncated
    if short is not config:
        st.caption(
            f"This needs every weight of {config.heads} heads, so it shows the first {short.tokens:,} of {config.tokens:,} "
            "tokens, as a sequence of their own."
        )
        proof.badge(short)


def _words(found: Effect) -> None:
    config = found.config
    head, query = st.columns(2)
    with head:
        focus.head(config)
    with query:
        focus.query(config)
    if not idle("baseline", config):
        knobs.menu("baseline", config)
    st.markdown(_baseline(found))
    st.latex(_formula(found))
    st.markdown(_sentence(found))
    if (most := _hit_most(found)) is not None:
        st.button(f"Select {_query(config, most)}", on_click=page.change, kwargs={"query": most}, key="hit most")


def _baseline(found: Effect) -> str:
    """The sentence that names the mask that the effect is measured against, and why that one."""
    config, base = found.config, found.before.config
    span = f", span {base.span:,}" if base.rule.span else ""
    if not idle("baseline", config):
        every = " (every key)" if base.mask == "full" else ""
        return f"Compared with **{base.rule_name}**{span}{every}{', as selected' if config.baseline != 'auto' else ''}."
    return f"Compared with **{base.rule_name}**{span}, the source's own mask."


def _formula(found: Effect) -> str:
    lost = r"m_q = \sum_{k\ \text{masked}} w_{qk}"
    if found.adds:
        return (rf"{lost}, \qquad " if found.hides else "") + r"a_q = \sum_{k\ \text{added}} w'_{qk}"
    softmax = SOFTMAXES[found.config.softmax]
    if found.config.query_scale == LOG or softmax.sparse:  # no proportions are kept
        return lost
    if softmax.halves > 1:
        return lost
    if not softmax.distributes:
        return lost + r", \qquad w'_{qk} = w_{qk}"
    return lost + r", \qquad w'_{qk} = \frac{w_{qk}}{1 - m_q}"


def _sentence(found: Effect) -> str:
    """What the mask moves in the selected head, relative to the baseline."""
    (base, mask), config = found.names, found.config
    if not found.hides and not found.adds:
        if config.source != GENERATED and not has_own_mask(config.source) and mask == base:
            return f"**{mask}** is the source's own mask. Select another mask above to see its effect."
        return f"**{mask}** keeps the same pairs as **{base}**, so no weight changes."
    added = _added_sentence(found)
    if not found.hides:
        return f"**{mask}** masks no key that is visible under **{base}**. {added}"
    return f"{_hidden_sentence(found)} {added}".strip()


def _added_sentence(found: Effect) -> str:
    if not found.adds:
        return ""
    (base, mask), head = found.names, found.config.head
    share = _amount(float(found.gained[head].mean()), found.config)
    keys = f"Keys visible under **{mask}** but not under **{base}**"
    return f"{keys} get **{share}** of the weight of head {head}, over all queries."


def _hidden_sentence(found: Effect) -> str:
    (base, mask), config = found.names, found.config
    taken, query = found.lost[config.head], _query(config, config.query_index)
    if float(taken.abs().max()) == 0:
        return f"The keys that **{mask}** masks have zero weight in float32 under **{base}**, so no weight changes."
    if not found.after.mask[config.query_index].any():
        return f"Under **{mask}**, {query} has no visible key, so all its weights are zero."
    softmax = SOFTMAXES[config.softmax]
    own, others = (_amount(float(each), config) for each in (taken[config.query_index], taken.mean()))
    if (most := _hit_most(found)) is not None:
        goes = softmax.handed_on.replace("%s", "")
        return (
            f"**{mask}** removes **{others}** of the weight of head {config.head}, over all queries. {goes} "
            f"{_query(config, most, 'Query')} loses most, **{_amount(float(taken[most]), config)}**. "
            f"The selected query, {query}, loses no key."
        )
    rest = f" Part of it goes to {softmax.rest}." if softmax.rest else ""
    goes = softmax.handed_on.replace("%s", PROPORTION[config.query_scale == LOG])
    return (
        f"Under **{base}**, {query} in head {config.head} has **{own}** of its weight on keys that **{mask}** masks; over all "
        f"queries it is **{others}**. {goes}{rest}"
    )


def _amount(moved: float, config: Config) -> str:
    """A sum of weights: as a share of the row, or as it is if rows may sum to anything."""
    return format_percent(moved) if SOFTMAXES[config.softmax].distributes else f"{format_mean(moved)} (as a sum)"


def _hit_most(found: Effect) -> int | None:
    """The query that the mask takes most from, if it takes nothing from the selected one."""
    taken = found.lost[found.config.head].abs()
    return None if found.hides_in_row or float(taken.max()) == 0 else int(taken.argmax())


def _query(config: Config, query: int, kind: str = "query") -> str:
    """A query by its position and its token."""
    return escape(format_token((tables.labels(config) or [""] * (query + 1))[query], query, kind))


def _squares(found: Effect) -> None:
    """Draws the weights in use first, and once they are painted, the weights under the baseline and the difference."""
    places, config = st.columns(3), found.config
    base, mask = found.names
    small = {"labels": [], "height": theme.SMALL_HEIGHT}  # positions: there is no room for tokens
    signed = config.head_softmax.signed
    row = {"colors": config.color_scale, "query": config.query_index}
    cells, tile, seeing = tables.focus(found.after, heatmap.PIXELS)
    masked = heatmap.weights(cells, tile, seeing=seeing, **row, **small, signed=signed)
    _square(places[1], 1, f"Head {config.head}, {mask}", masked)
    browser_yield.yield_to_browser()
    cells, tile, seeing = tables.focus(found.before, heatmap.PIXELS)
    whole = heatmap.weights(cells, tile, seeing=seeing, **row, **small, signed=signed)
    _square(places[0], 0, f"Head {config.head}, baseline: {base}", whole)
    change = heatmap.difference(
        *tile_extremes(difference(found.before, found.after, config.head), heatmap.PIXELS), **small
    )
    _square(places[2], 2, f"Head {config.head}, difference", change)
    st.caption(f"Colour scale of the weights: {config.color_reason}." if config.color_reason else "")


def _square(place: DeltaGenerator, number: int, title: str, figure: Any) -> None:
    with place:
        st.markdown(f"**{title}**")
        st.plotly_chart(
            figure,
            key=f"square {number}",
            width="stretch",
            config={"displaylogo": False},
            alt=f"Heatmap by query and key: {title}",
        )

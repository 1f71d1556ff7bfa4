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
from attention.charts import heatmap, heatmap_differences, shares, theme
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
from attention.ui.session import browser_yield
from attention.ui.text import masks as text


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
    if missing_parts(config, text.TITLES["effect"], "q", "k"):
        return
    with st.container():
        _first(config)
    config = config.truncated
    found = effect_of(config)
    words, bars = st.columns([2, 3], gap="medium")
    _squares(found)
    with words:
        _words(found)
    with bars:
        only_adds = found.adds and not found.hides
        moved, title = (found.gained, text.GAINED) if only_adds else (found.lost, text.LOST)
        spec = shares.by_head(config.heads, config.head, title)
        data = pa.table({"head": range(config.heads), "share": moved.mean(-1).tolist()})
        st.vega_lite_chart(data, spec, key="moved", width="stretch", alt=text.MOVED_ALT.format(title=title))


def effect_of(config: Config) -> Effect:
    """Returns the passes of a config under its mask and under the baseline."""
    after = results.heads.trace(config)
    base = baseline(config, after.mask)
    before = results.heads.trace_by_rule(base)
    pair = config.for_page(), base.for_page()
    return Effect(config, before, after, results.masks.lost_weight(*pair), results.masks.gained_weight(*pair))


def _first(config: Config) -> None:
    """Says which part of a long sequence is shown here, with its proof."""
    short = config.truncated
    if short is not config:
        st.caption(text.EFFECT_SHORT.format(heads=config.heads, shown=short.tokens, tokens=config.tokens))
        proof.badge(short)


def _words(found: Effect) -> None:
    config = found.config
    if not idle("baseline", config):
        knobs.menu("baseline", config)
    st.markdown(_baseline(found))
    st.latex(_formula(found))
    st.markdown(_sentence(found))


def _baseline(found: Effect) -> str:
    """The sentence that names the mask that the effect is measured against, and why that one."""
    config, base = found.config, found.before.config
    span = text.BASELINE_SPAN.format(span=base.span) if base.rule.span else ""
    if idle("baseline", config):
        return text.OWN_BASELINE.format(baseline=base.rule_name, span=span)
    return text.BASELINE.format(
        baseline=base.rule_name,
        span=span,
        every=text.EVERY_KEY if base.mask == "full" else "",
        selected=text.AS_SELECTED if config.baseline != "auto" else "",
    )


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
            return text.OWN_MASK.format(mask=mask)
        return text.SAME_PAIRS.format(mask=mask, baseline=base)
    added = _added_sentence(found)
    if not found.hides:
        return text.MASKS_NONE.format(mask=mask, baseline=base, added=added)
    return f"{_hidden_sentence(found)} {added}".strip()


def _added_sentence(found: Effect) -> str:
    if not found.adds:
        return ""
    (base, mask), head = found.names, found.config.head
    share = amount(float(found.gained[head].mean()), found.config)
    return text.ADDED.format(mask=mask, baseline=base, share=share, head=head)


def _hidden_sentence(found: Effect) -> str:
    (base, mask), config = found.names, found.config
    taken, query = found.lost[config.head], _query(config, config.query_index)
    if float(taken.abs().max()) == 0:
        return text.ZERO_WEIGHT.format(mask=mask, baseline=base)
    if not found.after.mask[config.query_index].any():
        return text.BLIND.format(mask=mask, query=query)
    softmax = SOFTMAXES[config.softmax]
    own, others = (amount(float(each), config) for each in (taken[config.query_index], taken.mean()))
    if (most := hit_most(found)) is not None:
        return text.OTHER_ROWS.format(
            mask=mask,
            others=others,
            head=config.head,
            goes=softmax.handed_on.replace("%s", ""),
            most=_query(config, most, "Query"),
            share=amount(float(taken[most]), config),
            query=query,
        )
    return text.ROW.format(
        baseline=base,
        query=query,
        head=config.head,
        own=own,
        mask=mask,
        others=others,
        goes=softmax.handed_on.replace("%s", text.PROPORTION[config.query_scale == LOG]),
        rest=text.REST.format(rest=softmax.rest) if softmax.rest else "",
    )


def amount(moved: float, config: Config) -> str:
    """A sum of weights: as a share of the row, or as it is if rows may sum to anything."""
    is_share = SOFTMAXES[config.softmax].distributes
    return format_percent(moved) if is_share else text.AS_SUM.format(value=format_mean(moved))


def hit_most(found: Effect) -> int | None:
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
    most = hit_most(found)  # marked if the selected query loses nothing
    row = {"colors": config.color_scale, "query": config.query_index if most is None else most}
    cells, tile, seeing = tables.focus(found.after, heatmap.PIXELS)
    masked = heatmap.weights(cells, tile, seeing=seeing, **row, **small, signed=signed)
    _square(places[1], 1, text.HEAD.format(head=config.head, mask=mask), masked)
    browser_yield.yield_to_browser()
    cells, tile, seeing = tables.focus(found.before, heatmap.PIXELS)
    whole = heatmap.weights(cells, tile, seeing=seeing, **row, **small, signed=signed)
    _square(places[0], 0, text.HEAD_BASELINE.format(head=config.head, mask=base), whole)
    change = heatmap_differences.difference(
        *tile_extremes(difference(found.before, found.after, config.head), heatmap.PIXELS), **small
    )
    _square(places[2], 2, text.HEAD_DIFFERENCE.format(head=config.head), change)
    st.caption(text.COLORS.format(reason=config.color_reason) if config.color_reason else "")


def _square(place: DeltaGenerator, number: int, title: str, figure: Any) -> None:
    with place:
        st.markdown(f"**{title}**")
        st.plotly_chart(
            figure,
            key=f"square {number}",
            width="stretch",
            config={"displaylogo": False},
            alt=text.HEAD_ALT.format(title=title),
        )

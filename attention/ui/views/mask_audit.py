"""What each code path returns for fully masked rows, run live."""

from __future__ import annotations

import streamlit as st

from attention.analysis.fully_masked_rows import WIDTH, Finding
from attention.analysis.mask_gallery import Exhibit
from attention.config import Config
from attention.sources.providers import idle, mask_name
from attention.tables.rows import ranges
from attention.ui import results
from attention.ui.empty_states import missing_parts
from attention.ui.session import page
from attention.ui.text import masks as text

APART = 1e-4  # difference from float64 up to which rows are equal
RANGES = 12  # ranges of queries that are listed
BADGES = {"zeros": "green", "NaN": "red", "mean of all values": "orange", "other": "orange"}


def section(config: Config) -> None:
    """Draws which rows are fully masked, and the table of paths."""
    used = results.masks.exhibit(config, config.depth)
    _which(config, used)
    if missing_parts(config, text.TITLES["empty rows"], "q", "k", "v"):
        return
    with st.spinner(text.RUNNING):
        found = results.masks.audit(config.truncated, config.head)
    if any(_tells_something(each) for each in found):
        st.table(_rows(found), border="horizontal")
    else:
        st.markdown(text.NOTHING_TO_SHOW)
    _notes(config)


def _which(config: Config, used: Exhibit) -> None:
    st.latex(r"\mathrm{softmax}(-\infty, \dots, -\infty) = \frac{e^{-\infty}}{\sum_k e^{-\infty}} = \frac{0}{0}")
    if used.blind:
        which = ranges(used.empty.tolist(), RANGES)
        mask = mask_name(config)
        st.markdown(text.BLIND_QUERIES.format(blind=used.blind, queries=config.tokens, mask=mask, which=which))
        return
    st.markdown(text.NOT_BLIND.format(mask=mask_name(config)))
    if idle("mask", config):
        return
    st.button(
        text.TRY,
        on_click=page.change,
        kwargs={"mask": "causal", "combine": "without", "second": "window"},
        key="empty rows",
    )


def _rows(found: list[Finding]) -> dict[str, list[str]]:
    """The table: one row per path, one column per kind of mask."""
    paths = list(dict.fromkeys((each.path, each.mode) for each in found))
    kinds = list(dict.fromkeys(each.mask for each in found))
    at = {(each.path, each.mode, each.mask): each for each in found}
    columns = {kind: [_outcome_badges(at[*path, kind]) for path in paths] for kind in kinds}
    return {
        text.PATH: [f"`{path}`" for path, _ in paths],
        text.MODE: [mode.replace("_", r"\_") for _, mode in paths],
    } | columns


def _tells_something(found: Finding) -> bool:
    """Whether a path has fully masked rows, NaN gradients or other rows that differ."""
    return found.runs and bool(found.blind or found.gradient == "NaN" or not found.apart < APART)


def _outcome_badges(found: Finding) -> str:
    """The result of one path, as badges."""
    if not found.runs:
        return text.DOES_NOT_RUN
    rows = f":{BADGES[found.blind]}-badge[{found.blind}]" if found.blind else text.NO_BLIND_ROW
    bad = text.NAN_GRADIENTS if found.gradient == "NaN" else ""
    return rows + bad + ("" if found.apart < APART else text.ROWS_DIFFER.format(difference=found.apart))


def _notes(config: Config) -> None:
    issues = text.ISSUES.items()
    links = "; ".join(f"[{n}](https://github.com/pytorch/pytorch/issues/{n}): {what}" for n, what in issues)
    short = config.truncated
    few = "" if short is config else text.AUDIT_FEW.format(shown=short.tokens, tokens=config.tokens)
    st.caption(text.AUDIT.format(head=config.head, few=few, channels=min(WIDTH, config.d_head), links=links))

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

RANGES = 12  # ranges of queries that are listed
BADGES = {"zeros": "green", "NaN": "red", "mean of all values": "orange", "other": "orange"}
ISSUES = {
    103963: "boolean masks with fully masked rows gave NaN; zeros since torch 2.5",
    103749: "the same with padding",
    109517: "NaN from the memory-efficient kernel, on a GPU",
    160064: "nn.MultiheadAttention gives NaN when it returns its weights",
}


def section(config: Config) -> None:
    """Draws which rows are fully masked, and the table of paths."""
    used = results.masks.exhibit(config, config.depth)
    _which(config, used)
    if missing_parts(config, "Fully masked rows in PyTorch", "q", "k", "v"):
        return
    with st.spinner("Running every path, forward and backward"):
        found = results.masks.audit(config.truncated, config.head)
    st.table(_rows(found), border="horizontal")
    _notes(config)


def _which(config: Config, used: Exhibit) -> None:
    st.latex(r"\mathrm{softmax}(-\infty, \dots, -\infty) = \frac{e^{-\infty}}{\sum_k e^{-\infty}} = \frac{0}{0}")
    if used.blind:
        where = ranges(used.empty.tolist(), RANGES)
        st.markdown(
            f"**{used.blind:,} of {config.tokens:,} queries are fully masked** under {mask_name(config)}: {where}."
        )
        return
    st.markdown(f"Under {mask_name(config)}, every query has a visible key.")
    if idle("mask", config):
        return
    st.button(
        "Try one with fully masked rows: causal without window",
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
        "Path": [f"`{path}`" for path, _ in paths],
        "Mode": [mode.replace("_", r"\_") for _, mode in paths],
    } | columns


def _outcome_badges(found: Finding) -> str:
    """The result of one path, as badges."""
    if not found.runs:
        return ":gray[does not run here]"
    rows = f":{BADGES[found.blind]}-badge[{found.blind}]" if found.blind else ":gray[no fully masked row]"
    bad = " :red-badge[NaN gradients]" if found.gradient == "NaN" else ""
    return rows + bad + ("" if found.apart < 1e-4 else f" :red-badge[other rows differ by {found.apart:.0e}]")


def _notes(config: Config) -> None:
    links = "; ".join(f"[{n}](https://github.com/pytorch/pytorch/issues/{n}): {what}" for n, what in ISSUES.items())
    short = config.truncated
    few = "" if short is config else f" over the first {short.tokens:,} of {config.tokens:,} tokens"
    channels = min(WIDTH, config.d_head)
    st.caption(
        f"Run just now on head {config.head}{few}, with its first {channels} channels and scale 1/√{channels}. In boolean masks "
        "of nn.MultiheadAttention, True means masked; it gets the keys as tokens, and identity projections. The lowest finite "
        "number, -3.4e38, makes all scores of a fully masked row equal, so the row attends to every key, masked ones included. "
        "Gradients are of a loss over the other rows: a NaN in an unused row still reaches all projections, as 0 × NaN is NaN. "
        f"PyTorch issues: {links}."
    )

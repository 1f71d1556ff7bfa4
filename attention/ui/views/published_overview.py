"""A table of every published row, and one of them in words: what it is, how far off it is, and its lesson."""

from __future__ import annotations

import math
from contextlib import nullcontext

import pandas as pd
import streamlit as st

from attention.config import Config
from attention.published import ROWS
from attention.published.case import longest
from attention.published.compare import WITHIN, Comparison, Error, Judgement
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.views import published_hunt

COLORS = {"agrees": "green", "disagrees": "orange", "raises": "red"}
SHORT = 80  # characters of an error in the overview; it is shown in full with its row
RELATIVE = (
    "How far off all numbers are together, as a share of the right ones (relative error: the norm of the differences to the "
    f"reference over its own norm, over every sequence). Up to {WITHIN:.0e} counts as equal."
)
PADDED = "Of several sequences, the first hides nothing more, the next its last key, the one after that two: padding."
MASKS = {
    "none": "It has no mask, so its reference has none either.",
    "causal": "It is always causal, whatever the mask of the settings, and so is its reference.",
    "added": f"It adds its mask to the scores: zero, or minus infinity where a key is hidden. {PADDED}",
    "boolean": f"Its mask is boolean: a key is hidden where it is 0. {PADDED}",
}


def table(config: Config, chosen: str) -> None:
    """Draws one line per row, corrected and as published: whether it agrees, and by how much it does not."""
    with st.spinner("Comparing every implementation …") if longest(config)[0] < config.tokens else nullcontext():
        found = results.published.judgements(config.for_page(results.published.PAGE))
    lines = [
        {
            "Implementation": f"**{row.name}**" if name == chosen else row.name,
            "As meant": _badge(found[name, False].verdict),
            "As printed": _badge(found[name, True].verdict),
            "Relative error of the print, or what it raises": _error_text(found[name, True]),
        }
        for name, row in ROWS.items()
    ]
    with st.container(key="overview"):  # in a narrow window its lines have another layout (page.css)
        st.table(pd.DataFrame(lines), hide_index=True, border="horizontal")
    st.caption(f"{RELATIVE} {_as_meant([found[name, False] for name in ROWS])}")


def question(found: Comparison) -> None:
    """Asks the question; says that a row raises, but not what."""
    if found.judgement.error:
        st.error("It raises an error at these settings.")
    if found.judgement.verdict == "agrees":
        st.info("Nothing is to be seen at these settings: it agrees with the reference. Take more heads, or sequences.")
    st.markdown(
        "**Find the bug.** Which line is wrong, and what does it do to these pictures? The code is below them. Then "
        "choose: **answer**."
    )


def row(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the selected row."""
    row = ROWS[name]
    version = ("As printed" if printed else "As meant") if row.as_printed else "The print is right"
    st.markdown(f"#### {row.name} {_badge(found.judgement.verdict)}")
    st.caption(f"From {published_hunt.document_link(row.document)}. {version}. {row.particular} {MASKS[row.mask]}")
    st.latex(row.formula)
    if found.judgement.error:
        st.error(f"{escape(found.judgement.error)}  \nin `{found.raised_at}`")
    _errors(config, name, printed)
    st.markdown(f"**{row.mistake}** {row.lesson}" if row.mistake else row.lesson)
    if row.as_printed:
        published_hunt.changes(name)
    with st.container(horizontal=True):
        for label, knobs in row.tries:
            st.button(label, on_click=page.change, kwargs=knobs, key=f"try {label}")


def _errors(config: Config, name: str, printed: bool) -> None:
    """Draws the errors of both versions against the reference; the one that is shown is in bold."""
    found = results.published.judgements(config.for_page(results.published.PAGE))
    versions = {"As meant": False, "As printed": True} if ROWS[name].as_printed else {"As meant and printed": False}
    lines = []
    for version, is_print in versions.items():
        judged = found[name, is_print]
        lines.append({"Against the reference": f"**{version}**" if is_print == printed else version})
        for what, error in (("Output", judged.output), ("Weights", judged.square)):
            lines[-1][f"{what}: max error"] = _number(error.greatest) if error else "raises"
            lines[-1][f"{what}: relative error"] = _number(error.relative) if error else "raises"
    st.table(pd.DataFrame(lines), hide_index=True, border="horizontal")
    if config.bug != "off":  # otherwise it is below the overview
        st.caption(RELATIVE)


def _as_meant(found: list[Judgement]) -> str:
    errors = [error.relative for judged in found for error in (judged.output, judged.square) if error]
    if any(map(math.isnan, errors)):
        return "Where a query sees no key, the write-ups give no numbers, and the reference zeros."
    raised = sum(bool(judged.error) for judged in found)
    but = f"; {raised} raises an error even so, as its row says" if raised else ""
    return f"As meant, none is over {max(errors):.0e}{but}." if max(errors) else f"As meant, all are exact{but}."


def _badge(verdict: str) -> str:
    return f":{COLORS[verdict]}-badge[{verdict}]"


def _error_text(judged: Judgement) -> str:
    """The errors of a row in a few words, or the beginning of the message that it raises."""
    if not judged.output or not judged.square:
        return escape(judged.error if len(judged.error) <= SHORT else judged.error[: SHORT - 1] + "…")
    if judged.verdict == "agrees":
        return "none"
    return f"output {_format_error(judged.output)}, weights {_format_error(judged.square)}"


def _format_error(error: Error) -> str:
    """A relative error; "none" if it is within rounding."""
    return "none" if error.agrees else _number(error.relative)


def _number(error: float) -> str:
    if math.isnan(error):
        return "not a number"
    return "other shape" if math.isinf(error) else f"{error:.2g}"

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
from attention.ui.text import implementations as text
from attention.ui.views import find_the_bug

COLORS = {"agrees": "green", "disagrees": "orange", "raises": "red"}
SHORT = 80  # characters of an error in the overview; it is shown in full with its row
RELATIVE = (
    "Relative error: norm of the difference from the reference, divided by the norm of the reference, over all sequences. "
    f"Up to {WITHIN:.0e} counts as equal."
)
PADDED = "With several sequences, sequence i has its last i keys masked as padding, counted from 0."
MASKS = {
    "none": "Neither it nor its reference has a mask.",
    "causal": "It and its reference are always causal, regardless of the mask setting.",
    "added": f"Its mask is added to the scores: zero, or minus infinity for masked keys. {PADDED}",
    "boolean": f"Its mask is boolean: 0 means masked. {PADDED}",
}


def table(config: Config, chosen: str) -> None:
    """Draws one line per row, corrected and as published: whether it agrees, and by how much it does not."""
    with st.spinner(text.WAITS) if longest(config)[0] < config.tokens else nullcontext():
        found = results.published.judgements(config.for_page(results.published.PAGE))
    lines = [
        {
            "Implementation": f"**{row.name}**" if name == chosen else row.name,
            "Corrected": _badge(found[name, False].verdict),
            "Published": _badge(found[name, True].verdict),
            "Relative error as published, or the exception": _error_text(found[name, True]),
        }
        for name, row in ROWS.items()
    ]
    with st.container(key="overview"):  # in a narrow window its lines have another layout (page.css)
        st.table(pd.DataFrame(lines), hide_index=True, border="horizontal")
    st.caption(_as_meant([found[name, False] for name in ROWS]), help=RELATIVE)


def finding(config: Config) -> str:
    """How many implementations differ from the reference as published, and how many still do once they are corrected."""
    found = results.published.judgements(config.for_page(results.published.PAGE))
    wrong, still = (sum(found[name, printed].verdict != "agrees" for name in ROWS) for printed in (True, False))
    corrected = text.CORRECTED.get(still) or text.CORRECTED_MORE.format(count=still)
    return text.FINDING.format(wrong=wrong, count=len(ROWS), corrected=corrected)


def row(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the verdict on the selected row, what is wrong with it, and settings to try."""
    row = ROWS[name]
    version = ("Published version" if printed else "Corrected version") if row.as_printed else "Correct as published"
    st.markdown(f"#### {row.name} {_badge(found.judgement.verdict)}")
    st.markdown(f"{version}. {row.mistake}" if printed else f"{version}.")
    if found.judgement.error:
        st.error(f"{escape(found.judgement.error)}  \nin `{found.raised_at}`")
    with st.container(horizontal=True):
        for label, knobs in row.tries:
            st.button(label, on_click=page.change, kwargs=knobs, key=f"try {label}")


def lines(name: str) -> None:
    """Draws the wrong lines of a row and the right ones, if it has any."""
    if ROWS[name].as_printed:
        with st.expander(text.LINES, icon=":material/difference:"):
            find_the_bug.changes(ROWS[name])


def explanation(config: Config, name: str, printed: bool) -> None:
    """Draws what a row computes, its errors, and its lesson."""
    row = ROWS[name]
    with st.expander(text.WHAT, icon=":material/lightbulb:"):
        st.markdown(row.lesson)
        st.latex(row.formula)
        st.caption(f"From {find_the_bug.document_link(row.document)}. {row.particular} {MASKS[row.mask]}")
        _errors(config, name, printed)
        st.caption(RELATIVE)


def _errors(config: Config, name: str, printed: bool) -> None:
    """Draws the errors of both versions against the reference; the one that is shown is in bold."""
    found = results.published.judgements(config.for_page(results.published.PAGE))
    versions = {"Corrected": False, "Published": True} if ROWS[name].as_printed else {"Published (correct)": False}
    lines = []
    for version, is_print in versions.items():
        judged = found[name, is_print]
        lines.append({"Compared with the reference": f"**{version}**" if is_print == printed else version})
        for what, error in (("Output", judged.output), ("Weights", judged.square)):
            lines[-1][f"{what}: max error"] = _number(error.greatest) if error else "raises"
            lines[-1][f"{what}: relative error"] = _number(error.relative) if error else "raises"
    st.table(pd.DataFrame(lines), hide_index=True, border="horizontal")


def _as_meant(found: list[Judgement]) -> str:
    errors = [error.relative for judged in found for error in (judged.output, judged.square) if error]
    if any(map(math.isnan, errors)):
        return "For fully masked queries the published code gives NaN, the reference zeros."
    raised = sum(bool(judged.error) for judged in found)
    but = f"; {raised} still raises an error, see its row" if raised else ""
    return (
        f"Corrected versions: at most {max(errors):.0e}{but}."
        if max(errors)
        else f"Corrected versions: all exact{but}."
    )


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
        return "NaN"
    return "other shape" if math.isinf(error) else f"{error:.2g}"

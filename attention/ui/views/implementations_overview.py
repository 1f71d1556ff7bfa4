"""A table of every published row, and one of them in words: what it is, how far off it is, and its lesson."""

from __future__ import annotations

import math
from contextlib import nullcontext

import pandas as pd
import streamlit as st

from attention.config import Config
from attention.operations.scale import unscaled
from attention.published import ROWS
from attention.published.case import longest
from attention.published.compare import WITHIN, Comparison, Error, Judgement
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.session import page, present
from attention.ui.text import implementations as text
from attention.ui.views import find_the_bug

COLORS = {"agrees": "green", "disagrees": "orange", "raises": "red"}
SHORT = 80  # characters of an error in the overview; it is shown in full with its row


def table(config: Config) -> None:
    """Draws one line per row, corrected and as published: whether it agrees, and by how much it does not."""
    with st.spinner(text.WAITS) if longest(config)[0] < config.tokens else nullcontext():
        found = results.published.judgements(config.for_page(results.published.PAGE))
    lines = [
        (
            row.name,
            _badge(found[name, False].verdict),
            _badge(found[name, True].verdict),
            _error_text(found[name, True]),
        )
        for name, row in ROWS.items()
    ]
    with st.container(key="overview"):  # in a narrow window its lines have another layout (page.css)
        st.table(pd.DataFrame(lines, columns=list(text.COLUMNS)), hide_index=True, border="horizontal")
    st.caption(_as_meant([found[name, False] for name in ROWS]), help=_relative())


def finding(config: Config) -> str:
    """How many implementations differ from the reference as published, and how many still do once they are corrected."""
    found = results.published.judgements(config.for_page(results.published.PAGE))
    wrong, still = (sum(found[name, printed].verdict != "agrees" for name in ROWS) for printed in (True, False))
    corrected = text.CORRECTED.get(still) or text.CORRECTED_MORE.format(count=still)
    return text.FINDING.format(wrong=wrong, count=len(ROWS), corrected=corrected)


def row(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the verdict on the selected row, what is wrong with it, and settings to try."""
    row = ROWS[name]
    version = text.VERSIONS["published" if printed else "corrected" if row.as_printed else "only"]
    st.markdown(f"#### {row.name} {_badge(found.judgement.verdict)}")
    st.markdown(text.VERSION.format(version=version, mistake=row.mistake if printed else "").rstrip())
    if row.scale is unscaled:
        st.caption(text.UNSCALED)
    if found.judgement.error:
        st.error(text.RAISED_IN.format(error=escape(found.judgement.error), function=found.raised_at))
    with st.container(horizontal=True):
        for label, knobs in () if present.is_embedded() else row.tries:
            st.button(label, on_click=page.change, kwargs=knobs, key=f"try {label}")


def lines(name: str, printed: bool) -> None:
    """Draws the wrong lines of a row and the right ones, if it has any; open while the wrong version is shown."""
    if ROWS[name].as_printed:
        with st.expander(text.LINES, expanded=printed, icon=":material/difference:"):
            find_the_bug.changes(ROWS[name])


def explanation(config: Config, name: str, printed: bool) -> None:
    """Draws what a row computes, its errors, and its lesson."""
    row = ROWS[name]
    with st.expander(text.WHAT, icon=":material/lightbulb:"):
        st.markdown(row.lesson)
        st.latex(row.formula)
        document, mask = find_the_bug.document_link(row.document), text.MASKS[row.mask].format(padded=text.PADDED)
        st.caption(text.FROM.format(document=document, particular=row.particular, mask=mask))
        _errors(config, name, printed)
        st.caption(_relative())


def _errors(config: Config, name: str, printed: bool) -> None:
    """Draws the errors of both versions against the reference; the one that is shown is in bold."""
    found = results.published.judgements(config.for_page(results.published.PAGE))
    versions = {"corrected": False, "published": True} if ROWS[name].as_printed else {"only": False}
    lines = []
    for version, is_print in versions.items():
        judged, title = found[name, is_print], text.COMPARED_VERSIONS[version]
        lines.append({text.COMPARED: f"**{title}**" if is_print == printed else title})
        for part, error in zip(text.COMPARED_PARTS, (judged.output, judged.square), strict=True):
            lines[-1][text.MAX_ERROR.format(part=part)] = _number(error.greatest) if error else text.RAISES
            lines[-1][text.RELATIVE_ERROR.format(part=part)] = _number(error.relative) if error else text.RAISES
    st.table(pd.DataFrame(lines), hide_index=True, border="horizontal")


def _as_meant(found: list[Judgement]) -> str:
    errors = [error.relative for judged in found for error in (judged.output, judged.square) if error]
    if any(map(math.isnan, errors)):
        return text.NAN_ROWS
    count = sum(bool(judged.error) for judged in found)
    raised = text.STILL_RAISES.format(count=count) if count else ""
    if not max(errors):
        return text.CORRECTED_EXACT.format(raised=raised)
    return text.CORRECTED_ERRORS.format(error=max(errors), raised=raised)


def _relative() -> str:
    return text.RELATIVE.format(within=WITHIN)


def _badge(verdict: str) -> str:
    return f":{COLORS[verdict]}-badge[{verdict}]"


def _error_text(judged: Judgement) -> str:
    """The errors of a row in a few words, or the beginning of the message that it raises."""
    if not judged.output or not judged.square:
        return escape(judged.error if len(judged.error) <= SHORT else judged.error[: SHORT - 1] + "…")
    if judged.verdict == "agrees":
        return text.NO_ERROR
    return ", ".join(map(_format_error, text.PARTS, (judged.output, judged.square)))


def _format_error(part: str, error: Error) -> str:
    """A part with its relative error, or that it is correct within rounding."""
    return (text.EQUAL if error.agrees else text.OFF_BY).format(part=part, error=_number(error.relative))


def _number(error: float) -> str:
    if math.isnan(error):
        return "NaN"
    return text.OTHER_SHAPE if math.isinf(error) else f"{error:.2g}"

"""Every published row with its verdict, to choose from, and one in words: what is wrong, how much, and its lesson."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext

import pandas as pd
import streamlit as st

from attention.config import Config
from attention.published import ROWS, Row
from attention.published.case import longest
from attention.published.compare import WITHIN, Comparison, Error, Judgement, rows_apart
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.markdown import escape
from attention.ui.session import page, present
from attention.ui.text import implementations as text
from attention.ui.views import find_the_bug

COLORS = {"agrees": "green", "disagrees": "orange", "raises": "red", "unfit": "gray"}
ORDER = "disagrees", "raises", "unfit", "agrees"
ICONS = {"agrees": "check", "disagrees": "close", "raises": "error", "unfit": "block"}


def choices(config: Config) -> None:
    """Draws the implementations in groups by verdict, as buttons, or as a menu on a phone; the one that is shown has a border."""
    found = _judgements(config)
    verdicts = {name: _verdict(found, name) for name in ROWS}
    groups = {verdict: [name for name in ROWS if verdicts[name] == verdict] for verdict in ORDER}
    with st.container(key="implementations-menu"):
        options = [name for group in groups.values() for name in group]
        knobs.menu("implementation", config, options, format_func=lambda name: _in_menu(name, verdicts[name]))
    with st.container(key="implementations", gap=None):
        for verdict, names in groups.items():
            if names:
                st.caption(text.GROUPS[verdict])
            for name in names:
                row = ROWS[name]
                mark = f":{COLORS[verdict]}[:material/{ICONS[verdict]}:]"
                st.button(
                    f"{mark} **{row.name}** {_gloss(row, verdict)} {_still(verdict, found[name, False])}".rstrip(),
                    key=f"show {name}",
                    type="secondary" if name == config.implementation else "tertiary",
                    width="stretch",
                    on_click=page.change,
                    kwargs={"implementation": name},
                )


def _verdict(found: Mapping[tuple[str, bool], Judgement], name: str) -> str:
    """The verdict on a row as published; "unfit" if the corrected version raises too: it does not support the settings."""
    return "unfit" if found[name, False].verdict == "raises" else found[name, True].verdict


def _gloss(row: Row, verdict: str) -> str:
    """What is particular about a row; a mistake that the settings hide has no effect."""
    return (text.GLOSS_NO_EFFECT if _has_no_effect(row, verdict) else text.GLOSS).format(gloss=row.gloss)


def _judgements(config: Config) -> dict[tuple[str, bool], Judgement]:
    with st.spinner(text.WAITS) if longest(config)[0] < config.tokens else nullcontext():
        return results.published.judgements(config.for_page(results.published.PAGE))


def _in_menu(name: str, verdict: str) -> str:
    row = ROWS[name]
    gloss = text.VERDICTS[verdict] if _has_no_effect(row, verdict) else row.gloss
    return text.IN_MENU.format(mark=text.MENU_MARKS[verdict], name=row.name, gloss=gloss)


def _has_no_effect(row: Row, verdict: str) -> bool:
    """Whether the settings hide the mistake of a row."""
    return row.as_printed is not None and verdict == "agrees"


def finding(config: Config) -> str:
    """How many implementations differ from the reference as published, and how many raise: the groups of the list."""
    found = _judgements(config)
    verdicts = [_verdict(found, name) for name in ROWS]
    wrong, raises, unfit = map(verdicts.count, ("disagrees", "raises", "unfit"))
    still = sum(found[name, False].verdict == "disagrees" for name in ROWS)
    return text.FINDING.format(
        wrong=wrong,
        count=len(ROWS),
        give=text.GIVES if wrong == 1 else text.GIVE,
        raising=text.RAISING.get(raises, text.RAISING_MORE).format(count=raises),
        unfit=text.UNFIT.get(unfit, text.UNFIT_MORE).format(count=unfit),
        corrected=text.CORRECTED.get(still, text.CORRECTED_MORE).format(count=still),
    )


def row(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the selected row: its verdict, what is wrong with it, and why."""
    row, judged = ROWS[name], found.judgement
    verdict = _verdict(_judgements(config), name) if judged.verdict == "raises" else judged.verdict
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"## {row.name} {_badge(row, verdict, printed)}", width="content")
        if row.as_printed and not present.is_embedded():
            knobs.segments("version", config, width="content", label_visibility="collapsed")
    if verdict == "unfit":
        st.markdown(text.UNFIT_ROW.format(demand=escape(row.demand)))
        st.info(text.RAISED_IN.format(error=escape(judged.error), function=found.raised_at))
        return
    version = row.mistake if printed else text.VERSIONS["corrected" if row.as_printed else "only"]
    if printed and judged.verdict == "agrees":
        version = f"{version} {text.NO_EFFECT}"
    said, more = _result(judged, found, text.SILENT if printed and not row.slips else "")
    if printed and row.slips:
        said = _still_raises(row) if judged.error else f"{said} {_slips(row)}"
    said = f"**{said}**"
    st.markdown(" ".join([version, said] if judged.verdict == "agrees" else [said, version]), help=more or None)
    if judged.error:
        (st.error if printed else st.info)(text.RAISED_IN.format(error=escape(judged.error), function=found.raised_at))


def _still_raises(row: Row) -> str:
    """That published code stops with an error although other mistakes were fixed before."""
    count = len(row.slips)
    return text.RESULT_STILL_RAISES.get(count, text.RESULT_STILL_RAISES_MORE).format(count=count)


def _slips(row: Row) -> str:
    """How many other mistakes were fixed so that the published code runs; "" if it runs as it is."""
    count = len(row.slips)
    return text.SLIPS.get(count, text.SLIPS_MORE).format(count=count) if count else ""


def origin(name: str, printed: bool) -> None:
    """Draws where the selected row was published, and how the code that is shown differs from that."""
    row = ROWS[name]
    fixed = text.FIXED_FIRST.format(slips=" ".join(escape(slip.what) for slip in row.slips)) if row.slips else ""
    document = find_the_bug.document_link(row.document)
    st.caption(text.FROM[version(name, printed)].format(document=document, fixed=fixed))


def version(name: str, printed: bool) -> str:
    """Which version of a row is shown: "published", "corrected", or "only" if the published one is right."""
    if ROWS[name].as_printed is None:
        return "only"
    return "published" if printed else "corrected"


def not_applied(config: Config, row: Row, found: Comparison) -> None:
    """Draws how many of the heads this row uses, if not all; the sidebar disables what it ignores."""
    if (used := len(found.reference)) < config.heads:
        st.caption(text.FEWER_HEADS.format(used=used, heads=config.heads))


def tries(config: Config, row: Row) -> None:
    """Draws buttons with settings to try: what each changes, or that it is in use."""
    if not row.tries:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tries"):
        st.caption(text.TRY, width="content")
        for label, settings in row.tries:
            moved = [
                text.MOVED.format(name=text.MOVED_NAMES[name], old=getattr(config, name), new=value)
                for name, value in settings.items()
                if getattr(config, name) != value
            ]
            st.button(
                text.TRIED.format(label=label, moved=", ".join(moved) or text.IN_USE),
                on_click=page.change,
                kwargs=settings,
                key=f"try {label}",
                disabled=not moved,
                icon=None if moved else ":material/check:",
            )


def lines(name: str) -> None:
    """Draws the wrong lines of a row and the right ones, if it has any."""
    if ROWS[name].as_printed:
        find_the_bug.changes(ROWS[name])


def explanation(config: Config, name: str, printed: bool) -> None:
    """Draws what a row computes, its errors, and its lesson."""
    row = ROWS[name]
    with st.expander(text.WHAT, icon=":material/lightbulb:"):
        st.markdown(row.lesson)
        st.latex(row.formula)
        mask = text.MASKS[row.mask].format(padded=text.PADDED)
        st.caption(text.ABOUT_ROW.format(particular=row.particular, mask=mask))
        _errors(config, name, printed)
        found = _judgements(config)
        st.caption(f"{_relative()} {_as_meant([found[each, False] for each in ROWS])}")


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
    errors = [error.greatest for judged in found for error in (judged.output, judged.square) if error]
    if any(map(math.isnan, errors)):
        return text.NAN_ROWS
    count = sum(bool(judged.error) for judged in found)
    raised = text.STILL_RAISES.format(count=count) if count else ""
    if not max(errors):
        return text.CORRECTED_EXACT.format(raised=raised)
    return text.CORRECTED_ERRORS.format(error=_number(max(errors)), raised=raised)


def _relative() -> str:
    return text.RELATIVE.format(within=WITHIN)


def _badge(row: Row, verdict: str, printed: bool) -> str:
    said = text.VERDICTS.get(verdict, text.ERROR)
    if row.as_printed and not printed and verdict != "unfit":
        said = text.CORRECTED_VERDICT.format(verdict=said)
    return f":{COLORS[verdict]}-badge[{said}]"


def _still(verdict: str, corrected: Judgement) -> str:
    """That a row is not right when it is corrected either, which some settings bring about."""
    if corrected.verdict == "agrees" or verdict == "unfit":
        return ""
    return text.STILL.format(verdict=text.VERDICTS.get(corrected.verdict, text.ERROR))


def _result(judged: Judgement, found: Comparison, silent: str) -> tuple[str, str]:
    """A sentence on the results of a row, and the errors of output and weights where the sentence counts wrong rows."""
    if not judged.output or not judged.square:
        return text.RESULT_RAISES, ""
    if judged.verdict == "agrees":
        largest = max(judged.output.greatest, judged.square.greatest)
        return text.RESULT_EQUAL.format(largest=_number(largest)) if largest else text.RESULT_SAME, ""
    errors = " ".join(_error_in_words(part, error) for part, error in enumerate((judged.output, judged.square)))
    wrong = 0 if found.apart is None else rows_apart(found.apart)
    if found.apart is None or not wrong:
        return errors, ""
    return text.WRONG_ROWS.format(wrong=wrong, rows=len(found.apart), silent=silent), errors


def _error_in_words(part: int, error: Error) -> str:
    """A sentence on the error of the output (part 0) or of the weights (1), beside the norm of the reference."""
    if error.agrees:
        return text.RESULTS_RIGHT[part]
    if math.isnan(error.relative):
        return text.RESULTS_NAN[part]
    if math.isinf(error.relative):
        return text.RESULTS_SHAPE[part]
    return text.RESULTS_WRONG[part].format(error=f"{error.relative * 100:.3g}%")


def _number(error: float) -> str:
    if math.isnan(error):
        return "NaN"
    return text.OTHER_SHAPE if math.isinf(error) else f"{error:.2g}"

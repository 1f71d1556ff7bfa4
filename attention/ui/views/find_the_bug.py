"""Find the bug: the maps of correct and of wrong code, the guesses, the code, and the wrong line once it is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

import streamlit as st

from attention.charts import theme
from attention.charts.word_map import word_map
from attention.codec import to_query
from attention.components.answer_in_view import answer_in_view
from attention.components.copy_link import copy_link
from attention.config import Config
from attention.published import ROWS
from attention.published.bug_series import BugSeries
from attention.published.diff_lines import difference, plain, short
from attention.published.hunts import BUGS, Hunt, HuntMaps
from attention.published.row import Document, Row
from attention.tables.rows import labels
from attention.ui import next_step, predict, results
from attention.ui.controls import knobs
from attention.ui.heading import draw_heading
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, page, present
from attention.ui.text import find_the_bug as text
from attention.ui.views import code
from attention.ui.views.word_sentences import change_sentence, weight_sentence

NAMES = tuple(BUGS)
MARKS, GUESS, REVEAL = "mark differences", "guess at", "reveal"  # keys of widgets begin so
SERIES, VERDICT, SOLUTION = "series", "verdict", "solution"  # keys of containers


def view(series: BugSeries) -> None:
    """Draws one bug of the series."""
    hunt, found = BUGS[series.bug], results.published.hunt_maps(BUGS[series.bug])
    draw_heading("find_the_bug", text.FINDING)
    tried = _remember(series)
    top = st.container()  # filled after the guess, which it marks
    maps, beside = st.columns([4, 3] if len(hunt.heads) == 1 else 2, gap="medium")
    with beside:
        answered = _question(series, hunt, tried)
        if answered:
            st.caption(text.CHANGES)
            changes(hunt.row)
            _after(hunt)
        else:
            is_tried = series.bug in tried.first_guesses  # the score no longer depends on a hint
            with st.expander(text.CODE, is_tried, icon=":material/code:", key=f"hint {series.bug} {is_tried}"):
                code.show_source("\n".join(map(plain, found.source.splitlines())))
    with maps:
        st.markdown(hunt.says)
        drawn = st.container()
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            marks = st.toggle(text.MARK, value=answered, key=f"{MARKS} {series.bug} {answered}")
            if not present.is_embedded():
                copy_link("copy_bug", text.COPY, drops=["tried"])
        drawn.html(f'<div class="word-maps maps-{len(hunt.heads)}">{"".join(_maps(hunt, found, marks))}</div>')
        st.caption(_what_is_marked(hunt, found) if marks else _legend(hunt, found))
    if not present.is_embedded():
        with top:
            _series(series, tried)
        _scroll(series, hunt)
    browser_yield.yield_to_browser()


def _what_is_marked(hunt: Hunt, found: HuntMaps) -> str:
    empty, marked, cells = int(found.masked_apart.sum()), int(found.marked_cells.sum()), found.differs.numel()
    are = text.ARE[hunt.shows]
    if marked < empty:
        return text.MARKED_ROW.format(empty=empty, cells=cells, are=are)
    if empty:
        return text.MARKED.format(marked=marked, cells=cells, are=are)
    return text.MARKED_LARGEST.format(marked=marked, count=int(found.differs.sum()), cells=cells)


def _legend(hunt: Hunt, found: HuntMaps) -> str:
    is_hatched = not (found.correct_visible.all() and found.wrong_visible.all())
    hatched = text.HATCHED[hunt.shows] * is_hatched
    return text.LEGEND.format(axes=text.AXES[hunt.shows], more=text.MORE[hunt.shows], hatched=hatched)


def _remember(series: BugSeries) -> BugSeries:
    """Returns the series with all bugs that were tried in this visit, whether or not the link names them."""
    known = page.visit_state().first_guesses
    for bug, right in series.first_guesses.items():
        known.setdefault(bug, right)
    for bug, right in known.items():
        series = replace(series, tried=replace(series, bug=bug).tried_with(right))
    return series


def _count_guess(series: BugSeries, right: bool) -> None:
    """Keeps the first guess at the bug that is shown, in this visit and in the link."""
    page.visit_state().first_guesses.setdefault(series.bug, right)
    page.change(tried=_remember(series).tried)


def _series(series: BugSeries, tried: BugSeries) -> None:
    """Draws the choice of a bug, and the score."""
    with st.container(horizontal=True, vertical_alignment="center", key=SERIES):
        knobs.pills(
            "bug",
            series,
            format_func=partial(_bug_label, tried=tried.first_guesses),
            on_change=page.change,
            label_visibility="collapsed",
            width="content",
        )
        st.markdown(_score_text(tried), width="content")


def _scroll(series: BugSeries, hunt: Hunt) -> None:
    """Scrolls what is new into view: the verdict on a guess, the solution, or another bug."""
    guess, revealed = (page.visit_state().answers.get(f"{what} {hunt.name}") for what in (GUESS, REVEAL))
    is_revealed = bool(revealed) and guess != hunt.answer
    answer = text.REVEAL if is_revealed else guess or ""
    answer_in_view(series.bug, answer, verdict=SOLUTION if is_revealed else VERDICT, start=SERIES)


def _question(series: BugSeries, hunt: Hunt, tried: BugSeries) -> bool:
    """Draws the guesses and what speaks against a wrong one, or the solution and the next bug; True once it is shown."""
    guess = predict.keep_answer(f"{GUESS} {hunt.name}", partial(_guess, series, hunt))
    right = guess == hunt.answer
    with st.container(key=VERDICT):
        if right:
            st.success(text.RIGHT.format(mistake=hunt.row.mistake), icon=":material/check_circle:")
        elif guess:
            st.error(text.AGAINST.format(why=hunt.against(guess)), icon=":material/cancel:")
    revealed = not right and predict.keep_answer(f"{REVEAL} {hunt.name}", partial(_reveal, series, tried))
    if not (right or revealed):
        if guess:
            _draw_next(series, tried, "secondary")
        return False
    if not right:
        said = text.ANSWER.format(answer=hunt.answer, mistake=hunt.row.mistake)
        with st.container(key=SOLUTION):
            st.info(said, icon=":material/lightbulb:")
    st.markdown(text.SEEN.format(seen=hunt.seen))
    if not _draw_next(series, tried, "primary"):
        st.markdown(text.END.format(bugs=len(NAMES), score=_score_text(tried)))
    return True


def _draw_next(series: BugSeries, tried: BugSeries, kind: Literal["primary", "secondary"]) -> bool:
    """Draws the button that opens the next bug that was not tried; False if all were."""
    at = NAMES.index(series.bug)
    later = [bug for bug in NAMES[at + 1 :] + NAMES[:at] if bug not in tried.first_guesses]
    if not later:
        return False
    st.button(
        text.NEXT.format(number=NAMES.index(later[0]) + 1),
        on_click=page.change,
        kwargs={"bug": later[0]},
        key="next bug",
        type=kind,
        icon=":material/arrow_forward:",
    )
    return True


def _guess(series: BugSeries, hunt: Hunt, key: str) -> str | None:
    def count() -> None:
        _count_guess(series, page.widgets().get(key) == hunt.answer)

    guess = st.radio(text.QUESTION, hunt.guesses, index=None, key=key, on_change=count, width="stretch")
    return guess if guess in hunt.guesses else None


def _reveal(series: BugSeries, tried: BugSeries, key: str) -> bool:
    shown = st.toggle(text.REVEAL, key=key, on_change=_count_guess, args=(series, False))
    if series.bug not in tried.first_guesses:
        st.caption(text.REVEAL_COUNTS)
    return shown


def _after(hunt: Hunt) -> None:
    """Draws the lesson of a bug, and the way to its comparison."""
    with st.expander(text.WHY, icon=":material/lightbulb:"):
        st.markdown(hunt.row.lesson)
        st.caption(_origin(hunt))
    if hunt.name in ROWS:
        query = to_query(Config(implementation=hunt.name)) or {"implementation": hunt.name}
        next_step.page_link("implementations", text.COMPARE, query)


def _bug_label(bug: str, tried: Mapping[str, bool]) -> str:
    """The label of a bug in the series, with a mark once it was tried: whether the first guess was right."""
    label = f"{NAMES.index(bug) + 1}"
    return (text.SOLVED if tried[bug] else text.MISSED).format(bug=label) if bug in tried else label


def _score_text(tried: BugSeries) -> str:
    found = tried.first_guesses
    return text.SCORE.format(right=sum(found.values()), count=len(found)) if found else text.NO_SCORE


def _maps(hunt: Hunt, found: HuntMaps, marks: bool) -> list[str]:
    """The maps as HTML, head by head, the correct one before the other; with `marks`, cells that differ have an outline."""
    tokens, weights = labels(hunt.config)[: found.correct.shape[-1]], hunt.shows == "weights"
    sides = ((False, found.correct, found.correct_visible), (True, found.wrong, found.wrong_visible))
    drawn = []
    for at, head in enumerate(hunt.heads):
        for wrong, cells, visible in sides:
            title = text.VERSIONS[wrong] + (text.HEAD.format(head=head) if len(hunt.heads) > 1 else "")
            alt, colors = text.ALT.format(title=title), theme.WEIGHTS if weights else theme.INFLUENCE
            says = weight_sentence if weights else change_sentence
            marked = found.marked_cells[at] if marks else None
            drawn.append(word_map(cells[at], visible[at], tokens, colors, title, alt, says, marked))
    return drawn


def _origin(hunt: Hunt) -> str:
    return text.DOCUMENT.format(document=document_link(hunt.row.document)) if hunt.name in ROWS else text.COMMON


def document_link(document: Document) -> str:
    """The title of a document, as a link if the document has an address."""
    title = escape(document.title_in_words)
    return f"[{title}]({document.address})" if document.address else title


def changes(row: Row) -> None:
    """Draws the wrong lines of a row and the right ones."""
    code.show_diff([(line.sign, plain(line.code)) for line in short(difference(row))])

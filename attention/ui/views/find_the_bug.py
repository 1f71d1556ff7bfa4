"""Find the bug: the maps of correct and of wrong code, the guesses, the code, and the wrong line once it is found."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.charts import theme
from attention.charts.word_map import word_map
from attention.codec import to_query
from attention.components.copy_link import copy_link
from attention.config import Config
from attention.published import ROWS
from attention.published.diff_lines import difference, plain, short
from attention.published.hunts import BUGS, HUNTS, BugSeries, Hunt, HuntMaps
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
MARKS = "mark differences"  # the key of the toggle


def view(series: BugSeries) -> None:
    """Draws one bug of the series."""
    hunt, found = BUGS[series.bug], results.published.hunt_maps(BUGS[series.bug])
    draw_heading("find_the_bug", text.FINDING)
    top = st.container()  # filled after the guess, which it marks
    maps, beside = st.columns([4, 3], gap="medium")
    with beside:
        answered = _question(series, hunt)
        if answered:
            changes(hunt.row)
            _after(hunt)
        else:
            with st.expander(text.CODE, icon=":material/code:", key=f"hint {series.bug}"):
                code.show_source("\n".join(map(plain, found.source.splitlines())))
    with maps:
        st.markdown(hunt.says)
        drawn = st.container()
        marks = st.toggle(text.MARK, value=answered, key=f"{MARKS} {series.bug} {answered}")
        drawn.html(f'<div class="word-maps maps-{len(hunt.heads)}">{"".join(_maps(hunt, found, marks))}</div>')
        st.caption(_what_is_marked(hunt, found) if marks else _legend(hunt, found))
    if not present.is_embedded():
        with top:
            _series(series)
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
    return text.LEGEND.format(hatched=text.HATCHED[hunt.shows] * is_hatched)


def _series(series: BugSeries) -> None:
    """Draws the choice of a bug, and the score."""
    with st.container(horizontal=True, vertical_alignment="center"):
        knobs.pills(
            "bug", series, format_func=_bug_label, on_change=page.change, label_visibility="collapsed", width="content"
        )
        st.markdown(_score_text(), width="content")
        copy_link("copy_bug", text.COPY)


def _question(series: BugSeries, hunt: Hunt) -> bool:
    """Draws the guesses and what speaks against the chosen one, or the solution and the next bug; True once it is shown."""
    guess = predict.keep_answer(f"guess at {hunt.name}", partial(_guess, hunt))
    right = guess == hunt.answer
    revealed = not right and predict.keep_answer(f"reveal {hunt.name}", _reveal)
    if guess or revealed:  # what counts is the first of them
        page.visit_state().first_guesses.setdefault(hunt.name, guess or "")
    if not (right or revealed):
        if guess:
            st.info(text.AGAINST.format(why=hunt.against(guess)))
        return False
    said = (text.RIGHT if right else text.ANSWER).format(answer=hunt.answer, mistake=hunt.row.mistake)
    (st.success if right else st.info)(said)
    at = NAMES.index(series.bug) + 1
    if at < len(NAMES):
        st.button(
            text.NEXT,
            on_click=page.change,
            kwargs={"bug": NAMES[at]},
            key="next bug",
            type="primary",
            icon=":material/arrow_forward:",
        )
    else:
        st.markdown(text.END.format(score=_score_text()))
    st.markdown(text.SEEN.format(seen=hunt.seen))
    return True


def _guess(hunt: Hunt, key: str) -> str | None:
    guess = st.radio(text.QUESTION, hunt.guesses, index=None, key=key)
    return guess if guess in hunt.guesses else None


def _reveal(key: str) -> bool:
    return st.toggle(text.REVEAL, key=key)


def _after(hunt: Hunt) -> None:
    """Draws the lesson of a bug, and the way to its comparison."""
    with st.expander(text.WHY, icon=":material/lightbulb:"):
        st.markdown(hunt.row.lesson)
        st.caption(_origin(hunt))
    if hunt.name in ROWS:
        query = to_query(Config(implementation=hunt.name)) or {"implementation": hunt.name}
        next_step.page_link("implementations", text.COMPARE, query)


def _bug_label(name: str) -> str:
    """The label of a bug in the series, with a mark once it was tried: whether the first guess was right."""
    label = f"{NAMES.index(name) + 1}"
    if BUGS[name].name not in page.visit_state().first_guesses:
        return label
    return (text.SOLVED if _is_solved(BUGS[name]) else text.MISSED).format(bug=label)


def _is_solved(hunt: Hunt) -> bool:
    """Whether the first guess at a bug was right."""
    return page.visit_state().first_guesses.get(hunt.name) == hunt.answer


def _score_text() -> str:
    tried = len(page.visit_state().first_guesses)
    return text.SCORE.format(right=sum(map(_is_solved, HUNTS)), count=tried) if tried else text.NO_SCORE


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
    st.caption(text.CHANGES)
    code.show_diff([(line.sign, plain(line.code)) for line in short(difference(row))])

"""A bug to find, at the top of the page: correct and published pictures, the code, guesses, and the wrong line."""

from __future__ import annotations

from base64 import b64encode
from functools import partial

import streamlit as st

from attention.config import Config
from attention.published import ROWS
from attention.published.diff_lines import difference, short, source
from attention.published.hunts import Hunt, hunt
from attention.published.row import Document
from attention.ui import predict, results
from attention.ui.markdown import escape
from attention.ui.session import address_bar
from attention.ui.session.page import Part
from attention.ui.views import code

SIDES = {False: "Correct", True: "Published"}
PICTURE = '<img alt="{}" title="{}" width="{}" height="{}" src="data:image/png;base64,{}">'
SUBJECT = {"implementation", "version", "row_detail", "bug"}  # knobs that give a link its own subject
WIDE = {1: 190, 2: 156}  # width of a picture in pixels, by the number of pictures


def _look(config: Config) -> object:
    """The hunt that is on; None if the page asks another question, or was opened with a subject of its own."""
    asks = (config.bug, config.predict, config.ask) != ("off", "none", "") or address_bar.link_names() & SUBJECT
    return None if asks else hunt(config.implementation).row


def _draw(config: Config) -> None:
    """Draws the pictures, guesses next to the code, what speaks against a guess, and finally what is wrong."""
    asked = hunt(config.implementation)
    with st.container(key="hunt"):
        st.markdown(
            "**Implementations: find the bug.** Published attention code and its correct version, run on the same weights and "
            f"tokens. No error is raised, and every shape fits. {asked.says}"
        )
        st.html("".join(_side(asked, printed) for printed in SIDES))
        question, lines = st.columns([3, 8], gap="medium")
        with question:
            guess = predict.keep_answer(f"guess at {asked.row}", partial(_guess, asked))
            found = guess == asked.answer or predict.keep_answer(f"reveal {asked.row}", _reveal)
            if guess and not found:
                st.info(f"**Not this one.** {asked.against(guess)} Try again.")
        with lines:
            changes(asked.row) if found else _show_printed(asked)
        if found:
            _show_solution(asked, guess)
            st.markdown(ROWS[asked.row].lesson)
            st.caption(f"From {document_link(ROWS[asked.row].document)}.")
        st.divider()


def _guess(asked: Hunt, key: str) -> str | None:
    guess = st.radio("What is wrong here?", asked.guesses, index=None, key=key)
    return guess if guess in asked.guesses else None


def _reveal(key: str) -> bool:
    return st.toggle("Reveal the wrong line", key=key)


def _side(asked: Hunt, printed: bool) -> str:
    """The pictures of one side below its name, as HTML; a sentence above them says what they show."""
    files = results.published.hunt_pictures(asked, printed)
    wide, side = WIDE[len(files)], SIDES[printed]
    names = [f"weights of head {i}" if asked.shows == "weights" else "influence of tokens" for i in range(len(files))]
    images = [
        PICTURE.format(f"{side}: {name}", name, wide, wide, b64encode(file).decode())
        for name, file in zip(names, files, strict=True)
    ]
    return f'<figure class="side"><figcaption>{side}</figcaption>{"".join(images)}</figure>'


def _show_printed(asked: Hunt) -> None:
    printed = ROWS[asked.row].as_printed
    assert printed, asked.row
    st.caption("The published code, rewritten, mistake included:")
    code.show_source("\n".join(source(printed)))


def _show_solution(asked: Hunt, guess: str | None) -> None:
    """Says what is wrong, and whether that was guessed."""
    right = guess == asked.answer
    verdict = (
        "" if guess is None else "Right. " if right else f"Not quite: you chose “{guess}”. {asked.against(guess)} "
    )
    (st.success if right else st.info)(f"{verdict}**{asked.answer}.** {ROWS[asked.row].mistake}")


def document_link(document: Document) -> str:
    """The title of a document, as a link if the document has an address."""
    title = escape(document.title_in_words)
    return f"[{title}]({document.address})" if document.address else title


def changes(name: str) -> None:
    """Draws the wrong lines of a row and the right ones."""
    st.caption("Lines marked − are as published, lines marked + are corrected:")
    code.show_diff([(line.sign, line.code) for line in short(difference(ROWS[name]))])


HUNT = Part("hunt", _draw, _look)

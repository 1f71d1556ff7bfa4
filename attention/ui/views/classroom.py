"""For a class: the section beside the title of a page that asks a built-in or custom question and copies its link.

A draft is kept while settings and pages change, until it is edited; it is in no link before it is asked.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import streamlit as st

from attention.components.copy_link import copy_link
from attention.config import Config
from attention.settings import EDITION, ConfigError
from attention.ui import predict
from attention.ui.controls.knobs import SETTINGS
from attention.ui.markdown import escape
from attention.ui.question_codec import OPTION, OPTIONS, QUESTION, WHY, Draft, decode, encode
from attention.ui.session import page
from attention.ui.text import lessons as text
from attention.ui.views import lesson_editor, own_question, questions

OPEN = "class"  # the key of the expander
LINK = 2000  # characters of a link that every program accepts
TYPED = 5000  # characters of a field that are kept: too long a text can still be shortened, as a message asks
NONE = "no right answer"
EMPTY = "Nothing was copied: write a question first."
HIDES = "Hides the pictures until the answer is revealed. If off, only descriptions of heads are hidden."
TOLD = "The link contains question and answer, encoded but not encrypted: the answer can be decoded."


def fold() -> page.Part:
    """The class section of a page."""
    return page.Part("classroom", _draw, _look)


def _draw(config: Any) -> None:
    if page.widgets().get(OPEN) is None:
        page.widgets()[OPEN] = page.visit_state().classroom
    with st.container(key="class-fold"):
        shut = st.expander("Class", icon=":material/school:", key=OPEN, on_change="rerun")
    page.visit_state().classroom = bool(shut.open)
    if not shut.open:
        return
    with shut:
        if isinstance(config, Config):
            _ours(config)
        st.markdown("**Your own question**")
        form, seen = st.columns([3, 2], gap="medium")
        with form:
            _form()
        with seen:
            _draw_as_seen()
        _share_section(config)
        lesson_editor.draw(*_pack_draft(_draft()), _forget_draft)


def _look(config: Any) -> object:
    """The inputs of the section; constant while it is closed."""
    if not page.widgets().get(OPEN, page.visit_state().classroom):
        return "shut"
    return (
        tuple(_question_presets(config)),
        bool(config.ask),
        _loadable(config),
        _draft(),
        _length(config) > LINK,
        len(page.visit_state().chain),
    )


def _ours(config: Config) -> None:
    st.markdown("**Ready-made questions**", help="Hide the answer on every page until it is revealed.")
    questions.offer(_question_presets(config), "class", icon=None)


def _question_presets(config: Any) -> dict[str, str]:
    if not isinstance(config, Config):
        return {}
    return {name: said for name, said in questions.OFFERS.items() if questions.can_be_asked(name, config)}


def _form() -> None:
    """Draws the fields, each with what was written before, as Streamlit forgets widgets that are not drawn."""
    draft = _draft()
    _fill_form(draft)
    st.text_area(
        "Question",
        draft.text,
        key=_key("text"),
        height=90,
        help=f"Up to {QUESTION} characters. {TOLD}",
    )
    st.toggle("Hide pictures", draft.hides, key=_key("hides"), help=HIDES)
    st.text_area(
        "Answers, one per line",
        draft.options,
        key=_key("options"),
        height=110,
        placeholder="Leave empty for an open question",
        help=f"Up to {OPTIONS} answers of up to {OPTION} characters.",
    )
    if draft.option_list:
        choices = ["", *dict.fromkeys(draft.option_list)]
        at = choices.index(draft.right)
        st.radio("Right answer", choices, at, lambda choice: escape(choice) or NONE, key=_key("right"))
    st.text_area(
        "Explanation",
        draft.why,
        key=_key("why"),
        height=90,
        help=f"Shown with the answer; up to {WHY} characters.",
    )
    page.visit_state().draft = _draft()


def _draw_as_seen() -> None:
    """Draws the question as students see it, before and after the answer is revealed."""
    try:
        asked = own_question.question(_draft().to_question())
    except ConfigError:
        return
    st.caption(text.SEEN)
    with st.container(border=True, key="as-seen"):
        st.markdown(f"**Question.** {asked.text}")
        if asked.guesses:
            st.radio("Your guess", asked.guesses, index=None, disabled=True, key="class seen")
        st.caption(text.REVEALED)
        predict.show_verdict(asked, None)


def _forget_draft() -> None:
    """Empties the form: the question was added to a lesson."""
    page.visit_state().draft = Draft()
    _fill_form(Draft())


def _share_section(config: Any) -> None:
    """Draws the buttons that try, copy and load a question, and what is wrong with the draft."""
    code, wrong = _pack_draft(_draft())
    adds, lacking = (
        _entries(config, code),
        "" if code else "Nothing was copied: see the message below." if wrong else EMPTY,
    )
    told = "Asks the question here, as the class sees it. You can end or change it at any time."
    st.button("Preview question", on_click=_ask_draft, key="ask own", icon=":material/visibility:", help=told)
    copy_link("copy_question", "Copy link with question", adds, ("predict",), lacking)
    if code and _draft().option_list and not _draft().right:
        st.warning(text.NO_RIGHT, icon=":material/help:")
    if wrong:
        st.warning(escape(wrong), icon=":material/edit:")
    elif code and _length(config) > LINK:
        st.warning(
            f"The link has over {LINK:,} characters, and some programs cut such links. Shorten the question, or your "
            "text, which is part of the link.",
            icon=":material/content_cut:",
        )
    if _loadable(config):
        st.button("Edit this link's question", on_click=_load_question, key="load own", icon=":material/edit:")


def _ask_draft() -> None:
    """Asks the question as it is written now, which may be newer than what was drawn."""
    code, _ = _pack_draft(_draft())
    if code:
        page.change(**predict.none(page.setting()) | {"ask": code})


def _load_question() -> None:
    """Puts the question of the link into the form."""
    page.visit_state().draft = Draft.of(decode(page.setting().ask))
    _fill_form(page.visit_state().draft)


def _fill_form(draft: Draft) -> None:
    """Sets the fields to a draft, except those that match: a value that is set replaces what is being typed there."""
    for name, value in vars(draft).items():
        if page.widgets().get(_key(name)) != value:
            page.widgets()[_key(name)] = value


def _loadable(config: Any) -> bool:
    """Whether the link has a question whose answer was revealed here and that is not in the form."""
    return bool(config.ask) and predict.is_revealed(config) and _pack_draft(_draft())[0] != config.ask


def _draft() -> Draft:
    """The current draft: from the fields, or as of when they were last drawn."""
    kept, held = page.visit_state().draft, page.widgets()
    said = {field.name: held.get(_key(field.name)) for field in fields(Draft)}
    draft = replace(kept, **{name: _short(value) for name, value in said.items() if value is not None})
    if draft.right in ("", *draft.option_list):
        return draft
    at, fits = kept.option_list, len(kept.option_list) == len(draft.option_list) and draft.right in kept.option_list
    return replace(draft, right=draft.option_list[at.index(draft.right)] if fits else "")  # its line was edited


def _short(value: str | bool) -> str | bool:
    """The first `TYPED` characters of a text. Streamlit would show a limit of its own as if it were the question's."""
    return value[:TYPED] if isinstance(value, str) else value


def _pack_draft(draft: Draft) -> tuple[str, str]:
    """A draft encoded for a link, "" if it is not a valid question yet, and what is wrong with it."""
    if not draft.is_started:
        return "", ""
    try:
        return encode(draft.to_question()), ""
    except ConfigError as error:
        return "", str(error)


def _entries(config: Any, code: str) -> dict[str, str]:
    """The query parameters that make a link to the current page ask the question."""
    settings = SETTINGS[type(config)]
    asks = settings.to_query(replace(config, ask=code))
    return {name: asks[name] for name in (EDITION, f"{settings.linked}ask") if name in asks} if code else {}


def _length(config: Any) -> int:
    """The number of characters of the link."""
    code, _ = _pack_draft(_draft())
    there = (st.context.url or "").partition("?")[0]
    return len(there) + 1 + len(SETTINGS[type(config)].link(replace(config, **predict.none(config) | {"ask": code})))


def _key(name: str) -> str:
    return f"class {name}"

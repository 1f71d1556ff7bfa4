"""For a class: the fold in every sidebar where one asks, a question of ours or one of one's own, and copies its link.

What is written stays while settings change and pages are left, until it is written anew; it comes into no link before
somebody asks it. A page that has a question of its own besides gives `fold` what asks it, by a label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from attention.ui.views import questions

OPEN = "class"  # the key of the fold
LINK = 2000  # characters of a link that every program takes
TYPED = (
    5000  # characters that are kept of a field: what is longer than it may be stays there to be shortened, and is told
)
NONE = "none is marked as right"
EMPTY = "Nothing was copied: write a question first."
WAYS = {
    True: "Hide the pictures until the answer is revealed",
    False: "Show the pictures beside the question, without the sentences about what heads do",
}
TOLD = (
    "A link carries it, packed so that nobody reads the answer in passing. Whoever wants to can unpack it: this hides, "
    "it does not protect."
)
Own = Mapping[str, Callable[[], None]]  # what asks, by its label


def fold(own: Own | None = None) -> page.Part:
    """The fold of a page, and what else it offers."""
    return page.Part("classroom", lambda config: _draw(config, own or {}), _look)


def _draw(config: Any, own: Own) -> None:
    if page.widgets().get(OPEN) is None:
        page.widgets()[OPEN] = page.visit_state().classroom
    shut = st.expander("For a class", icon=":material/school:", key=OPEN, on_change="rerun")
    page.visit_state().classroom = bool(shut.open)
    if not shut.open:
        return
    with shut:
        if isinstance(config, Config):
            _ours(config, own)
        st.markdown("**A question of your own**")
        _form()
        _share_section(config)


def _look(config: Any) -> object:
    """Shut it looks the same whatever is set."""
    if not page.widgets().get(OPEN, page.visit_state().classroom):
        return "shut"
    return tuple(_question_presets(config)), bool(config.ask), _loadable(config), _draft(), _length(config) > LINK


def _ours(config: Config, own: Own) -> None:
    st.markdown("**Ready-made questions**", help="Each hides what answers it, on every page, until it is opened.")
    questions.offer(_question_presets(config), "class", icon=None)
    for label, asks in own.items():
        st.button(label, on_click=asks, key=f"ask {label}")


def _question_presets(config: Any) -> dict[str, str]:
    if not isinstance(config, Config):
        return {}
    return {name: said for name, said in questions.OFFERS.items() if questions.can_be_asked(name, config)}


def _form() -> None:
    """The fields. Each is told what was written before, as Streamlit forgets what is not drawn."""
    draft = _draft()
    _fill_form(draft)
    st.text_area(
        "Question",
        draft.text,
        key=_key("text"),
        height=90,
        help=f"Up to {QUESTION} characters. {TOLD}",
    )
    st.toggle(WAYS[True], draft.hides, key=_key("hides"), help=f"Else: {WAYS[False].lower()}.")
    st.text_area(
        "Answers, one a line",
        draft.options,
        key=_key("options"),
        height=110,
        placeholder="None: an open question",
        help=f"Up to {OPTIONS}, each of up to {OPTION} characters.",
    )
    if draft.option_list:
        choices = ["", *dict.fromkeys(draft.option_list)]
        at = choices.index(draft.right)
        st.selectbox("The right one", choices, at, lambda choice: choice or NONE, key=_key("right"))
    st.text_area(
        "Why it is so",
        draft.why,
        key=_key("why"),
        height=90,
        help=f"Shown with the answer; up to {WHY} characters.",
    )
    page.visit_state().draft = _draft()


def _share_section(config: Any) -> None:
    """What to do with what is written, and what is wrong with it."""
    code, wrong = _pack_draft(_draft())
    adds, lacking = _entries(config, code), "" if code else "Nothing was copied: see below." if wrong else EMPTY
    told = "Asks here what the link asks, as the class sees it. It can be ended, and changed, at any time."
    st.button("Try it here", on_click=_ask_draft, key="ask own", icon=":material/visibility:", help=told)
    copy_link("copy_question", "Copy link with the question", adds, ("predict",), lacking)
    if wrong:
        st.warning(escape(wrong), icon=":material/edit:")
    elif code and _length(config) > LINK:
        st.warning(
            f"The link has over {LINK:,} characters, and some programs cut such links. Shorten the question, or set "
            "less (a text of your own is part of the link).",
            icon=":material/content_cut:",
        )
    if _loadable(config):
        st.button("Change this link's question", on_click=_load_question, key="load own", icon=":material/edit:")


def _ask_draft() -> None:
    """Asks what is written now, which may be newer than what was drawn."""
    code, _ = _pack_draft(_draft())
    if code:
        page.change(**predict.none(page.setting()) | {"ask": code})


def _load_question() -> None:
    """Puts the question of the link into the form."""
    page.visit_state().draft = Draft.of(decode(page.setting().ask))
    _fill_form(page.visit_state().draft)


def _fill_form(draft: Draft) -> None:
    """The fields say this. One that does is left alone: what it is told takes the place of what is being typed there."""
    for name, value in vars(draft).items():
        if page.widgets().get(_key(name)) != value:
            page.widgets()[_key(name)] = value


def _loadable(config: Any) -> bool:
    """Is there a question in the link whose answer is known to whoever sits here, and that is not in the form?"""
    return bool(config.ask) and predict.is_revealed(config) and _pack_draft(_draft())[0] != config.ask


def _draft() -> Draft:
    """What is written now: as the fields say, or as it was when they were last there."""
    kept, held = page.visit_state().draft, page.widgets()
    said = {field.name: held.get(_key(field.name)) for field in fields(Draft)}
    draft = replace(kept, **{name: _short(value) for name, value in said.items() if value is not None})
    if draft.right in ("", *draft.option_list):
        return draft
    at, fits = kept.option_list, len(kept.option_list) == len(draft.option_list) and draft.right in kept.option_list
    return replace(draft, right=draft.option_list[at.index(draft.right)] if fits else "")  # its line was written anew


def _short(value: str | bool) -> str | bool:
    """As much of a text as is kept. A limit that Streamlit knows would stand beside the field as if it were the question's."""
    return value[:TYPED] if isinstance(value, str) else value


def _pack_draft(draft: Draft) -> tuple[str, str]:
    """A draft for a link, "" where it is no question yet, and what is wrong with it."""
    if not draft.is_started:
        return "", ""
    try:
        return encode(draft.to_question()), ""
    except ConfigError as error:
        return "", str(error)


def _entries(config: Any, code: str) -> dict[str, str]:
    """What a link to what is on the screen says besides, so that it asks."""
    settings = SETTINGS[type(config)]
    asks = settings.to_query(replace(config, ask=code))
    return {name: asks[name] for name in (EDITION, f"{settings.linked}ask") if name in asks} if code else {}


def _length(config: Any) -> int:
    """Characters of the link."""
    code, _ = _pack_draft(_draft())
    there = (st.context.url or "").partition("?")[0]
    return len(there) + 1 + len(SETTINGS[type(config)].link(replace(config, **predict.none(config) | {"ask": code})))


def _key(name: str) -> str:
    return f"class {name}"

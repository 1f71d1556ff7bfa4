"""The heading of a page: its title with its group in the menu, where its weights come from, and what the picture shows.

Every page begins with it: a title, one sentence of finding that is true of what is shown, then one large picture. The badge
that compares the picture with PyTorch (`proof.badge`) is drawn below the picture, where it is not taken for a statement on
where the weights come from.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.config import Config
from attention.pinned import shown_side
from attention.ui import provenance
from attention.ui.menu import page_group, page_title
from attention.ui.session.part import Part
from attention.ui.session.visit_state import session


def draw_heading(page: str, finding: str, badge: str = "", help: str | None = None, title: str = "") -> None:
    """Draws the title of a page and its finding, all as Markdown."""
    draw_title(page, badge, help, title)
    draw_finding(finding)


def draw_title(page: str, badge: str = "", help: str | None = None, title: str = "") -> None:
    """Draws the title of a page after its group in the menu; `badge` says where the weights come from."""
    group = page_group(page)
    with st.container(key="page-title"):
        st.markdown(f"# {f':gray[{group} ·] ' * bool(group)}{title or page_title(page)} {badge}".rstrip(), help=help)


def title_part(page: str, help: Callable[[Config], str], beside: Callable[[Config], str] = provenance.beside) -> Part:
    """The title of a page about a config, as a part; `help` is shown on hover over it, and `beside` gives its badge."""

    def look(config: Config) -> tuple[str, str]:
        shown = shown_side(config)
        return beside(shown), help(shown)

    return Part("title", lambda config: draw_title(page, *look(config)), look)


def draw_section(title: str) -> None:
    """Draws the title of a section of a page, one level below that of the page."""
    st.markdown(f"## {title}")


def draw_finding(finding: str) -> None:
    """Draws the finding."""
    reserve_finding().markdown(finding)


def reserve_finding() -> DeltaGenerator:
    """The place of the finding, for a page that draws its picture first: what comes in later moves nothing.

    It is directly below the title, above the fields that some pages have there.
    """
    return (session().below_title or st).container(key="finding")


def reserve_heading() -> DeltaGenerator:
    """The place of title and finding, in the same way."""
    return st.container(key="heading")

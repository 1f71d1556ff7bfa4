"""The heading of a page: its title with its group in the menu, where its weights come from, and what the picture shows.

Every page begins with it: a title, one sentence of finding that is true of what is shown, then one large picture. The badge
that compares the picture with PyTorch (`proof.badge`) is drawn below the picture, where it is not taken for a statement on
where the weights come from.
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.ui.menu import page_group, page_title


def draw_heading(page: str, finding: str, badge: str = "", help: str | None = None, title: str = "") -> None:
    """Draws the title of a page and its finding, all as Markdown."""
    draw_title(page, badge, help, title)
    draw_finding(finding)


def draw_title(page: str, badge: str = "", help: str | None = None, title: str = "") -> None:
    """Draws the title of a page after its group in the menu; `badge` says where the weights come from."""
    group = page_group(page)
    with st.container(key="page-title"):
        st.markdown(f"# {f':gray[{group} ·] ' * bool(group)}{title or page_title(page)} {badge}".rstrip(), help=help)


def draw_section(title: str) -> None:
    """Draws the title of a section of a page, one level below that of the page."""
    st.markdown(f"## {title}")


def draw_finding(finding: str) -> None:
    """Draws the finding."""
    reserve_finding().markdown(finding)


def reserve_finding() -> DeltaGenerator:
    """The place of the finding, for a page that draws its picture first: what comes in later moves nothing."""
    return st.container(key="finding")


def reserve_heading() -> DeltaGenerator:
    """The place of title and finding, in the same way."""
    return st.container(key="heading")

"""The Share dialog, which every page opens: the link, what a chat shows of it, the code that embeds it, and files."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from attention.charts.grid_svg import grid_svg
from attention.charts.head_svg import head_svg
from attention.charts.qr_code import qr_svg
from attention.components.copy_link import copy_link
from attention.components.picture_file import chart_files, picture_file
from attention.config import Config
from attention.serving.previews import FRAME, WITHOUT_PICTURE, frame, picture_address
from attention.serving.settings import SITES, settings
from attention.ui import preview, results
from attention.ui.markdown import escape as escape_markdown
from attention.ui.session import address_bar
from attention.ui.session.card_in_link import current_card
from attention.ui.session.visit_state import put, session
from attention.ui.text import sharing as text

LONG = 2000  # characters of a link that every program accepts
GRID = 64  # heads of a file


def offer() -> None:
    """Draws the button that opens the dialog."""
    if st.button(text.SHARE, key="open_share"):
        open_dialog()


@st.dialog(text.SHARE, width="medium")
def open_dialog() -> None:
    """Draws the dialog about what the page shows now."""
    state = session()
    page, setting, query = state.page, state.here.setting, address_bar.link_query()
    base = (st.context.url or "").partition("?")[0]
    if page in preview.KINDS:
        _offer_presentation()
    _draw_link(f"{base}{'?' * bool(query)}{query}")
    _draw_preview(page, query)
    _draw_files(page, setting)
    _draw_embed(base, page, query)


def _offer_presentation() -> None:
    if st.button(text.PRESENT, help=text.PRESENT_HELP, key="start present"):
        put(view="present")
        st.rerun()  # of the whole page, which closes the dialog


def _draw_link(link: str) -> None:
    st.markdown(text.LINK)
    st.code(link, language=None, wrap_lines=len(link) <= LONG)
    said = text.LINK_LONG if len(link) > LONG else text.LINK_SHORT
    st.caption(said.format(characters=f"{len(link):,}"))
    copy_link("copy_shared")
    if drawn := qr_code(link):
        st.html(drawn)
        st.caption(text.QR_CODE)
    else:
        st.caption(text.QR_CODE_LONG)


def qr_code(link: str, alt: str = text.QR_CODE_ALT) -> str:
    """The QR code of a link as HTML; "" if the link is too long for one."""
    svg = b64encode(qr_svg(link).encode()).decode()
    return svg and f'<img class="qr-code" src="data:image/svg+xml;base64,{svg}" alt="{escape(alt)}">'


def _draw_preview(page: str, query: str) -> None:
    """Draws the picture of the link, as a chat shows it."""
    source = escape(picture_address(".", page, query))
    st.markdown(text.PREVIEW)
    st.html(
        f'<a class="link-preview" href="{source}" download="attention-{page}.png">'
        f'<img src="{source}" alt="{escape(text.PREVIEW_ALT)}" width="1200" height="630"></a>'
    )
    st.caption(text.PREVIEW_HELP)


def _draw_files(page: str, setting: Any) -> None:
    """Draws the buttons that save pictures, and says which other files there are."""
    st.markdown(text.FILES)
    if page in preview.KINDS and isinstance(setting, Config) and not preview.question_of(setting):
        config = setting.truncated
        name = f"attention-{page}-head-{config.head}"
        picture_file(draw_head(config), name, text.HEAD_FILE, key="share_file")
        if 1 < config.heads <= GRID and page == "heads":
            picture_file(draw_grid(config), "attention-heads", text.GRID_FILE, key="share_grid")
    chart_files(f"attention-{page}", text.CHART_FILE, key="share_charts")
    st.caption(text.OTHER_FILES.get(page, text.OTHER_FILES[""]) + " " + text.PDF)


def draw_grid(config: Config) -> str:
    """All heads of a config as an SVG."""
    tasks = [results.sharing.begin_head_map(replace(config, head=head)) for head in range(config.heads)]
    return grid_svg(preview.grid_title(config), preview.origin_lines(config), [task.result() for task in tasks])


def draw_head(config: Config, colors: str = "light", bare: bool = False, said: tuple[str, ...] = ()) -> str:
    """The selected head of a config as an SVG; a `bare` one has room for a question in place of the lines beside the map.

    `said` comes first among these lines, unless the question of a card is open, which it might answer.
    """
    found = results.sharing.head_map(config, colors)
    asked = current_card(session())  # a card asks about the picture: its numbers would answer
    lines = preview.origin_lines(config) if asked else [*said, *preview.lines(config, found)]
    return head_svg(preview.head_title(config), () if bare else lines, found, colors)


def _draw_embed(base: str, page: str, query: str) -> None:
    """Draws the code that embeds the page, and whether another site may."""
    st.markdown(text.EMBED)
    if page in WITHOUT_PICTURE:
        st.caption(text.NO_EMBED)
        return
    title = preview.describe(page, query).title
    st.code(frame(base, query, title, *FRAME), language=None, wrap_lines=True)
    site = st.text_input(text.SITE, key="share_site", placeholder="https://school.example/course", help=text.SITE_HELP)
    allowed = settings().frames
    if not site.strip():
        others = ", ".join(name for name in allowed if name != "self")
        said = text.FRAMES_SOME.format(sites=others) if others else text.FRAMES_SELF if allowed else text.FRAMES_NONE
        st.caption(escape_markdown(said))
    elif may_frame(site, allowed, base):
        st.success(text.SITE_ALLOWED)
    else:
        origin = origin_of(site)
        st.warning(escape_markdown(text.SITE_REFUSED.format(origin=origin or site[:80])))
        if origin:  # as code, because it is copied
            st.code(f"ATTENTION_FRAMES={','.join([*allowed, origin])}", language=None, wrap_lines=True)


def may_frame(site: str, allowed: tuple[str, ...], base: str) -> bool:
    """Whether a page at this address may embed a page at `base`, if the owner allows these sites."""
    origin = origin_of(site)
    if not origin:
        return False
    return any(matches_site(origin, origin_of(base) if name == "self" else name) for name in allowed)


def origin_of(address: str) -> str:
    """The origin of an address, with or without its scheme; "" if it is none."""
    try:
        parts = urlsplit(address.strip() if "://" in address else f"https://{address.strip()}")
        found = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
    except ValueError:
        return ""
    return found if SITES.fullmatch(found) and "*" not in found else ""


def matches_site(origin: str, site: str) -> bool:
    """Whether an origin is a site of the owner's list, as a browser compares them: subdomains by `*.`, ports by `:*`."""
    if not site:
        return False
    here, there = urlsplit(origin), urlsplit(site.replace(":*", ""))
    if here.scheme != there.scheme and not (there.scheme == "http" and here.scheme == "https"):
        return False
    name, host = here.hostname or "", there.hostname or ""
    same = name.endswith(host[1:]) if host.startswith("*.") else name == host
    usual = {"http": 80, "https": 443}
    ports = (here.port or usual[here.scheme]) == (there.port or usual[here.scheme])
    return same and (site.endswith(":*") or ports)

"""Your data: attention from a file of one's own, as a source of every page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from attention.brought import opening, sample
from attention.brought.fitting import BroughtError
from attention.brought.held import Holding
from attention.brought.reading import Reading
from attention.codec import to_query
from attention.config import Config
from attention.tables.rows import quantity
from attention.ui import compute, onward
from attention.ui.session import brought, page
from attention.ui.session.state import Taken
from attention.ui.views import code, snippets
from attention.ui.words import plain
from serving.settings import settings

FILE, TOKENS = "your file", "your tokens"  # keys of the two fields
WORDS = (
    "**Your data.** Attention of a model of your own, from a file: its weights, or its queries and keys. Every page then shows "
    "it, as it shows its own. It stays in this visit: no link carries it, nobody else sees it, and it is gone when you leave."
)
CLOSED = "The owner of this host takes no files. On a machine of your own this page opens them."
SHARED = (
    "Numbers of 16 or 32 bits; up to 1,024 tokens as weights, up to 65,536 as queries and keys; 128 layers of 128 heads. "
    "Nothing in a file is run."
)


def view(how: Reading) -> None:
    """Where a file is opened, how it was read and what was found, what is open, and how to save such a file."""
    st.markdown(WORDS)
    if not settings().uploads:
        st.info(CLOSED, icon=":material/lock:")
    else:
        _fields(how)
    _given()
    _open()
    _saving()


def _fields(how: Reading) -> None:
    left, right = st.columns([3, 2], gap="medium")
    largest = max(1, int(min(settings().uploads, 64)))
    with left:
        file = st.file_uploader(
            "Attention: .safetensors, .npz, .npy or .pt",
            list(opening.ARRAYS),
            key=FILE,
            max_upload_size=largest,
            help=SHARED,
        )
    with right:
        tokens = st.file_uploader(
            "Tokens, where that file has none: .json or .txt",
            list(opening.TOKENS),
            key=TOKENS,
            max_upload_size=4,
            help="A list of texts in JSON, or a text with a token a line, or with words.",
        )
    if file is None:
        st.download_button(
            "A file to try",
            sample.written,
            sample.NAME,
            on_click="ignore",
            icon=":material/download:",
            key="sample",
            help="Two layers of heads with queries, keys and tokens. Download it, then open it above.",
        )
        return
    _told(_taken(file, tokens, how))


def _taken(file: Any, tokens: Any, how: Reading) -> Taken:
    """What became of a file under a reading; it is read once, and takes the place of what the same file was before."""
    asked = (file.file_id, tokens.file_id if tokens else "", how)
    last = page.kept().taken
    if last is not None and last.asked == asked:
        return last
    try:
        found = compute.brought.opened(
            file.getvalue(), file.name, (tokens.getvalue(), tokens.name) if tokens else None, how
        )
        if last is not None and last.source and last.asked[0] == file.file_id:
            brought.close(last.source)
        taken = Taken(asked, found, brought.hold(found.stack, "file", file.name))
    except BroughtError as error:
        taken = Taken(asked, problem=str(error), source=last.source if last and last.asked[0] == file.file_id else "")
    page.kept().taken = taken
    return taken


def _told(taken: Taken) -> None:
    """How it was read and what was found, or why it can't be; and the way on."""
    if taken.problem:
        st.error(f"This can't be shown. {plain(taken.problem)}", icon=":material/error:")
        if taken.source:
            st.caption("What was read of it before stays open.")
        return
    found = taken.found
    assert found is not None
    for sentence in found.found:
        st.warning(plain(sentence), icon=":material/info:")
    with st.container(border=True):
        st.markdown(f":material/check_circle: **{plain(found.stack.title)}** was read so. {plain(found.stack.what)}")
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in found.said))
        if len(found.parts) > 1:
            names = ", ".join(f"{at}: {plain(name)}" for at, name in enumerate(found.parts))
            st.caption(f"It has several. Which one is shown, says the sidebar: {names}.")
        _ways(taken.source, primary=True)


def _ways(source: str, primary: bool = False) -> None:
    """To the pages that show it; to what a link asked for, where that named something of the same name."""
    wanted = page.kept().wanted
    query = to_query(Config.of(source))
    if wanted and primary:
        query = {**wanted, "source": source}
    with st.container(horizontal=True):
        onward.way("heads", "Every head, on Heads", query, ":material/grid_view:")
        onward.way("softmax", "A row, on Softmax", query, ":material/bar_chart:")


def _given() -> None:
    """Files that the owner of this machine has named are opened once in a visit, as if somebody had chosen them."""
    kept = page.kept()
    if kept.given is None:
        kept.given = [problem for path in settings().open if (problem := _problem(Path(path)))]
    for problem in kept.given:
        st.error(problem, icon=":material/error:")


def _problem(path: Path) -> str:
    """Opens a file of this machine; why that can't be, where it can't."""
    try:
        found = compute.brought.opened(path.read_bytes(), path.name, None, Reading())
        brought.hold(found.stack, "file", path.name)
    except (BroughtError, OSError) as error:
        return f"{plain(path.name)} can't be shown. {plain(str(error))}"
    return ""


def _open() -> None:
    """What this visit has open, with its size and a way to let go of it."""
    holdings = brought.holdings()
    if not holdings:
        return
    st.markdown("**Open in this visit**")
    for holding in holdings:
        with st.container(horizontal=True, vertical_alignment="center", key=f"row {holding.source}"):
            st.markdown(_said(holding), width="stretch")
            onward.way("heads", "Heads", to_query(Config.of(holding.source)), ":material/grid_view:")
            st.button("Close", key=f"close {holding.source}", on_click=_closed, args=(holding.source,))


def _closed(source: str) -> None:
    brought.close(source)
    taken = page.kept().taken
    if taken is not None and taken.source == source:
        page.kept().taken = Taken(taken.asked, problem="It was closed. Open it anew to see it.")


def _said(holding: Holding) -> str:
    sizes = holding.shape
    parts = "queries and keys" if {"q", "k"} <= sizes.has else "weights"
    over = f"{sizes.tokens:,} tokens" + (f" looking at {sizes.keys:,} others" if sizes.keys else "")
    return (
        f"{plain(holding.stack.title)}: {parts}, {sizes.layers} layer{'s' * (sizes.layers > 1)} of {sizes.heads} "
        f"head{'s' * (sizes.heads > 1)}, {over}, {quantity(holding.stack.bytes, 'B')}"
    )


def _saving() -> None:
    """How to save such a file, from what one has."""
    with st.expander("How to save such a file", icon=":material/code:", expanded=not brought.holdings()):
        for tab, source in zip(st.tabs(list(snippets.SNIPPETS)), snippets.SNIPPETS.values(), strict=True):
            with tab:
                code.shown(source)

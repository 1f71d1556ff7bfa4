"""What a visitor has uploaded in this visit, and the upload that a link names and this visit does not have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from attention.array_files.limits import DataError
from attention.imported import registry
from attention.imported.files import File, Files
from attention.imported.registry import UPLOADS, Upload
from attention.imported.stack import Stack
from attention.pinned import pinned_source
from attention.tables.rows import quantity
from attention.ui import next_step
from attention.ui.budget import BUDGET
from attention.ui.controls.kind import Kind
from attention.ui.markdown import escape
from attention.ui.session.visit_state import foreign_uploads, session

MOST = 8  # uploads that one visit may have at a time
SHARE = 0.5  # of the memory budget: uploads of one visit
PLACES = {  # pages where a missing source can be opened
    "file": ("your_data", "Open a file"),
    "model": ("model", "Run a model"),
    "training": ("training", "Train a model"),
}
CLAIM = BUDGET.register(UPLOADS)
FILES = BUDGET.register(Files())


def hold(stack: Stack, kind: str = "file", name: str = "", instead: str = "") -> str:
    """Keeps a stack for this visit and returns the name of its source; raises DataError if there is no room.

    It replaces the source `instead`, which is kept if there is no room.
    """
    kept = {source: holding for source, holding in session().kept.uploaded.items() if source != instead}
    if len(kept) >= MOST:
        raise DataError(f"{MOST} files are open already. Close one of them first.")
    own = sum(each.stack.bytes for each in kept.values())
    room = int(SHARE * BUDGET.most)
    if own + stack.bytes > room:
        more = f", and {quantity(own, 'B')} are open" if own else ""
        raise DataError(
            f"This takes {quantity(stack.bytes, 'B')} of memory{more}; the limit per visit is {quantity(room, 'B')}."
        )
    if not BUDGET.room(stack.bytes):
        left = quantity(max(BUDGET.free_bytes, 0), "B")
        raise DataError(
            f"This takes {quantity(stack.bytes, 'B')} of memory; {left} are free right now. Try again in a few minutes."
        )
    found = registry.register(stack, kind, name)
    close(instead)
    session().kept.uploaded[found.source] = found
    return found.source


def remember_file(name: str, data: bytes, tokens: tuple[bytes, str] | None) -> File:
    """A file that can be read again with other choices later, if there is room to keep its bytes."""
    file = File(name, data, tokens)
    if BUDGET.room(file.bytes):
        return FILES.keep(file)
    return File(name)


def holdings() -> tuple[Upload, ...]:
    """The uploads of this visit, in the order in which they were opened."""
    return tuple(session().kept.uploaded.values())


def sources() -> tuple[str, ...]:
    """The names of their sources, in the same order."""
    return tuple(session().kept.uploaded)


def close(source: str) -> None:
    """Removes an upload and the settings that show it; those start again with the defaults."""
    state = session()
    state.kept.uploaded.pop(source, None)
    state.kept.prompts.pop(source, None)
    for about, here in list(state.held.items()):
        if getattr(here.setting, "source", None) == source:
            del state.held[about]
        elif source and pinned_source(getattr(here.setting, "against", "")) == source:
            here.setting = replace(here.setting, against="")


def allowed_query(kind: Kind[Any], query: dict[str, str]) -> dict[str, str]:
    """The query as this visit can open it, and what it lacks recorded as `absent`.

    It is empty if it names an upload that is not here; it compares nothing if only side A is an upload that is not here.
    """
    kept, source, pinned = session().kept, query.get("source", ""), pinned_source(query.get("against", ""))
    lacks = foreign_uploads(source, pinned) if "source" in kind.settings.knobs else []
    if lacks or query:
        kept.absent, kept.wanted = (lacks[0], query) if lacks else ("", {})
    if source in lacks:
        return {}
    return {name: value for name, value in query.items() if name != "against"} if lacks else query


def passed_by() -> None:
    """Another page was opened: the message about what the last link lacked is no longer shown."""
    session().kept.absent = ""


def tell() -> None:
    """Shows which upload the link is about, why it is not here, and a link to the page that opens one."""
    source = session().kept.absent
    if not source:
        return
    place, label = PLACES[source.partition(":")[0]]
    with st.container(border=True):
        st.markdown(
            f":material/draft: **This link shows “{escape(registry.entry_name(source))}”**, "
            f"{registry.KINDS[source.partition(':')[0]]}. "
            "Links do not contain uploads; they are deleted when the visit ends. If you have it, open it here. Below is the "
            "app without it."
        )
        next_step.page_link(place, label, {}, ":material/upload_file:")

"""What a visitor has brought to this visit, and what a link is about that this visit does not have."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attention.imported import registry
from attention.imported.files import File, Files
from attention.imported.registry import UPLOADS, Upload, is_uploaded
from attention.imported.stack import Stack
from attention.imported.validate import BroughtError
from attention.tables.rows import quantity
from attention.ui import next_step
from attention.ui.budget import BUDGET
from attention.ui.controls.kind import Kind
from attention.ui.markdown import escape
from attention.ui.session.visit_state import session

MOST = 8  # that one visit may have at a time
SHARE = 0.5  # of all memory that is shared out, for what one visit has
PLACES = {  # where one gets what is absent
    "file": ("your_data", "Open a file"),
    "model": ("model", "Run a model"),
    "training": ("training", "Train a model"),
}
CLAIM = BUDGET.register(UPLOADS)
FILES = BUDGET.register(Files())


def hold(stack: Stack, kind: str = "file", name: str = "", instead: str = "") -> str:
    """Keeps a stack as long as this visit lasts, and names its source; raises BroughtError where there is no room for it.

    It takes the place of the source `instead`, which stays where there is none.
    """
    kept = {source: holding for source, holding in session().kept.brought.items() if source != instead}
    if len(kept) >= MOST:
        raise BroughtError(f"{MOST} are open in this visit already. Close one of them first.")
    own = sum(each.stack.bytes for each in kept.values())
    room = int(SHARE * BUDGET.most)
    if own + stack.bytes > room:
        more = f", and {quantity(own, 'B')} are open" if own else ""
        raise BroughtError(
            f"This takes {quantity(stack.bytes, 'B')} of memory{more}; one visit may have {quantity(room, 'B')} on this host."
        )
    if not BUDGET.room(stack.bytes):
        left = quantity(max(BUDGET.free_bytes, 0), "B")
        raise BroughtError(
            f"This takes {quantity(stack.bytes, 'B')} of memory; others have so much now that {left} are left. Try again in "
            "some minutes."
        )
    found = registry.register(stack, kind, name)
    close(instead)
    session().kept.brought[found.source] = found
    return found.source


def remember_file(name: str, data: bytes, tokens: tuple[bytes, str] | None) -> File:
    """A file that can be read otherwise later, as far as there is room to keep it."""
    file = File(name, data, tokens)
    if BUDGET.room(file.bytes):
        return FILES.keep(file)
    return File(name)


def holdings() -> tuple[Upload, ...]:
    """What this visit has, in the order in which it was brought."""
    return tuple(session().kept.brought.values())


def sources() -> tuple[str, ...]:
    """The same by its sources."""
    return tuple(session().kept.brought)


def close(source: str) -> None:
    """Lets go of one; a picture of it begins anew with the defaults."""
    state = session()
    state.kept.brought.pop(source, None)
    for about in [about for about, here in state.held.items() if getattr(here.setting, "source", None) == source]:
        del state.held[about]


def allowed_query(kind: Kind[Any], query: dict[str, str]) -> dict[str, str]:
    """A link as this visit can open it: nothing of one that is about what somebody else has brought, which is noted."""
    kept, source = session().kept, query.get("source", "")
    lacks = "source" in kind.settings.knobs and is_uploaded(source) and source not in kept.brought
    if lacks or query:
        kept.absent, kept.wanted = (source, query) if lacks else ("", {})
    return {} if lacks else query


def passed_by() -> None:
    """Another page was opened: nothing more is said of what the last link lacked."""
    session().kept.absent = ""


def tell() -> None:
    """What the link is about that is not here, whose it is, and the way to one's own."""
    source = session().kept.absent
    if not source:
        return
    place, label = PLACES[source.partition(":")[0]]
    with st.container(border=True):
        st.markdown(
            f":material/draft: **This link shows “{escape(registry.entry_name(source))}”**, "
            f"{registry.KINDS[source.partition(':')[0]]}. "
            "What somebody brings stays in their own visit: it is in no link, nobody else sees it, and it is gone when the "
            "visit ends. If you have it too, open it here. Below is the app without it."
        )
        next_step.page_link(place, label, {}, ":material/upload_file:")

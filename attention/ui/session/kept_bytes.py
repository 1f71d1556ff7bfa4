"""What the browser of a visitor keeps of the pictures on a page, so that it need not be sent again."""

from __future__ import annotations

from functools import partial

from attention.streamlit_internals import running_fragments
from attention.ui.session.visit_state import session
from attention.wire.kept_bytes import Kept


def kept_bytes(key: str) -> Kept:
    """Returns what the browser keeps of the picture with this key: what the last run of its fragment sent or named."""
    return Kept(partial(_has, key), partial(_forget, key))


def _has(key: str, name: str) -> bool:
    state = session()
    known = running_fragments() is not None and state.earlier.get(key) == name
    state.current[key] = name
    return known


def _forget(key: str) -> None:
    """The browser no longer has the bytes, or they never arrived: the next run sends them."""
    for names in session().pictures.values():
        names.pop(key, None)

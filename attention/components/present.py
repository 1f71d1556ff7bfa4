"""The keys of a presentation: arrows change the head, Esc leaves."""

from __future__ import annotations

from collections.abc import Callable

from attention.components.registry import component


def present_keys(on_move: Callable[[], None], on_leave: Callable[[], None], *, key: str = "present") -> None:
    """Listens to the keys of the whole page. `st.session_state[key]["move"]` contains `{"by": 1}` for the next head."""
    component("present")(key=key, data={"keys": True}, on_move_change=on_move, on_leave_change=on_leave)

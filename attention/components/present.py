"""The keys of a presentation: arrows change the head, space reveals the answer to its question, Esc leaves."""

from __future__ import annotations

from collections.abc import Callable

from attention.components.registry import component


def present_keys(
    on_move: Callable[[], None], on_reveal: Callable[[], None], on_leave: Callable[[], None], *, key: str = "present"
) -> None:
    """Listens to the keys of the whole page. `st.session_state[key]["move"]` contains `{"by": 1}` for the next head."""
    calls = {"on_move_change": on_move, "on_reveal_change": on_reveal, "on_leave_change": on_leave}
    component("present")(key=key, data={"keys": True}, **calls)

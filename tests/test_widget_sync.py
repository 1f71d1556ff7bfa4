"""A browser and a server that hear of each other late: nothing that a visitor did last is lost, nothing old comes back.

`Line` models both: a browser whose widgets say what somebody moved and what it was told, a server that holds widgets as
Streamlit does and takes them up as a page does, and the messages between them, which keep their order and arrive whenever.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.ui.session.widget_sync import MANY, WidgetSync
from tests.samples import examples

PARTS = {"controls": ("query", "heads"), "view": ("tokens",)}  # of the page, in the order in which they are drawn
NAMES = tuple(name for names in PARTS.values() for name in names)
START = dict.fromkeys(NAMES, 0)


class Held(dict):
    """What widgets hold on the server; `set` names those that a run has set, as the browser is told of no others."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.set: set[str] = set()

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.set.add(name)


@dataclass
class Message:
    """What a browser sends: all that its widgets say, and what the button sets that was clicked."""

    says: dict[str, Any]
    button: dict[str, Any] | None = None


@dataclass
class Line:
    """A browser, a server, and what is under way between them."""

    screen: dict[str, Any] = field(default_factory=lambda: dict(START))
    held: Held = field(default_factory=lambda: Held(START))
    meant: dict[str, Any] = field(default_factory=lambda: dict(START))
    told: WidgetSync = field(default_factory=WidgetSync)
    up: deque[Message] = field(default_factory=deque)
    down: deque[dict[str, Any]] = field(default_factory=deque)
    last: dict[str, Any] = field(default_factory=lambda: dict(START))  # what the visitor did last to each

    def __post_init__(self) -> None:
        self.run()
        self.end()

    def move(self, name: str, value: Any) -> None:
        """Somebody moves a widget."""
        if value != self.screen[name]:
            self.screen[name] = self.last[name] = value
            self.up.append(Message(dict(self.screen)))

    def click(self, **values: Any) -> None:
        """Somebody clicks a button that sets knobs, such as Reset or a cell that is pinned."""
        self.last |= values
        self.up.append(Message(dict(self.screen), values))

    def hear(self) -> None:
        """The next answer of the server reaches the browser."""
        if self.down:
            self.screen |= self.down.popleft()

    def answer(self, many: int = 1, drawn: int = 2 * len(PARTS)) -> None:
        """The server takes up the next message; of so many moves that wait only the last, as runs of fragments do.

        Where another message waits, the run may make way for it when it has drawn so many halves of parts, of which the first
        has the widgets and the second their mark.
        """
        if not self.up:
            return
        message = self.up.popleft()
        while many > 1 and self.up and message.button is None and self.up[0].button is None:
            message, many = self.up.popleft(), many - 1
        dict.update(self.held, message.says)
        self.run(message.button, drawn if self.up else 2 * len(PARTS))

    def run(self, button: dict[str, Any] | None = None, drawn: int = 2 * len(PARTS)) -> None:
        """One run of the server, which may also run by itself."""
        self.held.set.clear()
        self.told.reconcile(self.held, self.meant)
        self.told.set(self.held, button or {})
        self.meant = {name: self.held[name] for name in NAMES}
        self.told.set(self.held, {name: self.meant[name] for name in self.told.waiting})
        for part, names in list(PARTS.items())[: (drawn + 1) // 2]:
            if drawn == 1:  # cut short between the widgets and their mark
                self.down.append({name: self.held[name] for name in names if name in self.held.set})
                return
            drawn -= 2
            mark = self.told.mark_sent(self.held, part, names)
            told = self.held.set.intersection((*names, mark))
            self.down.append(
                {name: self.held[name] for name in (*names, mark) if name in told or name not in self.screen}
            )

    def end(self) -> None:
        """All arrives."""
        while self.up:
            self.answer()
        while self.down:
            self.hear()

    @property
    def agrees(self) -> bool:
        return all(self.meant[name] == self.held[name] == self.screen[name] for name in NAMES)


names = st.sampled_from(NAMES)
few = st.integers(0, 3)
clicks = st.dictionaries(names, few, min_size=1)
runs = st.tuples(st.integers(1, 3), st.integers(0, 2 * len(PARTS)))
news = st.just(("hear",)) | st.tuples(st.just("answer"), runs) | st.just(("run",))
fresh = st.tuples(st.just("move"), names) | st.tuples(st.just("click"), clicks) | news


def play(line: Line, acts: list[tuple]) -> None:
    for at, (act, *more) in enumerate(acts):
        if act == "move":
            line.move(more[0], more[1] if more[1:] else 100 + at)
        elif act == "click":
            line.click(**more[0])
        elif act == "answer":
            line.answer(*more[0])
        elif act == "run":
            line.run()
        else:
            line.hear()


@settings(deadline=None, max_examples=examples(400))
@given(st.lists(fresh, max_size=30))
def test_what_was_done_last_stands_however_messages_cross(acts):
    line = Line()
    play(line, acts)
    line.end()
    assert line.meant == line.last
    assert line.agrees


@settings(deadline=None, max_examples=examples(200))
@given(st.lists(fresh, max_size=30))
def test_at_rest_nothing_is_told_again(acts):
    line = Line()
    play(line, acts)
    line.end()
    turn, screen = line.told.turn, dict(line.screen)
    line.click()
    line.end()
    assert (line.told.turn, line.screen) == (turn, screen)


@pytest.fixture
def line() -> Line:
    """A browser that shows the 9th query and 8 heads, and knows that the server does."""
    line = Line()
    line.click(query=9, heads=8)
    line.end()
    return line


RESET = {"query": -1, "heads": 2}


@pytest.mark.parametrize("heard", [0, 1], ids=["before it is seen", "once it is seen"])
def test_what_is_moved_after_a_reset_stands(line, heard):
    line.click(**RESET)
    line.answer()
    for _ in range(heard * len(PARTS)):
        line.hear()
    line.move("query", 3)
    line.end()
    assert line.agrees and line.screen | RESET | {"query": 3} == line.screen


def test_what_moves_something_else_does_not_undo_a_reset_on_its_way(line):
    line.click(**RESET)
    line.answer()
    line.move("tokens", 5)
    line.end()
    assert line.agrees and line.screen | RESET | {"tokens": 5} == line.screen


def test_what_was_moved_is_not_undone_by_the_reset_before_it_that_is_seen_late(line):
    """The browser shows the reset for a moment although something was moved since, and says so if asked meanwhile."""
    line.click(**RESET)
    line.answer()
    line.move("query", 3)
    line.answer()
    line.hear()
    assert line.screen["query"] == -1
    line.move("tokens", 5)
    line.end()
    assert line.agrees and line.screen["query"] == 3


def test_a_value_that_a_reset_has_replaced_may_be_chosen_again(line):
    line.click(**RESET)
    line.end()
    line.move("query", 9)
    line.end()
    assert line.agrees and line.screen["query"] == 9


def test_what_no_run_has_drawn_yet_is_told_by_one_that_the_server_makes_itself(line):
    line.click(**RESET)
    line.move("tokens", 5)
    line.answer(drawn=0)
    line.run()
    line.end()
    assert line.agrees and line.screen | RESET | {"tokens": 5} == line.screen


def test_what_is_kept_of_a_widget_is_bounded(line):
    for at in range(2 * MANY):
        line.click(query=at)
        line.answer()
    assert len(line.told.says["query"]) == MANY


def test_a_value_that_a_run_drew_before_it_was_cut_short_is_not_taken_for_a_move(line):
    """As when a key is pressed quickly: each run sets another slider, and is cut short after drawing it."""
    line.click(heads=1)
    line.click(heads=2)  # waits, so that the run before makes way
    line.answer(drawn=1)
    line.click(tokens=1)
    line.answer(drawn=0)
    line.hear()  # of one head
    line.click(tokens=2)
    line.end()
    assert line.agrees and line.meant["heads"] == 2

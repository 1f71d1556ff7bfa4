"""What needs much memory waits for its turn; what needs little, and what is under way already, never does."""

from __future__ import annotations

import math
from threading import Event, Thread

import pytest

from attention.runtime.admission import Admission

SECONDS = 30


class Visitor(Thread):
    """Takes so much until it is told to leave."""

    def __init__(self, room: Admission, what: str, size: int) -> None:
        super().__init__(daemon=True)
        self.room, self.what, self.size, self.begun, self.over = room, what, size, Event(), Event()
        self.start()

    def run(self) -> None:
        with self.room.reserve(self.what, self.size):
            self.begun.set()
            assert self.over.wait(SECONDS)

    def leave(self) -> None:
        self.over.set()
        self.join(SECONDS)


def wait_until_queued(room: Admission, many: int) -> None:
    """Returns once so many wait."""
    with room.changed:
        assert room.changed.wait_for(lambda: len(room.waiting) == many, SECONDS)


def begun_flags(*visitors: Visitor) -> list[bool]:
    return [each.begun.is_set() for each in visitors]


def test_as_many_at_once_as_there_is_room_for_in_their_order():
    room = Admission(100)
    first, second = Visitor(room, "a", 60), Visitor(room, "b", 40)
    assert first.begun.wait(SECONDS) and second.begun.wait(SECONDS) and room.used_bytes == 100
    third = Visitor(room, "c", 60)
    wait_until_queued(room, 1)
    fourth = Visitor(room, "d", 30)
    wait_until_queued(room, 2)
    second.leave()
    assert begun_flags(third, fourth) == [False, False], "it is the third one's turn, and there is no room for it"
    first.leave()
    assert third.begun.wait(SECONDS) and fourth.begun.wait(SECONDS)
    third.leave()
    fourth.leave()
    assert room.used_bytes == 0 and not room.users


def test_who_needs_more_than_there_is_goes_on_alone():
    room = Admission(100)
    first, large = Visitor(room, "a", 50), Visitor(room, "b", 1000)
    assert first.begun.wait(SECONDS) and not room.would_fit("b", 1000)
    first.leave()
    assert large.begun.wait(SECONDS)
    large.leave()


def test_little_and_what_is_under_way_already_never_waits():
    room = Admission(160)
    large = Visitor(room, "a", 160)
    assert large.begun.wait(SECONDS)
    waiting = Visitor(room, "b", 100)
    assert room.would_fit("c", 10) and room.would_fit("a", 160) and not room.would_fit("c", 11)
    little, same = Visitor(room, "c", 10), Visitor(room, "a", 160)
    assert little.begun.wait(SECONDS) and same.begun.wait(SECONDS) and room.used_bytes == 170
    large.leave()
    assert not waiting.begun.is_set(), "another one is still at it"
    for each in (same, little):
        each.leave()
    assert waiting.begun.wait(SECONDS)
    waiting.leave()
    assert room.used_bytes == 0


def test_it_is_free_again_after_an_error():
    room = Admission(100)
    with pytest.raises(ValueError, match="no"), room.reserve("a", 90):
        raise ValueError("no")
    assert room.used_bytes == 0 and room.would_fit("b", 100)


def test_what_counts_without_waiting_is_waited_for():
    room = Admission(100)
    large = Visitor(room, "a", 70)
    assert large.begun.wait(SECONDS)
    with room.track(60):
        assert room.used_bytes == room.unevictable_bytes == 130
        waiting = Visitor(room, "b", 50)
        wait_until_queued(room, 1)
        large.leave()
        assert not waiting.begun.is_set()
    assert waiting.begun.wait(SECONDS)
    waiting.leave()
    assert room.used_bytes == 0


def test_the_first_large_picture_that_is_drawn_says_since_when():
    now = [1.0]
    room = Admission(160, lambda: now[0])
    with room.reserve("little", 10):
        assert room.since == math.inf
    with room.reserve("large", 60):
        now[0] = 2.0
        with room.reserve("large", 60), room.reserve("another", 50):
            assert room.since == 1.0
        assert room.since == 1.0
    assert room.since == math.inf

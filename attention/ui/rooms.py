"""Rooms of classes: the question that a teacher asks, the answers of students without accounts, and how many gave each.

A room has a code, which students type or open as a link. What its teacher may do needs the teacher's own key, and what a student
may do the student's: both are secrets of a browser, kept as salted hashes. A room never has the right answer before it is
revealed. Rooms are in the memory of one process and end with it; every bound is a constant here. Nothing is written down.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2s
from time import monotonic

ROOMS, SEATS, QUESTIONS = 100, 100, 16  # rooms at a time; students and latest questions of a room
LONGEST, ABSENT = 3 * 3600.0, 300.0  # seconds that a room stays open; that its teacher's page may be away
LETTERS, LENGTH = "BCDFGHJKLMNPQRSTVWXZ", 5  # of a code: no vowels, so that it is no word
GUESSES, TEXT = 10, 2000  # answers to choose from, characters of a question
MISSES, MINUTE, MISSING = 10, 60.0, 1000  # codes that a browser may miss in a minute; browsers that this is known of
BUSY, SLOWEST = (
    25,
    64.0,
)  # students' pages that look again in a second, all together; seconds between two checks at most
NONE = 255  # no answer


class RoomError(ValueError):
    """What was asked of a room can't be done; the message says why, and what can be done instead."""


@dataclass(frozen=True)
class Asked:
    """A question and the answers to choose from, without saying which one is right. Raises RoomError if it has no choice."""

    text: str
    guesses: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.guesses) <= GUESSES:
            raise RoomError(f"A room needs a question with 2 to {GUESSES} answers to choose from.")
        if len(self.text) + sum(map(len, self.guesses)) > TEXT:
            raise RoomError(f"A question of a room has at most {TEXT:,} characters, with its answers.")


@dataclass(frozen=True)
class Verdict:
    """The numbers of the right answers, from 0 (none: it is an open question), and why."""

    right: tuple[int, ...] = ()
    why: str = ""


@dataclass
class Round:
    """A question of a room: the answer of each seat, and the verdict once it is revealed."""

    asked: Asked
    number: int
    answers: bytearray = field(default_factory=lambda: bytearray([NONE]) * SEATS)
    verdict: Verdict | None = None


@dataclass
class Room:
    """A room: its teacher, when it was opened and when the teacher was last there, seats by student, and rounds by question."""

    code: str
    owner: bytes
    opened: float
    seen: float
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    seats: dict[bytes, int] = field(default_factory=dict)
    rounds: OrderedDict[Asked, Round] = field(default_factory=OrderedDict)
    asked: int = 0

    @property
    def current(self) -> Round | None:
        """The question that is asked now."""
        return next(reversed(self.rounds.values()), None)


@dataclass(frozen=True)
class Tally:
    """What the teacher sees: how many students joined, and how many gave each answer to the current question."""

    students: int
    asked: Asked | None = None
    counts: tuple[int, ...] = ()
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Sheet:
    """What a student sees: the current question, its number, their own answer, and the verdict once it is revealed."""

    number: int = 0
    asked: Asked | None = None
    mine: int | None = None
    verdict: Verdict | None = None


class Rooms:
    """The rooms of this process. Any thread may call any method; each raises RoomError if it can't do what it is asked."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock, self.lock, self.salt = clock, threading.RLock(), secrets.token_bytes(16)
        self.rooms: dict[str, Room] = {}
        self.misses: OrderedDict[bytes, list[float]] = OrderedDict()

    def open(self, key: str) -> str:
        """Opens a room for the teacher with this key and returns its code, that of the room they have if there is one."""
        with self.lock:
            if code := self.code_of(key):
                return code
            if len(self.rooms) >= ROOMS:
                raise RoomError(f"All {ROOMS} rooms of this server are in use. Try again when a lesson has ended.")
            code, now = self._new_code(), self.clock()
            self.rooms[code] = Room(code, self._hash(key, self.salt), now, now)
            return code

    def code_of(self, key: str) -> str:
        """The code of the teacher's room, "" if they have none. Their page is there as long as it asks."""
        with self.lock:
            self.expire()
            owner = self._hash(key, self.salt)
            room = next((room for room in self.rooms.values() if room.owner == owner), None)
            if room is None:
                return ""
            room.seen = self.clock()
            return room.code

    def close(self, key: str) -> None:
        """Closes the teacher's room, and forgets all of it."""
        with self.lock:
            self.rooms.pop(self.code_of(key), None)

    def ask(self, key: str, asked: Asked) -> None:
        """Asks a question in the teacher's room; one that was asked before keeps its answers."""
        with self.lock:
            room = self._own(key)
            if asked in room.rounds:
                room.rounds.move_to_end(asked)
                return
            room.asked += 1
            room.rounds[asked] = Round(asked, room.asked)
            while len(room.rounds) > QUESTIONS:
                room.rounds.popitem(last=False)

    def reveal(self, key: str, asked: Asked, verdict: Verdict) -> None:
        """Tells the teacher's room which answers are right; from then on, no answer to this question is taken."""
        with self.lock:
            found = self._own(key).rounds.get(asked)
            if found is not None:
                found.verdict = verdict

    def tally(self, key: str) -> Tally:
        """The answers in the teacher's room, which no one without the key is told."""
        with self.lock:
            room = self._own(key)
            here = room.current
            if here is None:
                return Tally(len(room.seats))
            counts = tuple(here.answers.count(number) for number in range(len(here.asked.guesses)))
            return Tally(len(room.seats), here.asked, counts, here.verdict)

    def look(self, code: str, student: str) -> Sheet:
        """What the student with this key sees in a room; a new one takes a seat."""
        with self.lock:
            room = self._find(code, student)
            seat, here = self._seat(room, student), room.current
            if here is None:
                return Sheet()
            mine = here.answers[seat]
            return Sheet(here.number, here.asked, None if mine == NONE else mine, here.verdict)

    def answer(self, code: str, student: str, number: int, guess: int) -> None:
        """Records the student's answer to the question of this number, in place of an earlier one."""
        with self.lock:
            room = self._find(code, student)
            seat, here = self._seat(room, student), room.current
            if here is None or here.number != number:
                raise RoomError("The question has changed. Answer the new one.")
            if type(guess) is not int or not 0 <= guess < len(here.asked.guesses):
                raise RoomError("That is not one of the answers.")
            if here.verdict is not None:
                raise RoomError("The answer has been revealed: answers count no longer.")
            here.answers[seat] = guess

    def expire(self) -> None:
        """Closes rooms that were open for too long, and those whose teacher is gone."""
        with self.lock:
            now = self.clock()
            for code, room in list(self.rooms.items()):
                if now > room.opened + LONGEST or now > room.seen + ABSENT:
                    del self.rooms[code]

    def pace(self) -> float:
        """Seconds after which a student's page looks again: 2, or a power of two so that at most `BUSY` do in a second."""
        with self.lock:
            students, seconds = sum(len(room.seats) for room in self.rooms.values()), 2.0
        while students / seconds > BUSY and seconds < SLOWEST:
            seconds *= 2
        return seconds

    def _new_code(self) -> str:
        while (code := "".join(secrets.choice(LETTERS) for _ in range(LENGTH))) in self.rooms:
            pass
        return code

    def _own(self, key: str) -> Room:
        code = self.code_of(key)
        if not code:
            raise RoomError("This room is closed. Open another one.")
        return self.rooms[code]

    def _find(self, code: str, student: str) -> Room:
        """The room of a code. A browser that misses many is refused for a minute, before its code is looked up."""
        self.expire()
        who, now = self._hash(student, self.salt), self.clock()
        missed = [when for when in self.misses.get(who, []) if now < when + MINUTE]
        if len(missed) >= MISSES:
            raise RoomError("Too many codes were wrong. Wait a minute, then try again.")
        room = self.rooms.get(code)
        if room is None:
            self.misses[who] = [*missed, now]
            self.misses.move_to_end(who)
            while len(self.misses) > MISSING:
                self.misses.popitem(last=False)
            raise RoomError("There is no room with this code: it was closed, or the code is another one.")
        return room

    def _seat(self, room: Room, student: str) -> int:
        who = self._hash(student, room.salt)
        if who not in room.seats and len(room.seats) >= SEATS:
            raise RoomError(f"This room is full: it has {SEATS} students.")
        return room.seats.setdefault(who, len(room.seats))

    def _hash(self, key: str, salt: bytes) -> bytes:
        return blake2s(key.encode("utf-8", "replace"), key=salt, digest_size=16).digest()


def typed_code(text: str) -> str:
    """A code as a student types it: in small letters, with spaces."""
    return "".join(text[:100].split()).upper()[: 2 * LENGTH]


CLASSROOMS = Rooms()

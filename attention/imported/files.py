"""Files as they came, kept so that they can be read otherwise: as long as there is room, and no longer than their visit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from weakref import WeakValueDictionary

Tokens = tuple[bytes, str]  # what a file of tokens has, and its name


@dataclass(eq=False)
class File:
    """A file by its name, with the one of its tokens; its bytes, None once they were given back; or where it lies."""

    name: str
    data: bytes | None = None
    tokens: Tokens | None = None
    place: Path | None = None

    def content(self) -> bytes | None:
        """What is in it; None where nobody has it any more. Raises OSError."""
        return self.place.read_bytes() if self.place else self.data

    @property
    def bytes(self) -> int:
        """What it takes in memory."""
        return len(self.data or b"") + len(self.tokens[0] if self.tokens else b"")


class Files:
    """All of them, as a claim on memory: whoever needs room gets theirs, the oldest first."""

    unevictable_bytes = 0

    def __init__(self) -> None:
        self.known: WeakValueDictionary[int, File] = WeakValueDictionary()
        self._turns = count()

    @property
    def used_bytes(self) -> int:
        """Bytes of all."""
        return sum(file.bytes for file in list(self.known.values()))

    def keep(self, file: File) -> File:
        """The file, which counts from now on."""
        self.known[next(self._turns)] = file
        return file

    def give_back(self, size: int) -> None:
        """Forgets what about so many bytes are of."""
        for file in list(self.known.values()):
            if size <= 0:
                return
            size -= file.bytes
            file.data = file.tokens = None

    def expire(self, before: float) -> None:
        """They go with the sessions that hold them."""

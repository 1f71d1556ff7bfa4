"""Uploaded files, kept in memory so that they can be read again with other choices.

A file is dropped when the visit ends or its memory is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from weakref import WeakValueDictionary

Tokens = tuple[bytes, str]  # the bytes of a file of tokens, and its name


@dataclass(eq=False)
class File:
    """A file by its name, with the file of its tokens: its bytes, None once given back, or its path on disk."""

    name: str
    data: bytes | None = None
    tokens: Tokens | None = None
    place: Path | None = None

    def content(self) -> bytes | None:
        """Returns the bytes of the file, None if they were given back. Raises OSError."""
        return self.place.read_bytes() if self.place else self.data

    @property
    def bytes(self) -> int:
        """Bytes that it takes in memory."""
        return len(self.data or b"") + len(self.tokens[0] if self.tokens else b"")


class Files:
    """All kept files, as a memory holder of the budget. All of them can be given back, the oldest first."""

    unevictable_bytes = 0

    def __init__(self) -> None:
        self.known: WeakValueDictionary[int, File] = WeakValueDictionary()
        self._turns = count()

    @property
    def used_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.bytes for file in list(self.known.values()))

    def keep(self, file: File) -> File:
        """Registers a file, whose bytes count from now on, and returns it."""
        self.known[next(self._turns)] = file
        return file

    def give_back(self, size: int) -> None:
        """Drops the contents of the oldest files, until about `size` bytes are freed."""
        for file in list(self.known.values()):
            if size <= 0:
                return
            size -= file.bytes
            file.data = file.tokens = None

    def expire(self, before: float) -> None:
        """Does nothing: files are freed with the sessions that hold them."""

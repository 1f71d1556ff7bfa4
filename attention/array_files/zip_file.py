"""Reads the files within a zip: their sizes are checked first, and each is unpacked when it is requested.

`zipfile` lists a whole directory before its length can be checked. So the records at the end of a zip, which state the
length of the directory, are read here first.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from attention.array_files.arrays import ARRAYS, short
from attention.array_files.deadline import check_deadline
from attention.array_files.limits import DataError

FILES = ARRAYS + 16  # a .pt has some of its own in addition to one per array
DIRECTORY = 2**18  # bytes of the directory
END = struct.Struct(
    "<4s4H2LH"
)  # end record: mark, disks, number of files twice, bytes of the directory, its offset, comment
LONG_END = struct.Struct(
    "<4sQ2H2L4Q"
)  # the same in 64 bits: files twice, bytes of the directory and its offset at the end
LOCATOR = struct.Struct("<4sLQL")  # between the two: the offset of the longer record
MARKS = {END: b"PK\x05\x06", LONG_END: b"PK\x06\x06", LOCATOR: b"PK\x06\x07"}
COMMENT = 2**16 - 1  # bytes of the comment after the end record
LITTLE = 4  # less than 1/LITTLE of a file is unpacked separately, once
PIECE = 2**20  # bytes that are unpacked at a time
STORED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BROKEN = "It is damaged: its zip can't be unpacked."
FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    OSError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    IndexError,
)


class Member:
    """A file within a zip, with its name and its unpacked `size`."""

    def __init__(self, parts: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
        self.parts, self.entry = parts, entry
        self.name, self.size = entry.filename, entry.file_size
        self.whole: memoryview | None = None
        self.begun = False

    def head(self, most: int) -> bytes:
        """Returns the first `most` bytes; raises DataError if the file can't be unpacked."""
        with _zip_errors(), self.parts.open(self.entry) as member:
            return member.read(most)

    def content(self, most: int) -> memoryview:
        """Returns the first `most` bytes; raises DataError. The file is unpacked once as a whole and kept.

        Only the first request, if it is for less than a quarter of the file, unpacks no more than these bytes.
        """
        if self.whole is None and not self.begun and most < self.size // LITTLE:
            self.begun = True
            return memoryview(self.head(most))
        if self.whole is None:
            self.whole = self._unpack()
        return self.whole[:most]

    def _unpack(self) -> memoryview:
        found = memoryview(bytearray(self.size))
        with _zip_errors(), self.parts.open(self.entry) as member:
            at = 0
            while read := member.readinto(found[at : at + PIECE]):  # pyright: ignore[reportAttributeAccessIssue]  it is a BufferedIOBase
                at += read
                check_deadline()
            if at < self.size or member.read(1):
                raise DataError(BROKEN)
        return found


def members(data: bytes, most: int) -> list[Member]:
    """Returns all files within a zip; raises DataError if there are too many, or if they unpack to more than `most` bytes."""
    with _zip_errors():
        _check_directory(data)
        parts = zipfile.ZipFile(io.BytesIO(data))
    entries = parts.infolist()
    if len(entries) > FILES:
        raise DataError(f"There are {len(entries):,} files in it; {FILES:,} are read at the most.")
    if (size := sum(entry.file_size for entry in entries)) > most:
        raise DataError(f"It unpacks to {size:,} bytes; {most:,} are read at the most here.")
    if len({entry.filename for entry in entries}) < len(entries):
        raise DataError("It has two files of one name.")
    for entry in entries:
        if entry.flag_bits & 1 or entry.compress_type not in STORED:
            raise DataError(f"{short(entry.filename)} is encrypted, or packed in a way that NumPy does not use.")
    return [Member(parts, entry) for entry in entries]


@contextmanager
def _zip_errors() -> Iterator[None]:
    """Raises DataError for any error in a zip."""
    try:
        yield
    except DataError:
        raise
    except FAULTS:
        raise DataError(BROKEN) from None


def _check_directory(data: bytes) -> None:
    """Raises DataError if the directory of a zip is too long, or if the records at its end disagree about it."""
    at = data.rfind(MARKS[END], max(0, len(data) - END.size - COMMENT))
    if at < 0 or len(data) - at < END.size:
        raise DataError("The file is cut off: the end of its zip is missing. Save or copy it again.")
    _, _, _, _, many, size, _, _ = END.unpack_from(data, at)
    if many > FILES:
        raise DataError(f"There are {many:,} files in it; {FILES:,} are read at the most.")
    if size > DIRECTORY:
        raise DataError(f"The list of its files has {size:,} bytes; {DIRECTORY:,} are read at the most.")
    before = at - LOCATOR.size
    if before < 0 or data[before : before + 4] != MARKS[LOCATOR]:
        return
    long = before - LONG_END.size
    if long < 0 or LOCATOR.unpack_from(data, before)[2] != long or data[long : long + 4] != MARKS[LONG_END]:
        raise DataError("It is damaged: its zip has an end in 64 bits that is not where it should be.")
    *_, there, all_, length, _ = LONG_END.unpack_from(data, long)
    if (there, all_, length) != (many, many, size):
        raise DataError("It is damaged: its zip has two ends, and they differ about what is in it.")

"""Files of NumPy: .npy, one array, and .npz, several in a zip (numpy.lib.format). Python objects in them are refused.

A header is a Python dictionary as text. It is matched, not evaluated.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from attention.brought.arrays import ARRAYS, Array, Arrays, bearable, bytes_of, short
from attention.brought.fitting import TEXT, BroughtError

MAGIC = b"\x93NUMPY"
HEADER = 4096  # characters of a header
WHOLE = r"\d{1,18}"
FORM = re.compile(
    r"\s*\{\s*'descr'\s*:\s*'(?P<descr>[^']{1,20})'\s*,\s*'fortran_order'\s*:\s*(?P<order>True|False)\s*,"
    rf"\s*'shape'\s*:\s*\((?P<shape>(?:\s*{WHOLE}\s*,)*(?:\s*{WHOLE}\s*)?)\)(?:\s*,)?\s*\}}\s*",
    re.ASCII,
)
NUMBER = re.compile(r"(?P<order>[<>|=])(?P<kind>[fiub])(?P<size>[1248])")
WRITTEN = re.compile(r"(?P<order>[<>|=])(?P<kind>[US])(?P<size>\d{1,6})")
KINDS = {"f": "F", "i": "I", "u": "U", "b": "BOOL"}
FOUND = {"F16", "F32", "F64", "BOOL", "I8", "U8", "I16", "I32", "I64"}
LETTER = {"U": 4, "S": 1}  # bytes
DIRECTORY = 2**18  # bytes of the list of what a zip has
END, END_LEAST, END_MOST = b"PK\x05\x06", 22, 22 + 2**16 - 1
STORED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    OSError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    IndexError,
)


def read_one(data: memoryview, called: str, most: int) -> Arrays:
    """What a .npy has, an array without a name; raises BroughtError."""
    arrays, texts = {}, {}
    _array("array", data, arrays, texts)
    bearable({name: len(found.data) for name, found in arrays.items()}, most)
    return Arrays(called, arrays, texts)


def read_many(data: memoryview, called: str, most: int) -> Arrays:
    """What a .npz has; raises BroughtError. What it unpacks to is known before anything is unpacked, and counted then."""
    arrays, texts = {}, {}
    for name, member in _members(data, most):
        _array(name, member, arrays, texts)
    bearable({name: len(found.data) for name, found in arrays.items()}, most)
    return Arrays(called, arrays, texts)


def unpacked(data: bytes, most: int) -> int:
    """Bytes of all files of a zip as its directory says, which is all that is read; raises BroughtError."""
    with _zip(data) as parts:
        return _size(parts.infolist(), most)


def _size(entries: list[zipfile.ZipInfo], most: int) -> int:
    size = sum(entry.file_size for entry in entries)
    if size > most:
        raise BroughtError(f"It unpacks to {size:,} bytes; {most:,} are read at the most here.")
    return size


@contextmanager
def _zip(data: bytes | memoryview) -> Iterator[zipfile.ZipFile]:
    """A zip whose directory is bearable; raises BroughtError for whatever is wrong with it."""
    _directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            yield parts
    except BROKEN as error:
        if isinstance(error, BroughtError):
            raise
        raise BroughtError("It is no .npz, or a damaged one: its zip can't be unpacked.") from None


def _members(data: memoryview, most: int) -> list[tuple[str, memoryview]]:
    """Every file of a zip by its name, unpacked."""
    found, left = [], most
    with _zip(data) as parts:
        entries = parts.infolist()
        if len(entries) > ARRAYS:
            raise BroughtError(f"There are {len(entries):,} arrays in it; {ARRAYS:,} are read at the most.")
        _size(entries, most)
        if len({entry.filename for entry in entries}) < len(entries):
            raise BroughtError("It has two arrays of one name.")
        for entry in entries:
            if entry.flag_bits & 1 or entry.compress_type not in STORED:
                raise BroughtError(f"{short(entry.filename)} is encrypted, or packed in a way that NumPy does not use.")
            with parts.open(entry) as member:
                content = member.read(left + 1)
            left -= len(content)
            if left < 0:
                raise BroughtError(f"It unpacks to more than the {most:,} bytes that are read at the most here.")
            found.append((entry.filename.removesuffix(".npy"), memoryview(content)))
    return found


def _directory(data: bytes | memoryview) -> None:
    """Raises BroughtError where the list of what a zip has is too long to be looked at."""
    tail = bytes(data[-END_MOST:])
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < END_LEAST:
        raise BroughtError("It is no .npz, or a damaged one: its zip has no end.")
    many, size = struct.unpack("<HI", tail[at + 10 : at + 16])
    if many > ARRAYS:
        raise BroughtError(f"There are {many:,} arrays in it; {ARRAYS:,} are read at the most.")
    if size > DIRECTORY:
        raise BroughtError(f"The list of its arrays has {size:,} bytes; {DIRECTORY:,} are read at the most.")


def _array(name: str, data: memoryview, arrays: dict[str, Array], texts: dict[str, tuple[str, ...]]) -> None:
    """Puts what a .npy has where numbers are, or texts."""
    descr, turned, shape, rest = _header(name, data)
    if number := NUMBER.fullmatch(descr):
        kind = KINDS[number["kind"]]
        kind = kind if kind == "BOOL" else f"{kind}{8 * int(number['size'])}"
        if kind in FOUND and (kind != "BOOL" or number["size"] == "1"):
            size = bytes_of(name, kind, shape)
            if size != len(rest):
                raise BroughtError(f"{short(name)} has {size:,} bytes by its shape; there are {len(rest):,}.")
            arrays[name] = Array(kind, shape, rest, turned, number["order"] == ">")
            return
    if written := WRITTEN.fullmatch(descr):
        texts[name] = _texts(name, written, shape, rest)
        return
    if "O" in descr:
        raise BroughtError(
            f"{short(name)} holds Python objects, which are not read. Save numbers: array.astype('float32')."
        )
    raise BroughtError(
        f"{short(name)} is of type {short(descr)}; numbers of 1 to 8 bytes are read, and texts of tokens."
    )


def _header(name: str, data: memoryview) -> tuple[str, bool, tuple[int, ...], memoryview]:
    """Type, order, sizes, and the bytes behind."""
    if bytes(data[:6]) != MAGIC or len(data) < 12:
        raise BroughtError(f"{short(name)} is no .npy: it does not begin as these do.")
    wide = data[6] >= 2  # versions 2 and 3 have longer headers
    if data[6] not in (1, 2, 3):
        raise BroughtError(f"{short(name)} is of version {data[6]} of .npy; 1 to 3 are read.")
    start = 12 if wide else 10
    (length,) = struct.unpack("<I" if wide else "<H", data[8:start])
    if length > HEADER:
        raise BroughtError(f"{short(name)} has a header of {length:,} characters; {HEADER:,} are read at the most.")
    found = FORM.fullmatch(bytes(data[start : start + length]).decode("latin-1"))
    if found is None:
        objects = b"'|O" in bytes(data[start : start + length])
        why = "holds Python objects or a table" if objects else "has a header that is none, or of a table"
        raise BroughtError(f"{short(name)} {why}: plain arrays of numbers are read.")
    shape = tuple(int(size) for size in found["shape"].split(",") if size.strip())
    return found["descr"], found["order"] == "True", shape, data[start + length :]


def _texts(name: str, written: re.Match[str], shape: tuple[int, ...], data: memoryview) -> tuple[str, ...]:
    """An array of texts, a line of them or one alone."""
    letters, wide = int(written["size"]), LETTER[written["kind"]]
    many = shape[0] if shape else 1
    if len(shape) > 1 or letters > TEXT or many * letters * wide != len(data):
        raise BroughtError(f"{short(name)} is no list of texts of at most {TEXT:,} characters.")
    coded = "utf-8" if wide == 1 else "utf-32-be" if written["order"] == ">" else "utf-32-le"
    step = letters * wide
    try:
        return tuple(
            bytes(data[at * step : (at + 1) * step]).decode(coded).rstrip("\0") for at in range(many if step else 0)
        )
    except UnicodeDecodeError:
        raise BroughtError(f"{short(name)} has texts that can't be read.") from None

"""Reads .npy, one array, and .npz, several in a zip (numpy.lib.format). Python objects are refused.

A header is a Python dictionary as text. It is matched, not evaluated.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from attention.array_files import zip_file
from attention.array_files.arrays import (
    ARRAYS,
    TYPES,
    Array,
    Arrays,
    Content,
    bearable,
    bytes_of,
    row_major,
    short,
    within,
)
from attention.array_files.limits import LONGEST, TEXT, DataError
from attention.array_files.zip_file import Member

MAGIC = b"\x93NUMPY"
HEADER = 4096  # characters of a header at most
BEFORE = 12  # bytes before the header at most
TEXTS = 2**23  # bytes of an array of texts, each of which takes as many as the longest
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


def read_one(data: memoryview, called: str, most: int) -> Arrays:
    """Returns the array of a .npy, which has no name; raises DataError."""
    return _read_parts([("array", bytes(data[: BEFORE + HEADER]), len(data), within(data))], called, most)


def read_many(data: bytes, called: str, most: int) -> Arrays:
    """Returns the arrays of a .npz; raises DataError. The total size is checked before anything is unpacked."""
    members = zip_file.members(data, most)
    if len(members) > ARRAYS:
        raise DataError(f"There are {len(members):,} arrays in it; {ARRAYS:,} are read at the most.")
    return _read_parts([_array_part(member) for member in members], called, most)


Part = tuple[str, bytes, int, Content]  # name, first bytes, length, and content of a .npy


def _array_part(member: Member) -> Part:
    return member.name.removesuffix(".npy"), member.head(BEFORE + HEADER), member.size, member.content


def _read_parts(parts: list[Part], called: str, most: int) -> Arrays:
    arrays: dict[str, Array] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for part in parts:
        _array(*part, arrays, texts)
    bearable({name: TYPES[found.type][1] * found.end for name, found in arrays.items()}, most)
    return Arrays(called, arrays, texts)


def _array(
    name: str,
    head: bytes,
    length: int,
    content: Content,
    arrays: dict[str, Array],
    texts: dict[str, tuple[str, ...]],
) -> None:
    """Adds the array of a .npy to `arrays`, or its texts to `texts`; raises DataError for any other type."""
    descr, turned, shape, start = _header(name, head, length)
    there = length - start
    if number := NUMBER.fullmatch(descr):
        kind = KINDS[number["kind"]]
        kind = kind if kind == "BOOL" else f"{kind}{8 * int(number['size'])}"
        if kind in FOUND and (kind != "BOOL" or number["size"] == "1"):
            size = bytes_of(name, kind, shape)
            if size != there:
                raise DataError(f"{short(name)} has {size:,} bytes by its shape; there are {there:,}.")
            strides = row_major(shape[::-1])[::-1] if turned else ()
            arrays[name] = Array(kind, shape, lambda most: content(start + most)[start:], strides, big=descr[0] == ">")
            return
    if written := WRITTEN.fullmatch(descr):
        texts[name] = _texts(name, written, shape, there, lambda: content(length)[start:])
        return
    if "O" in descr:
        raise DataError(
            f"{short(name)} holds Python objects, which are not read. Save numbers: an array for each "
            "layer, np.savez('layers.npz', *layers), or what generate returned as it is, torch.save(out.attentions, 'steps.pt')."
        )
    raise DataError(f"{short(name)} is of type {short(descr)}; numbers of 1 to 8 bytes are read, and texts of tokens.")


def _header(name: str, head: bytes, length: int) -> tuple[str, bool, tuple[int, ...], int]:
    """Returns type, order (whether the first axis is the fastest), shape, and the offset of the data; raises DataError."""
    if head[:6] != MAGIC or len(head) < BEFORE:
        raise DataError(f"{short(name)} is not an .npy file: it does not start like one.")
    wide = head[6] >= 2  # versions 2 and 3 have longer headers
    if head[6] not in (1, 2, 3):
        raise DataError(f"{short(name)} is of version {head[6]} of .npy; 1 to 3 are read.")
    start = BEFORE if wide else BEFORE - 2
    (long,) = struct.unpack("<I" if wide else "<H", head[8:start])
    if long > HEADER:
        raise DataError(f"{short(name)} has a header of {long:,} characters; {HEADER:,} are read at the most.")
    written = head[start : start + long].decode("latin-1")
    found = FORM.fullmatch(written)
    if found is None:
        why = "holds Python objects or a table" if "'|O" in written else "has a header that is none, or of a table"
        raise DataError(f"{short(name)} {why}: plain arrays of numbers are read.")
    shape = tuple(int(size) for size in found["shape"].split(",") if size.strip())
    return found["descr"], found["order"] == "True", shape, min(start + long, length)


def _texts(
    name: str, written: re.Match[str], shape: tuple[int, ...], there: int, content: Callable[[], memoryview]
) -> tuple[str, ...]:
    """Returns the texts of an array with one axis, or the text of one with none, of any length; raises DataError."""
    letters, wide = int(written["size"]), LETTER[written["kind"]]
    many, step = shape[0] if shape else 1, letters * wide
    if len(shape) > 1 or not step or (shape and letters > TEXT) or many * step != there:
        raise DataError(f"{short(name)} is not a list of texts of 1 to {TEXT:,} characters.")
    if many > LONGEST or there > TEXTS:
        raise DataError(
            f"{short(name)} has {many:,} texts in {there:,} bytes; {LONGEST:,} and {TEXTS:,} are read at the most. Long lists of "
            "tokens take less in a .json or .txt of their own."
        )
    coded = "utf-8" if wide == 1 else "utf-32-be" if written["order"] == ">" else "utf-32-le"
    data = content()
    try:
        return tuple(str(data[at : at + step], coded).rstrip("\0") for at in range(0, there, step))
    except UnicodeDecodeError:
        raise DataError(f"{short(name)} has texts that can't be read.") from None

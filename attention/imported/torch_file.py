"""Reads .pt and .pth files with tensors alone: a zip of a pickle (`pickle_tensors`) and of storages.

A tensor is a view of its storage: several may share one, and a tensor may have more elements than its storage has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attention.array_files import zip_file
from attention.array_files.arrays import ARRAYS, NAME, TYPES, Array, Arrays, bearable, bytes_of, short
from attention.array_files.limits import DataError
from attention.array_files.zip_file import Member
from attention.imported import pickle_tensors
from attention.imported.pickle_tensors import Saved, Unknown

LIST, ORDER, DATA = "data.pkl", "byteorder", "data"  # files of the zip, and the folder of storages
LISTED = 2**21  # bytes of the pickle
DEEP = 8  # depth of nested lists and dictionaries
PLACES = 2**17  # elements of lists and dictionaries that are visited
REPEATED = 2**22  # bytes that tensors may take beyond the size of the file, as they may repeat numbers of their storage
STORAGES = {
    "torch.HalfStorage": "F16",
    "torch.BFloat16Storage": "BF16",
    "torch.FloatStorage": "F32",
    "torch.DoubleStorage": "F64",
    "torch.BoolStorage": "BOOL",
    "torch.CharStorage": "I8",
    "torch.ByteStorage": "U8",
    "torch.ShortStorage": "I16",
    "torch.IntStorage": "I32",
    "torch.LongStorage": "I64",
}
OTHERS = (
    "It is not a file of tensors only: {} is of the kind {}. Whole models and other objects are not supported: save tensors, "
    "as in torch.save({{'q': q, 'k': k}}, path)."
)
Found = tuple[dict[str, Saved], dict[str, tuple[str, ...]], dict[str, str], dict[str, str]]


def read_torch_file(data: bytes, called: str, most: int) -> Arrays:
    """Returns the contents of a file; raises DataError. Nothing is executed, and only the pickle and the byte order
    are unpacked.
    """
    members = {member.name: member for member in zip_file.members(data, most)}
    listed = next((name for name in members if name.rpartition("/")[2] == LIST), None)
    if listed is None:
        raise DataError("It is not a PyTorch file: its zip has no list of tensors.")
    if members[listed].size > LISTED:
        raise DataError(f"Its list of tensors has {members[listed].size:,} bytes; {LISTED:,} are read at the most.")
    folder = listed.removesuffix(LIST)
    tensors, texts, said, unknown = contents_by_name(pickle_tensors.parse(bytes(members[listed].content(LISTED))))
    for name, kind in unknown.items():
        if kind.startswith("torch._utils._rebuild"):
            raise DataError(f"{short(name)} is not a dense tensor of a supported type: {', '.join(TYPES)}.")
    if not tensors:
        raise DataError(OTHERS.format(*map(short, next(iter(unknown.items())))) if unknown else "It has no tensors.")
    big = f"{folder}{ORDER}" in members and bytes(members[f"{folder}{ORDER}"].content(3)) == b"big"
    arrays = {
        name: _array(name, tensor, members.get(f"{folder}{DATA}/{tensor.storage.key}"), big)
        for name, tensor in tensors.items()
    }
    sizes = {name: bytes_of(name, array.type, array.shape) for name, array in arrays.items()}
    bearable(sizes, most)
    size, stored = sum(sizes.values()), sum(member.size for member in members.values())
    if size > stored + REPEATED:
        raise DataError(
            f"Its tensors repeat numbers, as after expand: they take {size:,} bytes of memory, and the file has {stored:,}. "
            "Save copies instead: tensor.contiguous()."
        )
    return Arrays(called, arrays, texts, said, unknown)


def _array(name: str, tensor: Saved, member: Member | None, big: bool) -> Array:
    """Returns a tensor as an array; raises DataError if its storage does not contain it."""
    kind = STORAGES.get(tensor.storage.kind)
    if kind is None:
        raise DataError(f"{short(name)} is of type {tensor.storage.kind[:60]}; these are read: {', '.join(TYPES)}.")
    bytes_of(name, kind, tensor.shape)
    if member is None or len(tensor.shape) != len(tensor.strides):
        raise DataError(f"{short(name)} has no numbers in it: it is damaged.")
    found = Array(kind, tensor.shape, member.content, tensor.strides, tensor.first, big, tensor.negative)
    if found.end * TYPES[kind][1] > member.size:
        raise DataError(f"{short(name)} has more numbers than its file: it is damaged.")
    return found


def contents_by_name(value: Any) -> Found:
    """Returns four dictionaries by name: tensors, lists of texts, single texts and numbers, and the kinds of unknown objects."""
    tensors: dict[str, Saved] = {}
    texts: dict[str, tuple[str, ...]] = {}
    said: dict[str, str] = {}
    unknown: dict[str, str] = {}
    for path, part in _leaves(value, (), [PLACES]):
        name = ".".join(path)
        if isinstance(part, Saved):
            tensors[name or "tensor"] = part
        elif isinstance(part, Unknown):
            unknown[name or "it"] = part.name
        elif isinstance(part, (list, tuple)):
            texts[name or "tokens"] = tuple(part)
        elif isinstance(part, (str, int, float)):
            said[name or "said"] = part if isinstance(part, str) else json.dumps(part)
        if len(tensors) > ARRAYS:
            raise DataError(
                f"There are more than {ARRAYS:,} tensors in it. Of what generate returned, save fewer steps."
            )
    return tensors, texts, said, unknown


def _leaves(value: Any, path: tuple[str, ...], left: list[int]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields the path and the value of each leaf of nested lists and dictionaries; a list of texts is one leaf.

    Numbers and texts in any other list are skipped. `left`: number of elements that may still be visited.
    """
    if not isinstance(value, (dict, list, tuple)) or (isinstance(value, Unknown) and not value):
        yield path, value
        return
    left[0] -= len(value) + 1
    if left[0] < 0:
        raise DataError(f"It has lists and dictionaries of more than {PLACES:,} places.")
    if len(path) > DEEP:
        raise DataError(f"It has lists or dictionaries more than {DEEP} deep, or such as contain themselves.")
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
        yield path, value
        return
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(value, dict) or not isinstance(part, (str, int, float)):
            if len(str(key)) > NAME:
                raise DataError(f"A name in it has {len(str(key)):,} characters; {NAME} are allowed.")
            yield from _leaves(part, (*path, str(key)), left)

"""Reads the pickle of a `torch.save` as data: tensors, texts, numbers, lists and dictionaries.

A pickle is a program for a stack machine, which may call any function. It is not executed here: its operations are read
one by one (`pickletools`), and only those that build plain values are carried out. A function or a class is represented by
its name; the result of calling one that is not in `CALLS` is an `Unknown`. No operation allocates more than its
size in the file.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attention.array_files.limits import DataError

OPERATIONS = 2**18  # a list of 65,536 tokens needs half as many
ARGUMENTS = 64  # largest number of arguments of a call, and of axes of a tensor
MARK = object()
BROKEN = "It is damaged: its list of tensors can't be read."


@dataclass(frozen=True)
class Name:
    """The name of a function or a class, for example `torch._utils._rebuild_tensor_v2`."""

    text: str


@dataclass(frozen=True)
class Storage:
    """The numbers of one type, for example `torch.FloatStorage`, in the file of the zip whose name is `key`."""

    kind: str
    key: str


@dataclass(frozen=True)
class Saved:
    """A tensor: its storage, the index of its first number, its shape and strides; `negative`: whether the sign is flipped."""

    storage: Storage
    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    negative: bool


class Unknown(dict):
    """The result of calling an unknown function: its name, and the items that were set on the result."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def parse(data: bytes) -> Any:
    """Returns the value that a pickle describes; raises DataError."""
    machine = Machine()
    try:
        for count, (operation, given, _) in enumerate(pickletools.genops(data)):
            if count >= OPERATIONS:
                raise DataError(f"Its list of tensors has more than {OPERATIONS:,} steps.")
            machine.do(operation.name, given)
        return machine.stack[-1]
    except DataError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
        raise DataError(BROKEN) from None


class Machine:
    """The stack and the memo of a pickle."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def do(self, operation: str, given: Any) -> None:
        """Carries out one operation; raises DataError if it builds no plain value."""
        if operation in VALUES:
            self.stack.append(given)
        elif operation in MADE:
            self.stack.append(MADE[operation]())
        elif operation in DONE:
            DONE[operation](self, given)
        elif operation not in ("PROTO", "FRAME", "STOP"):
            raise DataError(f"It is not a file of tensors only: its list of them has a step {operation}.")

    def since_mark(self) -> list[Any]:
        """Removes what is on the stack above the last mark, and returns it."""
        at = next((at for at in range(len(self.stack) - 1, -1, -1) if self.stack[at] is MARK), None)
        if at is None:
            raise ValueError("no mark")
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found

    def put(self, at: int) -> None:
        self.memo[at] = self.stack[-1]

    def name(self, module: Any, name: Any) -> None:
        self.stack.append(Name(f"{module}.{name}"))

    def pack(self, many: int) -> None:
        self.stack[-many:] = [tuple(self.stack[-many:])]

    def append(self, values: list[Any]) -> None:
        if isinstance(self.stack[-1], list):
            self.stack[-1].extend(values)

    def set(self, pairs: list[Any]) -> None:
        for name, value in zip(pairs[::2], pairs[1::2], strict=True):
            if not isinstance(name, (str, int)):
                raise DataError("A name in it is neither a text nor a whole number.")
            self.stack[-1][name] = value

    def store(self) -> None:
        kind, key = self.stack.pop()[1:3]
        self.stack.append(Storage(kind.text, str(key)))

    def call(self) -> None:
        given = self.stack.pop()
        if len(given) > ARGUMENTS:  # the same long tuple may be given many times
            raise ValueError("arguments")
        self.stack[-1] = CALLS.get(self.stack[-1].text, _unknown)(self.stack[-1].text, *given)

    def state(self) -> None:
        """Drops the state that is set on an object, as it is not needed."""
        self.stack.pop()


def _unknown(name: str, *given: Any) -> Unknown:
    return Unknown(name)


def _tensor(name: str, storage: Storage, first: int, shape: Any, strides: Any, *more: Any) -> Saved:
    """Has the signature of `torch._utils._rebuild_tensor_v2`: requires_grad, hooks and metadata follow the strides."""
    marks = more[2] if len(more) > 2 else {}
    if not isinstance(storage, Storage) or len(shape) + len(strides) > ARGUMENTS:
        raise ValueError(name)
    if any(type(number) is not int or number < 0 for number in (first, *shape, *strides)):
        raise ValueError(name)
    return Saved(storage, first, tuple(shape), tuple(strides), bool(marks.get("neg")))


VALUES = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
}
MADE: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
    "MARK": lambda: MARK,
}
DONE: dict[str, Callable[[Machine, Any], None]] = {
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), Machine.put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda it, at: it.stack.append(it.memo[at])),
    "MEMOIZE": lambda it, _: it.put(len(it.memo)),
    "GLOBAL": lambda it, names: it.name(*names.split(" ", 1)),
    "STACK_GLOBAL": lambda it, _: it.name(it.stack.pop(-2), it.stack.pop()),
    "TUPLE": lambda it, _: it.stack.append(tuple(it.since_mark())),
    "TUPLE1": lambda it, _: it.pack(1),
    "TUPLE2": lambda it, _: it.pack(2),
    "TUPLE3": lambda it, _: it.pack(3),
    "LIST": lambda it, _: it.stack.append(it.since_mark()),
    "APPEND": lambda it, _: it.append([it.stack.pop()]),
    "APPENDS": lambda it, _: it.append(it.since_mark()),
    "SETITEM": lambda it, _: it.set([it.stack.pop(-2), it.stack.pop()]),
    "SETITEMS": lambda it, _: it.set(it.since_mark()),
    "BINPERSID": lambda it, _: it.store(),
    "REDUCE": lambda it, _: it.call(),
    "NEWOBJ": lambda it, _: it.call(),
    "BUILD": lambda it, _: it.state(),
}
CALLS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": lambda name: {},
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": lambda name, tensor, *more: tensor,
    "torch._tensor._rebuild_from_type_v2": lambda name, made, kind, given, state: CALLS[made.text](made.text, *given),
    "torch.Size": lambda name, sizes: sizes,
}

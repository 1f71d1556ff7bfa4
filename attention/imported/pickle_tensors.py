"""What a pickle of `torch.save` says there is: tensors by where their numbers lie, texts, numbers, lists and dictionaries.

A pickle is a program for a machine with a stack, which may call anything. Here it is not run: its operations are read one by one
(`pickletools`), and those that build plain things are done. A function or a class is its name and nothing more; what would have
been made by calling one that is not known here is an `Unknown`. No operation takes more than its bytes have.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attention.imported.validate import BroughtError

OPERATIONS = 2**18  # a list of 65,536 tokens has half as many
ARGUMENTS = 64  # of a call, and axes of a tensor
MARK = object()
BROKEN = "It is damaged: its list of tensors can't be read."


@dataclass(frozen=True)
class Name:
    """A function or a class, as `torch._utils._rebuild_tensor_v2`."""

    text: str


@dataclass(frozen=True)
class Storage:
    """Numbers of a type, as `torch.FloatStorage`, in a file of the zip that is called by a key."""

    kind: str
    key: str


@dataclass(frozen=True)
class Saved:
    """A tensor: the place of its first number in a storage, its sizes and its strides; `negative`: the sign is turned."""

    storage: Storage
    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    negative: bool


class Unknown(dict):
    """What a call would have made, by the name of what was called, with what was put in as in a dictionary."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def parse(data: bytes) -> Any:
    """What a pickle says; raises BroughtError."""
    machine = Machine()
    try:
        for count, (operation, given, _) in enumerate(pickletools.genops(data)):
            if count >= OPERATIONS:
                raise BroughtError(f"Its list of tensors has more than {OPERATIONS:,} steps.")
            machine.do(operation.name, given)
        return machine.stack[-1]
    except BroughtError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
        raise BroughtError(BROKEN) from None


class Machine:
    """The stack of a pickle, and what it has put aside."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def do(self, operation: str, given: Any) -> None:
        """One operation; raises BroughtError where it builds nothing plain."""
        if operation in VALUES:
            self.stack.append(given)
        elif operation in MADE:
            self.stack.append(MADE[operation]())
        elif operation in DONE:
            DONE[operation](self, given)
        elif operation not in ("PROTO", "FRAME", "STOP"):
            raise BroughtError(f"It is no file of tensors alone: its list of them has a step {operation}.")

    def since_mark(self) -> list[Any]:
        """What was put on the stack since the last mark, taken off."""
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
                raise BroughtError("A name in it is neither a text nor a whole number.")
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
        """What an object is said to be like besides, which is not asked for."""
        self.stack.pop()


def _unknown(name: str, *given: Any) -> Unknown:
    return Unknown(name)


def _tensor(name: str, storage: Storage, first: int, shape: Any, strides: Any, *more: Any) -> Saved:
    """As `torch._utils._rebuild_tensor_v2` has it: behind the strides come requires_grad, hooks, and marks of the tensor."""
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

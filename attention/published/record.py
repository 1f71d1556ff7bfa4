"""Records the shapes of a function, line by line, while it runs.

The code contains no calls for it: the interpreter reports each line, and the tensors among the local variables are inspected.
A comment at the end of a line, such as `# b h q d`, names the axes; a test checks that every letter has a single size.
"""

from __future__ import annotations

import inspect
import linecache
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from torch import Tensor

AXIS = r"(?:[a-z]|[0-9]+|\([a-z0-9 ]+\))"
AXES = re.compile(rf"#\s*({AXIS}(?: {AXIS})*)\s*$")


@dataclass(frozen=True)
class Step:
    """A line that made a tensor: its function, line number and code, the variable, the names of its axes and their sizes."""

    function: str
    line: int
    code: str
    name: str
    axes: str
    sizes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Record:
    """One run: the result, or the error with the line that raised it; the steps; the source of the functions that ran."""

    result: Any
    error: str
    raised_at: str
    steps: tuple[Step, ...]
    source: str


def record_run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Record:
    """Runs a function, and the functions of its own file that it calls, and records every tensor that a line creates.

    Errors of the function are part of the record. The previous trace function, such as a debugger's, is restored afterwards.
    """
    tape = _Tape(inspect.unwrap(function).__code__.co_filename)
    result, error, raised_at = None, "", ""
    before = sys.gettrace()
    sys.settrace(tape.enter)
    try:
        result = function(*args, **kwargs)
    except Exception as problem:
        error, raised_at = f"{type(problem).__name__}: {problem}", tape.last
    finally:
        sys.settrace(before)
    return Record(result, error, raised_at, tuple(tape.steps.values()), tape.source)


class _Tape:
    """What was recorded so far in the functions of one file; only the first run of each line counts."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.steps: dict[tuple[int, str], Step] = {}
        self.codes: dict[CodeType, None] = {}
        self.last = ""

    @property
    def source(self) -> str:
        """The functions that ran, callees before their callers."""
        return "\n\n".join(map(_source, reversed(self.codes))) + "\n"

    def enter(self, frame: FrameType, event: str, _: Any) -> Callable | None:
        """Trace function: called when the interpreter enters a function; functions of other files are not traced."""
        code = frame.f_code
        if code.co_filename != self.file or code.co_name.startswith("<"):
            return None
        self.codes.setdefault(code)
        seen, line = _tensors(frame), frame.f_lineno

        def follow(frame: FrameType, event: str, _: Any) -> Callable:
            nonlocal seen, line
            now = _tensors(frame)
            for name, tensor in now.items():
                if seen.get(name, (None,))[0] != tensor[0]:
                    self._keep(code.co_name, line, name, tensor[1])
            seen, line = now, frame.f_lineno
            if event == "line":
                self.last = linecache.getline(self.file, line).strip()
            return follow

        return follow

    def _keep(self, function: str, line: int, name: str, sizes: tuple[int, ...]) -> None:
        code = linecache.getline(self.file, line).strip()
        axes = AXES.search(code)
        self.steps.setdefault((line, name), Step(function, line, code, name, axes[1] if axes else "", sizes))


@lru_cache(maxsize=64)
def _source(code: CodeType) -> str:
    return inspect.getsource(code).rstrip()


def _tensors(frame: FrameType) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Identity and shape of every tensor among the local variables."""
    return {name: (id(x), tuple(x.shape)) for name, x in frame.f_locals.items() if isinstance(x, Tensor)}

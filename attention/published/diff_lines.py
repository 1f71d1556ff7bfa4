"""Where a print goes wrong, line by line: what differs between a function as printed and as it is meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from attention.published.row import Row

AROUND = 1  # lines before and after what differs
ELIDED = "…"


@dataclass(frozen=True)
class Line:
    """A line of code; its `sign` is - where it is only printed, + where it is only meant, and a space in both."""

    sign: str
    code: str


def difference(row: Row) -> list[Line]:
    """Every line of a row's function as printed and as meant, the printed ones first; none where the print is right.

    Of both, it is the code that counts: neither the name of the function nor the shape in a comment.
    """
    if row.as_printed is None:
        return []
    printed, meant = source(row.as_printed), source(row.as_meant)
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, _codes(printed), _codes(meant), autojunk=False).get_opcodes():
        if kind == "equal":
            found += [Line(" ", line) for line in meant[c:d]]
        else:
            found += [Line("-", line) for line in printed[a:b]] + [Line("+", line) for line in meant[c:d]]
    return found


def short(found: list[Line]) -> list[Line]:
    """The lines that differ and those around them; what is left out between is one line of an ellipsis."""
    near = [any(line.sign != " " for line in found[max(0, i - AROUND) : i + AROUND + 1]) for i in range(len(found))]
    cut: list[Line] = []
    for line, kept in zip(found, near, strict=True):
        if kept:
            cut.append(line)
        elif not cut or cut[-1].code != ELIDED:
            cut.append(Line(" ", ELIDED))
    return cut


def source(function: Callable[..., Any]) -> list[str]:
    """The lines of a function under a name that gives nothing away."""
    plain = inspect.unwrap(function)
    text = inspect.getsource(plain).rstrip()
    return text.replace(f"def {plain.__name__}(", "def attention(", 1).splitlines()


def _codes(lines: list[str]) -> list[str]:
    return [line.partition("  #")[0].rstrip() for line in lines]

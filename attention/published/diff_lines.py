"""Compares a row's function as published with the corrected one, line by line."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from attention.published.row import Row

AROUND = 1  # unchanged lines that are kept before and after a difference
LONG = 8  # lines of a short difference
ELIDED = "…"


@dataclass(frozen=True)
class Line:
    """A line of code; `sign` is "-" if only the published code has it, "+" if only the corrected code has it, else a space."""

    sign: str
    code: str


def difference(row: Row) -> list[Line]:
    """Returns every line of a row's function as published and corrected, published lines first; empty if the row has no mistake.

    Only code is compared: neither the name of the function nor the shape in a comment matters.
    """
    if row.as_printed is None:
        return []
    printed, meant = source(row.as_printed), source(row.as_meant)
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, _codes(printed), _codes(meant), autojunk=False).get_opcodes():
        if kind == "equal":
            found += [Line(" ", line) for line in printed[a:b]]  # with the shapes that the published code has
        else:
            found += [Line("-", line) for line in printed[a:b]] + [Line("+", line) for line in meant[c:d]]
    return found


def short(found: list[Line]) -> list[Line]:
    """Returns the lines that differ and those around them; each gap between them is replaced by one line with an ellipsis.

    Of more than `LONG` lines, only those that differ are kept.
    """
    cut = _cut(found, AROUND)
    return cut if len(cut) <= LONG else _cut(found, 0)


def _cut(found: list[Line], around: int) -> list[Line]:
    near = [any(line.sign != " " for line in found[max(0, i - around) : i + around + 1]) for i in range(len(found))]
    cut: list[Line] = []
    for line, kept in zip(found, near, strict=True):
        if kept:
            cut.append(line)
        elif cut and cut[-1].code != ELIDED:
            cut.append(Line(" ", ELIDED))
    return cut[:-1] if cut and cut[-1].code == ELIDED else cut


def source(function: Callable[..., Any]) -> list[str]:
    """Returns the lines of a function under the name `attention`, which does not reveal its version."""
    plain = inspect.unwrap(function)
    text = inspect.getsource(plain).rstrip()
    return text.replace(f"def {plain.__name__}(", "def attention(", 1).splitlines()


def plain(line: str) -> str:
    """Returns a line without its comment, and the first line of a function without annotations, as students write it."""
    bare = line.partition("  #")[0].rstrip()
    if not bare.startswith("def "):
        return bare
    function = ast.parse(f"{bare} ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.returns = None
    for argument in function.args.args:
        argument.annotation = None
    return ast.unparse(function).partition("\n")[0]


def _codes(lines: list[str]) -> list[str]:
    return [line.partition("  #")[0].rstrip() for line in lines]

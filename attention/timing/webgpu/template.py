"""Expands the templates of the WebGPU kernels, by the same rules as `components/browser/webgpu/template.js`.

A directive is a line of its own: `//use name` inserts the file `name.wgsl`, `//for i N` … `//end` repeats lines with `${i}`
from 0 to N - 1, and `//if NAME` … `//else` … `//end` keeps lines if the value is not 0. `${NAME}` is a value. Loops are
unrolled in the text because a register can't be chosen by a variable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "components" / "browser" / "webgpu"
DIRECTIVE = re.compile(r"\s*//(for|if|else|end)\b\s*(\S*)\s*(\S*)")
USE = re.compile(r"^//use (\w+)$", re.MULTILINE)
VALUE = re.compile(r"\$\{(\w+)\}")


def source(name: str) -> str:
    """Returns the text of a template with the files that it uses."""
    text = (FOLDER / f"{name}.wgsl").read_text("utf-8")
    return USE.sub(lambda found: source(found[1]).rstrip("\n"), text)


def expand(text: str, values: Mapping[str, int | str]) -> str:
    """Returns the kernel of a template (see `source`) for these values; raises KeyError for a value that is missing."""
    return "\n".join(_expand(text.splitlines(), dict(values))) + "\n"


def _expand(lines: list[str], values: dict[str, int | str]) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(lines):
        directive = DIRECTIVE.match(lines[at])
        if not directive:
            found.append(_substitute(lines[at], values))
            at += 1
            continue
        kind, name, count = directive.groups()
        other, end = _block(lines, at)
        if kind == "for":
            total = int(count) if count.isdigit() else int(values[count])
            for i in range(total):
                found += _expand(lines[at + 1 : end], {**values, name: i})
        elif values[name]:
            found += _expand(lines[at + 1 : other], values)
        else:
            found += _expand(lines[other + 1 : end], values)
        at = end + 1
    return found


def _substitute(line: str, values: Mapping[str, int | str]) -> str:
    """Replaces `${NAME}`, the innermost first, so that a name can contain the values of loops."""
    while "${" in line:
        line = VALUE.sub(lambda name: str(values[name[1]]), line)
    return line


def _block(lines: list[str], start: int) -> tuple[int, int]:
    """The lines of the `//else` (or else of the end) and of the `//end` of the block that begins at `start`."""
    depth, other = 0, -1
    for at in range(start, len(lines)):
        directive = DIRECTIVE.match(lines[at])
        kind = directive[1] if directive else ""
        depth += kind in ("for", "if")
        depth -= kind == "end"
        if kind == "else" and depth == 1:
            other = at
        if not depth:
            return (at if other < 0 else other), at
    raise ValueError(f"Line {start + 1} has no //end: {lines[start]}")

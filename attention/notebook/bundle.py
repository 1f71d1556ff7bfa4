"""Bundles the browser's modules into one text: for a page without a server, and for a widget.

Each module becomes a function that is called once and returns the module's exports; imports become names taken from
that result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

BROWSER = Path(__file__).parents[1] / "components" / "browser"
IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
REMARK = re.compile(r"/\*\*(?s:.*?)\*/ ?|^ *//.*\n|  //.*$", re.MULTILINE)  # comments
STYLES = ("heads_grid.css", "word_lines.css", "heads_layers.css")


@cache
def script(name: str) -> str:
    """A module below `components/browser` with all its imports, as one text; its default export is that of the text."""
    order: list[Path] = []
    _follow((BROWSER / name).resolve(), order, [])
    *parts, last = order
    inner = "".join(f"const {_name(file)} = (() => {{\n{_body(file)}}})();\n" for file in parts)
    return inner + IMPORT.sub(_import_replacer(last), _text(last))


@cache
def style() -> str:
    """The style sheets of all pictures, as one text."""
    return "\n".join((BROWSER / name).read_text() for name in STYLES)


def _follow(file: Path, order: list[Path], around: list[Path]) -> None:
    """Appends a module to `order` after its imports; raises ValueError for circular imports."""
    if file in around:
        raise ValueError(f"{file.name} imports itself by way of {around[-1].name}.")
    if file in order:
        return
    for _, path in IMPORT.findall(file.read_text()):
        _follow((file.parent / path).resolve(), order, [*around, file])
    order.append(file)


def _body(file: Path) -> str:
    text = _text(file)
    names = sorted({*EXPORT.findall(text), *_declared_names(text)})
    return EXPORT.sub("", IMPORT.sub(_import_replacer(file), text)) + f"return {{ {', '.join(names)} }};\n"


def _text(file: Path) -> str:
    return "".join(line for line in REMARK.sub("", file.read_text()).splitlines(True) if line.strip())


def _declared_names(text: str) -> list[str]:
    """Names in a declaration of several constants: `export const A = 0, B = 1;`."""
    lines = re.findall(r"^export const (.+);", text, re.MULTILINE)
    return [name for line in lines for name in re.findall(r"(?:^|, )([A-Za-z_]\w*) = ", line)]


def _import_replacer(file: Path) -> Callable[[re.Match[str]], str]:
    """Makes a function that replaces an import by names from the result of the other module."""

    def replace_import(match: re.Match[str]) -> str:
        names, path = match[1], match[2]
        other = _name((file.parent / path).resolve())
        return f"const {{{names.replace(' as ', ': ')}}} = {other};\n" if names else ""

    return replace_import


def _name(file: Path) -> str:
    return "of_" + re.sub(r"\W", "_", file.relative_to(BROWSER).with_suffix("").as_posix())

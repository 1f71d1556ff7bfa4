"""Figures of the code: `python -m tests.house`, or of another checkout: `python -m tests.house PATH`.

Modules and packages directly in `attention`, imports between them and how many are in an import cycle, the same for
`attention/ui`, what a session keeps, the longest files, and the lines of functions.

A session keeps what has a name there that is no knob's widget: keys of `st.session_state`, also those that one file sets for
others (`put(name=…)`, `kept("name")`), and the fields of the dataclasses of `ui/session/visit_state.py`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


@cache
def numbers(root: Path) -> dict[str, object]:
    """The figures of the checkout in a folder, by name."""
    package = root / "attention"
    trees = {file: ast.parse(file.read_text()) for file in sorted(package.rglob("*.py"))}
    parts = {_home(package, file) for file in trees} - {"__init__"}
    edges, ui_edges = _edges(trees, package, "attention"), _edges(trees, package / "ui", "attention.ui")
    state = trees.get(package / "ui" / "session" / "visit_state.py")
    knobs = {name for tree in trees.values() for name in _knobs(tree)}
    lines = sorted((len(file.read_text().splitlines()), str(file.relative_to(root))) for file in trees)
    longest = max((len(file.read_text().splitlines()), file.name) for file in (root / "tests").rglob("*.py"))
    functions = sorted(length for tree in trees.values() for length in _functions(tree))
    return {
        "modules in attention": sum(1 for part in parts if (package / f"{part}.py").exists()),
        "packages in attention": sum(1 for part in parts if (package / part).is_dir()),
        "imports between them": len(edges),
        "in an import cycle": len(cycles(edges)),
        "imports between packages of ui": len(ui_edges),
        "packages of ui in an import cycle": len(cycles(ui_edges)),
        "session keys": len({key for tree in trees.values() for key in _session_keys(tree)} - knobs),
        "fields of its state": sum(1 for _ in _fields(state)) if state else 0,
        "longest files": ", ".join(f"{name} {length}" for length, name in reversed(lines[-3:])),
        "longest test": f"{longest[1]} {longest[0]}",
        "files over 300 lines": sum(length > 300 for length, _ in lines),
        "lines of a function, p50 / p90 / max": " / ".join(
            str(functions[min(len(functions) - 1, int(share * len(functions)))]) for share in (0.5, 0.9, 1.0)
        ),
    }


def cycles(edges: set[tuple[str, str]]) -> set[str]:
    """The nodes of directed edges that are in a cycle."""
    far, grown = set(edges), True
    while grown:
        more = {(a, d) for a, b in far for c, d in edges if b == c} - far
        grown = bool(more)
        far |= more
    return {a for a, b in far if a == b}


def _home(folder: Path, file: Path) -> str:
    return file.relative_to(folder).parts[0].removesuffix(".py")


def _edges(trees: dict[Path, ast.Module], folder: Path, name: str) -> set[tuple[str, str]]:
    """Which part of a package imports which."""
    inside = {file: tree for file, tree in trees.items() if file.is_relative_to(folder)}
    parts = {_home(folder, file) for file in inside} - {"__init__"}
    found = {(_home(folder, file), there) for file, tree in inside.items() for there in _imported_names(tree, name)}
    return {(here, there) for here, there in found if here != there and {here, there} <= parts}


def _imported_names(tree: ast.Module, name: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == name:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{name}."):
            yield (node.module or "").removeprefix(f"{name}.").split(".")[0]


def _functions(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def _session_keys(tree: ast.Module) -> Iterator[str]:
    """What is set or read by name in `st.session_state`, also where a file calls it `state`, and by `put` and `kept`."""
    names = {"st.session_state"} | {"state" for node in ast.walk(tree) if _renames_state(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _dotted(node.value) in names:
            if node.attr not in ("get", "setdefault", "update", "pop", "to_dict"):
                yield node.attr
        elif isinstance(node, ast.Subscript) and _dotted(node.value) in names:
            yield ast.unparse(node.slice)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called, place = node.func.attr, _dotted(node.func.value)
            asked = called == "kept" if place == "page" else called in ("get", "setdefault") and place in names
            if asked and node.args and (isinstance(node.args[0], ast.Constant) or ast.unparse(node.args[0]).isupper()):
                yield ast.unparse(node.args[0]).strip("'")
            elif called == "put" and place == "page":
                yield from (keyword.arg for keyword in node.keywords if keyword.arg)


def _dotted(node: ast.expr) -> str:
    """`a.b` for that expression, nothing for one that is more than names."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _knobs(tree: ast.Module) -> Iterator[str]:
    """What a config or a sweep has fields for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name in ("Numbers", "View", "Sweep"):
            yield from _fields(node)


def _fields(tree: ast.AST) -> Iterator[str]:
    """The annotated names of the classes in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign))


def _renames_state(node: ast.AST) -> bool:
    """Does this assign `st.session_state` to `state`, alone or among others?"""
    return isinstance(node, ast.Assign) and "st.session_state" in ast.unparse(node.value).split(", ")[0].strip("(")


if __name__ == "__main__":
    for name, number in numbers(Path(sys.argv[1]) if sys.argv[1:] else ROOT).items():
        print(f"{name:40} {number}")

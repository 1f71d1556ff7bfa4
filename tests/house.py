"""The house in numbers: `python -m tests.house`, or of another checkout: `python -m tests.house PATH`.

Modules and packages at the root of `attention`, arrows between its parts and how many of these stand in a circle, keys of the
session, the longest files, and how many lines functions have.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def numbers(root: Path) -> dict[str, object]:
    """The house below a folder, in numbers with names."""
    package = root / "attention"
    trees = {file: ast.parse(file.read_text()) for file in sorted(package.rglob("*.py"))}
    parts = {_home(package, file) for file in trees} - {"__init__"}
    arrows = {
        (here, there)
        for file, tree in trees.items()
        for there in _imported(tree)
        if (here := _home(package, file)) != there and there in parts and here in parts
    }
    lines = sorted((len(file.read_text().splitlines()), str(file.relative_to(root))) for file in trees)
    functions = sorted(length for tree in trees.values() for length in _functions(tree))
    return {
        "modules at the root": sum(1 for part in parts if (package / f"{part}.py").exists()),
        "wings": sum(1 for part in parts if (package / part).is_dir()),
        "arrows between parts": len(arrows),
        "parts in a circle": len(circles(arrows)),
        "keys of the session": len({key for tree in trees.values() for key in _session_keys(tree)}),
        "longest files": ", ".join(f"{name} {length}" for length, name in reversed(lines[-3:])),
        "files over 300 lines": sum(length > 300 for length, _ in lines),
        "lines of a function, p50 / p90 / max": " / ".join(
            str(functions[min(len(functions) - 1, int(share * len(functions)))]) for share in (0.5, 0.9, 1.0)
        ),
    }


def circles(arrows: set[tuple[str, str]]) -> set[str]:
    """The parts from which arrows lead back to themselves."""
    far, grown = set(arrows), True
    while grown:
        more = {(a, d) for a, b in far for c, d in arrows if b == c} - far
        grown = bool(more)
        far |= more
    return {a for a, b in far if a == b}


def _home(package: Path, file: Path) -> str:
    return file.relative_to(package).parts[0].removesuffix(".py")


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "attention":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attention."):
            yield (node.module or "").split(".")[1]


def _functions(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def _session_keys(tree: ast.Module) -> Iterator[str]:
    """What is set or read by name in `st.session_state`, also where a file calls it `state`."""
    names = {"st.session_state"} | {"state" for node in ast.walk(tree) if _renamed(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in names:
            if node.attr not in ("get", "setdefault", "update", "pop", "to_dict"):
                yield node.attr
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) in names:
            yield ast.unparse(node.slice)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            session = ast.unparse(node.func.value) in names
            if session and node.func.attr in ("get", "setdefault") and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)


def _renamed(node: ast.AST) -> bool:
    """Does this assign `st.session_state` to `state`, alone or among others?"""
    return isinstance(node, ast.Assign) and "st.session_state" in ast.unparse(node.value).split(", ")[0].strip("(")


if __name__ == "__main__":
    for name, number in numbers(Path(sys.argv[1]) if sys.argv[1:] else ROOT).items():
        print(f"{name:40} {number}")

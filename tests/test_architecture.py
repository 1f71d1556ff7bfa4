"""The house stands as its map says: imports run downwards, and each concern has one owner.

The map is the docstring of `attention`: a line a floor, from the ground up. Read from the source by AST.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import attention
import attention.ui
from tests import house

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attention"
FILES = sorted(PACKAGE.rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))
SERVING = sorted((ROOT / "serving").glob("*.py"))
FLOOR = re.compile(r"^ {4}((?:\w+ )+) +\S", re.MULTILINE)
ORDER = [name for line in FLOOR.findall(attention.__doc__ or "") for name in line.split()]
UI = PACKAGE / "ui"
ROOMS = [
    name for line in FLOOR.findall(attention.ui.__doc__ or "") for name in line.split()
]  # of ui, from the ground up
BROWSER = {"components", "ui"}  # the parts that know Streamlit
OWNED = {
    "session_state": "attention/ui/session/state.py",
    "query_params": "attention/ui/session/page.py",
    "Kept": "attention/ui/compute/owner.py",
}
UNUSED = {"cache_data", "cache_resource"}  # bounded by a count; attention/machine/kept.py counts bytes
WAITS = {"wait", "as_completed", "Future", "ThreadPoolExecutor", "ProcessPoolExecutor", "Barrier", "Condition", "Queue"}
WAITERS = {  # who waits by other means than a lane's work, or makes threads
    f"attention/{name}.py"
    for name in (
        "machine/lanes",
        "machine/threads",
        "machine/made_once",
        "machine/under_way",
        "maps/cluster",
        "maps/jobs",
    )
}

every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
every_page = pytest.mark.parametrize("file", [*PAGES, ROOT / "app.py"], ids=lambda file: str(file.relative_to(ROOT)))


@cache
def parsed(file: Path) -> ast.Module:
    """The source of a file, without what only runs when it is a program of its own."""
    tree = ast.parse(file.read_text())
    tree.body = [node for node in tree.body if not is_entry(node)]
    return tree


def is_entry(node: ast.stmt) -> bool:
    """Is it `if __name__ == "__main__"`?"""
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def imports(file: Path) -> Iterator[str]:
    """Every module that a file imports, also within a function; names taken from a package count as modules of it."""
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file.name} imports relatively; write the whole name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from names if node.module == "attention" else [node.module or ""]


def part(module: str) -> str | None:
    """The part of the package that a dotted name belongs to; None for other packages and for the public names."""
    names = module.split(".")
    return names[1] if names[0] == "attention" and names[1:] and exists(names[1]) else None


def exists(name: str) -> bool:
    return (PACKAGE / f"{name}.py").exists() or (PACKAGE / name).is_dir()


def home(file: Path) -> str:
    """The part that a file of the package belongs to: its wing, or itself where it stands at the root."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def dotted(file: Path) -> str:
    """The name by which a file is imported."""
    names = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


MODULES = {dotted(file): file for file in FILES}


def imported(file: Path) -> set[str]:
    """The modules of the package that a file imports as it is imported itself, not within functions."""
    found = set()
    for node in parsed(file).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attention"):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & MODULES.keys() or {node.module or ""}
    return found & MODULES.keys() - {dotted(file)}


def circles(arrows: dict[str, set[str]]) -> list[str]:
    """The names from which one gets back to themselves."""
    far = {name: set(found) for name, found in arrows.items()}
    for through in arrows:
        for found in far.values():
            if through in found:
                found |= far[through]
    return sorted(name for name, found in far.items() if name in found)


def test_the_map_can_be_read():
    assert ORDER[:3] == ["masks", "scores", "inputs"]
    assert ORDER[-1] == "ui"
    assert len(set(ORDER)) == len(ORDER)


def test_every_part_is_on_the_map():
    missing = {home(file) for file in FILES} - {"__init__"} - set(ORDER)
    assert not missing, f"put {sorted(missing)} into the map in the docstring of attention, above what they import"


@every_file
def test_imports_run_downwards(file):
    here = home(file)
    if here == "__init__":
        return
    below = {*ORDER[: ORDER.index(here)], here}
    above = {name for name in map(part, imports(file)) if name} - below
    assert not above, f"{here} imports {sorted(above)}, which the map in attention has on its right or above it"
    public = {name for name in imports(file) if name == "attention" or name in PUBLIC}
    assert here == "ui" or not public, f"{here} imports {sorted(public)} from the package; name the module instead"


PUBLIC = {f"attention.{name}" for name in attention.__all__ if not exists(name)}


def test_every_room_of_ui_is_on_its_map():
    there = {room(file) for file in FILES if file.is_relative_to(UI)} - {"__init__"}
    assert sorted(ROOMS) == sorted(there), "the map in the docstring of attention.ui has each of them once"


@pytest.mark.parametrize("file", sorted(UI.rglob("*.py")), ids=lambda file: str(file.relative_to(UI)))
def test_imports_run_downwards_within_ui(file):
    here = room(file)
    below = {*ROOMS[: ROOMS.index(here)], here} if here in ROOMS else set()
    above = set(rooms(file)) - below
    assert not above, f"{here} imports {sorted(above)}, which the map in attention.ui has on its right or below it"


def room(file: Path) -> str:
    """The part of ui that a file belongs to: its folder there, or itself."""
    return file.relative_to(UI).parts[0].removesuffix(".py")


def rooms(file: Path) -> Iterator[str]:
    """The parts of ui that a file imports, also within a function."""
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.ImportFrom) and node.module == "attention.ui":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attention.ui."):
            yield (node.module or "").split(".")[2]


def test_no_circle_within_a_wing_or_between_modules():
    """A wing's front door, its `__init__`, may import what is behind it; what is behind it does not go round by the door."""
    arrows = {name: imported(file) for name, file in MODULES.items() if file.name != "__init__.py"}
    assert circles(arrows) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    doors = {name for name, file in MODULES.items() if file.name == "__init__.py"}
    for name, found in arrows.items():
        wing = name.rpartition(".")[0]
        assert wing not in found & doors or wing == "attention", f"{name} goes round by the door of its own wing"


def test_the_session_has_one_key_beside_widgets():
    found = house.numbers(ROOT)
    assert (found["keys of the session"], found["parts in a circle"], found["rooms of ui in a circle"]) == (1, 0, 0)


def test_every_module_can_be_imported_first():
    """Whichever module a notebook begins with; in one process, from what the package itself imports each time."""
    code = (
        "import sys, importlib\n"
        "import attention\n"
        "first = set(sys.modules)\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(name)\n"
        "    for known in [known for known in sys.modules if known not in first and known.startswith('attention.')]:\n"
        "        parent, _, child = known.rpartition('.')\n"
        "        vars(sys.modules.get(parent, sys)).pop(child, None)\n"
        "        del sys.modules[known]\n"
    )
    names = [name for name in sorted(MODULES) if not name.endswith("__main__")]
    done = subprocess.run([sys.executable, "-c", code, *names], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-1000:]


WINGS = [file for file in FILES if file.name == "__init__.py" and file.parent.parent in (PACKAGE, UI)]


@pytest.mark.parametrize("file", WINGS, ids=lambda file: str(file.parent.relative_to(PACKAGE)))
def test_a_wing_says_what_lives_there(file):
    """Every module of it by its name, so that a stranger finds any line in three looks."""
    said = ast.get_docstring(parsed(file)) or ""
    names = {other.stem for other in file.parent.glob("[a-z]*.py")}
    silent = {name for name in names if f"`{name}`" not in said}
    silent -= set(ROOMS) if file.parent == UI else set()  # the map names them
    assert not silent or file.parent.name in FULL, f"the first lines of {file.parent.name} don't name {sorted(silent)}"


FULL = {"charts", "components", "published", "compute", "views"}  # too many to name: a file a chart, a document, a page


def test_a_server_answers_before_what_scripts_need_is_imported():
    """What stands before Streamlit imports nothing of the package: that takes seconds, in which a probe is answered."""
    code = "import sys, app; print(sorted({'attention', 'torch', 'numpy', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr[-1000:]


@every_file
def test_each_library_has_its_place(file):
    libraries = {name.split(".")[0] for name in imports(file)}
    if home(file) not in BROWSER:
        assert "streamlit" not in libraries
    if home(file) != "charts":
        assert not libraries & {"plotly", "altair"}


@pytest.mark.parametrize("file", [*FILES, *PAGES, ROOT / "app.py"], ids=lambda file: str(file.relative_to(ROOT)))
def test_state_and_caches_have_one_owner(file):
    used = {node.attr for node in ast.walk(parsed(file)) if isinstance(node, ast.Attribute)}
    taken = {alias.name for node in ast.walk(parsed(file)) if isinstance(node, ast.ImportFrom) for alias in node.names}
    for name in OWNED.keys() & (used | taken):
        assert str(file.relative_to(ROOT)) in (OWNED[name], "attention/machine/kept.py"), (
            f"{name} belongs to {OWNED[name]}"
        )
    assert not UNUSED & used, "attention/machine/kept.py keeps results"


@every_file
def test_who_waits_for_whom_is_said_by_lanes(file):
    taken = {
        alias.name
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.ImportFrom) and node.module in ("concurrent.futures", "threading", "queue", "asyncio")
        for alias in node.names
    }
    assert str(file.relative_to(ROOT)) in WAITERS or not WAITS & taken, (
        "hand work to a lane: it knows who may wait for whom"
    )


@pytest.mark.parametrize(
    "file", [*FILES, *SERVING, *PAGES, ROOT / "app.py"], ids=lambda file: str(file.relative_to(ROOT))
)
def test_nothing_a_visitor_sends_is_executed(file):
    calls = [node for node in ast.walk(parsed(file)) if isinstance(node, ast.Call)]
    names = {node.func.id for node in calls if isinstance(node.func, ast.Name)}
    attributes = {ast.unparse(node.func) for node in calls if isinstance(node.func, ast.Attribute)}
    keywords = {keyword.arg for node in calls for keyword in node.keywords}
    assert not names & {"eval", "exec", "compile", "__import__"}
    loads = [node for node in calls if ast.unparse(node.func) == "torch.load"]
    alone = file.name == "torch_child.py"  # a process of its own, which reads tensors and ends
    assert alone or not loads
    assert all("weights_only=True" in ast.unparse(node) for node in loads)
    assert not any(name.endswith("torch_child") for name in imports(file))
    assert not attributes & {"pickle.load", "pickle.loads", "os.system", "os.popen"}
    assert "unsafe_allow_html" not in keywords
    assert not {name.split(".")[0] for name in imports(file)} & {"pickle", "shelve", "marshal"}


@every_file
def test_nothing_happens_at_import(file):
    """The top of a module defines, imports and fills tables; what is called there makes something and does nothing."""
    for node in parsed(file).body:
        assert not isinstance(node, (ast.For, ast.While, ast.With, ast.Try)), ast.unparse(node)
        call = node.value if isinstance(node, ast.Expr) else None
        assert call is None or isinstance(call, ast.Constant), f"{file.name} calls {ast.unparse(node)} when imported"


@pytest.mark.parametrize("file", [*FILES, *SERVING], ids=lambda file: str(file.relative_to(ROOT)))
def test_a_module_says_what_lives_in_it(file):
    first, _, _ = (ast.get_docstring(parsed(file)) or "").partition("\n\n")
    assert first.endswith((".", ":", "?"))


@every_page
def test_a_page_defines_nothing(file):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assert not [node for node in ast.walk(parsed(file)) if isinstance(node, kinds)]
    assert 6 <= len(file.read_text().splitlines()) <= 20 or file.name == "app.py"
    assert ast.get_docstring(parsed(file))


def test_every_page_is_on_the_menu():
    menu = (ROOT / "app.py").read_text()
    assert [page.name for page in PAGES if f"pages/{page.name}" not in menu] == []

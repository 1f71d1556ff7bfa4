"""The structure of the code: imports run in one direction, and each concern has one owner.

Everything is read from the source (AST). Each test lists all violations of its rule, a line each. The docstring of
`attention` has the order of the packages, that of `attention.ui` the order of its parts.
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
from attention.ui.menu import GROUPS
from tests import house

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attention"
UI = PACKAGE / "ui"
FILES = sorted(PACKAGE.rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))
APP = ROOT / "app.py"
LISTED = re.compile(r"^ {4}((?:\w+ )+) +\S", re.MULTILINE)  # names before a description, in a docstring
ORDER = [name for line in LISTED.findall(attention.__doc__ or "") for name in line.split()]
UI_ORDER = [name for line in LISTED.findall(attention.ui.__doc__ or "") for name in line.split()]
ENTRIES = {"__init__", "__main__"}  # the package's public names, and its command: above everything
STREAMLIT = {"components", "serving", "streamlit_internals", "ui"}  # the packages that may import Streamlit
OWNERS = {
    "session_state": "attention/ui/session/visit_state.py",
    "query_params": "attention/ui/session/address_bar.py",
    "ResultCache": "attention/ui/results/shared.py",
}
UNUSED = {"cache_data", "cache_resource"}  # bounded by a count; attention/runtime/result_cache.py counts bytes
THREADING = {"concurrent.futures", "threading", "queue", "asyncio"}
WAITS = {"wait", "as_completed", "Future", "ThreadPoolExecutor", "ProcessPoolExecutor", "Barrier", "Condition", "Queue"}
WAITERS = {  # files that wait by other means than the work of a lane, or that start threads
    f"attention/{name}.py"
    for name in (
        "runtime/executors",
        "runtime/threads",
        "runtime/tensor_cache",
        "runtime/admission",
        "maps/cluster",
        "maps/jobs",
    )
}
UNLISTED = {"charts", "components", "published", "results", "views"}  # packages with too many modules to name each
FORBIDDEN = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_ATTRIBUTES = {"torch.load", "pickle.load", "pickle.loads", "os.system", "os.popen"}


def assert_none(violations: Iterator[str]) -> None:
    """Fails with all violations, if there are any."""
    found = list(violations)
    assert not found, "\n".join(found)


def path_of(file: Path) -> str:
    """The path of a file from the root of the repository."""
    return str(file.relative_to(ROOT))


@cache
def parse_file(file: Path) -> ast.Module:
    """The source of a file, without the part that runs only when the file is a program."""
    tree = ast.parse(file.read_text())
    tree.body = [node for node in tree.body if not is_entry(node)]
    return tree


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file."""
    return tuple(ast.walk(parse_file(file)))


def is_entry(node: ast.stmt) -> bool:
    """Is it `if __name__ == "__main__"`?"""
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


@cache
def imports(file: Path) -> tuple[str, ...]:
    """Every module that a file imports, also within a function; names taken from `attention` count as modules of it."""
    found: list[str] = []
    for node in nodes(file):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path_of(file)} imports relatively; write the whole name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += names if node.module == "attention" else [node.module or ""]
    return tuple(found)


def names_imported_from(file: Path, modules: set[str]) -> set[str]:
    """The names that a file imports from some modules."""
    froms = [node for node in nodes(file) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in froms if node.module in modules for alias in node.names}


def part(module: str) -> str | None:
    """The part of the package that a dotted name belongs to; None for other packages and for the public names."""
    names = module.split(".")
    return names[1] if names[0] == "attention" and names[1:] and exists(names[1]) else None


@cache
def exists(name: str) -> bool:
    """Is it a module or a package at the root of `attention`?"""
    return (PACKAGE / f"{name}.py").exists() or (PACKAGE / name).is_dir()


def home(file: Path, folder: Path = PACKAGE) -> str:
    """The part of a folder that a file belongs to: a package there, or the file itself."""
    return file.relative_to(folder).parts[0].removesuffix(".py")


def module_name(file: Path) -> str:
    """The name by which a file is imported."""
    names = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


MODULES = {module_name(file): file for file in FILES}
PUBLIC = {f"attention.{name}" for name in attention.__all__ if not exists(name)}


def imported_modules(file: Path) -> set[str]:
    """The modules of the package that a file imports when it is imported itself, not within functions."""
    found = set()
    for node in parse_file(file).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attention"):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & MODULES.keys() or {node.module or ""}
    return found & MODULES.keys() - {module_name(file)}


def circles(arrows: dict[str, set[str]]) -> list[str]:
    """The names from which arrows lead back to themselves."""
    far = {name: set(found) for name, found in arrows.items()}
    for through in arrows:
        for found in far.values():
            if through in found:
                found |= far[through]
    return sorted(name for name, found in far.items() if name in found)


def test_the_order_of_packages_is_complete():
    assert ORDER[:6] == ["streamlit_internals", "summary", "number_format", "masks", "inputs", "operations"]
    assert ORDER[-1] == "ui"
    assert len(set(ORDER)) == len(ORDER)
    missing = {home(file) for file in FILES} - ENTRIES - set(ORDER)
    assert not missing, f"add {sorted(missing)} to the list in the docstring of attention, below what they import"
    assert sorted(UI_ORDER) == sorted({home(file, UI) for file in FILES if file.is_relative_to(UI)} - {"__init__"})


def test_imports_run_downwards():
    assert_none(upward_imports())


def upward_imports() -> Iterator[str]:
    for file in FILES:
        here = home(file)
        if here in ENTRIES:
            continue
        below = {*ORDER[: ORDER.index(here)], here}
        for above in sorted({name for name in map(part, imports(file)) if name} - below):
            yield f"{path_of(file)} imports {above}, which the list in the docstring of attention has later"
        for name in sorted({name for name in imports(file) if name == "attention" or name in PUBLIC}):
            if here != "ui":
                yield f"{path_of(file)} imports {name} from the package; name the module"


def test_imports_run_downwards_within_ui():
    assert_none(upward_imports_of_ui())


def upward_imports_of_ui() -> Iterator[str]:
    for file in FILES:
        if not file.is_relative_to(UI):
            continue
        here = home(file, UI)
        below = {*UI_ORDER[: UI_ORDER.index(here)], here} if here in UI_ORDER else set()
        for above in sorted(set(parts_of_ui(file)) - below):
            yield f"{path_of(file)} imports {above}, which the list in the docstring of attention.ui has later"


def parts_of_ui(file: Path) -> Iterator[str]:
    """The parts of `attention.ui` that a file imports, also within a function."""
    for node in nodes(file):
        if isinstance(node, ast.ImportFrom) and node.module == "attention.ui":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attention.ui."):
            yield (node.module or "").split(".")[2]


def test_there_are_no_import_cycles():
    arrows = {name: imported_modules(file) for name, file in MODULES.items() if file.name != "__init__.py"}
    assert circles(arrows) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert_none(imports_of_own_package(arrows))
    found = house.numbers(ROOT)
    assert (found["in an import cycle"], found["packages of ui in an import cycle"]) == (0, 0)


def test_no_module_of_the_server_is_imported_by_what_it_imports_while_it_runs():
    """The server imports the package by `import_module`, once somebody has come; these imports count here."""
    arrows = {name: modules_named_in(file) & MODULES.keys() - {name} for name, file in MODULES.items()}
    arrows = {name: found for name, found in arrows.items() if MODULES[name].stem not in ENTRIES}
    assert "attention.ui.startup" in arrows["attention.serving.startup"]
    assert "attention.serving.uploads" in arrows["attention.ui.budget"]
    arrows = {name: found & arrows.keys() for name, found in arrows.items()}
    assert [name for name in circles(arrows) if name.startswith("attention.serving.")] == []


def modules_named_in(file: Path) -> set[str]:
    """The modules that a file imports, by a statement or by `import_module` with a text."""
    called = [node for node in nodes(file) if isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func)]
    texts = [name.value for node in called for name in node.args[:1] if isinstance(name, ast.Constant)]
    froms = [node for node in nodes(file) if isinstance(node, ast.ImportFrom)]
    return {
        *imports(file),
        *map(str, texts),
        *(f"{node.module}.{alias.name}" for node in froms for alias in node.names),
    }


def imports_of_own_package(arrows: dict[str, set[str]]) -> Iterator[str]:
    packages = {name for name, file in MODULES.items() if file.name == "__init__.py"} - {"attention"}
    for name, found in arrows.items():
        if name.rpartition(".")[0] in found & packages:
            yield f"{name} imports the __init__ of its own package"


def test_the_session_has_one_key_besides_widgets():
    assert house.numbers(ROOT)["session keys"] == 1


@pytest.mark.extended
def test_every_module_can_be_imported_first():
    """In one process, from what the public names import each time: a notebook may begin with any module."""
    code = (
        "import sys, importlib, importlib.machinery\n"
        "from attention import *\n"
        "first = set(sys.modules)\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(name)\n"
        "    for known in [known for known in sys.modules if known not in first and known.startswith('attention.')]:\n"
        "        parent, _, child = known.rpartition('.')\n"
        "        vars(sys.modules.get(parent, importlib.machinery)).pop(child, None)\n"
        "        del sys.modules[known]\n"
    )
    names = [name for name in sorted(MODULES) if not name.endswith("__main__")]
    done = subprocess.run([sys.executable, "-c", code, *names], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-1000:]


def test_a_package_names_its_modules():
    """In the first lines of its `__init__`, so that a reader finds any line in three looks."""
    assert_none(unnamed_modules())


def unnamed_modules() -> Iterator[str]:
    for file in FILES:
        if file.name == "__init__.py" and file.parent.parent in (PACKAGE, UI) and file.parent.name not in UNLISTED:
            text = ast.get_docstring(parse_file(file)) or ""
            names = {other.stem for other in file.parent.glob("[a-z]*.py") if not names_module(text, other.stem)}
            names -= set(UI_ORDER) if file.parent == UI else set()  # these are in its list
            yield from (f"the docstring of {path_of(file)} does not name {name}" for name in sorted(names))


def names_module(text: str, name: str) -> bool:
    """Does a docstring name a module, in a sentence or in a list?"""
    return f"`{name}`" in text or re.search(rf"^ {{4}}{name} ", text, re.MULTILINE) is not None


def test_a_server_answers_before_scripts_need_their_imports():
    """Importing PyTorch and the pages takes seconds, in which a health check has to be answered."""
    code = (
        "import sys, app; parts = {name.split('.')[1] for name in sys.modules if name.startswith('attention.')};"
        "print(sorted({'torch', 'numpy', 'pandas'} & set(sys.modules) | parts - {'serving', 'streamlit_internals'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr[-1000:]


def test_each_library_has_its_place():
    assert_none(misplaced_libraries())


def misplaced_libraries() -> Iterator[str]:
    for file in FILES:
        libraries = {name.split(".")[0] for name in imports(file)}
        if "streamlit" in libraries and home(file) not in STREAMLIT:
            yield f"{path_of(file)} imports streamlit"
        if home(file) != "charts":
            yield from (f"{path_of(file)} imports {name}" for name in sorted(libraries & {"plotly", "altair"}))


def test_state_and_caches_have_one_owner():
    assert_none(foreign_uses_of_state())


def foreign_uses_of_state() -> Iterator[str]:
    for file in [*FILES, *PAGES, APP]:
        if file.is_relative_to(PACKAGE / "serving") or file.stem == "streamlit_internals":  # sees sessions from outside
            continue
        used = {node.attr for node in nodes(file) if isinstance(node, ast.Attribute)}
        used |= {alias.name for node in nodes(file) if isinstance(node, ast.ImportFrom) for alias in node.names}
        for name in sorted(OWNERS.keys() & used):
            if path_of(file) not in (OWNERS[name], "attention/runtime/result_cache.py"):
                yield f"{path_of(file)} uses {name}, which belongs to {OWNERS[name]}"
        yield from (
            f"{path_of(file)} uses {name}; see attention/runtime/result_cache.py" for name in sorted(UNUSED & used)
        )


def test_only_lanes_wait_for_threads():
    assert_none(foreign_waits())


def foreign_waits() -> Iterator[str]:
    for file in FILES:
        if path_of(file) not in WAITERS:
            for name in sorted(WAITS & names_imported_from(file, THREADING)):
                yield f"{path_of(file)} imports {name}; hand work to a lane, which knows who may wait for whom"


def test_nothing_a_visitor_sends_is_executed():
    assert_none(executions())


def executions() -> Iterator[str]:
    for file in [*FILES, *PAGES, APP]:
        calls = [node for node in nodes(file) if isinstance(node, ast.Call)]
        names = {node.func.id for node in calls if isinstance(node.func, ast.Name)} & FORBIDDEN
        names |= {
            ast.unparse(node.func) for node in calls if isinstance(node.func, ast.Attribute)
        } & FORBIDDEN_ATTRIBUTES
        names |= {keyword.arg for node in calls for keyword in node.keywords if keyword.arg} & {"unsafe_allow_html"}
        names |= {name.split(".")[0] for name in imports(file)} & {"pickle", "shelve", "marshal"}
        yield from (f"{path_of(file)} uses {name}" for name in sorted(names))


def test_nothing_happens_at_import():
    """The top of a module defines, imports and fills tables."""
    assert_none(statements_at_import())


def statements_at_import() -> Iterator[str]:
    for file in FILES:
        for node in parse_file(file).body:
            call = node.value if isinstance(node, ast.Expr) else None
            acts = isinstance(node, (ast.For, ast.While, ast.With, ast.Try))
            if acts or not (call is None or isinstance(call, ast.Constant)):
                yield f"{path_of(file)}:{node.lineno} does something when it is imported"


def test_a_module_says_what_is_in_it():
    for file in FILES:
        first, _, _ = (ast.get_docstring(parse_file(file)) or "").partition("\n\n")
        assert first.endswith((".", ":", "?")), path_of(file)


def test_a_page_defines_nothing_and_is_on_the_menu():
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    for file in [*PAGES, APP]:
        assert not [node for node in nodes(file) if isinstance(node, kinds)], path_of(file)
        assert file == APP or 6 <= len(file.read_text().splitlines()) <= 20, path_of(file)
        assert ast.get_docstring(parse_file(file)), path_of(file)
    assert {page.stem for page in PAGES} == {name for names in GROUPS.values() for name in names}


GUIDES = ("CONTRIBUTING.md", "docs/ARCHITECTURE.md", "docs/EXTENDING.md")
FILE = r"`([\w.*]*/[\w./*]*|\w+\.(?:py|js|css|md))`"  # with its folder, or the name of a file
NAMES = r"((?:`\w+`(?:, | and )?)+) (?:in|of) `([\w/]+\.(?:py|js))`"


def files_of_guide(path: str) -> list[Path]:
    """The files that a guide means: a path in the repository or the package, or the name of a file in the package."""
    found = [file for base in (ROOT, PACKAGE) for end in ("", ".py") for file in base.glob(path.rstrip("/") + end)]
    return found if found or "/" in path else [*PACKAGE.rglob(path)]


def outdated_names(text: str) -> Iterator[str]:
    yield from (f"{path} does not exist" for path in re.findall(FILE, text) if not files_of_guide(path))
    for names, path in re.findall(NAMES, text):
        source = "".join(file.read_text() for file in files_of_guide(path))
        for name in re.findall(r"`(\w+)`", names):
            if not re.search(rf"\b(?:def|class|function|const) {name}\b|^{name}\b.* = ", source, re.MULTILINE):
                yield f"{path} does not define {name}"


@pytest.mark.parametrize("guide", GUIDES)
def test_guides_name_files_that_exist_and_what_these_define(guide):
    assert_none(outdated_names(" ".join((ROOT / guide).read_text().split())))


def test_outdated_names_in_a_guide_are_found():
    text = "`change` and `gone` in `ui/session/page.py`, `MASKS` of `masks.py`, `ui/nowhere` and `session/page.change`"
    expected = [
        "ui/nowhere does not exist",
        "session/page.change does not exist",
        "ui/session/page.py does not define gone",
    ]
    assert [*outdated_names(text)] == expected

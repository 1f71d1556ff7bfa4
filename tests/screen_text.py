"""The words of the screen, read from the source: all string literals, and docs/text.md, which lists them by page.

`python -m tests.screen_text` writes docs/text.md again; a test says if that is due.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from attention.masks import COMBINATIONS, MASKS
from attention.operations.operation import Operation
from attention.operations.table import TABLE
from attention.ui.controls.knobs import SETTINGS
from attention.ui.controls.picture import first_line
from attention.ui.text.terms import TERMS

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs/text.md"
HEAD = """\
# Words of the screen

Every sentence and label that the pages show, for a reviewer. Names in braces are filled in when a page is drawn. Generated from
the source by `python -m tests.screen_text`: change the words there, not here.
"""
SENTENCE = re.compile(
    r"[A-Za-z’'“”]{2,}[,;:.)”*]{0,2} [A-Za-z(“{*]"
)  # two words: no name of a file, a knob or a colour
CODE = re.compile(r"^\s*(import |from |#|<|\.|datum|\\)|[<\\]\w+[ >{]|\) \{|= \(|def |\w\(\w*\)|\b\w+ = ")
PAGES = tuple(sorted(page.stem for page in (ROOT / "pages").glob("*.py")))
OTHERS = {  # what several pages share
    "Controls": "ui/controls/*.py",
    "Jobs, links and messages": "ui/*.py ui/jobs/*.py ui/results/*.py ui/session/*.py serving/*.py",
    "Sources and roles": "sources/*.py heads.py analysis/*.py tables/*.py examples.py",
    "Files and models": "array_files/*.py imported/*.py models/*.py recorded/*.py",
    "Published code": "published/*.py",
    "Timings": "timing/**/*.py",
    "Charts": "charts/*.py",
}


CHOICES = {choice for settings in SETTINGS.values() for knob in settings.knobs.values() for choice in knob.choices}


@cache
def literals(file: Path) -> tuple[tuple[int, str], ...]:
    """The string literals of a module with their lines, without docstrings; a field of a template is the last name in it."""
    return tuple(_literals(ast.parse(file.read_text())))


def _literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    inside |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "key"}
    for node in ast.walk(tree):  # a template comes before its parts
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
        if id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(_part(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _part(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    for each in ast.walk(part):
        if isinstance(each, ast.Attribute | ast.Name):
            return f"{{{each.attr if isinstance(each, ast.Attribute) else each.id}}}"
    return "{}"


def scripts() -> list[Path]:
    """The modules that a browser runs."""
    return sorted((ROOT / "attention/components/browser").glob("**/*.js"))


def browser_literals(file: Path) -> list[str]:
    """The string literals of a module of the browser, without its comments."""
    source = re.sub(r"/\*.*?\*/|^\s*//[^\n]*", "", file.read_text(), flags=re.DOTALL | re.MULTILINE)
    pairs = re.findall(r'"([^"\n]+)"|`([^`]+)`', source)
    return [re.sub(r"\$\{.*?\}", "{}", text) for pair in pairs for text in pair if text]


def browser_sentences(*files: Path) -> list[str]:
    """What a reader sees of some modules of the browser, in markup too, each once."""
    texts = [text for file in files for text in browser_literals(file)]
    markup = (
        part
        for text in texts
        if text.lstrip().startswith("<")
        for part in re.findall(r">([^<>]+)<|(?:aria-\w+|title|placeholder)=\"(.+?)\"", text)
    )
    return _readable([*texts, *(" ".join(part) for part in markup)])


def sentences(*files: Path) -> list[str]:
    """What a reader sees of some modules, each once, in the order of the source."""
    return _readable(text for file in files for _, text in sorted(literals(file)))


def _readable(texts: Iterable[str]) -> list[str]:
    said = (" ".join(text.split()) for text in texts if SENTENCE.search(text) and not CODE.search(text))
    return [text for text in dict.fromkeys(said) if text not in CHOICES]


def _files(patterns: str) -> list[Path]:
    return sorted(file for pattern in patterns.split() for file in (ROOT / "attention").glob(pattern))


def page_files(page: str) -> list[Path]:
    """The modules of a page's views: those that begin with its name."""
    views = _files("ui/text/*.py ui/views/*.py")
    longer = [other for other in PAGES if other != page and other.startswith(page)]
    return [
        file for file in views if file.stem.startswith(page) and not any(file.stem.startswith(each) for each in longer)
    ]


def document() -> str:
    """The text of docs/text.md."""
    own = {page.replace("_", " ").capitalize(): sentences(*page_files(page)) for page in PAGES}
    placed = {file for page in PAGES for file in page_files(page)}
    shared = [file for file in _files("ui/text/*.py ui/views/*.py") if file not in placed and file.name != "terms.py"]
    own["Parts of several pages"] = sentences(*shared)
    own |= {title: sentences(*_files(patterns)) for title, patterns in OTHERS.items()}
    own["Browser"] = browser_sentences(*(file for file in scripts() if file.stem.endswith("_words")))
    own["Terms"] = [f"**{term}**: {meaning}" for term, meaning in TERMS.items()]
    own["Masks"] = [
        f"**{name}**: {first_line(rule)}" for rules in (MASKS, COMBINATIONS) for name, rule in rules.items()
    ]
    own["Steps of a pass"] = [f"**{step.name}**: {text}" for step in TABLE for text in _step(step)]
    for settings in SETTINGS.values():
        knobs = settings.knobs.items()
        own[f"Settings: {settings.called}"] = [f"`{name}` **{knob.label}** {knob.help}" for name, knob in knobs]
    parts = ("\n".join([f"## {title}", "", *(f"- {line}" for line in lines)]) for title, lines in own.items() if lines)
    return "\n".join([HEAD, *(f"{part}\n" for part in parts)])


def _step(step: Operation) -> list[str]:
    return [text for text in (step.title, step.lesson) if isinstance(text, str)]


if __name__ == "__main__":
    FILE.write_text(document())

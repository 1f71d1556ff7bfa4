"""The words of docs/GLOSSARY.md are the words of the code: names, docstrings, comments and documents."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from string import Formatter

import pytest

from attention.ui.controls.knobs import SETTINGS
from attention.ui.text import terms
from tests import screen_text

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*ROOT.glob("attention/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"])
SCRIPTS = sorted((ROOT / "attention/components/browser").glob("**/*.js"))
STYLES = sorted((ROOT / "attention").glob("**/*.css"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *ROOT.glob("docs/*.md")]
HISTORY = {"LOG.md", "GLOSSARY.md"}  # measurements as they were noted, and the list of retired words itself

PARTICIPLES = frozenset(
    [
        "added",
        "answered",
        "arrived",
        "asked",
        "awaited",
        "begun",
        "bound",
        "bounded",
        "brought",
        "called",
        "changed",
        "chosen",
        "closed",
        "compared",
        "computed",
        "counted",
        "created",
        "decided",
        "described",
        "done",
        "drawn",
        "dropped",
        "ended",
        "expected",
        "felt",
        "fitted",
        "followed",
        "found",
        "framed",
        "given",
        "gone",
        "heard",
        "held",
        "hidden",
        "joined",
        "judged",
        "kept",
        "known",
        "left",
        "listed",
        "lit",
        "looked",
        "lost",
        "made",
        "marked",
        "meant",
        "measured",
        "met",
        "moved",
        "named",
        "numbered",
        "offered",
        "opened",
        "padded",
        "passed",
        "picked",
        "pinned",
        "placed",
        "planned",
        "pooled",
        "pressed",
        "printed",
        "raised",
        "read",
        "recorded",
        "refused",
        "returned",
        "rounded",
        "said",
        "saved",
        "scaled",
        "scored",
        "seen",
        "sent",
        "settled",
        "shared",
        "shown",
        "slid",
        "spoken",
        "stacked",
        "started",
        "stopped",
        "stored",
        "stuck",
        "taken",
        "taught",
        "told",
        "traced",
        "tried",
        "turned",
        "unpacked",
        "used",
        "wanted",
        "watched",
        "weighed",
        "worded",
        "worked",
        "written",
    ]
)
PUBLIC = {"pinned"}  # of the object that `attention.show` returns
RETIRED = re.compile(
    r"\b(anew|whoever|whomever|in focus|even shares?|blind rows?|in sight|looks? mostly at|sees no key|what (?:became|becomes|"
    r"came|comes) of|of [\w ]+ aside|lets? go of|nobody|somebody)\b",
    re.IGNORECASE,
)
SCREEN = re.compile(  # retired on the screen alone
    r"\b(looks? (?:mostly )?at|looking at|sees (?:none|every|only itself)|greatest|heaviest|brought|anybody|hands? over|"
    r"as (?:it|they) came|came to nothing|not begun|is no (?:number|file|list|name|text|tensor))\b",
    re.IGNORECASE,
)
LONGEST = 120  # characters of the first line of a module
LABEL, HELP = 28, 200  # labels and help texts have fewer characters


def functions(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


@cache
def parse_file(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def prose(file: Path) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a module, each with its line; nothing of one without a retired word anywhere."""
    source = file.read_text()
    if not RETIRED.search(source):
        return
    for node in ast.walk(parse_file(file)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            yield node.body[0].lineno, ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_no_function_is_named_by_a_participle_alone():
    found = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in SOURCES
        for name in functions(parse_file(file))
        if name.strip("_") in PARTICIPLES and name not in PUBLIC
    ]
    found += [
        f"{file.relative_to(ROOT)}: {name}"
        for file in SCRIPTS
        for name in re.findall(r"function (\w+)\(", file.read_text())
        if name in PARTICIPLES
    ]
    assert found == []


def test_docstrings_and_comments_use_the_words_of_the_glossary():
    found = [
        f"{file.relative_to(ROOT)}:{line}: {match[0]}"
        for file in SOURCES
        for line, text in prose(file)
        for match in RETIRED.finditer(text)
    ]
    for file in [*SCRIPTS, *STYLES]:
        for comment in re.findall(r"/\*.*?\*/|(?<!:)//[^\n]*", file.read_text(), re.DOTALL):
            found += [f"{file.relative_to(ROOT)}: {match[0]}" for match in RETIRED.finditer(comment)]
    assert found == []


@pytest.mark.parametrize("file", [each for each in DOCUMENTS if each.name not in HISTORY], ids=lambda file: file.name)
def test_documents_use_the_words_of_the_glossary(file):
    assert [match[0] for match in RETIRED.finditer(file.read_text())] == []


def test_the_first_line_of_a_module_fits_a_line():
    found = {
        str(file.relative_to(ROOT)): len(first)
        for file in SOURCES
        if len(first := (ast.get_docstring(parse_file(file)) or "").split("\n")[0]) > LONGEST
    }
    assert found == {}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=lambda settings: settings.called)
def test_labels_and_help_texts_of_knobs_are_short(settings):
    for name, knob in settings.knobs.items():
        assert len(knob.label) < LABEL, (name, knob.label)
        assert len(knob.help) < HELP, (name, len(knob.help), knob.help)
        assert not RETIRED.search(f"{knob.label} {knob.help}"), name


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=lambda settings: settings.called)
def test_choices_that_the_screen_names_otherwise_are_choices_and_their_names_differ(settings):
    for name, knob in settings.knobs.items():
        shown = [knob.names.get(choice, choice) for choice in knob.choices]
        assert set(knob.names) <= set(knob.choices), name
        assert len(set(shown)) == len(shown), name
        assert not any(RETIRED.search(each) for each in shown), name


def test_pages_explain_terms_as_the_glossary_does():
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", (ROOT / "docs/GLOSSARY.md").read_text(), re.MULTILINE)
    assert {term: dict(rows).get(term) for term in terms.TERMS} == terms.TERMS
    assert {name for names in terms.PAGES.values() for name in names} == set(terms.TERMS)
    assert set(terms.PAGES) <= {page.stem for page in ROOT.glob("pages/*.py")}


def test_the_screen_uses_the_words_of_the_glossary():
    said = [(file, f"{line}", text) for file in SOURCES for line, text in screen_text.literals(file)]
    said += [(file, "", text) for file in SCRIPTS for text in screen_text.browser_literals(file)]
    found = [
        f"{file.relative_to(ROOT)}:{line}: {match[0]}: {text}"
        for file, line, text in said
        for match in (RETIRED.search(text), SCREEN.search(re.sub(r"\{.*?\}", "", text)))
        if match and " " in text
    ]
    assert found == []


def _templates(value: object) -> Iterator[str]:
    """The texts of a constant of `attention/ui/text`, whether it is one, a list of them or a dictionary."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for each in value.items() for text in _templates(each))
    elif isinstance(value, tuple):
        yield from (text for each in value for text in _templates(each))


TEXTS = {
    file.stem: import_module(f"attention.ui.text.{file.stem}")
    for file in (ROOT / "attention/ui/text").glob("[a-z]*.py")
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_template_formats(name):
    for constant, value in vars(TEXTS[name]).items():
        for template in _templates(value) if constant.isupper() and constant != "PAGES" else ():
            fields = {field for _, field, _, _ in Formatter().parse(template) if field is not None}
            assert all(re.fullmatch(r"[a-z_]+(:\w+)?|", field) for field in fields), (constant, template)
            assert template.count("{") == template.count("}"), (constant, template)


def test_templates_get_the_fields_that_they_name():
    found = []
    for file in (each for each in SOURCES if "ui" in each.parts):
        modules = {alias: TEXTS[name] for alias, name in _imported_texts(parse_file(file))}
        for call in (node for node in ast.walk(parse_file(file)) if isinstance(node, ast.Call)):
            constant = _formatted(call)
            if constant is None or constant[0] not in modules or any(word.arg is None for word in call.keywords):
                continue
            template = getattr(modules[constant[0]], constant[1])
            fields = {field for _, field, _, _ in Formatter().parse(template) if field}
            if fields != {word.arg for word in call.keywords}:
                found.append((f"{file.relative_to(ROOT)}:{call.lineno}", constant[1], fields))
    assert found == []


def _imported_texts(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The modules of texts that a module imports: the name there, and the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "attention.ui.text":
            yield from ((each.asname or each.name, each.name) for each in node.names)


def _formatted(call: ast.Call) -> tuple[str, str] | None:
    """The module and the constant of a call like `text.FINDING.format(…)`."""
    at = call.func
    if not (isinstance(at, ast.Attribute) and at.attr == "format" and isinstance(at.value, ast.Attribute)):
        return None
    module = at.value.value
    return (module.id, at.value.attr) if isinstance(module, ast.Name) else None


def test_no_sentence_is_in_a_view_a_control_or_a_job():
    ui = ROOT / "attention/ui"
    files = sorted(file for part in ("views", "controls", "jobs") for file in (ui / part).glob("*.py"))
    files.append(ui / "predict.py")
    found = [(file.name, text) for file in files for text in screen_text.sentences(file)]
    logged = {"A task failed: %s of %s.", "A survey could not be kept as a file."}
    sentences = [each for each in found if re.search(r"\w{2}\.(\W|$)", each[1]) and each[1] not in logged]
    assert sentences == [], "they belong into attention/ui/text"


NO_WORDS = {  # what browser modules say besides: names that code knows, errors of programmers, and a number's format
    *("label down", "label across", "arrow way", "arrow at-{}", "figcaption b", "figcaption span"),
    *("first half", "second half", "seen row", "seen values", "materialised decode", "Press Enter to apply"),
    *("There is no {} of the kind that is drawn on.", "The browser draws on no canvas.", "{} is not served: {}."),
    *("The template has no value {}.", "Line {} of the template has no //end.", "below {}"),
}
STYLE = re.compile(r"px\b|gradient\(|color-mix\(|\(prefers|sans-serif|, \.axis|svg\.")


def test_no_sentence_is_in_a_browser_module():
    texts = [
        text for file in SCRIPTS if not file.stem.endswith("_words") for text in screen_text.browser_sentences(file)
    ]
    assert {text for text in texts if not STYLE.search(text)} == NO_WORDS, "they belong into <component>_words.js"


def test_the_list_of_all_words_is_up_to_date():
    assert screen_text.FILE.read_text() == screen_text.document(), "python -m tests.screen_text writes it again"

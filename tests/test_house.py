"""The files around the app: what is installed is what is imported, and the colours can be read."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
import tomllib
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from xdist.scheduler import LoadScopeScheduling

from attention.charts import theme
from attention.charts.thumbnail import interpolate, rgb
from benchmarks import __main__ as runner
from tests.browser.journeys import JOURNEYS
from tests.conftest import NUMERIC, group_of
from tests.mutations import MUTANTS
from tests.samples import sampled_places
from tests.test_faults import PARTS

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())


def lightness(color: str) -> float:
    """Relative luminance of #rrggbb, 0 to 1 (WCAG 2.2)."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    """Contrast of two colours, 1 to 21 (WCAG 2.2)."""
    high, low = sorted((lightness(a), lightness(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_black_and_white():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_stands_out(name):
    colors = SETTINGS["theme"][name]
    places = ("backgroundColor", "secondaryBackgroundColor")
    behind = [part[place] for part, place in product((colors, colors["sidebar"]), places)]
    assert min(contrast(colors["textColor"], color) for color in behind) >= 7
    assert min(contrast(colors[accent], color) for accent in ("primaryColor", "linkColor") for color in behind) >= 4.5


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_number_of_a_head_can_be_read_on_the_strongest_colour_of_a_map(name):
    colors, alpha = SETTINGS["theme"][name], theme.OPACITIES[-1]
    behind = bytes.fromhex(colors["backgroundColor"][1:])
    cell = [round(alpha * one + (1 - alpha) * two) for one, two in zip(theme.OLIVE, behind, strict=True)]
    assert contrast(colors["textColor"], f"#{bytes(cell).hex()}") >= 4.5


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_ends_and_the_middle_of_the_colours_of_heads_differ_clearly(name):
    behind = bytes.fromhex(SETTINGS["theme"][name]["backgroundColor"][1:])
    mixed = [
        bytes(round(alpha * one + (1 - alpha) * two) for one, two in zip(theme.OLIVE, behind, strict=True))
        for alpha in theme.OPACITIES
    ]
    assert min(contrast(f"#{one.hex()}", f"#{two.hex()}") for one, two in pairwise(mixed)) >= 1.5


def test_charts_have_the_colours_of_the_heads_and_of_the_weights():
    assert SETTINGS["theme"]["chartCategoricalColors"] == list(theme.HEADS)
    for page, weights in theme.WEIGHTS.items():
        assert SETTINGS["theme"][page]["chartSequentialColors"] == list(weights)
        assert SETTINGS["theme"][page]["backgroundColor"] == weights[0] == theme.NEGATIVE[page][0]
        at = np.array([0, 1, 2, 3, 4, 6, 7, 8, 9, 10]) / 10
        shades = [rgb(color) for color in SETTINGS["theme"][page]["chartDivergingColors"]]
        assert np.abs(interpolate(at, theme.SIGNED[page]) - shades).max() <= 0.5


@pytest.mark.parametrize("colors", [theme.WEIGHTS, theme.NEGATIVE])
def test_weights_are_even_in_lightness_darker_on_a_light_page_and_brighter_on_a_dark_one(colors):
    for page, direction in (("light", -1), ("dark", 1)):
        steps = np.diff([116 * lightness(color) ** (1 / 3) - 16 for color in colors[page]])
        assert (steps * direction > 7).all() and np.ptp(steps) < 2.5
    ends = [[contrast(each[page][-1], "#000000") for each in (theme.WEIGHTS, theme.NEGATIVE)] for page in colors]
    assert all(one == pytest.approx(other, rel=0.05) for one, other in ends), "both signs are as light"


def test_a_visitor_is_neither_counted_nor_shown_tracebacks():
    assert SETTINGS["browser"]["gatherUsageStats"] is False
    assert SETTINGS["client"]["showErrorDetails"] == "none"


OPTIONAL = {"distributed", "anywidget", "traitlets", "IPython"}  # requirements-dask.txt and -notebook.txt have them


# packages by what is imported of them, where that has another name or comes with another package
INSTALLED = {"PIL": "pillow", "starlette": "streamlit", "google": "streamlit"}


def test_what_is_imported_is_installed_in_one_version():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = dict(line.partition(";")[0].split("==") for line in lines if line and not line.startswith("#"))
    assert all(re.fullmatch(r"[0-9.]+", version) for version in pinned.values())
    trees = [ast.parse(path.read_text()) for path in (ROOT / "attention").rglob("*.py")]
    names = {name.partition(".")[0] for tree in trees for node in ast.walk(tree) for name in imported_modules(node)}
    names = {INSTALLED.get(name, name) for name in names}
    assert names - set(sys.stdlib_module_names) - {"attention"} - OPTIONAL <= set(pinned)


def imported_modules(node: ast.AST) -> list[str]:
    """The modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


def test_others_run_the_same_checks():
    """The workflow runs both commands on all versions of Python from the first; pre-commit has the pinned ruff."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    found = re.search(r"python: \[(.+)\]", workflow)
    assert found and found[1].split(", ") == [f'"3.{minor}"' for minor in range(11, 15)]
    assert project["requires-python"] == ">=3.11"
    assert re.findall(r"- run: (make \w+)", workflow) == ["make lint", "make test"]
    (pinned,) = re.findall(r"^ruff==(.+)$", (ROOT / "requirements-dev.txt").read_text(), re.MULTILINE)
    assert f"rev: v{pinned}\n" in (ROOT / ".pre-commit-config.yaml").read_text()


PROGRAMS = [*(ROOT / "benchmarks").glob("[a-z]*.py"), *(ROOT / "benchmarks").glob("*/__main__.py")]


@pytest.mark.parametrize("path", sorted(PROGRAMS), ids=lambda path: str(path.relative_to(ROOT / "benchmarks")))
def test_every_benchmark_can_be_run(path):
    names = path.relative_to(ROOT).with_suffix("").parts
    module = importlib.import_module(".".join(names))
    assert not hasattr(module, "main") or names[1] in runner.NAMES


COPIED = re.compile(r"^COPY (?!--from)(.+) \S+$", re.MULTILINE)


def test_a_container_gets_all_that_the_app_needs():
    """What app.py is started with below tests/test_faults.py, what is copied, and what may be copied, are the same."""
    copied = {name for line in COPIED.findall((ROOT / "Dockerfile").read_text()) for name in line.split()}
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == {*PARTS, "requirements.txt", "README.md", "LICENSE"}, "the last two are part of the package"
    assert {name.partition("/")[0] for name in allowed} == copied
    assert all((ROOT / name).exists() for name in copied | allowed)
    assert "USER lab" in (ROOT / "Dockerfile").read_text()


def test_packages_whose_shapes_are_checked_are_there():
    for name in NUMERIC:
        assert importlib.util.find_spec(f"attention.{name}"), name


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.file)
def test_a_line_that_is_broken_on_purpose_is_there_once(mutant):
    """tests/mutations.py asks whether the suite would notice."""
    assert (ROOT / "attention" / mutant.file).read_text().count(mutant.old) == 1


def test_every_journey_in_a_browser_is_there():
    """Else a test that got another name would silently leave `make test`."""
    for module, names in JOURNEYS.items():
        tree = ast.parse((ROOT / "tests" / "browser" / f"{module}.py").read_text())
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {name.partition("[")[0] for name in names} <= there, module


def test_sampled_cases_are_spread_over_both_lists_of_a_product():
    assert sampled_places(6, 2) == {0, 4}
    places = sampled_places(55, 11)
    assert len(places) == 11 and {at // 5 for at in places} == {*range(11)} and {at % 5 for at in places} == {*range(5)}
    assert sampled_places(3, 9) == {0, 1, 2}


def test_tests_of_a_file_are_one_group_and_all_in_a_browser():
    assert group_of("tests/test_masks.py::test_a_mask[b::c]") == "tests/test_masks.py"
    assert group_of("tests/browser/test_app.py::test_a") == group_of("tests/browser/test_grid.py::test_b")
    assert "_split_scope" in vars(LoadScopeScheduling), "tests/conftest.py replaces this method of xdist"


def test_no_page_draws_a_toast():
    """One that a fragment draws removes the style sheets of the page (docs/LOG.md)."""
    assert [file.name for file in (ROOT / "attention").rglob("*.py") if "st.toast(" in file.read_text("utf-8")] == []

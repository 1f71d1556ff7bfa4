"""The package as pip installs it: what is in the wheel, and that the app runs from it and from an editable install."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import attention
from tests.chromium import launch_browser
from tests.server import ROOT
from tests.visitor import visit_page

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
ADDRESS = re.compile(r"Attention Lab is at (http://127\.0\.0\.1:\d+)")
WHERE = "import attention; print(attention.__file__, attention.__version__)"
HTML = "import sys, torch, attention; print(attention.html(torch.rand(2, 5, 5).softmax(-1), path=sys.argv[1]))"
FOUND = """
from streamlit.components.v2.manifest_scanner import scan_component_manifests
for manifest, root in scan_component_manifests():
    if manifest.name == "attention-lab":
        print(*(each.resolve_asset_root(root) for each in manifest.components))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [*PIP, "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """A folder with the wheel installed, to put on the path before the test environment."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([*PIP, "install", "--no-deps", "--target", str(folder), str(wheel)], check=True, capture_output=True)
    return folder


def run_python(folder: Path, cwd: Path, *arguments: str) -> str:
    """What Python prints in another folder, with one folder on its path."""
    env = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-P", *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=True).stdout


@contextmanager
def start_app(folder: Path, cwd: Path, *arguments: str) -> Iterator[str]:
    """The address of an app that `python -m attention` has started from a folder on the path."""
    env = os.environ | {"PYTHONPATH": str(folder), "HOME": str(cwd)}
    command = [sys.executable, "-P", "-m", "attention", "--port", "0", "--no-browser", *arguments]
    app = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert app.stdout
        lines = iter(app.stdout.readline, "")
        yield next(found[1] for line in lines if (found := ADDRESS.search(line)))
        os.killpg(app.pid, signal.SIGINT)
        app.stdout.read()
        assert app.wait(60) == 0
    finally:
        app.kill()


def test_a_wheel_has_the_app_and_its_data_and_no_other_module(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {
        "attention",
        f"attention_lab-{attention.__version__}.dist-info",
    }
    tracked = subprocess.run(["git", "ls-files", "attention"], cwd=ROOT, capture_output=True, text=True, check=True)
    pages = {f"attention/app/pages/{page.name}" for page in (ROOT / "pages").glob("*.py")}
    app = {"attention/app/app.py", "attention/app/.streamlit/config.toml", "attention/pyproject.toml"}
    inside = {name for name in names if name.startswith("attention/")}
    assert inside == {*tracked.stdout.split(), *pages, *app}


@pytest.mark.extended
def test_an_installed_package_runs_from_its_own_files(installed, tmp_path):
    file, version = run_python(installed, tmp_path, "-c", WHERE).split()
    assert Path(file) == installed / "attention" / "__init__.py" and version == attention.__version__
    page = Path(run_python(installed, tmp_path, "-c", HTML, str(tmp_path / "heads.html")).strip())
    assert "<script" in page.read_text()
    assert run_python(installed, tmp_path, str(installed / "bin" / "attention-lab"), "--version") == (
        f"attention-lab {attention.__version__}\n"
    )


@pytest.mark.extended
def test_streamlit_finds_the_components_of_a_wheel(installed, tmp_path):
    roots = set(run_python(installed, tmp_path, "-c", FOUND).split())
    assert roots == {str(installed / "attention" / "components" / "browser")}


@pytest.mark.extended
def test_an_installed_app_draws_its_grid(installed, tmp_path):
    with start_app(installed, tmp_path) as url, launch_browser() as browser:
        page = browser.new_page()
        page.goto(f"{url}/heads")
        page.wait_for_selector('[data-testid="heads-grid"] canvas', timeout=60_000)
        loaded = page.evaluate("performance.getEntriesByType('resource').map(each => each.name)")
    assert any("attention-lab.heads_grid/streamlit/heads_grid.js" in name for name in loaded)


def test_an_editable_install_runs_the_checkout(tmp_path):
    """Its metadata are in another folder than its code, so Streamlit's search does not find the components."""
    folder = tmp_path / "editable"
    command = [*PIP, "install", "--no-deps", "--no-build-isolation", "--target", str(folder), "--editable", str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    site = f"import site; site.addsitedir({str(folder)!r}); "
    assert run_python(folder, tmp_path, "-c", site + WHERE).split()[0] == str(ROOT / "attention" / "__init__.py")


@pytest.mark.extended
def test_a_file_is_opened_from_the_command_line(installed, tmp_path):
    import torch

    from attention.array_files.safe_file import write_safetensors

    (tmp_path / "heads.safetensors").write_bytes(write_safetensors({"weights": torch.rand(2, 4, 5, 5).softmax(-1)}, {}))
    with start_app(installed, tmp_path, "heads.safetensors") as url:
        found = asyncio.run(visit_page(url, "", "your_data"))
    assert not found.errors and found.shows["source"].endswith(":heads.safetensors")


@pytest.mark.extended
def test_it_is_installed_in_a_fresh_environment_with_all_it_needs(wheel, tmp_path):
    """Nothing of the test environment is there; versions are those of requirements.txt, to take none that is untested."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python, env = str(tmp_path / "venv" / "bin" / "python"), {**os.environ, "PYTHONPATH": ""}
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", "install"]

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(*pip, "--constraint", str(ROOT / "requirements.txt"), str(wheel))
    assert (
        run(str(tmp_path / "venv" / "bin" / "attention-lab"), "--version") == f"attention-lab {attention.__version__}\n"
    )
    file, version = run(python, "-c", WHERE).split()
    assert Path(file).is_relative_to(tmp_path / "venv") and version == attention.__version__
    assert "<script" in Path(run(python, "-c", HTML, str(tmp_path / "heads.html")).strip()).read_text()
    run(python, "-m", "pip", "check")


def test_every_public_name_has_a_home():
    assert sorted(attention.__all__) == sorted({*attention._HOMES, "trace"})
    for name in attention.__all__:
        assert callable(getattr(attention, name))


def test_the_ranges_of_the_package_allow_what_servers_run():
    """requirements.txt has the versions that were tested; each package of it is a dependency with a range around that version."""
    from packaging.requirements import Requirement

    ranges = {one.name: one for one in map(Requirement, PROJECT["project"]["dependencies"])}
    extras = PROJECT["project"]["optional-dependencies"]
    ranges |= {one.name: one for names in extras.values() for one in map(Requirement, names)}
    for file in ("requirements.txt", "requirements-dask.txt", "requirements-models.txt", "requirements-notebook.txt"):
        for line in (ROOT / file).read_text().splitlines():
            if line and not line.startswith(("#", "-r")):
                pinned = Requirement(line)
                (version,) = pinned.specifier
                assert ranges[pinned.name].specifier.contains(version.version), line

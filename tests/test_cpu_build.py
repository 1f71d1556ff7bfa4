"""The build of torch for CPUs is chosen as docs/HOSTING.md and the Dockerfile have it; two folders stand for the indexes."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.server import ROOT

INDEX = "https://download.pytorch.org/whl/cpu"
PIN = next(line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith("torch=="))
VERSION = PIN.removeprefix("torch==")

# Not asked of the import system: setuptools takes whoever looks for pip there for pip itself, and lets go of its distutils.
PIP = any(each.metadata["Name"] == "pip" for each in distributions())
pytestmark = pytest.mark.skipif(not PIP, reason="an environment without pip")


def index(folder: Path, version: str) -> str:
    """The address of a folder that is an index with one version of torch, which is empty."""
    place, about = folder / "torch", f"torch-{version}.dist-info"
    place.mkdir(parents=True)
    wheel = place / f"torch-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")
    (place / "index.html").write_text(f'<a href="{wheel.name.replace("+", "%2B")}">{wheel.name}</a>')
    return folder.as_uri()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("way", ["requirements", "container", "neither"])
def test_the_pin_takes_the_build_for_cpus_where_its_index_is_named(tmp_path, way):
    usual, cpu = index(tmp_path / "usual", VERSION), index(tmp_path / "cpu", f"{VERSION}+cpu")
    asked = tmp_path / "requirements.txt"
    asked.write_text(PIN)
    if way == "requirements":
        (line,) = re.findall(rf"^    (--\S+) {re.escape(INDEX)}$", (ROOT / "docs/HOSTING.md").read_text(), re.MULTILINE)
        asked.write_text(f"{line} {cpu}\n{PIN}\n")
    if way == "container":
        said = (ROOT / "Dockerfile").read_text()
        assert f"ARG TORCH_INDEX={INDEX}\n" in said
        assert """--index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)" \\""" in said
    first = cpu if way == "container" else usual
    pip = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "download", "--no-deps", "-q"]
    subprocess.run([*pip, "--index-url", first, "-d", tmp_path / "got", "-r", asked], check=True, timeout=60)
    (got,) = (tmp_path / "got").iterdir()
    assert got.name.split("-")[1] == (VERSION if way == "neither" else f"{VERSION}+cpu")


def test_the_build_for_cpus_is_what_the_pin_asks_for_and_stays():
    """The container then installs all other pins, which leaves it in its place."""
    assert Requirement(PIN).specifier.contains(f"{VERSION}+cpu")

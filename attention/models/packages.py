"""The libraries that models need and the app does not: which are missing, and what to do about it."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from types import ModuleType

NEEDED = ("transformers", "safetensors", "tokenizers", "huggingface_hub")
INSTALL = "pip install -r requirements-models.txt"


class ModelError(RuntimeError):
    """A model can't be had or can't be shown; the text is a sentence for whoever asked for it."""


def missing() -> tuple[str, ...]:
    """The libraries that are not installed; nothing is imported to know that."""
    return tuple(name for name in NEEDED if find_spec(name) is None)


def library(name: str) -> ModuleType:
    """A library by its name, imported now; raises ModelError where it is missing or does not fit the others."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ModelError(f"The library {name} can't be used here ({error}). Try: {INSTALL}") from error

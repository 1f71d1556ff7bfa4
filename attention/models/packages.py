"""The libraries that models need and the app does not: which are missing, and how to install them."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from types import ModuleType

NEEDED = ("transformers", "safetensors", "tokenizers", "huggingface_hub")
OWN_NEEDED = ("tokenizers",)  # by MiniLM and SmolLM2, which `own_models` runs
INSTALL = "pip install -r requirements-models.txt"


class ModelError(RuntimeError):
    """A model can't be loaded or can't be shown; the message is a sentence for the user."""


def missing(needed: tuple[str, ...] = NEEDED) -> tuple[str, ...]:
    """Returns those of some libraries that are not installed, without importing anything."""
    return tuple(name for name in needed if find_spec(name) is None)


def library(name: str) -> ModuleType:
    """Imports a library by name; raises ModelError if it is missing or does not fit the others."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ModelError(f"The library {name} can't be used here ({error}). Try: {INSTALL}") from error

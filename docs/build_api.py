"""Builds the reference of the public names from their docstrings: `make docs`, or `python -m docs.build_api FOLDER`."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path

import pdoc

import attention

PUBLIC = {  # the public names of modules that are used by their own names
    "attention.codec": ["from_query", "link", "to_query"],
    "attention.heads": ["Profile", "profile"],
    "attention.masks": ["MASKS", "Rule", "rule"],
    "attention.published": ["ROWS", "Row"],
    "attention.timing": ["Sweep", "Timing", "measure"],
}


def build(folder: Path) -> None:
    """Writes the pages into a folder; `index.html` is the first."""
    for name in attention.__all__:  # found on first use otherwise, which pdoc does not know
        vars(attention)[name] = getattr(attention, name)
    for module, names in PUBLIC.items():
        vars(import_module(module))["__all__"] = names
    pdoc.render.configure(docformat="markdown", footer_text=f"Attention Lab {attention.__version__}", show_source=False)
    # The constructor of a named tuple has no module in which pdoc could look up its annotations.
    warnings.filterwarnings("ignore", r"Error parsing type annotation .* for attention\.Attention\.__init__")
    pdoc.pdoc("attention", "!attention.trace", *PUBLIC, output_directory=folder)  # attention.trace is the function


if __name__ == "__main__":
    build(Path(sys.argv[1]))

"""Where attention comes from, beside the title of every page: nobody shall take random weights for learned ones."""

from __future__ import annotations

from attention.config import Config
from attention.sources.providers import label, provenance
from attention.ui.markdown import escape

COLORS = {"constructed by hand": "blue", "random, untrained": "orange", "no maps, nothing learned": "gray"}


def beside(config: Config) -> str:
    """What follows a title: a word or two in a frame, as markdown."""
    found = label(config)
    return f":{COLORS.get(found, 'green')}-badge[{escape(found)}]"


def full_text(config: Config) -> str:
    """All of it, as the help of a title."""
    return escape(provenance(config))

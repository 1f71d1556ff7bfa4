"""Where attention comes from, next to every title: random weights must not be mistaken for learned ones."""

from __future__ import annotations

from attention.config import Config
from attention.fitting import training_steps
from attention.knobs import GENERATED
from attention.sources.providers import label, provenance, source_title
from attention.ui.markdown import escape

COLORS = {"hand-built, not learned": "blue", "random, untrained": "orange", "no projections": "gray"}


def beside(config: Config) -> str:
    """The badge that follows a title, as Markdown: how the weights were made and, if they came from elsewhere, their source."""
    found = label(config)
    when = f", after {config.training_step:,} steps" if len(training_steps(config.source)) > 1 else ""
    which = f" · {source_title(config.source)}" if config.source != GENERATED else ""
    return f":{COLORS.get(found, 'green')}-badge[{escape(f'{found[:1].upper()}{found[1:]}{when}{which}')}]"


def full_text(config: Config) -> str:
    """The full provenance, as the help text of a title."""
    return escape(provenance(config))

"""Where attention comes from, next to every title: random weights must not be mistaken for learned ones."""

from __future__ import annotations

from attention.config import Config
from attention.fitting import source_defaults, training_steps
from attention.knobs import DEFAULTS, GENERATED, TRAINED
from attention.sources.providers import idle, label, provenance, source_title
from attention.ui.markdown import escape

COLORS = {"hand-built, not learned": "blue", "random, untrained": "orange", "no projections": "gray"}
CHANGED = "{source}, but {settings}: not as the model computes it"


def beside(config: Config) -> str:
    """The badge that follows a title, as Markdown: how the weights were made and, if they came from elsewhere, their source."""
    if changed := changed_settings(config):
        said = CHANGED.format(
            source=source_title(config.source), settings=", ".join(f"{name} {value}" for name, value in changed.items())
        )
        return f":orange-badge[{escape(said)}]"
    found = label(config)
    when = f", after {config.training_step:,} steps" if len(training_steps(config.source)) > 1 else ""
    which = f" · {source_title(config.source)}" if config.source != GENERATED else ""
    return f":{COLORS.get(found, 'green')}-badge[{escape(f'{found[:1].upper()}{found[1:]}{when}{which}')}]"


def changed_settings(config: Config) -> dict[str, str]:
    """The mask, scale and temperature of a recorded head that are not those of its model, each with its value, by name."""
    if config.source.partition(":")[0] not in ("recorded", TRAINED):
        return {}
    own = DEFAULTS | source_defaults(config.source, config.layer)
    shown = {"mask": config.rule_name, "scale": config.scale, "temperature": f"{config.temperature:g}"}
    is_own = {name: getattr(config, name) == own[name] for name in shown}
    is_own["mask"] &= config.combine == own["combine"]
    return {name: value for name, value in shown.items() if not is_own[name] and not idle(name, config)}


def full_text(config: Config) -> str:
    """The full provenance, as the help text of a title."""
    return escape(provenance(config))

"""Where attention comes from, next to every title: random weights must not be mistaken for learned ones."""

from __future__ import annotations

import re
from dataclasses import replace

from attention.config import Config
from attention.fitting import source_defaults, training_steps
from attention.knobs import DEFAULTS, GENERATED, TRAINED
from attention.sources.providers import idle, label, provenance, source_title
from attention.ui.markdown import escape

COLORS = {
    "hand-built, not learned": "blue",
    "random, untrained": "orange",
    "not trained yet": "orange",
    "no projections": "gray",
}
CHANGED = "{source}, but {settings}: not as the model computes it"

OWN = "Trained here: "  # in the title of a source whose badge says so
MADE_BY = re.compile(r" Made: python -m [\w.]*\w(?:; (\w)|\.)")
# The settings with which a recorded head is computed from its queries and keys.
SCORED = "mask", "scale", "temperature", "positions", "softcap", "softmax", "qk_norm", "query_scale"
OF_MODELS = "recorded", TRAINED, "model"  # kinds of sources; the last was run here
SCORED_NAMES = {"qk_norm": "QK-norm", "query_scale": "query scale"}


def beside(config: Config) -> str:
    """The badge that follows a title, as Markdown: how the weights were made and, if they came from elsewhere, their source."""
    if changed := changed_settings(config):
        said = CHANGED.format(
            source=source_title(config.source), settings=", ".join(f"{name} {value}" for name, value in changed.items())
        )
        return f":orange-badge[{escape(said)}]"
    found = label(config)
    when = f", after {config.training_step:,} steps" if len(training_steps(config.source)) > 1 else ""
    name = source_title(config.source).removeprefix(OWN)
    which = f" · {name}" if config.source != GENERATED else ""
    return f":{COLORS.get(found, 'green')}-badge[{escape(f'{found[:1].upper()}{found[1:]}{when}{which}')}]"


def changed_settings(config: Config) -> dict[str, str]:
    """The settings of a head of a trained model, as its mask, that are not those of its model, each with its value, by name."""
    if config.source.partition(":")[0] not in OF_MODELS:
        return {}
    own = DEFAULTS | source_defaults(config.source, config.layer)
    is_own = {name: getattr(config, name) == own[name] for name in SCORED}
    rule = config.rule_name
    if is_own["mask"] and config.combine == own["combine"] and config.second in (own["second"], DEFAULTS["second"]):
        is_own["mask"] = not config.rule.span or config.span == own["span"]
        rule = f"{rule} with span {config.span}"
    else:
        is_own["mask"] = False
    shown = {"mask": rule} | {name: _value_text(getattr(config, name)) for name in SCORED[1:]}
    return {
        SCORED_NAMES.get(name, name): value
        for name, value in shown.items()
        if not is_own[name] and not idle(name, config)
    }


def own_settings(config: Config) -> Config:
    """The same heads with the mask, scale and other settings of their model."""
    own = DEFAULTS | source_defaults(config.source, config.layer)
    return replace(config, **{name: own[name] for name in (*SCORED, "combine", "second", "span")})


def _value_text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def full_text(config: Config) -> str:
    """The full provenance, as the help text of a title; without the command that makes the file, which is for developers."""
    return escape(MADE_BY.sub(lambda found: f" {found[1].upper()}" if found[1] else "", provenance(config)))

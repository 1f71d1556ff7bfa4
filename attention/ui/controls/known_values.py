"""The values of a link that the core does not check: those of implementations and of head statistics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from attention.analysis.head_numbers import EVERY
from attention.config import Config
from attention.fitting import check
from attention.knobs import DEFAULTS, KINDS, KNOBS
from attention.published import HUNTS, ROWS, link_name
from attention.settings import ConfigError


def with_known_values(config: Config, query: Mapping[str, Any]) -> tuple[Config, list[str]]:
    """Replaces unknown implementations and head statistics, which the core does not check, by defaults, with messages.

    Links that ask for a bug open the page Find the bug (`serving/moved_links.py`); the others name an implementation.
    """
    notes = []
    for name, known in KNOWN.items():
        try:
            known(getattr(config, name))
        except ConfigError as error:
            config = replace(config, **{name: DEFAULTS[name]})
            notes.append(str(error))
    return replace(config, implementation=link_name(config.implementation, asked=False), bug="off"), notes


def _among(name: str, *choices: str, others: Collection[str] = ()) -> Callable[[str], None]:
    """Returns a check that raises ConfigError for a value that is neither a choice nor one of the unlisted `others`."""
    knob = replace(KNOBS[name], choices=choices)
    return lambda value: None if value in others else check(name, value, knob)


KNOWN: dict[str, Callable[[str], None]] = {  # raises ConfigError for an unknown value
    "implementation": _among("implementation", *ROWS, others=HUNTS),
    "layer_map": _among("layer_map", DEFAULTS["layer_map"], KINDS, *EVERY),
    "across": _among("across", DEFAULTS["across"], *EVERY),
    "upwards": _among("upwards", DEFAULTS["upwards"], *EVERY),
}

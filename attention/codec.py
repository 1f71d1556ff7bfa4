"""Config <-> URL query. Pure, and never raises on a stranger's text.

A link names the knobs that differ from their defaults by their own names. A value that can't be used leaves the default
in place; values that don't fit together are moved to the nearest that do. Either way a note says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from attention.config import DEFAULTS, KNOBS, Config, ConfigError, check, decided, defaults, fitted, misfit, short

WHOLE = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
REAL = re.compile(r"[+-]?([0-9]{1,9}\.?[0-9]{0,20}|\.[0-9]{1,20})(e[+-]?[0-9]{1,3})?", re.ASCII | re.IGNORECASE)


def to_query(config: Config) -> dict[str, str]:
    """The knobs that differ from their defaults, as text; `from_query` gives the same config back."""
    plain = defaults(config.source)
    return {name: str(value) for name, value in vars(config).items() if value != plain[name]}


def link(config: Config) -> str:
    """The query string of a config, without its question mark: what follows `?` in the address bar."""
    return urlencode(to_query(config))


def from_query(mapping: Mapping[str, str | Sequence[str]]) -> tuple[Config, list[str]]:
    """The config that a query describes, and a sentence for each thing in it that could not be used.

    Unknown names, values that are no number, out of range or none of the choices are ignored. A name given twice counts
    the last time. Never raises.
    """
    named, notes = {}, []
    for name, given in mapping.items():
        try:
            named[name] = _value(name, given)
        except ConfigError as error:
            notes.append(str(error))
    values = defaults(named.get("source", DEFAULTS["source"])) | named
    notes += _ignored(values, named)
    config, moved = fit(values)
    return config, notes + moved


def fit(values: Mapping[str, Any]) -> tuple[Config, list[str]]:
    """The nearest valid config to values that are each allowed by themselves, and what was moved."""
    fitting = fitted(dict(values))
    known = decided(values["source"])  # a page shows these as they are, whatever was asked for
    moved = [name for name, value in fitting.items() if value != values[name] and name not in known]
    moved = [name for name in moved if not _whole(values, name)]
    notes = [f"{misfit(dict(values), name)}: {name} moved to {_said(fitting[name])}." for name in moved]
    return Config(**fitting), notes


def _ignored(values: Mapping[str, Any], named: Mapping[str, Any]) -> list[str]:
    """A sentence for each knob that a link names and its source decides."""
    known = decided(values["source"])
    lost = [name for name in named if name in known and named[name] != known[name]]
    return [f"{name}={short(named[name])}: {misfit(dict(values), name)}; it was ignored." for name in lost]


def _whole(values: Mapping[str, Any], name: str) -> bool:
    """Is it the range of all tokens, spelled out?"""
    return name in ("rows", "cols") and values[name] == f"0-{values['tokens'] - 1}"


def _said(value: Any) -> Any:
    return "all" if value == "" else value


def _value(name: str, given: str | Sequence[str]) -> Any:
    """The value of one entry of a query; raises ConfigError on whatever is not one."""
    if name not in KNOBS:
        raise ConfigError(f"{short(name)} is not a setting of this app; it was ignored.")
    text = given[-1] if isinstance(given, (list, tuple)) and given else given
    if not isinstance(text, str):
        raise ConfigError(f"{name}={short(text)} is not text, as values in a link are.")
    value = _parsed(name, text)
    check(name, value if value is not None else text)
    return value


def _parsed(name: str, text: str) -> Any:
    """Text as the kind of the knob's default, None where it is not one; choices ignore capital letters."""
    default, choices = DEFAULTS[name], KNOBS[name].choices
    if choices:
        alike = [choice for choice in choices if choice.casefold() == text.casefold()]
        return text if text in alike else next(iter(alike), None)
    if isinstance(default, str):
        return text
    if isinstance(default, float):
        return float(text) if REAL.fullmatch(text) and math.isfinite(float(text)) else None
    return int(text) if WHOLE.fullmatch(text) else None

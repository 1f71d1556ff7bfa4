"""Conversion between a config and a URL query (attention/settings.py). Never raises, whatever the query.

To change a default, add its old value to every edition in EDITIONS, and append an empty edition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attention.config import Config
from attention.fitting import coerce, fixed_by_source, source_defaults, why_invalid
from attention.settings import Settings
from attention.summary import short

# Old defaults, from the first edition on, if they have changed since. The fourth has those of the third: since then pages begin
# with a picture of their own where a link is empty.
EDITIONS: tuple[dict[str, Any], ...] = (
    {"projections": "tied", "colors": "linear", "step": "scores"},
    {"step": "scores"},
    {},
    {},
)
RENAMED = {"layers": "depth"}  # knobs by old names that links may still have


def fit_values(values: Mapping[str, Any]) -> tuple[Config, list[str]]:
    """Returns the nearest valid config to values that are each allowed by themselves, and notes on what was moved."""
    fitting = coerce(dict(values))
    known = fixed_by_source(values["source"])  # shown as the source has them, whatever was requested
    moved = [name for name, value in fitting.items() if value != values[name] and name not in known]
    moved = [name for name in moved if not _whole(values, name)]
    notes = [f"{why_invalid(dict(values), name)}: {name} moved to {_format_value(fitting[name])}." for name in moved]
    return Config(**fitting), notes


def _source_defaults_of(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the defaults of a source."""
    return source_defaults(values["source"], values.get("layer"))


def _ignored_knobs(values: Mapping[str, Any], named: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each knob that a link names although the source determines it."""
    known = fixed_by_source(values["source"])
    lost = [name for name in named if name in known and named[name] != known[name]]
    return [f"{name}={short(named[name])}: {why_invalid(dict(values), name)}; it was ignored." for name in lost]


CONFIGS = Settings(
    Config,
    "this app",
    nearest=fit_values,
    editions=EDITIONS,
    renamed=RENAMED,
    derived_defaults=_source_defaults_of,
    refused=_ignored_knobs,
)
NEWEST = CONFIGS.newest


def to_query(config: Config) -> dict[str, str]:
    """Returns the knobs that differ from their defaults, as text; `from_query` returns the same config.

    >>> to_query(attention.Config(mask="window", span=8))
    {'v': '4', 'mask': 'window', 'span': '8'}
    """
    return CONFIGS.to_query(config)


def link(config: Config) -> str:
    """Returns the query string of a config, without its question mark: what follows `?` in the address bar."""
    return CONFIGS.link(config)


def from_query(mapping: Mapping[str, str | Sequence[str]]) -> tuple[Config, list[str]]:
    """Returns the config that a query describes, and a sentence for each part that could not be used. Never raises.

    >>> from_query({"v": "3", "mask": "window", "heads": "many"})
    (Config(mask='window'), ["heads='many' is not a whole number between 1 and 32. The default is 8."])
    """
    return CONFIGS.from_query(mapping)


def _whole(values: Mapping[str, Any], name: str) -> bool:
    """Whether the value is the range of all tokens, spelled out."""
    return name in ("rows", "cols") and values[name] == f"0-{values['tokens'] - 1}"


def _format_value(value: Any) -> Any:
    return "all" if value == "" else value

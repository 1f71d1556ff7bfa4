"""Side A of a comparison: what was pinned, packed as its own link in the knob `against`.

A link on its own names its edition, so it opens the same numbers forever. What both sides share (the selected query, the zoom,
the colours) is that of the current settings; only a head is part of A, if another head than the selected one is compared.
A follows B to another layer if they are two sources with the same layers, as a model before and after a change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from attention.codec import CONFIGS, NEWEST, to_query
from attention.config import Config
from attention.fitting import coerce, layers
from attention.knobs import KNOBS, Numbers
from attention.packed_text import pack_text, unpack_text
from attention.settings import ConfigError

PACKED = int(KNOBS["against"].high or 0)  # characters of a packed link
LARGEST = 16_384  # bytes of the link
NUMBERS = frozenset(field.name for field in fields(Numbers))
HEAD = "head"  # the entry of the link that names another head of A
BROKEN = "The comparison in this link can't be read: part of it is missing or was changed. Ask for the link again."


class Sides(NamedTuple):
    """Two configs that are compared: `a` has the selection and the view of `b`, and its own head if one was pinned.

    `of_head`: whether a single head is compared with another one.
    """

    a: Config
    b: Config
    of_head: bool

    @property
    def heads(self) -> tuple[tuple[int, int], ...] | None:
        """The pair of heads that is compared, of A and of B; None for all heads by their numbers."""
        if self.of_head or self.a.heads != self.b.heads:
            return ((self.a.head, self.b.head),)
        return None


def pin(config: Config, head: int | None = None) -> str:
    """Returns the value of `against` that pins a config as side A, with a head of its own or with the selected one.

    Raises ConfigError if the link is too long.
    """
    query = {name: value for name, value in to_query(config).items() if name in NUMBERS}
    own = {} if head is None else {HEAD: f"{min(head, config.heads - 1)}"}
    return pack_link(query | own)


@lru_cache(maxsize=64)  # called for every message
def _pack(link: str) -> str:
    return pack_text(link)


def pack_link(query: dict[str, str]) -> str:
    """Returns the value of `against` for a link, entry by entry; raises ConfigError if it is too long."""
    code = _pack(urlencode(NEWEST | query))
    if len(code) > PACKED:
        raise ConfigError(
            f"These settings take {len(code):,} characters in a link; at most {PACKED:,} can be compared with."
        )
    return code


@lru_cache(maxsize=64)  # called several times per picture
def unpack_link(code: str) -> dict[str, str]:
    """Returns the entries of a packed link, whatever their names; raises ConfigError for any other code."""
    try:
        found = dict(parse_qsl(unpack_text(code, LARGEST), strict_parsing=True, keep_blank_values=True))
    except ValueError as error:
        raise ConfigError(BROKEN) from error
    if not NEWEST.keys() <= found.keys():
        raise ConfigError(BROKEN)
    return found


def pinned_query(code: str) -> dict[str, str]:
    """Returns the link that was pinned, entry by entry; raises ConfigError for any other code."""
    found = unpack_link(code)
    if not found.keys() <= {*NEWEST, *NUMBERS, HEAD}:
        raise ConfigError(BROKEN)
    return found


def pinned_source(code: str) -> str:
    """Returns the source that a pinned link names, "" if it names none or can't be read."""
    try:
        return pinned_query(code).get("source", "") if code else ""
    except ConfigError:
        return ""


def sides_of(config: Config) -> Sides | None:
    """Returns what a config compares, None if it compares nothing; raises ConfigError if A can't be read or opened."""
    if not config.against:
        return None
    query = pinned_query(config.against)
    found, notes = CONFIGS.from_query(query)
    if notes:
        raise ConfigError(f"Side A of this comparison can't be opened: {notes[0]}")
    head = {HEAD: found.head} if HEAD in query else {}
    own = {name: getattr(found, name) for name in NUMBERS} | head
    a = Config(**coerce(vars(config) | own | {"against": ""}))
    return Sides(a, config, HEAD in query)


def sides_shown(config: Config, side: str, offered: Callable[[Sides], bool]) -> Sides | None:
    """Returns both sides if this way to show them, as "difference", was chosen and is `offered`; None otherwise."""
    sides = sides_of(config) if config.side == side else None
    return sides if sides and offered(sides) else None


def shown_side(config: Config) -> Config:
    """Returns the config of the side that is shown where sides are shown one at a time: A if it was chosen, else B."""
    sides = sides_of(config) if config.side == "a" else None
    return sides.a if sides else config


def follow_layer(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the knob that moves side A to another layer with B, of two sources with the same layers; {} for any other change.

    Within one source A stays: then layers are compared with each other. `before` and `now` are values of knobs.
    """
    layer, same = now["layer"], ("source", "against")
    if layer == before["layer"] or not now["against"] or any(now[name] != before[name] for name in same):
        return {}
    try:
        query = pinned_query(now["against"])
        a = CONFIGS.from_query(query)[0]
    except ConfigError:
        return {}
    known = layers(a.source)
    if a.source == now["source"] or a.layer != before["layer"] or layer not in known or known != layers(now["source"]):
        return {}
    return {"against": pin(a.of_layer(layer), a.head if HEAD in query else None)}


def exchange(config: Config) -> dict[str, object]:
    """Returns the knobs that exchange both sides of a comparison: A becomes current, and the current settings are pinned."""
    sides = sides_of(config)
    if sides is None:
        return {}
    numbers = {name: getattr(sides.a, name) for name in NUMBERS}
    head = config.head if sides.of_head else None
    return numbers | {HEAD: sides.a.head, "against": pin(config, head)}


def differing_knobs(sides: Sides) -> dict[str, tuple[object, object]]:
    """Returns the knobs that change numbers and differ between both sides, with the values of A and B."""
    both = {name: (getattr(sides.a, name), getattr(sides.b, name)) for name in KNOBS if name in NUMBERS}
    return {name: values for name, values in both.items() if values[0] != values[1]}

"""What belongs to one kind of settings: how it goes into links and widgets, and its sidebar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from attention.settings import ConfigError, Settings
from attention.ui.question_codec import decode

S = TypeVar("S")
Change = Callable[..., None]
Stops = dict[str, tuple[Any, ...]]  # of each slider whose stops change; and the sources that this visit has brought


def _as_it_is(setting: Any, query: Mapping[str, Any]) -> tuple[Any, list[str]]:
    return setting, []


def _readable(setting: Any) -> tuple[Any, list[str]]:
    """The same without a question that can't be read, and a sentence where it had one."""
    try:
        if getattr(setting, "ask", ""):
            decode(setting.ask)
    except ConfigError as error:
        return replace(setting, ask=""), [str(error)]
    return setting, []


def _whole(setting: Any) -> tuple[Any, str]:
    return setting, ""


def _no_more(before: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    return {}, []


def _nothing(setting: Any) -> int:
    return 0


def _no_stops(setting: Any, last: Any, before: Stops | None) -> Stops:
    return {}


@dataclass(frozen=True, eq=False)
class Kind(Generic[S]):
    """One kind of settings as a page has it.

    `draw` draws a widget for each knob of `names`, with its stops and what it calls when somebody has moved it; `look` is
    whatever else of the settings that shows. `opened`: what becomes on this host of what a query has opened, and a sentence
    for each thing that it can't be. `shown`: as much of it as a page shows that can't show any length, and a sentence where
    that is less; `takes`: bytes that a view of that needs while it is drawn. `stops`: those of sliders, for settings, the last
    ones and their stops. `implied`: what else somebody means who has moved widgets, for the values before and those that widgets
    hold now, and a sentence for what can't be had so.
    """

    settings: Settings[S]
    draw: Callable[[S, Stops, Change], None]
    look: Callable[[S], object]
    names: frozenset[str]
    opened: Callable[[S, Mapping[str, Any]], tuple[S, list[str]]] = _as_it_is
    shown: Callable[[S], tuple[S, str]] = _whole
    stops: Callable[[S, S, Stops | None], Stops] = _no_stops
    takes: Callable[[S], int] = _nothing
    implied: Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[dict[str, Any], list[str]]] = _no_more

    @property
    def keys(self) -> frozenset[str]:
        """Those of its widgets."""
        return frozenset(map(self.settings.key, self.names))

    def open(self, query: Mapping[str, Any]) -> tuple[S, list[str]]:
        """The settings that a query describes on this host, and a sentence for each thing in it that could not be used."""
        found, notes = self.settings.from_query(query)
        setting, more = self.opened(found, query)
        setting, unread = _readable(setting)
        return setting, notes + more + unread

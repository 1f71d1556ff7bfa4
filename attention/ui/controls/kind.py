"""One kind of settings: how it maps to links and widgets, and its sidebar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from attention.config import Config
from attention.pinned import sides_of
from attention.settings import ConfigError, Settings
from attention.ui.question_codec import decode

S = TypeVar("S")
Change = Callable[..., None]
READ: dict[str, Callable[[Any], object]] = {  # packed knobs; raises ConfigError for what can't be unpacked
    "ask": lambda setting: decode(setting.ask),
    "against": lambda setting: sides_of(setting) if isinstance(setting, Config) else None,  # elsewhere it is a token
}
# Of each slider whose stops change; the uploaded sources and opened recordings of this visit; the chosen d_model, if it moved.
Stops = dict[str, tuple[Any, ...]]
CHOSEN_WIDTH = "chosen d_model"


def _as_it_is(setting: Any, query: Mapping[str, Any]) -> tuple[Any, list[str]]:
    return setting, []


def _readable(setting: Any) -> tuple[Any, list[str]]:
    """The settings without a question or a comparison that cannot be read, and a message for each."""
    notes = []
    for name, read in READ.items():
        try:
            if getattr(setting, name, ""):
                read(setting)
        except ConfigError as error:
            setting = replace(setting, **{name: ""})
            notes.append(str(error))
    return setting, notes


def _whole(setting: Any) -> tuple[Any, str]:
    return setting, ""


def _no_more(before: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    return {}, []


def _nothing(setting: Any) -> int:
    return 0


def _always() -> bool:
    return True


def _no_stops(setting: Any, last: Any, before: Stops | None) -> Stops:
    return {}


@dataclass(frozen=True, eq=False)
class Kind(Generic[S]):
    """One kind of settings, as a page uses it.

    `draw` draws a widget for each knob of `names`, given the stops of sliders and the callback for changes. `look`
    returns everything else that the sidebar shows of the settings. `opened` adapts what a query has opened to this host,
    and returns a message for each thing that cannot be used. `shown` returns what is shown by a page that cannot show any
    length, and a message if that is only a part. `takes`: bytes that a view of it needs while it is drawn. `stops`: the
    stops of sliders, given the settings, the last ones and their stops. `implied`: the other knobs that a change implies,
    given the values before and those of the widgets now, and a message for each thing that is not possible. `quiet`: knobs
    whose own widget is enough to show that they had to move with another knob, so that no message says it. `begins`: the query
    that a page opens with if no setting was made before, and its link is empty; `is_example`: whether this is an example for
    this page alone, so that other pages open without it; `example_views`: other knobs that belong to it.
    `applies`: whether the settings apply to anything in this visit; if not, the sidebar is closed and has no widget of them.
    `closed`: it is closed until it is opened. `prefix`: with which the keys of the other widgets of its page begin, such as a
    switch of a chart: Reset sets these back as well.
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
    quiet: frozenset[str] = frozenset()
    begins: Mapping[str, str] = field(default_factory=dict)
    is_example: bool = False
    example_views: frozenset[str] = frozenset()
    applies: Callable[[], bool] = _always
    closed: bool = False
    prefix: str = ""

    @property
    def keys(self) -> frozenset[str]:
        """The keys of its widgets."""
        return frozenset(map(self.settings.key, self.names))

    def without_example(self, setting: S) -> S:
        """The settings with the defaults of the knobs of the page's example.

        They stay as they are if what makes the example was changed: its tensors, or all of it if these are the usual ones.
        """
        query, knobs = self.settings.to_query(setting), self.settings.knobs
        tensors = [name for name in self.begins if name in knobs and knobs[name].about == "tensors"]
        same = all(query.get(name) == self.begins[name] for name in tensors or self.begins)
        if not (self.is_example and same):
            return setting
        kept = {name: value for name, value in query.items() if name not in {*self.begins, *self.example_views}}
        return self.open(self.settings.newest | kept)[0]

    def leave_example(self, setting: S) -> tuple[S, bool]:
        """The settings without the page's example, and whether they had it."""
        own = self.without_example(setting)
        return own, own != setting

    def open(self, query: Mapping[str, Any]) -> tuple[S, list[str]]:
        """The settings that a query describes on this host, and a message for each thing in it that could not be used."""
        found, notes = self.settings.from_query(query)
        setting, more = self.opened(found, query)
        setting, unread = _readable(setting)
        return setting, notes + more + unread

"""Settings: validated knobs that a link carries and widgets show. All functions are pure.

To define another kind of settings, write a frozen dataclass whose fields are made by `whole`, `real`, `choice`, `text`
or `axis`, and one `Settings(...)` for it; its `__post_init__` calls the `check` of these for every knob.

A link names the knobs that differ from their defaults. Reading a link never raises, whatever its text: a value that
can't be used leaves the default in place; values that don't fit together are moved to the nearest that do. Either way a
note says so.

Defaults may change without changing what a shared link opens: a link carries the edition of the defaults that it is
based on (`v=2`), and one without is based on the first. To change a default, add its old value to every edition in
`editions`, and append an empty one. The empty link means the newest. Links may still use the old name of a renamed knob
(`renamed`).
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlencode

from attention.summary import readable, short

S = TypeVar("S")
WHOLE = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
REAL = re.compile(r"[+-]?([0-9]{1,9}\.?[0-9]{0,20}|\.[0-9]{1,20})(e[+-]?[0-9]{1,3})?", re.ASCII | re.IGNORECASE)
EDITION, CARD, LESSON = "v", "card", "lesson"  # the entries of a link that are no knobs, on every page
UNDATED = frozenset({"view"})  # knobs by which alone a link is of the newest edition: no older one had them


class ConfigError(ValueError):
    """Raised if a knob has a value that it can't have; the message names it, what is allowed and a way out.

    >>> attention.Config(heads=0)
    Traceback (most recent call last):
        ...
    attention.settings.ConfigError: heads=0 is not a whole number between 1 and 32. The default is 8.
    """


@dataclass(frozen=True)
class Knob:
    """What a knob allows, and its label and help. `about`: what it changes, the tensors, the focus or only the view.

    `names`: what the screen shows for choices whose value in links is another word. `form`: a regular expression that a
    text must match, `formed`: its description. `pages`: where it acts, if not everywhere. `beyond`: for a value that is
    none of the choices, why it is not available; "" if it is, None if it never can be.
    """

    label: str
    help: str
    low: int | float | None = None
    high: int | float | None = None
    choices: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    form: str = ""
    formed: str = ""
    about: str = "tensors"
    pages: tuple[str, ...] = ()
    advanced: bool = False
    beyond: Callable[[Any], str | None] = lambda value: None

    def allows(self, value: Any) -> bool:
        """Whether this value is of the right kind and within the range."""
        if self.choices:
            return (isinstance(value, str) and value in self.choices) or self.beyond(value) == ""
        if self.low is None:
            fits = isinstance(value, str) and len(value) <= (self.high or math.inf) and readable(value)
            return fits and (not self.form or re.fullmatch(self.form, value, re.ASCII) is not None)
        if isinstance(value, bool) or not isinstance(value, int if self.whole else (int, float)):
            return False
        return self.high is not None and self.low <= value <= self.high  # False for NaN

    def check(self, name: str, value: Any, default: Any) -> None:
        """Raises ConfigError unless the knob of this name allows this value."""
        if self.allows(value):
            return
        if why := self.beyond(value):
            raise ConfigError(why)
        near = difflib.get_close_matches(short(value).strip("'"), self.choices, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"The default is {default!r}."
        raise ConfigError(f"{name}={short(value)} is not {self.allowed_values}. {hint}")

    def parse(self, text: str) -> Any:
        """Returns the value that a text has for this kind of knob, or the text itself if none; choices ignore case."""
        bare = text.strip()
        if self.choices:
            alike = [choice for choice in self.choices if choice.casefold() == bare.casefold()]
            return bare if bare in alike else next(iter(alike), text)
        if self.low is None:
            return text
        if self.whole:
            return int(bare) if WHOLE.fullmatch(bare) else text
        return float(bare) if REAL.fullmatch(bare) and math.isfinite(float(bare)) else text

    @property
    def whole(self) -> bool:
        """Whether it is a knob of integers."""
        return isinstance(self.low, int)

    @property
    def allowed_values(self) -> str:
        """The allowed values, in words."""
        if self.choices:
            return f"one of: {', '.join(self.choices)}"
        if self.form:
            return self.formed
        if self.low is None:
            return f"printable text of at most {self.high:,} characters"
        return f"a {'whole ' * self.whole}number between {self.low:,} and {self.high:,}"


def whole(default: int, low: int, high: int, label: str, help: str, **more: Any) -> Any:
    """Returns a dataclass field for a knob of integers between two bounds; `more` are other fields of `Knob`."""
    return field(default=default, metadata={"knob": Knob(label, help, low, high, **more)})


def real(default: float, low: float, high: float, label: str, help: str, **more: Any) -> Any:
    """Returns a field for a knob of real numbers."""
    return field(default=default, metadata={"knob": Knob(label, help, low, high, **more)})


def choice(default: str, choices: Any, label: str, help: str, **more: Any) -> Any:
    """Returns a field for a knob that is one of several names."""
    return field(default=default, metadata={"knob": Knob(label, help, choices=tuple(choices), **more)})


def text(default: str, longest: int, label: str, help: str, **more: Any) -> Any:
    """Returns a field for a knob of text."""
    return field(default=default, metadata={"knob": Knob(label, help, high=longest, **more)})


def asking() -> Any:
    """Returns a field for the knob that carries a question by the link's author, as `ui/question_codec.py` packs it."""
    said = "A question from the person who shared the link, packed with its answers (attention/ui/question_codec.py)."
    formed = "a question as this app packs it, of at most 3,000 characters"
    return text("", 3000, "Your own question", said, form=r"[\w-]*", formed=formed, about="view")


def pinning() -> Any:
    """Returns a field for the knob that carries side A of a comparison, as `attention/pinned.py` packs its link."""
    said = "The settings that are compared with, side A, packed as their own link (attention/pinned.py)."
    formed = "a link as this app packs it, of at most 3,000 characters"
    return text("", 3000, "Compared with", said, form=r"[\w-]*", formed=formed, about="view")


def axis(
    default: tuple, label: str, help: str, low: Any = None, high: Any = None, choices: Any = (), **more: Any
) -> Any:
    """Returns a field for a knob of several values, each within bounds or one of several names; empty only if the default is."""
    return field(default=default, metadata={"knob": Knob(label, help, low, high, tuple(choices), **more)})


@dataclass(frozen=True, eq=False)
class Settings(Generic[S]):
    """One kind of settings: a frozen dataclass `make` of knobs, and its conversion to links and widgets and back.

    `called`: what the settings belong to, in words. `prefix` precedes a knob's name in the keys of widgets, `linked` in
    links, where names without it are read, too. `nearest` moves values that are each allowed to values that fit
    together, and returns notes on what it moved; without it, `make` raises. `said`: a value of a knob as text.
    `derived_defaults`: defaults that follow from other values. `refused(values, named)`: one sentence for each named value that
    has no effect.
    """

    make: type[S]
    called: str
    prefix: str = ""
    linked: str = ""
    nearest: Callable[[Mapping[str, Any]], tuple[S, list[str]]] | None = None
    said: Callable[[Any], str] = str
    editions: tuple[Mapping[str, Any], ...] = ({},)  # old defaults, if they have changed since
    renamed: Mapping[str, str] = field(default_factory=dict)  # knobs by old names that links may still have
    derived_defaults: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda values: {}
    refused: Callable[[Mapping[str, Any], Mapping[str, Any]], list[str]] = lambda values, named: []
    rising: frozenset[str] = frozenset()  # axes whose values are sorted, whatever the order in which they were chosen

    @cached_property
    def knobs(self) -> dict[str, Knob]:
        """Every knob, by its name."""
        return {entry.name: entry.metadata["knob"] for entry in fields(cast(Any, self.make))}

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The default of every knob."""
        return {entry.name: entry.default for entry in fields(cast(Any, self.make))}

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The names of the knobs that hold several values."""
        return tuple(name for name, default in self.defaults.items() if isinstance(default, tuple))

    def check(self, name: str, value: Any) -> None:
        """Raises ConfigError unless this is a value, or a tuple of values, that the knob allows by itself."""
        default = self.defaults[name]
        if name not in self.axes:
            self.knobs[name].check(name, value, default)
            return
        if not isinstance(value, tuple):
            raise ConfigError(f"{name}={short(value)} is not a tuple of values. The default is {default!r}.")
        if default and not value:
            raise ConfigError(
                f"{self.knobs[name].label} has no value; it needs one. The default is {', '.join(map(str, default))}."
            )
        if len(set(value)) < len(value):
            raise ConfigError(f"{name}={short(value)} names a value twice. Name each once.")
        for each in value:
            self.knobs[name].check(name, each, default)

    def coerce(self, values: Mapping[str, Any]) -> tuple[S, list[str]]:
        """Returns the nearest valid settings to values that are each allowed, and notes; raises ConfigError if none fit."""
        return self.nearest(values) if self.nearest else (self.make(**values), [])

    @property
    def newest(self) -> dict[str, str]:
        """The query that opens the defaults; an empty one keeps the current values."""
        return {EDITION: str(len(self.editions))}

    def to_query(self, setting: S) -> dict[str, str]:
        """Returns the knobs that differ from their defaults, as text; `from_query` returns the same settings."""
        usual = self.defaults | dict(self.derived_defaults(vars(setting)))
        differing = {
            self.linked + name: self._text(value) for name, value in vars(setting).items() if value != usual[name]
        }
        return (self.newest if differing and len(self.editions) > 1 else {}) | differing

    def follow_defaults(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the new values of knobs that are at a default that has changed, for example with the source."""
        usual, now = (self.defaults | dict(self.derived_defaults(values)) for values in (before, after))
        return {name: now[name] for name, value in after.items() if value == before[name] == usual[name] != now[name]}

    def link(self, setting: S) -> str:
        """Returns the query string of settings, without its question mark: what follows `?` in the address bar."""
        return urlencode(self.to_query(setting))

    def from_query(self, mapping: Mapping[str, Any]) -> tuple[S, list[str]]:
        """Returns the settings that a query describes, and a sentence for each part that could not be used.

        Unknown names and values that are not allowed are ignored. If a name is given twice, the last one counts. Never
        raises.
        """
        counted, notes = self._counted_from(mapping)
        named: dict[str, Any] = {}
        for name, given in mapping.items():
            try:
                if name not in (EDITION, CARD, LESSON):
                    name = self.renamed.get(bare := name.removeprefix(self.linked), bare)
                    named[name] = self._value(name, _last(given))
            except ConfigError as error:
                notes.append(str(error))
        values = counted | dict(self.derived_defaults(counted | named)) | named
        notes += self.refused(values, named)
        try:
            found, moved = self.coerce(values)
        except ConfigError as error:
            return self.make(), [*notes, str(error)]
        return found, notes + moved

    def parse(self, name: str, text: str) -> Any:
        """Returns the value of a knob from its text, the values of an axis separated by commas; raises ConfigError."""
        self._check_name(name)
        knob = self.knobs[name]
        value = knob.parse(text)
        if name in self.axes:
            value = tuple(dict.fromkeys(knob.parse(part.strip()) for part in text.split(",") if part.strip()))
        self.check(name, value)
        return value

    def key(self, name: str) -> str:
        """Returns the key of a knob's widget."""
        return self.prefix + name

    def widgets(self, setting: S) -> dict[str, Any]:
        """Returns the values of the widgets of all knobs, by their keys."""
        return {self.key(name): list(value) if name in self.axes else value for name, value in vars(setting).items()}

    def value(self, name: str, held: Any) -> Any:
        """Returns the value of a knob from that of its widget."""
        if name not in self.axes or held is None:
            return held
        numbers = all(isinstance(each, (int, float)) for each in held)  # `check` raises for other values, with the name
        return tuple(sorted(held)) if numbers and name in self.rising else tuple(held)

    def _counted_from(self, mapping: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Returns the defaults that a query is based on, and a sentence if its edition does not exist."""
        newest = len(self.editions)
        if mapping.keys() <= UNDATED:
            return dict(self.defaults), []
        given = _last(mapping.get(EDITION, "1"))
        if isinstance(given, str) and WHOLE.fullmatch(given) and 1 <= int(given) <= newest:
            return self.defaults | dict(self.editions[int(given) - 1]), []
        there = f"there are {newest}" if newest > 1 else "those of this page have never changed"
        said = f"{EDITION}={short(given)} is not an edition of the defaults; {there}."
        return dict(self.defaults), [f"{said} The newest is used."]

    def _check_name(self, name: str) -> None:
        if name not in self.knobs:
            raise ConfigError(f"{short(name)} is not a setting of {self.called}; it was ignored.")

    def _value(self, name: str, given: Any) -> Any:
        """Returns the value of one entry of a query; raises ConfigError if it is invalid."""
        self._check_name(name)
        if not isinstance(given, str):
            raise ConfigError(f"{name}={short(given)} is not text, as values in a link are.")
        return self.parse(name, given)

    def _text(self, value: Any) -> str:
        return ",".join(map(str, value)) if isinstance(value, tuple) else self.said(value)


def _last(given: Any) -> Any:
    """Returns the last value of an entry that was given several times."""
    return given[-1] if isinstance(given, (list, tuple)) and given else given

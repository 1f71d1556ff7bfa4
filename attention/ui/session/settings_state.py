"""One kind of settings in a session: the source of truth for widgets and the link. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from attention.imported.registry import entry_name
from attention.settings import ConfigError
from attention.ui.controls.kind import Kind, Stops
from attention.ui.session.widget_sync import Widgets, WidgetSync

S = TypeVar("S")


@dataclass
class SettingsState(Generic[S]):
    """Settings of one kind, as widgets have changed them since a link was opened.

    `notes`: what could not be used, of the link or of the last change. `moved`: the messages about knobs that had to be
    adjusted then, each shown once. `wishes`: values set by the user that did not fit; they are restored as soon as they
    fit, unless the user has moved the knob since. `stops`: the stops of its sliders. `labels`: the current labels of menus
    whose choices change their names. `absent`: the uploaded source that the link named and that this visit does not have.
    `opened`: the query of the link, until `take_opened` has returned it. `followed`: whether a link to the same page was
    followed, after which a browser keeps the address that it had.
    """

    kind: Kind[S]
    setting: S
    link: dict[str, str]
    notes: list[str]
    stops: Stops
    moved: list[str] = field(default_factory=list)
    wishes: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    absent: str = ""
    opened: dict[str, str] = field(default_factory=dict)
    followed: bool = False

    @classmethod
    def of(cls, kind: Kind[S], query: dict[str, str], labels: dict[str, str]) -> SettingsState[S]:
        """The state that a link opens."""
        setting, notes = kind.open(query)
        return cls(kind, setting, query, notes, kind.stops(setting, setting, None), labels=labels, opened=query)

    def take_opened(self) -> dict[str, str]:
        """The query that this state was opened with, on the first call; {} after that."""
        query, self.opened = self.opened, {}
        return query

    @property
    def widget_values(self) -> dict[str, Any]:
        """The values that widgets should hold, by their keys."""
        return self.kind.settings.widgets(self.setting)

    def by_widget_key(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """These values of knobs as their widgets hold them, by their keys; raises KeyError for a name that is not a knob."""
        settings = self.kind.settings
        if strangers := values.keys() - settings.knobs.keys():
            raise KeyError(f"not knobs of {settings.called}: {', '.join(sorted(strangers))}")
        return {settings.key(name): list(value) if name in settings.axes else value for name, value in values.items()}

    def forget(self, names: Iterable[str]) -> None:
        """Drops the wishes for these knobs."""
        self.wishes = {name: wish for name, wish in self.wishes.items() if name not in names}

    def take_up(self, widgets: Widgets, told: WidgetSync) -> S:
        """Returns the settings that the widgets show now, moved to the nearest valid ones; the widgets follow.

        A knob keeps its last value if it cannot have the value of its widget. It also does so in three cases: a widget
        says None because the browser redrew it before it received its value (seen under load); a menu whose choices were
        renamed says a name that no choice has any more; after a restart the menu of sources says one that only the last
        visit had.
        """
        last, meant = self.setting, self.widget_values
        held = {key: widgets.get(key) for key in meant}  # read once: Streamlit takes long for it
        if held == meant and not (self.wishes or told.waiting):
            return last
        self.setting = self._taken_up(held)
        # These stay until their widgets are drawn, together with what the browser says about them until then.
        meant, stops = self.widget_values, self.kind.stops(self.setting, last, self.stops)
        untold = {self.kind.settings.key(name) for name in stops if stops[name] != self.stops[name]}
        untold |= {key for key, value in meant.items() if held[key] != value}
        self.stops = stops
        told.set(widgets, {key: meant[key] for key in untold | (told.waiting & meant.keys())})
        return self.setting

    def _taken_up(self, held: Mapping[str, Any]) -> S:
        """The settings that the widgets show by the values that they hold; messages about them go to `notes`."""
        settings, before = self.kind.settings, vars(self.setting)
        values = {name: self._value(name, held[settings.key(name)]) for name in before}
        implied, notes = self.kind.implied(before, values)
        changed, values = values != before, values | implied
        for name, value in values.items():
            if value == before[name]:
                values[name] = self.wishes.get(name, before[name])  # of the right type, if the widget says 0.0 for 0
                continue
            try:
                settings.check(name, value)
            except ConfigError as error:
                values[name] = before[name]
                notes.append(str(error))
        values |= settings.follow_defaults(before, values) | implied
        try:
            setting, moved = settings.coerce(values)
            if moved:  # then without the messages of knobs that move quietly
                moved = settings.coerce(values | self._quiet_moves(values, setting))[1]
        except ConfigError as error:
            setting, moved, values = self.setting, [], before
            notes.append(str(error))
        if changed or notes:
            self.notes = notes + [note for note in moved if note not in self.moved]
        self.moved = moved
        self.wishes = {name: value for name, value in values.items() if value != getattr(setting, name)}
        return setting

    def _quiet_moves(self, values: Mapping[str, Any], setting: S) -> dict[str, Any]:
        """The knobs of which no message says that they had to move with another one, with their new values.

        A user moves one knob at a time: a quiet knob that differs together with another one has a value of an earlier moment.
        """
        same = {name: self.wishes.get(name, value) for name, value in vars(self.setting).items()}
        moved = {name for name in values if values[name] != same[name]}
        return {name: getattr(setting, name) for name in self.kind.quiet if moved != {name}}

    def _value(self, name: str, held: Any) -> Any:
        """The value of a widget, or the last value of its knob if the widget has lost its own."""
        is_label = name in self.labels and isinstance(held, str) and not isinstance(getattr(self.setting, name), str)
        lost = held is None or is_label
        lost = lost or (name == "source" and self.absent != "" and held in (self.absent, entry_name(self.absent)))
        return getattr(self.setting, name) if lost else self.kind.settings.value(name, held)

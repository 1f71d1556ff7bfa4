"""Tracks which widget values the browser has received, and reconciles what it sends back.

A browser message carries widget values as of sending; the server may have set newer ones since. Every update is therefore
numbered. The number travels in an invisible widget, one mark per part of a page, and comes back with each message. If it
is older than the update, the widget's old value is ignored, and any other value is the user's. Independent of Streamlit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

LAST = "#ffffff"  # the largest mark: a widget that is not there has no old value
MANY = 64  # updates of one widget that may be on their way at once
Widgets = MutableMapping[Any, Any]  # the value of each widget, by key: as the browser sent it, or as set since


@dataclass
class WidgetSync:
    """Everything that the browser was sent about the widgets of one page.

    `turn`: the number of the last update. `waiting`: the widgets that were set and not drawn since. `says`: for each of
    these and of those on their way, by the number of an update, the values that a browser at that update may still send
    without that its user has moved the widget.
    `marks`: the mark that carries a widget's number.
    """

    turn: int = 0
    waiting: set[str] = field(default_factory=set)
    says: dict[str, dict[int, tuple[Any, ...]]] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)

    def set(self, held: Widgets, values: Mapping[str, Any]) -> None:
        """Sets widget values. The next run that draws the widgets sends them; until then the browser sends the old ones."""
        for name, value in values.items():
            if name not in self.waiting:
                self._record_if_new(held, name)
                self.waiting.add(name)
            elif (
                held[name] != value
            ):  # the browser may get the value before, from a run that is cut short after drawing it
                self._record_if_new(held, name, held[name])
            held[name] = value

    def set_others(self, held: Widgets, values: Mapping[str, Any]) -> None:
        """Does the same for the widgets whose values differ; widgets without a value get theirs when they are drawn."""
        self.set(held, {name: value for name, value in values.items() if held.get(name, value) != value})
        held.update(values)

    def reconcile(self, held: Widgets, meant: Mapping[str, Any]) -> None:
        """Corrects what the browser says of widgets whose new values, those of `meant`, it has not received yet.

        This happens if a run was cut short before it drew them, or if the user was faster than the transfer. A value that
        the browser cannot have from us is the user's, who has moved the widget in its old state; the update on its way
        will replace it in the browser, so the value is sent again.
        """
        for name in self.says:
            if name in self.waiting or self._mark(held, name) < max(self.says[name]):
                if not self._record_if_new(held, name, meant[name]):
                    held[name] = meant[name]
                self.waiting.add(name)

    def mark_sent(self, held: Widgets, part: str, names: Collection[str]) -> str:
        """Records that a part of the page has drawn these widgets: their values are on their way.

        Returns the name of the mark to draw after them, a widget whose value is a colour: Streamlit (1.67) takes a fifth
        of the time for it that it takes for a number.
        """
        mark, told = f"heard {part}", self.waiting.intersection(names)
        if told or mark not in held:
            self.turn += 1
            held[mark] = f"#{self.turn:06x}"
        for name in told:
            self.says[name] = dict([*self.says[name].items(), (self.turn, (held[name],))][-MANY:])
            self.marks[name] = mark
        self.waiting -= told
        return mark

    def pending(self, names: Iterable[str]) -> bool:
        """Whether any of these was set and not drawn by a run yet."""
        return not self.waiting.isdisjoint(names)

    def _mark(self, held: Widgets, name: str) -> int:
        """The number of updates that the browser had received when it sent the value of this widget."""
        mark = self.marks.get(name)
        return int((held.get(mark, LAST) if mark else LAST)[1:], 16)

    def _record_if_new(self, held: Widgets, name: str, *meant: Any) -> bool:
        """Whether the value of a widget is new, i.e. neither set by us nor reported before. Records it.

        A value in `meant` is not new: if the server reruns by itself, a widget that no run has drawn still holds it.
        """
        says, value, mark = self.says.setdefault(name, {}), held.get(name), self._mark(held, name)
        turn = max((turn for turn in says if turn <= mark), default=min(says, default=0))
        before = says.get(turn, ())
        new = value not in (*before, *meant)
        if value not in before:
            says[turn] = (value,) if new else (*before, value)
        return new

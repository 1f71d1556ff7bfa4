"""What a browser was told of its widgets' values, and what it says back. Knows no Streamlit, only a mapping of what widgets hold.

A browser answers with what its widgets said when it sent, not with what it has been told since. So every telling is
numbered; the number rides in a widget that nobody sees, a mark for each part of a page, and comes back with the answer. If
it is older than the telling, the widget's old value is ignored, and any other value is the visitor's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

LAST = "#ffffff"  # of all marks: a widget that is not there has nothing to say
MANY = 64  # tellings of one widget that may be under way at once
Widgets = MutableMapping[Any, Any]  # what each holds, by its key: as the browser says, or as it was set since


@dataclass
class WidgetSync:
    """All that a browser was told of the widgets of one page.

    `turn`: the number of the last telling. `waiting`: the widgets that were told something and not drawn since. `says`: what
    each of these and of those under way may say, in a browser that has heard so many tellings. `marks`: where its number rides.
    """

    turn: int = 0
    waiting: set[str] = field(default_factory=set)
    says: dict[str, dict[int, tuple[Any, ...]]] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)

    def set(self, held: Widgets, values: Mapping[str, Any]) -> None:
        """Sets what widgets say; the next run that draws them tells the browser, which says what it said till then."""
        for name, value in values.items():
            if name not in self.waiting:
                self._new(held, name)
                self.waiting.add(name)
            held[name] = value

    def set_others(self, held: Widgets, values: Mapping[str, Any]) -> None:
        """The same for those that say something else; those that say nothing yet are told when they are drawn."""
        self.set(held, {name: value for name, value in values.items() if held.get(name, value) != value})
        held.update(values)

    def reconcile(self, held: Widgets, meant: Mapping[str, Any]) -> None:
        """Puts right what the browser says of widgets whose new values, the ones `meant`, it has yet to hear of.

        It has yet to where a run made way before it drew them, and where the visitor was quicker than what was sent. A value
        that it can't have from us is somebody's, who has moved the widget as it still was; what is under way will take its
        place in the browser, so it is told again.
        """
        for name in self.says:
            if name in self.waiting or self._mark(held, name) < max(self.says[name]):
                if not self._new(held, name, meant[name]):
                    held[name] = meant[name]
                self.waiting.add(name)

    def mark_sent(self, held: Widgets, part: str, names: Collection[str]) -> str:
        """Notes that a part of the page has drawn these widgets: what they were told is on its way.

        The name of the mark that is to follow them, a widget whose value is a colour: Streamlit (1.67) takes a fifth of the
        time for it that it takes for a number.
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
        """Was any of these told something that no run has drawn yet?"""
        return not self.waiting.isdisjoint(names)

    def _mark(self, held: Widgets, name: str) -> int:
        """How many tellings the browser had heard when it said what this widget holds."""
        mark = self.marks.get(name)
        return int((held.get(mark, LAST) if mark else LAST)[1:], 16)

    def _new(self, held: Widgets, name: str, *meant: Any) -> bool:
        """Does a widget hold what the browser has neither from us nor said before? What it says is noted.

        What is meant is no news: where the server runs once more by itself, a widget that no run has drawn still holds it.
        """
        says, value, mark = self.says.setdefault(name, {}), held.get(name), self._mark(held, name)
        turn = max((turn for turn in says if turn <= mark), default=min(says, default=0))
        before = says.get(turn, ())
        new = value not in (*before, *meant)
        if value not in before:
            says[turn] = (value,) if new else (*before, value)
        return new

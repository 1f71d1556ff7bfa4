"""The settings of the page Find the bug: which bug is shown, and which were found at the first guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attention.published.hunts import BUGS
from attention.published.rows import HUNTS as ROW_NAMES
from attention.published.rows import ROWS, link_name
from attention.settings import Settings, choice, text

RIGHT, WRONG, UNTRIED = "r", "w", "0"  # letters of the first guesses in a link


@dataclass(frozen=True, kw_only=True)
class BugSeries:
    """The settings of the page Find the bug."""

    bug: str = choice(
        next(iter(BUGS)),
        BUGS,
        "Bug",
        "Its number in the series.",
        names={name: str(number) for number, name in enumerate(BUGS, 1)},
        about="focus",
    )
    tried: str = text(
        "",
        len(BUGS),
        "First guesses",
        "Whether the first guess at each bug was right, in the order of the series: r right, w wrong, 0 not tried.",
        form=f"[{RIGHT}{WRONG}{UNTRIED}]*",
        formed="a letter for each bug: r, w or 0",
        about="view",
    )

    def __post_init__(self) -> None:
        for name in ("bug", "tried"):
            SERIES.check(name, getattr(self, name))

    @property
    def first_guesses(self) -> dict[str, bool]:
        """Whether the first guess was right, by the names of the bugs that were tried."""
        return {bug: letter == RIGHT for bug, letter in zip(BUGS, self.tried, strict=False) if letter != UNTRIED}

    def tried_with(self, right: bool) -> str:
        """Returns `tried` after a guess at the bug that is shown; only the first one counts."""
        found = {self.bug: right} | self.first_guesses
        letters = (UNTRIED if bug not in found else RIGHT if found[bug] else WRONG for bug in BUGS)
        return "".join(letters).rstrip(UNTRIED)


class SeriesSettings(Settings[BugSeries]):
    """Settings that read links of the time when the page Implementations asked for a bug, too."""

    def from_query(self, mapping: Mapping[str, Any]) -> tuple[BugSeries, list[str]]:
        """Returns the settings that a query describes. A bug may have the name of its row, as in old links."""
        given = mapping.get("bug")
        if isinstance(given, str) and given not in BUGS and ROW_NAMES.get(given, given) in ROWS:
            mapping = dict(mapping) | {"bug": link_name(given, True)}
        return super().from_query(mapping)


SERIES = SeriesSettings(BugSeries, "Find the bug", prefix="series_")

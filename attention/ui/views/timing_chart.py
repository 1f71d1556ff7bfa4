"""The selected chart of timings: what it draws, what it selects among, and its sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from attention.charts import line_ends
from attention.timing import break_even, chart_findings, comparison, line_choice, line_names
from attention.timing.break_even import BreakEven
from attention.timing.cpu_gpu_settings import BREAK_EVEN
from attention.timing.recordings import Timing
from attention.ui.session import page
from attention.ui.text import timing as text
from attention.ui.views import timing_lines, timing_sizes

TEXTBOOK = "matmul softmax matmul"  # the base of comparisons until another one is selected
AGAINST_KEY, TRANSFER_KEY = "timing_against", "timing_transfer"


@dataclass(frozen=True)
class Chart:
    """The selected chart of timings: those that are drawn, those among which it selects, and its other arguments.

    `selected`: all that the user selected, of which a chart can show less. `subject`: the timings of the lines that its sentences
    are about, which have names; if the user asked for all lines, of those that it begins with.
    """

    which: str
    shown: list[Timing]
    offered: list[Timing]
    selected: list[Timing]
    subject: list[Timing]
    more: dict[str, Any]

    @property
    def finding(self) -> str:
        """The sentence on what the chart shows."""
        if self.which == BREAK_EVEN:
            return line_names.of_keys(self.break_even.headline, self.shown) if self.break_even else ""
        pair = {name: value for name, value in self.more.items() if name in ("against", "transfer")}
        several = len({timing.implementation for timing in self.shown}) > 1
        said = chart_findings.line_finding(self.which, self.subject, **pair, several=several)
        return line_names.of_keys(said, self.subject)

    @cached_property
    def break_even(self) -> BreakEven | None:
        """The break-even that is drawn, if the chart is one."""
        return break_even.of_pair(self.shown) if self.which == BREAK_EVEN else None

    @property
    def ratio(self) -> str:
        """From which length on the GPU of its lines is faster than the CPU; empty if it has not both at several lengths."""
        timed = comparison.with_times(self.subject)
        lengths = [
            {timing.length for timing in timed if (timing.device == "cpu") is of_cpu} for of_cpu in (True, False)
        ]
        if len(set.intersection(*lengths)) < 2:
            return ""
        said = chart_findings.line_finding("speed-up", self.subject, comparison.CPU)
        return line_names.of_keys(said, self.subject)


def selected_chart(found: Sequence[Timing], cases_at: Sequence[int] = ()) -> Chart:
    """Returns the chart that the widgets select, which need not be drawn yet. `cases_at`: lengths that are still to come."""
    found, state = list(found), page.widgets()
    which = state.get(timing_sizes.CHART)
    which = which if which in available_charts(found) else "time"
    selected, chosen = timing_lines.selected_timings(found)
    more: dict[str, Any] = {"lengths": cases_at} if which in ("time", "memory") else {}
    if which == "speed-up":
        bases = comparison.bases(found)
        against = state.get(AGAINST_KEY)
        against = against if against in bases else first_base(bases)
        more = {"against": against, "transfer": against == comparison.CPU and bool(state.get(TRANSFER_KEY))}
    of_use = _of_use(which, selected, more)
    if which == BREAK_EVEN:
        return Chart(which, of_use, _of_use(which, found, more), selected, of_use, more)
    usual = line_choice.usual_lines(of_use, which, line_ends.MOST)
    shown = timing_lines.first(list(dict.fromkeys([*usual, *of_use])), most(which)) if chosen else usual
    subject = usual if state.get(timing_lines.ALL) else line_choice.named_lines(shown, which, line_ends.MOST)
    return Chart(which, shown, _of_use(which, found, more), selected, subject, more)


def most(which: str) -> int:
    """The maximum number of lines that a chart shows at once; 0 if it always shows a pair."""
    if which == BREAK_EVEN:
        return 0
    return timing_lines.BARS if which == "transfer" else timing_lines.MOST


def available_charts(found: Iterable[Timing]) -> list[str]:
    """The charts for which there are data in these timings."""
    found = list(found)
    lacks = {
        BREAK_EVEN: not break_even.pair(found),
        "speed-up": not comparison.bases(found),
        "transfer": not any(timing.to_device for timing in found),
    }
    return [name for name in text.CHARTS if not lacks.get(name)]


def first_base(bases: list[str]) -> str:
    """The base of comparisons until another one is selected."""
    return next((name for name in (comparison.CPU, TEXTBOOK) if name in bases), bases[0])


def _of_use(which: str, timings: list[Timing], how: dict[str, Any]) -> list[Timing]:
    """The timings that a chart can show."""
    if which == "speed-up":
        return timing_lines.comparable_timings(timings, how["against"])
    if which == BREAK_EVEN:
        return break_even.pair(timings)
    return [timing for timing in timings if timing.to_device or which != "transfer"]

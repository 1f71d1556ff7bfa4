"""What the Timing page is about: the sizes of published figures, or those of the sweep, and the timings of these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attention.timing import comparison, cpu_gpu_series
from attention.timing.answers import Answer, answers, untimed
from attention.timing.break_even import break_even
from attention.timing.cpu_gpu_settings import BREAK_EVEN, LINES, Timed, is_one_text
from attention.timing.published import TOKENS, WIDTH
from attention.timing.recordings import Timing
from attention.timing.recordings.timing import BROWSER
from attention.timing.sweep import Case, Sweep, is_like


@dataclass(frozen=True)
class Subject:
    """The timings of a sweep, those that come first in its answers and charts before others.

    `set_sizes`: whether the sizes of the sweep were set, to others than the published ones, or its charts were chosen.
    `apart`: whether the visitor timed or opened something, and nothing of the published sizes.
    """

    sweep: Sweep
    set_sizes: bool
    apart: bool
    timings: tuple[Timing, ...]

    @property
    def follows(self) -> bool:
        """Whether the page begins with them."""
        return self.set_sizes or self.apart

    @property
    def is_timed(self) -> bool:
        """Whether there are timings of the sweep, or it has nothing that was set."""
        timed = comparison.with_times(self.timings)
        return any(is_like(timing, self.sweep, any_dtype=True) for timing in timed) or is_one_text(self.sweep)

    @property
    def answers(self) -> list[Answer]:
        """The answers of these timings, that of the page's headline first."""
        found = answers(self.timings)
        return found if found and self.is_timed else [untimed(self.cases[-1]), *found]

    @property
    def not_timed(self) -> list[str]:
        """The masks, dtypes and passes of the sweep of which there is no time at all."""
        timed = comparison.with_times(self.timings)
        axes = {"mask": self.sweep.masks, "dtype": self.sweep.dtypes, "passes": self.sweep.passes}
        return [each for name, found in axes.items() for each in found if all(getattr(t, name) != each for t in timed)]

    @property
    def cases(self) -> list[Case]:
        """The cases of the sweep by one implementation, the shortest first: each has a length and a setting."""
        return self.sweep.cases(["cpu"], ["SDPA"])


def subject(
    timed: Timed, mine: Iterable[Timing], measured_here: Iterable[Timing], shipped: Iterable[Timing]
) -> Subject:
    """Returns what a page is about.

    `mine`: what the visitor measured and opened, in the order in which it is answered. `measured_here`: what others measured on
    this server. `shipped`: recordings, of which those of the sweep are taken, and GPUs at the sizes of what was opened.
    """
    sweep, mine = timed.sweep, list(mine)
    like = [timing for timing in mine if is_like(timing, sweep, any_dtype=timing.source == BROWSER)]
    others = [timing for timing in mine if timing not in like and timing.source != BROWSER]
    in_browser = any(timing.source == BROWSER for timing in like)  # which times float32 whatever is set
    opened = comparison.settings(others)

    def belongs(each: Timing) -> bool:
        """Whether a recording is of the sweep, or of a GPU at the sizes of an opened file."""
        same = each.device != "cpu" and comparison.setting(each) in opened
        of_length = not set_sizes or each.length in sweep.lengths
        return same or (of_length and is_like(each, sweep, in_browser and _is_float32_cpu(each)))

    is_own = timed.has_own_sizes and not _is_of_the_picture(timed)
    set_sizes = is_own or timed.picture == LINES
    known = [*measured_here, *filter(belongs, shipped)]
    if others and not (set_sizes or like):  # what was opened is compared with its own sizes alone
        known = [timing for timing in known if comparison.setting(timing) in opened]
    found = [*like, *known, *others] if set_sizes or like else [*others, *known]
    of_one_text = (not is_own or is_one_text(sweep)) and _joins_break_even(timed, mine, known)
    apart = bool(mine) and not (of_one_text or cpu_gpu_series.alike(timed.versus, mine))
    return Subject(sweep, set_sizes, apart, tuple(dict.fromkeys(found)))


def _joins_break_even(timed: Timed, mine: list[Timing], known: list[Timing]) -> bool:
    """Whether what the visitor measured, and did not open, becomes a line of the break-even, which the page shows."""
    measured = all(not each.source or each.source == BROWSER for each in mine)
    return timed.picture in (BREAK_EVEN, LINES) and measured and break_even([*mine, *known], timed.one_text) is not None


def _is_float32_cpu(timing: Timing) -> bool:
    return (timing.device, timing.dtype) == ("cpu", "float32")


def _is_of_the_picture(timed: Timed) -> bool:
    """Whether the sweep is what CPU against GPU shows, at the sizes of published figures."""
    versus, sweep = timed.versus, timed.sweep
    sizes = sweep.tokens, sweep.heads, sweep.d_heads, sweep.masks, sweep.passes
    d_head = int(versus.d_head)
    others = sweep.queries, sweep.kv_heads, sweep.windows
    return others == ((0,),) * 3 and sizes == (TOKENS, (WIDTH // d_head,), (d_head,), (versus.mask,), (versus.work,))

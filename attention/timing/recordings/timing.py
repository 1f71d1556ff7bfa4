"""One timing: what was timed, where and when, and how long it took."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from attention.timing.stopwatch import Spread
from attention.timing.sweep import Case

NAME = re.compile(r"[\w .,:;()+@#=-]*")  # in names: nothing that HTML or Markdown would take for markup
SHORT = 100  # characters of a name


@dataclass(frozen=True, kw_only=True)
class Timing(Case):
    """How long a case took, where and when. All times are in seconds, all sizes in bytes.

    `median`, `lower` and `upper` (quartiles) over `repeats` blocks of calls. `quickest`: the least of them, `repeated`: what
    three visits came down to; `settled` where these are within 10 %. `visits`: how many there were, of which `quiet` on a
    machine that was left alone. Recordings of before have none of these four (None, None, 0, 0), and settled where the
    interquartile range of three blocks or more came to at most 10 % of the median. `first`: the very first call, compiling
    included. `to_device`, `from_device`: moving the inputs there and the results back. `peak_bytes`: held at the peak,
    beyond the inputs; None: not known. `operations`, `traffic`: counted (see `roofline`). `peak_operations`,
    `peak_traffic`: what the device reached in a second, measured in the same run. `error`: why there is no time (None where
    there is one); running out of memory is one. `source`: the file that it was read from, and where that one had it
    from; empty where it was measured here.
    """

    device_name: str
    system: str
    torch: str
    precision: str
    threads: int
    when: str
    median: float | None = None
    lower: float | None = None
    upper: float | None = None
    repeats: int = 0
    settled: bool = False
    quickest: float | None = None
    repeated: float | None = None
    visits: int = 0
    quiet: int = 0
    first: float | None = None
    to_device: float = 0.0
    from_device: float = 0.0
    peak_bytes: int | None = None
    operations: float = 0.0
    traffic: float = 0.0
    peak_operations: float | None = None
    peak_traffic: float | None = None
    error: str | None = None
    source: str = ""

    @property
    def case(self) -> Case:
        """What was timed, without where, when and how long."""
        return Case(**{entry.name: getattr(self, entry.name) for entry in fields(Case)})

    @property
    def day(self) -> str:
        """The day on which it was measured, in UTC."""
        return self.when[:10]

    @property
    def origin(self) -> str:
        """The device and, where the timing was not measured here, the word recorded with the day and the file."""
        threads = f", {self.threads} thread{'s' * (self.threads != 1)}" if self.device == "cpu" else ""
        recorded = f", recorded {self.day} ({self.source})" if self.source else ""
        return f"{self.device_name}{threads}{recorded}"

    @property
    def spread(self) -> Spread:
        """Median, quartiles and the quickest; raises ValueError where there is an error instead."""
        if self.median is None or self.lower is None or self.upper is None:
            raise ValueError(f"{self.implementation} at {self.length:,} tokens has no time: {self.error}")
        return Spread(self.median, self.lower, self.upper, self.repeats, self.quickest, self.repeated)

    @property
    def seconds(self) -> float:
        """The one time of a call that is drawn and compared; raises ValueError where there is an error instead."""
        return self.spread.seconds


def name(text: str, otherwise: str, most: int = SHORT) -> str:
    """A name as it may be shown and recorded: what is not allowed in one left out, and never empty."""
    return "".join(letter for letter in text if NAME.fullmatch(letter))[:most].strip() or otherwise

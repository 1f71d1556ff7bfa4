"""Defines one timing: what was timed, where, when and how long it took."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from attention.timing.stopwatch import Spread
from attention.timing.sweep import Case

NAME = re.compile(r"[\w .,:;()+@#=-]*")  # allowed in names: nothing that HTML or Markdown reads as markup
BROWSER = "the browser of a visitor"  # the source of a timing that this visit's browser has measured
WEBGPU, JAVASCRIPT = "webgpu", "JavaScript"  # the device of a browser's GPU, and the implementation on its processor
SHORT = 100  # largest number of characters of a name


@dataclass(frozen=True, kw_only=True)
class Timing(Case):
    """How long a case took, where and when. All times are in seconds, all sizes in bytes.

    `median`, `lower`, `upper`: median and quartiles over `repeats` blocks of calls. `quickest`: the minimum over the blocks.
    `repeated`: the largest minimum of the three quickest visits. `settled`: `repeated` is within 10 % of `quickest`.
    `visits`: the number of visits, of which `quiet` had an otherwise idle machine. Older recordings lack `quickest`,
    `repeated`, `visits` and `quiet` (None, None, 0, 0), and are settled if the interquartile range of three or more blocks is
    at most 10 % of the median. `first`: the very first call, including compilation. `to_device`, `from_device`: transfers of the
    inputs and of the results. `peak_bytes`: peak memory beyond the inputs, None if not known. `operations`, `traffic`:
    counted (see `roofline`). `peak_operations`, `peak_traffic`: the device's rates per second, measured in the same run.
    `error`: why there is no time, such as running out of memory; None if there is one. `source`: the file
    that it was read from, and the source stated in that file; empty if it was measured here. `by_median`: its time is the median,
    although it has a minimum, as what it is compared with has none; this is not written to a file.
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
    by_median: bool = False

    @property
    def is_minimum(self) -> bool:
        """Whether its time is a minimum, and not a median."""
        return self.quickest is not None and not self.by_median

    @property
    def is_bound(self) -> bool:
        """Whether its time is an upper bound of that on an idle machine: an unstable one, whose minimum is known."""
        return not self.settled and self.quickest is not None

    @property
    def case(self) -> Case:
        """The case, without device details, day and times."""
        return Case(**{entry.name: getattr(self, entry.name) for entry in fields(Case)})

    @property
    def day(self) -> str:
        """The day on which it was measured, in UTC."""
        return self.when[:10]

    @property
    def transfer(self) -> float:
        """Seconds to copy the inputs to the device and the results back."""
        return self.to_device + self.from_device

    @property
    def is_from_browser(self) -> bool:
        """Whether a browser measured it: that of this visit, or one whose recording was opened."""
        return self.device == WEBGPU or self.implementation == JAVASCRIPT

    @property
    def named_device(self) -> str:
        """The device by its name, a CPU with its number of threads."""
        threads = f", {self.threads} thread{'s' * (self.threads != 1)}" if self.device == "cpu" else ""
        return f"{self.device_name}{threads}"

    @property
    def origin(self) -> str:
        """The device; if the timing was not measured here, also the word "recorded", the day and the file."""
        if self.source == BROWSER:
            return f"{self.device_name}, measured in your browser {self.day}"
        if self.source and self.is_from_browser:
            return f"{self.device_name}, recorded in a browser {self.day} ({self.file})"
        recorded = f", recorded {self.day} ({self.source})" if self.source else ""
        return f"{self.named_device}{recorded}"

    @property
    def file(self) -> str:
        """The source; without the words that a browser measured it, which `origin` says."""
        return self.source.removesuffix(f", from {BROWSER}")

    @property
    def spread(self) -> Spread:
        """Median, quartiles and minimum; raises ValueError if the timing has an error."""
        if self.median is None or self.lower is None or self.upper is None:
            raise ValueError(f"{self.implementation} at {self.length:,} tokens has no time: {self.error}")
        ends = (self.quickest, self.repeated) if self.is_minimum else (None, None)
        return Spread(self.median, self.lower, self.upper, self.repeats, *ends)

    @property
    def seconds(self) -> float:
        """The time of a call that is drawn and compared; raises ValueError if the timing has an error."""
        return self.spread.seconds


def name(text: str, otherwise: str, most: int = SHORT) -> str:
    """Returns the text without the characters that a name must not contain; `otherwise` if nothing is left."""
    return "".join(letter for letter in text if NAME.fullmatch(letter))[:most].strip() or otherwise

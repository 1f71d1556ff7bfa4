"""Monitors executors: logs tasks that wait too long for a thread, and what the busy threads are doing.

Waiting is no fault by itself, as other tasks compute. An executor is stalled if none of its tasks has ended for a while
and no computing thread has used its processor meanwhile: what they wait for does not come.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic, sleep
from types import FrameType

from attention.runtime.executors import EXECUTORS, RankedExecutor
from attention.runtime.threads import POOLS

CLOCK = 2.0  # seconds between two checks
LATE = 10.0  # seconds that a task may wait for a thread before that is logged
STALLED_AFTER = 30.0  # seconds without progress after which an executor counts as stalled
TICKS = 2  # ticks of 10 ms that threads which only wait may use meanwhile
DEEP = 3  # frames that are named of each thread
log = logging.getLogger(__name__)


class StallDetector:
    """Checks executors now and then; `stalled` reports the last check."""

    def __init__(
        self,
        lanes: Iterable[RankedExecutor] = EXECUTORS,
        clock: Callable[[], float] = monotonic,
        ticks: Callable[[], int] | None = None,
    ) -> None:
        self.lanes, self.clock, self.ticks = lanes, clock, ticks or compute_ticks
        self.logged: dict[str, int] = {}  # number of the task that was last logged, by executor
        self.still: dict[str, tuple[object, int, float]] = {}  # by executor: state, ticks until then, since when
        self.first: dict[str, tuple[int, float]] = {}  # by executor: number of the next task, since when

    def start(self) -> None:
        """Starts checking, in a thread of its own."""
        threading.Thread(target=self._go_on, name="watch", daemon=True).start()

    def look(self) -> None:
        """Checks all executors, and logs tasks that wait too long, once each."""
        now, ticks = self.clock(), self.ticks()
        for lane in list(self.lanes):
            first = next(iter(lane.waiting[:1]), None)
            waited = now - self._since(lane, first[1], first[0]) if first else 0.0
            if first is None or waited < LATE:
                self.still.pop(lane.name, None)
                continue
            if self.logged.get(lane.name) != first[1]:
                self.logged[lane.name] = first[1]
                log.warning(
                    "Work has waited %.0f s for %r, whose threads are held: %s", waited, lane, lane_stacks(lane)
                )
            doing = first[1], sorted(lane.busy.items())
            before = self.still.get(lane.name)
            if before is None or before[0] != doing or ticks - before[1] > TICKS:
                self.still[lane.name] = doing, ticks, now

    def _since(self, lane: RankedExecutor, number: int, due: float) -> float:
        """Returns since when a task has waited; a piece waits only once it is the next."""
        if not lane.pieces:
            return due
        if self.first.get(lane.name, (None,))[0] != number:
            self.first[lane.name] = number, self.clock()
        return self.first[lane.name][1]

    def stalled(self) -> str:
        """Returns a sentence with the executors that are stalled; empty if none is."""
        now = self.clock()
        names = [name for name, (_, _, since) in self.still.copy().items() if now - since >= STALLED_AFTER]
        return f"stuck: work waits for {', '.join(sorted(names))}, and no thread moves" if names else ""

    def _go_on(self) -> None:
        while True:
            sleep(CLOCK)
            self.look()


def lane_stacks(lane: RankedExecutor) -> str:
    """Returns what the busy threads of an executor are doing: their innermost frames, from the outside in."""
    frames = sys._current_frames()
    return "; ".join(_place(frames.get(thread)) for thread in list(lane.busy)) or "by nothing"


def _place(frame: FrameType | None) -> str:
    lines = traceback.extract_stack(frame)[-DEEP:] if frame else []
    return " > ".join(f"{Path(line.filename).name}:{line.lineno} {line.name}" for line in lines) or "gone"


def compute_ticks() -> int:
    """Returns the ticks of processor time that computing threads have used; off Linux, a number that always grows."""
    if sys.platform != "linux":
        return int(monotonic() * 100)
    return sum(_ticks(thread.native_id) for thread in threading.enumerate() if _pool(thread.name) in POOLS)


def _pool(name: str) -> str:
    return name.rpartition("_")[0]


def _ticks(thread: int | None) -> int:
    try:
        fields = Path(f"/proc/self/task/{thread}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # the thread has ended
        return 0
    return int(fields[11]) + int(fields[12])


STALL_DETECTOR = StallDetector()

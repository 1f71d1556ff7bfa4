"""Maps of long sequences for visitors: drawn in the background, head after head, while pages look on.

A page asks for the drawing of a config, gets its preview, and comes back for the heads that are finished. One drawing
is made at a time, by two threads for its blocks or by a cluster (attention/cluster.py); others wait in line, each with
its preview. Visitors of the same config share its drawing; it is stopped when all have turned away from it or when none
has looked for a while.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import OrderedDict
from concurrent.futures import Executor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import Any, TypeVar

from torch import Tensor

from attention.config import Config
from attention.machine.lanes import Lane, Work
from attention.machine.threads import one_thread
from attention.maps import cluster
from attention.maps.estimate import THREADS, Estimate, estimate, measured_rate
from attention.maps.exact import HeadMaps, each_head, joined
from attention.maps.jobs import Cancelled
from attention.maps.zoom import preview
from attention.sources.generated import queries_and_keys

KEPT = 3  # finished drawings, of at most 300 MB each
GONE = 15.0  # seconds after which a visitor who no longer looks is taken to have left; a busy machine may take five
MODEST = 15  # niceness of the threads that compute blocks
T = TypeVar("T")
log = logging.getLogger(__name__)


def _modest() -> None:
    """Lets every other thread go first: a long map may take its time, another visitor's slider may not. Linux only."""
    one_thread()
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), MODEST)


@dataclass(eq=False)
class Drawing:
    """The maps of a config. `preview` comes first, then `heads`, in their order.

    `state`: waiting, drawing, done, cancelled or failed; `share` of the exact maps that is done, from 0 to 1.
    """

    config: Config
    side: int
    estimate: Estimate
    tensors: Work[tuple[Tensor, Tensor]]
    preview: Work[HeadMaps]
    heads: list[HeadMaps] = field(default_factory=list)
    state: str = "waiting"
    share: float = 0.0
    looks: dict[str, float] = field(default_factory=dict)  # when each visitor has last looked

    @property
    def open(self) -> bool:
        """Is there more to come?"""
        return self.state in ("waiting", "drawing")

    def look(self, visitor: str) -> None:
        """Notes that a visitor looks at it."""
        self.looks[visitor] = monotonic()

    def leave(self, visitor: str) -> None:
        """A visitor no longer waits for it; with the last one it stops, and what is finished stays."""
        self.looks.pop(visitor, None)
        self.stopped()

    def looked_at(self, work: Work[T], visitor: str) -> T:
        """What comes first, its tensors or its preview, which a visitor waits for."""
        while True:
            try:
                return work.result(GONE / 4)
            except NotYet:
                if work.done():
                    raise
                self.look(visitor)

    @property
    def maps(self) -> HeadMaps | None:
        """The maps of all heads, None before all are finished."""
        return joined(self.heads) if self.state == "done" else None

    def stopped(self) -> bool:
        """Is it stopped, or to be stopped, as nobody looks?"""
        latest = monotonic() - GONE
        if self.open and not any(look > latest for look in list(self.looks.values())):
            self.state = "cancelled"
        return self.state == "cancelled"


class Studio:
    """Draws what pages ask for."""

    def __init__(self) -> None:
        self.lock, self.drawings = threading.Lock(), OrderedDict[Config, Drawing]()
        self.sketchers, self.own = Lane("sketch", 0, THREADS), Lane("blocks", 0, THREADS, _modest)
        self.previews, self.maps = Lane("preview", 1, 1), Lane("maps", 2, 1)

    @cached_property
    def blocks(self) -> Executor:
        """Who computes blocks of rows: a cluster, where an owner names one."""
        return cluster.executor() or self.own

    def ask(self, config: Config, side: int, visitor: str) -> Drawing:
        """The drawing of a config (give its `tensors`) for a visitor, begun if there is none or if it was stopped.

        Whoever asks turns away from all others.
        """
        with self.lock:
            for other in self.drawings.values():
                if other.config != config:
                    other.leave(visitor)
            found = self.drawings.get(config)
            if found is None or found.stopped():
                found = self.drawings[config] = self._begun(config, side, visitor)
            found.look(visitor)
            self.drawings.move_to_end(config)
            for old in list(self.drawings.values())[:-KEPT]:
                if not old.open or old.stopped():
                    del self.drawings[old.config]
            return found

    def find(self, config: Config) -> Drawing | None:
        """The drawing of a config as it is, for somebody who has turned away from it."""
        return self.drawings.get(config)

    def forget(self, drawing: Drawing) -> None:
        """Whoever asks for this picture next gets a fresh start, as after a failure."""
        with self.lock:
            if self.drawings.get(drawing.config) is drawing:
                del self.drawings[drawing.config]

    def waiting(self, drawing: Drawing) -> int:
        """How many drawings come before this one."""
        with self.lock:
            before = [other for other in self.drawings.values() if other.open and other is not drawing]
        return len(before) if drawing.state == "waiting" else 0

    def _begun(self, config: Config, side: int, visitor: str) -> Drawing:
        guess = estimate(config.tokens, config.heads, config.d_model, config.rule, config.span, measured_rate())
        tensors, sketch = self.previews.promise(), self.previews.promise()
        found = Drawing(config, side, guess, tensors, sketch, looks={visitor: monotonic()})
        self.previews.submit(self._sketch, found)
        self.maps.submit(self._draw, found)
        return found

    def _sketch(self, drawing: Drawing) -> None:
        for future, make in ((drawing.tensors, self._tensors), (drawing.preview, self._preview)):
            try:
                future.set_result(make(drawing))
            except Exception as error:  # whoever waits for it gets it
                future.set_exception(error)

    def _tensors(self, drawing: Drawing) -> tuple[Tensor, Tensor]:
        if drawing.stopped():
            raise Cancelled("Nobody waits for this picture any more.")
        return queries_and_keys(drawing.config, self.sketchers)

    def _preview(self, drawing: Drawing) -> HeadMaps:
        query, key = drawing.tensors.result()
        return preview(query, key, executor=self.sketchers, side=drawing.side, **asked(drawing.config))

    def _draw(self, drawing: Drawing) -> None:
        def progress(share: float) -> None:
            drawing.share = share

        try:
            query, key = drawing.tensors.result()
            drawing.preview.exception()  # the wait for what somebody looks for at this moment: all threads are its own
            if drawing.stopped():
                return
            drawing.state = "drawing"
            watched = {"executor": self.blocks, "progress": progress, "cancelled": drawing.stopped}
            for head in each_head(query, key, side=drawing.side, **asked(drawing.config), **watched):
                drawing.heads.append(head)
            drawing.state = "done"
        except Cancelled:
            drawing.state = "cancelled"
        except Exception:
            log.exception("A map of %s tokens failed.", drawing.config.tokens)
            drawing.state = "failed"


def asked(config: Config) -> dict[str, Any]:
    """What `head_maps` is asked for, apart from the size of the picture."""
    options = {"mask": config.rule, "span": config.span, "scale": config.factor, "pool": "max"}
    return options | {"positions": config.positions, "softcap": config.softcap or None, "softmax": config.softmax}

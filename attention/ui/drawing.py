"""Maps of long sequences for visitors: drawn in the background, head after head, while pages look on.

A page asks for the drawing of a config, gets its preview, and comes back for the heads that are finished. One drawing
is made at a time, by two threads for its blocks or by a cluster (attention/cluster.py); others wait in line, each with
its preview. A drawing at which nobody has looked for a while is stopped.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import OrderedDict
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from torch import Tensor

from attention import cluster
from attention.config import Config
from attention.estimate import THREADS, Estimate, estimate, measured_rate
from attention.maps import HeadMaps, each_head, joined
from attention.projected import queries_and_keys
from attention.spread import Cancelled
from attention.zoom import preview

KEPT = 3  # finished drawings, of at most 300 MB each
GONE = 5.0  # seconds after which a visitor who no longer looks is taken to have left
MODEST = 15  # niceness of the threads that compute blocks
T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(eq=False)
class Drawing:
    """The maps of a config. `preview` comes first, then `heads`, in their order.

    `state`: waiting, drawing, done, cancelled or failed; `share` of the exact maps that is done, from 0 to 1.
    """

    config: Config
    side: int
    estimate: Estimate
    tensors: Future[tuple[Tensor, Tensor]] = field(default_factory=Future)
    preview: Future[HeadMaps] = field(default_factory=Future)
    heads: list[HeadMaps] = field(default_factory=list)
    state: str = "waiting"
    share: float = 0.0
    seen: float = field(default_factory=monotonic)

    @property
    def open(self) -> bool:
        """Is there more to come?"""
        return self.state in ("waiting", "drawing")

    def looked_at(self, future: Future[T]) -> T:
        """What comes first, its tensors or its preview, while somebody waits for it."""
        while not wait([future], GONE / 4).done:
            self.seen = monotonic()
        return future.result()

    @property
    def maps(self) -> HeadMaps | None:
        """The maps of all heads, None before all are finished."""
        return joined(self.heads) if self.state == "done" else None

    def cancel(self) -> None:
        """Stops it; what is finished stays."""
        if self.open:
            self.state = "cancelled"

    def stopped(self) -> bool:
        """Was it cancelled, or has everybody left?"""
        if monotonic() - self.seen > GONE:
            self.cancel()
        return self.state == "cancelled"


class Studio:
    """Draws what pages ask for."""

    def __init__(self) -> None:
        self.lock, self.drawings = threading.Lock(), OrderedDict[Config, Drawing]()
        self.sketching, self.sketchers = ThreadPoolExecutor(1, "preview"), ThreadPoolExecutor(THREADS, "sketch")
        self.drawing = ThreadPoolExecutor(1, "maps")
        self.blocks: Executor = cluster.executor() or ThreadPoolExecutor(THREADS, "blocks", _modest)

    def ask(self, config: Config, side: int) -> Drawing:
        """The drawing of a config (give its `tensors`), begun if there is none; that somebody looks at it is noted."""
        with self.lock:
            found = self.drawings.get(config)
            if found is None or (found.state == "cancelled" and monotonic() - found.seen > GONE):
                found = self.drawings[config] = self._begun(config, side)
            found.seen = monotonic()
            self.drawings.move_to_end(config)
            for old in list(self.drawings.values())[:-KEPT]:
                if not old.open or old.stopped():
                    del self.drawings[old.config]
            return found

    def again(self, old: Drawing) -> Drawing:
        """A fresh start of a drawing that was cancelled or failed."""
        with self.lock:
            self.drawings.pop(old.config, None)
        return self.ask(old.config, old.side)

    def waiting(self, drawing: Drawing) -> int:
        """How many drawings come before this one."""
        with self.lock:
            before = [other for other in self.drawings.values() if other.open and other is not drawing]
        return len(before) if drawing.state == "waiting" else 0

    def _begun(self, config: Config, side: int) -> Drawing:
        guess = estimate(config.tokens, config.heads, config.d_model, config.rule, config.span, measured_rate())
        found = Drawing(config, side, guess)
        self.sketching.submit(self._sketch, found)
        self.drawing.submit(self._draw, found)
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
            if drawing.stopped():
                return
            drawing.state = "drawing"
            watched = {"executor": self.blocks, "progress": progress, "cancelled": drawing.stopped}
            for head in each_head(query, key, side=drawing.side, **asked(drawing.config), **watched):
                drawing.heads.append(head)
            drawing.state = "done"
        except Cancelled:
            drawing.cancel()
        except Exception:
            log.exception("A map of %s tokens failed.", drawing.config.tokens)
            drawing.state = "failed"


def _modest() -> None:
    """Lets every other thread go first: a long map may take its time, another visitor's slider may not. Linux only."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), MODEST)


def asked(config: Config) -> dict[str, Any]:
    """What `head_maps` is asked for, apart from the size of the picture."""
    options = {"mask": config.rule, "span": config.span, "scale": config.factor, "pool": "max"}
    return options | {"positions": config.positions, "softcap": config.softcap or None, "softmax": config.softmax}

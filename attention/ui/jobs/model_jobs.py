"""A model that reads as a task: it is loaded where it is not yet, and run, while pages look on (attention/models).

Loading and running take a thread that makes way for all others. What it takes is asked of the memory's budget first.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from PIL import Image

from attention.models.catalogue import FOLDER, Offer
from attention.models.loading import Model, load
from attention.models.model_cache import Loaded
from attention.models.packages import ModelError
from attention.models.run import Run, run
from attention.runtime.budget import trim
from attention.runtime.executors import RankedExecutor
from attention.runtime.threads import one_thread
from attention.ui.budget import BUDGET
from attention.ui.jobs.job import Job

log = logging.getLogger(__name__)
SAID = 300  # characters of what a library complains of
MODEST = 5  # niceness of the thread
LOADING = 0.7  # share of the work that loading is
LOADED_MODELS = BUDGET.register(Loaded())


class Ask(NamedTuple):
    """A model, what it shall read, and how many bytes it may take; `picture`: the bytes of a PNG, b"" for the one that ships."""

    offer: Offer
    text: str
    second: str
    picture: bytes
    most: int


class Stopped(Exception):  # noqa: N818 (nothing went wrong)
    """Nobody waits for it any more."""


@dataclass(eq=False)
class ModelJob(Job):
    """A pass of a model over what somebody typed. `found` is what came of it, `now` what is being done."""

    settings: Ask
    found: Run | None = field(default=None, init=False)
    now: str = field(default="", init=False)
    cold: bool = field(default=False, init=False)
    reserved: int = field(default=0, init=False)

    kind: ClassVar[str] = "model"
    history: ClassVar[int] = 4
    keep_s: ClassVar[float] = 600.0
    pauses: ClassVar[bool] = False
    leave_after_s: ClassVar[float] = 60.0

    def run(self) -> None:
        """Loads, where need be, and runs."""
        try:
            LANE.submit(self._run_model).result()
        except Stopped:
            return
        except ModelError as error:
            self.end("failed", str(error))
        except Exception as error:
            log.exception("a model could not be run")
            self.end("failed", self._why(error))
        finally:
            self.reserved = 0

    def _why(self, error: Exception) -> str:
        """What failed, in which words of the library's; where on this host the model lies is nobody's business."""
        offer, said = self.settings.offer, " ".join(str(error).split())
        said = said.replace(offer.where, "it") if offer.kind == FOLDER else said
        doing = f"{self.now[:1].lower()}{self.now[1:]}" or "getting it ready"
        return f"“{offer.name}” can't be shown. It failed at {doing}: {type(error).__name__}{f': {said[:SAID]}' * bool(said)}"

    def _run_model(self) -> None:
        offer, text, second, picture, _ = self.settings
        self.cold = offer not in LOADED_MODELS
        image = Image.open(io.BytesIO(picture)) if picture else None
        with LOADED_MODELS.using(offer, self._load) as model:
            self.reserved, self.now = 0, "Running it"
            self.found = run(model, text, second, image, self._on_pass_progress, self._reserve)
            self.reserved = 0

    def _load(self) -> Model:
        found = load(self.settings.offer, self.settings.most, self._reserve, self._on_loaded)
        trim()
        return found

    def _reserve(self, size: int) -> bool:
        """Is there room for so many bytes? Then they are taken."""
        there = BUDGET.room(size)
        self.reserved = size if there else 0
        return there

    def _on_loaded(self, now: str, share: float) -> None:
        self.now = now
        self._on_progress(LOADING * share)

    def _on_pass_progress(self, share: float) -> None:
        begun = LOADING if self.cold else 0.0
        self._on_progress(begun + (1 - begun) * share)

    def _on_progress(self, share: float) -> None:
        self.progress(share)
        if self.stop():
            raise Stopped

    @property
    def doing(self) -> str:
        """For whoever waits behind it."""
        return "a model is being run"

    @property
    def claim(self) -> int:
        """Bytes that are reserved while a model is loaded and run, then those of what came of it."""
        return self.reserved + (self.found.bytes if self.found else 0)


def _modest() -> None:
    """Lets every other thread go first: a model may take its time, another visitor's slider may not. Linux only."""
    one_thread()
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), MODEST)


LANE = RankedExecutor("model", 0, 1, _modest)

"""Jobs that load a model, unless it is loaded, and run it while pages show progress (attention/models).

Loading and running take place in a thread with a lower priority than all others. Their memory is first requested from the
budget.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import torch
from PIL import Image

from attention.interventions.leaks import Leaks, leaks
from attention.models.catalogue import FOLDER, Offer
from attention.models.heads_off import HeadsOff
from attention.models.inputs import model_inputs
from attention.models.loading import Model, load
from attention.models.model_cache import Loaded
from attention.models.packages import ModelError
from attention.models.run import Run, run
from attention.recorded.minilm import Bert
from attention.runtime.budget import trim
from attention.runtime.executors import RankedExecutor
from attention.runtime.threads import one_thread
from attention.story.head import Vectors, read_vectors
from attention.story.settings import CHARACTERS
from attention.ui.budget import BUDGET
from attention.ui.jobs.job import Job
from attention.ui.text import jobs as words

log = logging.getLogger(__name__)
SAID = 300  # characters of a library's error message
MODEST = 5  # niceness of the thread
LONGEST_TEST = 128  # tokens of a leak test, which runs the model twice per token
TEST_MEMORY = 2**26  # bytes of the outputs that a leak test compares at a time
LOADING = 0.7  # loading as a share of the work
LOADED_MODELS = BUDGET.register(Loaded())


class Ask(NamedTuple):
    """A model, its input, and the bytes that it may take.

    `picture`: the bytes of a PNG, b"" for the included one. `download`: whether it may be downloaded.
    """

    offer: Offer
    text: str
    second: str
    picture: bytes
    most: int
    download: bool = True


class AskWithout(NamedTuple):
    """As `Ask`, and the heads that are switched off in the run."""

    offer: Offer
    text: str
    second: str
    picture: bytes
    most: int
    download: bool
    off: HeadsOff


class Stopped(Exception):  # noqa: N818 (nothing went wrong)
    """No visitor waits for the job any more."""


@dataclass(eq=False)
class LoadedModelJob(Job):
    """What a loaded model does with a visitor's input; each kind implements `use`. `now`: the current stage in words."""

    settings: Any  # an Ask, or a NamedTuple that begins with its fields
    now: str = field(default="", init=False)
    cold: bool = field(default=False, init=False)
    reserved: int = field(default=0, init=False)

    history: ClassVar[int] = 4
    keep_s: ClassVar[float] = 600.0
    pauses: ClassVar[bool] = False
    leave_after_s: ClassVar[float] = 60.0

    def run(self) -> None:
        """Loads the model if it is not loaded, and runs it."""
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
        """What failed, with the message of the library, but without the path of the model on this host."""
        offer, said = self.settings.offer, " ".join(str(error).split())
        said = said.replace(offer.where, "it") if offer.kind == FOLDER else said
        doing = f"{self.now[:1].lower()}{self.now[1:]}" or words.GETTING_READY
        more = words.MODEL_SAID.format(said=said[:SAID]) if said else ""
        return words.MODEL_FAILED.format(name=offer.name, doing=doing, error=type(error).__name__, said=more)

    def _run_model(self) -> None:
        ask = self.settings
        self.cold = ask.offer not in LOADED_MODELS
        image = Image.open(io.BytesIO(ask.picture)) if ask.picture else None
        with LOADED_MODELS.using(ask.offer, self._load) as model:
            self.reserved, self.now = 0, words.RUNNING
            self.use(model, ask.text, ask.second, image)
            self.reserved = 0

    def use(self, model: Model, text: str, second: str, image: Image.Image | None) -> None:
        """Computes the result with the loaded model."""
        raise NotImplementedError

    def _load(self) -> Model:
        asked = self.settings
        found = load(asked.offer, asked.most, self._reserve, self._on_loaded, asked.download)
        trim()
        return found

    def _reserve(self, size: int) -> bool:
        """Whether there is room for `size` bytes; if so, reserves them."""
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
        if self.should_stop():
            raise Stopped

    @property
    def doing(self) -> str:
        """What is done, as visitors who wait behind it read it."""
        return words.MODEL

    @property
    def claim(self) -> int:
        """Bytes that are reserved while a model is loaded and run."""
        return self.reserved


@dataclass(eq=False)
class ModelJob(LoadedModelJob):
    """A pass of a model over a visitor's input. `found`: the result.

    `before`: the run on the same text without its last token, whose keys and values are used; None once it has run.
    `vectors`: those of the tokens of a sentence that MiniLM reads, which Start compares.
    """

    before: Run | None = field(default=None, kw_only=True)
    found: Run | None = field(default=None, init=False)
    vectors: Vectors | None = field(default=None, init=False)

    kind: ClassVar[str] = "model"

    def use(self, model: Model, text: str, second: str, image: Image.Image | None) -> None:
        """Runs the model once."""
        self.found = run(model, text, second, image, self._on_pass_progress, self._reserve, self.before)
        self.before = None
        if isinstance(model.net, Bert) and not second and len(text) <= CHARACTERS:
            with torch.no_grad():
                self.vectors = read_vectors(model.net, model_inputs(model, text, second, image).tensors["input_ids"])

    @property
    def claim(self) -> int:
        """Bytes that are reserved while a model is loaded and run, then those of the result."""
        return self.reserved + (self.found.bytes if self.found else 0)


@dataclass(eq=False)
class WithoutHeadsJob(ModelJob):
    """A pass of a model without some of its heads. `found`: the result."""

    kind: ClassVar[str] = "model without heads"

    def use(self, model: Model, text: str, second: str, image: Image.Image | None) -> None:
        """Runs the model without these heads; raises ModelError if they can't be switched off."""
        self.found = run(model, text, second, image, self._on_pass_progress, self._reserve, off=self.settings.off)


@dataclass(eq=False)
class LeakJob(LoadedModelJob):
    """The leak test of a model on a visitor's text. `found`: the result."""

    found: Leaks | None = field(default=None, init=False)

    kind: ClassVar[str] = "leak test"

    def use(self, model: Model, text: str, second: str, image: Image.Image | None) -> None:
        """Replaces each token in turn; raises ModelError if the text is too long or memory is lacking."""
        given = model_inputs(model, text, second, image)
        if given.patches is not None:
            raise ModelError(words.PICTURE_IN_TEST)
        read, written = given.tensors["input_ids"], given.tensors.get("decoder_input_ids")
        labels, ids = (given.reads, read) if given.writes is None or written is None else (given.writes, written)
        if len(labels) > LONGEST_TEST:
            raise ModelError(words.LONG_TEST.format(tokens=len(labels), most=LONGEST_TEST))
        if not self._reserve(2 * TEST_MEMORY):
            raise ModelError(words.MEMORY_OF_TEST)
        inputs = {} if ids is read else {"input_ids": read}
        self.found = leaks(
            model.net, ids, tokens=labels.texts, inputs=inputs, memory=TEST_MEMORY, progress=self._on_pass_progress
        )


def _modest() -> None:
    """Lowers the priority of the thread: a model may take its time, another visitor's slider may not. Linux only."""
    one_thread()
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), MODEST)


LANE = RankedExecutor("model", 0, 1, _modest)

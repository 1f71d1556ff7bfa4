"""The models that are loaded: some stay for whoever asks next, as long as there is memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from time import monotonic

from attention.models.catalogue import Offer
from attention.models.loading import Model

IDLE = 1800.0  # seconds after which one that nobody has run is let go of: to load it takes longer than to run it


class Loaded:
    """Models by their offers, as a claim on memory; the one that is in use stays."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock, self.lock = clock, RLock()
        self.models: dict[Offer, Model] = {}  # the one that was used longest ago first
        self.used: dict[Offer, float] = {}
        self.busy: set[Offer] = set()

    def __contains__(self, offer: Offer) -> bool:
        return offer in self.models

    @contextmanager
    def using(self, offer: Offer, load: Callable[[], Model]) -> Iterator[Model]:
        """The model of an offer, loaded if need be, which is kept while this lasts and for a while after."""
        with self.lock:
            self.busy.add(offer)
            model = self.models.pop(offer, None)
            if model is not None:
                self.models[offer] = model
        try:
            if model is None:
                model = load()
                with self.lock:
                    self.models[offer] = model
            yield model
        finally:
            with self.lock:
                self.busy.discard(offer)
                self.used[offer] = self.clock()

    @property
    def used_bytes(self) -> int:
        """Bytes of all of them."""
        with self.lock:
            return sum(model.bytes for model in self.models.values())

    @property
    def unevictable_bytes(self) -> int:
        """Those of models that somebody is using."""
        with self.lock:
            return sum(model.bytes for offer, model in self.models.items() if offer in self.busy)

    def give_back(self, size: int) -> None:
        """Lets go of about so many bytes, of models that nobody is using."""
        with self.lock:
            for offer in [offer for offer in self.models if offer not in self.busy]:
                if size <= 0:
                    return
                size -= self.models.pop(offer).bytes

    def expire(self, before: float) -> None:
        """Lets go of what nobody has run for long."""
        with self.lock:
            for offer in [offer for offer in self.models if offer not in self.busy]:
                if self.clock() - self.used.get(offer, 0.0) > IDLE:
                    del self.models[offer]

"""The cache of loaded models: some stay loaded for the next request, as long as there is memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from time import monotonic

from attention.models.catalogue import Offer
from attention.models.loading import Model

IDLE = 1800.0  # seconds after which an unused model is dropped: loading it takes longer than running it


class Loaded:
    """Loaded models by offer, as a memory holder of the budget; a model in use is not evicted."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock, self.lock = clock, RLock()
        self.models: dict[Offer, Model] = {}  # the least recently used one first
        self.used: dict[Offer, float] = {}
        self.busy: set[Offer] = set()

    def __contains__(self, offer: Offer) -> bool:
        return offer in self.models

    @contextmanager
    def using(self, offer: Offer, load: Callable[[], Model]) -> Iterator[Model]:
        """Provides the model of an offer, loaded if necessary, and keeps it within the context and for a while after."""
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
        """Bytes of all models."""
        with self.lock:
            return sum(model.bytes for model in self.models.values())

    @property
    def unevictable_bytes(self) -> int:
        """Bytes of the models in use."""
        with self.lock:
            return sum(model.bytes for offer, model in self.models.items() if offer in self.busy)

    def give_back(self, size: int) -> None:
        """Drops models that are not in use, until about `size` bytes are freed."""
        with self.lock:
            for offer in [offer for offer in self.models if offer not in self.busy]:
                if size <= 0:
                    return
                size -= self.models.pop(offer).bytes

    def expire(self, before: float) -> None:
        """Drops models that have not been used for IDLE seconds."""
        with self.lock:
            for offer in [offer for offer in self.models if offer not in self.busy]:
                if self.clock() - self.used.get(offer, 0.0) > IDLE:
                    del self.models[offer]

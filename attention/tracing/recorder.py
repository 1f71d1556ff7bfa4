"""Records the calls of one model while it computes, layer by layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attention.tracing.call import Call
from attention.tracing.generating import Update
from attention.tracing.layer_names import is_attention, layer_numbers
from attention.tracing.output_check import mismatch
from attention.tracing.parts import CROSSING
from attention.tracing.sdpa_call import SdpaBatch, SdpaCall, of_weights
from attention.tracing.selection import Choice
from attention.tracing.track import Beams, Place, Track

MULTIPLIED = (
    "it ran before generate made several sequences of each input, so its sequence is another one: watch with batch=0"
)
WINDOWS = "it attends within windows of a picture, each of which is a sequence of its own"
COMPARED, EVERY = 2, 4  # outputs of a layer that are compared with its weights: the first two, then every fourth
NAMED = 8  # number of layers that a sentence lists
SUM = 1e-2  # tolerance of the sums of returned rows of weights, which may be 16-bit numbers


class Recorder:
    """A watcher of one model: `tracks` of its layers by their names, and why others are `missed`."""

    def __init__(self, model: nn.Module, batch: int, choice: Choice) -> None:
        self.model, self.batch, self.choice = model, batch, choice
        self.tracks: dict[str, Track] = {}
        self.missed: dict[str, str] = {}
        self.ran: dict[str, nn.Module] = {}
        self.lost: dict[str, float] = {}  # largest change of a weight by the chosen dtype, per layer
        self.count = 0
        names = [(name.replace("_orig_mod.", ""), module) for name, module in model.named_modules()]
        self.names = {id(module): name or type(model).__name__ for name, module in names}
        self.layer_numbers = layer_numbers(name for name, _ in names)
        self._running: list[tuple[nn.Module, int]] = []
        self._turns: Counter[str] = Counter()
        self._last: dict[str, SdpaCall] = {}
        self._newest: tuple[str, SdpaCall, tuple[str, ...]] | None = (
            None  # the running call, with the names of its unknown arguments
        )
        self._outputs: Counter[str] = Counter()
        self._updates: dict[str, Update] = {}
        self._now: Update | None = None  # the last update of a cache in this run
        self._lengths: dict[int, Update] = {}
        self._pictures = 0  # number of pictures in the batch of this run, 0 if none
        self._searching = False
        self._beams: dict[str, Beams] = {}
        self._calls: dict[str, tuple[Track, Beams | None, Call | str]] = {}

    def on_enter(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        """Notes that a module starts."""
        if name := self.names.get(id(module)):
            if not self._running:
                self._begin()
            if not self._pictures:
                self._pictures = next((len(x) for x in given if isinstance(x, Tensor) and x.ndim == 4), 0)
            self._running.append((module, self.count))
            self.ran[name] = module

    def on_exit(self, module: nn.Module, given: tuple[Any, ...], found: Any) -> None:
        """Notes that a module has ended; attention without a recorded call may have returned its weights."""
        if not any(module is one for one, _ in self._running):
            return
        while (one := self._running.pop())[0] is not module:
            pass
        name = self.names[id(module)]
        if one[1] == self.count and is_attention(name, module):
            weights = self._returned_weights(name, given, found)
            if weights is not None:
                self.on_call(lambda: of_weights(weights, module))

    def on_cache_update(self, update: Update) -> None:
        """Notes that the running module has updated a cache."""
        if self._running:
            self._updates[self._name] = self._now = update
            self._lengths[update.length] = update

    def inputs_multiplied(self) -> None:
        """Drops layers that ran before, as of an encoder, unless `batch` is 0: only row 0 is the same."""
        if self.batch:
            for name in [name for name in self.tracks if name in self.ran]:
                self.missed[name] = MULTIPLIED
                del self.tracks[name]

    def search_begins(self) -> None:
        """Keeps all rows from here on."""
        self._searching = True
        self._beams.clear()

    def search_ended(self, indices: Tensor, prompt: int) -> None:
        """Notes the rows of the returned sequence."""
        self._searching = False
        if self.batch < len(indices):
            rows = indices[self.batch]
            beams = Beams(rows[rows >= 0], prompt)
            self._beams = {name: beams for name, track in self.tracks.items() if len(track.sdpa.q) > 1}

    def on_call(self, tell: Callable[[], SdpaBatch]) -> None:
        """Copies the tensors of a call. Never raises."""
        self.count += 1
        self._newest = None
        name = self._name
        try:
            with torch.no_grad():
                found = tell()
                name = self.names.get(id(found.module), name)
                if name:
                    self._keep(name, found)
        except Exception as error:
            if name:
                self.missed[name] = f"{error}"
                self.tracks.pop(name, None)  # earlier calls are not those of the last run

    def on_output(self, output: Any) -> None:
        """Compares the output of the last call; a layer with a different output is not shown. Never raises."""
        if self._newest is None:
            return
        name, sdpa, unknown = self._newest
        self._outputs[name] += 1
        if not unknown and self._outputs[name] > COMPARED and self._outputs[name] % EVERY:
            return
        try:
            with torch.no_grad():
                why = mismatch(sdpa, output, 0 if self._searching else self.batch, unknown)
        except Exception as error:
            why = f"{error}"
        if why:
            self.missed[name] = why
            self.tracks.pop(name, None)

    def calls(self) -> tuple[dict[str, Call], dict[str, str]]:
        """The calls of all layers, and why some of them, or some of their rows, can't be shown."""
        found, lost = {}, {}
        for name, track in self.tracks.items():
            beams = self._beams.get(name)
            kept = self._calls.get(name)
            if kept is None or kept[0] is not track or kept[1] is not beams:
                self._calls[name] = kept = (track, beams, self._call(track, beams))
            if isinstance(kept[2], Call):
                found[name] = kept[2]
                lost |= {name: track.note} if track.note else {}
            else:
                lost[name] = kept[2]
        return found, lost

    def number(self, name: str) -> int:
        """The number of a layer in its model or, if it runs several times, the number of the run."""
        module, _, turn = name.partition(" (")
        return int(turn[:-1]) - 1 if turn else self.layer_numbers.get(module, 0)

    def about(self, unseen: Mapping[str, str]) -> str:
        """Describes what was kept: which layers are missing, what was chosen, and how accurate it is."""
        said = [f"Not shown: {names}: {why}." for why, names in _by_reason(unseen)]
        if self.choice.heads is not None:
            said.append(f"Heads {', '.join(map(str, self.choice.heads))} of each layer.")
        if self.choice.dtype is not None:
            kind = f"{self.choice.dtype}".removeprefix("torch.")
            said.append(f"Kept in {kind}, which changes a weight by at most {max(self.lost.values(), default=0):.1g}.")
        return " ".join(said)

    @property
    def _name(self) -> str:
        """The name of the running module; empty if no module of this model runs."""
        return self.names[id(self._running[-1][0])] if self._running else ""

    def _begin(self) -> None:
        """Resets the state of a run when the model is called."""
        self._now, self._pictures = None, 0
        for each in (self._turns, self._last, self._updates, self._lengths):
            each.clear()

    def _keep(self, name: str, found: SdpaBatch) -> None:
        """Keeps a call; a layer called several times per run counts as several layers, unless only its values differ."""
        if 0 < self._pictures < len(found.q) and found.q.ndim == 4 and self._now is None:
            raise ValueError(WINDOWS)
        sdpa = found.copy_to_cpu(None if self._searching else self.batch)
        last, self._last[name] = self._last.get(name), sdpa
        if last is not None and _same_scores(last, sdpa):
            return
        place = self._place(name, sdpa)
        turn = self._turns[name]
        self._turns[name] += 1
        name = f"{name} ({turn + 1})" if turn else name
        if self.choice.layers is not None and self.number(name) not in self.choice.layers:
            self.missed.pop(name, None)
            return
        self._newest = (name, sdpa, found.unknown)
        sdpa, lost = self.choice.convert(self.choice.of(sdpa))
        self.lost[name] = max(lost, self.lost.get(name, 0.0))
        before = self.tracks.get(name)
        self.tracks[name] = Track.of(sdpa, place, before, self._searching)
        self._beams.pop(name, None)
        self.missed.pop(name, None)

    def _place(self, name: str, sdpa: SdpaCall) -> Place | None:
        """The place of a call according to its own cache, else that of another layer of this run with as many keys."""
        queries, keys = sdpa.q.shape[2], sdpa.k.shape[2]
        cross = bool(CROSSING.search(name))
        update = self._updates.pop(name, None)
        if update is None and not cross and self._now is not None and self._now.new == queries:
            update = self._lengths.get(keys)
        if update is not None and update.new == queries and update.length == keys and not cross:
            return update.place
        if self._now is not None and self._now.new == queries:
            return Place(self._now.place.first, 0, keys)
        return None

    def _call(self, track: Track, beams: Beams | None) -> Call | str:
        """The call of a track, or why there is none."""
        try:
            return self.choice.rows(track.call(beams))
        except ValueError as error:
            return f"{error}"

    def _returned_weights(self, name: str, given: tuple[Any, ...], found: Any) -> Tensor | None:
        """The weights `(b h q k)` among a layer's outputs: a query per input token, rows that sum to 1."""
        tokens = next((x.shape for x in given if isinstance(x, Tensor) and x.ndim == 3), None)
        update = self._updates.get(name)
        for x in found if isinstance(found, (tuple, list)) else ():
            if not isinstance(x, Tensor) or x.ndim != 4 or not x.is_floating_point() or tokens is None:
                continue
            keys = (tokens[1],) if update is None else (tokens[1], update.length)
            if x.shape[0] == tokens[0] and x.shape[2] == tokens[1] and x.shape[3] in keys and _are_weights(x):
                return x
        return None


def _by_reason(unseen: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each reason with the names of its layers, the first few of which are listed."""
    names: dict[str, list[str]] = {}
    for name, why in unseen.items():
        names.setdefault(why, []).append(name)
    for why, alike in names.items():
        more = f" and {len(alike) - NAMED} more" if len(alike) > NAMED else ""
        yield why, ", ".join(alike[:NAMED]) + more


def _are_weights(x: Tensor) -> bool:
    return bool((x >= 0).all()) and bool(((x.sum(-1, dtype=torch.float32) - 1).abs() < SUM).all())


def _same_scores(one: SdpaCall, two: SdpaCall) -> bool:
    """Whether queries and keys of two calls are the same, so that both have the same weights, on parts of the values."""
    if one.scale != two.scale or not one.q.shape[-1]:
        return False
    return torch.equal(one.q, two.q) and torch.equal(one.k, two.k) and not torch.equal(one.v, two.v)

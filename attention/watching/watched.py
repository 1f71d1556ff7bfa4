"""Watching a model: queries, keys and values of every layer, taken while it computes, whatever its kernels are."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from attention.brought.stack import Stack
from attention.watching.batched import Batched
from attention.watching.call import Call, joined
from attention.watching.parts import Texts, stacks
from attention.watching.passing import SDPA, watching
from attention.watching.saved import save

LOOKS = re.compile(r"atten|attn|multihead|mha\b", re.IGNORECASE)  # in the class of a layer that is one of attention
OWN_WAY = "it ran, and made no call of attention that can be seen: it may multiply by itself, or call a kernel directly"
NAMED = 5  # layers that a warning names
NOTHING = (
    "No attention was seen. Call the model itself while it is watched (model(x), not model.forward(x)), in the same "
    "thread, and not compiled."
)


class Watched:
    """What was seen of a model. `calls`: of each layer by its name, the last run, or all of a text that was written on.

    A context manager around calls of the model, or called in its place: `seen = watch(model); seen(**inputs)`. Nothing of
    the model is changed: it takes the kernels that it always takes, and what it returns is the same, bit by bit.
    """

    def __init__(self, model: nn.Module, batch: int = 0) -> None:
        self.model, self.batch = model, batch
        self.calls: dict[str, Call] = {}
        self.count = 0
        self._names = {id(module): name or type(model).__name__ for name, module in model.named_modules()}
        self._missed: dict[str, str] = {}
        self._ran: dict[str, nn.Module] = {}
        self._running: list[nn.Module] = []
        self._turns: Counter[str] = Counter()
        self._open: ExitStack | None = None

    def __enter__(self) -> Watched:
        if self._open is not None:
            raise RuntimeError("This model is being watched already; end that first.")
        with ExitStack() as stack:
            stack.enter_context(watching(self, _aliases(self.model)))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *failed: Any) -> None:
        stack, self._open = self._open, None
        if stack is not None:
            stack.close()
        if not any(failed) and (unseen := self.unseen):
            names = ", ".join([*list(unseen)[:NAMED], *(["…"] if len(unseen) > NAMED else [])])
            warnings.warn(f"attention.watch can't see {len(unseen)} layers: {names}. `unseen` says why.", stacklevel=2)

    def __call__(self, *given: Any, **named: Any) -> Any:
        """What the model returns, watched."""
        with self:
            return self.model(*given, **named)

    def __repr__(self) -> str:
        return f"<{type(self.model).__name__}: {len(self.calls)} layers seen, {len(self.unseen)} not>"

    @property
    def unseen(self) -> dict[str, str]:
        """Layers of attention that ran and can't be seen, by name, each with why."""
        seen = [name for name in self._ran if name in self.calls]
        dark = [name for name, module in self._ran.items() if _looks(module) and not self._joins(name, seen)]
        inner = {name: OWN_WAY for name in dark if not any(self._within(other, name) for other in dark)}
        return {name: why for name, why in (inner | self._missed).items() if name not in self.calls}

    def parts(self, tokens: Sequence[str] = (), keys: Sequence[str] = (), title: str = "") -> dict[str, Stack]:
        """All layers as stacks: one under "", or several, as of an encoder, a decoder, and what joins both.

        `tokens`: the texts of the queries; `keys`: those of the other sequence, as of an encoder. Raises ValueError where
        nothing was seen, and for texts of another number.
        """
        if not self.calls:
            unseen = "".join(f" {name}: {why}." for name, why in list(self.unseen.items())[:NAMED])
            raise ValueError(NOTHING + unseen)
        return stacks(self.calls, title or type(self.model).__name__, Texts(tokens, keys))

    def save(
        self, path: str | Path, tokens: Sequence[str] = (), keys: Sequence[str] = (), title: str = ""
    ) -> list[Path]:
        """Writes safetensors that the app opens under *Your data*; of several parts a file each, their names added to it."""
        return save(self.parts(tokens, keys, title), path)

    def entered(self, module: nn.Module) -> None:
        """A module begins."""
        if name := self._names.get(id(module)):
            if not self._running:
                self._turns.clear()
            self._running.append(module)
            self._ran[name] = module

    def left(self, module: nn.Module) -> None:
        """A module has ended, or failed."""
        if any(module is one for one in self._running):
            while self._running.pop() is not module:
                pass

    def told(self, tell: Callable[[], Batched]) -> None:
        """A call passes: its numbers are copied. Never raises."""
        self.count += 1
        name = self._names[id(self._running[-1])] if self._running else ""
        try:
            with torch.no_grad():
                found = tell()
                name = self._names.get(id(found.module), name)
                if name:
                    self._keep(name, found.one(self.batch))
        except Exception as error:
            if name:
                self._missed[name] = f"{error}"

    def _joins(self, name: str, seen: list[str]) -> bool:
        """Is a layer that was seen this one, a part of it, or around it?"""
        return any(one == name or self._within(one, name) or self._within(name, one) for one in seen)

    def _within(self, inner: str, outer: str) -> bool:
        """Is a module a part of another? The model itself is around all."""
        root = self._names[id(self.model)]
        return inner != root and (outer == root or inner.startswith(f"{outer}."))

    def _keep(self, name: str, call: Call) -> None:
        """Of a layer that is called several times in one run, each time is a layer of its own."""
        turn = self._turns[name]
        self._turns[name] += 1
        name = f"{name} ({turn + 1})" if turn else name
        before = self.calls.get(name)
        self.calls[name] = (joined(before, call) if before else None) or call


def watch(model: nn.Module, batch: int = 0) -> Watched:
    """Takes the queries, keys and values of every layer of attention while a model computes; of one sequence of a batch.

        with attention.watch(model) as seen:
            model(**inputs)
        attention.show(seen, tokens=tokens)

    It sees calls of torch's `scaled_dot_product_attention`, whatever kernel that takes, the attention functions of
    transformers (eager, SDPA, flash, flex), and the layers of `torch.nn`; `unseen` names the layers that it can't see, and a
    warning does. Grouped keys, masks, scales, softcaps and sinks are kept. Copies stand on the CPU until what it returns is gone.
    """
    return Watched(model, batch)


def _looks(module: nn.Module) -> bool:
    """Is it one of attention, by its name, and does it compute by parameters?"""
    return bool(LOOKS.search(type(module).__name__)) and next(module.parameters(), None) is not None


def _aliases(model: nn.Module) -> Iterator[tuple[Any, str]]:
    """Names that the modules of the model's own packages have given to torch's function."""
    packages = {type(module).__module__.partition(".")[0] for module in model.modules()} - {"torch"}
    original = getattr(F, SDPA)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages and module is not None:
            yield from ((module, known) for known, value in list(vars(module).items()) if value is original)

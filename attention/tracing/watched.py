"""Watches a model: records queries, keys and values of every layer while it computes, whatever its kernels are."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attention.imported.stack import Stack
from attention.tracing import differential
from attention.tracing.call import Call
from attention.tracing.compiled import EAGER, aliases, eager, is_compiled
from attention.tracing.hooks import watching
from attention.tracing.layer_names import is_attention, why_unseen
from attention.tracing.parts import Texts, stacks
from attention.tracing.recorder import Recorder
from attention.tracing.saved import save
from attention.tracing.selection import make_choice

NAMED = 5  # number of layers that a warning lists
NOTHING = (
    "No attention was seen. Call the model itself while it is watched (model(x), not model.forward(x)), in the same thread. "
    "Attention that is written by hand can report itself: attention.report(q, k, v) or attention.report(weights=weights)."
)
PART = "attention.watch can't see {} layers: {}. `unseen` says why."


class Watched:
    """The recording of a watched model. `calls`: per layer name, those of the last run, or of a whole generated text.

    A context manager around calls of the model, or called in its place: `seen = watch(model); seen(**inputs)`. The
    model is not changed: it takes its usual kernels, and what it returns is the same, bit by bit. Only code compiled
    by `torch.compile` runs eagerly meanwhile, and a warning says so.
    """

    def __init__(self, model: nn.Module, record: Recorder) -> None:
        self.model, self.record = model, record
        self._open: ExitStack | None = None

    def __enter__(self) -> Watched:
        if self._open is not None:
            raise RuntimeError("This model is being watched already; end that first.")
        with ExitStack() as stack:
            if is_compiled(self.model):
                warnings.warn(EAGER, stacklevel=2)
            stack.enter_context(eager())
            stack.enter_context(watching(self.record, aliases(self.model)))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *failed: Any) -> None:
        stack, self._open = self._open, None
        if stack is not None:
            stack.close()
        if any(failed):
            return
        if unseen := self.unseen:
            names = ", ".join([*list(unseen)[:NAMED], *(["…"] if len(unseen) > NAMED else [])])
            warnings.warn(PART.format(len(unseen), names), stacklevel=2)
        elif not self.calls:
            warnings.warn(NOTHING, stacklevel=2)

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Watches the model and returns its output."""
        with self:
            return self.model(*given, **named)

    def __repr__(self) -> str:
        return f"<{type(self.model).__name__}: {len(self.calls)} layers seen, {len(self.unseen)} not>"

    @property
    def calls(self) -> dict[str, Call]:
        """What was recorded of each layer, by its name."""
        return self.record.calls()[0]

    @property
    def count(self) -> int:
        """The number of calls of attention so far."""
        return self.record.count

    @property
    def unseen(self) -> dict[str, str]:
        """Layers of attention that ran and can't be shown, or not all of their rows, by name, each with the reason."""
        record, (calls, lost) = self.record, self.record.calls()
        known = [*record.tracks, *record.missed]
        dark = [name for name, one in record.ran.items() if is_attention(name, one) and not self._joins(name, known)]
        inner = [name for name in dark if not any(self._within(other, name) for other in dark)]
        found = {name: why_unseen(name, record.ran[name]) for name in inner if self._is_chosen(name)}
        return found | {name: why for name, why in record.missed.items() if name not in calls} | lost

    def parts(self, tokens: Sequence[str] = (), keys: Sequence[str] = (), title: str = "") -> dict[str, Stack]:
        """All layers as stacks: a single one under "", or several, as for encoder, decoder and cross-attention.

        `tokens`: the texts of the queries; `keys`: those of the other sequence, as of an encoder. Raises ValueError
        if nothing was recorded, and for texts whose number does not match.
        """
        unseen = self.unseen
        if not (calls := self.calls):
            raise ValueError(NOTHING + "".join(f" {name}: {why}." for name, why in list(unseen.items())[:NAMED]))
        record = self.record
        numbers = {name: record.number(name) for name in calls}
        found = stacks(calls, title or type(self.model).__name__, Texts(tokens, keys), numbers, record.about(unseen))
        factors = [differential.factor(record.ran[name]) for name in calls if name in record.ran]
        if len(found) == 1 and len(factors) == len(calls) and record.choice.heads is None:
            known = [factor for factor in factors if factor is not None]
            return differential.parts(found[""], known) if len(known) == len(factors) else found
        return found

    def save(
        self, path: str | Path, tokens: Sequence[str] = (), keys: Sequence[str] = (), title: str = ""
    ) -> list[Path]:
        """Writes safetensors that the app opens under *Your data*; one file per part, with its name added."""
        return save(self.parts(tokens, keys, title), path)

    def _is_chosen(self, name: str) -> bool:
        layers = self.record.choice.layers
        return layers is None or self.record.number(name) in layers

    def _joins(self, name: str, seen: Sequence[str]) -> bool:
        """Whether one of the `seen` layers is this one, is part of it, or contains it."""
        return any(one == name or self._within(one, name) or self._within(name, one) for one in seen)

    def _within(self, inner: str, outer: str) -> bool:
        """Whether a module is part of another. The model itself contains all."""
        root = self.record.names[id(self.model)]
        return inner != root and (outer == root or inner.startswith(f"{outer}."))


def watch(
    model: nn.Module,
    batch: int = 0,
    *,
    layers: Iterable[int] | None = None,
    heads: Iterable[int] | None = None,
    tokens: range | slice | int | None = None,
    dtype: torch.dtype | None = None,
) -> Watched:
    """Records queries, keys and values of every attention layer while a model computes, for one sequence of a batch.

        with attention.watch(model) as seen:
            model(**inputs)
        attention.show(seen, tokens=tokens)

    It records calls of torch's `scaled_dot_product_attention`, whatever kernel that takes, and of `flex_attention`,
    the attention functions of transformers (eager, SDPA, flash, flex), and the layers of `torch.nn`. Of other layers
    of attention it takes the weights if they return these. Custom attention can report itself in one line, which does
    nothing otherwise:

        attention.report(q, k, v, is_causal=True)       # or mask=, scale=
        attention.report(weights=weights)

    `unseen` and a warning name the layers that can't be shown, which include layers whose output does not follow from
    what was recorded. Grouped keys, masks, scales, softcaps and sinks are kept. During `generate`, rows are joined by
    their position in the text, with any cache; in a beam search, `batch` counts the returned sequences. Compiled
    models run eagerly meanwhile, in every thread.

    `layers` (as the model numbers them), `heads` and `tokens` (a count from the first, or adjacent positions as
    `range(100, 140)`: rows of these queries, with all their keys) choose what is kept. Tensors keep the model's own
    dtype; `dtype=torch.float16` halves the memory of float32, and the stacks say by how much their weights differ.
    Copies stay in CPU memory as long as the returned object exists.

    >>> layer, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.rand(1, 5, 8)
    >>> with attention.watch(layer) as seen:
    ...     output = layer(x, x, x)
    >>> seen.calls["MultiheadAttention"].weights().shape
    torch.Size([2, 5, 5])
    """
    return Watched(model, Recorder(model, batch, make_choice(layers, heads, tokens, dtype)))

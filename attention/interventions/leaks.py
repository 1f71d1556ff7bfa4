"""The leak test: changes every token in turn, and looks for outputs before it that change, which a causal model has not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.interventions import leak_page
from attention.interventions.forward import (
    Forward,
    capacity_layers,
    embedded_tokens,
    evaluating,
    recorded_layers,
)
from attention.interventions.variants import VARIANTS, Variant, compare_outputs, difference
from attention.summary import summarize

LONGEST = 512  # tokens: a test runs the model once per token and change
MEMORY = 2**28  # bytes of the outputs of one batch, those of layers included
BATCH = 32  # sequences in one pass at most
ROUNDING = 16  # units in the last place of the largest output that rounding may change
NOISE = 4  # a change counts if it is this many times what two identical runs differ by
LOOSE = 1000  # units in the last place by which kernels and caches may differ
LOOSEST = 0.05  # the same for dtypes of few bits, as a share of the largest output
NAMED = 5  # leaks that a text names


class Leak(NamedTuple):
    """An output that changes with a later token."""

    output: int
    token: int
    change: float


@dataclass(frozen=True, repr=False)
class Leaks:
    """The result of `attention.leaks`.

    `change`: the largest change of each output (row) if a token (column) is replaced, in the unit of the outputs. `threshold`:
    changes up to it are rounding, of which `noise` is what two identical runs differ by. `layers`: the largest change of each
    layer's outputs by a later token, as a multiple of the threshold for outputs of their size; the first one above 1 leaks.
    `variants`: the same outputs computed in other ways. `notes`: what limits the result.

    Example:
        >>> import torch, attention
        >>> table = torch.nn.Embedding(50, 8)
        >>> found = attention.leaks(lambda ids: table(ids).cumsum(1), range(6), vocabulary=50)
        >>> found.ok, found.change.shape
        (True, torch.Size([6, 6]))
    """

    change: Float[Tensor, "n n"]
    tokens: tuple[str, ...]
    threshold: float
    noise: float
    layers: Mapping[str, float]
    variants: tuple[Variant, ...]
    notes: tuple[str, ...]

    @property
    def pairs(self) -> list[Leak]:
        """All leaks, the largest change first; changes that are not a number come before all others."""
        sizes = self.change.triu(1).nan_to_num(torch.inf)
        pairs = (sizes > self.threshold).nonzero().tolist()
        return sorted((Leak(i, j, float(sizes[i, j])) for i, j in pairs), key=lambda leak: -leak.change)

    @property
    def both_directions(self) -> bool:
        """Whether every output changes with every later token: by design in an encoder, a leak in a causal model."""
        count = len(self.tokens)
        return count > 2 and len(self.pairs) == count * (count - 1) // 2

    @property
    def first_layer(self) -> str | None:
        """Name of the first layer whose outputs change with a later token."""
        return next((name for name, share in self.layers.items() if not share <= 1), None)

    @property
    def ok(self) -> bool:
        """Whether no output changes with a later token, and the variants that were computed agree."""
        return not self.pairs and not any(each.differs for each in self.variants)

    @property
    def summary(self) -> str:
        """The result in a sentence or two."""
        count, leaks = len(self.tokens), self.pairs
        if not leaks:
            return f"No output changes with a later token: {count} tokens, threshold {self.threshold:.3g}."
        count_pairs = count * (count - 1) // 2
        worst = leaks[0]
        output, token = (f"{at} (“{self.tokens[at]}”)" for at in worst[:2])
        change = f"{worst.change:.3g} if token {token} is replaced (threshold {self.threshold:.3g})."
        first = f"{self.first_layer}." if self.first_layer is not None else ""
        if self.both_directions:
            return (
                f"Every output changes with every later token ({count_pairs:,} pairs), so the model reads both directions: by "
                f"design in an encoder, a leak in a causal model. Output {output} changes most, by {change}"
            ) + (f" First layer that does: {first}" if first else "")
        return f"{len(leaks):,} of {count_pairs:,} pairs leak: output {output} changes by {change}" + (
            f" First layer that leaks: {first}" if first else ""
        )

    def html(self, path: str | Path | None = None) -> str:
        """A page with the picture (rows: outputs, columns: replaced tokens), which is also written to `path`."""
        page = leak_page.whole_page(self)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        return leak_page.picture(self)

    def __str__(self) -> str:
        listed = [
            f"  output {leak.output} changes by {leak.change:.3g} with token {leak.token}"
            for leak in self.pairs[:NAMED]
        ]
        more = [f"  and {len(self.pairs) - NAMED:,} more"] * (len(self.pairs) > NAMED)
        return "\n".join([self.summary, *listed, *more, *map(str, self.variants), *self.notes])

    def __repr__(self) -> str:
        return summarize(self, ok=self.ok, leaks=len(self.pairs), tokens=len(self.tokens), threshold=self.threshold)


def leaks(
    model: Any,
    ids: Int[Tensor, "*b n"] | Sequence[int],
    *,
    tokens: Sequence[str] | None = None,
    inputs: Mapping[str, Any] | None = None,
    vocabulary: int | None = None,
    changes: int = 2,
    compare: bool = True,
    seed: int = 0,
    memory: int = MEMORY,
    progress: Callable[[float], object] | None = None,
) -> Leaks:
    """Tests whether an output of a causal model depends on a later token.

    Every token is replaced by `changes` others in turn, and the outputs of all tokens before it are compared with those of the
    original ids. The model runs in eval mode, `changes` times n passes in batches, and gets its mode back.

    Args:
        model: a model of transformers, or any callable that maps ids (b n) to outputs (b n v), or to an object that has such
            `logits` or a `last_hidden_state`.
        ids: ids of 2 to 512 tokens, (n) or (1 n); of the decoder for a model that has an encoder.
        tokens: names of the tokens, for the picture.
        inputs: other arguments of the model, as the encoder's `input_ids`.
        vocabulary: the number of ids that may replace a token. Default: that of the model's embeddings.
        changes: replacements of each token.
        compare: also computes the outputs with the other kernel (SDPA or eager), with a cache and padded on the left.
        seed: of the random replacements.
        memory: bytes of the outputs that are compared at a time, of the layers as well.
        progress: called with the share that is done; an exception that it raises ends the test.

    Raises:
        ValueError: if there are too few or too many ids, or the model returns no outputs of these tokens.

    Example:
        >>> import torch, attention
        >>> embed = torch.nn.Embedding(50, 8)
        >>> model = lambda ids: attention.scaled_dot_product_attention(*[embed(ids)] * 3, is_causal=True).output
        >>> attention.leaks(model, range(6), vocabulary=50, compare=False).pairs
        []
    """
    given = _check_ids(ids, tokens, changes)
    device = next((each.device for each in getattr(model, "parameters", tuple)()), torch.device("cpu"))
    forward, given = Forward(model, dict(inputs or {})), given.to(device)
    with evaluating(model):
        size = _vocabulary(model, given, vocabulary)
        test = _Test(forward, given, _replacements(given, size, changes, seed), progress or (lambda share: None))
        test.run(memory)
        others = _compare(forward, given, test.base) if compare else ()
    names = tuple(map(str, tokens)) if tokens is not None else tuple(map(str, given.tolist()))
    return Leaks(
        test.change, names, test.threshold, test.noise, test.layers, others, tuple(_notes(test, capacity_layers(model)))
    )


def _check_ids(
    ids: Int[Tensor, "*b n"] | Sequence[int], tokens: Sequence[str] | None, changes: int
) -> Int[Tensor, " n"]:
    """Returns the ids as one row; raises ValueError."""
    found = torch.as_tensor(ids if isinstance(ids, Tensor) else list(ids))
    if found.is_floating_point() or found.dtype == torch.bool:
        raise ValueError(f"ids are {found.dtype}; they have to be whole numbers.")
    if found.ndim == 2 and len(found) == 1:
        found = found[0]
    if found.ndim != 1 or not 2 <= len(found) <= LONGEST:
        raise ValueError(f"ids have the shape {tuple(found.shape)}; one sequence of 2 to {LONGEST} tokens is needed.")
    if tokens is not None and len(tokens) != len(found):
        raise ValueError(f"There are {len(tokens)} tokens for {len(found)} ids.")
    if changes < 1:
        raise ValueError(f"changes={changes}: each token has to be replaced at least once.")
    return found.long()


def _vocabulary(model: Any, ids: Int[Tensor, " n"], size: int | None) -> int:
    size = embedded_tokens(model) if size is None else size
    if size < 2 or int(ids.max()) >= size or int(ids.min()) < 0:
        raise ValueError(
            f"ids go from {int(ids.min())} to {int(ids.max())}, but the model knows tokens 0 to {size - 1}."
        )
    return size


def _replacements(ids: Int[Tensor, " n"], size: int, changes: int, seed: int) -> Int[Tensor, "c n"]:
    """Other ids for each token."""
    steps = torch.randint(1, size, (changes, len(ids)), generator=torch.Generator().manual_seed(seed))
    return (ids + steps.to(ids.device)) % size


class _Test:
    """Runs the model on all changed ids, batch by batch, each with the original ids as its first row."""

    def __init__(
        self, forward: Forward, ids: Int[Tensor, " n"], others: Int[Tensor, "c n"], progress: Callable[[float], object]
    ):
        self.forward, self.ids, self.others, self.progress = forward, ids, others, progress
        self.change = torch.zeros(len(ids), len(ids))
        self.layers: dict[str, float] = {}
        self.alone = bool(capacity_layers(forward.model))

    def run(self, memory: int) -> None:
        """Fills in `base`, `noise`, `threshold`, `change` and `layers`."""
        with recorded_layers(self.forward.model) as outputs:
            self.base = self.forward.outputs(self.ids[None])[0]
            row = self.base.nbytes + sum(value.nbytes for value in outputs.values())
            many = 1 if self.alone else max(1, min(BATCH, memory // max(1, row) - 1))
            self.noise = self._noise(many)
            self.threshold = NOISE * self.noise + _rounding(self.base)
            places = [(change, at) for at in range(len(self.ids)) for change in range(len(self.others))]
            for start in range(0, len(places), many):
                self._run_batch(places[start : start + many], outputs)
                self.progress(min(1.0, (start + many) / len(places)))

    def _noise(self, many: int) -> float:
        """The largest difference between identical runs, in one batch and in two."""
        rows = [self.forward.outputs(self.ids.expand(1 if self.alone else many + 1, -1)) for _ in range(2)]
        return float(difference(torch.cat(rows), rows[0][0]).nan_to_num(torch.inf).max())

    def _run_batch(self, places: Sequence[tuple[int, int]], outputs: dict[str, Tensor]) -> None:
        """Runs the model on the ids with a change at each of these places, and compares its outputs and those of its layers."""
        changed = self.ids.repeat(len(places), 1)
        for row, (change, at) in zip(changed, places, strict=True):
            row[at] = self.others[change, at]
        if self.alone:  # other rows of a batch would compete for the same experts
            first, before = self.forward.outputs(self.ids[None])[0], dict(outputs)
            rows = self.forward.outputs(changed)
            self._compare_layers(places, before, outputs)
        else:
            whole = self.forward.outputs(torch.cat([self.ids[None], changed]))
            first, rows = whole[0], whole[1:]
            before = {name: value[:1] for name, value in outputs.items()}
            self._compare_layers(places, before, {name: value[1:] for name, value in outputs.items()})
        for (_, at), row in zip(places, rows, strict=True):
            self.change[:, at] = torch.maximum(self.change[:, at], difference(row, first).float().cpu())

    def _compare_layers(
        self, places: Sequence[tuple[int, int]], before: Mapping[str, Tensor], after: Mapping[str, Tensor]
    ) -> None:
        for name, rows in after.items():
            if rows.shape[:-1] != (len(places), len(self.ids)):
                continue
            limit = NOISE * self.noise + _rounding(before[name])
            for (_, at), row in zip(places, rows, strict=True):
                worst = float(difference(row[:at], before[name][0, :at]).nan_to_num(torch.inf).amax()) if at else 0.0
                self.layers[name] = max(self.layers.get(name, 0.0), worst / limit)


def _rounding(outputs: Float[Tensor, "*b n v"], units: float = ROUNDING, share: float = 1.0) -> float:
    """What rounding may change in outputs of this size and dtype."""
    largest = outputs[outputs.isfinite()].abs().max() if bool(outputs.isfinite().any()) else torch.tensor(1.0)
    return min(units * torch.finfo(outputs.dtype).eps, share) * max(float(largest), torch.finfo(outputs.dtype).tiny)


def _compare(forward: Forward, ids: Int[Tensor, " n"], base: Float[Tensor, "n v"]) -> tuple[Variant, ...]:
    tolerance = _rounding(base, LOOSE, LOOSEST)
    return tuple(compare_outputs(forward, ids, base, tolerance, name) for name in VARIANTS)


def _notes(test: _Test, limited: Sequence[str]) -> Iterator[str]:
    """What limits the result."""
    if not bool(test.base.isfinite().all(-1).any()):
        yield "The outputs of the original ids are not finite, so changes can't be measured."
    if limited:
        yield (
            f"{len(limited)} layers, as {limited[0]}, have experts of limited capacity: a later token may take the place of "
            "an earlier one, which shows as a leak. Each changed sequence was run by itself."
        )
    if test.noise > _rounding(test.base):
        yield f"Two identical runs differ by {test.noise:.3g}: smaller leaks can't be told. Is there dropout in eval mode?"
    if not bool((test.change.tril(-1) > test.threshold).any()):
        yield "No output changes with an earlier token: is the mask inverted?"

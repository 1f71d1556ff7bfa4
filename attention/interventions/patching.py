"""Patching: a value of a run on a corrupted text is replaced by that of the run on the clean text.

The two texts have equally many tokens. `PAIRS` has three that ship; to add one: a line there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention.interventions.ablation import place_in
from attention.interventions.predictions import one_sequence, run_logits, run_texts, texts_together
from attention.interventions.projections import find_projections, record_heads, remove_after, replace_in_texts
from attention.summary import summarize

Ids = Int[Tensor, "*b n"] | Sequence[int]
OtherIds = Int[Tensor, "*c m"] | Sequence[int]
Cell = tuple[int, int]  # a layer, and a head or a position
TINY = 1e-6  # a difference of logits of which no share can be taken


class Pair(NamedTuple):
    """Two texts of equal length and the next token of each: `answer` after the clean one, `against` after the other."""

    clean: str
    corrupted: str
    answer: str
    against: str


PAIRS = {
    "A name": Pair(
        "When Mary and John went to the store, John gave a drink to",
        "When Mary and John went to the store, Mary gave a drink to",
        " Mary",
        " John",
    ),
    "A number": Pair("The keys to the old cabinet", "The key to the old cabinet", " are", " is"),
    "A subject": Pair(
        "The capital of the country of France is", "The capital of the country of Italy is", " Paris", " Rome"
    ),
}


@dataclass(frozen=True, repr=False)
class Patching:
    """How much of the logit difference returns, by layer (row) and head or position (column).

    `returns`: 0 as on the corrupted text, 1 as on the clean one. `clean`, `corrupted`: the logit differences of the two texts.
    """

    layers: tuple[int, ...]
    what: str
    returns: Float[Tensor, "l x"]
    clean: float
    corrupted: float

    def __repr__(self) -> str:
        layer, at = divmod(int(self.returns.abs().argmax()), self.returns.shape[1])
        return summarize(
            self, what=self.what, largest=(self.layers[layer], at), clean=self.clean, corrupted=self.corrupted
        )


def patch_heads(
    model: Any,
    clean: Ids,
    corrupted: OtherIds,
    answer: int,
    against: int,
    at: int = -1,
    progress: Callable[[float], object] | None = None,
) -> Patching:
    """Replaces the output of each head in turn, at all positions, by that of the clean run.

    Args:
        model: `model(input_ids) -> .logits`, of a family in `projections.FAMILIES`.
        clean, corrupted: ids of two texts of equal length.
        answer, against: the tokens whose logits are compared.
        at: the position after which they would come, negative ones from the end.
        progress: called with the share that is done; an exception that it raises ends the work.

    Raises:
        UnsupportedError: for a family whose output projections are not known.
        ValueError: if the texts have different lengths, or the two logit differences are equal.

    Example:
        >>> import torch
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> sizes = {"n_layer": 2, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 11}
        >>> model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
        >>> patch_heads(model, [3, 4, 7], [3, 9, 7], answer=5, against=6).returns.shape
        torch.Size([2, 2])
    """
    found = find_projections(model)
    test = _Test(model, clean, corrupted, (answer, against), at)
    with record_heads(found) as outputs:
        test.run_clean()
    outputs = dict(outputs)
    test.run_corrupted()
    cells = [(layer, head) for layer, each in sorted(found.items()) for head in range(each.heads)]

    def patch(group: Sequence[Cell]) -> AbstractContextManager[None]:
        return replace_in_texts(found, [{(layer, head): outputs[layer][:, head]} for layer, head in group])

    return test.patching(tuple(sorted(found)), "heads", cells, cells, patch, progress)


def patch_residual(
    model: Any,
    clean: Ids,
    corrupted: OtherIds,
    answer: int,
    against: int,
    at: int = -1,
    progress: Callable[[float], object] | None = None,
) -> Patching:
    """Replaces the output of each layer at each position in turn by that of the clean run (Meng et al. 2022, "causal tracing").

    Positions before the first token that differs return nothing in a causal model, and are not run.

    Args:
        model: `model(input_ids) -> .logits`, of a family in `projections.FAMILIES`.
        clean, corrupted: ids of two texts of equal length.
        answer, against: the tokens whose logits are compared.
        at: the position after which they would come, negative ones from the end.
        progress: called with the share that is done; an exception that it raises ends the work.

    Returns:
        Patching: `returns` (l n), the share of the logit difference; 0 as on the corrupted text, 1 as on the clean one.

    Raises:
        UnsupportedError: for a family whose layers are not known.
        ValueError: if the texts have different lengths, or the two logit differences are equal.

    Example:
        >>> import torch
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> sizes = {"n_layer": 2, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 11}
        >>> model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
        >>> patch_residual(model, [3, 4, 7], [3, 9, 7], answer=5, against=6).returns[:, 0]
        tensor([0., 0.])
    """
    found = find_projections(model)
    layers = {number: model.get_submodule(each.layer_name) for number, each in sorted(found.items())}
    test = _Test(model, clean, corrupted, (answer, against), at)
    with _record_ends(layers) as ends:
        test.run_clean()
    ends = dict(ends)
    test.run_corrupted()
    first = int((test.clean != test.corrupted).int().argmax())
    cells = [(number, place) for number in layers for place in range(len(test.clean))]

    def patch(group: Sequence[Cell]) -> AbstractContextManager[None]:
        return _replace_ends(layers, group, ends)

    return test.patching(
        tuple(layers), "residual", cells, [cell for cell in cells if cell[1] >= first], patch, progress
    )


class _Test:
    """The two runs, and the share of the logit difference that a patch returns."""

    def __init__(self, model: Any, clean: Ids, corrupted: OtherIds, pair: tuple[int, int], at: int) -> None:
        self.model, self.pair = model, pair
        self.clean, self.corrupted = one_sequence(clean)[0], one_sequence(corrupted)[0]
        if len(self.clean) != len(self.corrupted):
            raise ValueError(
                f"The clean text has {len(self.clean)} tokens and the corrupted one {len(self.corrupted)}; patching needs "
                "equally many. Replace a word by one of as many tokens."
            )
        self.at = place_in(self.clean, at)
        self.high = self.low = 0.0

    def difference(self, ids: Int[Tensor, " n"]) -> float:
        """The logit of the answer minus that of the other token."""
        row = run_logits(self.model, ids)[self.at]
        return float(row[self.pair[0]] - row[self.pair[1]])

    def run_clean(self) -> None:
        self.high = self.difference(self.clean)

    def run_corrupted(self) -> None:
        self.low = self.difference(self.corrupted)
        if abs(self.high - self.low) < TINY:
            raise ValueError(
                "Both texts give the same logit difference, so no share of it can return. Choose other tokens."
            )

    def patching(
        self,
        layers: tuple[int, ...],
        what: str,
        cells: Sequence[Cell],
        patched: Sequence[Cell],
        patch: Callable[[Sequence[Cell]], AbstractContextManager[None]],
        progress: Callable[[float], object] | None,
    ) -> Patching:
        """Runs copies of the corrupted text, each with the `patch` of a cell. Nothing returns for those not `patched`."""
        shares, together = dict[Cell, float](), texts_together(len(self.corrupted))
        for start in range(0, len(patched), together):
            group = patched[start : start + together]
            with patch(group):
                rows = run_texts(self.model, self.corrupted.expand(len(group), -1))[:, self.at]
            differences = (rows[:, self.pair[0]] - rows[:, self.pair[1]]).tolist()
            shares |= {
                cell: (each - self.low) / (self.high - self.low) for cell, each in zip(group, differences, strict=True)
            }
            if progress is not None:
                progress(len(shares) / len(patched))
        returns = torch.tensor([shares.get(cell, 0.0) for cell in cells]).unflatten(0, (len(layers), -1))
        return Patching(layers, what, returns, self.high, self.low)


@contextmanager
def _record_ends(layers: Mapping[int, nn.Module]) -> Iterator[dict[int, Float[Tensor, "n c"]]]:
    """Within the context, the latest output of each layer, of one sequence."""
    found: dict[int, Tensor] = {}

    def hook(number: int, output: Any) -> None:
        first = output[0] if isinstance(output, (tuple, list)) else output
        found[number] = first.detach().reshape(-1, first.shape[-1]).clone()

    handles = [
        layer.register_forward_hook(lambda module, given, output, number=number: hook(number, output))
        for number, layer in layers.items()
    ]
    with remove_after(handles):
        yield found


@contextmanager
def _replace_ends(
    layers: Mapping[int, nn.Module], cells: Sequence[Cell], ends: Mapping[int, Float[Tensor, "n c"]]
) -> Iterator[None]:
    """Within the context, the output of one layer at one position is that of `ends`: of another cell in each text of a pass."""

    def hook(number: int, output: Any) -> Any:
        first = output[0] if isinstance(output, (tuple, list)) else output
        changed = first.reshape(len(cells), -1, first.shape[-1]).clone()
        for text, (layer, place) in enumerate(cells):
            if layer == number:
                changed[text, place] = ends[layer][place]
        changed = changed.reshape(first.shape)
        return (changed, *output[1:]) if isinstance(output, (tuple, list)) else changed

    handles = [
        layers[number].register_forward_hook(lambda module, given, output, number=number: hook(number, output))
        for number in {layer for layer, _ in cells}
    ]
    with remove_after(handles):
        yield

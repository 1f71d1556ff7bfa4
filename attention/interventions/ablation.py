"""Switches heads of a model off, and measures what its answer loses.

Three ways, which disagree: to set a head's output to zero, to its mean over the text, or to its output on another text. Zero
takes away what the head always adds, whatever the text, and the layers after it get inputs that they never get in use. The mean
keeps this constant part, and takes away only what the head says about single tokens. Another text keeps outputs of the usual
kind, and takes away what the head says about this text; what both texts share remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.interventions.predictions import (
    Predictions,
    one_sequence,
    run_logits,
    run_texts,
    summarize_logits,
    texts_together,
)
from attention.interventions.projections import (
    Head,
    Projection,
    Replacement,
    check_heads,
    find_projections,
    record_heads,
    replace_heads,
    replace_in_texts,
)
from attention.summary import summarize

Outputs = Mapping[int, Float[Tensor, "n h e"]]  # of the heads of each layer
Ids = Int[Tensor, "*b n"] | Sequence[int]
OtherIds = Int[Tensor, "*c m"] | Sequence[int]
OtherOutputs = Mapping[int, Float[Tensor, "m h e"]]


def zero(here: Float[Tensor, "n e"], there: Float[Tensor, "m e"] | None) -> Float[Tensor, "1 e"]:
    """Zero: takes away all that the head adds, also what it adds whatever the text."""
    return torch.zeros_like(here[:1])


def mean(here: Float[Tensor, "n e"], there: Float[Tensor, "m e"] | None) -> Float[Tensor, "1 e"]:
    """Mean over this text: keeps what the head adds to every token, takes away what differs between tokens."""
    return here.mean(0, keepdim=True)


def resample(here: Float[Tensor, "n e"], there: Float[Tensor, "m e"] | None) -> Float[Tensor, "n e"]:
    """Output on another text: keeps outputs of the usual kind, takes away what depends on this text."""
    assert there is not None
    return there[: len(here)]


WAYS: dict[str, Callable[..., Float[Tensor, "_ e"]]] = {"zero": zero, "mean": mean, "resample": resample}


@dataclass(frozen=True, repr=False)
class Ablation:
    """What a model predicts with all heads (`before`) and without some (`after`).

    `logits`: those at the position `at`, (2 v): with all heads, and without.
    """

    heads: tuple[Head, ...]
    how: str
    at: int
    before: Predictions
    after: Predictions
    logits: Float[Tensor, "2 v"]

    def logit_change(self, token: int, against: int | None = None) -> float:
        """Change of a token's logit at the position, or of the difference of two tokens' logits."""
        change = self.logits[1] - self.logits[0]
        return float(change[token] - (change[against] if against is not None else 0.0))

    @property
    def probabilities(self) -> Float[Tensor, "2 v"]:
        """Probabilities of all tokens at the position: with all heads, and without."""
        return self.logits.softmax(-1)

    def __repr__(self) -> str:
        return summarize(self, heads=self.heads, how=self.how, loss=self.before.loss, without=self.after.loss)


@dataclass(frozen=True, repr=False)
class HeadCosts:
    """What the absence of each head alone changes, by layer (row) and head.

    `layers`: the numbers of the rows. `loss`: change of the mean loss in nats, NaN for a text that has none. `logit`: change of
    the logit of a token, or of the difference of two, at a position. `probability`: change of the token's probability.
    """

    layers: tuple[int, ...]
    how: str
    loss: Float[Tensor, "l h"]
    logit: Float[Tensor, "l h"]
    probability: Float[Tensor, "l h"]

    def by_measure(self) -> dict[str, Float[Tensor, "l h"]]:
        """Returns the three changes by name."""
        return {"logit": self.logit, "probability": self.probability, "loss": self.loss}

    def __repr__(self) -> str:
        layer, head = divmod(int(self.logit.abs().argmax()), self.logit.shape[1])
        return summarize(self, how=self.how, heads=tuple(self.loss.shape), largest=(self.layers[layer], head))


def head_outputs(model: Any, ids: Ids) -> dict[int, Float[Tensor, "n h e"]]:
    """Returns the outputs of all heads before the output projection, by layer: weights times values, of one text.

    Raises:
        UnsupportedError: for a family whose output projections are not known.
    """
    return _run_recorded(model, find_projections(model), ids)[1]


def switch_heads_off(
    model: Any, ids: Ids, heads: Iterable[Head], how: str = "zero", other: OtherIds | None = None
) -> Float[Tensor, "n v"]:
    """Returns the logits of a model without some of its heads.

    Args:
        model: `model(input_ids) -> .logits`, of a family in `projections.FAMILIES`.
        ids: one sequence, (n) or (1 n).
        heads: pairs of layer and head, from 0.
        how: "zero", "mean" (over the tokens of this text) or "resample" (the head's output at the same position of `other`).
        other: ids of a text with at least as many tokens, for "resample".

    Raises:
        UnsupportedError: for a family whose output projections are not known.
        ValueError: if there is no such head or way, or the other text is missing or shorter.

    Example:
        >>> import torch
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> sizes = {"n_layer": 2, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 11}
        >>> model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
        >>> switch_heads_off(model, [3, 4, 7], [(0, 1), (1, 0)]).shape
        torch.Size([3, 11])
    """
    found = find_projections(model)
    with replace_heads(found, _changes(model, found, ids, heads, how, _read_other(model, found, ids, how, other))):
        return run_logits(model, ids)


def ablate_heads(
    model: Any,
    ids: Ids,
    heads: Iterable[Head],
    how: str = "zero",
    other: OtherIds | None = None,
    at: int = -1,
    before: Predictions | None = None,
) -> Ablation:
    """Compares a causal model's predictions with all heads and without some (head ablation; Michel et al. 2019).

    The three ways of `how` disagree: zero also takes away what a head adds whatever the text, mean only what differs between
    tokens, resample only what depends on this text.

    Args:
        model: `model(input_ids) -> .logits`, of a family in `projections.FAMILIES`.
        ids: one sequence, (n) or (1 n).
        heads: pairs of layer and head, from 0.
        how: "zero", "mean" (over the tokens of this text) or "resample" (the head's output at the same position of `other`).
        other: ids of a text with at least as many tokens, for "resample".
        at: the position whose logits are kept, negative ones from the end.
        before: what the model predicts with all heads, if that is known already: saves a pass if `at` is the last position.

    Returns:
        Ablation: predictions `before` and `after`, with losses in nats, and the `logits` (2 v) at the position.

    Raises:
        UnsupportedError: for a family whose output projections are not known.
        ValueError: if the model has no such head, the text no such position, or `how` is not one of these.

    Example:
        >>> import torch
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> sizes = {"n_layer": 2, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 11}
        >>> model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
        >>> found = ablate_heads(model, [3, 4, 7], [(1, 0)])
        >>> found.probabilities.shape, found.logit_change(5, against=6) != 0
        (torch.Size([2, 11]), True)
    """
    found, tokens, chosen = find_projections(model), one_sequence(ids)[0], tuple(heads)
    at = place_in(tokens, at)
    changes = _changes(model, found, ids, chosen, how, _read_other(model, found, ids, how, other))
    if before is None or at < len(tokens) - 1:
        logits = run_logits(model, ids)
        before, whole = summarize_logits(logits, tokens), logits[at]
    else:
        whole = before.last
    with replace_heads(found, changes):
        without = run_logits(model, ids)
    return Ablation(chosen, how, at, before, summarize_logits(without, tokens), torch.stack([whole, without[at]]))


def measure_every_head(
    model: Any,
    ids: Ids,
    answer: int,
    against: int | None = None,
    how: str = "zero",
    other: OtherIds | None = None,
    at: int = -1,
    progress: Callable[[float], object] | None = None,
) -> HeadCosts:
    """Switches every head of a causal model off in turn, several in a pass over copies of the text, and measures what changes.

    Args:
        answer: the token whose logit at the position `at` is measured.
        against: if given, the difference of the two logits is measured.
        progress: called with the share that is done; an exception that it raises ends the work.

    Others, and errors, as `switch_heads_off`.

    Example:
        >>> import torch
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> sizes = {"n_layer": 2, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 11}
        >>> model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
        >>> measure_every_head(model, [3, 4, 7], answer=5, against=6).logit.shape
        torch.Size([2, 2])
    """
    found, tokens = find_projections(model), one_sequence(ids)[0]
    at = place_in(tokens, at)
    whole, there = run_logits(model, ids), _read_other(model, found, ids, how, other)
    cells = [(layer, head) for layer, each in sorted(found.items()) for head in range(each.heads)]
    base, rows = _measure(whole, tokens, at, answer, against), []
    together = texts_together(len(tokens))
    for first in range(0, len(cells), together):
        group = cells[first : first + together]
        with replace_in_texts(found, [_changes(model, found, ids, [cell], how, there) for cell in group]):
            logits = run_texts(model, tokens.expand(len(group), -1))
        rows += [_measure(each, tokens, at, answer, against) - base for each in logits]
        if progress is not None:
            progress(len(rows) / len(cells))
    loss, logit, probability = torch.stack(rows).unflatten(0, (len(found), -1)).unbind(-1)
    return HeadCosts(tuple(sorted(found)), how, loss, logit, probability)


def place_in(tokens: Int[Tensor, " n"], at: int) -> int:
    """Returns a position counted from the start; raises ValueError if the text does not have it."""
    if not -len(tokens) <= at < len(tokens):
        raise ValueError(f"at={at}: the text has the positions 0 to {len(tokens) - 1}.")
    return at % len(tokens)


def _measure(
    logits: Float[Tensor, "n v"], tokens: Int[Tensor, " n"], at: int, answer: int, against: int | None
) -> Float[Tensor, "3"]:
    """The mean loss, the logit (or the difference of two) and the probability at a position."""
    loss = (
        torch.nn.functional.cross_entropy(logits[:-1], tokens[1:].cpu()) if len(tokens) > 1 else torch.tensor(torch.nan)
    )
    row = logits[at]
    return torch.stack([loss, row[answer] - (row[against] if against is not None else 0.0), row.softmax(-1)[answer]])


def _run_recorded(
    model: Any, found: Mapping[int, Projection], ids: Ids
) -> tuple[Float[Tensor, "n v"], dict[int, Float[Tensor, "n h e"]]]:
    with record_heads(found) as outputs:
        logits = run_logits(model, ids)
    return logits, dict(outputs)


def _read_other(
    model: Any, found: Mapping[int, Projection], ids: Ids, how: str, other: OtherIds | None
) -> OtherOutputs | None:
    """The outputs of all heads on the other text, if this way needs them."""
    if how not in WAYS:
        raise ValueError(f"how={how!r} is not one of: {', '.join(WAYS)}.")
    if how != "resample":
        return None
    many, there = one_sequence(ids).shape[1], 0 if other is None else one_sequence(other).shape[1]
    if other is None or there < many:
        raise ValueError(f"“resample” needs another text of at least {many} tokens, as this one has; it has {there}.")
    return _run_recorded(model, found, other)[1]


def _changes(
    model: Any, found: Mapping[int, Projection], ids: Ids, heads: Iterable[Head], how: str, there: OtherOutputs | None
) -> dict[Head, Replacement]:
    """What replaces the outputs of these heads.

    Before the first layer that is changed, outputs are those of the whole model. So only means of heads in several layers need a
    pass of their own.
    """
    chosen = list(heads)
    check_heads(found, chosen)
    if how == "mean" and len({layer for layer, _ in chosen}) > 1:
        here = _run_recorded(model, found, ids)[1]
        return {(layer, head): mean(here[layer][:, head], None) for layer, head in chosen}
    return {
        (layer, head): partial(WAYS[how], there=None if there is None else there[layer][:, head])
        for layer, head in chosen
    }

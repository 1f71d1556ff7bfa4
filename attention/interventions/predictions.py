"""What a language model predicts: the most probable tokens at every position, the loss of each token, the next token.

A model here is any module with `model(input_ids) -> .logits`, one row of logits over the vocabulary per token.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.interventions.forward import Forward, evaluating
from attention.summary import summarize

TOP = 10
ROWS = 64  # of logits whose softmax is computed at a time
MASKED = 8  # sequences with a masked token in one pass
ROW_FIELDS = ("ids", "probabilities", "losses", "entropy")  # of predictions: an entry per position
TOGETHER = 144  # tokens of a pass over copies of a text: with few, a processor mostly waits for the weights


@dataclass(frozen=True, repr=False)
class Predictions:
    """What a model predicts at each of n positions.

    `ids` and `probabilities`: the most probable tokens, the most probable first. `losses`: minus the logarithm of the
    probability of each token of the text, in nats; NaN for the first token of a causal model, which nothing predicts.
    `entropy`: of each prediction, in nats. `last`: the logits at the last position.
    """

    ids: Int[Tensor, "n t"]
    probabilities: Float[Tensor, "n t"]
    losses: Float[Tensor, " n"]
    entropy: Float[Tensor, " n"]
    last: Float[Tensor, " v"]

    @property
    def loss(self) -> float:
        """The mean loss over all tokens that have one, in nats; NaN if none has."""
        known = self.losses[~self.losses.isnan()]
        return float(known.mean()) if len(known) else math.nan

    @property
    def bytes(self) -> int:
        """Bytes that it takes in memory."""
        return sum(value.nbytes for value in vars(self).values())

    def __repr__(self) -> str:
        return summarize(self, positions=len(self.ids), top=self.ids.shape[1], loss=self.loss)


def run_logits(model: Any, ids: Int[Tensor, "*b n"] | Sequence[int]) -> Float[Tensor, "n v"]:
    """Returns the logits of a model for one sequence of ids, in float32, in eval mode and without gradients.

    Raises:
        ValueError: if ids are not one sequence, or the model returns no logits of these tokens.
    """
    given = one_sequence(ids)
    with evaluating(model):
        return Forward(model, {}).outputs(given.to(_device(model)))[0].float().cpu()


def run_texts(model: Any, ids: Int[Tensor, "b n"]) -> Float[Tensor, "b n v"]:
    """Returns the logits of several texts of equal length, in one pass; otherwise as `run_logits`."""
    with evaluating(model):
        return Forward(model, {}).outputs(ids.to(_device(model))).float().cpu()


def texts_together(tokens: int) -> int:
    """Returns how many texts of so many tokens are run in one pass if each has another change."""
    return max(1, TOGETHER // tokens)


def predict_tokens(model: Any, ids: Int[Tensor, "*b n"] | Sequence[int], top: int = TOP) -> Predictions:
    """Returns what a causal model predicts after each token of a text.

    Args:
        model: `model(input_ids) -> .logits`, or a callable that returns logits (1 n v).
        ids: one sequence, (n) or (1 n).
        top: how many tokens are returned per position.

    Raises:
        ValueError: as `run_logits`.

    Example:
        >>> import torch
        >>> next_is_following = lambda ids: 9 * torch.eye(50)[(ids + 1) % 50]
        >>> predict_tokens(next_is_following, [3, 4, 7]).ids[:, 0].tolist()
        [4, 5, 8]
    """
    return summarize_logits(run_logits(model, ids), one_sequence(ids)[0], top)


def summarize_logits(logits: Float[Tensor, "n v"], ids: Int[Tensor, " n"], top: int = TOP) -> Predictions:
    """Returns the predictions of a causal model, from its logits: those at position i are about token i + 1."""
    following = torch.cat([ids[1:].cpu(), ids.new_zeros(1).cpu()])
    parts = [
        _summarize(rows.float(), tokens, top)
        for rows, tokens in zip(logits.split(ROWS), following.split(ROWS), strict=True)
    ]
    best, probabilities, losses, entropy = (torch.cat(each) for each in zip(*parts, strict=True))
    shifted = torch.cat([losses.new_full((1,), torch.nan), losses[:-1]])
    return Predictions(best, probabilities, shifted, entropy, logits[-1].float())


def append_prediction(before: Predictions, token: int, logits: Float[Tensor, " v"]) -> Predictions:
    """Returns the predictions of a causal model for one more token, from the logits after it."""
    two = summarize_logits(
        torch.stack([before.last, logits.float()]), torch.tensor([token, token]), before.ids.shape[1]
    )
    rows = {name: torch.cat([getattr(before, name), getattr(two, name)[1:]]) for name in ROW_FIELDS}
    return Predictions(**rows, last=two.last)


def _summarize(
    logits: Float[Tensor, "n v"], tokens: Int[Tensor, " n"], top: int
) -> tuple[Int[Tensor, "n t"], Float[Tensor, "n t"], Float[Tensor, " n"], Float[Tensor, " n"]]:
    logs = logits.log_softmax(-1)
    best = logs.topk(min(top, logs.shape[-1]), -1)
    entropy = -(logs.exp() * logs).nan_to_num(0.0).sum(-1)
    return best.indices, best.values.exp(), -logs.gather(-1, tokens[:, None])[:, 0], entropy


def fill_tokens(
    model: Any,
    ids: Int[Tensor, "*b n"] | Sequence[int],
    mask: int,
    at: Sequence[int] | None = None,
    top: int = TOP,
    inputs: Mapping[str, Any] | None = None,
    progress: Callable[[float], object] | None = None,
) -> Predictions:
    """Returns what a fill-mask model would put in place of each token: each is replaced by the mask token in turn.

    Args:
        model: `model(input_ids) -> .logits`.
        ids: one sequence, (n) or (1 n).
        mask: the id of the mask token.
        at: the positions that are masked; default: all. Others have a loss of NaN, and predictions from the first masked text.
        top: how many tokens are returned per position.
        inputs: other arguments of the model, for one sequence.
        progress: called with the share that is done.

    Raises:
        ValueError: as `predict_tokens`, or if a position does not exist.

    Example:
        >>> import torch
        >>> as_before = lambda ids: 9 * torch.eye(50)[torch.cat([ids[:, :1], ids[:, :-1]], 1)]
        >>> fill_tokens(as_before, [3, 4, 7], mask=0).ids[:, 0].tolist()
        [0, 3, 4]
    """
    given = one_sequence(ids)[0]
    places = list(range(len(given))) if at is None else list(at)
    if not places or any(not 0 <= place < len(given) for place in places):
        raise ValueError(f"at={places}: the text has the positions 0 to {len(given) - 1}.")
    rows = {}
    with evaluating(model):
        for start in range(0, len(places), MASKED):
            group = places[start : start + MASKED]
            masked = given.repeat(len(group), 1)
            masked[range(len(group)), group] = mask
            outputs = Forward(model, dict(inputs or {})).outputs(masked.to(_device(model))).float().cpu()
            rows |= {place: outputs[row, place] for row, place in enumerate(group)}
            if progress is not None:
                progress(min(1.0, (start + MASKED) / len(places)))
    logits = torch.stack([rows.get(place, rows[places[0]]) for place in range(len(given))])
    best, probabilities, losses, entropy = _summarize(logits, given.cpu(), top)
    losses[[place for place in range(len(given)) if place not in rows]] = torch.nan
    return Predictions(best, probabilities, losses, entropy, logits[-1])


def choose_token(logits: Float[Tensor, " v"], temperature: float = 0.0, seed: int = 0) -> int:
    """Returns a next token: the most probable one at temperature 0, else one drawn from softmax(logits / temperature).

    Raises:
        ValueError: if the temperature is negative.
    """
    if temperature < 0:
        raise ValueError(f"temperature={temperature}: it can't be negative. 0 takes the most probable token.")
    if temperature == 0:
        return int(logits.argmax())
    chances = (logits.double() / temperature).softmax(-1)
    return int(torch.multinomial(chances, 1, generator=torch.Generator().manual_seed(seed)))


def continue_text(
    model: Any, ids: Int[Tensor, "*b n"] | Sequence[int], tokens: int = 1, temperature: float = 0.0, seed: int = 0
) -> list[int]:
    """Returns the ids of a text and of `tokens` more that a causal model appends to it, one pass each.

    Args:
        model: as for `predict_tokens`.
        ids: one sequence, (n) or (1 n).
        tokens: how many tokens are appended. A token that ends a text does not stop it.
        temperature: 0 takes the most probable token; otherwise one is drawn from softmax(logits / temperature).
        seed: that of the i-th new token is `seed` + i, so that appending one at a time gives the same text.

    Raises:
        ValueError: if the temperature is negative, or as `predict_tokens`.

    Example:
        >>> import torch
        >>> next_is_following = lambda ids: 9 * torch.eye(50)[(ids + 1) % 50]
        >>> continue_text(next_is_following, [3, 4], tokens=3)
        [3, 4, 5, 6, 7]
    """
    found = one_sequence(ids)[0].tolist()
    for step in range(tokens):
        found.append(choose_token(run_logits(model, found)[-1], temperature, seed + step))
    return found


def compare_sentences(
    model: Any, first: Int[Tensor, "*b n"] | Sequence[int], second: Int[Tensor, "*b m"] | Sequence[int]
) -> float:
    """Returns the cosine similarity of two texts, from -1 to 1: of the means of the last hidden states over their tokens.

    This is how the sentence encoder all-MiniLM-L6-v2 is used; for a model that was not trained for it the number says little.

    Args:
        model: `model(input_ids) -> .last_hidden_state`, or a callable that returns hidden states (1 n c).
        first, second: ids of one sequence each.

    Raises:
        ValueError: if ids are not one sequence.

    Example:
        >>> import torch
        >>> one_hot = lambda ids: torch.eye(50)[ids]
        >>> round(compare_sentences(one_hot, [3, 4], [4, 5]), 3)
        0.5
    """
    means = []
    for ids in (first, second):
        given = one_sequence(ids)
        with evaluating(model):
            result = Forward(model, {})(given.to(_device(model)))
        states = getattr(result, "last_hidden_state", result)
        means.append(states[0].float().mean(0))
    return float(torch.nn.functional.cosine_similarity(*means, dim=0))


def one_sequence(ids: Int[Tensor, "*b n"] | Sequence[int]) -> Int[Tensor, "1 n"]:
    """Returns ids as one row; raises ValueError if they are none or several."""
    found = torch.as_tensor(ids if isinstance(ids, Tensor) else list(ids))
    found = found[None] if found.ndim == 1 else found
    if found.ndim != 2 or len(found) != 1 or not found.numel() or found.is_floating_point():
        raise ValueError(
            f"ids have the shape {tuple(found.shape)} and {found.dtype}; one sequence of whole numbers is needed."
        )
    return found.long()


def _device(model: Any) -> torch.device:
    return next((each.device for each in getattr(model, "parameters", tuple)()), torch.device("cpu"))

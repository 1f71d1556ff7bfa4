"""Derives parts from a part: means, rollout, weights times norms, without marks, words instead of tokens.

A summary is a function of a part, listed in `WAYS`. Its name there is the choice on the page, and the first line of its
docstring is the help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention.imported.stack import Stack
from attention.models.labels import Labels, pick_labels
from attention.models.packages import ModelError
from attention.models.parts import Part, every, layers
from attention.number_format import format_percent

TINY = 1e-12


def heads(part: Part) -> Part:
    """Every head of every layer, as the model has them."""
    return part


def mean_of_heads(part: Part) -> Part:
    """The mean over the heads of each layer."""
    found = torch.stack([each.mean(0, keepdim=True) for each in every(part.stack)])
    return _alone(part, found, "mean of heads", "The mean of the heads of each layer.")


def mean_of_layers(part: Part) -> Part:
    """The mean over all layers of heads with the same index, although they are unrelated."""
    found = list(every(part.stack))
    return _alone(
        part, torch.stack(found).mean(0, keepdim=True), "mean of layers", f"The mean of its {len(found)} layers."
    )


def rollout(part: Part) -> Part:
    """How much of each token reaches each position, layer by layer: products of 0.5 W + 0.5 I (Abnar & Zuidema 2020).

    W is the mean over the heads of a layer.
    """
    if part.queries != part.keys:
        raise ModelError("Rollout needs self-attention: queries and keys of the same sequence.")
    if not part.whole:
        raise ModelError("Rollout needs all layers of the model; this part has only those with the same mask.")
    steps, reached = [], torch.eye(len(part.queries))
    for each in every(part.stack):
        reached = (0.5 * each.mean(0) + 0.5 * torch.eye(len(reached))) @ reached
        steps.append(reached[None])
    said = "Rollout from the first layer to this one."
    return _alone(part, torch.stack(steps), "rollout", said)


def norm_weighted(part: Part) -> Part:
    """Each weight times the norm of its value after the output projection, as a share of its row (Kobayashi et al. 2020).

    A weight on a value near zero contributes nothing.
    """
    if part.norms is None:
        raise ModelError(
            "The norms of its values are unknown: the output projection was not found, or heads are switched off."
        )
    weighed = torch.stack([each * norms[:, None] for each, norms in zip(every(part.stack), part.norms, strict=True)])
    shares = weighed / weighed.sum(-1, keepdim=True).clamp(min=TINY)
    return _alone(
        part, shares, "weights times norms", "Weights times the norms of their values, as shares of each row."
    )


WAYS: dict[str, Callable[[Part], Part]] = {
    "heads": heads,
    "mean of heads": mean_of_heads,
    "mean of layers": mean_of_layers,
    "rollout": rollout,
    "weights times norms": norm_weighted,
}


def _alone(part: Part, weights: Float[Tensor, "l h q k"], name: str, said: str) -> Part:
    """Returns the part with these weights and no queries and keys; `name` is added to its title, `said` to its description."""
    old = part.stack
    numbers = old.numbers if len(old.numbers) == len(weights) else ()
    named = {"title": f"{old.title}, {name}", "what": f"{old.what} {said}", "queries": old.queries, "keys": old.keys}
    return replace(part, stack=Stack(**named, weights=weights, numbers=numbers, line=old.line), norms=None)


def without_marks(part: Part) -> Part:
    """Returns the part without special tokens ([CLS], start and end); rows sum to one over the other tokens.

    With queries and keys this is a softmax over the other tokens; otherwise each row is divided by its weight on them.
    """
    rows, cols = (_plain_tokens(labels) for labels in (part.queries, part.keys))
    if len(rows) == len(part.queries) and len(cols) == len(part.keys):
        return part
    if len(rows) < 2 or len(cols) < 2:
        raise ModelError("Without special tokens, fewer than two tokens are left.")
    gone = 1 - float(torch.stack([each[:, rows][..., cols].sum(-1).mean() for each in every(part.stack)]).mean())
    said = f" Special tokens are left out; they had {format_percent(gone)} of the weight."
    masks = {part.stack.own_of(at).get("mask") for at in range(layers(part.stack))}
    whole = part.stack.square is None and masks <= {"full", "causal"}
    if part.stack.q is None or not whole:  # a mask by distance changes if tokens are removed
        stack = _divide_part(part, rows, cols, said)
    else:
        q, k, v = (
            None if each is None else each[:, :, at]
            for each, at in ((part.stack.q, rows), (part.stack.k, cols), (part.stack.v, cols))
        )
        stack = replace(part.stack, q=q, k=k, v=v, what=part.stack.what + said)
    queries, keys = pick_labels(part.queries, rows), pick_labels(part.keys, cols)
    lengths = None if part.norms is None else part.norms[..., cols]
    return Part(replace(stack, queries=queries.texts, keys=keys.texts), queries, keys, lengths)


def _divide_part(part: Part, rows: list[int], cols: list[int], said: str) -> Stack:
    left = torch.stack([each[:, rows][..., cols] for each in every(part.stack)])
    left = left / left.sum(-1, keepdim=True).clamp(min=TINY)
    return Stack(part.stack.title, part.stack.what + said, weights=left, line=part.stack.line)


def _plain_tokens(labels: Labels) -> list[int]:
    return [at for at, mark in enumerate(labels.special) if not mark]


def words(part: Part) -> Part:
    """Returns the part with words instead of tokens, as in Clark et al. 2019, section 4.1.

    The weight on a word is the sum over its tokens; its row is the mean of their rows.
    """
    rows, cols = (_numbers(labels.words) for labels in (part.queries, part.keys))
    if len(rows) == max(rows) + 1 and len(cols) == max(cols) + 1:
        return part
    if max(rows) < 1 or max(cols) < 1:
        raise ModelError("The text is a single word; attention needs two.")
    onto, of = _sums(cols), _sums(rows)
    of = of / of.sum(0)
    joined = torch.stack([of.T @ each @ onto for each in every(part.stack)])
    queries, keys = _join_pieces(part.queries, rows), _join_pieces(part.keys, cols)
    made = _alone(part, joined, "words", "Tokens are merged into words.")
    return replace(made, stack=replace(made.stack, queries=queries.texts, keys=keys.texts), queries=queries, keys=keys)


def _numbers(words: Sequence[int]) -> list[int]:
    """Returns the word numbers, renumbered from 0 without a gap."""
    order = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return [order[word] for word in words]


def _sums(words: list[int]) -> Float[Tensor, "n w"]:
    """Returns a matrix that is one where a token belongs to a word."""
    return torch.nn.functional.one_hot(torch.tensor(words), max(words) + 1).float()


def _join_pieces(labels: Labels, words: list[int]) -> Labels:
    texts, special = [""] * (max(words) + 1), [False] * (max(words) + 1)
    for word, text, mark in zip(words, labels.adds, labels.special, strict=True):
        texts[word] += text
        special[word] = mark
    return Labels(tuple(texts), tuple(special), tuple(range(len(texts))), tuple(texts))

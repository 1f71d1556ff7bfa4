"""Direct logit attribution: what each part of a decoder adds to the logit of a token, and the logit lens by layer.

The parts are exact for the path from a part straight to the output; what a head changes through later layers is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.interventions.ablation import place_in
from attention.interventions.predictions import TOP, one_sequence
from attention.interventions.stream import Stream, read_stream
from attention.summary import summarize


@dataclass(frozen=True, repr=False)
class Attribution:
    """What each part adds to the logit of a token at a position, or to the difference of two logits.

    `layers`: the layer numbers. `heads` (l h): each head through the output projection. `others` (l): the MLP of each layer.
    `embeddings`: token and position. `biases`: those of the output projections, of the last norm and of the output layer.
    `logit`: the model's own; all parts sum to it, `error` is the difference.
    """

    layers: tuple[int, ...]
    heads: Float[Tensor, "l h"]
    others: Float[Tensor, " l"]
    embeddings: float
    biases: float
    logit: float

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return float(self.heads.double().sum() + self.others.double().sum()) + self.embeddings + self.biases

    @property
    def error(self) -> float:
        """The difference between the sum and the model's own logit."""
        return self.total - self.logit

    def __repr__(self) -> str:
        return summarize(self, logit=self.logit, heads=float(self.heads.sum()), mlps=float(self.others.sum()))


@dataclass(frozen=True, repr=False)
class Lens:
    """What a decoder would predict at a position after each layer, if the last norm and the output layer came next.

    Row 0 is the embeddings alone, row i + 1 the i-th of `layers`. `ids` and `probabilities` (r t): the most probable tokens.
    `entropy` (r), in nats, and `answer` (r): the probability of the token that the whole model finds most probable.
    """

    layers: tuple[int, ...]
    ids: Int[Tensor, "r t"]
    probabilities: Float[Tensor, "r t"]
    entropy: Float[Tensor, " r"]
    answer: Float[Tensor, " r"]

    def __repr__(self) -> str:
        return summarize(self, layers=len(self.layers), entropy=float(self.entropy[-1]))


def attribute_logit(
    model: Any, ids: Int[Tensor, "*b n"] | Sequence[int], token: int, against: int | None = None, at: int = -1
) -> Attribution:
    """Splits a logit into what each head, each MLP, the embeddings and the biases add to it.

    The last norm's scale is held as it is on this text (nostalgebraist 2020; Elhage et al. 2021, "logit attribution").

    Args:
        model: `model(input_ids) -> .logits`, a decoder with the norm before the layer, of a family in `projections.FAMILIES`,
            with `get_output_embeddings()` or an `lm_head`.
        ids: one sequence, (n) or (1 n).
        token: the token whose logit is split.
        against: if given, the difference of the two logits is split.
        at: the position after which the token would come, negative ones from the end.

    Raises:
        UnsupportedError: for other models (`stream.read_stream`).

    Example:
        >>> import torch
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> sizes = {"n_layer": 2, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 11}
        >>> model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
        >>> found = attribute_logit(model, [3, 4, 7], token=5)
        >>> found.heads.shape, abs(found.error) < 1e-3
        (torch.Size([2, 2]), True)
    """
    return attribute_stream(read_stream(model, ids), token, against, place_in(one_sequence(ids)[0], at))


def attribute_stream(stream: Stream, token: int, against: int | None, at: int) -> Attribution:
    """Splits a logit of a stream that was read before; `at` from the start of the text."""
    into, constant = stream.direction(at, token, against)
    rows, biases = [], constant
    for layer, each in sorted(stream.projections.items()):
        rows.append(torch.einsum("he,hec,c->h", stream.heads[layer][at], each.per_head.detach().float(), into))
        bias = getattr(each.module, "bias", None)
        biases += 0.0 if bias is None else float(bias.detach().float() @ into)
    others = torch.stack([stream.others[layer][at] @ into for layer in sorted(stream.others)])
    layers = tuple(sorted(stream.projections))
    return Attribution(
        layers, torch.stack(rows), others, float(stream.start[at] @ into), biases, stream.logit(at, token, against)
    )


def attribute_sources(
    stream: Stream,
    layer: int,
    head: int,
    weights: Float[Tensor, "n k"],
    values: Float[Tensor, "k e"],
    token: int,
    against: int | None = None,
    at: int = -1,
) -> Float[Tensor, " k"]:
    """Returns what a head adds to a logit, per token that it attends to: the weight times what its value writes.

    They sum to the head's part in `attribute_stream` if `weights` and `values` are those of the same run.

    Args:
        weights: of this head, rows sum to one (or less, with a sink).
        values: of this head, before the output projection.
    """
    at = place_in(torch.arange(len(weights)), at)
    into = stream.direction(at, token, against)[0]
    return weights[at].float() * (values.float() @ (stream.projections[layer].per_head[head].detach().float() @ into))


def logit_lens(model: Any, ids: Int[Tensor, "*b n"] | Sequence[int], at: int = -1, top: int = TOP) -> Lens:
    """Returns what a decoder would predict at a position after every layer (nostalgebraist 2020, "logit lens").

    The last norm and the output layer are applied to the stream after each layer. Early layers were not trained to be read in
    this way.

    Args:
        model: as for `attribute_logit`.
        ids: one sequence, (n) or (1 n).
        at: the position after which the token would come, negative ones from the end.
        top: how many tokens are returned per layer.

    Returns:
        Lens: `ids` and `probabilities` (r t) and the `entropy` (r) in nats; row 0 is the embeddings alone.

    Raises:
        UnsupportedError: as `attribute_logit`.
        ValueError: if the text does not have the position.

    Example:
        >>> import torch
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> sizes = {"n_layer": 2, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 11}
        >>> model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
        >>> found, whole = logit_lens(model, [3, 4, 7]), attention.predict_tokens(model, [3, 4, 7])
        >>> found.entropy.shape, bool(found.ids[-1, 0] == whole.ids[-1, 0])
        (torch.Size([3]), True)
    """
    return lens_of(read_stream(model, ids), place_in(one_sequence(ids)[0], at), top)


def lens_of(stream: Stream, at: int, top: int = TOP) -> Lens:
    """Returns the lens of a stream that was read before; `at` from the start of the text."""
    layers = tuple(sorted(stream.ends))
    states = torch.stack([stream.start[at], *(stream.ends[layer][at] for layer in layers)])
    with torch.no_grad():
        weight = next(stream.unembed.parameters())
        chances = stream.unembed(stream.norm(states.to(weight))).float().log_softmax(-1)
    best = chances.topk(min(top, chances.shape[-1]), -1)
    entropy = -(chances.exp() * chances).nan_to_num(0.0).sum(-1)
    answer = chances[:, int(stream.logits[at].argmax())].exp()
    return Lens(layers, best.indices, best.values.exp(), entropy, answer)

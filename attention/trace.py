"""Trace: every step of one pass, from x to output.

`run_pass` computes the pass of the inputs of any source, `trace` that of a config.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import attend
from attention.config import Config
from attention.knobs import MAX_WEIGHTS
from attention.masks import MASKS
from attention.operations.differential import HALVES, given_halves, split_halves
from attention.operations.forgetting import retention
from attention.operations.mask import HIDDEN
from attention.operations.query_scale import LOG, log_keys
from attention.operations.score_bias import ScoreBias, position_lines
from attention.operations.softmax import SOFTMAXES, normaliser
from attention.operations.table import compute, operations
from attention.runtime.memory import empty_hugepages
from attention.settings import ConfigError
from attention.sources.generated import forget_map, gate_map
from attention.sources.layer_inputs import PARTS, LackingError, LayerInputs, Projections, Tokens
from attention.sources.providers import layer_inputs
from attention.sources.spec import spec_of
from attention.summary import summarize

FLOAT, COPIES = 4, 2.5  # bytes of a number; peak memory of a picture, relative to its weights (measured on all pages)
SHARED = 2**20  # weights from which two threads share the heads


@dataclass(frozen=True, eq=False)
class Trace:
    """Every step of one pass on the CPU in float32.

    `x (q c)`, `q (h q d)`, `k v (h k d)` (shared ones repeated for each head), `weights (h q k)`, `mask (q k)` (True
    takes part), `context (h q d)`, with zero channels if the source has no values. `output (q c)` and the tensors of
    the size of the weights, `scores`, `bias` and `logits`, are computed on access. `given` has the inputs of the pass;
    accessing a part that its source lacks raises `LackingError`.

    >>> steps = attention.trace(attention.Config(tokens=9, heads=2, d_model=64))
    >>> steps.x.shape, steps.q.shape, steps.scores.shape, steps.output.shape
    (torch.Size([9, 64]), torch.Size([2, 9, 32]), torch.Size([2, 9, 9]), torch.Size([9, 64]))
    """

    config: Config
    given: LayerInputs
    mask: Bool[Tensor, "q k"]
    weights: Float[Tensor, "h q k"]
    context: Float[Tensor, "h q e"]

    def __repr__(self) -> str:
        names = ("weights", "mask", "context")
        tensors = {name: getattr(self, name) for name in names}
        return summarize(self, config=self.config, heads=len(self.weights), tokens=self.queries.texts, **tensors)

    @property
    def queries(self) -> Tokens:
        """The tokens of the queries."""
        return self.given.queries

    @property
    def keys(self) -> Tokens:
        """The tokens of the keys."""
        return self.given.keys

    @property
    def provenance(self) -> str:
        """How the attention was made, and from what, in a sentence."""
        return self.given.provenance

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of queries that are also the keys; () for cross-attention, and for tokens without texts."""
        return self.queries.texts if self.queries == self.keys else ()

    @property
    def has(self) -> frozenset[str]:
        """The names of the parts that the source has."""
        return self.given.has

    @property
    def x(self) -> Float[Tensor, "q c"]:
        """The tokens as vectors."""
        return self._part("x")

    @property
    def projections(self) -> Projections:
        """The four projection matrices."""
        return self._part("projections")

    @property
    def q(self) -> Float[Tensor, "h q d"]:
        """The queries, with their positions."""
        return self._part("q")

    @property
    def k(self) -> Float[Tensor, "h k d"]:
        """The keys, with their positions."""
        return self._part("k")

    @property
    def v(self) -> Float[Tensor, "h k e"]:
        """The values."""
        return self._part("v")

    def _part(self, name: str) -> Any:
        found = getattr(self.given, name)
        if found is None:
            there = ", ".join(part for part in PARTS if part in self.has)
            raise LackingError(f"The source {self.config.source!r} has no {name}. It has: {there}.")
        return found

    @property
    def output(self) -> Float[Tensor, "q c"]:
        """The context of all heads, concatenated and multiplied by W_o, after what the table has in between."""
        spec = spec_of(self.config)
        given = {"W_o": self.projections.output, "context": self.context} | ({"x": self.x} if "x" in self.has else {})
        return compute(given | self._gate(slice(None)), spec, operations(spec, "context")[1:])["output"]

    def gate(self, query: int) -> Float[Tensor, "h u"] | None:
        """Returns the gates of a query, None without an output gate."""
        found = self._gate(slice(query, query + 1))
        return found["gate"][:, 0] if found else None

    def _gate(self, queries: slice) -> dict[str, Tensor]:
        """Returns the gates of some queries, and what they are computed from; {} without an output gate."""
        config = self.given.config  # without knobs of other pages, such as a width of the values
        spec = spec_of(config)
        if not (some := operations(spec, "W_g", "scores")):
            return {}
        return compute({"x": self.x[queries], "W_g": gate_map(config)}, spec, some)

    @property
    def scale(self) -> float:
        """The factor of dot products: the scale divided by the temperature."""
        return self.config.logit_scale

    def _by_table(self, name: str) -> Float[Tensor, "h q k"]:
        """Returns a matrix of the size of the weights, as the table of operations computes it."""
        spec = replace(spec_of(self.config), masks=True)
        given = given_halves(spec.halves, q=self.q, k=self.k)
        given |= {"mask": self.mask, "heads": torch.arange(len(self.weights))}
        given |= forget_logits(self.given)
        before = [each for each in operations(spec, "scores", "weights") if each.part != "softmax"]
        found = compute(given, spec, before)
        return found.get(name, found["scores"])

    @property
    def scores(self) -> Float[Tensor, "h q k"]:
        """The scaled scores, before softcap, mask and bias: those of the first softmax if a head has two."""
        return self._by_table("scaled")

    @property
    def bias(self) -> Float[Tensor, "h q k"]:
        """What positions and forgetting add to the scores; zeros if nothing."""
        bias = _bias(self.given, *self.weights.shape[1:])
        if bias is None:
            return torch.zeros((), dtype=torch.float32).expand(self.weights.shape)
        return bias.square()

    @property
    def logits(self) -> Float[Tensor, "h q k"]:
        """The input of the softmax: scores after softcap, with bias, and minus infinity for masked pairs.

        It is that of the first softmax if a head has two.
        """
        return self._by_table("logits")


def trace(config: Config, executor: Executor | None = None) -> Trace:
    """Computes one pass of multi-head self-attention, step by step (Vaswani et al. 2017, section 3.2), of a config.

    For cross-attention: `run_pass(layer_inputs(config))`.

    Two threads of an `executor` share the heads if these are large. Raises ConfigError for more than MAX_WEIGHTS
    weights, heads x queries x keys; `head_maps` computes larger ones.

    >>> steps = attention.trace(attention.Config(tokens=5, heads=2, d_model=64))
    >>> steps.texts
    ('The', 'river', 'bank', 'was', 'steep')
    >>> torch.allclose(steps.weights.sum(-1), torch.ones(2, 5))
    True
    """
    check_size(config)
    return replace(run_pass(layer_inputs(config.for_page()), executor), config=config)


def check_size(config: Config) -> None:
    """Raises ConfigError if a trace of the config has more than MAX_WEIGHTS weights."""
    n, m, h = config.tokens, config.n_keys, config.heads
    if h * n * m > MAX_WEIGHTS:
        most = math.isqrt(MAX_WEIGHTS // h)
        limit = f"{h} heads of {n:,} x {m:,} weights are over the limit of {MAX_WEIGHTS:,} cells"
        raise ConfigError(f"tokens={n}: {limit} of a trace. The most that fits is {most}; head_maps draws any length.")


def run_pass(given: LayerInputs, executor: Executor | None = None) -> Trace:
    """Computes the pass of the inputs of any source. Weights that come without queries and keys are used unchanged."""
    if given.q is None or given.k is None:
        return _alone(given)
    mask = given.square
    q, v = scaled_queries(given.config, given.q, mask), _values(given, given.k)
    h, n, m = len(q), given.queries.count, given.keys.count
    with torch.inference_mode():
        bias = _bias(given, n, m)
        joint = None if given.rule is MASKS["full"] else mask
        weights, context = empty_hugepages((h, n, m), q), q.new_empty(h, n, v.shape[-1])
    fill = partial(_heads, given.config, (q, given.k, v), joint, bias, weights, context)
    if executor and h > 1 and h * n * m > SHARED:
        list(executor.map(fill, (slice(0, h // 2), slice(h // 2, h))))
    else:
        fill(slice(0, h))
    return Trace(given.config, given, mask, weights, context)


@torch.inference_mode()
def scaled_queries(config: Config, q: Float[Tensor, "h q d"], mask: Bool[Tensor, "q k"]) -> Float[Tensor, "h q d"]:
    """Returns queries times what the query scale multiplies their scores by, which depends on the mask; else as they are."""
    return q * log_keys(mask.sum(-1)).to(q)[:, None] if config.query_scale == LOG else q


def _alone(given: LayerInputs) -> Trace:
    """Computes the pass of weights alone; no mask setting acts. If the source has no mask, rows of zeros count as masked."""
    weights = given.weights
    if weights is None:
        raise LackingError(f"The source {given.config.source!r} has neither queries and keys nor weights.")
    seen = (weights != 0).any(-1).any(0)[:, None].expand(weights.shape[1:])
    mask = given.rule if isinstance(given.rule, Tensor) else seen
    return Trace(given.config, given, mask, weights, weights @ _values(given, weights))


def _values(given: LayerInputs, like: Tensor) -> Float[Tensor, "h k e"]:
    """Returns the values, with zero channels if the source has none."""
    return like.new_empty(len(like), given.keys.count, 0) if given.v is None else given.v


@torch.inference_mode()
def _heads(
    config: Config,
    given: tuple[Tensor, ...],
    mask: Tensor | None,
    bias: ScoreBias | None,
    weights: Tensor,
    context: Tensor,
    some: slice,
) -> None:
    """Fills in the weights and the context of some heads."""
    q, k, v = (part[some] for part in given)
    bias = bias if bias is None else bias[some]
    options = {
        "scale": config.logit_scale,
        "softcap": config.softcap or None,
    }
    if SOFTMAXES[config.softmax].halves > 1:
        added = bias and bias.square()
        joint = mask if added is None else added if mask is None else added.masked_fill_(~mask, HIDDEN)
        _subtract(config.sinks[some], (q, k, v), joint, options, weights[some], context[some])
        return
    options["normalise"] = normaliser(config.softmax, config.sinks[some])
    context[some] = attend(q, k, v, mask, **options, out=weights[some], bias=bias).output


def _subtract(
    factors: Sequence[float],
    given: tuple[Tensor, ...],
    joint: Tensor | None,
    options: dict[str, Any],
    weights: Tensor,
    context: Tensor,
) -> None:
    """Fills in the difference of two softmaxes, some heads at a time, so that the second takes little memory."""
    q, k, v = given
    (q, second_q), (k, second_k) = (split_halves(each, HALVES) for each in (q, k))
    count = max(1, SHARED // max(1, weights[0].numel()))
    for first in range(0, len(q), count):
        at = slice(first, first + count)
        mask = joint if joint is None or joint.ndim == 2 else joint[at]
        one = attend(q[at], k[at], v[at], mask, **options, out=weights[at])
        two = attend(second_q[at], second_k[at], v[at], mask, **options)
        factor = weights.new_tensor(factors[at])[:, None, None]
        weights[at].sub_(two.weights.mul_(factor))
        context[at] = one.output - two.output * factor


def bytes_of(config: Config) -> int:
    """Returns about how many bytes the pass of a config and its picture take, at most of the tokens that are shown."""
    shown = config.truncated
    vectors = 4 * (shown.tokens + shown.d_model) * shown.d_model
    return int(FLOAT * (COPIES * shown.heads * shown.tokens * shown.n_keys + vectors))


def _bias(given: LayerInputs, queries: int, keys: int) -> ScoreBias | None:
    lines = position_lines(given.config.positions, queries, keys, given.config.heads)
    logits = forget_logits(given)
    kept = retention(logits["F"]) if logits else None
    return None if kept is None and lines is None else ScoreBias(queries, keys, kept, lines)


def forget_logits(given: LayerInputs) -> dict[str, Tensor]:
    """Returns the logits of the forget gates as the table names them, `F (q h)`; {} if nothing is forgotten."""
    spec = spec_of(given.config)
    if given.x is None or not (some := operations(spec, "F", "W_g")):
        return {}
    known = {"x": given.x, "W_f": forget_map(given.config.d_model, given.config.heads, given.config.seed)}
    with torch.inference_mode():
        return {"F": compute(known, spec, some)["F"]}

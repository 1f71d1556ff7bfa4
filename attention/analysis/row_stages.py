"""The computation of one row of weights: every step from the dot products to the softmax, with its formula.

`STAGES` has the steps in order. The formulas are KaTeX; `worked_formulas` fills in the numbers of one key, and a test
evaluates them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.config import Config
from attention.scores import HIDDEN, SOFTMAXES, adds_one, adds_penalty, scale_form, soft_cap
from attention.trace import Trace, position_bias

SHARES = (0.5, 0.9, 0.99)  # of a row's weight; the smallest set of keys with each is shown
GEMMA = 50.0  # the softcap that is shown if none is set: Gemma 2, section 2


@dataclass(frozen=True, eq=False)
class Stages:
    """The steps of one row, each `(k)`: `dots`, `scaled`, `logits` (minus infinity for masked keys), `weights`.

    `bias` is the position bias, `visible` the row of the mask.
    """

    config: Config
    dots: Float[Tensor, " k"]
    scaled: Float[Tensor, " k"]
    bias: Float[Tensor, " k"]
    logits: Float[Tensor, " k"]
    weights: Float[Tensor, " k"]
    visible: Bool[Tensor, " k"]

    @property
    def heaviest(self) -> int | None:
        """The key with the largest weight, the first of equal ones; None if the row is fully masked."""
        return int(self.weights.argmax()) if self.visible.any() else None

    @property
    def entropy(self) -> float:
        """The entropy of the row's weights in nats: -sum p ln p."""
        return float(torch.special.entr(self.weights.double()).sum())


class Stage(NamedTuple):
    """A step: its name, and its formula under a config."""

    label: str
    formula: Callable[[Config], str]


def stages(trace: Trace) -> Stages:
    """Returns the steps of the selected row in float32; the last one is the weights of the trace."""
    config = trace.config
    head, query = config.head, config.query_index
    dots = trace.k[head] @ trace.q[head, query]
    scaled = dots * trace.scale
    bias = position_bias(config)
    added = torch.zeros_like(dots) if bias is None else bias[head, query]
    visible = trace.mask[query]
    logits = _logits(scaled, config.softcap, added, visible)
    return Stages(
        config, dots, scaled, added, logits, trace.weights[head, query].clone(), visible
    )  # a view would hold all heads


def ranks(weights: Float[Tensor, " k"]) -> Int[Tensor, " k"]:
    """Returns the rank of every key by weight, 0 for the heaviest; equal ones keep their order."""
    return weights.argsort(descending=True, stable=True).argsort()


def mass(weights: Float[Tensor, " k"]) -> Float[Tensor, " k"]:
    """Returns the share of the row's weight on its 1, 2, … heaviest keys, in float64; zeros for a fully masked row."""
    held = weights.double().sort(descending=True).values.cumsum(0)
    return held / held[-1] if held[-1] > 0 else held


def smallest(weights: Float[Tensor, " k"]) -> dict[float, int]:
    """Returns the size of the smallest set of keys that holds each of `SHARES`; 0 for a fully masked row."""
    held = mass(weights)
    return {share: int((held < share).sum()) + 1 if held[-1] > 0 else 0 for share in SHARES}


def variants(row: Stages) -> dict[str, Float[Tensor, " k"]]:
    """Returns the row's weights with the standard softmax, with one added to the denominator, and with a softcap."""
    cap = row.config.softcap or GEMMA
    plain = _logits(row.scaled, 0, row.bias, row.visible)
    squeezed = _logits(row.scaled, cap, row.bias, row.visible)
    return {
        "softmax": _weights(plain, "standard"),
        "plus one": _weights(plain, "plus one"),
        f"softcap {cap:g}": _weights(squeezed, "standard"),
    }


def shifted_weights(row: Stages, key: int, by: float) -> Float[Tensor, " k"]:
    """Returns the row's weights if the logit of one key is `by` larger, which multiplies its exponential by e^by."""
    logits = row.logits.clone()
    logits[key] += by
    return _weights(logits, row.config.softmax)


def _logits(
    scaled: Float[Tensor, " k"], softcap: float, bias: Float[Tensor, " k"], visible: Bool[Tensor, " k"]
) -> Float[Tensor, " k"]:
    return (soft_cap(scaled[None].clone(), softcap)[0] + bias).masked_fill(~visible, HIDDEN)


def _weights(logits: Float[Tensor, " k"], softmax: str) -> Float[Tensor, " k"]:
    return SOFTMAXES[softmax](logits[None].clone())[0].nan_to_num(0.0)


def _scaled_formula(config: Config) -> str:
    divisor = scale_form(config.scale).divisor_of(r"d_\mathrm{head}")
    return rf"\frac{{s_j}}{{{divisor}\, T}}" if divisor else r"\frac{s_j}{T}"


def _logit(config: Config) -> str:
    cap = r"c \tanh\!\left(\frac{z_j}{c}\right)" if config.softcap else "z_j"
    return cap + (" + b_j" if adds_penalty(config.positions) else "") + r" + \mathrm{mask}_j"


def _weight(config: Config) -> str:
    """Returns the formula of a weight, and the same one as it is computed: with the largest logit m subtracted."""
    one, shifted = ("1 + ", "e^{-m} + ") if adds_one(config.softmax) else ("", "")
    return (
        rf"\frac{{e^{{\ell_j}}}}{{{one}\sum_i e^{{\ell_i}}}} = "
        rf"\frac{{e^{{\ell_j - m}}}}{{{shifted}\sum_i e^{{\ell_i - m}}}}"
    )


STAGES: dict[str, Stage] = {
    "dots": Stage("Dot products", lambda config: r"s_j = q \cdot k_j"),
    "scaled": Stage("Scaled", lambda config: f"z_j = {_scaled_formula(config)}"),
    "logits": Stage("Logits", lambda config: rf"\ell_j = {_logit(config)}"),
    "weights": Stage("Weights", lambda config: f"p_j = {_weight(config)}"),
}


def worked_formulas(row: Stages, key: int) -> dict[str, str]:
    """Returns the formulas with the numbers of one visible key, one line of KaTeX per stage.

    The softmax is that of its second formula, with the largest logit m subtracted.
    """
    config = row.config
    dot, scaled, bias, logit, weight = (
        float(x[key]) for x in (row.dots, row.scaled, row.bias, row.logits, row.weights)
    )
    top = float(row.logits.max())
    ones = math.exp(-top) if adds_one(config.softmax) else 0.0
    total = float((row.logits.double() - top).exp().sum()) + ones
    divisor = scale_form(config.scale).divisor_of(str(config.d_head))
    under = rf"{divisor} \cdot {number(config.temperature)}" if divisor else number(config.temperature)
    divided = rf"\frac{{{number(dot)}}}{{{under}}}"
    cap = number(config.softcap)
    squeezed = rf"{cap} \tanh\!\left(\frac{{{number(scaled)}}}{{{cap}}}\right)" if config.softcap else number(scaled)
    terms = f"{squeezed}{_penalty_term(config, bias)} + 0"  # a mask adds 0 to a visible key
    shifted = f"{number(logit)} - {_in_parentheses(top)}"
    return {
        "dots": rf"s_{{{key}}} = {number(dot)}",
        "scaled": rf"z_{{{key}}} = {divided} = {number(scaled)}",
        "logits": rf"\ell_{{{key}}} = {terms} = {number(logit)}",
        "weights": rf"p_{{{key}}} = \frac{{e^{{{shifted}}}}}{{{number(total)}}} = {number(weight)}",
    }


def _penalty_term(config: Config, bias: float) -> str:
    return f" + {_in_parentheses(bias)}" if adds_penalty(config.positions) else ""


def _in_parentheses(value: float) -> str:
    return f"({number(value)})" if value < 0 else number(abs(value))


def number(value: float) -> str:
    """Formats a number for KaTeX with five significant digits, with a power of ten if it is very small or large."""
    digits, _, power = f"{value:.5g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


def oddities(row: Stages) -> list[str]:
    """Returns what is unusual about the row under these settings, one sentence each; [] if nothing is."""
    config, seen = row.config, int(row.visible.sum())
    if not seen:
        return ["This query sees no key: there is nothing to share out, so its weights and its output are zero."]
    found = {
        "It sees one key only, whose weight does not depend on any score.": seen == 1 and not adds_one(config.softmax),
        "It sees one key only: what that does not get goes to the one in the denominator.": seen == 1
        and adds_one(config.softmax),
        "A head has one channel: every dot product is one product of two numbers.": config.d_head == 1,
        f"The softcap keeps every score within ±{config.softcap:g}, so no weight is more than "
        f"e^{2 * config.softcap:g} = {math.exp(min(2 * config.softcap, 700)):.3g} times another before the bias.": 0
        < config.softcap
        < 1,
        f"{int((row.weights[row.visible] == 0).sum())} of its {seen} keys are so far below the greatest logit that "
        "float32 gives them a weight of zero.": bool((row.weights[row.visible] == 0).any()),
        "One key has all of the weight that float32 can tell: the gradient through this row is zero.": seen > 1
        and float(row.weights.max()) == 1,
    }
    return [sentence for sentence, is_so in found.items() if is_so]

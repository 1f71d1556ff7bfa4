"""The computation of one row of weights: every step from the dot products to the softmax, with its formula.

`STAGES` has the steps in order. Formulas and tensors are those of the table of operations. The formulas are KaTeX;
`worked_formulas` fills in the numbers of one key, and a test evaluates them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.config import Config
from attention.operations.differential import own_name
from attention.operations.mask import ADDED
from attention.operations.normalisers import Normaliser, Softmax
from attention.operations.operation import Spec
from attention.operations.qk_norm import ON
from attention.operations.query_scale import SYMBOL
from attention.operations.scale import TIMES, WIDTHS, scale_term
from attention.operations.softmax import SOFTMAXES, head_sinks, head_softmax, softmaxes_of_logits
from attention.operations.table import compute, operations, score_term
from attention.sources.spec import spec_of
from attention.trace import Trace

LOGIT = r"\ell_%s"
SHARES = (0.5, 0.9, 0.99)  # of a row's weight; the smallest set of keys with each is shown
GEMMA = 50.0  # the softcap that is shown if none is set: Gemma 2, section 2


@dataclass(frozen=True, eq=False)
class Stages:
    """The steps of one row, each `(k)`: `dots`, `scaled`, `logits` (minus infinity for masked keys), `weights`.

    `bias` is what positions and forgetting add, `visible` the row of the mask, `statistic` the number of the row that its
    normaliser subtracts from every logit, NaN if the row is fully masked.

    In differential attention all before the weights is that of the first softmax; `first` and `second` are both softmaxes.
    """

    config: Config
    dots: Float[Tensor, " k"]
    scaled: Float[Tensor, " k"]
    bias: Float[Tensor, " k"]
    logits: Float[Tensor, " k"]
    weights: Float[Tensor, " k"]
    visible: Bool[Tensor, " k"]
    statistic: float
    first: Float[Tensor, " k"] | None = None
    second: Float[Tensor, " k"] | None = None

    @property
    def operand(self) -> Float[Tensor, " k"]:
        """Logits minus the statistic of the row, which the weights are a function of."""
        return self.logits - self.statistic

    @property
    def support(self) -> int:
        """The number of keys with a weight that is not zero."""
        return int((self.weights > 0).sum())

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
    config, head, query = trace.config, trace.config.head, trace.config.query_index
    spec, bias, visible = _spec(config), trace.bias[head, query].clone(), trace.mask[query]
    halves = zip(trace.k[head].chunk(spec.halves, -1), trace.q[head, query].chunk(spec.halves), strict=True)
    dots, *others = (k @ q for k, q in halves)
    logits = _logits(spec, dots, bias, visible)
    weights = trace.weights[head, query].clone()  # a view would hold all heads
    given = config, dots, dots * trace.scale, bias, logits, weights, visible
    if not others:
        return Stages(*given, float(config.head_softmax.statistic(logits[None].double())))
    both = (_weights(each, STANDARD) for each in (logits, _logits(spec, others[0], bias, visible)))
    return Stages(*given, float(STANDARD.statistic(logits[None].double())), *both)


def ranks(weights: Float[Tensor, " k"]) -> Int[Tensor, " k"]:
    """Returns the rank of every key by the size of its weight, 0 for the heaviest; equal ones keep their order."""
    return weights.abs().argsort(descending=True, stable=True).argsort()


def mass(weights: Float[Tensor, " k"]) -> Float[Tensor, " k"]:
    """Returns the share of the row's weight on its 1, 2, … heaviest keys, in float64; zeros for a fully masked row.

    Negative weights count by their size.
    """
    held = weights.double().abs().sort(descending=True).values.cumsum(0)
    return held / held[-1] if held[-1] > 0 else held


def smallest(weights: Float[Tensor, " k"]) -> dict[float, int]:
    """Returns the size of the smallest set of keys that holds each of `SHARES`; 0 for a fully masked row."""
    held = mass(weights)
    return {share: int((held < share).sum()) + 1 if held[-1] > 0 else 0 for share in SHARES}


def variants(row: Stages) -> dict[str, Float[Tensor, " k"]]:
    """Returns the row's weights with every softmax, and with the standard one after a softcap."""
    spec = _spec(row.config)

    def logits(softcap: float) -> Float[Tensor, " k"]:
        return _logits(replace(spec, softcap=softcap), row.dots, row.bias, row.visible)

    plain, cap = logits(0), row.config.softcap or GEMMA
    config = row.config
    given = config.sink_logit, config.sigmoid_length, config.seed, config.heads
    each = {name: head_softmax(name, head_sinks(name, *given)[config.head]) for name in softmaxes_of_logits()}
    found = {variant_name(name): _weights(plain, softmax) for name, softmax in each.items()}
    return found | {f"softcap {cap:g}": _weights(logits(cap), each["standard"])}


def variant_name(softmax: str) -> str:
    """Returns what a softmax is called beside others."""
    return softmax.replace("standard", "softmax")


def _spec(config: Config) -> Spec:
    """Returns the spec of the pass; a mask is shown even if no pair is masked."""
    return replace(spec_of(config), masks=True)


def symbols(config: Config) -> tuple[str, str]:
    """Returns the symbols of a query and a key: with hats if they are normalised."""
    return (r"\hat q", r"\hat k") if config.qk_norm == ON else ("q", "k")


def _logits(
    spec: Spec, dots: Float[Tensor, " k"], bias: Float[Tensor, " k"], visible: Bool[Tensor, " k"]
) -> Float[Tensor, " k"]:
    given = {"scores": dots[None, None], "bias": bias[None, None], "mask": visible}
    some = [each for each in operations(spec, "scaled", own_name("scores")) if each.name != "bias"]
    return compute(given, spec, some)["logits"][0, 0]


def _weights(logits: Float[Tensor, " k"], softmax: Normaliser) -> Float[Tensor, " k"]:
    return softmax.normalise(logits[None].clone())[0].nan_to_num(0.0)


OPERAND = "operand"  # the stage that only some softmaxes have
FIRST, SECOND = "first", "second"  # the stages that only differential attention has
STANDARD = SOFTMAXES["standard"]
STAGES: dict[str, Stage] = {
    "dots": Stage("Scores", lambda config: r"s_j = {} \cdot {}_j".format(*symbols(config))),
    "scaled": Stage("Scaled scores", lambda config: f"z_j = {scale_term(_spec(config), 's_j')}"),
    "logits": Stage("Logits", lambda config: rf"\ell_j = {score_term(_spec(config), 'z_j')}"),
    OPERAND: Stage("Operand", lambda config: f"a_j = {config.head_softmax.operand_formula(LOGIT)}"),
    FIRST: Stage("First softmax", lambda config: f"a_j = {STANDARD.stage(LOGIT)}"),
    SECOND: Stage("Second softmax", lambda config: r"a'_j:\ \text{the same, of the second halves of }q\text{ and }k_j"),
    "weights": Stage("Weights", lambda config: f"p_j = {_weight_formula(config)}"),
}


def _weight_formula(config: Config) -> str:
    if config.head_softmax.halves > 1:
        return rf"a_j - {config.diff_lambda:g} \cdot a'_j"
    return config.head_softmax.stage(LOGIT)


def shown_stages(config: Config) -> dict[str, Stage]:
    """Returns the steps that a config has, with their names."""
    operand, halves = config.head_softmax.operand, config.head_softmax.halves > 1
    there = {OPERAND: bool(operand), FIRST: halves, SECOND: halves}
    return {
        name: each._replace(label=operand) if name == OPERAND else each
        for name, each in STAGES.items()
        if there.get(name, True)
    }


def worked_formulas(row: Stages, key: int) -> dict[str, str]:
    """Returns the formulas with the numbers of one visible key, one line of KaTeX per stage.

    The softmax is that of its second formula, with the largest logit m subtracted.
    """
    config, spec = row.config, _spec(row.config)
    dot, scaled, logit, weight = (number(float(x[key])) for x in (row.dots, row.scaled, row.logits, row.weights))
    written = {WIDTHS[spec.halves]: str(config.score_width), "T": number(config.temperature), TIMES: r" \cdot "}
    written |= {SYMBOL: number(math.log(max(1, int(row.visible.sum()))))}
    written |= {"c": number(config.softcap), "b_j": _in_parentheses(float(row.bias[key])), ADDED: "0"}
    return {
        "dots": rf"s_{{{key}}} = {dot}",
        "scaled": rf"z_{{{key}}} = {scale_term(spec, dot, written.__getitem__)} = {scaled}",
        "logits": rf"\ell_{{{key}}} = {score_term(spec, scaled, written.__getitem__)} = {logit}",
    } | _worked_weight(row, key, logit, weight)


def _worked_weight(row: Stages, key: int, logit: str, weight: str) -> dict[str, str]:
    """Returns the last formulas with the numbers of a key: the operand, if there is such a step, and the weight."""
    softmax = row.config.head_softmax
    if row.first is not None and row.second is not None:
        one, two = (number(float(each[key])) for each in (row.first, row.second))
        top = float(row.logits.max())
        total = number(float((row.logits.double() - top).exp().sum()))
        return {
            FIRST: rf"a_{{{key}}} = \frac{{e^{{{logit} - {_in_parentheses(top)}}}}}{{{total}}} = {one}",
            SECOND: rf"a'_{{{key}}} = {two}",
            "weights": rf"p_{{{key}}} = {one} - {row.config.diff_lambda:g} \cdot {two} = {weight}",
        }
    if isinstance(softmax, Softmax):
        top = float(row.logits.max())
        total = float((row.logits.double() - top).exp().sum()) + softmax.shifted(top)
        shifted = f"{logit} - {_in_parentheses(top)}"
        return {"weights": rf"p_{{{key}}} = \frac{{e^{{{shifted}}}}}{{{number(total)}}} = {weight}"}
    operand = number(float(row.operand[key]))
    return {
        OPERAND: rf"a_{{{key}}} = {logit} - {_in_parentheses(row.statistic)} = {operand}",
        "weights": rf"p_{{{key}}} = {softmax.of_operand % operand} = {weight}",
    }


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
        return ["This query is fully masked, so its weights and its output are zero."]
    softmax, zeros = config.head_softmax, bool((row.weights[row.visible] == 0).any())
    found = {
        f"Only one key is visible{softmax.alone}.": seen == 1,
        "Heads have one channel, so every score is a product of two numbers.": config.d_head == 1,
        f"The softcap limits scaled scores to ±{config.softcap:g}, so no weight is more than "
        f"e^{2 * config.softcap:g} = {math.exp(min(2 * config.softcap, 700)):.3g} times another before the bias.": 0
        < config.softcap
        < 1,
        f"{int((row.weights[row.visible] == 0).sum())} of its {seen} keys are so far below the largest logit that "
        "float32 gives them a weight of zero.": zeros and not softmax.sparse,
        f"{'One' if softmax.sparse else 'In float32, one'} key has all of the weight: the gradient through this row is "
        "zero.": seen > 1 and softmax.distributes and float(row.weights.max()) == 1,
    }
    return [sentence for sentence, is_so in found.items() if is_so]

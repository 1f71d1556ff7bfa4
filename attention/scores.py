"""Operations on scores: scale, positions, softcap and softmax.

They turn a query and a key into a logit, and logits into weights. To add a scale, a position or a softmax, write one
function, add its name to the dict below it, and do what docs/EXTENDING.md lists for each. The first line of a docstring
is the help text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

HIDDEN = -math.inf  # the logit of a masked key
Normalise = Callable[[Float[Tensor, "*b k"]], Float[Tensor, "*b k"]]


def root(d_head: int) -> float:
    """Divide by the square root of d_head, so that logits keep variance one (Vaswani et al. 2017, section 3.2.1)."""
    return 1 / math.sqrt(d_head)


def unscaled(d_head: int) -> float:
    """Leave the dot products as they are: their variance grows with d_head and the softmax saturates."""
    return 1.0


def inverse(d_head: int) -> float:
    """Divide by d_head, as maximal update parametrisation does (Yang et al. 2022, definition 4.1)."""
    return 1 / d_head


SCALES: dict[str, Callable[[int], float]] = {"1/sqrt(d_head)": root, "none": unscaled, "1/d_head": inverse}


class ScaleForm(NamedTuple):
    """A scale in print: `code` is the factor in Python, `divisor` the divisor of scores in TeX (%s is d, "" for none)."""

    code: str
    divisor: str

    def divisor_of(self, d: str) -> str:
        """Returns the divisor for a name or a value of d."""
        return self.divisor.replace("%s", d)


SCALE_FORMS: dict[str, ScaleForm] = {  # used by formulas and programs
    "1/sqrt(d_head)": ScaleForm("d_head ** -0.5", r"\sqrt{%s}"),
    "none": ScaleForm("1", ""),
    "1/d_head": ScaleForm("1 / d_head", "%s"),
}


def scale_form(scale: str) -> ScaleForm:
    """Returns the printed form of a scale. Raises NotImplementedError for one that is not in SCALE_FORMS."""
    if scale not in SCALE_FORMS:
        raise NotImplementedError(
            f"scale={scale!r} is not in scores.SCALE_FORMS: formulas and programs take its line from there. docs/EXTENDING.md "
            "has an example."
        )
    return SCALE_FORMS[scale]


def sinusoidal(n: int, channels: int) -> Float[Tensor, "n c"]:
    """Sines and cosines of the position are added to the input (Vaswani et al. 2017, section 3.5)."""
    pairs = torch.arange(0, channels, 2, dtype=torch.float32) / channels
    angles = torch.arange(n)[:, None] / 10_000**pairs
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :channels]


def rotary(x: Float[Tensor, "*h n d"], positions: Int[Tensor, " n"] | None = None) -> Float[Tensor, "*h n d"]:
    """Pairs of channels of queries and keys are turned by their position (Su et al. 2021, RoFormer, section 3.2.2).

    Channels i and i + d/2 form a pair, as in GPT-NeoX and the Llama of transformers. The paper pairs neighbours, 2i and
    2i + 1: the same rotations, with channels in another order. The last channel of an odd d is unchanged.
    """
    half = x.shape[-1] // 2
    positions = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
    angles = positions[:, None] / 10_000 ** (torch.arange(half, dtype=torch.float32, device=x.device) / max(half, 1))
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b, rest = x.split((half, half, x.shape[-1] - 2 * half), -1)  # one backward step of autograd, not three
    return torch.cat([a * cos - b * sin, a * sin + b * cos, rest], -1)


def alibi(q: Int[Tensor, ...], k: Int[Tensor, ...], head: Int[Tensor, ...], heads: int) -> Float[Tensor, ...]:
    """A penalty that grows with distance, at another slope in each head (Press et al. 2022, ALiBi, section 3).

    The slope of head i (from 0) is 2 ** (-8 (i + 1) / heads); the distance counts on both sides of the query.
    """
    return -(2.0 ** (-8.0 * (head + 1).float() / heads)) * (q - k).abs()


def no_positions() -> None:
    """Attention does not know where a token stands: shuffled tokens give shuffled outputs."""


@dataclass(frozen=True)
class Positions:
    """Where a rule of positions is applied: input, heads or scores; `doc` is the function whose docstring explains it."""

    doc: Callable
    to_input: Callable[[int, int], Float[Tensor, "n c"]] | None = None
    to_heads: Callable[..., Float[Tensor, "*h n d"]] | None = None
    to_scores: Callable[..., Float[Tensor, ...]] | None = None


POSITIONS: dict[str, Positions] = {
    "none": Positions(no_positions),
    "sinusoidal": Positions(sinusoidal, to_input=sinusoidal),
    "rotary": Positions(rotary, to_heads=rotary),
    "alibi": Positions(alibi, to_scores=alibi),
}


def soft_cap(scores: Float[Tensor, "*b k"], softcap: float | None) -> Float[Tensor, "*b k"]:
    """Bounds scores to (-softcap, softcap) by tanh, in place; None or 0 leaves them unchanged (Gemma 2, section 2)."""
    if not softcap:
        return scores
    return scores.div_(max(softcap, torch.finfo(scores.dtype).tiny)).tanh_().mul_(softcap)  # 0 / 0 would be NaN


def standard(logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
    """Weights of a row sum to one."""
    return torch.softmax(logits, -1, out=logits)


def plus_one(logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
    """One is added to the denominator, so that a head can attend to nothing (Miller 2023; torch's add_zero_attn)."""
    nothing = torch.logsumexp(logits, -1, keepdim=True)
    return torch.softmax(logits, -1, out=logits).mul_(nothing.sigmoid_())


SOFTMAXES: dict[str, Callable[[Float[Tensor, "*b k"]], Float[Tensor, "*b k"]]] = {
    "standard": standard,
    "plus one": plus_one,
}


ADDS_ONE: dict[str, bool] = {"standard": False, "plus one": True}  # to the denominator; used by formulas and programs


def adds_one(softmax: str) -> bool:
    """Whether this softmax adds one to its denominator. Raises NotImplementedError for one that is not in ADDS_ONE."""
    if softmax not in ADDS_ONE:
        raise NotImplementedError(
            f"softmax={softmax!r} is not in scores.ADDS_ONE: formulas, programs and checks are written for exp / sum and for "
            "exp / (1 + sum). docs/EXTENDING.md names the files that a third form needs."
        )
    return ADDS_ONE[softmax]


def adds_penalty(positions: str) -> bool:
    """Whether these positions add ALiBi's penalty to the scores.

    Raises NotImplementedError for rules other than sinusoidal, rotary and alibi: formulas and programs are written for
    these.
    """
    rule = POSITIONS[positions]
    if not {rule.to_input, rule.to_heads, rule.to_scores} <= {None, sinusoidal, rotary, alibi}:
        raise NotImplementedError(
            f"positions={positions!r} has no formula and no lines of a program. docs/EXTENDING.md names the "
            "files that they go into."
        )
    return rule.to_scores is alibi


def row_sums(softmax: str, blind: int, queries: int) -> str:
    """Returns a clause on what the rows of weights sum to; `blind` of the queries have no visible key."""
    total = "at most 1" if adds_one(softmax) else "1"
    if not blind:
        return f"each row sums to {total}"
    if blind == queries:
        return "every row is fully masked and sums to 0"
    others = "1 fully masked row sums" if blind == 1 else f"{blind:,} fully masked rows sum"
    return f"each row sums to {total}, but {others} to 0"


def whole(lse: Float[Tensor, "*q"]) -> Float[Tensor, "*q"]:
    """Returns the logarithm of the softmax's denominator: that of the sum of exponentials."""
    return lse


def whole_plus_one(lse: Float[Tensor, "*q"]) -> Float[Tensor, "*q"]:
    """Returns the logarithm of one plus the sum of exponentials."""
    return torch.logaddexp(lse, torch.zeros_like(lse))


NORMALISERS: dict[str, Callable[[Float[Tensor, "*q"]], Float[Tensor, "*q"]]] = {
    "standard": whole,
    "plus one": whole_plus_one,
}
assert NORMALISERS.keys() == SOFTMAXES.keys(), "a softmax needs its entry in SOFTMAXES, NORMALISERS and ADDS_ONE"

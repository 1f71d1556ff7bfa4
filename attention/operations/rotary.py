"""Rotary positions: pairs of channels are turned by their position, and how turns are scaled to longer texts.

A pair turns by one radian in `periods` tokens: 1 for the first pair, about the base for the last. To add a scaling, write
the function that says how much of each pair is kept, and add its record to `SCALINGS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

BASE, FRACTION, UNSCALED, FACTOR, LENGTH = 10_000.0, 1.0, "none", 4.0, 4096  # defaults
ROTARY_KNOBS = ("rotary_base", "rotary_fraction", "rotary_scaling", "rotary_factor", "rotary_length")
FASTEST, SLOWEST = (
    32,
    1,
)  # YaRN: turns within the original length from which a pair is kept, to which it is interpolated
KEPT, INTERPOLATED = 4, 1  # the same for Llama 3


@runtime_checkable
class Choices(Protocol):
    """The settings of positions: a `Config`, or the `Spec` of a pass."""

    @property
    def positions(self) -> str: ...
    @property
    def rotary_base(self) -> float: ...
    @property
    def rotary_fraction(self) -> float: ...
    @property
    def rotary_scaling(self) -> str: ...
    @property
    def rotary_factor(self) -> float: ...
    @property
    def rotary_length(self) -> int: ...


def rotary(
    x: Float[Tensor, "*h n d"],
    positions: Int[Tensor, " n"] | None = None,
    periods: Float[Tensor, " m"] | None = None,
    gain: float = 1.0,
) -> Float[Tensor, "*h n d"]:
    """Pairs of channels of queries and keys are rotated by their position (Su et al. 2021, RoFormer, section 3.2.2).

    The first m channels and the next m form m pairs, as in GPT-NeoX and the Llama of transformers; a pair turns by one
    radian in `periods` tokens, and what is turned is multiplied by `gain`. By default, all channels are turned, with base
    10,000. The paper pairs neighbours, 2i and 2i + 1: the same rotations, with channels in another order.
    """
    if periods is None:
        half = x.shape[-1] // 2
        periods = 10_000 ** (torch.arange(half, dtype=torch.float32, device=x.device) / max(half, 1))
    half = len(periods)
    positions = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
    angles = positions[:, None] / periods
    cos, sin = (angles.cos() * gain).to(x.dtype), (angles.sin() * gain).to(x.dtype)
    a, b, rest = x.split((half, half, x.shape[-1] - 2 * half), -1)  # one backward step of autograd, not three
    return torch.cat([a * cos - b * sin, a * sin + b * cos, rest], -1)


def keep_all(index: Tensor, base: float, length: int) -> Tensor:
    """Angles are those of training."""
    return torch.ones_like(index)


def keep_none(index: Tensor, base: float, length: int) -> Tensor:
    """Positions are divided by the factor, so every pair rotates more slowly (Chen et al. 2023, position interpolation)."""
    return torch.zeros_like(index)


def stretch_base(index: Tensor, base: float, length: int) -> Tensor:
    """The base grows by factor ^ (d / (d - 2)): the first pair stays, the last is interpolated (NTK-aware, bloc97 2023)."""
    return torch.ones_like(index)


def keep_fast_pairs(index: Tensor, base: float, length: int) -> Tensor:
    """Pairs that make 32 turns within the original length stay, those below one turn are interpolated (Peng et al. 2024, YaRN).

    What is turned is multiplied by 0.1 ln(factor) + 1. The ends of the ramp are whole pairs, as in transformers.
    """
    first, last = _ramp(len(index), base, length)
    return _falling(index, max(math.floor(first), 0), min(math.ceil(last), 2 * len(index) - 1))


def keep_fast_pairs_exactly(index: Tensor, base: float, length: int) -> Tensor:
    """YaRN with the ends of its ramp between pairs, as in gpt-oss."""
    first, last = _ramp(len(index), base, length)
    return _falling(index, max(first, 0), min(last, 2 * len(index) - 1))


def keep_short_waves(index: Tensor, base: float, length: int) -> Tensor:
    """Pairs that make four turns within the original length stay, those below one turn are interpolated (Llama 3.1)."""
    turns = length / (2 * math.pi * base ** (index / max(len(index), 1)))
    return ((turns - INTERPOLATED) / (KEPT - INTERPOLATED)).clamp(0, 1)


def _ramp(pairs: int, base: float, length: int) -> list[float]:
    """Returns where pairs make 32 turns and one turn within the original length, in numbers of a pair."""
    return [pairs * math.log(length / (2 * math.pi * turns)) / math.log(base) for turns in (FASTEST, SLOWEST)]


def _falling(index: Tensor, first: float, last: float) -> Tensor:
    """Returns one up to the pair `first` and zero from `last` on."""
    return 1 - ((index - first) / max(last - first, 1e-3)).clamp(0, 1)


def one(factor: float) -> float:
    """What is turned keeps its size."""
    return 1.0


def yarn_gain(factor: float) -> float:
    """Returns what YaRN multiplies cosines and sines by."""
    return 0.1 * math.log(factor) + 1


@dataclass(frozen=True)
class Scaling:
    """A scaling of rotary positions: `doc` returns the share of each pair that turns as in training.

    The rest of a pair turns more slowly by the factor. `needs_length`: whether it depends on the original length; `gain`
    multiplies what is turned. `stretches`: the base grows instead. `kept` is that share in TeX, with %L and %B for
    the original length and the base, `code` its lines of PyTorch, with {length} and {base}; "" where it is one, or zero.
    """

    doc: Callable[[Tensor, float, int], Tensor]
    kept: str = ""
    code: str = ""
    gain: Callable[[float], float] = one
    stretches: bool = False

    @property
    def needs_length(self) -> bool:
        """Whether it depends on the original length."""
        return bool(self.code)


YARN = """\
first, last = (half * math.log({length} / (2 * math.pi * turns)) / math.log({base}) for turns in (32, 1))
first, last = max({first}, 0), min({last}, 2 * half - 1)  # pairs that make 32 turns in {length} tokens, and one
kept = 1 - ((torch.arange(half) - first) / max(last - first, 0.001)).clamp(0, 1)
"""
RAMP = r"""\mathrm{clip}_0^1\tfrac{b - j'}{b - a},\ a = \max(0, {first}),\ b = \min({last}, 2m - 1),\ """
TURNS = r"j_t = m \log_{%B} \tfrac{%L}{2\pi t}"  # the pair that makes t turns within the original length
SCALINGS: dict[str, Scaling] = {
    "none": Scaling(keep_all),
    "linear": Scaling(keep_none),
    "ntk": Scaling(stretch_base, stretches=True),
    "yarn": Scaling(
        keep_fast_pairs,
        RAMP.replace("{first}", r"\lfloor j_{32} \rfloor").replace("{last}", r"\lceil j_1 \rceil") + TURNS,
        YARN.replace("{first}", "math.floor(first)").replace("{last}", "math.ceil(last)"),
        yarn_gain,
    ),
    "yarn (not rounded)": Scaling(
        keep_fast_pairs_exactly,
        RAMP.replace("{first}", "j_{32}").replace("{last}", "j_1") + TURNS,
        YARN.replace("{first}", "first").replace("{last}", "last"),
        yarn_gain,
    ),
    "llama3": Scaling(
        keep_short_waves,
        r"\mathrm{clip}_0^1\tfrac{n - 1}{3},\ n = \tfrac{%L}{2\pi} %B^{-j'/m}",
        "kept = (({length} / (2 * torch.pi * period) - 1) / 3).clamp(0, 1)\n",
    ),
}


@dataclass(frozen=True)
class Rotation:
    """How the vectors of heads are turned: the number of pairs, their base, and the scaling with its settings."""

    pairs: int
    base: float
    scaling: str
    factor: float
    length: int

    @property
    def gain(self) -> float:
        """What is turned is multiplied by this."""
        return SCALINGS[self.scaling].gain(self.factor)

    @property
    def stretched_base(self) -> float:
        """The base in use, which grows with the factor under `ntk`."""
        power = 2 * self.pairs / max(2 * self.pairs - 2, 1)
        return self.base * self.factor**power if SCALINGS[self.scaling].stretches else self.base

    def kept_shares(self, dtype: torch.dtype = torch.float32) -> Float[Tensor, " m"]:
        """Returns the share of each pair that turns as in training."""
        index = torch.arange(self.pairs, dtype=dtype)
        return SCALINGS[self.scaling].doc(index, self.base, self.length)

    def periods(self, dtype: torch.dtype = torch.float32) -> Float[Tensor, " m"]:
        """Returns in how many tokens each pair turns by one radian."""
        unscaled = self.stretched_base ** (torch.arange(self.pairs, dtype=dtype) / max(self.pairs, 1))
        kept = self.kept_shares(dtype)
        return unscaled / (kept + (1 - kept) / self.factor)


def rotation_of(choices: Choices, d: int) -> Rotation:
    """Returns how vectors of d channels are turned under these settings."""
    turned = int(d * choices.rotary_fraction + 1e-9)  # a third of 192 channels are 64
    return Rotation(
        turned // 2, choices.rotary_base, choices.rotary_scaling, choices.rotary_factor, choices.rotary_length
    )


def settings(choices: Choices, x: Float[Tensor, "*h n d"]) -> dict[str, Any]:
    """Returns the arguments of `rotary` for such vectors: angles are float32, or float64 if these are."""
    found, dtype = rotation_of(choices, x.shape[-1]), torch.promote_types(x.dtype, torch.float32)
    return {"periods": found.periods(dtype).to(x.device), "gain": found.gain}


def formula(spec: Choices, d: int) -> str:
    """Returns the TeX of a vector of d channels that is turned, with %s for its name."""
    found, scaling = rotation_of(spec, d), SCALINGS[spec.rotary_scaling]
    base, factor = f"{found.base:.12g}".replace("e+", r"\mathrm{e}"), f"s = {found.factor:g}"
    turned = r"%s_{ij} \cos i\theta_j \mp %s_{i,\,j \pm m} \sin i\theta_j"
    angle, given = rf"{base}^{{-(j \bmod m) / m}}", ""
    if scaling.gain is not one:
        turned, given = rf"g\,({turned})", rf",\ g = 0.1 \ln s + 1 = {found.gain:.4f}"
    if scaling.stretches:
        angle, given = rf"({base}\, s^{{m / (m - 1)}})^{{-(j \bmod m) / m}}", rf",\ {factor}"
    elif scaling.doc is keep_none:
        angle, given = rf"\tfrac{{1}}{{s}}\, {angle}", rf",\ {factor}"
    elif scaling.kept:
        given = rf",\ \gamma = {scaling.kept},\ j' = j \bmod m,\ {factor}{given}".replace(
            "%L", str(found.length)
        ).replace("%B", base)
        angle = rf"(\gamma + \tfrac{{1 - \gamma}}{{s}})\, {base}^{{-j'/m}}"
    size = r"\lfloor d/2 \rfloor" if spec.rotary_fraction == 1 else str(found.pairs)
    return rf"%s'_{{ij}} = {turned},\quad \theta_j = {angle},\ m = {size}{given}"


def code(spec: Choices, d: int) -> str:
    """Returns the lines of PyTorch that turn queries and keys of d channels."""
    found, scaling = rotation_of(spec, d), SCALINGS[spec.rotary_scaling]
    numbers = {name: format_number(getattr(found, name)) for name in ("base", "length", "factor")}
    half = (
        "d_head // 2"
        if spec.rotary_fraction == 1
        else f"{found.pairs}  # of {d} channels, {2 * found.pairs} are turned"
    )
    base, gain = numbers["base"], ""
    if scaling.stretches:
        base = f"({base} * {numbers['factor']} ** (half / max(half - 1, 0.5)))"
    period = f"{base} ** (torch.arange(half) / max(half, 1))"
    lines = f"half = {half}\n"
    if scaling.needs_length or scaling.doc is keep_none:
        lines += f"period = {period}\n{scaling.code.format(**numbers)}"
        kept = "kept + (1 - kept) / " if scaling.needs_length else "1 / "
        period = f"(period / ({kept}{numbers['factor']}))"
    lines += f"angle = torch.arange(n)[:, None] / {period}\n"
    if scaling.gain is not one:
        lines, gain = f"{lines}gain = {found.gain!r}  # 0.1 ln {found.factor:g} + 1\n", "gain * "
    return lines + TURN.replace("{gain}", gain)


TURN = """\
def turn(t):
    a, b, rest = t[..., :half], t[..., half:2 * half], t[..., 2 * half:]
    cos, sin = {gain}angle.cos(), {gain}angle.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos, rest], -1)
Q, K = turn(Q), turn(K)
"""


def format_number(value: float) -> str:
    """Returns a number as it is written in Python."""
    return f"{int(value):_}" if value == int(value) else repr(value)

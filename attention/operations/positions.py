"""Positions: how the position of a token is encoded, at the input, in queries and keys, or in the scores.

To add a rule, write its function and add its record to `POSITIONS`. What a rule adds to the scores is computed by the
operation `bias`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.operations.operation import Operation, Source, Spec
from attention.operations.project import made_here


def sinusoidal(n: int, channels: int) -> Float[Tensor, "n c"]:
    """Sines and cosines of the position are added to the input (Vaswani et al. 2017, section 3.5)."""
    pairs = torch.arange(0, channels, 2, dtype=torch.float32) / channels
    angles = torch.arange(n)[:, None] / 10_000**pairs
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :channels]


def rotary(x: Float[Tensor, "*h n d"], positions: Int[Tensor, " n"] | None = None) -> Float[Tensor, "*h n d"]:
    """Pairs of channels of queries and keys are rotated by their position (Su et al. 2021, RoFormer, section 3.2.2).

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
    """A penalty that grows with distance, with a different slope in each head (Press et al. 2022, ALiBi, section 3).

    The slope of head i (from 0) is 2 ** (-8 (i + 1) / heads); the distance counts on both sides of the query.
    """
    return -(2.0 ** (-8.0 * (head + 1).float() / heads)) * (q - k).abs()


def no_positions() -> None:
    """No positions: shuffled tokens give shuffled outputs."""


@dataclass(frozen=True)
class Positions:
    """Where a rule of positions is applied: input, heads or scores; `doc` is the function whose docstring explains it.

    `formula` is the TeX of what is added or turned, with %s for the name of the matrix; `code` its lines of PyTorch,
    which add to `x`, turn `Q` and `K`, or compute `bias` from `q`, `k` and `heads`; `adds`: what is added to scores, in words.
    `flops`: operations for one vector of that many channels.
    """

    doc: Callable
    to_input: Callable[[int, int], Float[Tensor, "n c"]] | None = None
    to_heads: Callable[..., Float[Tensor, "*h n d"]] | None = None
    to_scores: Callable[..., Float[Tensor, ...]] | None = None
    formula: str = ""
    code: str = ""
    adds: str = "a number per pair"
    flops: Callable[[int], int] = int

    def __post_init__(self) -> None:
        acts = any((self.to_input, self.to_heads, self.to_scores))
        if acts and not (self.formula and self.code):
            raise ValueError(
                f"{self.doc.__name__} has no formula or no code: Steps and programs take them from its record."
            )


POSITIONS: dict[str, Positions] = {
    "none": Positions(no_positions),
    "sinusoidal": Positions(
        sinusoidal,
        to_input=sinusoidal,
        formula=r"p_{i,2m} = \sin(i / 10000^{2m/c}),\quad p_{i,2m+1} = \cos(i / 10000^{2m/c})",
        code="""\
angle = torch.arange(n)[:, None] / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
x = x + torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :d_model]
""",
    ),
    "rotary": Positions(
        rotary,
        to_heads=rotary,
        formula=r"%s'_{ij} = %s_{ij} \cos i\theta_j \mp %s_{i,\,j \pm m} \sin i\theta_j,"
        r"\quad \theta_j = 10000^{-(j \bmod m) / m},\ m = \lfloor d/2 \rfloor",
        code="""\
half = d_head // 2
angle = torch.arange(n)[:, None] / 10_000 ** (torch.arange(half) / max(half, 1))
def turn(t):
    a, b, rest = t[..., :half], t[..., half:2 * half], t[..., 2 * half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos(), rest], -1)
Q, K = turn(Q), turn(K)
""",
        flops=lambda d: 3 * (d // 2 * 2),  # two products and a sum; the last channel of an odd d is not turned
    ),
    "alibi": Positions(
        alibi,
        to_scores=alibi,
        formula=r"b_{hij} = -2^{-8 (h + 1) / H}\,\lvert i - j \rvert",
        code="bias = -(2.0 ** (-8.0 * (torch.arange(heads)[:, None, None] + 1) / heads)) * (q - k).abs()\n",
        adds="a penalty that grows with distance",
    ),
}


def rule(spec: Spec) -> Positions:
    """Returns the rule of a pass."""
    return POSITIONS[spec.positions]


def input_operations(name: str, axis: str, words: str, lessons: tuple[str, str, str]) -> tuple[Operation, ...]:
    """Returns the operations that make the tokens of a sequence: given as they are, or with positions added to them."""
    axes = f"b {axis} c"

    def plain(spec):
        return spec.made_here and (name == "x" or spec.crosses) and not rule(spec).to_input

    def has_positions(spec):
        return spec.made_here and (name == "x" or spec.crosses) and bool(rule(spec).to_input)

    without, sines = f"embedded {name}", f"sines {name}"
    return (
        Operation(
            without,
            "x",
            axes,
            f"{words}, without positions",
            lessons[0],
            f"\\tilde {name}_{{ic}}",
            applies=has_positions,
        ),
        Operation(
            sines,
            "x",
            axes.removeprefix("b "),
            "Position encoding: sines and cosines",
            lessons[1],
            lambda spec, symbols: rule(spec).formula,
            applies=has_positions,
        ),
        Operation(name, "x", axes, words, lessons[2], f"{name}_{{ic}}", applies=plain),
        Operation(
            name,
            "x",
            axes,
            f"{words}, with positions",
            lessons[2],
            f"{name} = \\tilde {name} + p",
            "{name}[{at}] = {v0} + {v1} = {value}",
            (Source(without, "same", "+"), Source(sines, "same", "=")),
            lambda spec: spec.cells(axes),
            lambda values, spec: values[without] + values[sines],
            has_positions,
            code=lambda spec: rule(spec).code,
        ),
    )


def _rotation(name: str, axes: str, lesson: str) -> Operation:
    return Operation(
        f"turned {name}",
        name,
        f"b {axes} d",
        f"{name}, rotated by position",
        lesson,
        lambda spec, symbols: rule(spec).formula.replace("%s'", f"{name}'").replace("%s", symbols[name]),
        sources=(Source(name, "pairs", "="),),
        flops=lambda spec: spec.cells(f"b {axes}") * rule(spec).flops(spec.sizes["d"]),
        compute=lambda values, spec: rule(spec).to_heads(values[name]),  # pyright: ignore[reportOptionalCall]  it applies
        applies=lambda spec: made_here(spec) and bool(rule(spec).to_heads),
        updates=name,
        symbol=f"{name}'",
        code=lambda spec: rule(spec).code if name == "q" else "",
    )


TO_INPUT = (
    *input_operations(
        "x",
        "q",
        "Tokens",
        (
            "One vector per token. It does not contain the position yet.",
            "One vector per position, the same for every text.",
            "One vector per token. Attention moves information between them.",
        ),
    ),
    *input_operations(
        "y",
        "k",
        "Other sequence",
        (
            "One vector per token of the other sequence.",
            "One vector per position of the other sequence.",
            "The sequence that keys and values come from.",
        ),
    ),
)
TO_HEADS = (
    _rotation("q", "h q", "Pairs of channels are rotated by an angle that grows with the position."),
    _rotation(
        "k", "g k", "Keys are rotated in the same way, so a score depends on the distance between query and key."
    ),
)

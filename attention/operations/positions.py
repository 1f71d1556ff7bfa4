"""Positions: how the position of a token is encoded, at the input, in queries and keys, or in the scores.

To add a rule, write its function and add its record to `POSITIONS`. What a rule adds to the scores is computed by the
operation `bias`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.operations import rotary as rotation
from attention.operations.distance_bias import BUCKETS, alibi, alibi_bloom, bucket_edges, t5, t5_causal
from attention.operations.operation import Operation, Source, Spec, Text, none_needed, text
from attention.operations.project import made_here
from attention.operations.rotary import Choices, rotary, rotation_of


def sinusoidal(n: int, channels: int) -> Float[Tensor, "n c"]:
    """Sines and cosines of the position are added to the input (Vaswani et al. 2017, section 3.5)."""
    pairs = torch.arange(0, channels, 2, dtype=torch.float32) / channels
    angles = torch.arange(n)[:, None] / 10_000**pairs
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :channels]


def no_positions() -> None:
    """No positions: shuffled tokens give shuffled outputs."""


@dataclass(frozen=True)
class Positions:
    """Where a rule of positions is applied: input, heads or scores; `doc` is the function whose docstring explains it.

    `to_heads` turns queries or keys, by default settings where these are not given as further arguments, which `settings`
    returns for a pass and a number of channels. `formula` is the TeX of what is added or turned, with %s for the name of the
    matrix; `code` its lines of PyTorch, which add to `x`, turn `Q` and `K`, or compute `bias` from `q`, `k` and `heads`;
    `adds`: what is added to scores, in words. `flops`: operations for one vector of a head. `learned`: whether a model learns
    its numbers, so that those here are made up. `is_linear`: whether what is added to scores is proportional to the distance,
    on both sides.
    """

    doc: Callable
    to_input: Callable[[int, int], Float[Tensor, "n c"]] | None = None
    to_heads: Callable[..., Float[Tensor, "*h n d"]] | None = None
    to_scores: Callable[..., Float[Tensor, ...]] | None = None
    formula: Text = ""
    code: Text = ""
    adds: str = "a number per pair"
    flops: Callable[[Spec], int] = none_needed
    settings: Callable[[Choices, Float[Tensor, "*h n d"]], dict[str, Any]] = lambda choices, x: {}
    learned: bool = False
    is_linear: bool = False

    def __post_init__(self) -> None:
        acts = any((self.to_input, self.to_heads, self.to_scores))
        if acts and not (self.formula and self.code):
            raise ValueError(
                f"{self.doc.__name__} has no formula or no code: Steps and programs take them from its record."
            )


T5 = """\
distance = {distance}
edges = torch.tensor({edges})  # the least distance of each bucket
bucket = torch.bucketize(distance, edges, right=True)
bias = -(2.0 ** (-4.0 * (torch.arange(heads)[:, None, None] + 1) / heads)) * bucket  # made up: a model learns them
"""
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
        formula=lambda spec: rotation.formula(spec, spec.sizes["d"]),
        code=lambda spec: rotation.code(spec, spec.sizes["d"]).replace("d_head", spec.width_code),
        flops=lambda spec: 6 * turned_pairs(spec),  # two products and a sum; channels beyond the pairs are not turned
        settings=rotation.settings,
    ),
    "alibi": Positions(
        alibi,
        to_scores=alibi,
        formula=r"b_{hij} = -2^{-8 (h + 1) / H}\,\lvert i - j \rvert",
        code="bias = -(2.0 ** (-8.0 * (torch.arange(heads)[:, None, None] + 1) / heads)) * (q - k).abs()\n",
        adds="a penalty that grows with distance",
        is_linear=True,
    ),
    "alibi bloom": Positions(
        alibi_bloom,
        to_scores=alibi_bloom,
        formula=r"b_{hij} = -2^{-e_h}\,\lvert i - j \rvert,\quad e_h = 8 (h + 1) / P\ \text{where}\ h < P,\ \text{else}\ "
        r"4 (2 (h - P) + 1) / P,\quad P = 2^{\lfloor \log_2 H \rfloor}",
        code="""\
power, head = 2 ** (heads.bit_length() - 1), torch.arange(heads)[:, None, None]
steepness = torch.where(head < power, 8.0 * (head + 1) / power, 4.0 * (2 * (head - power) + 1) / power)
bias = -(2.0 ** -steepness) * (q - k).abs()
""",
        adds="a penalty that grows with distance",
        is_linear=True,
    ),
    "t5": Positions(
        t5,
        to_scores=t5,
        formula=r"b_{hij} = -2^{-4 (h + 1) / H}\,\mathrm{bucket}(\lvert i - j \rvert),\quad \text{made up}",
        code=T5.format(distance="(q - k).abs()", edges=bucket_edges(BUCKETS // 2)),
        adds="a number for each bucket of distances, made up here (a T5 learns them)",
        learned=True,
    ),
    "t5 causal": Positions(
        t5_causal,
        to_scores=t5_causal,
        formula=r"b_{hij} = -2^{-4 (h + 1) / H}\,\mathrm{bucket}(\max(i - j, 0)),\quad \text{made up}",
        code=T5.format(distance="(q - k).clamp(min=0)", edges=bucket_edges(BUCKETS)),
        adds="a number for each bucket of distances, made up here (a T5 learns them)",
        learned=True,
    ),
}


def rule(spec: Spec) -> Positions:
    """Returns the rule of a pass."""
    return POSITIONS[spec.positions]


def turned_pairs(spec: Spec) -> int:
    """Returns how many pairs of channels of a head are turned."""
    return rotation_of(spec, spec.sizes["d"]).pairs


def turn(x: Float[Tensor, "*h n d"], choices: Choices) -> Float[Tensor, "*h n d"]:
    """Returns queries or keys as positions turn them, under the settings of a pass."""
    by = POSITIONS[choices.positions]
    return by.to_heads(x, **by.settings(choices, x)) if by.to_heads else x


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
            lambda spec, symbols: text(rule(spec).formula, spec),
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
            code=lambda spec: text(rule(spec).code, spec),
        ),
    )


def _rotation(name: str, axes: str, lesson: str) -> Operation:
    return Operation(
        f"turned {name}",
        name,
        f"b {axes} d",
        f"{name}, rotated by position",
        lesson,
        lambda spec, symbols: text(rule(spec).formula, spec).replace("%s'", f"{name}'").replace("%s", symbols[name]),
        sources=(Source(name, "pairs", "="),),
        flops=lambda spec: spec.cells(f"b {axes}") * rule(spec).flops(spec),
        compute=lambda values, spec: turn(values[name], spec),
        applies=lambda spec: made_here(spec) and bool(rule(spec).to_heads),
        updates=name,
        symbol=f"{name}'",
        code=lambda spec: text(rule(spec).code, spec) if name == "q" else "",
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

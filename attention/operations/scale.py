"""Scale: what dot products are multiplied by before the softmax.

To add one, write its function and add its record to `SCALES`. The first line of the docstring is the help text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from attention.operations.operation import Operation, Source, Spec, Symbols, Written

TIMES = r"\, "  # between two symbols in TeX
WIDTHS = {
    1: r"d_\mathrm{head}",
    2: r"d_\mathrm{head} / 2",
}  # channels of a dot product in TeX, by the softmaxes of a head


def root(d_head: int) -> float:
    """Divide by the square root of d_head, so that logits keep variance one (Vaswani et al. 2017, section 3.2.1)."""
    return 1 / math.sqrt(d_head)


def unscaled(d_head: int) -> float:
    """Leave the dot products as they are: their variance grows with d_head, and in wide heads the softmax saturates."""
    return 1.0


def inverse(d_head: int) -> float:
    """Divide by d_head, as maximal update parametrisation does (Yang et al. 2022, definition 4.1)."""
    return 1 / d_head


@dataclass(frozen=True)
class Scale:
    """A scale: `doc` computes the factor from d_head, `code` is the factor in Python, `divisor` its inverse in TeX.

    The divisor has %s for d and is "" if it is one.
    """

    doc: Callable[[int], float]
    code: str
    divisor: str

    def __call__(self, d_head: int) -> float:
        return self.doc(d_head)

    def divisor_of(self, d: str) -> str:
        """Returns the divisor for a name or a value of d."""
        return self.divisor.replace("%s", d)


SCALES: dict[str, Scale] = {
    "1/sqrt(d_head)": Scale(root, "d_head ** -0.5", r"\sqrt{%s}"),
    "none": Scale(unscaled, "1", ""),
    "1/d_head": Scale(inverse, "1 / d_head", "%s"),
}


def factor(spec: Spec) -> float:
    """Returns the factor of the dot products: the scale divided by the temperature."""
    return SCALES[spec.scale](spec.sizes["d"]) / spec.temperature


def factor_code(scale: str, temperature: float) -> str:
    """Returns the same as an expression in d_head."""
    return SCALES[scale].code + ("" if temperature == 1 else f" / {temperature!r}")


def _formula(spec: Spec, symbols: Symbols) -> str:
    divisor = SCALES[spec.scale].divisor_of("d")
    said = rf"\frac{{1}}{{{divisor}}}" if divisor else "1"
    sizes = f"d = {spec.sizes['d']},\\ T = {spec.temperature:g}"
    return rf"s \cdot {said} \cdot \frac{{1}}{{T}},\quad {sizes}:\quad s \cdot {factor(spec):.4g}"


def _plain(spec: Spec) -> str:
    divisor = SCALES[spec.scale].divisor_of(WIDTHS[spec.halves])
    below = [divisor] * bool(divisor) + [f"{spec.temperature:g}"] * (spec.temperature != 1)
    return r"\mathrm{scaled} = {s0} / " + (below[0] if len(below) == 1 else rf"({divisor} \cdot {spec.temperature:g})")


def scale_term(spec: Spec, score: str, written: Written = str, inline: bool = False) -> str:
    """Returns a scaled score in TeX, from a dot product; `inline`: in one line of text."""
    divisor = SCALES[spec.scale].divisor_of(written(WIDTHS[spec.halves]))
    below = f"{divisor}{written(TIMES)}{written('T')}" if divisor else written("T")
    if inline:
        return f"{score} / ({below})" if divisor else f"{score} / {below}"
    return rf"\frac{{{score}}}{{{below}}}"


OPERATIONS = (
    Operation(
        "scaled",
        "scale",
        "b h q k",
        lambda spec: "Scores, scaled and divided by the temperature" if spec.temperature != 1 else "Scaled scores",
        "Scaling keeps the scores small enough for the softmax to weigh several keys.",
        _formula,
        lambda spec: f"{{name}}[{{at}}] = {{v0}} × {factor(spec):.4g} = {{value}}",
        (Source("scores", "same", "="),),
        lambda spec: spec.cells("b h q k"),
        lambda values, spec: values["scores"] * factor(spec),
        lambda spec: factor(spec) != 1,
        "scores",
        term=scale_term,
        plain=_plain,
        code=lambda spec: (
            f"scores = scores * ({factor_code(spec.scale, spec.temperature).replace('d_head', spec.width_code)})\n"
        ),
    ),
)

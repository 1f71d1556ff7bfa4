"""A pass as a list of matrices: what each is, how it is computed from the others, and what it costs.

Only the steps that the settings have: no bias without a position rule that adds one, no mask where every pair takes
part. Nothing is computed here; the numbers are in `values.py`. To add a step: its line here, its name in `config.STEPS`, its
tensor in `values.py`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from attention.config import Config
from attention.masks import MASKS
from attention.scores import POSITIONS

FLOAT, BOOL = 4, 1  # bytes of a number in float32, and of a cell of a mask
SOFTMAX = 5  # operations a cell: compare for the maximum, subtract, exponential, add, divide
SOFTCAP = 3  # divide, tanh, multiply
TURN = 3  # two products and a sum


@dataclass(frozen=True)
class Source:
    """A matrix that a step is computed from; `rule` (lit.RULES) says which cells of it, `sign` stands after it."""

    name: str
    rule: str
    sign: str


@dataclass(frozen=True)
class Step:
    """One matrix of a pass.

    `axes`: a letter each, `(h d)` for heads side by side; `sizes`: their lengths. `formula` is KaTeX; `says` is one cell's
    arithmetic in words, with its head, the kv head of that, row and column as {h} {g} {i} {j}, its value as {value}, and
    the first and second source's cell as {at0} {at1}, their values as {v0} {v1}. `kind`: values, parameters, or view: the
    memory of its source, read in another order. `flops`: additions, products, and every other function of a number as one.
    """

    name: str
    title: str
    axes: str
    sizes: tuple[int, ...]
    formula: str
    says: str = "{name}[{at}] = {value}"
    sources: tuple[Source, ...] = ()
    flops: int = 0
    kind: str = "values"

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes but the batch, which is of one sequence: the shape of the step's tensor."""
        return self.sizes[1:] if self.axes.startswith("b ") else self.sizes

    @property
    def by_head(self) -> bool:
        """Does every head have a matrix of its own?"""
        return len(self.shape) == 3

    @property
    def bytes(self) -> int:
        """Size of the tensor in memory."""
        return math.prod(self.sizes) * (BOOL if self.name == "mask" else FLOAT)

    @property
    def allocated(self) -> int:
        """Bytes that the step adds to what was there before: none for a view."""
        return 0 if self.kind == "view" else self.bytes


def lengths(config: Config) -> dict[str, int]:
    """The length of every axis: b q k c h g d e, as the map of the package names them."""
    d, n = config.d_head, config.tokens
    return {"b": 1, "q": n, "k": config.keys or n, "c": config.d_model} | {
        "h": config.heads,
        "g": config.groups,
        "d": d,
        "e": config.d_v or d,
    }


@lru_cache(maxsize=64)  # asked for by whoever draws, counts or lights a matrix
def steps(config: Config) -> tuple[Step, ...]:
    """Every matrix of the pass of these settings, in the order of computing (Vaswani et al. 2017, section 3.2)."""
    parts = (_inputs, _projected, _split, _turned, _scored, _masked, _finished)
    return tuple(step for part in parts for step in part(config))


def by_name(config: Config) -> dict[str, Step]:
    """The same, found by their names."""
    return {step.name: step for step in steps(config)}


def matrix_product(config: Config, axes: str, inner: str) -> int:
    """Operations of a product over the axes `inner`: one multiplication and one addition for each term."""
    return 2 * _cells(config, axes) * _length(config, inner)


def _step(config: Config, name: str, title: str, axes: str, formula: str, *rest, **more) -> Step:
    return Step(name, title, axes, tuple(_length(config, axis) for axis in _split_axes(axes)), formula, *rest, **more)


def _split_axes(axes: str) -> list[str]:
    """`b q (h d)` as `b`, `q`, `(h d)`."""
    return re.findall(r"\(.*?\)|\w", axes)


def _length(config: Config, axis: str) -> int:
    sizes = lengths(config)
    return math.prod(sizes[letter] for letter in axis.strip("()").split())


def _cells(config: Config, axes: str) -> int:
    return math.prod(_length(config, axis) for axis in _split_axes(axes))


def _inputs(config: Config) -> list[Step]:
    first = _sequence(config, "x", "q", "The tokens")
    return [*first, *(_sequence(config, "y", "k", "The other sequence") if config.keys else [])]


def _sequence(config: Config, name: str, axis: str, title: str) -> list[Step]:
    axes = f"b {axis} c"
    if not POSITIONS[config.positions].to_input:
        return [_step(config, name, title, axes, f"{name}_{{ic}}")]
    sources = Source(f"embedded {name}", "same", "+"), Source(f"sines {name}", "same", "=")
    return [
        _step(config, f"embedded {name}", f"{title}, without positions", axes, f"\\tilde {name}_{{ic}}"),
        _step(
            config,
            f"sines {name}",
            "Sines and cosines of the position",
            axes.removeprefix("b "),
            r"p_{i,2m} = \sin(i / 10000^{2m/c}),\quad p_{i,2m+1} = \cos(i / 10000^{2m/c})",
        ),
        _step(
            config,
            name,
            f"{title}, with positions",
            axes,
            f"{name} = \\tilde {name} + p",
            "{name}[{at}] = {v0} + {v1} = {value}",
            sources,
            _cells(config, axes),
        ),
    ]


def _projected(config: Config) -> list[Step]:
    other = "y" if config.keys else "x"
    found = {
        "q": ("x", "q", "(h d)", "queries"),
        "k": (other, "k", "(g d)", "keys"),
        "v": (other, "k", "(g e)", "values"),
    }
    matrices = [
        _step(config, f"W_{name}", f"The map to {title}", f"c {to}", f"W_{name}", kind="parameters")
        for name, (_, _, to, title) in found.items()
    ]
    products = [
        _step(
            config,
            name.upper(),
            f"{title.capitalize()} of all heads, side by side",
            f"b {axis} {to}",
            f"{name.upper()} = {source} W_{name},\\quad {name.upper()}_{{ij}} = \\sum_c {source}_{{ic}} (W_{name})_{{cj}}",
            f"{{name}}[{{at}}] = {source}[{{i}}] · W_{name}[:, {{j}}] = {{value}}",
            (Source(source, "left", "×"), Source(f"W_{name}", "right", "=")),
            matrix_product(config, f"b {axis} {to}", "c"),
        )
        for name, (source, axis, to, title) in found.items()
    ]
    return matrices + products


def _split(config: Config) -> list[Step]:
    found = {"q": ("h", "q", "d"), "k": ("g", "k", "d"), "v": ("g", "k", "e")}
    return [
        _step(
            config,
            name,
            f"Split into heads: {name}",
            f"b {heads} {axis} {width}",
            f"{name}_{{{heads}ij}} = {name.upper()}_{{i,\\,{heads} d_{name} + j}},\\quad d_{name} = {_length(config, width)}",
            f"{{name}}[{{at}}] = {name.upper()}[{{at0}}] = {{value}}",
            (Source(name.upper(), "split", "="),),
            kind="view",
        )
        for name, (heads, axis, width) in found.items()
    ]


def _turned(config: Config) -> list[Step]:
    if not POSITIONS[config.positions].to_heads:
        return []
    found = {"q": ("h", "q"), "k": ("g", "k")}
    whole = config.d_head // 2 * 2  # the last channel of an odd d_head stays as it is
    return [
        _step(
            config,
            f"turned {name}",
            f"Pairs of channels of {name}, turned by their position",
            f"b {heads} {axis} d",
            f"{name}'_{{ij}} = {name}_{{ij}} \\cos i\\theta_j \\mp {name}_{{i,\\,j \\pm m}} \\sin i\\theta_j,"
            r"\quad \theta_j = 10000^{-(j \bmod m) / m},\ m = \lfloor d/2 \rfloor",
            sources=(Source(name, "pairs", "="),),
            flops=TURN * _cells(config, f"b {heads} {axis}") * whole,
        )
        for name, (heads, axis) in found.items()
    ]


def _group(config: Config) -> tuple[str, str]:
    """The head of keys and values that belongs to head h, in a formula, and what its r is."""
    ratio = config.heads // config.groups
    return (r"\lfloor h / r \rfloor", f",\\quad r = {ratio}") if ratio > 1 else ("h", "")


def _scored(config: Config) -> list[Step]:
    turned, prime = ("turned ", "'") if POSITIONS[config.positions].to_heads else ("", "")
    q, k = f"{turned}q", f"{turned}k"
    cells = _cells(config, "b h q k")
    group, ratio = _group(config)
    found = [
        _step(
            config,
            "scores",
            "Every query against every key",
            "b h q k",
            f"s = q{prime} k{prime}^\\top,\\quad s_{{hij}} = \\sum_d q{prime}_{{hid}}\\, k{prime}_{{{group},jd}}{ratio}",
            f"score[{{at}}] = {q}[{{h}}, {{i}}] · {k}[{{g}}, {{j}}] = {{value}}",
            (Source(q, "left", "× transposed"), Source(k, "keys", "=")),
            matrix_product(config, "b h q k", "d"),
        )
    ]
    if config.factor != 1:
        found.append(_scaled(config, config.factor, cells))
    if config.softcap:
        found.append(
            _step(
                config,
                "capped",
                f"Squeezed between -{config.softcap:g} and {config.softcap:g}",
                "b h q k",
                f"c\\,\\tanh(s / c),\\quad c = {config.softcap:g}",
                f"{{name}}[{{at}}] = {config.softcap:g} · tanh({{v0}} / {config.softcap:g}) = {{value}}",
                (Source(found[-1].name, "same", "="),),
                SOFTCAP * cells,
            )
        )
    return found + (_biased(config, found[-1].name, cells) if POSITIONS[config.positions].to_scores else [])


def _scaled(config: Config, factor: float, cells: int) -> Step:
    said = {"1/sqrt(d_head)": r"\frac{1}{\sqrt{d}}", "none": "1", "1/d_head": r"\frac{1}{d}"}[config.scale]
    return _step(
        config,
        "scaled",
        "Scaled, and divided by the temperature" if config.temperature != 1 else "Scaled",
        "b h q k",
        f"s \\cdot {said} \\cdot \\frac{{1}}{{T}},\\quad d = {config.d_head},\\ T = {config.temperature:g}"
        f":\\quad s \\cdot {factor:.4g}",
        f"{{name}}[{{at}}] = {{v0}} × {factor:.4g} = {{value}}",
        (Source("scores", "same", "="),),
        cells,
    )


def _biased(config: Config, before: str, cells: int) -> list[Step]:
    return [
        _step(
            config,
            "bias",
            "What positions add: a penalty that grows with distance",
            "h q k",
            r"b_{hij} = -2^{-8 (h + 1) / H}\,\lvert i - j \rvert" + f",\\quad H = {config.heads}",
        ),
        _step(
            config,
            "biased",
            "With the bias of positions",
            "b h q k",
            "s + b",
            "{name}[{at}] = {v0} + {v1} = {value}",
            (Source(before, "same", "+"), Source("bias", "same", "=")),
            cells,
        ),
    ]


def scored_last(config: Config) -> str:
    """The name of the last step before the mask."""
    return _scored(config)[-1].name


def _masked(config: Config) -> list[Step]:
    before = scored_last(config)
    hides = config.rule is not MASKS["full"]
    found = [
        _step(config, "mask", "Which pairs take part", "q k", r"m_{ij} \in \{0, 1\}", "mask[{at}] = {value}"),
        _step(
            config,
            "logits",
            "Hidden pairs at minus infinity",
            "b h q k",
            r"l_{hij} = s_{hij}\ \text{where}\ m_{ij},\ \text{else}\ {-\infty}",
            "{name}[{at}] = {value}",
            (Source(before, "seen", "where"), Source("mask", "shared", "=")),
        ),
    ]
    one = "1 + " if config.softmax == "plus one" else ""
    return (found if hides else []) + [
        _step(
            config,
            "weights",
            "Softmax of every row" + (", with one added to the denominator" if one else ""),
            "b h q k",
            r"w_{hij} = \frac{e^{l_{hij}}}{" + one + r"\sum_{j'} e^{l_{hij'}}}",
            f"weight[{{at}}] = exp({{v0}}) / ({one}Σ exp over the row) = {{value}}",
            (Source("logits" if hides else before, "softmax", "softmax ="),),
            SOFTMAX * _cells(config, "b h q k") + (_cells(config, "b h q") if one else 0),
        )
    ]


def _finished(config: Config) -> list[Step]:
    group, ratio = _group(config)
    return [
        _step(
            config,
            "context",
            "Values, weighted",
            "b h q e",
            f"o = w v,\\quad o_{{hij}} = \\sum_k w_{{hik}}\\, v_{{{group},kj}}{ratio}",
            "context[{at}] = weights[{h}, {i}] · v[{g}, :, {j}] = {value}",
            (Source("weights", "seen row", "×"), Source("v", "seen values", "=")),
            matrix_product(config, "b h q e", "k"),
        ),
        _step(
            config,
            "joined",
            "Heads side by side again",
            "b q (h e)",
            f"O_{{i,\\,h d_v + j}} = o_{{hij}},\\quad d_v = {_length(config, 'e')}",
            "{name}[{at}] = context[{at0}] = {value}",
            (Source("context", "joined", "="),),
        ),
        _step(config, "W_o", "The map to the output", "(h e) c", "W_o", kind="parameters"),
        _step(
            config,
            "output",
            "Output",
            "b q c",
            r"\mathrm{output} = O\, W_o,\quad \mathrm{output}_{ij} = \sum_m O_{im} (W_o)_{mj}",
            "output[{at}] = joined[{i}] · W_o[:, {j}] = {value}",
            (Source("joined", "left", "×"), Source("W_o", "right", "=")),
            matrix_product(config, "b q c", "(h e)"),
        ),
    ]

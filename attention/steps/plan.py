"""A pass as a list of matrices: what each is, how it is computed from the others, and what it costs.

It has only the steps of the config: no bias without a position rule that adds one, no mask if all pairs are visible. If
queries and keys come from a source, the pass begins with them and ends with the last step that can be computed. Nothing
is computed here; the tensors are in `values.py`. To add a step, add it here, its name to `config.STEPS`, and its tensor to
`values.py`.
"""

from __future__ import annotations

from functools import lru_cache

from attention.config import Config, shape
from attention.masks import MASKS
from attention.scores import POSITIONS, adds_one, adds_penalty, scale_form
from attention.sources.providers import has
from attention.steps.step import Source, Step, cells_of, length_of, make_step, matrix_product

SOFTMAX = 5  # operations per cell: compare for the maximum, subtract, exponential, add, divide
SOFTCAP = 3  # divide, tanh, multiply
TURN = 3  # two products and a sum
GIVEN = {
    "q": "Queries of every head, as they came",
    "k": "Keys of every head, as they came",
    "v": "Values of every head, as they came",
}


@lru_cache(maxsize=64)  # called whenever a matrix is drawn, counted or highlighted
def steps(config: Config) -> tuple[Step, ...]:
    """Returns every matrix of the pass of a config, in the order of computation (Vaswani et al. 2017, section 3.2)."""
    before = (_inputs, _projection_steps, _split, _rotation_steps) if made_here(config) else (_source_steps,)
    return tuple(step for part in (*before, _score_steps, _mask_steps, _output_steps) for step in part(config))


def by_name(config: Config) -> dict[str, Step]:
    """Returns the steps by name."""
    return {step.name: step for step in steps(config)}


def made_here(config: Config) -> bool:
    """Whether the source has the tokens and the projections from which queries, keys and values are computed."""
    return has(config.source).issuperset(("x", "projections"))


def _source_steps(config: Config) -> list[Step]:
    """Returns the steps of a source without x and projections; rotary positions are already applied to its queries and keys."""
    found = {"q": ("h", "q", "d"), "k": ("g", "k", "d"), "v": ("g", "k", "e")}
    return [
        make_step(config, name, GIVEN[name], f"b {heads} {axis} {width}", f"{name}_{{{heads}ij}}")
        for name, (heads, axis, width) in found.items()
        if name in has(config.source)
    ]


def _inputs(config: Config) -> list[Step]:
    first = _sequence(config, "x", "q", "The tokens")
    return [*first, *(_sequence(config, "y", "k", "The other sequence") if config.keys else [])]


def _sequence(config: Config, name: str, axis: str, title: str) -> list[Step]:
    axes = f"b {axis} c"
    if not POSITIONS[config.positions].to_input:
        return [make_step(config, name, title, axes, f"{name}_{{ic}}")]
    sources = Source(f"embedded {name}", "same", "+"), Source(f"sines {name}", "same", "=")
    return [
        make_step(config, f"embedded {name}", f"{title}, without positions", axes, f"\\tilde {name}_{{ic}}"),
        make_step(
            config,
            f"sines {name}",
            "Sines and cosines of the position",
            axes.removeprefix("b "),
            r"p_{i,2m} = \sin(i / 10000^{2m/c}),\quad p_{i,2m+1} = \cos(i / 10000^{2m/c})",
        ),
        make_step(
            config,
            name,
            f"{title}, with positions",
            axes,
            f"{name} = \\tilde {name} + p",
            "{name}[{at}] = {v0} + {v1} = {value}",
            sources,
            cells_of(config, axes),
        ),
    ]


def _projection_steps(config: Config) -> list[Step]:
    other = "y" if config.keys else "x"
    found = {
        "q": ("x", "q", "(h d)", "queries"),
        "k": (other, "k", "(g d)", "keys"),
        "v": (other, "k", "(g e)", "values"),
    }
    matrices = [
        make_step(config, f"W_{name}", f"The map to {title}", f"c {to}", f"W_{name}", kind="parameters")
        for name, (_, _, to, title) in found.items()
    ]
    products = [
        make_step(
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
        make_step(
            config,
            name,
            f"Split into heads: {name}",
            f"b {heads} {axis} {width}",
            f"{name}_{{{heads}ij}} = {name.upper()}_{{i,\\,{heads} d_{name} + j}},\\quad d_{name} = {length_of(config, width)}",
            f"{{name}}[{{at}}] = {name.upper()}[{{at0}}] = {{value}}",
            (Source(name.upper(), "split", "="),),
            kind="view",
        )
        for name, (heads, axis, width) in found.items()
    ]


def _rotation_steps(config: Config) -> list[Step]:
    if not POSITIONS[config.positions].to_heads:
        return []
    found = {"q": ("h", "q"), "k": ("g", "k")}
    whole = config.d_head // 2 * 2  # the last channel of an odd d_head is not turned
    return [
        make_step(
            config,
            f"turned {name}",
            f"Pairs of channels of {name}, turned by their position",
            f"b {heads} {axis} d",
            f"{name}'_{{ij}} = {name}_{{ij}} \\cos i\\theta_j \\mp {name}_{{i,\\,j \\pm m}} \\sin i\\theta_j,"
            r"\quad \theta_j = 10000^{-(j \bmod m) / m},\ m = \lfloor d/2 \rfloor",
            sources=(Source(name, "pairs", "="),),
            flops=TURN * cells_of(config, f"b {heads} {axis}") * whole,
        )
        for name, (heads, axis) in found.items()
    ]


def _group(config: Config) -> tuple[str, str]:
    """Returns the kv head of head h as a formula, and the definition of its r."""
    ratio = config.heads // config.n_kv_heads
    return (r"\lfloor h / r \rfloor", f",\\quad r = {ratio}") if ratio > 1 else ("h", "")


def _score_steps(config: Config) -> list[Step]:
    turned, prime = ("turned ", "'") if POSITIONS[config.positions].to_heads else ("", "")
    q, k = f"{turned}q", f"{turned}k"
    cells = cells_of(config, "b h q k")
    group, ratio = _group(config)
    found = [
        make_step(
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
    if config.logit_scale != 1:
        found.append(_scale_step(config, config.logit_scale, cells))
    if config.softcap:
        found.append(
            make_step(
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
    return found + (_bias_steps(config, found[-1].name, cells) if adds_penalty(config.positions) else [])


def _scale_step(config: Config, factor: float, cells: int) -> Step:
    divisor = scale_form(config.scale).divisor_of("d")
    said = rf"\frac{{1}}{{{divisor}}}" if divisor else "1"
    return make_step(
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


def _bias_steps(config: Config, before: str, cells: int) -> list[Step]:
    return [
        make_step(
            config,
            "bias",
            "What positions add: a penalty that grows with distance",
            "h q k",
            r"b_{hij} = -2^{-8 (h + 1) / H}\,\lvert i - j \rvert" + f",\\quad H = {config.heads}",
        ),
        make_step(
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
    """Returns the name of the last step before the mask."""
    return _score_steps(config)[-1].name


def _mask_steps(config: Config) -> list[Step]:
    before, sizes = scored_last(config), shape(config.source)
    hides = config.rule is not MASKS["full"] or bool(sizes and sizes.square)
    found = [
        make_step(config, "mask", "Which pairs take part", "q k", r"m_{ij} \in \{0, 1\}", "mask[{at}] = {value}"),
        make_step(
            config,
            "logits",
            "Hidden pairs at minus infinity",
            "b h q k",
            r"l_{hij} = s_{hij}\ \text{where}\ m_{ij},\ \text{else}\ {-\infty}",
            "{name}[{at}] = {value}",
            (Source(before, "seen", "where"), Source("mask", "shared", "=")),
        ),
    ]
    one = "1 + " if adds_one(config.softmax) else ""
    return (found if hides else []) + [
        make_step(
            config,
            "weights",
            "Softmax of every row" + (", with one added to the denominator" if one else ""),
            "b h q k",
            r"w_{hij} = \frac{e^{l_{hij}}}{" + one + r"\sum_{j'} e^{l_{hij'}}}",
            f"weight[{{at}}] = exp({{v0}}) / ({one}Σ exp over the row) = {{value}}",
            (Source("logits" if hides else before, "softmax", "softmax ="),),
            SOFTMAX * cells_of(config, "b h q k") + (cells_of(config, "b h q") if one else 0),
        )
    ]


def _output_steps(config: Config) -> list[Step]:
    """Returns the steps after the weights: the context if there are values, the output if there is an output projection."""
    return (_context_steps(config) if "v" in has(config.source) else []) + (
        _output(config) if made_here(config) else []
    )


def _context_steps(config: Config) -> list[Step]:
    group, ratio = _group(config)
    return [
        make_step(
            config,
            "context",
            "Values, weighted",
            "b h q e",
            f"o = w v,\\quad o_{{hij}} = \\sum_k w_{{hik}}\\, v_{{{group},kj}}{ratio}",
            "context[{at}] = weights[{h}, {i}] · v[{g}, :, {j}] = {value}",
            (Source("weights", "seen row", "×"), Source("v", "seen values", "=")),
            matrix_product(config, "b h q e", "k"),
        ),
        make_step(
            config,
            "joined",
            "Heads side by side again",
            "b q (h e)",
            f"O_{{i,\\,h d_v + j}} = o_{{hij}},\\quad d_v = {length_of(config, 'e')}",
            "{name}[{at}] = context[{at0}] = {value}",
            (Source("context", "joined", "="),),
        ),
    ]


def _output(config: Config) -> list[Step]:
    return [
        make_step(config, "W_o", "The map to the output", "(h e) c", "W_o", kind="parameters"),
        make_step(
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

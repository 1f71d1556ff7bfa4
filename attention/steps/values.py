"""The tensors of every step of a pass, for self- and cross-attention, computed by the table of operations.

Tensors of the size of the weights are computed only for the requested heads: a pass has up to seven of them, and a
picture shows one head of each.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from attention.config import Config
from attention.operations.by_torch import by_torch, row_sizes
from attention.operations.differential import own_name
from attention.operations.gate import OFF as NO_GATE
from attention.operations.mask import HIDDEN
from attention.operations.operation import Operation
from attention.operations.qk_norm import OFF
from attention.operations.table import compute, operations
from attention.sources.generated import gate_map, maps, other, sequence
from attention.sources.providers import layer_inputs, square
from attention.sources.spec import lengths, spec_of
from attention.steps.plan import made_here, steps
from attention.trace import scaled_queries

AT_ONCE = 2**22  # maximum number of weights that are computed at once: 16 MB
NARROW, WIDE, VECTORS, SQUARES = 2, 6, 2.5, 5  # copies of each kind at the peak, including pictures (measured)


def values(config: Config, heads: slice = slice(None)) -> dict[str, Tensor]:
    """Returns the tensor of every step by name, in float32 with the shape `Step.shape` (the mask: bool).

    Tensors of the size of the weights (h q k) have only the heads of the slice.
    """
    spec, sizes = spec_of(config), lengths(config)
    with torch.inference_mode():
        given = _inputs(config) if made_here(config) else _source_values(config)
        given |= compute(given, spec, operations(spec, stop="scores"))
        found = given | attention_values(config, given, heads)
        if "v" in given:
            chunk = max(1, AT_ONCE // (sizes["q"] * sizes["k"]))
            parts = [attention_values(config, given, slice(at, at + chunk)) for at in range(0, sizes["h"], chunk)]
            for each in operations(spec, "context", "joined"):
                found[each.name] = torch.cat([part[each.name] for part in parts])
            found |= compute(newest(found, operations(spec, stop="joined")), spec, operations(spec, "joined"))
        return {step.name: found[step.name] for step in steps(config)}


def newest(found: dict[str, Tensor], some: list[Operation]) -> dict[str, Tensor]:
    """Returns the matrices with the newest version of each under its own name, after some operations."""
    return found | {each.version_of: found[each.name] for each in some}


def bytes_of(config: Config) -> int:
    """Returns about the peak bytes of all steps, including their pictures."""
    n = lengths(config)
    wide = max(n["c"], n["h"] * n["e"])
    maps = n["c"] * (NARROW * n["c"] + WIDE * wide) if made_here(config) else 0
    vectors, squares = (n["q"] + n["k"]) * wide, min(AT_ONCE, n["h"] * n["q"] * n["k"])
    return int(torch.float32.itemsize * (maps + VECTORS * vectors + SQUARES * squares))


def attention_values(config: Config, found: dict[str, Tensor], heads: slice) -> dict[str, Tensor]:
    """Returns every step from queries and keys to the weights, and to the context if there are values, for some heads."""
    spec, at = spec_of(config), torch.arange(config.heads)[heads]
    given = _of_heads(config, found, at) | {"heads": at} | ({"mask": pairs(config)} if spec.masks else {})
    return compute(given, spec, operations(spec, "scores", "joined"))


def _of_heads(config: Config, found: dict[str, Tensor], at: Tensor) -> dict[str, Tensor]:
    """Returns the newest version of every matrix before the scores, only for some heads if it has heads."""
    spec = spec_of(config)
    before = operations(spec, stop="scores")
    given = newest(found, before)
    rows = {"h": at, "g": at // spec.repeats}
    split = {each.version_of: rows[each.axes[2]] for each in before if each.axes[2] in rows}
    return given | {name: given[name][some] for name, some in split.items()}


def pairs(config: Config) -> Tensor:
    """Returns the mask (q k), True for visible pairs."""
    sizes = lengths(config)
    return square(config, sizes["q"], sizes["k"])


def difference(config: Config, found: dict[str, Tensor]) -> float:
    """Returns the largest difference of the context from torch's scaled_dot_product_attention on the same q, k, v.

    All heads are compared, as many at a time as have AT_ONCE weights, but at least one.
    """
    sizes = lengths(config)
    count = max(1, AT_ONCE // (sizes["q"] * sizes["k"]))
    each = [_difference_of_heads(config, found, slice(at, at + count)) for at in range(0, sizes["h"], count)]
    return float(torch.tensor(each).max())  # NaN if any is


def _difference_of_heads(config: Config, found: dict[str, Tensor], heads: slice) -> float:
    given = _of_heads(config, found, torch.arange(config.heads)[heads])
    own = attention_values(config, found, heads)
    mask = own.get("bias", torch.zeros_like(own["scores"]))
    mask = mask.masked_fill(~own["mask"], HIDDEN) if "mask" in own else mask
    q, k = (torch.cat([given[each] for each in (name, own_name(name)) if each in given], -1) for name in "qk")
    vectors = scaled_queries(config, q, pairs(config)), k, given["v"]
    theirs = by_torch(*vectors, mask, config.logit_scale, config.softcap, config.softmax, config.sinks[heads]).output
    size = row_sizes(own["weights"], config.softmax)[..., None]
    return float(((own["context"] - theirs) / size).abs().max())


def _source_values(config: Config) -> dict[str, Tensor]:
    """Returns queries, keys and, if there are any, values of a source without projections; shared ones are not repeated."""
    layer, repeats = layer_inputs(replace(config, qk_norm=OFF)), config.heads // config.n_kv_heads
    assert layer.q is not None and layer.k is not None, config.source
    return {"q": layer.q, "k": layer.k[::repeats]} | ({} if layer.v is None else {"v": layer.v[::repeats]})


def _inputs(config: Config) -> dict[str, Tensor]:
    """Returns the tokens of both sequences, and the projections."""
    sizes = lengths(config)
    other_tokens = sequence(config, "y", sizes["k"], *other(config)) if config.keys else {}
    return sequence(config, "x", sizes["q"], config.seed, config.text) | other_tokens | matrices(config)


def matrices(config: Config) -> dict[str, Tensor]:
    """Returns the projections: `W_q (c c)`, `W_k (c, g d)`, `W_v (c, g e)`, `W_o (h e, c)`, and `W_g (c, h u)` of a gate."""
    w = maps(config)
    gate = {} if config.gate == NO_GATE else {"W_g": gate_map(config)}
    return {"W_q": w.query, "W_k": w.key, "W_v": w.value, "W_o": w.output} | gate

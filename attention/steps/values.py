"""The tensors of every step of a pass, for self- and cross-attention, computed as in the formulas.

Tensors of the size of the weights are computed only for the requested heads: a pass has up to seven of them, and a
picture shows one head of each.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from einops import einsum, rearrange
from jaxtyping import Float
from torch import Tensor

from attention.config import Config
from attention.scores import HIDDEN, POSITIONS, SOFTMAXES, adds_one, soft_cap
from attention.sources.generated import maps, other, sequence
from attention.sources.providers import layer_inputs, square
from attention.steps.plan import by_name, made_here, steps
from attention.steps.step import lengths

AT_ONCE = 2**22  # maximum number of weights that are computed at once: 16 MB
NARROW, WIDE, VECTORS, SQUARES = 2, 6, 2.5, 5  # copies of each kind at the peak, including pictures (measured)


def values(config: Config, heads: slice = slice(None)) -> dict[str, Tensor]:
    """Returns the tensor of every step by name, in float32 with the shape `Step.shape` (the mask: bool).

    Tensors of the size of the weights (h q k) have only the heads of the slice.
    """
    with torch.inference_mode():
        found = _generated_values(config) if made_here(config) else _source_values(config)
        found |= attention_values(config, found, heads)
        if "v" in found:
            every = lengths(config)["h"]
            chunk = max(1, AT_ONCE // math.prod(lengths(config)[axis] for axis in "qk"))
            context = [
                attention_values(config, found, slice(at, at + chunk))["context"] for at in range(0, every, chunk)
            ]
            found["context"] = torch.cat(context)
            found["joined"] = rearrange(found["context"], "h q e -> q (h e)")
        if "W_o" in found:
            found["output"] = found["joined"] @ found["W_o"]
        return {step.name: found[step.name] for step in steps(config)}


def bytes_of(config: Config) -> int:
    """Returns about the peak bytes of all steps, including their pictures."""
    n = lengths(config)
    wide = max(n["c"], n["h"] * n["e"])
    maps = n["c"] * (NARROW * n["c"] + WIDE * wide) if made_here(config) else 0
    vectors, squares = (n["q"] + n["k"]) * wide, min(AT_ONCE, n["h"] * n["q"] * n["k"])
    return int(torch.float32.itemsize * (maps + VECTORS * vectors + SQUARES * squares))


def attention_values(config: Config, found: dict[str, Tensor], heads: slice) -> dict[str, Tensor]:
    """Returns every step from queries and keys to the weights, and to the context if there are values, for some heads."""
    at = torch.arange(config.heads)[heads]
    shared = at // (config.heads // config.n_kv_heads)
    q, k = (found.get(f"turned {name}", found[name]) for name in "qk")
    own = {"scores": einsum(q[at], k[shared], "h q d, h k d -> h q k")}
    last = own["scores"]
    present = by_name(config)
    if "scaled" in present:
        last = own["scaled"] = last * config.logit_scale
    if "capped" in present:
        last = own["capped"] = soft_cap(last.clone(), config.softcap)
    if "bias" in present:
        own["bias"] = position_bias(config, at)
        last = own["biased"] = last + own["bias"]
    if "mask" in present:
        own["mask"] = mask = pairs(config)
        last = own["logits"] = last.masked_fill(~mask, HIDDEN)
    own["weights"] = SOFTMAXES[config.softmax](last.clone()).nan_to_num_(0.0)  # a fully masked row is 0 / 0
    if "v" in found:
        own["context"] = einsum(own["weights"], found["v"][shared], "h q k, h k e -> h q e")
    return own


def pairs(config: Config) -> Tensor:
    """Returns the mask (q k), True for visible pairs."""
    sizes = lengths(config)
    return square(config, sizes["q"], sizes["k"])


def position_bias(config: Config, heads: Tensor) -> Float[Tensor, "h q k"]:
    """Returns the position bias of some heads, given by their indices."""
    sizes = lengths(config)
    to_scores = POSITIONS[config.positions].to_scores
    assert to_scores, config.positions
    rows, columns = torch.arange(sizes["q"])[:, None], torch.arange(sizes["k"])[None, :]
    return to_scores(rows, columns, heads[:, None, None], config.heads).float()


def difference(config: Config, found: dict[str, Tensor]) -> float:
    """Returns the largest difference of the context from torch's scaled_dot_product_attention on the same q, k, v.

    Compares the first heads, as many as have AT_ONCE weights, but at least one. A softcap, which torch's function lacks, is
    passed with the mask, and one added to the denominator as a key and a value of zeros.
    """
    sizes = lengths(config)
    count = min(sizes["h"], max(1, AT_ONCE // (sizes["q"] * sizes["k"])))
    some = slice(0, count)
    own, at = attention_values(config, found, some), torch.arange(count) // (config.heads // config.n_kv_heads)
    q, k = (found.get(f"turned {name}", found[name]) for name in "qk")
    q, k, v = q[some], k[at], found["v"][at]
    scale, mask = config.logit_scale, own.get("bias")
    mask = torch.zeros_like(own["scores"]) if mask is None else mask
    if config.softcap:
        mask, q = mask + own["capped"], torch.zeros_like(q)
    mask = mask.masked_fill(~own["mask"], HIDDEN) if "mask" in own else mask
    if adds_one(config.softmax):
        k, v, mask = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1)), F.pad(mask, (0, 1))
    theirs = F.scaled_dot_product_attention(q, k, v, mask, scale=scale)
    return float((own["context"] - theirs).abs().max())


def _source_values(config: Config) -> dict[str, Tensor]:
    """Returns queries, keys and, if there are any, values of a source without projections; shared ones are not repeated."""
    layer, repeats = layer_inputs(config), config.heads // config.n_kv_heads
    assert layer.q is not None and layer.k is not None, config.source
    return {"q": layer.q, "k": layer.k[::repeats]} | ({} if layer.v is None else {"v": layer.v[::repeats]})


def _generated_values(config: Config) -> dict[str, Tensor]:
    found = _inputs(config) | matrices(config)
    return found | _projected_values(config, found)


def _inputs(config: Config) -> dict[str, Tensor]:
    sizes = lengths(config)
    return sequence(config, "x", sizes["q"], config.seed, config.text) | (
        sequence(config, "y", sizes["k"], *other(config)) if config.keys else {}
    )


def matrices(config: Config) -> dict[str, Tensor]:
    """Returns the four projections: `W_q (c c)`, `W_k (c, g d)`, `W_v (c, g e)`, `W_o (h e, c)`."""
    w = maps(config)
    return {"W_q": w.query, "W_k": w.key, "W_v": w.value, "W_o": w.output}


def _projected_values(config: Config, found: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns queries, keys and values: of all heads concatenated, split into heads, and turned by rotary positions."""
    x, other, g = found["x"], found["y" if config.keys else "x"], config.n_kv_heads
    flat = {"Q": x @ found["W_q"], "K": other @ found["W_k"], "V": other @ found["W_v"]}
    split = {
        "q": rearrange(flat["Q"], "q (h d) -> h q d", h=config.heads),
        "k": rearrange(flat["K"], "k (g d) -> g k d", g=g),
        "v": rearrange(flat["V"], "k (g e) -> g k e", g=g),
    }
    turn = POSITIONS[config.positions].to_heads
    return flat | split | ({f"turned {name}": turn(split[name]) for name in "qk"} if turn else {})

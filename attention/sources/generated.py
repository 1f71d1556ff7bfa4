"""Queries, keys and values of the heads of a config, computed from its knobs for any number of tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import MappingProxyType

import torch
from einops import rearrange, reduce, repeat
from jaxtyping import Float
from torch import Tensor

from attention.config import Config
from attention.fitting import fixed_by_source
from attention.inputs import BEFORE, INPUTS, SPLIT, backwards, itself, make_generator
from attention.inputs import tokens as texts
from attention.knobs import DEFAULTS
from attention.operations.differential import join_halves, split_halves
from attention.operations.forgetting import draw_forget_map
from attention.operations.gate import HEADWISE, draw_gate_map
from attention.operations.positions import POSITIONS, turn
from attention.operations.qk_norm import ON, rms_norm
from attention.operations.softmax import SOFTMAXES
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.sources.constructed import places, queries_to_keys, values_to_output
from attention.sources.layer_inputs import LayerInputs, Projections, Source, Tokens

OTHER = 5000  # what is added to the seed for a random other sequence: half of the number of seeds
SEEDS = 10_000
KEPT = 2**21  # channels of all tokens up to which the last ones are cached: 8 MB in float32, five times
WIDE = 2**10  # channels up to which the last matrices are cached, four of 4 MB; the largest would take four times that
STRETCH = 2**10  # tokens that are computed at once, with positions in double precision
LATER = (
    "mask",
    "combine",
    "second",
    "span",
    "scale",
    "temperature",
    "softcap",
    "softmax",
    "sink_logit",
    "diff_lambda",
    "query_scale",
    "gate",
    "forgetting",
    "forget_bias",
)  # knobs that act later
MADE = {  # how the heads were made, by the projections
    "constructed": "Hand-built heads, one role each, not learned. Of each eight, the seventh is so weak that it attends to all "
    "keys about equally{last}.",
    "independent": "Random heads, untrained: random projections for queries and keys.",
    "tied": "Random heads, untrained: one random projection for both queries and keys.",
    "identity": "No projections: every head compares some channels of the tokens directly.",
}
TWO_ROLES = (
    "Hand-built heads, not learned: each of the two softmaxes of a head has a role of its own. Of each eight softmaxes, the "
    "seventh is so weak that it attends to all keys about equally{last}."
)
LAST = ", and the last is random, for comparison"  # unless tokens know the one before: it has a role then
SHARED = {  # what heads that share keys and values lose of their roles
    "averaged": " Heads that share keys use the mean of their keys, so each role is weaker.",
    "drawn": " Heads that share keys use those of the first head; the others lose their roles.",
}
LABELS = {"constructed": "hand-built, not learned", "identity": "no projections"}


@dataclass(frozen=True, eq=False)
class Projected:
    """Tokens `x (q c)`, projections, and the results per head: `q (h q d)`, `k (h k d)`, `v (h k e)`, shared ones repeated."""

    x: Float[Tensor, "q c"]
    projections: Projections
    q: Float[Tensor, "h q d"]
    k: Float[Tensor, "h k d"]
    v: Float[Tensor, "h k e"]


class Remade(Projections):
    """The four matrices of a config, computed again on access.

    Of 8 heads of 128 tokens they are two thirds of all that a pass keeps, and most pages show none of them.
    """

    def __init__(self, config: Config) -> None:
        vars(self)["config"] = config

    def __getattr__(self, name: str) -> Tensor:
        if name not in Projections.__annotations__:
            raise AttributeError(name)
        return getattr(maps(vars(self)["config"]), name)


class Generated:
    """The provider of queries, keys and values that are computed from the knobs alone."""

    idle: Mapping[str, str] = MappingProxyType(
        {
            "layer": "Generated attention has one layer.",
            "training_step": "Generated attention is not trained.",
        }
    )

    def tokens(self, source: Source, config: Config) -> Tokens:
        """Returns the words or characters of a text input; of other inputs only their number."""
        return _tokens(config.tokens, config.text, config.input)

    def provenance(self, source: Source, config: Config) -> str:
        """Returns that nothing was learned, and what is random."""
        shares = config.projections == "constructed" and config.n_kv_heads < config.heads
        halves = config.projections == "constructed" and SOFTMAXES[config.softmax].halves > 1
        made = TWO_ROLES if halves else MADE[config.projections]
        made = made.format(last=LAST * (config.input != BEFORE))
        return f"{made}{SHARED[config.sharing] * shares} Input {config.input}, seed {config.seed}."

    def label(self, source: Source, config: Config) -> str:
        """Returns how the heads were made, in two or three words."""
        return LABELS.get(config.projections, "random, untrained")

    def layer_inputs(self, source: Source, config: Config) -> LayerInputs:
        """Returns the tokens of a config, and keys and values of these or, if requested, of another sequence."""
        queries, made = self.tokens(source, config), project(config)
        keys = other_tokens(config) if config.keys else queries
        parts = {name: getattr(made, name) for name in ("x", "projections", "q", "k", "v")}
        return LayerInputs(config, queries, keys, config.rule, self.provenance(source, config), **parts)


@lru_cache(maxsize=8)  # called whenever a row or a cell is labelled
def _tokens(n: int, text: str, name: str) -> Tokens:
    return Tokens(n, tuple(texts(n, text, name)))


def other_tokens(config: Config) -> Tokens:
    """Returns the tokens of the other sequence, from which keys and values come in cross-attention."""
    return _tokens(config.keys, other(config)[1], config.input)


def early(config: Config) -> Config:
    """Returns the same settings with every knob at its default that acts after queries and keys.

    Two softmaxes of a head act on these, too: each half has its own positions and, if hand-built, its own role.
    """
    known, kept = fixed_by_source(config.source), ("softmax",) if SOFTMAXES[config.softmax].halves > 1 else ()
    return replace(config, **{name: DEFAULTS[name] for name in LATER if name not in known and name not in kept})


def project(config: Config) -> Projected:
    """Returns queries, keys and values with their positions; the last ones are cached, as most changes leave them unchanged."""
    plain = early(config.for_page("Steps"))
    return (_last if config.tokens * config.d_model <= KEPT else _project_config)(plain)


def _project_config(config: Config) -> Projected:
    h, g = config.heads, config.n_kv_heads
    with torch.inference_mode():
        x, w = embed(config), maps(config)
        y = sequence(config, "y", config.keys, *other(config))["y"] if config.keys else x
        q = _part(config, x, w.query, h)
        k = repeat(_part(config, y, w.key, g), "g k d -> (g r) k d", r=h // g)
        v = repeat(y @ w.value, "k (g e) -> (g r) k e", g=g, r=h // g)
    return Projected(x, Remade(config), q, k, v)


@torch.inference_mode()
def _part(config: Config, x: Float[Tensor, "n c"], matrix: Float[Tensor, "c e"], heads: int) -> Float[Tensor, "h n d"]:
    """Returns the product of tokens and a matrix, by heads, rotated if positions do so."""
    return by_heads(config, x @ matrix, heads)


@torch.inference_mode()
def by_heads(config: Config, found: Float[Tensor, "n e"], heads: int) -> Float[Tensor, "h n d"]:
    """Returns queries or keys of heads from those side by side, with QK-norm and positions, for each half of two."""
    split, halves = rearrange(found, "n (h d) -> h n d", h=heads), SOFTMAXES[config.softmax].halves
    parts = split_halves(split, halves) if halves > 1 else split
    parts = turn(rms_norm(parts) if config.qk_norm == ON else parts, config)
    return join_halves(parts) if halves > 1 else parts


def pairs_of(config: Config) -> int:
    """Returns the number of pairs of positional channels: half of the channels of hand-built heads, else 0."""
    return config.d_model // 4 if config.projections == "constructed" else 0


def other(config: Config) -> tuple[int, str]:
    """Returns seed and text of the other sequence: a text is read backwards with its seed, so that equal words stay equal."""
    return (config.seed if config.input in SPLIT else (config.seed + OTHER) % SEEDS), backwards(
        config.text, config.input
    )


def sequence(config: Config, name: str, n: int, seed: int, text: str) -> dict[str, Tensor]:
    """Returns the n tokens of x, or of another sequence, and what they are computed from."""
    x = _tokens_as_vectors(config, n, seed, text)
    to_input = POSITIONS[config.positions].to_input
    if to_input is None:
        return {name: x}
    sines = to_input(n, config.d_model)
    return {f"embedded {name}": x, f"sines {name}": sines, name: x + sines}


def _tokens_as_vectors(config: Config, n: int, seed: int, text: str) -> Float[Tensor, "n c"]:
    """Returns the vectors of the input; for hand-built heads, half of the channels are positions."""
    make, width, pairs = INPUTS[config.input], config.d_model, pairs_of(config)
    if not pairs:
        return make(n, width, make_generator(seed), text)
    x = torch.empty(n, width, dtype=torch.float32)
    x[:, : width - 2 * pairs] = make(n, width - 2 * pairs, make_generator(seed), text)
    for first in range(0, n, STRETCH):
        last = min(n, first + STRETCH)
        x[first:last, width - 2 * pairs :] = places(first, last, pairs)
    return x


def embed(config: Config) -> Float[Tensor, "q c"]:
    """Returns the tokens, with what positions add to them."""
    return sequence(config, "x", config.tokens, config.seed, config.text)["x"]


_last = tensor_lru_cache(2)(_project_config)


def maps(config: Config) -> Projections:
    """Returns the four matrices of a config. Heads that share keys and values have the mean of theirs, or smaller ones."""
    if config.projections == "constructed":
        return _hand_built_projections(config)
    drawn = config.heads if config.sharing == "averaged" else config.n_kv_heads
    draw = projections if config.d_model <= WIDE else _projections
    w = draw(config.projections, config.d_model, drawn * config.d_head, config.seed)
    if drawn > config.n_kv_heads:
        w = replace(
            w,
            key=average_heads(w.key, config.n_kv_heads, drawn),
            value=average_heads(w.value, config.n_kv_heads, drawn),
        )
    if config.d_v in (0, config.d_head):
        return w
    value, output = _value_maps(config)
    return replace(w, value=value, output=output)


def gate_map(config: Config) -> Float[Tensor, "c w"]:
    """Returns the map to the output gates of a config, which has some."""
    width = 1 if config.gate == HEADWISE else config.d_v or config.d_head
    return (_last_gate_map if config.d_model <= WIDE else draw_gate_map)(
        config.d_model, config.heads * width, config.seed
    )


_last_gate_map = tensor_lru_cache(2)(draw_gate_map)
forget_map = tensor_lru_cache(2)(draw_forget_map)  # a number per head and channel: small at any width


def _hand_built_projections(config: Config) -> Projections:
    """Returns the matrices of hand-built heads.

    Groups have the mean of their heads' keys and values, or those of the first of them.
    """
    c, h, g, width = config.d_model, config.heads, config.n_kv_heads, config.d_v or config.d_head
    build = roles if c <= WIDE else _roles
    halves, own = SOFTMAXES[config.softmax].halves, itself(config.input, c - c // 4 * 2)
    query, key, value, output = build(c, h, width, config.seed, own, halves)
    if g < h and config.sharing == "averaged":
        key, value = average_heads(key, g, h), average_heads(value, g, h)
    elif g < h:
        key, value = (rearrange(each, "c (g r d) -> r c (g d)", g=g, r=h // g)[0] for each in (key, value))
    return Projections(query, key, value, output)


def _roles(c: int, heads: int, width: int, seed: int, own: int, halves: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Returns the maps of hand-built heads to queries, keys and values of a width, and to the output."""
    return *queries_to_keys(c, heads * halves, seed, own), *values_to_output(c, heads, width, own)


roles = tensor_lru_cache(2)(_roles)


def _value_maps(config: Config) -> tuple[Float[Tensor, "c g_e"], Float[Tensor, "h_e c"]]:
    """Returns maps to and from values of a width of their own, drawn as the others: Xavier, or unit matrices."""
    c, wide = config.d_model, config.heads * config.d_v
    drawn = wide if config.sharing == "averaged" else config.n_kv_heads * config.d_v
    if config.projections == "identity":
        value, output = (torch.eye(*size, dtype=torch.float32) for size in ((c, drawn), (wide, c)))
    else:
        random = make_generator(-1 - SEEDS - config.seed)
        empty = partial(torch.empty, dtype=torch.float32)
        value = empty(c, drawn).uniform_(-1, 1, generator=random) * math.sqrt(6 / (c + drawn))
        output = empty(wide, c).uniform_(-1, 1, generator=random) / math.sqrt(wide)
    if drawn > config.n_kv_heads * config.d_v:
        value = average_heads(value, config.n_kv_heads, config.heads)
    return value, output


def average_heads(matrix: Float[Tensor, "c h_d"], groups: int, heads: int) -> Float[Tensor, "c g_d"]:
    """Returns the mean of the maps of neighbouring heads, one per group (Ainslie et al. 2023, section 2.1)."""
    return reduce(matrix, "c (g r d) -> c (g d)", "mean", g=groups, r=heads // groups)


def _projections(kind: str, c: int, g: int, seed: int) -> Projections:
    """Returns the four matrices for c channels, with g channels of keys and values; `kind` is a value of that knob.

    Independent and tied ones are Xavier-uniform over the fused query, key and value map, as in nn.MultiheadAttention;
    their random numbers differ from those of the input.
    """
    if kind == "identity":
        one = torch.eye(c, dtype=torch.float32)
        return Projections(one, one[:, :g], one[:, :g], one)
    random, bound = make_generator(-1 - seed), math.sqrt(6 / (2 * c + 2 * g))
    empty = partial(torch.empty, dtype=torch.float32)
    query, key, value = (empty(c, width).uniform_(-bound, bound, generator=random) for width in (c, g, g))
    output = empty(c, c).uniform_(-1, 1, generator=random) / math.sqrt(c)
    return Projections(query, query[:, :g] if kind == "tied" else key, value, output)


projections = tensor_lru_cache(2)(
    _projections
)  # drawing takes longer than a small pass, and most changes leave them unchanged

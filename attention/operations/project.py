"""Projections: the tokens, the maps W_q, W_k and W_v, and queries, keys and values, split into heads.

A source that has no tokens and projections gives queries, keys and values as they came.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from einops import rearrange

from attention.operations.operation import Operation, Source, Spec

ROLES = {  # of queries, keys and values: sequence, axes in heads, words
    "q": ("x", ("h", "q", "d"), "queries"),
    "k": ("y", ("g", "k", "d"), "keys"),
    "v": ("y", ("g", "k", "e"), "values"),
}
LESSONS = {
    "W_q": "W_q turns each token into a query: what the token searches for. Models learn it.",
    "W_k": "W_k turns each token into a key: what the token is found by.",
    "W_v": "W_v turns each token into a value: the vector it passes on.",
    "Q": "Each row is the query of a token: what it searches for.",
    "K": "Each row is the key of a token: what it is found by.",
    "V": "Each row is the value of a token: what it passes on.",
    "q": "The channels of Q are split between the heads, so each head has its own queries.",
    "k": "The channels of K are split in the same way.",
    "v": "The channels of V are split in the same way: each head passes on a part.",
}
GIVEN = {
    "q": "Each row is the query of a token in this head. It already contains the position.",
    "k": "Each row is the key of a token in this head.",
    "v": "Each row is the value of a token in this head.",
}


def made_here(spec: Spec) -> bool:
    """Queries, keys and values are computed from tokens."""
    return spec.made_here


def _sequence(name: str, spec: Spec) -> str:
    """Returns the sequence that queries, keys or values come from."""
    return ROLES[name][0] if spec.crosses else "x"


def _halved(spec: Spec) -> bool:
    return spec.made_here and spec.halves > 1


def _whole(name: str) -> Callable[[Spec], bool]:
    """Returns whether heads have these vectors as they are: queries and keys of differential attention come in two halves."""
    return made_here if name == "v" else lambda spec: spec.made_here and spec.halves == 1


def _map(name: str) -> Operation:
    _, (heads, _, width), words = ROLES[name]
    return Operation(
        f"W_{name}",
        name,
        f"c ({heads} {width})",
        f"Projection to {words}",
        LESSONS[f"W_{name}"],
        f"W_{name}",
        applies=_whole(name),
        kind="parameters",
    )


def _product(name: str) -> Operation:
    _, (heads, axis, width), words = ROLES[name]
    big, axes = name.upper(), f"b {axis} ({heads} {width})"

    def formula(spec, symbols):
        x = _sequence(name, spec)
        return f"{big} = {x} W_{name},\\quad {big}_{{ij}} = \\sum_c {x}_{{ic}} (W_{name})_{{cj}}"

    return Operation(
        big,
        name,
        axes,
        f"{words.capitalize()} of all heads",
        LESSONS[big],
        formula,
        f"{{name}}[{{at}}] = {{s0}}[{{i}}] · W_{name}[:, {{j}}] = {{value}}",
        lambda spec: (Source(_sequence(name, spec), "left", "×"), Source(f"W_{name}", "right", "=")),
        lambda spec: spec.product(axes, "c"),
        lambda values, spec: values[_sequence(name, spec)] @ values[f"W_{name}"],
        _whole(name),
        plain=f"{big} = {{s0}}\\, W_{name}",
    )


def _heads(name: str) -> Operation:
    _, (heads, axis, width), _ = ROLES[name]

    def formula(spec, symbols):
        size = f"d_{name} = {spec.length(width)}"
        return f"{name}_{{{heads}ij}} = {name.upper()}_{{i,\\,{heads} d_{name} + j}},\\quad {size}"

    return Operation(
        name,
        name,
        f"b {heads} {axis} {width}",
        f"Split into heads: {name}",
        LESSONS[name],
        formula,
        f"{{name}}[{{at}}] = {{value}}, copied from {name.upper()}[{{at0}}]",
        (Source(name.upper(), "split", "="),),
        code=f"{name.upper()} = (x @ W_{name}).view(n, {'heads' if heads == 'h' else 'kv_heads'}, d_head).transpose(0, 1)\n",
        compute=lambda values, spec: rearrange(values[name.upper()], "n (h d) -> h n d", h=spec.sizes[heads]),
        applies=_whole(name),
        kind="view",
        plain=rf"{name} = {name.upper()}\ \text{{split between the heads}}",
    )


def _input(name: str) -> Operation:
    _, (heads, axis, width), words = ROLES[name]
    return Operation(
        name,
        name,
        f"b {heads} {axis} {width}",
        f"{words.capitalize()} of every head, as given",
        GIVEN[name],
        f"{name}_{{{heads}ij}}",
        applies=lambda spec: name in spec.given and not spec.made_here,
    )


def _all_halves(make: Callable[[str], Operation], name: str) -> Operation:
    """Returns the map to the queries or keys of both halves of all heads, or these themselves."""
    whole = make(name)
    return replace(whole, axes=whole.axes.replace(" d)", " s d)"), applies=_halved)


def _half(name: str, at: int) -> Operation:
    """Returns the queries or keys of the first (0) or the second half (1) of every head."""
    whole, (_, (heads, _, _), words) = _heads(name), ROLES[name]
    which, own = ("second", f"{name} 2") if at else ("first", name)
    offset = rf"\,{heads} \cdot 2 d_{name} + {f'd_{name} + ' * at}j"
    return replace(
        whole,
        name=own,
        title=f"Split into heads and halves: the {which} half of the {words}",
        lesson=f"Each head has two softmaxes. The {which} has the {which} half of its channels.",
        formula=lambda spec, symbols: (
            f"{name}{'^{(2)}' * at}_{{{heads}ij}} = {name.upper()}_{{i,{offset}}},\\quad d_{name} = {spec.length('d')}"
        ),
        arithmetic=f"{{name}}[{{at}}] = {{value}}, copied from {name.upper()}[{{at0}}]",
        sources=(Source(name.upper(), f"{which} half", "="),),
        code=HALVED if own == "k 2" else "" if at else whole.code,
        compute=lambda values, spec: rearrange(values[name.upper()], "n (h s d) -> s h n d", s=2, h=spec.sizes[heads])[
            at
        ],
        applies=_halved,
        plain="",
        symbol=f"{name}^{{(2)}}" if at else "",
    )


HALVED = (
    "Q, K = (t.unflatten(-1, (2, -1)).movedim(-2, 0) for t in (Q, K))  # two per head, of half of its channels each\n"
)


def _of_all(make: Callable[[str], Operation]) -> tuple[Operation, ...]:
    return *(each for name in "qk" for each in (make(name), _all_halves(make, name))), make("v")


OPERATIONS = (
    *_of_all(_map),
    *_of_all(_product),
    *(_heads(name) for name in "qk"),
    *(_half(name, at) for at in (0, 1) for name in "qk"),
    _heads("v"),
    *(_input(name) for name in "qkv"),
)

"""Finds the role of arrays by their names: queries, keys, values, weights or a mask, and of which layer.

`layers.3.q` is what `attention.watch` writes; `attentions.3`, `blocks.3.attn.hook_pattern`, `decoder_attentions_3` and
similar names are read as well. The number is the layer, the last known word gives the role, and the rest of the name
separates stacks, such as the encoder and the decoder of a model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from attention.array_files.arrays import Array, short
from attention.array_files.limits import DataError
from attention.imported.axes import sums
from attention.imported.checks import looks_dropped_out

ROLES = {
    "q": ("q", "query", "queries"),
    "k": ("k", "key", "keys"),
    "v": ("v", "value", "values"),
    "weights": ("weights", "attention", "attentions", "attn", "attns", "pattern", "probs", "probabilities", "p", "a"),
    "mask": ("mask", "masks"),
}
ROLE = {word: role for role, words in ROLES.items() for word in words}
WORD = re.compile(r"[^\W\d_]+|\d+")
PARAMETER = ("weight", "bias", "gamma", "beta")
LAYERS = (
    "l",
    "layer",
    "layers",
    "block",
    "blocks",
    "h",
    "attention",
    "attentions",
    "attn",
)  # words before the number of a layer


@dataclass(frozen=True, eq=False)
class Part:
    """The arrays of one stack, by role and then by layer number; -1 if the names have no number."""

    name: str
    roles: Mapping[str, Mapping[int, Array]]


def parts(arrays: Mapping[str, Array]) -> list[Part]:
    """Returns the stacks of a file, in its order; raises DataError if there is none."""
    if all(_parameter(name) and not _weights(name, array) for name, array in arrays.items()):
        raise DataError(
            f"It has the parameters of a model, such as {short(next(iter(arrays)))}. Attention is "
            "computed from them on a text: save weights, or queries and keys, while the model runs."
        )
    found: dict[str, dict[str, dict[int, Array]]] = {}
    masks: dict[str, dict[int, Array]] = {}
    for name, array in arrays.items():
        role, layer, stem = of(name, alone=len(arrays) == 1)
        if role:
            layers = masks.setdefault(stem, {}) if role == "mask" else found.setdefault(stem, {}).setdefault(role, {})
            if layer in layers:
                raise DataError(
                    f"{short(name)} and another array are both {role} of one layer: their names must differ by layer."
                )
            layers[layer] = array
    if not found and (layers := numbered_weights(arrays)):
        found[""] = {"weights": layers}
    if not found:
        raise DataError(
            f"No array is named like weights, or like q and k: found {', '.join(map(short, list(arrays)[:5]))}. Call "
            "them so, as in weights, or layers.0.q and layers.0.k. Layers of weights may have any name with a number, if their "
            "rows sum to 1."
        )
    return [Part(stem, roles | _masks(stem, masks)) for stem, roles in found.items()]


def numbered_weights(arrays: Mapping[str, Array]) -> dict[int, Array]:
    """Returns weights by layer number, if names differ in their numbers alone and rows sum to one; else an empty dictionary.

    After dropout rows sum to one in the mean, which is enough. `np.savez(path, *layers)` and `torch.save` of a tuple
    name arrays in this way.
    """
    named = [of(name) for name, array in arrays.items() if len(array.shape) >= 2]
    layers = {layer: array for (_, layer, _), array in zip(named, arrays.values(), strict=False)}
    alike = len(named) == len(layers) == len(arrays) and len({stem for _, _, stem in named}) == 1
    floating = all(array.type.startswith(("F", "BF")) for array in arrays.values())
    return layers if alike and floating and all(_alike_weights(array) for array in arrays.values()) else {}


def _alike_weights(array: Array) -> bool:
    square = array.square()
    return sums(square, -1) or looks_dropped_out(square)


def _masks(stem: str, masks: Mapping[str, Mapping[int, Array]]) -> dict[str, Mapping[int, Array]]:
    """Returns the masks of a stack: those with its name, else the one that all stacks share; raises DataError if ambiguous."""
    if stem in masks or not masks:
        return {"mask": masks[stem]} if masks else {}
    if len(masks) > 1 and "" not in masks:
        raise DataError(
            f"There are several masks, {', '.join(map(short, masks))}: their names must say which layer each belongs to."
        )
    return {"mask": masks.get("") or next(iter(masks.values()))}


def of(name: str, alone: bool = False) -> tuple[str, int, str]:
    """Returns the role of an array by its name, its layer, and the rest of the name.

    If it is the only array of a file, `alone`, and its name has no known word, it is weights.
    """
    words = [word.casefold() for word in WORD.findall(name)]
    known = [at for at, word in enumerate(words) if word in ROLE]
    numbers = [at for at, word in enumerate(words) if word.isdigit()]
    at = next((at for at in numbers if at and words[at - 1] in LAYERS), numbers[0] if numbers else -1)
    layer = int(words[at]) if at >= 0 and len(words[at]) < 9 else -1
    role = ROLE[words[known[-1]]] if known else "weights" if alone else ""
    rest = [
        word
        for place, word in enumerate(words)
        if place != at and not (known and place == known[-1]) and word not in LAYERS
    ]
    return role, layer, " ".join(rest)


def _weights(name: str, array: Array) -> bool:
    """Whether an array with the name of a parameter, for example `attn_weight`, has rows that sum to one."""
    if of(name, alone=True)[0] != "weights" or len(array.shape) < 2 or not array.type.startswith(("F", "BF")):
        return False
    return sums(array.square(), -1)


def _parameter(name: str) -> bool:
    words = WORD.findall(name.casefold())
    return bool(words) and words[-1] in PARAMETER

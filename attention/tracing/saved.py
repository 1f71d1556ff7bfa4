"""Writes a stack as a safetensors file, which any language reads, and which the app opens under *Your data*.

Tensors are `layers.{i}.q (h n d)`, `layers.{i}.k (g n d)` and, if they are known, `layers.{i}.v (g n e)`, or
`layers.{i}.weights (h q k)`, i being the layer's number in its model. If the mask is no rule, it is `mask (q k)`,
true where a query attends to a key, or `layers.{i}.mask`. The file's metadata are texts: `title` and `what`, `tokens`
and `keys` as JSON lists, the rule `mask` with its `span`, or JSON lists of both with an entry for each layer,
`scale`, a name of `scores.SCALES`, and `softcap`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from attention.array_files import safe_file
from attention.imported.stack import Stack


def save(stacks: Mapping[str, Stack], path: str | Path) -> list[Path]:
    """Writes stacks and returns their paths: the stack named "" to this path, others with their names added to it."""
    path, written = Path(path), []
    for name, stack in stacks.items():
        ending = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        place = path.with_name(f"{path.stem}-{ending}{path.suffix}") if ending else path
        place.write_bytes(save_stack(stack))
        written.append(place)
    return written


def save_stack(stack: Stack) -> bytes:
    """The file of a stack."""
    numbers = stack.numbers or tuple(range(layers(stack)))
    tensors: dict[str, Tensor] = {}
    for at, number in enumerate(numbers):
        for part in ("q", "k", "v", "weights"):
            if (found := getattr(stack, part)) is not None:
                tensors[f"layers.{number}.{part}"] = found[at]
        if stack.square is not None and stack.square.ndim == 3:
            tensors[f"layers.{number}.mask"] = stack.square[at]
    if stack.square is not None and stack.square.ndim == 2:
        tensors["mask"] = stack.square
    return safe_file.write_safetensors(tensors, about(stack))


def about(stack: Stack) -> dict[str, str]:
    """The metadata of a stack."""
    said = {"title": stack.title, "what": stack.what}
    for name, texts in (("tokens", stack.queries), ("keys", stack.keys)):
        if texts and not (name == "keys" and texts == stack.queries):
            said[name] = json.dumps(texts, ensure_ascii=False)
    if stack.q is not None:
        said |= {name: f"{stack.own[name]}" for name in ("scale", "softcap") if name in stack.own}
        if stack.rules:
            said |= {
                "mask": json.dumps([mask for mask, _ in stack.rules]),
                "span": json.dumps([span for _, span in stack.rules]),
            }
        elif stack.square is None:
            said |= {name: f"{stack.own[name]}" for name in ("mask", "span") if name in stack.own}
    return said


def layers(stack: Stack) -> int:
    """The number of layers."""
    part = stack.weights if stack.q is None else stack.q
    return 0 if part is None else len(part)

"""The format of a recording: queries and keys of some layers, their tokens, origin and license.

A file is an .npz of arrays without pickles: `q (l h n d)`, `k (l g n d)` and optionally `v (l g n d)`, as they are used
in a score, after rotary positions; in float16 or float32. In addition `about`, a JSON text:

    format    "attention recording 1"
    what      what was recorded, in a sentence; `weights`: their origin; `license`: of all of it; `made`: how
    tokens    the n texts
    layers    which layers of the model these are, counted from 0; if missing, 0, 1, 2 …
    mask      the rule of `masks.MASKS` that was in use, with its span
    scale     of `scores.SCALES`, with softcap, softmax, and positions: those that are added to scores, or "none"

A scale without a name in `scores.SCALES` has to be multiplied into q. A page uses the last two lines as defaults of these knobs.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention.array_files import numpy_file
from attention.array_files.limits import DataError
from attention.masks import MASKS
from attention.operations.positions import POSITIONS
from attention.operations.scale import SCALES
from attention.operations.softmax import CONSTANT

FORMAT = "attention recording 1"
WORDS = ("what", "weights", "license", "made")
OWN = {"mask": "full", "span": 4, "scale": "none", "softcap": 0.0, "softmax": "standard", "positions": "none"}
CHOICES = {
    "mask": tuple(MASKS),
    "scale": tuple(SCALES),
    "softmax": CONSTANT,
    "positions": tuple(
        name for name, rule in POSITIONS.items() if name == "none" or (rule.to_scores and not rule.learned)
    ),
}
RANGES = {"span": (1, 2**16), "softcap": (0, 100)}
LAYERS, HEADS, TOKENS, WIDTH, CELLS = 128, 32, 1024, 2048, 16_000_000  # largest sizes; a page shows every weight
LARGEST = 2**26  # bytes of all arrays
TEXT = 2000  # characters of a text
ARRAYS = {"q": "l h n d", "k": "l g n d", "v": "l g n d"}


class RecordingError(ValueError):
    """A file is no recording; the message names the file, the field, its value and what is allowed."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a source: layers, heads, heads of keys and values, tokens, channels of a head, and the parts that it has.

    `own`: defaults of the knobs of its mask and scores. `chosen`: which layers of its model these are, () if they are
    all from 0 on. `keys`: number of keys of another sequence, 0 for self-attention; `square`: whether it has a mask of
    its own, so that no mask rule applies. `d_v`: channels of a value, if these differ from those of queries and keys,
    else 0. `rules`: the mask rule and the span of each layer, if layers have different ones; `sinks`: the learned sinks of
    each layer's heads, if it has any. `over`: whether some row of given weights sums to more than one.
    """

    layers: int
    heads: int
    kv_heads: int
    tokens: int
    d_head: int
    has: frozenset[str]
    own: Mapping[str, Any]
    chosen: tuple[int, ...] = ()
    keys: int = 0
    square: bool = False
    d_v: int = 0
    rules: tuple[tuple[str, int], ...] = ()
    sinks: tuple[tuple[float, ...], ...] = ()
    over: bool = False

    @property
    def long(self) -> bool:
        """Whether a layer has more weights than are shown one by one."""
        return max(self.tokens, self.keys) > TOKENS or self.heads * self.tokens * (self.keys or self.tokens) > CELLS

    @property
    def numbers(self) -> tuple[int, ...]:
        """The layer numbers in the model, counted from 0."""
        return self.chosen or tuple(range(self.layers))


@dataclass(frozen=True, eq=False)
class Recording:
    """The contents of a file. `own`: the knobs of its mask and scores; `chosen`: as in `Shape`."""

    what: str
    weights: str
    license: str
    made: str
    tokens: tuple[str, ...]
    q: Float[Tensor, "l h n d"]
    k: Float[Tensor, "l g n d"]
    v: Float[Tensor, "l g n d"] | None = None
    own: Mapping[str, Any] = field(default_factory=lambda: dict(OWN))
    chosen: tuple[int, ...] = ()

    @property
    def shape(self) -> Shape:
        """Its sizes and parts."""
        layers, heads, tokens, d_head = self.q.shape
        has = frozenset(name for name in ARRAYS if getattr(self, name) is not None)
        return Shape(layers, heads, self.k.shape[1], tokens, d_head, has, self.own, self.chosen)


def write_recording(recording: Recording) -> bytes:
    """Returns the file of a recording, the same bytes for the same recording; numbers are rounded to float16."""
    about = {"format": FORMAT} | {name: getattr(recording, name) for name in WORDS}
    about |= {"tokens": list(recording.tokens), **recording.own}
    about |= {"layers": list(recording.chosen)} if recording.chosen else {}
    arrays = {name: getattr(recording, name) for name in ARRAYS if getattr(recording, name) is not None}
    memory = io.BytesIO()
    given = {name: array.to(torch.float16).numpy() for name, array in arrays.items()}
    np.savez_compressed(memory, about=np.array(json.dumps(about, ensure_ascii=False)), **given)
    return memory.getvalue()


def read_recording(data: bytes, name: str) -> Recording:
    """Returns the recording in a file; raises RecordingError with the file's name. Nothing in it is executed."""
    arrays, text = _arrays(data, name)
    about = _about(text, name)
    parts = {part: _numbers(arrays[part], f"{name}: {part}") for part in ARRAYS if part in arrays}
    _check_shapes(parts, len(about["tokens"]), name)
    chosen = _layer_numbers(about, len(parts["q"]), name)
    known = {word: about[word] for word in WORDS} | {"own": {knob: about[knob] for knob in OWN}, "chosen": chosen}
    return Recording(tokens=tuple(about["tokens"]), **known, **parts)  # pyright: ignore[reportArgumentType]  words and arrays by name


def _arrays(data: bytes, name: str) -> tuple[dict[str, Tensor], str]:
    """Returns the arrays of the file, once their sizes and names have been checked, and `about`; raises RecordingError."""
    try:
        found = numpy_file.read_many(data, name, LARGEST)
        arrays = {part: array.tensor() for part, array in found.arrays.items()}
    except DataError as error:
        raise RecordingError(f"{name} is not an .npz of arrays without pickles: {error}") from None
    there = found.texts.keys() | arrays.keys()
    for part in sorted(there):
        if part not in ARRAYS and part != "about":
            raise RecordingError(f"{name}: {_short(part)} is not a part of a recording. These are: about, q, k, v.")
    for part in ("about", "q", "k"):
        if part not in (there if part == "about" else arrays):
            raise RecordingError(f"{name}: {part} is missing. A recording has about, q, k and may have v.")
    return arrays, "".join(found.texts.get("about", ()))


def _about(text: str, name: str) -> dict[str, Any]:
    """Returns the JSON object about the recording, with every field checked; raises RecordingError."""
    try:
        about = json.loads(text)
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict):
        raise RecordingError(f"{name}: about is not the text of a JSON object.")
    wanted = ("format", *WORDS, "tokens", *OWN)
    for entry in wanted:
        if entry not in about:
            raise RecordingError(f"{name}: {entry} is missing.")
    for entry, value in about.items():
        if entry not in (*wanted, "layers"):
            raise RecordingError(
                f"{name}: {_short(entry)} is not a field. These are: {', '.join((*wanted, 'layers'))}."
            )
        if problem := _problem(entry, value):
            raise RecordingError(f"{name}: {entry}={_short(value)} is not {problem}.")
    return about


def _problem(entry: str, value: Any) -> str:
    """Returns what the value of a field should be, "" if it is valid."""
    if entry == "format":
        return "" if value == FORMAT else f"{FORMAT!r}"
    if entry in WORDS:
        return "" if _readable(value) and value.strip() else f"a sentence of at most {TEXT:,} characters"
    if entry == "tokens":
        sound = isinstance(value, list) and 2 <= len(value) <= TOKENS and all(_readable(text) for text in value)
        return "" if sound else f"a list of 2 to {TOKENS:,} texts"
    if entry == "layers":
        return (
            ""
            if _rising(value)
            else f"a list of whole numbers from 0 to {LAYERS - 1}, each greater than the one before"
        )
    if entry in CHOICES:
        return "" if isinstance(value, str) and value in CHOICES[entry] else f"one of: {', '.join(CHOICES[entry])}"
    low, high = RANGES[entry]
    kind = int if entry == "span" else (int, float)
    sound = isinstance(value, kind) and not isinstance(value, bool) and low <= value <= high
    return "" if sound else f"a {'whole ' * (kind is int)}number between {low:,} and {high:,}"


def _rising(value: Any) -> bool:
    if not isinstance(value, list) or not all(type(number) is int and 0 <= number < LAYERS for number in value):
        return False
    return len(value) > 0 and all(one < next for one, next in pairwise(value))


def _readable(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= TEXT and all(sign.isprintable() or sign in "\n\t" for sign in text)


def _numbers(array: Tensor, where: str) -> Float[Tensor, "..."]:
    """Returns an array as float32; raises RecordingError unless it has four axes and all numbers are finite."""
    if array.dtype not in (torch.float16, torch.float32):
        raise RecordingError(
            f"{where} is of {str(array.dtype).removeprefix('torch.')}; float16 and float32 are allowed."
        )
    if array.ndim != 4:
        raise RecordingError(f"{where} has {array.ndim} axes; {ARRAYS[where[-1]]} are four.")
    found = array.float()
    if not found.isfinite().all():
        raise RecordingError(f"{where} has cells that are not finite numbers.")
    return found


def _check_shapes(parts: dict[str, Tensor], tokens: int, name: str) -> None:
    """Raises RecordingError unless the shapes fit each other, the tokens, and the limits of the pages."""
    (layers, heads, n, d), k = parts["q"].shape, parts["k"].shape
    groups = k[1]
    for part, array in parts.items():
        shape = (layers, heads if part == "q" else groups, tokens, d)
        if tuple(array.shape) != shape:
            raise RecordingError(f"{name}: {part} is {tuple(array.shape)}; with q and {tokens} tokens it is {shape}.")
    if not groups or heads % groups:
        raise RecordingError(f"{name}: k has {groups} heads, which don't divide the {heads} of q.")
    for what, value, most in (("layers", layers, LAYERS), ("heads", heads, HEADS), ("channels", heads * d, WIDTH)):
        if not 1 <= value <= most:
            raise RecordingError(f"{name}: q has {value:,} {what}; 1 to {most:,} are allowed.")
    if heads * n * n > CELLS:
        raise RecordingError(f"{name}: {heads} heads of {n} tokens; the most is {math.isqrt(CELLS // heads)}.")


def _layer_numbers(about: dict[str, Any], layers: int, name: str) -> tuple[int, ...]:
    """Returns which layers of its model a file has, () if they are the first; raises RecordingError if their number is wrong."""
    chosen = tuple(about.get("layers", ()))
    if chosen and len(chosen) != layers:
        raise RecordingError(f"{name}: layers names {len(chosen)}; q has {layers}.")
    return chosen if chosen != tuple(range(layers)) else ()


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"

"""Reads the metadata of a file: its texts, numbers and lists of texts. Lists the names that are not used.

A single number or text in an .npz, a .pt or a .safetensors is read like the metadata of a .safetensors: `scale`,
`softcap`, `mask`, `span`, `title`, `what`.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace

from attention.array_files.arrays import Arrays, short
from attention.array_files.limits import TEXT, DataError
from attention.imported import tensor_roles
from attention.imported.token_file import WORDS, decode_json
from attention.masks import MASKS
from attention.recorded.file import OWN, RANGES
from attention.summary import legible

TEXTS = ("token", "key", "text", "label", "word")  # the name of a list of tokens contains one of these
KNOWN = {"title", "what", "mask", "scale", *RANGES, *WORDS}
SILENT = {"format", "link"}  # written into every file by other programs, and by this app
NAMED = 5  # names in a sentence


def merge_header(arrays: Arrays) -> Arrays:
    """Moves single numbers and texts to the metadata, where texts of a header take precedence; raises DataError."""
    numbers = {
        name: array
        for name, array in arrays.arrays.items()
        if array.shape == () or (array.shape == (1,) and not tensor_roles.of(name)[0])
    }
    if numbers and len(numbers) == len(arrays.arrays):
        raise DataError(f"It has only single numbers, no arrays: {', '.join(map(short, list(numbers)[:NAMED]))}.")
    alone = {name: texts[0] for name, texts in arrays.texts.items() if len(texts) == 1}
    words = {name: text for name, text in alone.items() if name in WORDS or not _lists(name)}
    words |= {name: json.dumps(array.tensor().reshape(()).item()) for name, array in numbers.items()}
    rest = {name: array for name, array in arrays.arrays.items() if name not in numbers}
    lists = {name: texts for name, texts in arrays.texts.items() if name not in words}
    return replace(arrays, arrays=rest, texts=lists, said={**words, **arrays.said})


def texts(arrays: Arrays) -> dict[str, tuple[str, ...]]:
    """Returns the lists of texts by what they are, `tokens` or `keys`; lists with exactly these names take precedence."""
    called = sorted(filter(_lists, arrays.texts), key=lambda name: name.casefold() in WORDS)
    return {"keys" if "key" in name.casefold() else "tokens": arrays.texts[name] for name in called}


def title(arrays: Arrays) -> str:
    """Returns the title in the metadata, else the name of the file."""
    return _text(arrays, "title") or arrays.called


def what(arrays: Arrays) -> str:
    """Returns the description in the metadata, else a sentence with the name of the file."""
    return _text(arrays, "what") or f"From the file {arrays.called}."


def number(arrays: Arrays, name: str) -> float | None:
    """Returns a finite number of the metadata; None if there is none of this name."""
    value = decode_json(arrays.said.get(name, ""))
    try:
        found = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    except OverflowError:  # an integer too large for a float
        return None
    return found if math.isfinite(found) else None


def mask_numbers(arrays: Arrays) -> dict[str, float]:
    """Returns span and softcap, if the metadata has them and they are within `RANGES`."""
    found = {name: number(arrays, name) for name in RANGES}
    return {
        name: value if name == "softcap" else int(value)
        for name, value in found.items()
        if value is not None and RANGES[name][0] <= value <= RANGES[name][1]
    }


def rules(arrays: Arrays, layers: int) -> tuple[tuple[str, int], ...]:
    """Returns the mask rule and the span of each layer, if the file lists them; raises DataError if a list doesn't fit."""
    names, spans = (decode_json(arrays.said.get(name, "")) for name in ("mask", "span"))
    if not isinstance(names, list):
        return ()
    spans = spans if isinstance(spans, list) else [OWN["span"]] * len(names)
    low, high = RANGES["span"]
    if len(names) != layers or len(spans) != layers or any(name not in tuple(MASKS) for name in names):
        raise DataError(
            f"The masks of the layers are {short(str(names))}: a name for each of {layers} layers, of {', '.join(MASKS)}."
        )
    if any(type(span) is not int or not low <= span <= high for span in spans):
        raise DataError(f"The spans of the masks are {short(str(spans))}: whole numbers from {low} to {high:,}.")
    return tuple(zip(names, spans, strict=True))


def unused_sentence(arrays: Arrays) -> str:
    """Returns a sentence with the names of what is not used; "" if everything is."""
    alone = len(arrays.arrays) == 1
    names = [name for name in arrays.arrays if not tensor_roles.of(name, alone)[0]]
    names = [] if len(names) == len(arrays.arrays) else names  # layers whose names are numbers
    names += [name for name in arrays.texts if not _lists(name)]
    names += [name for name in arrays.said if name not in KNOWN | SILENT]
    names += arrays.unknown
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"Not used: {', '.join(map(short, names[:NAMED]))}{more}." if names else ""


def _lists(name: str) -> bool:
    return any(word in name.casefold() for word in TEXTS)


def _text(arrays: Arrays, name: str) -> str:
    found = decode_json(arrays.said.get(name, ""))
    return legible(found)[:TEXT] if isinstance(found, str) and found.strip() else ""

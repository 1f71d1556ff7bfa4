"""`attention.compare(…)`: two sets of weights compared, layer by layer, as numbers, as a table and as one HTML file."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from attention.charts import theme
from attention.comparison.head_changes import Changes, columns, compare_sides, pair_name, sentence
from attention.comparison.nearest_heads import nearest_heads
from attention.comparison.pooling import pool_differences
from attention.comparison.sides import Side, are_distributions, why_not_comparable
from attention.config import Config
from attention.imported import detect
from attention.imported.layer_weights import layer
from attention.imported.reading import read_stack
from attention.imported.reading_knobs import Reading
from attention.imported.stack import Stack
from attention.knobs import LINEAR_MAX_TOKENS
from attention.notebook.inputs import SPAN, Told, stacks_of
from attention.notebook.page import page
from attention.notebook.picture import Picture, messages, picture_side, stack_numbers
from attention.number_format import format_mean
from attention.operations.softmax import SOFTMAXES
from attention.sources.providers import has_scores
from attention.trace import Trace, trace
from attention.wire.cells import WIDEST
from attention.wire.difference_cells import MASKED_ONCE, difference_payload

LARGEST = 3  # heads of all layers that are named
DIFFERENCE, A, B = "B − A", "A", "B"  # parts of the file


@dataclass(frozen=True, eq=False)
class Compared:
    """Two sides compared. `a` and `b` are their stacks; `layers` has the changes of each pair of layers, of A and of B.

    `table` has a line per layer and head; `print` shows what changed most in each layer.
    """

    a: Stack
    b: Stack
    layers: dict[tuple[int, int], Changes]
    title: str = ""

    def __repr__(self) -> str:
        lines = [f"{_layer_name(pair)}: {sentence(found)}" for pair, found in self.layers.items()]
        return "\n".join(["Compared: B minus A", *self._largest(), *lines])

    def _largest(self) -> list[str]:
        """The heads of all layers that changed most, in a line; none if there is one layer."""
        means = [
            (mean, f"layer {_layer_label(pair)} head {pair_name(heads)} {format_mean(mean)}")
            for pair, found in self.layers.items()
            for heads, mean in zip(found.heads, found.mean(found.measure), strict=True)
        ]
        changed = sorted((each for each in means if each[0]), key=lambda each: -each[0])
        if len(self.layers) == 1 or not changed:
            return []
        named = ", ".join(name for _, name in changed[:LARGEST])
        return [f"{len(changed)} of {len(means)} heads changed, most of all {named}."]

    @property
    def table(self) -> Any:
        """The numbers of every head as a pandas DataFrame, the largest change of each layer first.

        `head` is a number, or a text such as `3 of B against 1 of A` if any two heads of different numbers are compared.
        """
        import pandas as pd

        parts = [pd.DataFrame({"layer": _layer_label(pair)} | columns(found)) for pair, found in self.layers.items()]
        table = pd.concat(parts, ignore_index=True)
        numbers = all(a == b for found in self.layers.values() for a, b in found.heads)
        return table.astype({"head": int}) if numbers else table

    def html(self, path: str | Path) -> Path:
        """Writes the maps of B minus A, of A and of B as one HTML file; returns its path."""
        path = Path(path)
        path.write_text(page(compared_picture(self)), encoding="utf-8")
        return path


def compare(
    a: Any,
    b: Any,
    *,
    tokens: Sequence[str] | str = (),
    keys: Sequence[str] | str = (),
    mask: Any = None,
    span: int = SPAN,
    batch: int = 0,
    axes: str = "",
    title: str = "",
    layers: Sequence[tuple[int, int]] | None = None,
    heads: Sequence[tuple[int, int]] | Literal["nearest"] | None = None,
) -> Compared:
    """Compares two sets of weights, head by head: B minus A.

        found = attention.compare(before, after, tokens=tokens)         # two attention.watch(model)
        print(found)                                                    # the head of each layer that changed most
        found.table                                                     # every head as a DataFrame
        found.html("compared.html")                                     # B − A, A and B in one file

    Each side is a `Config`, a `Trace`, a watched model, the path of a file that `watch(...).save` wrote or that *Your data*
    opens, or weights as `show` takes them; the other arguments are those of
    `show` and apply to both sides. `layers` and `heads`: pairs of numbers to compare, of A and of B; by default equal
    numbers. `heads="nearest"` pairs each head of B with the one of A at the smallest Jensen-Shannon distance, as for two models
    that were trained apart. Tokens are compared by their position. Raises ValueError for sides of different lengths.

    >>> found = attention.compare(attention.Config(scale="none"), attention.Config())
    >>> print(found)
    Compared: B minus A
    Layer 0: Head 7 changed most: total variation 0.510 per row (0.457 to 0.645, 18 rows).
    """
    told = {"tokens": tokens, "keys": keys, "mask": mask, "span": span, "batch": batch, "axes": axes}
    one, two = (_stack_of(side, name, told) for side, name in ((a, A), (b, B)))
    pairs = list(layers) if layers is not None else _same_layers(one, two)
    found = {}
    for pair in pairs:
        sides = _sides(one, two, pair)
        found[pair] = compare_sides(*sides, nearest_heads(*sides) if heads == "nearest" else heads)
    return Compared(one, two, found, title or f"{B} minus {A}: {two.title}")


def _stack_of(given: Any, name: str, told: dict[str, Any]) -> Stack:
    """The stack of one side; raises ValueError if it has several parts, or if a file can't be read."""
    if isinstance(given, (str, Path)):
        return read_stack(detect.arrays(Path(given).read_bytes(), Path(given).name), {}, Reading()).stack
    found = trace(given) if isinstance(given, Config) else given
    if isinstance(found, Trace):
        return Stack(
            f"Side {name}",
            found.provenance,
            found.queries.texts,
            found.keys.texts,
            weights=found.weights[None],
            v=found.v[None] if "v" in found.has else None,
            square=found.mask,
            own={"softmax": found.config.softmax} if has_scores(found.config.source) else {},
        )
    parts = stacks_of(found, None, None, Told(**told))
    if len(parts) > 1:
        raise ValueError(
            f"{name} has several parts: {', '.join(parts)}. Compare them one by one, as attention.show names them."
        )
    return next(iter(parts.values()))


def _same_layers(a: Stack, b: Stack) -> list[tuple[int, int]]:
    """The layers that both sides have; two single layers are compared whatever their numbers."""
    of_a, of_b = stack_numbers(a), stack_numbers(b)
    if len(of_a) == len(of_b) == 1:
        return [(of_a[0], of_b[0])]
    both = [number for number in of_a if number in of_b]
    if not both:
        raise ValueError(
            f"A has the layers {of_a}, B has {of_b}. layers=[(3, 30)] compares layers of different numbers."
        )
    return [(number, number) for number in both]


def _sides(a: Stack, b: Stack, pair: tuple[int, int]) -> tuple[Side, Side]:
    """Both sides of a pair of layers; raises ValueError if they have no difference."""
    one, two = (_side(stack, number, name) for stack, number, name in zip((a, b), pair, (A, B), strict=True))
    if why := why_not_comparable(one.size, two.size):
        raise ValueError(why)
    return one, two


def _side(stack: Stack, number: int, name: str) -> Side:
    """A layer of a stack as a side; raises ValueError if it has no such layer."""
    known = stack_numbers(stack)
    if number not in known:
        raise ValueError(f"{name} has no layer {number}; it has {', '.join(map(str, known))}.")
    at = known.index(number)
    weights, mask = layer(stack, at)
    context = None
    if stack.v is not None:
        context = weights @ stack.v[at].float().repeat_interleave(len(weights) // stack.v.shape[1], 0)
    whole = SOFTMAXES[stack.own.get("softmax", "standard")].distributes  # rows of a sigmoid may sum to one by chance
    return Side(weights, mask, context, whole and are_distributions(weights))


def compared_picture(found: Compared) -> Picture:
    """The picture of a comparison: B minus A for each pair of layers, then both sides."""
    side = picture_side([found.a, found.b, found.a, found.b])  # a difference takes as much as both sides
    drawn = [_difference(found, pair, side) for pair in found.layers]
    parts = [
        {"name": DIFFERENCE, "what": _what(found), "layers": [_layer_label(pair) for pair in found.layers], "note": ""}
    ]
    for name, stack in ((A, found.a), (B, found.b)):
        drawn += messages(stack, side, name)
        parts.append({"name": name, "what": stack.what, "layers": stack_numbers(stack), "note": ""})
    return Picture({"title": found.title, "parts": parts}, tuple(gzip.compress(data, 6, mtime=0) for data in drawn))


def _difference(found: Compared, pair: tuple[int, int], side: int) -> bytes:
    """The message of a pair of layers."""
    a, b = _sides(found.a, found.b, pair)
    heads = found.layers[pair].heads
    cells = pool_differences(a.of_heads([one for one, _ in heads]), b.of_heads([two for _, two in heads]), side)
    named, crossed = cells.tile <= WIDEST, found.b.keys != found.b.queries
    about = theme.grid_header(
        f"layers {pair}",
        0,
        cells.queries - 1,
        "root" if max(cells.queries, cells.keys) <= LINEAR_MAX_TOKENS else "log",
        why=MASKED_ONCE,
        tokens=list(found.b.queries) if named else [],
        key_tokens=list(found.b.keys) if named and crossed else None,
        names=[],
        certain=len(heads),
        address=None,
    )
    return difference_payload(about | theme.difference_look(), cells)


def _what(found: Compared) -> str:
    """What changed most in each layer, in sentences."""
    return " ".join(f"{_layer_name(pair)}: {sentence(changes)}" for pair, changes in found.layers.items())


def _layer_name(pair: tuple[int, int]) -> str:
    return f"Layer {_layer_label(pair)}"


def _layer_label(pair: tuple[int, int]) -> int | str:
    return pair[0] if pair[0] == pair[1] else f"{pair[1]} of B against {pair[0]} of A"

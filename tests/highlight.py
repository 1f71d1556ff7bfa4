"""Which cells a cell was computed from, back to the tokens and the parameters.

A cell comes from those cells that its value depends on. What is multiplied by the zero of a hidden pair does not count,
and a hidden pair comes from the mask alone. `RULES` says it for one step, from a box of cells to boxes of its source;
the browser has the same rules (components/browser/matrices_highlight.js), and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from jaxtyping import Bool
from torch import Tensor

from attention.config import Config
from attention.steps.plan import steps
from attention.steps.step import Step
from attention.steps.values import pairs


@dataclass(frozen=True)
class Box:
    """Cells of a matrix: these rows and columns of these heads; a matrix that is of no head has the one head 0."""

    heads: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def __contains__(self, box: Box) -> bool:
        parts = ("heads", "rows", "columns")
        return all(set(getattr(box, part)) <= set(getattr(self, part)) for part in parts)

    def __bool__(self) -> bool:
        return bool(self.heads and self.rows and self.columns)


@dataclass(frozen=True)
class Around:
    """What a rule needs: both matrices, how many heads share a key, the visible pairs, and the number of rotated pairs."""

    step: Step
    source: Step
    repeats: int
    mask: Bool[Tensor, "q k"]
    turned: int

    @property
    def rows(self) -> tuple[int, ...]:
        """Every row of the source."""
        return tuple(range(self.source.shape[-2]))

    @property
    def columns(self) -> tuple[int, ...]:
        """Every column of the source."""
        return tuple(range(self.source.shape[-1]))

    def visible_keys(self, row: int) -> tuple[int, ...]:
        """The keys that a query sees."""
        return tuple(self.mask[row].nonzero()[:, 0].tolist())

    def kv_heads_of(self, heads: tuple[int, ...]) -> tuple[int, ...]:
        """The heads of keys and values that these heads use."""
        return tuple(sorted({head // self.repeats for head in heads}))


def highlighted_cells(config: Config, name: str, row: int, column: int, head: int = 0) -> dict[str, tuple[Box, ...]]:
    """The cells of every earlier matrix that a cell of the step `name` was computed from.

    `head` counts among the heads of that matrix (0 where it has none). Raises KeyError for a step that the settings
    don't have, IndexError for a cell that it has not.
    """
    plan = {step.name: step for step in steps(config)}
    if not all(0 <= at < size for at, size in zip((head, row, column), _cube(plan[name]), strict=True)):
        raise IndexError(
            f"{name} has no cell ({head}, {row}, {column}); heads, rows and columns are {_cube(plan[name])}."
        )
    mask, repeats = pairs(config), config.heads // config.n_kv_heads
    turned = int(config.score_width * config.rotary_fraction + 1e-9) // 2
    found: dict[str, list[Box]] = {name: [Box((head,), (row,), (column,))]}
    for step in reversed(plan.values()):
        for source in step.sources:
            around = Around(step, plan[source.name], repeats, mask, turned)
            for box in found.get(step.name, []):
                new = [box for box in RULES[source.rule](box, around) if box]
                found.setdefault(source.name, []).extend(new)
    return {step: outermost(boxes) for step, boxes in found.items() if boxes and step != name}


def outermost(boxes: list[Box]) -> tuple[Box, ...]:
    """The boxes that lie in no other of them."""
    different = tuple(dict.fromkeys(boxes))
    return tuple(box for box in different if not any(box in other for other in different if other != box))


def _cube(step: Step) -> tuple[int, ...]:
    return step.shape if step.by_head else (1, *step.shape)


def same(box: Box, around: Around) -> list[Box]:
    """The cells at the same place."""
    return [box]


def left_factor(box: Box, around: Around) -> list[Box]:
    """The left factor of a product: whole rows."""
    return [replace(box, columns=around.columns)]


def right(box: Box, around: Around) -> list[Box]:
    """The right factor of a product: whole columns."""
    return [replace(box, rows=around.rows)]


def keys(box: Box, around: Around) -> list[Box]:
    """The key of each column, which is a row; heads may share it."""
    return [Box(around.kv_heads_of(box.heads), box.columns, around.columns)]


def split(box: Box, around: Around) -> list[Box]:
    """The columns of these heads, in the matrix that has them side by side."""
    width = around.step.shape[-1]
    return [Box((0,), box.rows, tuple(head * width + column for head in box.heads for column in box.columns))]


def first_half(box: Box, around: Around, half: int = 0) -> list[Box]:
    """The columns of the first half of these heads, in the matrix that has all halves side by side."""
    width = around.step.shape[-1]
    return [Box((0,), box.rows, tuple((2 * h + half) * width + c for h in box.heads for c in box.columns))]


def second_half(box: Box, around: Around) -> list[Box]:
    """The columns of the second half of these heads."""
    return first_half(box, around, 1)


def source_heads(box: Box, around: Around) -> list[Box]:
    """The head that each column comes from."""
    width = around.source.shape[-1]
    heads = sorted({column // width for column in box.columns})
    return [Box((h,), box.rows, tuple(c - h * width for c in box.columns if c // width == h)) for h in heads]


def pairs_of_channels(box: Box, around: Around) -> list[Box]:
    """Both channels of the pair that was turned; position 0 is not turned, nor are channels beyond the pairs."""
    half = around.turned
    partners = {c + half if c < half else c - half for c in box.columns if c < 2 * half}
    both = tuple(sorted({*box.columns, *partners}))
    return [Box(box.heads, (row,), both if row else box.columns) for row in box.rows]


def between(box: Box, around: Around) -> list[Box]:
    """The tokens after the key up to the query, or after the query up to the key, in a matrix with a column per head."""
    ends = ((min(q, *box.columns), max(q, *box.columns)) for q in box.rows)
    return [Box((0,), tuple(range(first + 1, last + 1)), box.heads) for first, last in ends]


def visible_cells(box: Box, around: Around) -> list[Box]:
    """The same cells, where the mask lets them through."""
    return [Box(box.heads, (q,), tuple(k for k in box.columns if around.mask[q, k])) for q in box.rows]


def shared_cells(box: Box, around: Around) -> list[Box]:
    """The cells at the same place in a matrix that all heads share."""
    return [replace(box, heads=(0,))]


def softmax(box: Box, around: Around) -> list[Box]:
    """Every key that the query sees; a hidden pair is zero by itself."""
    found = []
    for q in box.rows:
        visible = around.visible_keys(q)
        hidden = tuple(k for k in box.columns if k not in visible)
        found += [Box(box.heads, (q,), hidden), Box(box.heads, (q,), visible if len(hidden) < len(box.columns) else ())]
    return found


def seen_row(box: Box, around: Around) -> list[Box]:
    """The weights of the keys that the query sees."""
    return [Box(box.heads, (q,), around.visible_keys(q)) for q in box.rows]


def seen_values(box: Box, around: Around) -> list[Box]:
    """The values of the keys that the query sees; heads may share them."""
    return [Box(around.kv_heads_of(box.heads), around.visible_keys(q), box.columns) for q in box.rows]


RULES: dict[str, Callable[[Box, Around], list[Box]]] = {
    "same": same,
    "left": left_factor,
    "right": right,
    "keys": keys,
    "split": split,
    "first half": first_half,
    "second half": second_half,
    "joined": source_heads,
    "pairs": pairs_of_channels,
    "between": between,
    "seen": visible_cells,
    "shared": shared_cells,
    "softmax": softmax,
    "seen row": seen_row,
    "seen values": seen_values,
}

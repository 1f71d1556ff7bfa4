"""Finds the axes of an array from its shape and its numbers; the user can choose others.

Letters: `l` layers, `b` sequences of a batch, `h` heads, `q` queries, `k` keys, `n` tokens, `d` channels of a head.
"""

from __future__ import annotations

from torch import Tensor

from attention.array_files.limits import DataError

AUTO = "auto"
NAMES = {"l": "layers", "b": "sequences", "h": "heads", "q": "queries", "k": "keys", "n": "tokens", "d": "channels"}
WEIGHTS = (
    "q k",
    "k q",
    "h q k",
    "h k q",
    "l q k",
    "b q k",
    "l h q k",
    "b h q k",
    "h l q k",
    "l b q k",
    "b q h k",
    "l q h k",
    "b h k q",
    "l h k q",
    "l b h q k",
    "b l h q k",
)
VECTORS = (
    "n d",
    "h n d",
    "n h d",
    "l n d",
    "l h n d",
    "l n h d",
    "b h n d",
    "b n h d",
    "l b h n d",
    "l b n h d",
    "b l h n d",
)
ONE = 0.02  # largest deviation of a row sum from one when the axis of keys is guessed


def weights(shape: tuple[int, ...], square: Tensor | None, named: bool) -> str:
    """Returns the axes of weights by shape and first matrix; `named`: whether layers have arrays of their own."""
    axes = len(shape)
    if not 2 <= axes <= 5:
        raise DataError(f"Weights need 2 axes (queries, keys) to 5 (with layers, sequences, heads); these have {axes}.")
    usual = {2: "q k", 3: "h q k", 4: "b h q k" if named or shape[0] == 1 else "l h q k", 5: "l b h q k"}[axes]
    if square is None or sums(square, -1) or not sums(square, -2):
        return usual
    turned = f"{usual[:-3]}k q"
    return turned if turned in WEIGHTS else usual


def vectors(shape: tuple[int, ...], pair: tuple[tuple[int, ...], ...], named: bool, tokens: int) -> str:
    """Returns the axes of queries, keys or values by shape, the shapes of queries and keys, and the number of tokens
    (0: unknown).
    """
    axes = len(shape)
    if not 2 <= axes <= 5:
        raise DataError(
            f"Queries need 2 axes (tokens, channels) to 5 (with layers, sequences, heads); these have {axes}."
        )
    if axes == 2:
        return "n d"
    first = {3: "", 4: "b " if named or shape[0] == 1 else "l ", 5: "l b "}[axes]
    one, two = shape[-3], shape[-2]
    swapped = tokens == one != two if tokens in (one, two) else _tokens_first(pair)
    return first + ("n h d" if swapped else "h n d")


def _tokens_first(pair: tuple[tuple[int, ...], ...]) -> bool:
    """Whether tokens come before heads: known if heads of keys are fewer and divide those of queries, and tokens are more."""
    if len(pair) < 2 or any(len(shape) < 3 for shape in pair):
        return False
    (one, two), (other, fewer) = (shape[-3:-1] for shape in pair)
    return one == other > two > fewer > 0 and two % fewer == 0


def choose_axes(asked: str, guessed: str, axes: int) -> tuple[str, str]:
    """Returns the requested axes if the array has as many, else the guessed ones and a sentence that says so."""
    if asked == AUTO:
        return guessed, ""
    if len(asked.split()) == axes:
        return asked, ""
    return guessed, f"Axes {asked} are {len(asked.split())}; the array has {axes}. It is read as {guessed}."


def describe_axes(axes: str, shape: tuple[int, ...]) -> str:
    """Returns the axes of an array with their sizes, for example `12 heads × 9 queries × 9 keys`."""
    return " × ".join(f"{size:,} {NAMES[letter]}" for letter, size in zip(axes.split(), shape, strict=True))


def arrange_axes(part: Tensor, axes: str, item: int, order: str) -> Tensor:
    """Returns one sequence of an array with its axes in an order; missing axes have size one."""
    letters = axes.split()
    if "b" in letters:
        at = letters.index("b")
        if item >= part.shape[at]:
            raise DataError(f"There is no sequence {item} among {part.shape[at]} (counted from 0).")
        part = part.select(at, item)
        letters.remove("b")
    wanted = order.split()
    part = part.permute([letters.index(letter) for letter in wanted if letter in letters])
    for at, letter in enumerate(wanted):
        if letter not in letters:
            part = part.unsqueeze(at)
    return part


def sums(square: Tensor, axis: int) -> bool:
    """Whether numbers along an axis sum to one; rows that are all zero or all NaN are skipped, unless there are no others."""
    square = square.float()
    sums, empty = square.sum(axis), (square == 0).all(axis) | square.isnan().all(axis)
    return bool((((sums - 1).abs() < ONE) | empty).all()) and not bool(empty.all())

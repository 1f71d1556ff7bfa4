"""Tasks that a small model learns with attention: sequences, the expected next tokens, and the keys that determine them.

A task draws sequences `ids (b n+1)` of integers below `VOCABULARY`; the model reads the first n and predicts the next token at
every position. `counted (b n)`: the positions at which it can be known; loss and accuracy use only these. `told (b n n)`: for
such a position (a query), the keys from which it is known; a head that attends to them does the task's work.

To add a task, write a function that draws its sequences, and add its `Task` to `TASKS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Generator, Tensor

VOCABULARY = 32
GUESS = math.log(VOCABULARY)  # loss in nats of a uniform guess
MARK = VOCABULARY - 1  # separates the given tokens from the expected ones
LEAST = 8  # number of tokens of the shortest period
KINDS = 4  # number of kinds of brackets, and of colours
LETTERS = (*"abcdefghijklmnopqrstuvwxyz", *"αβγδε", "→")
NUMERALS = (*map(str, range(MARK)), "→")
BRACKETS = (*"([{<", *")]}>", *("·" for _ in range(VOCABULARY - 2 * KINDS)))
COLOURS = ("red", "blue", "green", "gold", *("·" for _ in range(MARK - KINDS)), "→")


class Drawn(NamedTuple):
    """Sequences: their tokens, the positions that count, and the keys that determine the next token."""

    ids: Int[Tensor, "b m"]
    counted: Bool[Tensor, "b n"]
    told: Bool[Tensor, "b n n"]


class Task(NamedTuple):
    """A task and its properties.

    `tokens`: how many tokens the model reads; `texts`: the texts of the vocabulary; `layers`, `steps`, `positions`: values
    that suffice for the task. `says`: what is to be done; `heads`: the pattern of its heads, and why one layer is or is not
    enough; `told`: which keys determine the answer; `before`: the metric of a head in layer 0 that has to grow first, if any.
    """

    draw: Callable[[int, int, Generator], Drawn]
    tokens: int
    texts: tuple[str, ...]
    layers: int
    steps: int
    positions: str
    says: str
    heads: str
    told: str
    before: str = ""


def induction(count: int, n: int, random: Generator) -> Drawn:
    """Draws random tokens that repeat after a hidden period, of 8 tokens to half of the sequence."""
    periods = torch.randint(LEAST, n // 2 + 1, (count, 1), generator=random)
    at = torch.arange(n + 1)
    ids = torch.randint(MARK, (count, n + 1), generator=random).gather(1, at % periods)
    query, key = at[:n, None], at[None, :n]
    back = query - key + 1  # from the token after the query to the key: whole periods if the key determines it
    whole = periods[:, :, None]
    return Drawn(ids, at[:n] >= periods, (back % whole == 0) & (back > 0) & (key <= query) & (query >= whole))


def reverse(count: int, n: int, random: Generator) -> Drawn:
    """Draws random tokens, a mark, and the same tokens in reverse order."""
    m = n // 2
    given = torch.randint(MARK, (count, m), generator=random)
    at = torch.arange(m)
    told = torch.zeros(count, n, n, dtype=torch.bool)
    told[:, m + at, m - 1 - at] = True
    return Drawn(torch.cat([given, _marks(count), given.flip(1)], 1), _after(count, n, m), told)


def sort(count: int, n: int, random: Generator) -> Drawn:
    """Draws distinct tokens, a mark, and the same tokens in ascending order."""
    m = n // 2
    given = torch.rand(count, MARK, generator=random, dtype=torch.float32).argsort(1)[:, :m]
    ordered, places = given.sort(1)
    told = torch.zeros(count, n, n, dtype=torch.bool)
    told[torch.arange(count)[:, None], m + torch.arange(m), places] = True
    return Drawn(torch.cat([given, _marks(count), ordered], 1), _after(count, n, m), told)


def brackets(count: int, n: int, random: Generator) -> Drawn:
    """Draws balanced brackets of four kinds; the kind of each closing bracket is to be predicted."""
    opens = torch.rand(count, n + 1, generator=random, dtype=torch.float32) < 0.5
    kinds = torch.randint(KINDS, (count, n + 1), generator=random)
    ids, rows = torch.empty(count, n + 1, dtype=torch.long), torch.arange(count)
    partner = torch.zeros(count, n + 1, dtype=torch.long)
    stack, depth = torch.zeros(count, n + 2, dtype=torch.long), torch.zeros(count, dtype=torch.long)
    for at in range(n + 1):
        opens[:, at] |= depth == 0
        opening, last = opens[:, at], stack[rows, (depth - 1).clamp(min=0)]
        partner[:, at] = last
        ids[:, at] = torch.where(opening, kinds[:, at], ids[rows, last] % KINDS + KINDS)
        stack[rows, depth] = torch.where(opening, torch.full_like(last, at), stack[rows, depth])
        depth += torch.where(opening, 1, -1)
    closes = ~opens[:, 1:]
    told = closes[:, :, None] & (partner[:, 1:, None] == torch.arange(n))
    return Drawn(ids, closes, told)


def majority(count: int, n: int, random: Generator) -> Drawn:
    """Draws tokens of four colours and a mark; the most frequent colour is to be predicted."""
    m = n - 1
    most = torch.randint(KINDS, (count, 1), generator=random)
    shares = torch.rand(count, KINDS, generator=random, dtype=torch.float32).scatter(1, most, 1.5)
    given = torch.multinomial(shares, m, replacement=True, generator=random)
    counts = torch.stack([(given == kind).sum(1) for kind in range(KINDS)], 1)
    best = counts.argmax(1, keepdim=True)
    ties = (counts == counts.gather(1, best)).sum(1, keepdim=True) > 1
    changed = (given != best).long().argmax(1, keepdim=True)  # breaks a tie: one token changes colour
    given = torch.where(ties, given.scatter(1, changed, best), given)
    told = torch.zeros(count, n, n, dtype=torch.bool)
    told[:, m] = torch.cat([given == best, torch.zeros(count, 1, dtype=torch.bool)], 1)
    return Drawn(torch.cat([given, _marks(count), best], 1), _after(count, n, m), told)


def _marks(count: int) -> Int[Tensor, "b 1"]:
    return torch.full((count, 1), MARK)


def _after(count: int, n: int, m: int) -> Bool[Tensor, "b n"]:
    """The positions from the mark on, which follows m tokens."""
    return (torch.arange(n) >= m).expand(count, n)


TASKS: dict[str, Task] = {
    "induction": Task(
        induction,
        40,
        LETTERS,
        2,
        1000,
        "rotary",
        "Random letters begin again after a while, nobody says when. Once they do, each letter tells which one comes next.",
        "Two heads that need each other. One of layer 0, which reads the letters, learns to look one token back, so that each place "
        "says what stood before it. With that, an induction head of layer 1 finds the place behind an earlier copy of its own letter: "
        "what stands there comes next. One layer is not enough: no place says yet what stood before it.",
        "what stands behind earlier copies of a letter",
        "previous",
    ),
    "reverse": Task(
        reverse,
        24,
        LETTERS,
        1,
        800,
        "sinusoidal",
        "Random letters, a mark, and the same letters backwards.",
        "Heads draw a line against the diagonal: the farther the answer has come, the farther back they look. One layer is enough: "
        "where to look follows from the place alone, which is added to the tokens here. Rotary positions tell distances only, and "
        "one layer can't learn this with them: try it.",
        "the letter that stands as far before the mark as the answer behind it",
    ),
    "sort": Task(
        sort,
        24,
        NUMERALS,
        1,
        1500,
        "rotary",
        "Different numbers, a mark, and the same numbers in their order.",
        "Heads look from each number of the answer to the next greater one among those that were given, wherever it stands. One layer "
        "is enough: what to look for follows from the number that was said last.",
        "the number that comes next in order",
    ),
    "brackets": Task(
        brackets,
        32,
        BRACKETS,
        2,
        600,
        "rotary",
        "Brackets of four kinds open and close. Where one closes: of which kind is it?",
        "Heads of layer 0 look broadly at what has opened and closed, which tells how deep each place is; those of layer 1 "
        "look for the last bracket that is still open at that depth. One layer sees what is open nearby and often errs.",
        "the bracket that closes next",
    ),
    "majority": Task(
        majority,
        32,
        COLOURS,
        1,
        400,
        "rotary",
        "Four colours, a mark: which colour stood there most often?",
        "Nothing has to be found here, so no head gets sharp: from the mark, heads look at all tokens nearly alike, and the sum of "
        "their values is a count. One layer is enough, and even one head.",
        "the most frequent colour",
    ),
}

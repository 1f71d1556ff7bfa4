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
MARK = VOCABULARY - 1  # the separator between the given tokens and the expected ones
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
    that suffice for the task. `counts`: what is predicted, in the plural. `says`: what is to be done; `heads`: the pattern of its heads, and why one layer is or is not
    enough; `told`: which keys determine the answer; `before`: the metric of a head in layer 0 that has to grow first, if any.
    """

    draw: Callable[[int, int, Generator], Drawn]
    tokens: int
    texts: tuple[str, ...]
    layers: int
    steps: int
    positions: str
    counts: str
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
        "repeated letters",
        "Predict the next letter: random Latin and Greek letters repeat after an unknown gap.",
        "Two kinds of heads, the second of which depends on the first. With default settings, two heads of layer 0 attend mostly to "
        "the previous token, so that each position holds the letter before it. With that, all four heads of layer 1 become induction "
        "heads: they attend to the position after an earlier copy of the current letter; the letter there comes next. The four share "
        "the work: without any one of them, the others still predict over 96% correctly. One layer is not enough, because no position "
        "holds its previous letter yet.",
        "the letters after earlier copies of the current one",
        "previous",
    ),
    "reverse": Task(
        reverse,
        24,
        LETTERS,
        1,
        800,
        "sinusoidal",
        "letters of the answer",
        "Random Latin and Greek letters, a separator (→), and the same letters in reverse order.",
        "Heads form a line across the diagonal: the further the answer has come, the further back they attend. One layer is enough, "
        "because the key follows from the position alone, which is added to the tokens here. Rotary positions encode only distances, "
        "and one layer can't learn the task with them: try it.",
        "the letter as far before the separator as the answer is after it",
    ),
    "sort": Task(
        sort,
        24,
        NUMERALS,
        1,
        1500,
        "rotary",
        "numbers of the answer",
        "Distinct numbers, a separator (→), and the same numbers in ascending order.",
        "At each number of the answer, heads attend to the next larger number before the separator, wherever it is. One layer is "
        "enough, because the current number determines which one to look for.",
        "the number that comes next in order",
    ),
    "brackets": Task(
        brackets,
        32,
        BRACKETS,
        2,
        600,
        "rotary",
        "closing brackets",
        "Brackets of four kinds open and close. Of which kind is each closing bracket?",
        "Heads of layer 0 attend broadly to all earlier brackets, which gives the nesting depth of each position. Heads of layer 1 "
        "attend to the last bracket that is still open at that depth. One layer finds what is open nearby and often errs.",
        "the bracket that closes next",
    ),
    "majority": Task(
        majority,
        32,
        COLOURS,
        1,
        400,
        "rotary",
        "most frequent colours",
        "Tokens of four colours and a separator (→). Which colour is the most frequent?",
        "Nothing has to be located, so no head becomes sharp: at the separator, heads attend almost evenly to all tokens, and the "
        "sum of their values is a count. One layer is enough, and even one head.",
        "tokens of the most frequent colour",
    ),
}

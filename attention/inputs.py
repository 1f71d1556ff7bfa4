"""Where x comes from: seeded noise, structured patterns, typed text.

Every function returns x (n c) of about unit variance from `(n, c, random, text)`, the same for the same seed on every
machine. To add one: write it, and put its name into `INPUTS`; the first line of its docstring is the help text.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from itertools import cycle, islice

import torch
from jaxtyping import Float
from torch import Generator, Tensor

CLUSTERS = 4
NEARNESS = 0.95  # how much of a random walk's step is kept from the step before
WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def seeded(seed: int) -> Generator:
    """A fresh source of random numbers on the CPU, so that one link is one picture."""
    return Generator().manual_seed(seed)


def noise(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """Every token is independent normal noise."""
    return torch.randn(n, c, generator=random)


def repeat(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """A random sequence, twice: the second half repeats the first."""
    half = torch.randn((n + 1) // 2, c, generator=random)
    return torch.cat([half, half])[:n]


def clusters(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """Four kinds of tokens in random order, alike within a kind."""
    centres = torch.randn(CLUSTERS, c, generator=random)
    kind = torch.randint(CLUSTERS, (n,), generator=random)
    return centres[kind] * 0.9 + torch.randn(n, c, generator=random) * 0.436


def walk(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """A random walk: a token is like its neighbours, less so with distance."""
    steps = torch.randn(n, c, generator=random)
    rest = (1 - NEARNESS**2) ** 0.5
    rows = [steps[0]]
    for step in steps[1:]:
        rows.append(NEARNESS * rows[-1] + rest * step)
    return torch.stack(rows)


def words(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """The text that you type, word by word; equal words get equal vectors."""
    return _embedded(tokens(n, text, "words"), c, random)


def characters(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """The text that you type, character by character; equal characters get equal vectors."""
    return _embedded(tokens(n, text, "characters"), c, random)


INPUTS: dict[str, Callable[[int, int, Generator, str], Float[Tensor, "n c"]]] = {
    "words": words,
    "characters": characters,
    "repeat": repeat,
    "clusters": clusters,
    "walk": walk,
    "noise": noise,
}
SPLIT: dict[str, Callable[[str], list[str]]] = {"words": WORD.findall, "characters": list}


def tokens(n: int, text: str, name: str) -> list[str]:
    """The n tokens of a text input, repeated from its start where the text is shorter; [] for other inputs."""
    return list(islice(cycle(SPLIT[name](text) or ["·"]), n)) if name in SPLIT else []


def _embedded(tokens: list[str], c: int, random: Generator) -> Float[Tensor, "n c"]:
    """One normal vector a distinct token (capital letters don't count), drawn from the token and the seed alone."""
    seed = random.initial_seed()
    kinds = dict.fromkeys(token.casefold() for token in tokens)
    table = {kind: torch.randn(c, generator=seeded(zlib.crc32(kind.encode(), seed))) for kind in kinds}
    return torch.stack([table[token.casefold()] for token in tokens])

"""Inputs x: seeded noise, structured patterns, typed text.

Every function returns x (n c) of about unit variance from `(n, c, random, text)`, the same for the same seed on every
machine. To add one, write it and add its name to `INPUTS`; the first line of its docstring is the help text.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice

import regex
import torch
from jaxtyping import Float
from torch import Generator, Tensor

CLUSTERS = 4
CLUSTER_PARTS = 0.9, 0.436  # the centre of a token's cluster, and noise; the variance of the sum is about 1
TOPIC_PARTS = 0.6, 0.8  # the topic of a token's document, and noise
SINK, SINK_FIRST = 0.5, 3  # shares of the common direction: in every token, and in the first
NEARNESS = 0.95  # share of the step before that a random walk's step keeps
STRETCH = 64  # tokens of a random walk that are computed at once
REFRAINS = 8
BEFORE = "words, and the word before"
DOCUMENTS = 12  # mean number of documents
normal = partial(torch.randn, dtype=torch.float32)  # whatever the default dtype: a link gives one picture
# User-perceived characters (UAX #29, extended grapheme clusters), and words of them; spaces end a word.
CLUSTER = regex.compile(r"\X")
_SIGN = r"(?:(?=[\p{L}\p{N}_])\X)"
WORD = regex.compile(rf"{_SIGN}+(?:['’]{_SIGN}+)*|(?=[^\s\x1c-\x1f])\X")


def make_generator(seed: int) -> Generator:
    """Returns a new random number generator on the CPU, so that a link always gives the same picture."""
    return Generator().manual_seed(seed)


def noise(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """Every token is independent normal noise."""
    return normal(n, c, generator=random)


def repeat(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """A random sequence, twice: the second half repeats the first."""
    half = normal((n + 1) // 2, c, generator=random)
    return torch.cat([half, half])[:n]


def clusters(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """Four kinds of tokens in random order, alike within a kind."""
    centres = normal(CLUSTERS, c, generator=random)
    kind = torch.randint(CLUSTERS, (n,), generator=random)
    centre, own = CLUSTER_PARTS
    return centres[kind] * centre + normal(n, c, generator=random) * own


def walk(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """A random walk: a token is like its neighbours, less so with distance."""
    steps = normal(n, c, generator=random) * (1 - NEARNESS**2) ** 0.5
    steps[0] /= (1 - NEARNESS**2) ** 0.5  # the first token has unit variance, too
    at = torch.arange(STRETCH, dtype=steps.dtype)
    ages = at[:, None] - at
    kept = (NEARNESS**ages).tril()  # share of each step in each token of a stretch
    for start in range(0, n, STRETCH):
        stretch = steps[start : start + STRETCH]
        if start:
            stretch[0] += NEARNESS * steps[start - 1]
        stretch.copy_(kept[: len(stretch), : len(stretch)] @ stretch)
    return steps


def refrain(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """A random sequence, eight times over: diagonals an eighth of the length apart."""
    period = -(-n // REFRAINS)
    return normal(period, c, generator=random).repeat(REFRAINS, 1)[:n]


def topics(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """Documents of different lengths one after the other; the tokens of a document share its topic."""
    begins = torch.rand(n, generator=random, dtype=torch.float32) < DOCUMENTS / n
    document = begins.cumsum(0)
    topic, own = TOPIC_PARTS
    subjects = topic * normal(int(document[-1]) + 1, c, generator=random)
    x = normal(n, c, generator=random)
    for part, about in zip(x.split(STRETCH), document.split(STRETCH), strict=True):  # in place: n may be large
        part.mul_(own).add_(subjects[about])
    return x


def sink(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """Noise in which all tokens share a direction and the first has most of it, so that it draws attention."""
    shared = normal(c, generator=random)
    x = SINK * shared + (1 - SINK**2) ** 0.5 * normal(n, c, generator=random)
    x[0] = SINK_FIRST * shared
    return x


def words(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """The text that you type, word by word; equal words get equal vectors."""
    return _embed_tokens(tokens(n, text, "words"), c, random)


def characters(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """The text that you type, character by character; equal characters get equal vectors."""
    return _embed_tokens(tokens(n, text, "characters"), c, random)


def words_and_before(n: int, c: int, random: Generator, text: str) -> Float[Tensor, "n c"]:
    """Words, and in the second half of the channels the word before, as a head of a layer below would write it there."""
    own = itself(BEFORE, c)
    found = words(n, own, random, text)
    before = torch.cat([found.new_zeros(1, own), found[:-1]])
    return torch.cat([found, before[:, : c - own]], 1)


INPUTS: dict[str, Callable[[int, int, Generator, str], Float[Tensor, "n c"]]] = {
    "words": words,
    "characters": characters,
    BEFORE: words_and_before,
    "repeat": repeat,
    "clusters": clusters,
    "walk": walk,
    "refrain": refrain,
    "topics": topics,
    "sink": sink,
    "noise": noise,
}
SPLIT: dict[str, Callable[[str], list[str]]] = {
    "words": WORD.findall,
    BEFORE: WORD.findall,
    "characters": CLUSTER.findall,
}


def itself(name: str, c: int) -> int:
    """Returns how many of c channels, the first ones, are the token itself: all, unless the input adds the token before."""
    return c - c // 2 if name == BEFORE else c


def tokens(n: int, text: str, name: str) -> list[str]:
    """Returns the n tokens of a text input, repeated from its start if the text is shorter; [] for other inputs."""
    return list(islice(cycle(SPLIT[name](text) or ["·"]), n)) if name in SPLIT else []


def backwards(text: str, name: str) -> str:
    """Returns the words or characters of the text in reverse order, as another sequence; for other inputs, the text."""
    return ("" if name == "characters" else " ").join(reversed(SPLIT[name](text))) if name in SPLIT else text


def _embed_tokens(tokens: list[str], c: int, random: Generator) -> Float[Tensor, "n c"]:
    """Returns one normal vector per token, equal for equal tokens (ignoring case), drawn from token and seed alone."""
    seed = random.initial_seed()
    words = [token.casefold() for token in tokens]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    table = [normal(c, generator=make_generator(zlib.crc32(word.encode(), seed))) for word in numbers]
    return torch.stack(table)[[numbers[word] for word in words]]

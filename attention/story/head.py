"""The head of the story: layer 0, head 4 of all-MiniLM-L6-v2, and what it adds to the vector of a word.

The head writes `W_O context` to the vector of a token, next to eleven others (Elhage et al. 2021, "A Mathematical Framework
for Transformer Circuits"). How close two words are is the cosine of their vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.array_files import numpy_file
from attention.config import Config
from attention.recorded.minilm import Bert
from attention.recorded.models import GOES_ON
from attention.recorded.shipped import recording
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.trace import trace

LAYER, HEAD = 0, 4
FILE = Path(__file__).with_name("story.npz")
LARGEST = 2**22  # bytes of all arrays
LONGEST = 15  # tokens of the longest sentence
OWN = "own"  # the sentence that the visitor has typed, in place of one of `SENTENCES`
COMPARED = 4  # words of the visitor's own sentence with which a token is compared
APOSTROPHES, ENDINGS = ("'", "’"), ("t", "s", "re", "ve", "ll", "d", "m")  # of contractions, which are several tokens
# fmt: off
FUNCTION_WORDS = frozenset((  # English ones
    "a", "an", "and", "are", "as", "at", "be", "because", "but", "by", "did", "do", "does", "for", "from", "had", "has",
    "have", "he", "her", "his", "i", "if", "in", "is", "it", "its", "me", "my", "not", "of", "on", "or", "our", "she", "so",
    "than", "that", "the", "their", "them", "then", "there", "they", "this", "to", "too", "very", "was", "we", "were", "what",
    "when", "which", "while", "who", "will", "with", "you", "your",
))
# fmt: on


@dataclass(frozen=True)
class Sentence:
    """A recorded sentence: its text, the word that the story is about, where the reader expects its largest weight, and the
    words whose vectors are compared with that of the selected token."""

    text: str
    recorded: str
    about: str
    expected: str
    compared: tuple[str, ...]

    @property
    def source(self) -> str:
        """The source that has all heads of it."""
        return f"recorded:{self.recorded}"

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its tokens, [CLS] first and [SEP] last."""
        return recording(self.recorded).tokens

    @property
    def word(self) -> int:
        """The position of the word that the story is about."""
        return self.tokens.index(self.about)


SENTENCES = {
    "river": Sentence("He sat on the bank of the river.", "minilm-river", "bank", "river", ("river", "sat")),
    "account": Sentence(
        "She opened an account at the bank in town to deposit money.",
        "minilm-account",
        "bank",
        "account",
        ("account", "deposit", "money"),
    ),
}

RIDDLE = {"tired": "minilm-street", "wide": "minilm-wide"}  # “The animal didn't cross the street because it was too …”


class Vectors(NamedTuple):
    """Vectors of the tokens of a sentence: those that the layer reads, the values of the head, and those after all layers."""

    read: Float[Tensor, "n c"]
    values: Float[Tensor, "n d"]
    after: Float[Tensor, "n c"]


class Move(NamedTuple):
    """The cosine of a token's vector to that of a word: before the head, after it alone, and after all layers of the model."""

    word: str
    sentence: str
    before: float
    head: float
    layers: float
    position: int | None = None  # if its sentence has the word twice

    @property
    def label(self) -> str:
        """The word, with its position if there is one."""
        return self.word if self.position is None else f"{self.word} ({self.position})"

    @property
    def name(self) -> str:
        """The label with the word in quotes."""
        return f"“{self.word}”{self.label.removeprefix(self.word)}"

    @property
    def change(self) -> float:
        """What the head alone adds to the cosine."""
        return self.head - self.before


def read_vectors(net: Bert, ids: Int[Tensor, "1 n"]) -> Vectors:
    """Returns the vectors of the tokens of a sentence, as MiniLM computes them."""
    states = net.hidden_states(ids)
    return Vectors(
        states[LAYER][0], net.layers[LAYER].attention.self.split("value", states[LAYER])[0, HEAD], states[-1][0]
    )


@tensor_lru_cache(1)
def _arrays() -> dict[str, Tensor]:
    found = numpy_file.read_many(FILE.read_bytes(), FILE.name, LARGEST).arrays
    return {name: array.tensor().float() for name, array in found.items()}


def vectors(sentence: str) -> Vectors:
    """Returns the vectors of a sentence."""
    return Vectors(*(_arrays()[f"{name}_{sentence}"] for name in Vectors._fields))


def output_projection() -> Float[Tensor, "c d"]:
    """Returns the columns of W_O that belong to this head."""
    return _arrays()["w_o"]


def moves(sentence: str, query: int, weights: Float[Tensor, " n"]) -> list[Move]:
    """Returns how a token moves towards the words of both sentences, given the weights of its row.

    Each word keeps the vector that it has in its own sentence: as the layer reads it, and after all layers. The token
    itself is left out.
    """
    here = vectors(sentence)
    moved = _after_head(here, query, weights)
    return [
        Move(word, name, *_cosines(here, query, moved, vectors(name), at))
        for name, other in SENTENCES.items()
        for word in other.compared
        if (name, at := other.tokens.index(word)) != (sentence, query)
    ]


def moves_within(here: Vectors, query: int, weights: Float[Tensor, " n"], tokens: Sequence[str]) -> list[Move]:
    """Returns how a token of any sentence moves towards other words of it, in their order.

    They are the visible ones with the two largest weights, and those with the largest weights among words that are not in
    `FUNCTION_WORDS`, which say more.
    """
    words = [
        at for at in range(len(tokens)) if _is_word(tokens, at) and tokens[at] != tokens[query] and weights[at] > 0
    ]
    equal = {
        tokens[at]: at for at in sorted(words, key=lambda at: weights[at].item())
    }  # of equal words, the largest weight
    ranked = sorted(equal.values(), key=lambda at: -weights[at].item())
    content = [at for at in ranked if tokens[at] not in FUNCTION_WORDS]
    compared = list(dict.fromkeys([*ranked[:2], *content]))[:COMPARED]
    moved = _after_head(here, query, weights)
    return [
        Move(tokens[at], OWN, *_cosines(here, query, moved, here, at), at if tokens.count(tokens[at]) > 1 else None)
        for at in sorted(compared)
    ]


def _after_head(here: Vectors, query: int, weights: Float[Tensor, " n"]) -> Float[Tensor, " c"]:
    """The vector of a token after the head alone, given the weights of its row."""
    return here.read[query] + output_projection() @ (weights @ here.values)


def _cosines(
    here: Vectors, query: int, moved: Float[Tensor, " c"], there: Vectors, at: int
) -> tuple[float, float, float]:
    """The cosines of a token of `here` to the word at a position of `there`: before the head, after it, after all layers."""
    pairs = (here.read[query], there.read[at]), (moved, there.read[at]), (here.after[query], there.after[at])
    before, head, layers = (torch.cosine_similarity(*pair, dim=0).item() for pair in pairs)
    return before, head, layers


class HeadCounts(NamedTuple):
    """How many heads of the model give the word its largest weight where the reader expects it.

    `found`: in both sentences; `here`: in each of them, by its name; `heads`: of how many.
    """

    found: int
    here: dict[str, int]
    heads: int


@cache
def heads_that_find() -> HeadCounts:
    """Returns how many heads do what the reader expects."""
    hits = {name: _largest_is_expected(sentence) for name, sentence in SENTENCES.items()}
    both = torch.stack([*hits.values()])
    return HeadCounts(int(both.all(0).sum()), {name: int(hit.sum()) for name, hit in hits.items()}, both.shape[1])


def _largest_is_expected(sentence: Sentence) -> Bool[Tensor, " h"]:
    """Returns for every head of the model whether the word gives its largest weight where the reader expects it."""
    layers = recording(sentence.recorded).shape.numbers
    rows = [trace(Config.of(sentence.source, layer=layer)).weights[:, sentence.word] for layer in layers]
    return torch.cat(rows).argmax(-1) == sentence.tokens.index(sentence.expected)


def strongest_pair(weights: Float[Tensor, "n n"], tokens: Sequence[str]) -> tuple[int, int] | None:
    """Returns the query and the key of the largest weight of a whole word on a different one; None if no two words differ.

    The first token is no such key: a decoder may put weight there that is meant for no token.
    """
    names, rows = [token.strip() for token in tokens], weights.tolist()
    words = [at for at in range(len(names)) if _is_word(names, at)]
    pairs = [(query, key) for query in words for key in words if key and names[query] != names[key]]
    return max(pairs, key=lambda pair: rows[pair[0]][pair[1]], default=None)


def _is_word(tokens: Sequence[str], at: int) -> bool:
    """Whether a token is a whole word: not [CLS], [SEP], punctuation or a part of a word, as of “didn't”."""
    before, (after, end) = "".join(tokens[max(0, at - 1) : at]), (*tokens[at + 1 : at + 3], "", "")[:2]
    is_ending = before in APOSTROPHES and tokens[at] in ENDINGS
    is_cut = after in APOSTROPHES and end == "t"
    return tokens[at].isalpha() and not (is_ending or is_cut or after.startswith(GOES_ON))


def riddle_source(name: str) -> str:
    """Returns the source of a sentence of `RIDDLE`."""
    return f"recorded:{RIDDLE[name]}"


def riddle_config(name: str) -> Config:
    """Returns the head that seems to know whom “it” means, on one sentence of `RIDDLE`, with the row of “it” selected."""
    return Config.of(riddle_source(name), layer=3, head=1, query=recording(RIDDLE[name]).tokens.index("it"))


@cache
def riddle_shares() -> dict[str, float]:
    """Returns what “it” gives to both nouns and to [CLS] in both sentences, by names such as `tired_animal`."""
    shares = {}
    for name in RIDDLE:
        config, tokens = riddle_config(name), recording(RIDDLE[name]).tokens
        row = trace(config).weights[config.head, config.query]
        shares |= {f"{name}_{token}": float(row[tokens.index(token)]) for token in ("animal", "street", "[CLS]")}
    return shares

"""What the tokens of a model are called, which of them are its own marks, and which make a word together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import regex

from attention.recorded.models import GOES_ON

# What a word is made of, where words have spaces between them; Chinese, Japanese, Thai, Lao, Khmer and Burmese have none.
LETTER = regex.compile(
    r"[[\p{L}\p{N}\p{M}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]", regex.V1
)
JOINTS = "'’-"  # within a word, not at its beginning


@dataclass(frozen=True)
class Labels:
    """The tokens of one side: their texts, which are marks of the model's own, and of each the number of its word."""

    texts: tuple[str, ...]
    special: tuple[bool, ...]
    words: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.texts)


def of_text(tokenizer: Any, ids: Sequence[int], gaps: Sequence[bool] | None = None) -> Labels:
    """Of the numbers of a text's tokens: each as it stands in the text, those that go on with a word with a mark before.

    `gaps`: before which there is a space in the text, where that is known; else it is what they say together.
    """
    own, texts, special, words = set(tokenizer.all_special_ids), [], [], []
    before, within = "", False
    for number, piece in zip(ids, spaced(pieces(tokenizer, ids), gaps), strict=True):
        mark, bare = number in own, piece.strip()
        joins = not mark and within and goes_on(before, piece)
        words.append(words[-1] if joins else words[-1] + 1 if words else 0)
        texts.append(GOES_ON + bare if joins else bare or piece)
        special.append(mark)
        last = piece[-1:]
        within = not mark and bool(LETTER.match(last) or (joins and last and last in JOINTS))
        before = piece
    return Labels(tuple(texts), tuple(special), tuple(words))


def spaced(pieces: list[str], gaps: Sequence[bool] | None) -> list[str]:
    """The same with a space before those of which it is known that there is one, and before no others."""
    if gaps is None:
        return pieces
    return [" " * gap + (piece.lstrip() or piece) for piece, gap in zip(pieces, gaps, strict=True)]


def goes_on(before: str, piece: str) -> bool:
    """Does a piece of text go on with a word that the one before it is in?"""
    first = piece[:1]
    return bool(before and first) and not before[-1].isspace() and bool(LETTER.match(first) or first in JOINTS)


def pieces(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """What each token adds to the text, its space included: what two say together, without what the first says alone."""
    alone = [tokenizer.decode([number], clean_up_tokenization_spaces=False) for number in ids]
    found = alone[:1]
    for (one, next), text, before in zip(pairwise(ids), alone[1:], alone, strict=False):
        both = tokenizer.decode([one, next], clean_up_tokenization_spaces=False)
        found.append(both[len(before) :] if both.startswith(before) and len(both) > len(before) else text)
    return found


def of_patches(tokens: int, rows: int, cols: int) -> Labels:
    """Of a picture in so many rows and columns of patches, counted from 1, after what marks the model puts before them."""
    marks = tokens - rows * cols
    names = ["[CLS]", *(f"[mark {number}]" for number in range(2, marks + 1))][:marks]
    names += [f"{row}, {col}" for row in range(1, rows + 1) for col in range(1, cols + 1)]
    return Labels(tuple(names), tuple(at < marks for at in range(tokens)), tuple(range(tokens)))


def named(labels: Labels, at: Sequence[int]) -> Labels:
    """Some of the tokens."""
    texts, special, words = labels.texts, labels.special, labels.words
    return Labels(tuple(texts[i] for i in at), tuple(special[i] for i in at), tuple(words[i] for i in at))

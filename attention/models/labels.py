"""What the tokens of a model are called, which of them are its own marks, and which make a word together.

A token may be a part of a character: some of its bytes, of a letter that the tokenizer does not know as a whole. Decoded alone
it is the replacement character. Which character it is part of follows from decoding it with the tokens after it; the offsets
that tokenizers give do not say it (one of SentencePiece with byte fallback gives the whole word for each byte).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import regex

from attention.inputs import CLUSTER
from attention.recorded.models import GOES_ON

# What a word is made of, where words have spaces between them; Chinese, Japanese, Thai, Lao, Khmer and Burmese have none.
LETTER = regex.compile(
    r"[[\p{L}\p{N}\p{M}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]", regex.V1
)
JOINTS = "'’-"  # within a word, not at its beginning
INVISIBLE = regex.compile(r"[\p{C}\p{Z}\p{Variation_Selector}]+")
BROKEN = "\ufffd"  # what bytes decode to that are no character
SPREAD = 16  # tokens at most over which the bytes of a run of characters are looked for


@dataclass(frozen=True)
class Labels:
    """The tokens of one side: their texts, which are marks of the model's own, and of each the number of its word.

    `adds`: what each token adds to the text of its word; of the tokens of one character, the first adds all of it.
    """

    texts: tuple[str, ...]
    special: tuple[bool, ...]
    words: tuple[int, ...]
    adds: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class Piece:
    """What a token adds to the text, its space included, and its name where that is not the same."""

    text: str
    name: str = ""

    @property
    def is_rest(self) -> bool:
        """Is it a part of a character that a token before it has begun?"""
        return bool(self.name) and not self.text

    @property
    def label(self) -> str:
        """The piece as it is shown, without the space before it."""
        return self.name or self.text.strip() or self.text or " "


class Place(NamedTuple):
    """Where a token begins in the text it was cut from: is there a space before it, and is it inside a character?"""

    gap: bool
    inside: bool


def places(spans: Sequence[tuple[int, int]], text: str, ends: int = 0) -> list[Place]:
    """The places of the tokens of one text, from what a tokenizer says of where they begin and end."""
    borders, found = {0, *(each.start() for each in CLUSTER.finditer(text))}, []
    for first, last in spans:
        gap = not ends or any(sign.isspace() for sign in text[ends : first + 1])
        found.append(Place(gap, bool(ends) and first not in borders))
        ends = max(last, ends)
    return found


def of_text(tokenizer: Any, ids: Sequence[int], known: Sequence[Place | None] = ()) -> Labels:
    """Of the numbers of a text's tokens: each as it stands in the text, those that go on with a word with a mark before.

    `known`: the place of each, where that is known; else spaces are those of what they say together.
    """
    own, texts, words, adds = set(tokenizer.all_special_ids), [], [], []
    special = tuple(number in own for number in ids)
    before, within, cluster = "", False, ""
    where = known or [None] * len(ids)
    for mark, piece, place in zip(special, add_spaces(pieces(tokenizer, ids, special), where), where, strict=True):
        inside = piece.is_rest or (place is not None and place.inside) or continues_cluster(cluster, piece.text)
        joins = not mark and bool(cluster) and (inside or (within and goes_on(before, piece.text)))
        words.append(words[-1] + (not joins) if words else 0)
        texts.append(GOES_ON * joins + piece.label)
        adds.append(piece.text.strip() or piece.text)
        if mark:
            before, within, cluster = piece.text, False, ""
        elif piece.text:
            last = piece.text[-1]
            within = bool(LETTER.match(last) or (joins and last in JOINTS))
            before, cluster = piece.text, CLUSTER.findall(cluster + piece.text)[-1]
    return Labels(tuple(texts), special, tuple(words), tuple(adds))


def add_spaces(pieces: Sequence[Piece], known: Sequence[Place | None]) -> list[Piece]:
    """The same with a space before those of which it is known that there is one, and before no others."""
    return [
        each
        if place is None or each.is_rest or each.text.isspace()
        else replace(each, text=" " * place.gap + each.text.lstrip())
        for each, place in zip(pieces, known, strict=True)
    ]


def goes_on(before: str, piece: str) -> bool:
    """Does a piece of text go on with a word that the one before it is in?"""
    first = piece[:1]
    return bool(before and first) and not before[-1].isspace() and bool(LETTER.match(first) or first in JOINTS)


def continues_cluster(cluster: str, piece: str) -> bool:
    """Does a piece of text begin within the character as readers see it: an accent, or what a joiner joins?"""
    return bool(piece) and not cluster.isspace() and len(CLUSTER.findall(cluster + piece[:1])) == 1


def pieces(tokenizer: Any, ids: Sequence[int], special: Sequence[bool]) -> list[Piece]:
    """What each token adds to the text, its space included: what it says after the one before, without what that says alone.

    Tokens that are parts of characters are taken together. Bytes that never make a character stay as they are.
    """
    found, last, before, at = [], [], "", 0
    while at < len(ids):
        end, text = whole(tokenizer, ids, at, special)
        both = _decode_ids(tokenizer, [*last, *ids[at:end]])
        last, before, alone = ids[at:end], text, (text, before)
        if both.startswith(alone[1]) and len(both) > len(alone[1]) and (BROKEN not in both or BROKEN in text):
            text = both[len(alone[1]) :]
        name, many = visible(text.strip() or text), end - at
        found += [Piece("" if of else text, f"{name} {of + 1}/{many}" if many > 1 else "") for of in range(many)]
        at = end
    return found


def visible(text: str) -> str:
    """The text, or its code points if nothing of it can be seen, like a joiner."""
    return " ".join(f"U+{ord(sign):04X}" for sign in text) if INVISIBLE.fullmatch(text) else text


def whole(tokenizer: Any, ids: Sequence[int], at: int, special: Sequence[bool]) -> tuple[int, str]:
    """Where the tokens from here on end that make whole characters together, most often one token; and what they are."""
    alone = _decode_ids(tokenizer, ids[at : at + 1])
    if BROKEN in alone and not special[at]:
        for end in range(at + 2, min(at + SPREAD, len(ids)) + 1):
            text = "" if special[end - 1] else _decode_ids(tokenizer, ids[at:end])
            if not text:
                break
            if BROKEN not in text:
                return end, text
    return at + 1, alone


def _decode_ids(tokenizer: Any, ids: Sequence[int]) -> str:
    return tokenizer.decode(list(ids), clean_up_tokenization_spaces=False)


def of_patches(tokens: int, rows: int, cols: int, after: int = 0) -> Labels:
    """Of a picture in so many rows and columns of patches, counted from 1, with the marks that the model puts before them.

    `after`: how many of its marks it puts after them.
    """
    marks = max(0, tokens - rows * cols)
    before = max(0, marks - after)
    named = ["[CLS]", *(f"[mark {number}]" for number in range(2, marks + 1))][:marks]
    patches = [f"{row}, {col}" for row in range(1, rows + 1) for col in range(1, cols + 1)]
    names = (*named[:before], *patches, *named[before:])
    special = tuple(not before <= at < before + len(patches) for at in range(len(names)))
    return Labels(names, special, tuple(range(len(names))), names)


def pick_labels(labels: Labels, at: Sequence[int]) -> Labels:
    """Some of the tokens."""
    texts, special, words, adds = labels.texts, labels.special, labels.words, labels.adds
    return Labels(
        tuple(texts[i] for i in at),
        tuple(special[i] for i in at),
        tuple(words[i] for i in at),
        tuple(adds[i] for i in at),
    )

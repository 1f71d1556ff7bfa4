"""The labels of a model's tokens: their texts, which are the model's own marks, and which form a word.

A token may be a part of a character: some bytes of a letter that the tokenizer does not know as a whole. Decoded alone
it is the replacement character. Its character is found by decoding it with the tokens after it; the offsets of
tokenizers do not tell (SentencePiece with byte fallback gives the whole word for each byte).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import regex

from attention.inputs import CLUSTER
from attention.recorded.models import GOES_ON, START

# Letters of words that are separated by spaces; Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces.
LETTER = regex.compile(
    r"[[\p{L}\p{N}\p{M}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]", regex.V1
)
JOINTS = "'’-"  # within a word, not at its beginning
INVISIBLE = regex.compile(r"[\p{C}\p{Z}\p{Variation_Selector}]+")
BROKEN = "\ufffd"  # what bytes are decoded to if they form no character
STARTS = {"<|im_start|>": START}  # names of a first token that is a mark of the model's own
SPREAD = 16  # tokens at most that are decoded together to form whole characters


@dataclass(frozen=True)
class Labels:
    """The tokens of one side: their texts, which are marks of the model's own (`special`), and the word number of each.

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
    """The text that a token adds, including its space, and its name if that is different."""

    text: str
    name: str = ""

    @property
    def is_rest(self) -> bool:
        """Whether it is a part of a character that an earlier token began."""
        return bool(self.name) and not self.text

    @property
    def label(self) -> str:
        """The piece as it is shown, without the space before it."""
        return self.name or self.text.strip() or self.text or " "


class Place(NamedTuple):
    """Where a token begins in its text: whether there is a space before it (`gap`), and whether it is inside a character."""

    gap: bool
    inside: bool


def places(spans: Sequence[tuple[int, int]], text: str, ends: int = 0) -> list[Place]:
    """Returns the places of the tokens of one text, from the spans that a tokenizer gives."""
    borders, found = {0, *(each.start() for each in CLUSTER.finditer(text))}, []
    for first, last in spans:
        gap = not ends or any(sign.isspace() for sign in text[ends : first + 1])
        found.append(Place(gap, bool(ends) and first not in borders))
        ends = max(last, ends)
    return found


def of_text(tokenizer: Any, ids: Sequence[int], known: Sequence[Place | None] = ()) -> Labels:
    """Returns the labels of token ids: each as in the text, with a mark before those that continue a word without a joint.

    `known`: the place of each token, if known; otherwise spaces follow from decoding them together.
    """
    own, texts, words, adds = set(tokenizer.all_special_ids), [], [], []
    special = tuple(number in own for number in ids)
    before, within, cluster = "", False, ""
    where = known or [None] * len(ids)
    for mark, piece, place in zip(special, add_spaces(pieces(tokenizer, ids, special), where), where, strict=True):
        inside = piece.is_rest or (place is not None and place.inside) or continues_cluster(cluster, piece.text)
        joins = not mark and bool(cluster) and (inside or (within and goes_on(before, piece.text)))
        words.append(words[-1] + (not joins) if words else 0)
        joint = before[-1:] in JOINTS or piece.text[:1] in JOINTS
        label = STARTS.get(piece.label, piece.label) if mark and not texts else piece.label
        texts.append(GOES_ON * (joins and (inside or not joint)) + label)
        adds.append(piece.text.strip() or piece.text)
        if mark:
            before, within, cluster = piece.text, False, ""
        elif piece.text:
            last = piece.text[-1]
            within = bool(LETTER.match(last) or (joins and last in JOINTS))
            before, cluster = piece.text, CLUSTER.findall(cluster + piece.text)[-1]
    return Labels(tuple(texts), special, tuple(words), tuple(adds))


def add_spaces(pieces: Sequence[Piece], known: Sequence[Place | None]) -> list[Piece]:
    """Returns the pieces with a space before those that are known to have one, and before no others with a known place."""
    return [
        each
        if place is None or each.is_rest or each.text.isspace()
        else replace(each, text=" " * place.gap + each.text.lstrip())
        for each, place in zip(pieces, known, strict=True)
    ]


def goes_on(before: str, piece: str) -> bool:
    """Whether a piece of text continues the word at the end of the text before it."""
    first = piece[:1]
    return bool(before and first) and not before[-1].isspace() and bool(LETTER.match(first) or first in JOINTS)


def continues_cluster(cluster: str, piece: str) -> bool:
    """Whether a piece of text begins within a character as readers see it, for example with an accent or after a joiner."""
    return bool(piece) and not cluster.isspace() and len(CLUSTER.findall(cluster + piece[:1])) == 1


def pieces(tokenizer: Any, ids: Sequence[int], special: Sequence[bool]) -> list[Piece]:
    """Returns what each token adds to the text, including its space: the text of it and its predecessor minus that of
    the predecessor.

    Tokens that are parts of one character are decoded together. Bytes that never form a character stay as they are.
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
    """Returns the text, or its code points if all of it is invisible, for example a joiner."""
    return " ".join(f"U+{ord(sign):04X}" for sign in text) if INVISIBLE.fullmatch(text) else text


def whole(tokenizer: Any, ids: Sequence[int], at: int, special: Sequence[bool]) -> tuple[int, str]:
    """Returns the end of the tokens from `at` that form whole characters together, usually one token, and their text."""
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
    """Returns the labels of a picture with `rows` x `cols` patches, counted from 1, and the marks that the model puts
    before them.

    `after`: number of marks that it puts after them.
    """
    marks = max(0, tokens - rows * cols)
    before = max(0, marks - after)
    named = ["[CLS]", *(f"[mark {number}]" for number in range(2, marks + 1))][:marks]
    patches = [f"{row}, {col}" for row in range(1, rows + 1) for col in range(1, cols + 1)]
    names = (*named[:before], *patches, *named[before:])
    special = tuple(not before <= at < before + len(patches) for at in range(len(names)))
    return Labels(names, special, tuple(range(len(names))), names)


def pick_labels(labels: Labels, at: Sequence[int]) -> Labels:
    """Returns the labels of some of the tokens."""
    texts, special, words, adds = labels.texts, labels.special, labels.words, labels.adds
    return Labels(
        tuple(texts[i] for i in at),
        tuple(special[i] for i in at),
        tuple(words[i] for i in at),
        tuple(adds[i] for i in at),
    )

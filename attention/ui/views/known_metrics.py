"""Which head statistics apply to a source and its text."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.head_numbers import EVERY, OF_DISTRIBUTIONS, Described, OfPairs, separates
from attention.config import Config
from attention.heads import TokenMetric
from attention.recorded.models import GOES_ON
from attention.sources.providers import distributes, tokens

AGAIN = {"induction", "duplicate", "preceding"}  # statistics of tokens that have occurred before
BACKWARDS = 4  # different tokens in a row that occur reversed, from which on a text is read backwards
ENOUGH = 5  # such tokens, from which on a mean over them describes a head
IN_LINE = AGAIN | {
    "previous",
    "next",
    "distance",
    "same",
    "separators",
}  # statistics of tokens that have an order, as words do


def known_metrics(config: Config) -> dict[str, Described]:
    """The statistics that apply to a source, by name.

    Some need token texts and self-attention, some need tokens that occur again, or separators. For a picture's patches and
    for cross-attention, those that need an order do not apply.
    """
    seen = tokens(config)
    without = not_in_text(seen.texts) | (set() if seen.line and not config.is_cross else IN_LINE)
    without |= set() if distributes(config) else OF_DISTRIBUTIONS
    worded = bool(seen.texts) and not config.is_cross
    return {
        name: each
        for name, each in EVERY.items()
        if name not in without and (worded or not isinstance(each, TokenMetric | OfPairs))
    }


def repeats(texts: Sequence[str]) -> int:
    """The number of tokens that occurred before, in any case."""
    return len(texts) - len({text.casefold() for text in texts})


def repeats_run(texts: Sequence[str]) -> bool:
    """Whether four tokens in a row, at least three of them different, occur again."""
    runs = [run for run in zip(texts, texts[1:], texts[2:], texts[3:], strict=False) if len(set(run)) > 2]
    return len(set(runs)) < len(runs)


def is_rare(name: str, texts: Sequence[str]) -> bool:
    """Whether a statistic is about few tokens, too few for it to describe a head.

    These are the tokens that occurred before, or those that see a separator.
    """
    return (name in AGAIN and repeats(texts) < ENOUGH) or (name == "separators" and _after_separator(texts) < ENOUGH)


def _after_separator(texts: Sequence[str]) -> int:
    """The number of tokens from the first separator on, but for the token with which a text starts."""
    return next((len(texts) - at for at, text in enumerate(texts[1:], start=1) if separates(text)), 0)


def split_word(texts: Sequence[str]) -> tuple[str, list[str]]:
    """A word that is one token in one place and several in another, and these tokens; "" and [] if there is none.

    >>> split_word(["H", "·arry", "saw", "Harry"])
    ('Harry', ['H', '·arry'])
    """
    words: list[list[str]] = []
    for text in texts:
        if words and text.startswith(GOES_ON) and text != GOES_ON:
            words[-1].append(text)
        else:
            words.append([text])
    for parts in words:
        word = "".join(part.removeprefix(GOES_ON) for part in parts)
        if len(parts) > 1 and word in texts:
            return word, parts
    return "", []


def not_in_text(texts: Sequence[str]) -> set[str]:
    """The statistics of which a text has no token; "preceding" applies to texts with a passage that also occurs reversed."""
    without = (set() if repeats(texts) else AGAIN) | (set() if any(map(separates, texts[1:])) else {"separators"})
    return without if _reverses(texts) else without | {"preceding"}


def _reverses(texts: Sequence[str]) -> bool:
    """Whether some different tokens in a row occur in the opposite order as well."""
    rows = {tuple(texts[at : at + BACKWARDS]) for at in range(len(texts) - BACKWARDS + 1)}
    return any(len(set(row)) == BACKWARDS and row[::-1] in rows for row in rows)

"""The sentence of a cell in a map with words, for a weight or for the influence of a token."""

from __future__ import annotations

from attention.number_format import format_percent
from attention.ui.text import find_the_bug as text


def weight_sentence(query: str, key: str, weight: float | None) -> str:
    """Returns what a query puts on a key; None: it is masked."""
    said = text.MASKED if weight is None else text.WEIGHT
    return said.format(query=f"“{query}”", key=f"“{key}”", weight=format_percent(weight or 0))


def change_sentence(query: str, key: str, change: float | None) -> str:
    """Returns how much a token changes an output; None: not at all."""
    said = text.NO_CHANGE if change is None else text.CHANGE
    return said.format(query=f"“{query}”", key=f"“{key}”", change=format_percent(change or 0))

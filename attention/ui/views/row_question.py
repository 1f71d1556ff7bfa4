"""The question that hides the Heads page: which key gets the most of a query's weight?"""

from __future__ import annotations

from attention import tables
from attention.config import Config
from attention.trace import Trace
from attention.ui.predict import Question
from attention.ui.words import plain


def question(trace: Trace) -> Question:
    """Which key gets the greatest weight of the row in focus, among keys that one might think of."""
    config, weights = trace.config, trace.weights[trace.config.head, trace.config.row]
    seen = trace.mask[config.row].nonzero().flatten().tolist()
    if not seen:
        return _nothing(config)
    best = max(seen, key=weights.__getitem__)
    guesses = sorted(_thinkable(config, best, seen))
    text = (
        f"Query {_named(config, config.row)} in head {config.head} sees {len(seen)} keys under **{config.rule_name}**. "
        f"Projections: {config.projections}; positions: {config.positions}. Which key gets most of its weight?"
    )
    why = f"It gets {tables.share(float(weights[best]))}; an even spread would give {tables.share(1 / len(seen))}."
    return Question(text, tuple(_named(config, key) for key in guesses), _named(config, best), why)


def _nothing(config: Config) -> Question:
    text = f"Query {_named(config, config.row)} sees no key under **{config.rule_name}**. What are its weights?"
    return Question(text, ("zeros", "all equal", "NaN"), "zeros", "Nothing is seen, so nothing is attended to.")


def _thinkable(config: Config, best: int, seen: list[int]) -> set[int]:
    """The answer, and of the keys in sight: itself, an equal token, the one before, the first, some in between."""
    row, words = config.row, [token.casefold() for token in tables.labels(config)]
    equal = [key for key in seen if words and key != row and words[key] == words[row]]
    others = [row, *equal[-1:], row - 1, 0, *seen[:: max(1, len(seen) // 4)]]
    wrong = [key for key in dict.fromkeys(others) if key in set(seen) and key != best]
    return {best, *wrong[:3]}


def _named(config: Config, key: int) -> str:
    """A position with its token, as markdown shows it as it is."""
    names = tables.labels(config)
    return f"{key} {plain(names[key])}" if names else str(key)

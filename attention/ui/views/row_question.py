"""The question that hides the Heads page: which key gets the most of a query's weight?"""

from __future__ import annotations

from attention.config import GENERATED, Config
from attention.sources.origins import idle, provenance
from attention.tables import rows as tables
from attention.trace import Trace
from attention.ui.predict import Question
from attention.ui.words import plain

ALIKE = 1e-3  # of the greatest weight: what differs by less is one number on the screen
EVEN = "all equal"


def question(trace: Trace) -> Question:
    """Which key gets the greatest weight of the row in focus, among keys that one might think of."""
    config, weights = trace.config, trace.weights[trace.config.head, trace.config.row]
    seen = trace.mask[config.row].nonzero().flatten().tolist()
    if not seen:
        return _nothing(config)
    most = float(weights[seen].max())
    alike = (weights >= (1 - ALIKE) * most).tolist()
    best, *others = [key for key in reversed(seen) if alike[key]]
    wrong = _thinkable(config, [key for key in seen if not alike[key]])
    guesses = [_named(config, key) for key in sorted([best, *wrong])] + [EVEN] * (len(seen) > 1)
    text = (
        f"Query {_named(config, config.row)} in head {config.head} sees {len(seen)} keys{_under(config)}. "
        f"{_made(config)} Which key gets most of its weight?"
    )
    if others and not wrong:
        return Question(text, tuple(guesses), EVEN, f"Each of the {len(seen)} keys gets {tables.share(most)}.")
    even = tables.share(1 / len(seen))
    why = f"It gets {tables.share(most)}{_shared(config, others)}; an even spread would give {even}."
    return Question(text, tuple(guesses), _named(config, best), why)


def _under(config: Config) -> str:
    """The rule, where it is the one that is set."""
    return "" if idle("mask", config) else f" under **{config.rule_name}**"


def _made(config: Config) -> str:
    """What one may know of queries and keys."""
    if config.source != GENERATED:
        return plain(provenance(config))
    return f"Projections: {config.projections}; positions: {config.positions}."


def _shared(config: Config, others: list[int]) -> str:
    """Which other keys get as much, as equal tokens do."""
    if not others:
        return ""
    some = ", ".join(_named(config, key) for key in others[:3])
    return f", as much as {some}{f' and {len(others) - 3:,} more' * (len(others) > 3)}"


def _nothing(config: Config) -> Question:
    text = f"Query {_named(config, config.row)} sees no key{_under(config)}. What are its weights?"
    return Question(text, ("zeros", "all equal", "NaN"), "zeros", "Nothing is seen, so nothing is attended to.")


def _thinkable(config: Config, wrong: list[int]) -> list[int]:
    """Of the keys that are not the answer, up to three: the query itself, an equal token, the one before, the first ..."""
    row, words = config.row, [token.casefold() for token in tables.labels(config)]
    equal = [key for key in wrong if words and key != row and words[key] == words[row]]
    others = [row, *equal[-1:], row - 1, 0, *wrong[:: max(1, len(wrong) // 4)]]
    allowed = set(wrong)
    return [key for key in dict.fromkeys(others) if key in allowed][:3]


def _named(config: Config, key: int) -> str:
    """A position with its token, as markdown shows it as it is."""
    names = tables.labels(config)
    return f"{key} {plain(names[key])}" if names else str(key)

"""The question that hides the Masks page: how many keys are visible to the selected query?"""

from __future__ import annotations

from attention.config import Config
from attention.tables.rows import ranges
from attention.ui.predict import Question
from attention.ui.text import questions as text


def question(config: Config) -> Question:
    """Asks how many keys are visible to the selected query; the guesses are what other rules would give."""
    n, row = config.tokens, config.query_index
    seen = config.rule.square(n, config.n_keys, config.span)[row]
    answer, where = int(seen.sum()), [i for i, see in enumerate(seen.tolist()) if see]
    told = text.MASK.format(
        mask=config.rule_name,
        span=text.SPAN.format(span=config.span) if config.rule.span else "",
        queries=n,
        keys=config.n_keys,
        help=config.rule.help,
        query=row,
    )
    guesses = tuple(str(guess) for guess in sorted(_near(answer, row, config)))
    return Question(told, guesses, str(answer), text.MASK_ANSWER.format(query=row, keys=_name_keys(where)))


def _near(answer: int, row: int, config: Config) -> set[int]:
    """The answer, and results of typical mistakes: forgetting the query itself, the past, the future or the span."""
    n = config.n_keys
    wrong = (row + 1, min(config.span, n), min(n, answer + 1), max(0, answer - 1), n, row)
    near = [answer, *(guess for guess in dict.fromkeys(wrong) if guess != answer)]
    return set(near[:4])


def _name_keys(where: list[int]) -> str:
    return text.KEYS.format(keyword=text.KEYWORDS[len(where) > 1], keys=ranges(where)) if where else text.NO_KEYS

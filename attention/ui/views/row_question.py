"""The question that hides the Heads page: which key gets most of a query's weight?

The user sees the tokens with their positions and how queries and keys are made, but neither a weight nor the head's role.
"""

from __future__ import annotations

import torch

from attention.config import Config
from attention.inputs import INPUTS, SPLIT
from attention.knobs import GENERATED, KNOBS
from attention.number_format import format_token, format_weight
from attention.operations.softmax import SOFTMAXES
from attention.sources.providers import mask_in_use, mask_name, provenance, unit
from attention.tables import rows as tables
from attention.trace import Trace
from attention.ui.markdown import escape
from attention.ui.predict import Question

ALIKE = 0.05  # of the largest weight: a smaller difference makes no fair question
ROUNDING = 1e-5  # of it: a smaller difference counts as equal, so that the last key is the answer on every machine
EVEN = "all about equally"
PART = ("all of it", "a part of it", "nothing")  # of its weight, for a key that is the only visible one
WHOLE = 5e-4  # within this distance a share is shown as nothing or all of it
LISTED, FIRST, AROUND = (
    60,
    8,
    12,
)  # up to LISTED tokens all are shown; otherwise the first, and those around each that matters


def question(trace: Trace) -> Question:
    """Asks which key gets the largest weight of the selected row, among plausible keys."""
    config, weights = trace.config, trace.weights[trace.config.head, trace.config.query_index]
    seen = trace.mask[config.query_index].nonzero().flatten().tolist()
    if not seen:
        return _nothing(config)
    most = float(weights[seen].max())
    if len(seen) == 1:
        return _alone(config, seen[0], most)
    alike = (weights >= (1 - ALIKE) * most).tolist()
    best = max(key for key in seen if weights[key] >= (1 - ROUNDING) * most)
    equal, wrong = [key for key in seen if alike[key] and key != best], [key for key in seen if not alike[key]]
    even = not wrong
    others = _thinkable(config, equal)[: 3 if even else 1] + _thinkable(config, wrong)[:3]
    keys = sorted([best, *others])
    guesses = (*(_token_label(config, key) for key in keys), EVEN)
    query = _token_label(config, config.query_index, "Query")
    text = (
        f"{query} in head {config.head} has {len(seen):,} visible keys{_under(config)}. Which key "
        f"gets the largest weight?\n\n{_token_lines(config, keys)}\n\n{_known_facts(config)}"
    )
    if even:
        least = float(weights[seen].min())
        return Question(text, guesses, EVEN, f"Each of the {len(seen):,} keys gets {_between(least, most)}.")
    spread = format_weight(1 / len(seen))
    why = f"It gets {format_weight(most)}{_ties_text(config, equal)}; the uniform weight is {spread}."
    also = tuple(_token_label(config, key) for key in others if key in equal)
    return Question(text, guesses, _token_label(config, best), why, also)


def fair(trace: Trace) -> int:
    """The query to ask about: the selected one if a single key has most of its weight, otherwise the last such query.

    A query that attends to another token than itself is preferred. If there is none, it is the selected one.
    """
    config, weights = trace.config, trace.weights[trace.config.head]
    (most, second), best = weights.topk(2).values.unbind(-1), weights.argmax(-1)
    alone = (second < (1 - ALIKE) * most) & (trace.mask.sum(-1) > 1)
    if alone[config.query_index]:
        return config.query
    others = alone & (best != torch.arange(len(best)))
    rows = (others if others.any() else alone).nonzero().flatten().tolist()
    return rows[-1] if rows else config.query


def _under(config: Config) -> str:
    """The mask rule, if it is the one that is set."""
    return f" under **{mask_name(config)}**" if mask_in_use(config.source) else ""


def _token_lines(config: Config, keys: list[int]) -> str:
    """The tokens with their positions: all of a short sequence; of a long one, those around the query and the guesses."""
    names = [escape(name) for name in tables.labels(config)]
    if not names:
        return f"The tokens have no texts, only positions from 0 to {config.tokens - 1:,}."
    shown, said, last = _places(config, keys), [], -1
    for at in shown:
        said += ["…"] * (at > last + 1) + [
            f"{'**' * (at == config.query_index)}{format_token(names[at], at)}{'**' * (at == config.query_index)}"
        ]
        last = at
    return " · ".join([*said, *(["…"] if last < config.tokens - 1 else [])])


def _places(config: Config, keys: list[int]) -> list[int]:
    if config.tokens <= LISTED:
        return list(range(config.tokens))
    near = {at + by for at in (config.query_index, *keys) for by in range(-2, 3)} | {
        config.query_index - by for by in range(AROUND)
    }
    return sorted({at for at in near if 0 <= at < config.tokens} | set(range(FIRST)))


def _known_facts(config: Config) -> str:
    """What may be known about queries and keys; what the head does would be the answer."""
    if config.source != GENERATED:
        return escape(provenance(config))
    tied = f"Equal {unit(config)}s have equal vectors. " if config.input in SPLIT else f"Input: {_first(config.input)} "
    projections = KNOBS["projections"].names.get(config.projections, config.projections)
    return f"{escape(tied)}Projections: {projections}; positions: {config.positions}."


def _first(name: str) -> str:
    return (INPUTS[name].__doc__ or "").splitlines()[0]


def _between(least: float, most: float) -> str:
    low, high = format_weight(least), format_weight(most)
    return high if low == high else f"between {low} and {high}"


def _ties_text(config: Config, others: list[int]) -> str:
    """The other keys that get nearly as much, as equal tokens do."""
    if not others:
        return ""
    some = ", ".join(_token_label(config, key) for key in others[:3])
    return f" (nearly as much: {some}{f' and {len(others) - 3:,} more' * (len(others) > 3)})"


def _nothing(config: Config) -> Question:
    text = (
        f"{_token_label(config, config.query_index, 'Query')} has no visible key{_under(config)}. What are its weights?"
    )
    return Question(text, ("zeros", "all equal", "NaN"), "zeros", "Without a visible key, all weights are zero here.")


def _alone(config: Config, key: int, weight: float) -> Question:
    """The question about a row with a single visible key: how much weight it gets."""
    answer = PART[0] if weight > 1 - WHOLE else PART[1] if weight > WHOLE else PART[2]
    query, only = _token_label(config, config.query_index, "Query"), _token_label(config, key)
    text = (
        f"{query} in head {config.head} has one visible key{_under(config)}, {only}, "
        f"under the softmax “{config.softmax}”. How much of the weight does it get?"
    )
    softmax = SOFTMAXES[config.softmax]
    alone = "with a single visible key the score does not matter"
    own = f"{softmax.rest} gets the rest" if softmax.rest else "a sigmoid weighs every key by itself"
    reason = alone if softmax.sums_to_one else f"{own}, so it depends on the score"
    return Question(text, PART, answer, f"It gets {format_weight(weight)}: {reason}.")


def _thinkable(config: Config, keys: list[int]) -> list[int]:
    """The plausible ones among some keys: the query itself, an equal token, the previous one, the first, others."""
    row, words = config.query_index, [token.casefold() for token in tables.labels(config)]
    equal = [key for key in keys if words and key != row and words[key] == words[row]]
    others = [row, *equal[-1:], row - 1, 0, *keys[:: max(1, len(keys) // 4)]]
    allowed = set(keys)
    return [key for key in dict.fromkeys(others) if key in allowed]


def _token_label(config: Config, at: int, kind: str = "key") -> str:
    """A token with its position, escaped for markdown."""
    names = tables.labels(config)
    return format_token(escape(names[at]) if names else "", at, kind)

"""The question that hides the Heads page: which key gets most of a query's weight?

The user sees how queries and keys are made, and of a long sequence the tokens that matter (the map below has those of a
short one), but neither a weight nor the head's role or rule.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from attention.analysis.head_kinds import Role
from attention.config import Config
from attention.fitting import layers
from attention.inputs import INPUTS, SPLIT
from attention.knobs import GENERATED, KNOBS
from attention.number_format import format_head, format_percent, format_token, format_weight
from attention.operations.softmax import SOFTMAXES
from attention.sources.constructed import ROLES
from attention.sources.providers import (
    distributes,
    is_random,
    label,
    mask_in_use,
    mask_name,
    source_title,
    unit,
)
from attention.tables import rows as tables
from attention.trace import Trace
from attention.ui.markdown import escape
from attention.ui.predict import Question
from attention.ui.text import questions as text

ALIKE = 0.05  # of the largest weight: a smaller difference makes no fair question
ROUNDING = 1e-5  # of it: a smaller difference counts as equal, so that the last key is the answer on every machine
WHOLE = 5e-4  # within this distance a share is shown as nothing or all of it
READS = {0: (True, False), 5: (True, True)} | dict.fromkeys(range(1, 5), (False, True))  # by role: tokens, positions
LEAST_CHANNELS = 8  # of a head, with which each role has channels of what it reads
GUESSES = 5  # at most, with the right one and EVEN
LISTED, FIRST, AROUND = 40, 2, 6  # of more than LISTED tokens, the first are listed, and those around each that matters


def question(trace: Trace, roles: Sequence[Role | None] = ()) -> Question:
    """Asks which key gets the largest weight of the selected row, among plausible keys; the role of its head says why."""
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
    others = (_thinkable(config, equal)[: 3 if even else 1] + _thinkable(config, wrong))[: GUESSES - 2]
    keys = sorted([best, *others])
    guesses = (*(_token_label(config, key) for key in keys), text.EVEN)
    asked = text.ROW.format(
        query=_query_label(config),
        head=_head_name(config).lower(),
        visible=len(seen),
        mask=_under(config),
        facts=_known_facts(config),
        tokens=_token_lines(config, keys),
    ).rstrip()
    if even:
        weight = _between(config, float(weights[seen].min()), most)
        return Question(asked, guesses, text.EVEN, text.EACH.format(count=len(seen), weight=weight))
    ties, spread = _ties_text(config, equal), _weight_text(config, 1 / len(seen))
    why = text.LARGEST.format(weight=_weight_text(config, most), ties=ties, even=spread)
    if roles and (role := roles[config.head]):
        why = text.BECAUSE.format(why=why, head=_head_name(config), does=escape(role.says))
    also = tuple(_token_label(config, key) for key in others if key in equal)
    return Question(asked, guesses, _token_label(config, best), why, also)


def fair_head(config: Config) -> int:
    """The head to ask about: the selected one, or the first if that is a random one among hand-built heads."""
    return 0 if is_random(config, config.head) else config.head


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
    return text.UNDER.format(mask=mask_name(config)) if mask_in_use(config.source) else ""


def _token_lines(config: Config, keys: list[int]) -> str:
    """The tokens of a long sequence with their positions: those around the query and the guesses."""
    names = [escape(name) for name in tables.labels(config)]
    if not names:
        return text.NO_TEXTS.format(last=config.tokens - 1)
    if config.tokens <= LISTED:
        return ""
    said, last = [], -1
    for at in _places(config, keys):
        token = format_token(names[at], at)
        said += ["…"] * (at > last + 1) + [text.SELECTED.format(token=token) if at == config.query_index else token]
        last = at
    return " · ".join([*said, *(["…"] if last < config.tokens - 1 else [])])


def _places(config: Config, keys: list[int]) -> list[int]:
    near = {at + by for at in (config.query_index, *keys) for by in range(-1, 2)} | {
        config.query_index - by for by in range(AROUND)
    }
    return sorted({at for at in near if 0 <= at < config.tokens} | set(range(FIRST)))


def _known_facts(config: Config) -> str:
    """What may be known about queries and keys; what the head does would be the answer."""
    if config.source != GENERATED:
        return escape(text.FROM.format(source=source_title(config.source), label=label(config)))
    built, split = config.projections == "constructed", config.input in SPLIT
    tied = text.TIED.format(unit=unit(config)) if split else text.INPUT.format(about=_first(config.input))
    if built:
        is_chance = is_random(config, config.head)
        is_single = config.head_softmax.halves == 1  # otherwise each of its two softmaxes has a rule
        about = (
            text.BUILT * is_single + text.VECTORS.format(unit=unit(config)) * split + _what_it_reads(config) * is_single
        )
        about = text.RANDOM if is_chance else about
        added = "" if config.positions == "none" else text.ADDED.format(positions=config.positions)
        return escape(f"{about if split else tied + about} {added}".strip())
    projections = KNOBS["projections"].names.get(config.projections, config.projections)
    return escape(tied) + text.FACTS.format(projections=projections, positions=config.positions)


def _what_it_reads(config: Config) -> str:
    """Whether queries and keys of a hand-built head are made from tokens or from positions; "" if from a mix of heads or both."""
    whole = config.kv_heads in (0, config.heads) and config.positions == "none" and config.d_head >= LEAST_CHANNELS
    found = READS.get(config.head % len(ROLES))
    return text.READS[found].format(unit=unit(config)) if whole and found else ""


def _head_name(config: Config) -> str:
    return format_head(config.head, config.layer if len(layers(config.source)) > 1 else None)


def _first(name: str) -> str:
    return (INPUTS[name].__doc__ or "").splitlines()[0]


def _weight_text(config: Config, weight: float) -> str:
    """A weight in percent if rows are distributions."""
    return format_percent(weight) if distributes(config) else format_weight(weight)


def _between(config: Config, least: float, most: float) -> str:
    low, high = _weight_text(config, least), _weight_text(config, most)
    return high if low == high else text.BETWEEN.format(least=low, largest=high)


def _ties_text(config: Config, others: list[int]) -> str:
    """The other keys that get nearly as much, as equal tokens do."""
    if not others:
        return ""
    some = ", ".join(_token_label(config, key) for key in others[:3])
    more = text.MORE.format(count=len(others) - 3) if len(others) > 3 else ""
    return text.TIES.format(keys=some, more=more)


def _nothing(config: Config) -> Question:
    asked = text.NO_KEY.format(query=_query_label(config), mask=_under(config))
    return Question(asked, text.NO_KEY_GUESSES, text.NO_KEY_GUESSES[0], text.NO_KEY_ANSWER)


def _alone(config: Config, key: int, weight: float) -> Question:
    """The question about a row with a single visible key: how much weight it gets."""
    answer = text.PART[0 if weight > 1 - WHOLE else 1 if weight > WHOLE else 2]
    asked = text.ONE_KEY.format(
        query=_query_label(config),
        head=_head_name(config).lower(),
        mask=_under(config),
        key=_token_label(config, key),
        softmax=config.softmax,
    )
    softmax = SOFTMAXES[config.softmax]
    own = text.REST.format(rest=softmax.rest) if softmax.rest else text.SIGMOID
    reason = text.SCORE_IRRELEVANT if softmax.sums_to_one else own
    return Question(
        asked, text.PART, answer, text.ONE_KEY_ANSWER.format(weight=_weight_text(config, weight), reason=reason)
    )


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


def _query_label(config: Config) -> str:
    return _token_label(config, config.query_index, text.QUERY)

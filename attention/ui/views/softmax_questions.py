"""The Softmax page's questions: the effect of a temperature or a scale on a row, and how its weight is spread."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pyarrow as pa
import streamlit as st
import torch

from attention.analysis.row_stages import Stages, stages
from attention.charts import stages as charts
from attention.config import Config
from attention.fitting import defaults
from attention.knobs import KNOBS
from attention.number_format import format_percent, format_token, format_weight
from attention.operations.softmax import SOFTMAXES, normaliser_name
from attention.sources.providers import distributes
from attention.tables import rows as tables
from attention.tables import softmax
from attention.ui import predict, results
from attention.ui.markdown import escape
from attention.ui.predict import Question
from attention.ui.text import softmax as text

LIMITS = (0.1, 0.5, 0.9)  # bounds of the shares that are answers
ROUNDING = 1e-6  # relative to a limit: rounding error of a weight that is meant to be at it
SET = ("scale", "temperature")
HOT = 4.0  # factor of the temperature for the row to compare with, if the defaults are set
HOTTEST = float(KNOBS["temperature"].high or 0)
MOST_GAP = 9.0  # logits: a larger gap needs no factor in words
SAME = 5e-4  # nats: a smaller change of the entropy counts as none, as three digits are shown


def temperature_opened(config: Config) -> bool:
    """Draws the row at another scale and temperature, and the question; True once it is open."""
    given = stages(results.heads.trace(before(config)))
    return _open_question(config, temperature(given, stages(results.heads.trace(config))), "weights", given)


def before(config: Config) -> Config:
    """The row to compare with, at the source's default scale and temperature.

    If these are the current ones, it is at 4 times the temperature, or at 1/4 of it at the upper end.
    """
    own = defaults(config.source)
    usual = replace(config, **{name: own[name] for name in SET})
    hot = config.temperature * HOT
    return (
        usual if usual != config else replace(config, temperature=hot if hot <= HOTTEST else config.temperature / HOT)
    )


def share_opened(config: Config) -> bool:
    """Draws the row's dot products and the question; True once it is open."""
    row = stages(results.heads.trace(config))
    return _open_question(config, share(row), "dots", row)


def _open_question(config: Config, question: Question, name: str, given: Stages) -> bool:
    is_open = predict.question_gate(config, question)
    if not is_open:
        _show_given_step(name, given)
    return is_open


def temperature(given: Stages, row: Stages) -> Question:
    """Asks how a row spreads its weight under its scale and temperature, compared with others."""
    first, then = spread(given), spread(row)
    evenly, fewer, same = text.SPREAD
    answer = same if abs(then - first) < SAME else evenly if then > first else fewer
    is_signed = row.config.softmax == "differential"
    alone = SOFTMAXES[row.config.softmax].sums_to_one and not is_signed
    return Question(
        text.TEMPERATURE.format(who=_who(row.config), before=_set(given.config), now=_set(row.config)),
        text.SPREAD,
        answer,
        text.TEMPERATURE_ANSWER.format(
            shares="" if alone else text.SHARES[is_signed],
            change=(text.STAYS if answer == same else text.GOES).format(before=first, entropy=then),
            ratio=row_ratio(given, row),
            later=_later(row),
        ),
    )


def spread(row: Stages) -> float:
    """The entropy of the sizes of a row's weights, divided by their sum, in nats."""
    weights = row.weights.double().abs()
    return float(torch.special.entr(weights / weights.sum()).sum()) if weights.any() else 0.0


def _set(config: Config) -> str:
    return text.SETTING.format(scale=escape(config.scale), temperature=config.temperature)


def _later(row: Stages) -> str:
    """What is done to the scores after they are scaled."""
    seen, steps = int(row.visible.sum()), (bool(row.config.softcap), bool(row.bias.any()))
    more = " and ".join(name for name, is_there in zip(text.LATER_STEPS, steps, strict=True) if is_there)
    return (text.LATER.format(later=more) if more else "") + (text.ONE_KEY if seen == 1 else "")


def row_ratio(given: Stages, row: Stages) -> float:
    """The ratio of the scaled scores of two rows with the same dot products."""
    at = int(given.scaled.abs().argmax())
    return float(row.scaled[at] / given.scaled[at]) if float(given.scaled[at]) else 1.0


def share(row: Stages) -> Question:
    """Asks what share the heaviest key of a row gets."""
    top = float(row.weights.max())
    seen, config = int(row.visible.sum()), row.config
    limits = possible_limits(row)
    guesses = ranges(limits)
    answer = guesses[sum(top > limit * (1 + ROUNDING) for limit in limits)]
    return Question(
        text.SHARE.format(
            who=_who(config),
            visible=text.VISIBLE.get(seen, text.VISIBLE_MORE.format(keys=seen)) + text.GREY * (seen < config.n_keys),
            scale=escape(config.scale),
            temperature=config.temperature,
            name=normaliser_name(config.softmax),
        ),
        guesses,
        answer,
        _share_answer(row, top) if row.heaviest is not None else text.NO_KEY,
    )


def possible_limits(row: Stages) -> tuple[float, ...]:
    """The bounds between answers that the largest weight can be on both sides of: in a row that sums to one it is at
    least 1 / keys. One bound stays if there is a single key."""
    softmax, seen = row.config.head_softmax, int(row.visible.sum())
    least = 1 / seen if seen and softmax.sums_to_one and softmax.halves == 1 else 0.0
    return tuple(limit for limit in LIMITS if limit * (1 + ROUNDING) >= least) or LIMITS[-1:]


def ranges(limits: tuple[float, ...]) -> tuple[str, ...]:
    """The answers: the ranges between bounds, in whole percent."""
    bounds = [round(100 * limit) for limit in limits]
    between = (text.BETWEEN.format(low=low, high=high) for low, high in itertools.pairwise(bounds))
    return text.UP_TO.format(high=bounds[0]), *between, text.OVER.format(low=bounds[-1])


def _share_answer(row: Stages, top: float) -> str:
    """The key with the largest weight and, if weights are proportional to exponentials, why it is so much."""
    config, at = row.config, row.heaviest or 0
    names, softmax, why = tables.key_labels(config), config.head_softmax, ""
    logits = row.logits[row.visible].double().sort(descending=True).values
    if softmax.distributes and not softmax.sparse and softmax.halves == 1 and len(logits) > 1:
        gap = float(logits[0] - logits[1])
        why = text.SHARE_WHY.format(gap=gap, ratio=math.exp(gap)) if SAME < gap <= MOST_GAP else ""
    weight = format_percent(top) if distributes(config) else format_weight(top)
    return text.SHARE_ANSWER.format(
        key=escape(format_token(names[at] if names else "", at, "Key")), weight=weight, why=why
    )


def _who(config: Config) -> str:
    names = tables.labels(config) or [""] * config.tokens
    query = escape(format_token(names[config.query_index], config.query_index, "Query"))
    return text.WHO.format(query=query, head=config.head)


def _show_given_step(name: str, row: Stages) -> None:
    """Draws the one step that is given, as its own panel."""
    columns = softmax.stages(row, "position")
    labels = softmax.drawn_labels(columns, row.config) if row.config.n_keys <= charts.LABELLED else ()
    spec = charts.single_step(name, labels, row.config.n_keys, charts.reach(float(row.dots.abs().max())))
    shown = ("place", "key", "token", "visible", name) + (("set",) if name == "weights" else ())  # nothing else is sent
    st.vega_lite_chart(
        pa.table({part: columns[part] for part in shown}),
        spec,
        key="given",
        width="stretch",
        alt=text.GIVEN_ALT,
    )

"""What the selected head does where a text repeats: the marks over its picture, and sentences about them."""

from __future__ import annotations

from dataclasses import replace

import torch

from attention.analysis.head_numbers import FIRST_EXAMPLE, example_pairs
from attention.analysis.repeats import (
    Copy,
    Largest,
    count_after_copies,
    largest_weight,
    next_places,
    repeat_starts,
    strongest_copy,
)
from attention.components.large_head import Marks
from attention.config import Config
from attention.knobs import LAST_QUERY
from attention.number_format import format_percent, format_token
from attention.recorded.shipped import WORDS
from attention.sources.providers import distributes, tokens, unit
from attention.ui import next_step, results
from attention.ui.markdown import escape
from attention.ui.text import layers as text
from attention.ui.views.known_metrics import is_rare

SIGN = "→"  # in the texts of a task: the answer comes after it
LARGEST = "greatest"  # the statistic of which every head has an example
OPENING = LARGEST, "preceding"  # statistics with which the map of such a task opens
PLAIN = 256  # tokens up to which weights are coloured from 0% to 100% if no scale is chosen
MOST = 256  # tokens up to which a cell is large enough to be framed
SINK = 0.5  # of the weight: from this mean on the first token is said to take it
LISTED, FIRST = 24, 12  # up to LISTED tokens all are written; otherwise the first, and the last
WEAK = 0.1  # of the weight: a pair with less has no frame
STRONG = 0.25  # of the weight: from this mean on a diagonal stands out


def example(config: Config, statistic: str) -> Copy | Largest | None:
    """The pair with the largest weight of those that show what the statistic counts, and nothing else that is usual.

    Of the query of a question or the selected one, its largest weight. None if there is none, if the weight is too small for an
    example, or if the statistic is about whole rows.
    """
    found = _largest_pair(config, statistic)
    is_example = found and (_asked_query(config) is not None or (isinstance(found, Largest) and found.is_next))
    return found if found and (is_example or found.weight >= WEAK) else None


def example_or_largest(config: Config, statistic: str) -> tuple[Copy | Largest | None, str]:
    """That pair, or the largest weight of the head if it has none; with the statistic that counts it.

    A statistic of whole rows has no such pair: a single weight would say the opposite of a row that is spread.
    """
    found = example(config, statistic)
    return (found, statistic) if found or statistic in text.WHOLE_ROWS else (example(config, LARGEST), LARGEST)


def _largest_pair(config: Config, statistic: str) -> Copy | Largest | None:
    if config.tokens > MOST or config.is_cross or not distributes(config):
        return None
    if statistic in OPENING and (found := _next_in_task(config)):
        return found
    query = _asked_query(config)
    trace = results.heads.trace(config)
    weights, texts = trace.weights[config.head], tokens(config).texts
    if statistic == "induction":
        return strongest_copy(weights, texts, query)
    if query is not None:
        return largest_weight(weights, trace.mask, query)
    counted = torch.zeros_like(trace.mask)
    if statistic == LARGEST:
        counted[FIRST_EXAMPLE:] = True
    elif pairs := example_pairs(statistic, texts):
        counted[pairs] = True
    else:
        return None
    return largest_weight(weights, trace.mask, counted=counted)


def _next_in_task(config: Config) -> Largest | None:
    """The largest weight on the token that comes next, if the head belongs to a task in which it occurred before a sign."""
    if config.source not in text.TASK_TOKENS or _asked_query(config) is not None:
        return None
    trace, (query, key) = results.heads.trace(config), next_places(tokens(config).texts, SIGN)
    counted = torch.zeros_like(trace.mask)
    counted[query, key] = True
    found = largest_weight(trace.weights[config.head], trace.mask, counted=counted)
    return found and found._replace(is_next=True)


def _asked_query(config: Config) -> int | None:
    """The query of a question, or the selected one; None if all are shown alike."""
    return None if config.query == LAST_QUERY and not config.ask and config.predict != "row" else config.query_index


def with_plain_colors(config: Config) -> Config:
    """The settings with weights coloured from 0% to 100%, if no scale is chosen and the text is not long."""
    return replace(config, colors="linear") if config.colors == "auto" and config.tokens <= PLAIN else config


def marks(config: Config, pair: Copy | Largest | None, statistic: str = "") -> Marks | None:
    """The marks over the picture of the selected head; None if it has none. `statistic`: the one that counts the pair."""
    starts = repeat_starts(tokens(config).texts) if config.tokens <= MOST and not config.is_cross else []
    starts = [0, *starts[1:]] if starts else []  # the token before the first repeat has the label, as it is another one
    if pair is None:
        how = text.WHOLE_ROWS.get(statistic, "")
        return Marks(starts, None, how) if starts or how else None
    said = _example_text(config, pair) if isinstance(pair, Copy) else _largest_text(config, pair)
    if top := _larger(config, pair):
        texts = tokens(config).texts or [""] * config.tokens
        key = format_token(texts[top.key], top.key, "key")
        said = said.removesuffix(".") + text.LARGER.format(weight=format_percent(top.weight), key=key)
        return Marks(starts, (pair.query, top.key), f"{said[0].upper()}{said[1:]}")
    if pair.weight >= WEAK:
        return Marks(starts, (pair.query, pair.key), f"{text.FRAMED} {said}")
    return Marks(starts, None, f"{said[0].upper()}{said[1:]}")


def _larger(config: Config, pair: Copy | Largest) -> Largest | None:
    """The largest weight of the row of a pair; None if it is that of the pair, which then is an example of what the head does."""
    trace = results.heads.trace(config)
    top = largest_weight(trace.weights[config.head], trace.mask, pair.query)
    same = not top or format_percent(top.weight) == format_percent(pair.weight) or top.key == pair.key
    return None if same else top


def _example_text(config: Config, pair: Copy) -> str:
    """The pair in words."""
    texts = tokens(config).texts
    query, key, before = (format_token(texts[at], at) for at in (pair.query, pair.key, pair.key - 1))
    return text.EXAMPLE.format(query=query, key=key, before=before, weight=format_percent(pair.weight))


def _largest_text(config: Config, pair: Largest) -> str:
    """The largest weight in words, and where its key is; whether it is the largest of the selected row."""
    names, back = tokens(config).texts or [""] * config.tokens, pair.query - pair.key
    query = format_token(names[pair.query], pair.query)
    key = format_token(names[pair.key], pair.key, "key")
    place = "itself" if back == 0 else "first" if pair.key == 0 else "back" if back > 0 else "ahead"
    where = text.PLACES[place].format(count=abs(back), unit=unit(config), s="s" * (abs(back) != 1))
    if pair.is_next:
        return text.NEXT_IN_TASK.format(query=query, key=key, weight=format_percent(pair.weight))
    return (text.LARGEST_OF_ROW if pair.of_row else text.LARGEST).format(
        query=query,
        weight=format_percent(pair.weight),
        key=key,
        where=where if tokens(config).line or back == 0 else "",
    )


def task_rows(config: Config, head: int) -> dict[str, int | str]:
    """In how many of the rows from the sign on a head attends most to the token that comes next; {} of other sources."""
    if config.source not in text.TASK_TOKENS:
        return {}
    query, key = next_places(tokens(config).texts, SIGN)
    most = results.heads.trace(config).weights[head].max(-1)
    right = int(((most.indices[query] == key) & (most.values[query] > 0)).sum())
    return {"right": right, "rows": len(query.unique()), "token": text.TASK_TOKENS[config.source]}


def _task_sentence(config: Config) -> str:
    """That count in a sentence."""
    rows = task_rows(config, config.head)
    rises = text.TASK_DIAGONALS.get(config.source, "") if 2 * int(rows["right"]) >= int(rows["rows"]) else ""
    return text.TASK_ROWS.format(**rows, rises=rises)


def lines_sentence(config: Config) -> str:
    """What the lines over the picture are, if it has any."""
    found = marks(config, None)
    return text.REPEATS if found else ""


def text_sentence(config: Config) -> str:
    """What the text of the source is, or the task of a model trained here with its tokens.

    That only earlier copies tell the next word is said if no query sees later words.
    """
    said, texts = text.TEXTS.get(config.source, ""), tokens(config).texts
    shown = texts if len(texts) <= LISTED else (*texts[:FIRST], "…", *texts[-1:])
    causal = said and not results.heads.trace(config.truncated).mask.triu(1).any()
    return escape(said.format(causal=text.TEXTS_CAUSAL if causal else "", tokens=" ".join((*shown, "…"))))


def copies_sentence(config: Config) -> str:
    """How often the head's largest weight is on what followed an earlier copy; "" if few tokens have one."""
    texts = tokens(config).texts
    if config.tokens > MOST or is_rare("induction", texts):
        return ""
    found = results.heads.trace(config)
    right, places = count_after_copies(found.weights[config.head], found.mask, texts)
    attend = text.ATTEND.get(right, text.MANY_ATTEND).format(count=right)
    return text.COPIES.format(right=attend, places=places, unit=unit(config)) if places > 1 else ""


def sink_sentence(config: Config) -> str:
    """Where new words of the text that repeats attend to, if that is the first token; otherwise ""."""
    if config.source != next_step.REAL:
        return ""
    weights, texts = results.heads.trace(config).weights[config.head], tokens(config).texts
    share = float(weights[1 : len(WORDS.split()) + 1, 0].mean())  # of the first occurrence of each word
    return (
        text.WITHOUT_COPY.format(share=format_percent(share), first=format_token(texts[0], 0)) if share >= SINK else ""
    )


def shape_sentence(config: Config, pair: Copy | Largest | None) -> str:
    """What to see in the map of the selected head: how many rows of a task are right, or the diagonals of a repeated text."""
    if isinstance(pair, Largest) and pair.is_next:
        return _task_sentence(config)
    return _diagonals_sentence(config) if config.tokens <= MOST and not config.is_cross else ""


def _diagonals_sentence(config: Config) -> str:
    """What the strong diagonals of a head are in a text that repeats; "" if they are not strong, or in any other text."""
    starts = repeat_starts(tokens(config).texts)
    if len(starts) not in text.DIAGONALS:
        return ""
    trace, words = results.heads.trace(config), starts[1] - starts[0]
    weights, is_causal = trace.weights[config.head], not trace.mask.triu(1).any()
    back = [words * times - 1 for times in range(1, len(starts))]
    strong = is_causal and all(float(weights.diagonal(-by)[2:].mean()) >= STRONG for by in back)
    return text.DIAGONALS[len(starts)] if strong else ""

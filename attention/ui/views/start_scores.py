"""The largest weights of a row on Start, worked out from the dot products on, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import exp, floor, log, sqrt
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor

from attention.analysis.head_kinds import ALMOST
from attention.number_format import format_change, format_percent, format_token
from attention.story.settings import Story
from attention.trace import Trace
from attention.ui.markdown import escape
from attention.ui.text import start as text

DIVISORS = {"1/sqrt(d_head)": sqrt, "1/d_head": float, "none": lambda _: 1.0}  # of a score, given d_head
TOP = 3  # tokens whose scores are shown
READABLE = log(1e6)  # scaled scores up to it have an exponential that can be read
LEAST_PLACES = 4  # decimal places of products and scores, enough for most tokens
MORE_PLACES = 6  # decimal places that a row of numbers has more at most
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Places(NamedTuple):
    """Decimal places of the rows of the table."""

    products: int
    scores: int
    exponentials: int


class Row(NamedTuple):
    """The numbers of the largest weights, and the logarithm of the sum of all exponentials."""

    products: list[float]
    scores: list[float]
    weights: list[float]
    log_total: float
    visible: int

    @property
    def is_readable(self) -> bool:
        """Whether the exponentials have few enough digits; otherwise they are written with powers of ten."""
        return max(self.scores) <= READABLE


def token_name(trace: Trace, at: int) -> str:
    """A token in quotes, with its position if the sentence has it twice, as Markdown."""
    return escape(token_label(trace, at))


def token_label(trace: Trace, at: int) -> str:
    """The same for a chart."""
    labels = trace.queries.labels
    return format_token(labels[at], at) if labels.count(labels[at]) > 1 else f"“{labels[at]}”"


def selected_row(trace: Trace) -> Float[Tensor, " n"]:
    """The weights of the selected token, below 1 if it sees several keys: in float32, the others may be too small to count."""
    row = trace.weights[trace.config.head, trace.config.query_index]
    return row.clamp(max=ALMOST) if visible_keys(trace).sum() > 1 else row


def visible_keys(trace: Trace) -> Bool[Tensor, " n"]:
    """Which keys the selected token sees."""
    return trace.mask[trace.config.query_index]


def _scores(trace: Trace) -> Float[Tensor, " n"]:
    """The scaled scores of the selected token with all tokens."""
    return trace.scores[trace.config.head, trace.config.query_index].double()


def largest_score(trace: Trace) -> float:
    """The largest scaled score of the selected token with a visible one."""
    return float(_scores(trace)[visible_keys(trace)].max())


def scores_table(story: Story, trace: Trace) -> str:
    """How the largest weights of the row come about, from the dot products on, as a table in Markdown."""
    config, row = trace.config, selected_row(trace)
    divisor = DIVISORS[story.scale](config.d_head) * story.temperature
    products = trace.q[config.head, config.query_index].double() @ trace.k[config.head].double().T
    scores = products / divisor
    top = [at for at in row.argsort(descending=True, stable=True).tolist() if visible_keys(trace)[at]][:TOP]
    scaled = text.SCALED[story.scale].format(d_head=config.d_head)
    if story.changes("temperature"):
        scaled = text.DIVIDED.format(scaled=scaled, temperature=f"{story.temperature:g}")
    else:
        scaled = text.SCORE.format(scaled=scaled)
    numbers = Row(
        *([float(each[at]) for at in top] for each in (products, scores, row)),
        log_total=float(scores[visible_keys(trace)].logsumexp(0)),
        visible=int(visible_keys(trace).sum()),
    )
    places = _places(numbers, divisor)
    total = _exponential_text(numbers, numbers.log_total, places.exponentials)
    cells = {
        "tokens": [token_name(trace, at) for at in top],
        "rule": ["---" for _ in top],
        "products": [format_change(each, plus=False, places=places.products) for each in numbers.products],
        "scores": [format_change(each, plus=False, places=places.scores) for each in numbers.scores],
        "exponentials": [_exponential_text(numbers, each, places.exponentials) for each in numbers.scores],
        "weights": [format_percent(each) for each in numbers.weights],
    }
    return (text.SCORES + text.EXPONENTIALS).format(
        query=token_name(trace, config.query_index),
        visible=numbers.visible,
        scaled=scaled,
        total=total,
        sum=total if numbers.is_readable else text.SUM,
        **{name: " | ".join(found) for name, found in cells.items()},
    )


def _exponential(row: Row, score: float, places: int) -> tuple[float, int]:
    """The exponential of a score, rounded, as a number and a power of ten, which is 0 if the row is readable."""
    power = 0 if row.is_readable else floor(score / log(10))
    number = round(exp(score - power * log(10)), places)
    return (1.0, power + 1) if number == 10 and not row.is_readable else (number, power)


def _exponential_text(row: Row, score: float, places: int) -> str:
    number, power = _exponential(row, score, places)
    if row.is_readable:
        return f"{number:,.{places}f}"
    return text.POWER.format(number=f"{number:.{places}f}", exponent=f"{power}".translate(SUPERSCRIPTS))


def _places(row: Row, divisor: float) -> Places:
    """The fewest decimal places with which a calculator gives each shown number from those above it."""
    choices = [Places(*each) for each in _choices(row)]
    return next((each for each in choices if _agrees(row, divisor, each)), choices[-1])


def _choices(row: Row) -> Iterator[tuple[int, int, int]]:
    """Decimal places, those with the fewest digits first."""
    more = sorted(product(range(MORE_PLACES), repeat=3), key=sum)
    least = max(0, 4 - len(f"{exp(row.log_total):.0f}")) if row.is_readable else 1
    return ((LEAST_PLACES + each[0], LEAST_PLACES + each[1], least + each[2]) for each in more if each[0] >= each[1])


def _agrees(row: Row, divisor: float, places: Places) -> bool:
    """Whether each number that is shown with these places follows from the shown ones above it."""
    scores = [round(score, places.scores) for score in row.scores]
    quotients = [round(round(each, places.products) / divisor, places.scores) for each in row.products]
    found = [_exponential(row, score, places.exponentials) for score in row.scores]
    total, most = _exponential(row, row.log_total, places.exponentials)
    parts = [number * 10.0 ** (power - most) for number, power in found]  # in units of the power of the sum
    return (
        quotients == scores
        and found == [_exponential(row, score, places.exponentials) for score in scores]
        and all(
            format_percent(part / total) == format_percent(weight) or not 0.001 <= weight <= 0.999
            for part, weight in zip(parts, row.weights, strict=True)
        )
        and (row.visible > len(parts) or round(sum(parts), places.exponentials) == total)
    )


def is_of_the_story(story: Story, query: int) -> bool:
    """Whether a token is the word that both sentences have, which is compared with words of both."""
    return not story.is_own and query == story.shipped.word


def as_recorded(story: Story, said: str) -> str:
    """A sentence that is true of the model's own settings, which it names once these are changed."""
    return text.AS_RECORDED.format(said=said) if story.altered else said

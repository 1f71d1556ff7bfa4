"""The largest weights of a row on Start, worked out from the dot products on, as a table."""

from __future__ import annotations

from math import log

from jaxtyping import Bool, Float
from torch import Tensor

from attention.number_format import format_change, format_percent, format_token, format_weight
from attention.story.settings import Story
from attention.trace import Trace
from attention.ui.markdown import escape
from attention.ui.text import start as text

TOP = 3  # tokens whose scores are shown
READABLE = log(1e6)  # scaled scores up to it have an exponential that can be read


def token_name(trace: Trace, at: int) -> str:
    """A token in quotes, with its position if the sentence has it twice."""
    labels = trace.queries.labels
    return escape(format_token(labels[at], at) if labels.count(labels[at]) > 1 else f"“{labels[at]}”")


def selected_row(trace: Trace) -> Float[Tensor, " n"]:
    """The weights of the selected token."""
    return trace.weights[trace.config.head, trace.config.query_index]


def visible_keys(trace: Trace) -> Bool[Tensor, " n"]:
    """Which keys the selected token sees."""
    return trace.mask[trace.config.query_index]


def _scores(trace: Trace) -> Float[Tensor, " n"]:
    """The scaled scores of the selected token with all tokens."""
    return trace.scores[trace.config.head, trace.config.query_index].double()


def is_readable(trace: Trace) -> bool:
    """Whether the largest exponential of the row has few enough digits."""
    return float(_scores(trace)[visible_keys(trace)].max()) <= READABLE


def scores_table(story: Story, trace: Trace) -> str:
    """How the largest weights of the row come about, from the dot products on, as a table in Markdown."""
    config, row, scores = trace.config, selected_row(trace), _scores(trace)
    products = (trace.q[config.head, config.query_index] @ trace.k[config.head].T).double()
    top = [at for at in row.argsort(descending=True, stable=True).tolist() if visible_keys(trace)[at]][:TOP]
    scaled = text.SCALED[story.scale].format(d_head=config.d_head)
    if story.changes("temperature"):
        scaled = text.DIVIDED.format(scaled=scaled, temperature=f"{story.temperature:g}")
    cells = {
        "tokens": [token_name(trace, at) for at in top],
        "rule": ["---" for _ in top],
        "products": [format_change(float(products[at]), plus=False, places=3) for at in top],
        "scores": [format_change(float(scores[at]), plus=False, places=3) for at in top],
        "exponentials": [_format_exponential(float(scores[at].exp())) for at in top],
        "weights": [format_percent(float(row[at])) for at in top],
    }
    template = text.SCORES + (text.EXPONENTIALS if is_readable(trace) else text.WEIGHTS)
    return template.format(
        query=token_name(trace, config.query_index),
        visible=int(visible_keys(trace).sum()),
        scaled=scaled,
        total=_format_exponential(float(scores[visible_keys(trace)].exp().sum())),
        **{name: " | ".join(found) for name, found in cells.items()},
    )


def _format_exponential(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}" if value >= 1 else format_weight(value)

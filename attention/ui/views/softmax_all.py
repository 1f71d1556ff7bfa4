"""The Softmax page, all rows: the histogram of weights and the entropy of every query, in all heads."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from attention.analysis.distribution import Distribution
from attention.charts import distribution as charts
from attention.config import Config
from attention.number_format import format_mean, format_percent
from attention.operations.softmax import SOFTMAXES
from attention.sources.providers import distributes
from attention.tables import softmax
from attention.trace import Trace
from attention.ui import results
from attention.ui.session import browser_yield


def draw(trace: Trace) -> None:
    """Draws every head, one below the other; the selected head is framed."""
    config = trace.config
    found = results.softmax.distribution(config)
    for sentence in _oddities(found, config):
        st.info(sentence, icon=":material/info:")
    left, right = st.columns(2, gap="medium")
    with left:
        size = r"\lvert p_{qk} \rvert" if SOFTMAXES[config.softmax].signed else "p_{qk}"
        st.markdown(f"**Weights by size**: ${size}$ of the {int(found.seen.sum()):,} visible pairs")
        frame = pa.table(softmax.histogram(found))
        st.vega_lite_chart(
            frame,
            charts.histogram(config.heads, config.head),
            key="sizes",
            width="stretch",
            alt="Bars by size, one strip per head: the number of weights of each size",
        )
        browser_yield.yield_to_browser()
        st.caption(_counts(found, config))
    with right:
        if distributes(config):
            _entropies(found, config)
        else:
            st.markdown("**Entropy by query**")
            why = SOFTMAXES[config.softmax].no_distribution
            st.caption(f"{why[0].upper()}{why[1:]}, so rows are no distributions and have no entropy.")
            st.caption(_sums(trace))


def _entropies(found: Distribution, config: Config) -> None:
    st.markdown(r"**Entropy by query**: $H_q = -\sum_k p_{qk} \ln p_{qk}$. Dashed: upper bound")
    most = float(found.bound.max()) or 1.0
    frame = pa.table(softmax.entropies(found, config.heads))
    spec = charts.entropies(config.heads, config.tokens, most, config.head)
    st.vega_lite_chart(
        frame,
        spec,
        key="entropies",
        width="stretch",
        alt="Lines by query, one strip per head: the entropy of its weights and its upper bound",
    )
    st.caption(_spread(found, config, most))


def _sums(trace: Trace) -> str:
    """What the rows of the selected head sum to."""
    rows = trace.weights[trace.config.head].double().sum(-1)[trace.mask.any(-1)]
    if not len(rows):
        return "All queries are fully masked, so every row sums to 0."
    ends = (format_mean(float(each)) for each in (rows.min(), rows.max(), rows.mean()))
    return "Head {}: rows sum to {} to {}, mean {}.".format(trace.config.head, *ends)


def _counts(found: Distribution, config: Config) -> str:
    head = config.head
    pairs = int(found.seen.sum())
    zeros = f"{int(found.zero[head]):,} exactly zero in float32"
    if SOFTMAXES[config.softmax].sparse:
        zeros = (
            f"{format_percent(int(found.zero[head]) / max(pairs, 1))} exactly zero, below the threshold of their row"
        )
    if found.negative is not None:
        zeros += f", {format_percent(int(found.negative[head]) / max(pairs, 1))} negative"
    return (
        f"Head {head}: {int(found.below[head]):,} pairs have a weight below 1e-8, {zeros}. "
        "Bar heights are relative to the tallest bar of all heads; a single pair is still visible."
    )


def _spread(found: Distribution, config: Config, most: float) -> str:
    head, limit = config.head, "ln(visible keys)"
    if not SOFTMAXES[config.softmax].sums_to_one:
        limit += " (1/e each for one or two keys, because a row may sum to less than one)"
    rows = found.entropy[head][found.seen > 0]
    if not len(rows):
        return "All queries are fully masked, so there is no entropy."
    text = f"Head {head}: entropy from {float(rows.min()):.3f} to {float(rows.max()):.3f} nats, mean {float(rows.mean()):.3f}."
    several = "if a point covers several queries, the band shows their range"
    return f"{text} Dashed: {limit}. Each strip is {most:.2f} nats high; {several}."


def _oddities(found: Distribution, config: Config) -> list[str]:
    """What is unusual about all rows, one sentence each."""
    blind, single = int((found.seen == 0).sum()), int((found.seen == 1).sum())
    pairs = int(found.seen.sum())
    softmax, alone = SOFTMAXES[config.softmax], "all weights are one and all entropies zero"
    if not softmax.sums_to_one:
        alone = f"the rest goes to {softmax.rest}" if softmax.rest else "its weight depends on its score"
        alone = f"its weight is {softmax.total}" if softmax.halves > 1 else alone
    sentences = {
        f"{blind} of {len(found.seen)} queries are fully masked and are not counted here.": blind > 0,
        f"Every query that is not fully masked has one visible key: {alone}.": 0
        < single
        == int((found.seen > 0).sum()),
        f"{format_percent(int(found.zero.sum()) / max(pairs * len(found.zero), 1))} of all weights are zero in float32: "
        "the scores are far apart.": not softmax.sparse and int(found.zero.sum()) * 10 > pairs * len(found.zero) > 0,
    }
    return [sentence for sentence, is_so in sentences.items() if is_so]

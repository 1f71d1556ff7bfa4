"""The Softmax page, all rows: the histogram of weights and the entropy of every query, in all heads."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from attention.analysis.distribution import Distribution
from attention.charts import distribution as charts
from attention.config import Config
from attention.number_format import format_mean, format_percent
from attention.operations.normalisers import Normaliser
from attention.operations.softmax import SOFTMAXES
from attention.sources.providers import distributes, has_scores, no_distribution
from attention.tables import softmax
from attention.trace import Trace
from attention.ui import results
from attention.ui.session import browser_yield, present
from attention.ui.text import softmax as text
from attention.ui.views import focus


def draw(trace: Trace) -> None:
    """Draws every head, one below the other; the selected head is framed."""
    config = trace.config
    st.markdown(text.EVERY_ROW if distributes(config) else text.EVERY_SUM)
    found = results.softmax.distribution(config)
    for sentence in _oddities(found, config):
        st.info(sentence, icon=":material/info:")
    left, right = st.columns(2, gap="medium")
    with left:
        size = r"\lvert p_{qk} \rvert" if SOFTMAXES[config.softmax].signed else "p_{qk}"
        st.markdown(f"## {text.SIZES}", help=text.SIZES_HELP.format(size=size, pairs=int(found.seen.sum())))
        frame = pa.table(softmax.histogram(found))
        st.vega_lite_chart(
            frame,
            charts.histogram(config.heads, config.head),
            key="sizes",
            width="stretch",
            alt=text.SIZES_ALT,
        )
        browser_yield.yield_to_browser()
        st.caption(_counts(found, config))
    with right:
        if distributes(config):
            _entropies(found, config)
        else:
            st.markdown(f"## {text.ENTROPY}")
            why = no_distribution(config)
            st.caption(text.NO_DISTRIBUTION.format(why=f"{why[0].upper()}{why[1:]}"))
            st.caption(_sums(trace))
    if not present.is_embedded():
        with st.columns([1, 3])[0]:
            focus.head(config)


def finding(config: Config) -> str:
    """Which head concentrates its weights most and which least, by the mean entropy of its rows, as in the table of heads.

    "" if rows are no distributions or have no choice, or if all heads are alike to three digits.
    """
    if not has_scores(config.source) or not distributes(config):
        return ""
    found = results.softmax.distribution(config)
    seeing = found.seen > 0
    if not bool((found.seen > 1).any()):
        return ""
    means = found.entropy[:, seeing].double().mean(-1)
    sharp, even = int(means.argmin()), int(means.argmax())
    low, high, bound = (format_mean(float(each)) for each in (means[sharp], means[even], found.bound[seeing].mean()))
    if config.heads > 1:
        return "" if low == high else text.ALL_HEADS.format(sharp=sharp, even=even, low=low, high=high)
    return text.ALL_ONE.format(sharp=sharp, low=low, bound=bound)


def _entropies(found: Distribution, config: Config) -> None:
    st.markdown(f"## {text.ENTROPY}", help=text.ENTROPY_HELP)
    most = float(found.bound.max()) or 1.0
    frame = pa.table(softmax.entropies(found, config.heads))
    spec = charts.entropies(config.heads, config.tokens, most, config.head)
    st.vega_lite_chart(
        frame,
        spec,
        key="entropies",
        width="stretch",
        alt=text.ENTROPY_ALT,
    )
    st.caption(_spread(found, config, most))


def _sums(trace: Trace) -> str:
    """What the rows of the selected head sum to."""
    rows = trace.weights[trace.config.head].double().sum(-1)[trace.mask.any(-1)]
    if not len(rows):
        return text.SUMS_MASKED
    smallest, largest, mean = (format_mean(float(each)) for each in (rows.min(), rows.max(), rows.mean()))
    return text.SUMS.format(head=trace.config.head, smallest=smallest, largest=largest, mean=mean)


def _counts(found: Distribution, config: Config) -> str:
    head = config.head
    pairs = int(found.seen.sum())
    zeros, negative = text.ZEROS.format(count=int(found.zero[head])), ""
    if SOFTMAXES[config.softmax].sparse:
        zeros = text.ZEROS_SPARSE.format(share=format_percent(int(found.zero[head]) / max(pairs, 1)))
    if found.negative is not None:
        negative = text.NEGATIVES.format(share=format_percent(int(found.negative[head]) / max(pairs, 1)))
    return text.COUNTS.format(head=head, below=int(found.below[head]), zeros=zeros, negative=negative)


def _spread(found: Distribution, config: Config, most: float) -> str:
    rows = found.entropy[config.head][found.seen > 0]
    if not len(rows):
        return text.NO_ENTROPY
    return text.ENTROPIES.format(
        head=config.head,
        smallest=float(rows.min()),
        largest=float(rows.max()),
        mean=float(rows.mean()),
        extra="" if SOFTMAXES[config.softmax].sums_to_one else text.ENTROPY_EXTRA,
        height=most,
    )


def _oddities(found: Distribution, config: Config) -> list[str]:
    """What is unusual about all rows, one sentence each."""
    blind, single = int((found.seen == 0).sum()), int((found.seen == 1).sum())
    pairs, zeros, sentences = int(found.seen.sum()) * len(found.zero), int(found.zero.sum()), []
    if blind:
        sentences.append(text.ALL_MASKED.format(masked=blind, queries=len(found.seen)))
    if 0 < single == int((found.seen > 0).sum()):
        sentences.append(text.ALL_SINGLE.format(alone=_single_key(SOFTMAXES[config.softmax])))
    if not SOFTMAXES[config.softmax].sparse and zeros * 10 > pairs > 0:
        sentences.append(text.MANY_ZEROS.format(share=format_percent(zeros / pairs)))
    return sentences


def _single_key(softmax: Normaliser) -> str:
    """The weight of a key that is the only visible one."""
    if softmax.sums_to_one:
        return text.ALONE
    if softmax.halves > 1:
        return text.ALONE_TOTAL.format(total=softmax.total)
    return text.ALONE_REST.format(rest=softmax.rest) if softmax.rest else text.ALONE_SCORE

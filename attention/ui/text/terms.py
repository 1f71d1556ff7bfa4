"""The terms of a page, each explained on hover, on focus and on tap, without a script.

To add one, write its explanation here and in docs/GLOSSARY.md (a test compares them), and name it in `PAGES`.
"""

from __future__ import annotations

from html import escape

import streamlit as st

TERMS = {
    "token": "one element of the sequence, here a word or a part of one; tokens are counted from 0",
    "query": "vector of what a token searches for: q = x W_q",
    "key": "vector that queries are compared with: k = x W_k",
    "value": "vector of what a token passes on: v = x W_v",
    "channel": "one number of the vector of a token, a query, a key or a value; channels are counted from 0",
    "head": "decides what each token takes from the others, by its own queries, keys and values: softmax(q kᵀ / √d_head) v",
    "layer": "one block of a model: its heads, then a feed-forward layer; each adds to the vector of every token; counted from 0",
    "feed-forward layer": "learned matrices that change the vector of each token by itself, without the other tokens",
    "cosine": "how alike the directions of two vectors are: x · y / (‖x‖ ‖y‖); 1 for the same direction, 0 at a right angle",
    "weight": "share of one token in what another one takes: one number of a softmax row, which adds up to 1",
    "softmax": "turns a row of logits into weights that add up to one: exp(sⱼ) / Σ exp(sᵢ)",
    "attention sink": "a key, or a logit of its own, that takes the weight a head does not need elsewhere",
    "score": "dot product of a query and a key, before scaling: q · k",
    "logit": "scaled score, q · k / (√d_head · T), after softcap, bias and mask, as the softmax takes it; a masked pair has −∞",
    "mask": "which keys are visible to a query; a masked pair has weight 0",
    "entropy": "how spread out a row of weights is: −Σ p ln p, in nats; 0 for one key, ln n for n equal weights",
    "uniform weight": "1/n for n visible keys; “2.0 × uniform” is a weight relative to it",
    "context": "weighted sum of values per head, before the output projection: Σ wⱼ vⱼ",
    "induction head": "a head that attends to the token after an earlier copy of the current one",
    "KV cache": "keys and values of earlier tokens, kept for the next one: 2 · kv heads · d_head numbers per token and layer",
    "d_head": "channels of a query and a key in one head: d_model / heads",
    "MHA, GQA, MQA": "keys and values per head, per group of heads, or one set for all heads",
    "FLOP": "one floating-point operation; attention has 4 b h n² d of them per forward pass",
    "nat": "unit of entropy and loss computed with the natural logarithm; 1 nat is 1.44 bits",
    "SDPA": "scaled dot-product attention: softmax(q kᵀ / √d_head) v; in PyTorch, a function that returns its output alone",
    "fused kernel": "one program of a device for all steps of attention, which never stores the n × n weights",
    "bus": "the connection between a GPU and the memory of the computer, far slower than the GPU's own memory",
    "pinned memory": "memory that the system keeps in place, from which data are copied to a GPU faster",
    "batch": "several sequences that are computed at once; no token attends to a token of another one",
    "view": "the same numbers in another shape, in the order of memory; unlike a transpose, it swaps no axes",
    "loss": "mean of −ln p of the right token, in nats; ln of the number of tokens for a uniform guess",
}
PAGES = {
    "start": (
        "token",
        "head",
        "weight",
        "query",
        "key",
        "value",
        "score",
        "softmax",
        "layer",
        "feed-forward layer",
        "cosine",
    ),
    "heads": (
        "token",
        "query",
        "key",
        "value",
        "head",
        "mask",
        "weight",
        "softmax",
        "attention sink",
        "entropy",
        "MHA, GQA, MQA",
        "KV cache",
    ),
    "steps": ("token", "query", "key", "value", "channel", "head", "score", "logit", "softmax", "context"),
    "softmax": ("query", "key", "score", "logit", "softmax", "attention sink", "weight", "entropy", "nat", "d_head"),
    "masks": ("query", "key", "mask", "weight"),
    "training": ("token", "head", "induction head", "weight", "uniform weight", "loss", "nat"),
    "layers": ("layer", "head", "query", "key", "weight", "attention sink", "induction head", "entropy", "nat"),
    "model": ("token", "head", "query", "key", "weight"),
    "implementations": ("head", "query", "key", "value", "mask", "weight", "SDPA", "batch", "view"),
    "timing": ("head", "query", "key", "value", "SDPA", "fused kernel", "bus", "pinned memory", "FLOP"),
    "your_data": ("query", "key", "value", "weight", "token"),
}
LINE = '<p class="terms">Terms: {}</p>'
TERM = (
    '<span class="term"><button type="button" aria-describedby="term-{id}">{name}</button>'
    '<span class="meaning" role="tooltip" id="term-{id}"><b>{title}</b>: {meaning}.</span></span>'
)


def draw(page: str, without: tuple[str, ...] = ()) -> None:
    """Draws the terms of a page in one line, `without` those that do not occur in what it shows.

    Pointing at a term, or focusing it, shows its explanation below the line.
    """
    st.html(LINE.format(" · ".join(_term(name) for name in PAGES[page] if name not in without)))


def explanation(*names: str) -> str:
    """Returns what terms mean, in Markdown, for the help of a sentence that uses them."""
    return " ".join(f"**{_title(name)}**: {TERMS[name]}." for name in names)


def _title(name: str) -> str:
    return name[0].upper() + name[1:]


def _term(name: str) -> str:
    identity = name.replace(" ", "-").replace(",", "")
    return TERM.format(id=identity, name=name, title=_title(name), meaning=escape(TERMS[name]))

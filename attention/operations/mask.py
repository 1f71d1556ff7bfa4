"""Mask: pairs that do not take part get a score of minus infinity. The rules themselves are in `attention/masks.py`."""

from __future__ import annotations

import math

from attention.operations.operation import Operation, Source, Spec

HIDDEN = -math.inf  # the logit of a masked key
ADDED = r"\mathrm{mask}_j"  # what a mask adds to a logit, in TeX


def _applies(spec: Spec) -> bool:
    return spec.masks


LOGITS = Operation(
    "logits",
    "logits",
    "b h q k",
    "Logits: masked pairs at minus infinity",
    "Masked pairs are set to minus infinity, so the softmax gives them a weight of zero.",
    r"l_{hij} = s_{hij}\ \text{where}\ m_{ij},\ \text{else}\ {-\infty}",
    sources=(Source("scores", "seen", "where"), Source("mask", "shared", "=")),
    compute=lambda values, spec: values["scores"].masked_fill(~values["mask"], HIDDEN),
    applies=_applies,
    updates="scores",
    term=lambda spec, score, written: f"{score} + {written(ADDED)}",
    plain=r"\mathrm{logits} = {s0}\ \text{if visible, else}\ {-\infty}",
    code='scores = scores.masked_fill(~mask, float("-inf"))\n',
)
OPERATIONS = (
    Operation(
        "mask",
        "mask",
        "q k",
        "Mask: visible pairs",
        "1: the key is visible to the query. 0: it is masked.",
        r"m_{ij} \in \{0, 1\}",
        "mask[{at}] = {value}",
        applies=_applies,
        plain=r"\mathrm{mask} = 1\ \text{if visible, else}\ 0",
        code=lambda spec: f"mask = {spec.mask_code}\n",
    ),
    LOGITS,
)

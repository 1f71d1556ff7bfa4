"""One row as bars: the user drags a logit, and the browser computes all weights of the row.

The browser receives the logits in float32 and the normaliser of the head. Nothing is sent to the server.
"""

from __future__ import annotations

import math
from typing import Any

from jaxtyping import Float
from torch import Tensor

from attention.analysis.row_stages import Stages, ranks
from attention.charts import theme
from attention.codec import link
from attention.components.registry import component
from attention.number_format import format_token
from attention.operations.differential import own_name
from attention.operations.normalisers import Normaliser
from attention.operations.sparse import Threshold
from attention.operations.table import operations
from attention.sources.spec import spec_of
from attention.tables.rows import key_labels
from attention.wire.message import frame_message

RISE, FALL = 0.75, 0.5  # logits between the longest bar and the end of the axis above and below 0, at least


def score_bars(found: Stages, *, key: str = "score bars") -> None:
    """Draws the logits and the weights of a row."""
    component("score_bars")(key=key, data=message(found))


def message(found: Stages) -> bytes:
    """Returns one message: a header, then the logits (k) in float32, minus infinity for masked keys."""
    config, names, second = found.config, key_labels(found.config), own_name("scores")
    seen = found.logits[found.visible]
    rank = ranks(found.weights).tolist()
    header = {
        "painted": link(config),
        "tokens": names,
        "names": [format_token(names[at] if names else "", at, "key") for at in range(config.n_keys)],
        "places": rank if config.order == "weight" else list(range(config.n_keys)),
        "key": found.heaviest,
        "ends": [-_end(-seen, FALL), _end(seen, RISE)],
        "form": form(config.head_softmax),
        "changes": [each.name for each in operations(spec_of(config), "scaled", second) if each.updates == "scores"],
        "accents": {"query": theme.QUERY, "key": theme.KEY},
        "neutrals": theme.NEUTRALS,
    }
    return frame_message(header, [found.logits.float().contiguous().numpy().data])


def _end(logits: Float[Tensor, " k"], room: float) -> float:
    """Returns the end of the axis on one side of 0: with room to drag the largest logit."""
    return math.ceil(2 * (max([0.0, *logits.tolist()]) + room)) / 2


def form(softmax: Normaliser) -> dict[str, Any]:
    """Returns what the browser has to know of a normaliser; `sink` is None if nothing is added to the denominator."""
    if isinstance(softmax, Threshold):
        return {"kind": "threshold", "power": softmax.power, "sink": None}
    sink = softmax.sink if math.isfinite(softmax.sink) else None
    return {"kind": "softmax" if softmax.distributes else "sigmoid", "power": 1, "sink": sink}

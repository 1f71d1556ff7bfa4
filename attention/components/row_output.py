"""The selected row times the values: one line per key with its contribution to the output, and the output as their sum.

The browser receives weights, values and output in float32 and multiplies them itself.
"""

from __future__ import annotations

from attention.analysis.weighted_values import WeightedValues
from attention.charts import theme
from attention.codec import link
from attention.components.registry import component
from attention.config import Config
from attention.number_format import format_token
from attention.sources.providers import distributes
from attention.tables.rows import key_labels, labels
from attention.wire.message import frame_message


def row_output(config: Config, found: WeightedValues, *, key: str = "output") -> None:
    """Draws the weighted values of a head and their sum."""
    component("row_output")(key=key, data=message(config, found))


def message(config: Config, found: WeightedValues) -> bytes:
    """Returns one message: a header, then weights (r), values (r e), output (e) and, if there is one, gate (e) in float32."""
    keys = key_labels(config)

    queries, names = labels(config), [format_token(keys[at], at) if keys else f"{at}" for at in found.keys]
    header = {
        "painted": link(config),
        "head": found.head,
        "query": format_token(queries[found.query] if queries else "", found.query),
        "names": [*names, *([f"other {found.rest:,}"] if found.rest else [])],
        "rest": found.rest,
        "shares": distributes(config),
        "channels": len(found.output),
        "gated": found.gate is not None,
        "accents": {"query": theme.QUERY, "less": theme.LESS, "more": theme.MORE},
        "neutrals": theme.NEUTRALS,
    }
    tensors = [found.weights, found.values, found.output]
    tensors += [] if found.gate is None else [found.gate.expand(len(found.output))]
    return frame_message(header, [tensor.contiguous().numpy().data for tensor in tensors])

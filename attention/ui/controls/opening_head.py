"""The head and the query that a recording or a training opens with when it is chosen as the source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attention.fitting import layers
from attention.knobs import DEFAULTS, SOURCES, TRAINED
from attention.recorded.shipped import SHIPPED
from attention.training.recipe import OWN
from attention.training.shipped import course
from attention.training.tasks import TASKS

NAMES = ("layer", "head", "query")
PREFIX = "recorded:"


def implied_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the layer, head and query that a change of the source implies; {} if others were chosen, and when comparing.

    A head that was chosen stays, so that sources can be compared by it. So does any head when a model reads another text or a
    file is opened: these are not among `SOURCES`.
    """
    chosen = any(now[name] != before[name] for name in NAMES)
    if now["source"] == before["source"] or now["source"] not in SOURCES or chosen or now["against"]:
        return {}
    shown = tuple(before[name] for name in NAMES)
    if shown not in (_usual(before["source"]), _opening(before["source"])):
        return {}
    return dict(zip(NAMES, _opening(now["source"]), strict=True))


def _opening(source: str) -> tuple[int, ...]:
    """The layer, head and query to open a source with: of a real model, the head of a training's task, or the usual ones."""
    kind, _, name = source.partition(":")
    if kind == TRAINED and name in TASKS:
        scores = course(name).last.scores[OWN]
        return *divmod(int(scores.argmax()), scores.shape[1]), DEFAULTS["query"]
    shipped = SHIPPED.get(source.removeprefix(PREFIX)) if source.startswith(PREFIX) else None
    return (shipped and shipped.opens) or _usual(source)


def _usual(source: str) -> tuple[int, ...]:
    """The layer, head and query of a link that says nothing about them."""
    return layers(source)[0], DEFAULTS["head"], DEFAULTS["query"]

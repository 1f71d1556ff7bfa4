"""Results of the Model page: a summary of what a model has read, and one row of weights over a picture."""

from __future__ import annotations

from attention.models import summaries
from attention.models.parts import Part, weights
from attention.models.prompt import PLAIN, WORDS
from attention.ui.results.shared import LOW_PRIORITY, wait_with_spinner

MAKING = "Combining heads …"


def make_part(part: Part, summary: str, tokens: str) -> Part:
    """A summary of a part, with the requested tokens; raises ModelError if that is not possible."""
    return wait_with_spinner(LOW_PRIORITY.submit(_summarize_part, part, summary, tokens), MAKING)


def row(part: Part, layer: int, head: int, query: int) -> list[float]:
    """The weights of one query by key, for one head of a layer, or the mean of all heads (-1)."""
    return LOW_PRIORITY.submit(_row, part, layer, head, query).result()


def _summarize_part(part: Part, summary: str, tokens: str) -> Part:
    found = summaries.WAYS[summary](part)
    if tokens == PLAIN:
        return summaries.without_marks(found)
    return summaries.words(found) if tokens == WORDS else found


def _row(part: Part, layer: int, head: int, query: int) -> list[float]:
    found = weights(part.stack, layer)[:, query]
    return (found.mean(0) if head < 0 else found[head]).tolist()

"""The purpose of each step in a plain sentence, by the name of the step."""

from __future__ import annotations

from attention.config import Config
from attention.steps.plan import made_here

LESSONS: dict[str, str] = {
    "embedded x": "Every token has a row of numbers: what it is, not yet where it stands.",
    "sines x": "A pattern of waves for each position, the same in every text.",
    "x": "Every token is a row of numbers; attention is how one row gets something from the others.",
    "embedded y": "The other sequence: every token of it has a row of numbers, too.",
    "sines y": "The positions of the other sequence, as waves.",
    "y": "The other sequence, whose tokens are looked at: keys and values come from here.",
    "W_q": "A table that turns a token into what it looks for; a model learns it.",
    "W_k": "A second table: it turns a token into what it can be found by.",
    "W_v": "A third table: it turns a token into what it hands over.",
    "Q": "A row of Q is what its token looks for.",
    "K": "A row of K is what its token can be found by.",
    "V": "A row of V is what its token hands over to those that find it.",
    "q": "The channels of Q are dealt out to the heads: each looks for something of its own.",
    "k": "The channels of K are dealt out likewise.",
    "v": "The channels of V, too: each head hands over a part.",
    "turned q": "Pairs of channels are turned, further for later positions.",
    "turned k": "Keys are turned likewise, so that what counts is how far a query and a key are apart.",
    "scores": "How well does what one token looks for fit what another can be found by? A number for each pair.",
    "scaled": "The same scores at a size at which the softmax can still weigh one against another.",
    "capped": "Squeezed, so that no score gets out of hand.",
    "bias": "A penalty for distance, whatever the tokens are.",
    "biased": "With the penalty, near keys have an advantage over far ones.",
    "mask": "Which pairs count: where it is 0, the query must not see the key.",
    "logits": "What must not be seen gets minus infinity, of which the softmax makes zero.",
    "weights": "Every row becomes shares: how much its token takes from each other.",
    "context": "Each token gets the values of those it looks at, each by its share, added up.",
    "joined": "What all heads have found, side by side again.",
    "W_o": "A last table: it mixes what the heads have found.",
    "output": "Again a row of numbers for every token, now with something of the others in it.",
}

GIVEN = {
    "q": "A row of q is what its token looks for in this head; where it stands is in it already.",
    "k": "A row of k is what its token can be found by in this head.",
    "v": "A row of v is what its token hands over to those that find it.",
}
NOT_MIXED = (
    "A last table could mix what the heads have found; this one has ones on its diagonal and leaves it as it is."
)


def lesson(config: Config, step: str) -> str:
    """Returns the purpose of a step under a config.

    W_o does not mix heads that are constructed or have identity projections. If the source has queries, keys and values,
    they were not split into heads here.
    """
    if step in GIVEN and not made_here(config):
        return GIVEN[step]
    if step == "W_o" and config.projections in ("constructed", "identity") and not config.d_v:
        return NOT_MIXED
    return LESSONS[step]

"""The parts of a pass that a diagram shows, in the order of computation, each with its steps.

To add a step to a part, add its name here and in `config.STEPS`; a test checks that every step is in exactly one part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from attention.config import Config
from attention.scores import row_sums
from attention.steps.plan import by_name
from attention.steps.values import pairs


@dataclass(frozen=True)
class Part:
    """A part of the pass: its `place` and `name` in the diagram, a `title` that describes it, and its `steps`.

    `leads`: the most informative step of the part, or the last of its steps if the config does not have that one.
    """

    place: str
    name: str
    title: str
    steps: tuple[str, ...]
    leads: str


PARTS: tuple[Part, ...] = (
    Part(
        "x", "x", "The tokens as vectors, a row each", ("embedded x", "sines x", "x", "embedded y", "sines y", "y"), "x"
    ),
    Part("q", "Q", "Queries: what each token looks for", ("W_q", "Q", "q", "turned q"), "Q"),
    Part("k", "K", "Keys: what each token is found by", ("W_k", "K", "k", "turned k"), "K"),
    Part("v", "V", "Values: what each token hands over", ("W_v", "V", "v"), "V"),
    Part("scores", "scores", "Every query times every key", ("scores",), "scores"),
    Part(
        "scale", "scale", "Scores brought to a size that suits the softmax", ("scaled", "capped", "bias", "biased"), ""
    ),
    Part("mask", "mask", "What a query may not see is hidden", ("mask", "logits"), "logits"),
    Part("softmax", "softmax", "Every row of scores becomes weights", ("weights",), "weights"),
    Part("values", "weights × V", "Values, each by its weight, summed", ("context",), "context"),
    Part("join", "join heads", "Heads side by side again", ("joined",), "joined"),
    Part("output", "output", "Mapped back to the width of a token", ("W_o", "output"), "output"),
)


def parts(config: Config) -> list[Part]:
    """Returns the parts that the pass of a config has, each with the steps that exist."""
    plan = by_name(config)
    both = replace(PARTS[0], name="x, y", title="The tokens of both sequences as vectors, a row each")
    wanted = (both, *PARTS[1:]) if config.keys else PARTS
    found = [(part, tuple(name for name in part.steps if name in plan)) for part in wanted]
    blind = int((~pairs(config).any(-1)).sum()) if "mask" in plan else 0
    sums = row_sums(config.softmax, blind, config.tokens)
    found = [
        (replace(part, title=f"{part.title}: {sums}") if part.place == "softmax" else part, steps)
        for part, steps in found
    ]
    return [
        replace(part, steps=steps, leads=part.leads if part.leads in steps else steps[-1])
        for part, steps in found
        if steps
    ]

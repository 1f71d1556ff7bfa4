"""The parts of a pass that a diagram shows, in the order of computation, each with its steps.

A step is in the part that its operation names; a test checks that there is such a part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from attention.config import Config
from attention.operations.softmax import row_sums
from attention.steps.plan import steps
from attention.steps.values import pairs


@dataclass(frozen=True)
class Part:
    """A part of the pass: its `place` and `name` in the diagram, a `title` that describes it, and its `steps`.

    `leads`: the most informative step of the part, or the last of its steps if the config does not have that one.
    """

    place: str
    name: str
    title: str
    leads: str = ""
    steps: tuple[str, ...] = ()


PARTS: tuple[Part, ...] = (
    Part("x", "x", "The tokens as vectors, a row each", "x"),
    Part("q", "Q", "Queries: what each token looks for", "Q"),
    Part("k", "K", "Keys: what each token is found by", "K"),
    Part("v", "V", "Values: what each token hands over", "V"),
    Part("scores", "scores", "Every query times every key", "scores"),
    Part("scale", "scale", "Scores brought to a size that suits the softmax"),
    Part("mask", "mask", "What a query may not see is hidden", "logits"),
    Part("softmax", "softmax", "Every row of scores becomes weights", "weights"),
    Part("values", "weights × V", "Values, each by its weight, summed", "context"),
    Part("join", "join heads", "Heads side by side again", "joined"),
    Part("output", "output", "Mapped back to the width of a token", "output"),
)


def parts(config: Config) -> list[Part]:
    """Returns the parts that the pass of a config has, each with the steps that exist."""
    found: dict[str, list[str]] = {}
    for step in steps(config):
        found.setdefault(step.part, []).append(step.name)
    return [_part(config, part, tuple(found[part.place])) for part in PARTS if part.place in found]


def _part(config: Config, part: Part, names: tuple[str, ...]) -> Part:
    part = replace(part, steps=names, leads=part.leads if part.leads in names else names[-1])
    if part.place == "x" and config.keys:
        return replace(part, name="x, y", title="The tokens of both sequences as vectors, a row each")
    if part.place == "softmax":
        blind = int((~pairs(config).any(-1)).sum())
        return replace(part, title=f"{part.title}: {row_sums(config.softmax, blind, config.tokens)}")
    return part

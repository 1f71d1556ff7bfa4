"""The parts of a pass that a diagram shows, in the order of computation, each with its steps.

A step is in the part that its operation names; a test checks that there is such a part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from attention.config import Config
from attention.operations.differential import own_name
from attention.operations.softmax import row_sums
from attention.steps.plan import steps
from attention.steps.values import pairs


@dataclass(frozen=True)
class Part:
    """A part of the pass: its `place` in the diagram, a `title` that describes it, its `steps`, and its `group`.

    `leads`: the most informative step of the part, or the last of its steps if the config does not have that one. `name` is
    that of the matrix that the step makes, so that diagram, headline and matrices use one word.
    """

    place: str
    title: str
    leads: str = ""
    steps: tuple[str, ...] = ()
    group: str = ""
    name: str = ""


GROUPS: dict[str, tuple[Part, ...]] = {  # what the parts do together, in the order of computation
    "Project": (
        Part("x", "Token vectors, one row each", "x"),
        Part("q", "Queries: what each token searches for", "Q"),
        Part("k", "Keys: what each token is found by", "K"),
        Part("v", "Values: what each token passes on", "V"),
    ),
    "Score": (
        Part("scores", "Dot product of every query with every key", "scores"),
        Part("scale", "Scores scaled for the softmax"),
        Part("mask", "Which keys each query may use"),
        Part("logits", "Masked keys are excluded", "logits"),
    ),
    "Softmax": (Part("softmax", "Each row of logits becomes weights", "weights"),),
    "Mix values": (
        Part("values", "Sum of values, each times its weight", "context"),
        Part("join", "Heads concatenated", "joined"),
        Part("output", "Projected back to d_model channels", "output"),
    ),
}
PARTS: tuple[Part, ...] = tuple(replace(part, group=group) for group, parts in GROUPS.items() for part in parts)


def parts(config: Config) -> list[Part]:
    """Returns the parts that the pass of a config has, each with the steps that exist."""
    found: dict[str, list[str]] = {}
    for step in steps(config):
        found.setdefault(step.part, []).append(step.name)
    return [_part(config, part, tuple(found[part.place])) for part in PARTS if part.place in found]


def _part(config: Config, part: Part, names: tuple[str, ...]) -> Part:
    own = [name for name in names if name != own_name(name.partition(" ")[0])]  # not those of a second softmax
    leads = part.leads if part.leads in names else own[-1]
    part = replace(part, steps=names, leads=leads, name=leads)
    if part.place == "x" and config.keys:
        return replace(part, name="x, y", title="Token vectors of both sequences, one row each")
    if part.place == "softmax":
        blind = int((~pairs(config).any(-1)).sum())
        return replace(part, title=f"{part.title}: {row_sums(config.softmax, blind, config.tokens)}")
    return part

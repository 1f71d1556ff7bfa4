"""The role of a hand-built head: it is called by the rule for which it was built, whatever its weights show.

If its weights do not show the rule, its sentence says so, and no other role that they may have by accident is named.
"""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.head_kinds import (
    BEYOND,
    EACH,
    MOST,
    SINK,
    TOGETHER,
    Kind,
    Role,
    double_role,
    name_place,
    single_role,
)
from attention.number_format import format_percent

Rule = Sequence[
    str | int
]  # names of kinds of keys; a number is that of tokens back, and {unit} is what a token is called
UNIFORM, RANDOM, INDUCTION = "uniform", "random", "induction"  # the first two of heads that attend to no kind of keys
ALL = 0.99  # the share of uniform weights from which each head has most of its weight on a kind of keys

EVENLY = Role(UNIFORM, "attends to all visible keys about equally.")
UNEVENLY = Role(
    UNIFORM, "was built to attend to all visible keys about equally; under these settings it does not.", shows=False
)
BY_CHANCE = Role(RANDOM, "is random: it has no built-in role.")
NO_SUCH_KEY = "this text has no such {unit}."
HIDDEN = "this mask hides {keys} in {rows}."
ONE_HIDDEN = "this mask hides one of both in many rows."
AS_UNIFORM = "here its weights cannot show it, as uniform weights would put {uniform} there, too."
ONLY = "here it puts only {share}; uniform weights would put {uniform}."
NOT_MORE = "here it puts {share}, not much more than uniform weights would: {uniform}."
NO_MORE = "here it puts {share}, no more than uniform weights would: {uniform}."
OF_BOTH = "here it puts {share}; uniform weights would put {uniform}."
OF_WEIGHT = " of its weight there on average"


def built_role(rule: Rule, kinds: Sequence[Kind], head: int, unit: str, about: str, even: bool) -> Role:
    """Returns the role of a head that was built by a rule; `even`: whether its rows are nearly uniform.

    `about` precedes numbers that are estimated from some of the queries.
    """
    if RANDOM in rule:
        return BY_CHANCE
    if UNIFORM in rule:
        return EVENLY if even else UNEVENLY
    known = {kind.name: kind for kind in kinds}
    known.setdefault(f"same {unit}", known["itself"])  # without texts, no other token is the same
    names = [name_place(part, unit)[0] if isinstance(part, int) else part.format(unit=unit) for part in rule]
    found = [known[name] for name in names if name in known]
    if len(found) == len(rule) and _shows(found, head):
        return double_role(found[0], found[1], head, about) if found[1:] else single_role(found[0], head, about)
    does = [name_place(part, unit)[1] if isinstance(part, int) else _does(known, part, unit) for part in rule]
    aim = " and ".join(each.removeprefix("attends ") for each in does).replace(f" {SINK}", "")
    said = f"was built to attend {aim}; {_why(found, len(rule), head, unit, about)}"
    return Role(
        ", ".join(kind.name for kind in found) if len(found) == len(rule) else ", ".join(names), said, shows=False
    )


def _does(known: dict[str, Kind], part: str, unit: str) -> str:
    name = part.format(unit=unit)
    return known[name].does if name in known else f"attends to {name}"


def _shows(found: Sequence[Kind], head: int) -> bool:
    """Whether the mean weight on the keys of a rule is well above that of uniform weights, and not for few queries alone.

    Of a rule with two kinds of keys, the sum of both counts; each has `EACH` of the weight, or as much as in uniform rows.
    """
    share, uniform = (sum(kind.shown[at] for kind in found) for at in (head, -1))
    if any(2 * kind.seeing < kind.having for kind in found) or not share or uniform >= ALL:
        return False
    several = len(found) == 1 or all(kind.shown[head] >= min(EACH, kind.shown[-1]) for kind in found)
    return several and share >= max(_least(found), min(BEYOND * uniform, (1 + uniform) / 2))


def _least(found: Sequence[Kind]) -> float:
    """The least share of the weight on the keys of a rule from which a head shows it."""
    return TOGETHER if len(found) > 1 else MOST


def _why(found: Sequence[Kind], parts: int, head: int, unit: str, about: str) -> str:
    """Why the weights of a head do not show its rule, as the end of a sentence."""
    if len(found) < parts or not all(kind.having for kind in found):
        return NO_SUCH_KEY.format(unit=unit)
    if any(2 * kind.seeing < kind.having for kind in found):
        (kind, *others) = found
        return ONE_HIDDEN if others else HIDDEN.format(keys=kind.keys, rows=_rows(kind, about))
    own, uniform = (" and ".join(format_percent(kind.shown[at]) for kind in found) for at in (head, -1))
    if min(kind.shown[at] for kind in found for at in (head, -1)) >= ALL:
        return AS_UNIFORM.format(uniform=f"{about}{uniform}")
    if parts > 1:
        return OF_BOTH.format(share=f"{about}{own}{OF_WEIGHT}", uniform=f"{about}{uniform}")
    shown, usual = found[0].shown[head], found[0].shown[-1]
    said = ONLY if shown < _least(found) else NOT_MORE if round(shown, 3) > round(usual, 3) else NO_MORE
    return said.format(share=found[0].mean_text(head, about, OF_WEIGHT), uniform=f"{about}{uniform}")


def _rows(kind: Kind, about: str) -> str:
    """In how many of the rows that have such a key the mask hides it."""
    hidden = kind.having - kind.seeing
    if about:
        return f"{about}{format_percent(hidden / kind.having)} of the rows"
    return "every row" if hidden == kind.having else f"{hidden:,} of {kind.having:,} rows"

"""Training: what the heads of a step do, in sentences with their numbers."""

from __future__ import annotations

from attention.number_format import format_head, format_mean, format_percent
from attention.training.recipe import NUMBERS, OWN, TELLING, Recipe
from attention.training.run import Checkpoint
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.results.training import Picture
from attention.ui.text import training as text
from attention.ui.views import questions
from attention.ui.views import training_course as courses
from attention.ui.views.training_course import Shown

COSTS = 0.05  # of the accuracy: from this loss on the model is said to need a head


def sentences(recipe: Recipe, moment: Checkpoint, seen: Picture, failed: bool) -> str:
    """What the heads do at a step. `failed`: it is the end of a training that has not learned its task."""
    if questions.unsaid(recipe):
        return questions.unsaid_finding()
    return _two_layers(recipe, moment) or " ".join(_heads_text(recipe, moment, seen, failed)).strip()


def _heads_text(recipe: Recipe, moment: Checkpoint, seen: Picture, failed: bool) -> tuple[str, str]:
    """What the head attends to that does most for the task, and what helps it. `failed`: at the end."""
    (before, previous), (best, own) = (courses.telling(moment, name) for name in ("previous", OWN))
    numbers = {"value": format_percent(own), "even": format_percent(seen.even)}
    more = []
    if previous >= courses.STRONG:
        more.append(text.PREVIOUS.format(head=_name(recipe, before), value=format_percent(previous)))
    if own >= courses.STRONG:
        more += _rest(recipe, moment, best)
    if failed and (more or own >= courses.STRONG):
        more.append(text.STILL)
    yet = text.NO_HEAD if failed else text.NO_HEAD_YET
    finds = text.OWN if own >= courses.STRONG else yet if moment.accuracy < courses.STRONG else ""
    first = finds.format(head=_name(recipe, best), told=recipe.what.told, **numbers)
    return escape(first), escape(" ".join(more))


def _two_layers(recipe: Recipe, moment: Checkpoint) -> str:
    """How a head of layer 1 uses what one of layer 0 found; "" where the numbers don't say so."""
    (first, before), (second, own) = (courses.telling(moment, name) for name in ("previous", OWN))
    follows = recipe.what.before == "previous" and first < recipe.heads <= second and min(before, own) >= courses.STRONG
    if not follows or recipe.softmax != "standard" or recipe.gate != "off":
        return ""
    names = {"first": _name(recipe, first), "second": _name(recipe, second)}
    return text.TWO_LAYERS.format(**names, before=format_percent(before), value=format_percent(own))


def selected(recipe: Recipe, moment: Checkpoint) -> str:
    """The two kinds of keys that get most of a head's weight, of a head that was selected; "" if none was."""
    if recipe.head == TELLING or not moment.sound or questions.unsaid(recipe):
        return ""
    scores = {name: float(moment.scores[name].flatten()[recipe.head]) for name in NUMBERS}
    most, second = sorted(scores, key=lambda name: -scores[name])[:2]
    following = text.CHOSEN_NEXT.format(value=format_percent(scores[second]), key=text.KEYS[second])
    return text.CHOSEN.format(
        head=_name(recipe, recipe.head), value=format_percent(scores[most]), key=text.KEYS[most], next=following
    )


def needed(recipe: Recipe, found: Shown) -> str:
    """The accuracy of a trained model without the head of layer 0 that layer 1 uses; "" where that costs little."""
    last = found.course.last
    if questions.unsaid(recipe) or not _two_layers(recipe, last):
        return ""
    first = courses.telling(last, "previous")[0]
    rest = results.training.without(found.course, ((0, first),))[1]
    if last.accuracy - rest < COSTS:
        return ""
    numbers = {"whole": format_percent(last.accuracy), "rest": format_percent(rest)}
    both = _without_both(recipe, found, last, first, rest)
    return text.NEEDED.format(first=_name(recipe, first).lower(), **numbers, both=both)


def _without_both(recipe: Recipe, found: Shown, moment: Checkpoint, first: int, rest: float) -> str:
    """What the accuracy falls to without the next head of layer 0 on the previous token too; "" if that costs little more."""
    scores = moment.scores["previous"][0].tolist()
    value, other = max(((value, head) for head, value in enumerate(scores) if head != first), default=(0.0, 0))
    if value < courses.STRONG:
        return ""
    both = results.training.without(found.course, ((0, first), (0, other)))[1]
    if rest - both < COSTS:
        return ""
    numbers = {"value": format_percent(value), "both": format_percent(both)}
    return text.NEEDED_BOTH.format(other=_name(recipe, other).lower(), **numbers)


def _rest(recipe: Recipe, moment: Checkpoint, head: int) -> list[str]:
    """What the weights of a head do not show: its sink or λ, and its gate, a sentence each."""
    found = ((text.LAMBDA if recipe.halves > 1 else text.SINK, moment.sinks), (text.GATE, moment.gates))
    return [said.format(format_mean(float(part.flatten()[head]))) for said, part in found if part is not None]


def _name(recipe: Recipe, head: int) -> str:
    """A head by its index over all layers, in words."""
    return format_head(head % recipe.heads, head // recipe.heads)

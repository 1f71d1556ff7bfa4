"""What stands beside the role of a head of a real model: how often it holds on other texts."""

from __future__ import annotations

from collections.abc import Mapping

from attention.analysis.head_kinds import Role
from attention.analysis.head_survey import JOINED, HeadSurvey
from attention.config import Config
from attention.ui import provenance, results
from attention.ui.results.layers import Layer
from attention.ui.session import model_run
from attention.ui.text import head_survey as text
from attention.ui.text.layers import SHORT_ROLES

INDUCTION = "induction"  # in the name of a role, alone or with another kind of keys


def role_note(config: Config, role: Role | None, rests: bool = False) -> str:
    """In how many other texts the selected head has this role, if its model was surveyed; "" for heads of no real model.

    `rests`: whether the role was said to be what it does at all other tokens.
    Also "" for induction, which only a text whose tokens occur again can show: few of the short texts are such.
    """
    survey = _survey(config)
    if survey is None:
        return text.ONE_TEXT if role and _model(config) else ""
    if needs_copies(role):
        return ""
    if role:
        many, texts = survey.count(config.layer, config.head, role.name), len(survey.tokens)
        if rests:
            return text.RESTS.format(many=many, texts=texts, name=_role_label(role.name))
        return (text.HOLDS if 2 * many >= texts else text.HOLDS_FEW).format(
            name=_role_label(role.name), many=many, texts=texts
        )
    texts = len(survey.tokens)
    for name, _ in survey.role_counts(config.layer, config.head)[:1]:
        many = survey.count(config.layer, config.head, name)
        said = text.OTHERWISE if 2 * many >= texts else text.OTHERWISE_FEW
        return said.format(name=_role_label(name), many=many, texts=texts)
    return text.NEVER.format(texts=texts)


def _role_label(name: str) -> str:
    """The name of a role, with its definition if it needs one."""
    return ", ".join(text.ROLE_NAMES.get(part, part) for part in name.split(JOINED))


def role_name(config: Config, layer: int, head: int, role: Role, form: str = text.NAMED) -> str:
    """The name of a role and on how many texts the head has it, in this form; the name alone if there is no survey."""
    survey = _survey(config)
    if survey is None or needs_copies(role):
        return role.name
    return form.format(name=role.name, many=survey.count(layer, head, role.name), texts=len(survey.tokens))


def short_role(role: Role | None) -> str:
    """The name of a role as one word for a small map, "+" after it if there are two kinds of keys; "" if there is no word."""
    first, *others = role.name.split(JOINED) if role else [""]
    word, _ = SHORT_ROLES.get(first.partition(" ")[0], ("", ""))
    return f"{word}{'+' * bool(word and others)}"


def needs_copies(role: Role | None) -> bool:
    """Whether only tokens that have occurred before can show a role, as induction."""
    return role is not None and INDUCTION in role.name


def texts_with_roles(config: Config, found: Mapping[int, Layer]) -> list[int | None]:
    """On how many texts each head has its role, layer by layer; empty if there is no survey.

    None if it has no role, or one that few of the texts can show.
    """
    survey = _survey(config)
    if survey is None:
        return []
    heads = [(layer, head, role) for layer, each in found.items() for head, role in enumerate(each.roles)]
    return [
        survey.count(layer, head, role.name) if role and not needs_copies(role) else None for layer, head, role in heads
    ]


def _survey(config: Config) -> HeadSurvey | None:
    """The survey of the heads of a source; None for heads of no real model, or of one that was not surveyed."""
    model = _model(config)
    return results.head_surveys.of_model(model) if model else None


def _model(config: Config) -> str:
    """The real model whose heads a source has; "" if there is none, if it has sums of several heads, or if some are off.

    Also "" if mask, scale or another setting is not that of the model, with which it read the other texts.
    """
    prompt = None if provenance.changed_settings(config) else model_run.reader(config.source)
    return prompt.model if prompt and prompt.summary == "heads" and not prompt.off else ""

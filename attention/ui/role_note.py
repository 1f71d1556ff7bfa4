"""A note beside the role of a head of a real model: how often it holds on other texts."""

from __future__ import annotations

from attention.analysis.head_roles import Role
from attention.config import Config
from attention.ui import results
from attention.ui.session import model_run
from attention.ui.text import head_survey as text


def role_note(config: Config, role: Role | None) -> str:
    """In how many other texts the selected head has this role, if its model was surveyed; "" for heads of no real model."""
    prompt = model_run.reader(config.source)
    if prompt is None or prompt.summary != "heads":
        return ""
    survey = results.head_surveys.of_model(prompt.model)
    if survey is None:
        return text.ONE_TEXT if role else ""
    if role:
        return text.HOLDS.format(many=survey.count(config.layer, config.head, role.name), texts=len(survey.tokens))
    for name, many in survey.role_counts(config.layer, config.head)[:1]:
        return text.OTHERWISE.format(name=name, many=many, texts=len(survey.tokens))
    return text.NEVER.format(texts=len(survey.tokens))

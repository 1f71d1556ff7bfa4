"""The survey of a model's heads: one that ships, one that a job has just computed, or one that was kept as a file."""

from __future__ import annotations

from attention.analysis.head_survey import HeadSurvey, shipped_survey
from attention.analysis.survey_files import find_survey
from attention.models.catalogue import PACKAGE, Offer, choose_model
from attention.models.packages import ModelError
from attention.serving.settings import settings
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import Ask
from attention.ui.jobs.survey_jobs import SurveyJob
from attention.ui.limits import models


def survey_ask(offer: Offer) -> Ask:
    """The settings of the job that surveys an offered model."""
    return Ask(offer, "", "", b"", models().most, download=False)


def of_model(name: str) -> HeadSurvey | None:
    """The survey of a model by its name for visitors; None if it was not surveyed, or this host does not have it."""
    if (found := shipped_survey(name)) is not None:
        return found
    try:
        return of_offer(choose_model(name, models().offers, models().free))
    except ModelError:
        return None


def of_offer(offer: Offer) -> HeadSurvey | None:
    """The survey of an offered model; None if it was not surveyed."""
    if offer.kind == PACKAGE:
        return shipped_survey(offer.name)
    job = JOBS.find(SurveyJob, survey_ask(offer), lambda job: job.found is not None)
    if job is not None:
        return job.found
    return find_survey(offer) if settings().surveys else None

"""Jobs that let a model read many texts, to see what each of its heads does (attention/analysis/head_survey)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import ClassVar

from PIL import Image

from attention.analysis.head_survey import HeadSurvey, survey_heads
from attention.analysis.survey_files import keep_survey
from attention.models.loading import TEXT, Model
from attention.models.packages import ModelError
from attention.serving.settings import settings
from attention.ui.jobs.model_jobs import LoadedModelJob
from attention.ui.text import jobs as words

log = logging.getLogger(__name__)
READING = 2**26  # bytes of the heads on one text, and of the summaries of all


@dataclass(eq=False)
class SurveyJob(LoadedModelJob):
    """What each head of a model does over many texts. `found`: the result, also kept as a file where the owner allows that."""

    found: HeadSurvey | None = field(default=None, init=False)

    kind: ClassVar[str] = "head survey"
    history: ClassVar[int] = 8
    keep_s: ClassVar[float] = 86_400.0

    def use(self, model: Model, text: str, second: str, image: Image.Image | None) -> None:
        """Runs the model once per text; raises ModelError if its heads can't be surveyed."""
        if model.reads != TEXT:
            raise ModelError(words.TWO_TEXTS)
        if not self._reserve(READING):
            raise ModelError(words.MEMORY_OF_SURVEY)
        self.found = survey_heads(model, progress=self._on_pass_progress)
        if settings().surveys:
            try:
                keep_survey(model.offer, self.found)
            except (OSError, ModelError):
                log.info("A survey could not be kept as a file.", exc_info=True)

    @property
    def claim(self) -> int:
        """Bytes that are reserved while the model is loaded and run, then those of the result."""
        return self.reserved + (self.found.bytes if self.found else 0)

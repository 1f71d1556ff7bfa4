"""Surveys that were computed here, as files in the user's cache folder: one per model, while its weights are the same."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from attention.analysis.head_survey import TEXTS, HeadSurvey, read_survey, write_survey
from attention.models.catalogue import Offer
from attention.models.loading import local_files
from attention.models.packages import ModelError
from attention.models.sizes import weight_files
from attention.recorded.mapped_file import cache_folder

FORMAT = "survey 1"  # changes with what a survey contains
MOST = 32  # files; the oldest make way
START = "heads-"  # of the names of these files


def survey_file(offer: Offer) -> Path:
    """Returns the path of a model's survey; its name depends on sizes and times of the weights, and on the texts.

    Raises ModelError if the model is not on this machine.
    """
    found = [path.stat() for path in weight_files(local_files(offer))]
    marks = [FORMAT, offer.where, hashlib.sha256(TEXTS.read_bytes()).hexdigest()]
    marks += [f"{each.st_size} {each.st_mtime_ns}" for each in found]
    name = hashlib.sha256("\n".join(marks).encode()).hexdigest()[:24]
    return cache_folder() / f"{START}{name}.npz"


def find_survey(offer: Offer) -> HeadSurvey | None:
    """Returns the survey of a model that was kept; None if there is none."""
    try:
        path = survey_file(offer)
        return _read_file(path, path.stat().st_mtime_ns)
    except (ModelError, OSError, ValueError, KeyError):  # no file, or none that can be read: it is computed again
        return None


@lru_cache(maxsize=4)
def _read_file(path: Path, written: int) -> HeadSurvey:
    """`written`: the time of the file, so that a new one is read."""
    return read_survey(path.read_bytes())


def keep_survey(offer: Offer, survey: HeadSurvey) -> None:
    """Writes the survey of a model, and removes the oldest ones beyond MOST; raises OSError or ModelError."""
    path = survey_file(offer)
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(write_survey(survey))
    os.replace(file.name, path)
    kept = sorted(path.parent.glob(f"{START}*.npz"), key=lambda each: each.stat().st_mtime)
    for old in kept[:-MOST]:
        old.unlink(missing_ok=True)

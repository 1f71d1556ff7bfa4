"""A lesson: up to eight questions, each about a picture of its own, chained into one entry of a link.

The entry is the number of the step that is shown, a full stop, and the steps, packed: a page, the entries of its settings, and
its question. What is no lesson raises ConfigError; the settings of a step are checked where any link's are, when it is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

from attention.packed_text import pack_text, unpack_text
from attention.settings import ConfigError
from attention.ui import question_codec

STEPS, PACKED, LARGEST = 8, 6000, 40_000  # steps, characters of an entry, bytes of the unpacked text
PAGES = ("heads", "steps", "softmax", "masks", "training", "layers", "timing", "implementations")
ASK = "ask"
BETWEEN, WITHIN = "\x1d", "\x1f"
BROKEN = "The lesson in this link can't be read: part of it is missing or was changed. Ask for the link again."


@dataclass(frozen=True)
class Step:
    """A picture and a question about it: the page, the entries of its link without the question, and the packed question."""

    page: str
    settings: tuple[tuple[str, str], ...]
    ask: str

    @property
    def query(self) -> dict[str, str]:
        """The query of the picture with its question."""
        return {**dict(self.settings), ASK: self.ask}

    @property
    def text(self) -> str:
        """The question."""
        return question_codec.decode(self.ask).text


@dataclass(frozen=True)
class Lesson:
    """The steps of a lesson, and the number of the one that is shown, from 1."""

    steps: tuple[Step, ...]
    number: int = 1

    @property
    def step(self) -> Step:
        """The step that is shown."""
        return self.steps[self.number - 1]


def encode(steps: Sequence[Step], number: int = 1) -> str:
    """The entry of a link that opens a step of a lesson; raises ConfigError if it is too long."""
    parts = (
        WITHIN.join((step.page, urlencode(step.settings), unpack_text(step.ask, question_codec.LARGEST)))
        for step in steps
    )
    entry = f"{number}.{pack_text(BETWEEN.join(parts))}"
    if len(entry) > PACKED:
        raise ConfigError(
            f"The lesson has {len(entry):,} characters in a link; at most {PACKED:,} fit. Shorten its questions, or the "
            "texts of its pictures."
        )
    return entry


@lru_cache(maxsize=64)  # called several times per picture
def decode(entry: str) -> Lesson:
    """The lesson of an entry; raises ConfigError on any other text."""
    number, _, code = entry.partition(".")
    if len(entry) > PACKED or len(number) != 1 or number not in "12345678":
        raise ConfigError(BROKEN)
    try:
        steps = tuple(map(_decode_step, unpack_text(code, LARGEST).split(BETWEEN)))
    except ValueError as error:  # ConfigError is one, too
        raise ConfigError(BROKEN) from error
    if not int(number) <= len(steps) <= STEPS:
        raise ConfigError(BROKEN)
    return Lesson(steps, int(number))


def _decode_step(text: str) -> Step:
    page, settings, asked = text.split(WITHIN)
    if page not in PAGES:
        raise ConfigError(BROKEN)
    entries = tuple(parse_qsl(settings, keep_blank_values=True, max_num_fields=100))
    ask = pack_text(asked)
    question_codec.decode(ask)
    return Step(page, tuple((name, value) for name, value in entries if name != ASK), ask)
